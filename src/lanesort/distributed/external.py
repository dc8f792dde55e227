"""Files larger than memory: sort, argsort, top-k, nonzero and merge of `.npy` files.

The input is read in pieces that fit the memory given, sorted runs go to a temporary folder,
and are merged block by block into the output. The output is written aside, synced and renamed,
so an interrupted run leaves the input and an old output as they were.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from lanesort.distributed.pieces import MEMORY_BYTES, elements_in, opened, output, pieces, row_blocks
from lanesort.distributed.runs import Run, Source, merged_blocks, write_run
from lanesort.distributed.scratch import scratch_folder
from lanesort.errors import ArgumentValueError, FileError
from lanesort.files import write_elements
from lanesort.kernels.merge import merge as merge_arrays
from lanesort.kernels.nonzero import flatnonzero
from lanesort.kernels.policy import order_of
from lanesort.kernels.sort import sort as sort_array
from lanesort.kernels.sort import sort_pairs
from lanesort.kernels.top_k import top_k as top_k_array
from lanesort.order import Order, keys
from lanesort.results import Pairs

__all__ = ["argsort", "merge", "nonzero", "sort", "top_k"]

Array = npt.NDArray[Any]
Progress = Callable[[int, int], None]


def sort(
    source: str | Path,
    target: str | Path,
    *,
    descending: bool = False,
    nan: str | None = None,
    compat: str | None = None,
    dtype: str | None = None,
    memory_bytes: int = MEMORY_BYTES,
    temporary: str | Path | None = None,
    progress: Progress | None = None,
) -> None:
    """Sort the rows of a `.npy` file into another; a single row may be larger than memory.

    Parameters
    ----------
    source, target
        Input and output, `.npy`.
    descending, nan, compat
        As in `lanesort.sort`.
    dtype
        Dtype of the values where NumPy lost it, for example ``bfloat16``.
    memory_bytes
        Memory to use; at least 1 MiB.
    temporary
        Folder for the sorted runs, which take as much space as the input; the target's folder
        unless given.
    progress
        Called with (elements done, elements in all); every element is counted twice, once
        sorted and once merged.

    Raises
    ------
    FileError
        If a file can't be read or written, or the disk is full; `target` is then as it was.
    """
    order = order_of(descending, None, nan, None, compat)
    _sorted_file(source, target, order, False, dtype, memory_bytes, temporary, progress)


def argsort(
    source: str | Path,
    target: str | Path,
    *,
    descending: bool = False,
    nan: str | None = None,
    tie: str | None = None,
    compat: str | None = None,
    dtype: str | None = None,
    memory_bytes: int = MEMORY_BYTES,
    temporary: str | Path | None = None,
    progress: Progress | None = None,
) -> None:
    """Write the int64 positions that sort the rows of a `.npy` file.

    Parameters
    ----------
    source, target, descending, nan, compat, dtype, memory_bytes, temporary, progress
        As in `sort`; the runs take 8 bytes an element more than the input.
    tie
        ``low`` or ``high``: which of equal values comes first.
    """
    order = order_of(descending, None, nan, tie, compat)
    _sorted_file(source, target, order, True, dtype, memory_bytes, temporary, progress)


def top_k(
    source: str | Path,
    k: int,
    *,
    mode: str = "largest",
    nan: str | None = None,
    tie: str | None = None,
    compat: str | None = None,
    dtype: str | None = None,
    memory_bytes: int = MEMORY_BYTES,
    progress: Progress | None = None,
) -> Pairs:
    """Return the k best of a one-dimensional `.npy` file, and where they are.

    Parameters
    ----------
    source, dtype, memory_bytes, progress
        As in `sort`.
    k, mode, nan, tie, compat
        As in `lanesort.top_k`.
    """
    values = _one_dimension(source, dtype)
    if not 0 <= k <= values.length:
        raise ArgumentValueError(f"k is {k} but {source} has n = {values.length} elements")
    order = order_of(mode == "largest", None, nan, tie, compat, "top_k")
    best = Pairs(np.empty(0, values.dtype), np.empty(0, np.int64))
    for start, piece in pieces(values, memory_bytes):
        found = top_k_array(
            piece,
            min(k, piece.size),
            mode=mode,
            nan=order.nan,
            tie=order.tie,
            index_dtype=np.int64,
            index_offset=start,
        )
        merged = merge_arrays(
            [best.values, found.values],
            indices=[best.indices, found.indices],
            descending=order.descending,
            nan=order.nan,
            tie=order.tie,
            k=k,
            check=False,
        )
        best = Pairs(merged.values, merged.indices)
        _report(progress, start + piece.size, values.length)
    return best


def nonzero(
    source: str | Path,
    target: str | Path,
    *,
    dtype: str | None = None,
    memory_bytes: int = MEMORY_BYTES,
    progress: Progress | None = None,
) -> int:
    """Write the int64 positions of the nonzeros of a `.npy` file, flattened; return how many.

    Parameters
    ----------
    source, target, dtype, memory_bytes, progress
        As in `sort`; every element is counted twice, once for counting.
    """
    values, _ = opened(source, dtype)
    total = 0
    for start, piece in pieces(values, memory_bytes):
        total += int(flatnonzero(piece, size=0).total)
        _report(progress, start + piece.size, 2 * values.length)
    with output(target, np.dtype(np.int64), (total,)) as file:
        for start, piece in pieces(values, memory_bytes):
            found = flatnonzero(piece, index_offset=start, index_dtype=np.int64)
            write_elements(file, found.indices)
            _report(progress, values.length + start + piece.size, 2 * values.length)
    return total


def merge(
    sources: Sequence[str | Path],
    target: str | Path,
    *,
    descending: bool = False,
    nan: str | None = None,
    compat: str | None = None,
    dtype: str | None = None,
    memory_bytes: int = MEMORY_BYTES,
    progress: Progress | None = None,
) -> None:
    """Merge sorted one-dimensional `.npy` files into one; of equal values the earlier file's first.

    Parameters
    ----------
    sources, target
        Inputs of one dtype, and the output.
    descending, nan, compat, dtype, memory_bytes, progress
        As in `sort`.

    Raises
    ------
    ArgumentValueError
        If a file is not sorted, with the place.
    """
    if not sources:
        raise ArgumentValueError("sources is empty; merging needs at least one file")
    order = order_of(descending, None, nan, None, compat)
    inputs = [_one_dimension(source, dtype) for source in sources]
    for values in inputs:
        if values.dtype != inputs[0].dtype:
            raise ArgumentValueError(
                f"{values.path} holds {values.dtype}, {inputs[0].path} {inputs[0].dtype}; merge one dtype"
            )
        _refuse_unsorted(values, order, memory_bytes)
    _write_merged(target, [Run(v) for v in inputs], order, False, memory_bytes, progress, 0)


def _sorted_file(
    source: str | Path,
    target: str | Path,
    order: Order,
    positions: bool,
    dtype: str | None,
    memory_bytes: int,
    temporary: str | Path | None,
    progress: Progress | None,
) -> None:
    values, shape = opened(source, dtype)
    if len(shape) > 1:
        _sort_rows(values, shape, target, order, positions, memory_bytes, progress)
        return
    folder = Path(temporary) if temporary is not None else Path(target).parent
    needed = values.length * (values.dtype.itemsize + (8 if positions else 0))
    with scratch_folder(folder, needed) as scratch:
        runs = []
        try:
            for number, (start, piece) in enumerate(pieces(values, memory_bytes)):
                runs.append(_sorted_run(scratch, number, start, piece, order, positions))
                _report(progress, start + piece.size, 2 * values.length)
        except OSError as error:
            raise _disk_error(error, scratch) from error
        # Of equal values the higher position first means the later run first.
        in_order = runs[::-1] if order.tie == "high" else runs
        _write_merged(target, in_order, order, positions, memory_bytes, progress, values.length, values)


def _sort_rows(
    values: Source,
    shape: tuple[int, ...],
    target: str | Path,
    order: Order,
    positions: bool,
    memory_bytes: int,
    progress: Progress | None,
) -> None:
    policy: dict[str, Any] = {"descending": order.descending, "nan": order.nan, "tie": order.tie}
    done = 0
    with output(target, np.dtype(np.int64) if positions else values.dtype, shape) as file:
        for block in row_blocks(values, shape[-1], memory_bytes):
            pairs = sort_pairs(block, index_dtype=np.int64, **policy)
            write_elements(file, pairs.indices if positions else pairs.values)
            done += block.size
            _report(progress, done, values.length)


def _sorted_run(scratch: Path, number: int, start: int, piece: Array, order: Order, positions: bool) -> Run:
    policy: dict[str, Any] = {"descending": order.descending, "nan": order.nan}
    if not positions:
        return write_run(scratch, number, sort_array(piece, **policy), None)
    pairs = sort_pairs(piece, tie=order.tie, index_dtype=np.int64, index_offset=start, **policy)
    return write_run(scratch, number, pairs.values, pairs.indices)


def _write_merged(
    target: str | Path,
    runs: list[Run],
    order: Order,
    positions: bool,
    memory_bytes: int,
    progress: Progress | None,
    done: int,
    empty: Source | None = None,
) -> None:
    length = sum(run.values.length for run in runs)
    first = runs[0].values if runs else empty
    assert first is not None
    dtype = np.dtype(np.int64) if positions else first.dtype
    elements = elements_in(memory_bytes, first.dtype)
    total = done + length
    with output(target, dtype, (length,)) as file:
        for values, indices in merged_blocks(runs, order, elements):
            write_elements(file, (values if indices is None else indices).astype(dtype, copy=False))
            done += values.size
            _report(progress, done, total)


def _one_dimension(source: str | Path, dtype: str | None) -> Source:
    values, shape = opened(source, dtype)
    if len(shape) > 1:
        raise FileError(f"{source}: has shape {shape}; this is done along one dimension")
    return values


def _refuse_unsorted(values: Source, order: Order, memory_bytes: int) -> None:
    before: Array = np.empty(0, values.dtype)
    for start, piece in pieces(values, memory_bytes):
        mapped = keys(np.concatenate([before, piece]), order)
        wrong = np.flatnonzero(mapped[1:] < mapped[:-1])
        if wrong.size:
            at = start - before.size + int(wrong[0])
            raise ArgumentValueError(
                f"{values.path} is not sorted {'descending' if order.descending else 'ascending'} with "
                f"nan={order.nan!r}: elements {at} and {at + 1} are out of order; sort it first"
            )
        before = piece[-1:]


def _disk_error(error: OSError, scratch: Path) -> FileError:
    if isinstance(error, FileError):
        return error
    used = sum(file.stat().st_size for file in scratch.iterdir())
    full = "the disk is full" if error.errno == errno.ENOSPC else (error.strerror or str(error))
    return FileError(
        f"{scratch.parent}: sorted runs can't be written: {full}; they had taken {used:,} bytes, which "
        "are given back: choose another folder with temporary="
    )


def _report(progress: Progress | None, done: int, total: int) -> None:
    if progress is not None:
        progress(done, total)
