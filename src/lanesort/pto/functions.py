"""The tile instructions as functions of arrays.

Operands get the smallest tiles that the rules allow; the unified buffer is not counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from lanesort.engine.protocol import Engine
from lanesort.errors import ArgumentTypeError, ArgumentValueError
from lanesort.pto.merging import Merge
from lanesort.pto.operand import Executed, TileOperand, round_up
from lanesort.pto.sizes import merge_operands, sort32_operands, whole_number
from lanesort.pto.sorting import Sort32
from lanesort.pto.target import Target, find_target
from lanesort.pto.tile import Tile
from lanesort.pto.tsort32 import BLOCK

__all__ = ["tmrgsort", "tmrgsort_lists", "tsort32"]

Array = npt.NDArray[Any]

USUAL_DTYPES = (np.dtype(np.float32), np.dtype(np.float16))


def tsort32(
    src: Any,
    idx: Any = None,
    *,
    target: str | Target = "a2a3",
    tmp: Literal["auto"] | None = "auto",
    fill: int | None = None,
    engine: str | Engine = "native",
    choices: Mapping[str, str] | None = None,
) -> Tile:
    """Sort every block of 32 values of each row, largest first, with its indices.

    Parameters
    ----------
    src
        Values, shape (R, C) or (C,); float32 or float16, under ``cpu`` also int32, int16
        and bfloat16.
    idx
        Indices, uint32, shape (R, C) or (1, C); 0 … C - 1 if not given. It may go on to
        the end of the last block of 32.
    target
        ``a2a3``, ``a5``, ``cpu``, or a Kirin core.
    tmp
        ``auto`` for the form with four operands and a tmp of the right size; None for the
        form with three, which takes whole blocks only.
    fill
        Byte that stands where the instruction writes nothing; 0 if not given.
    engine
        Who orders the pairs: ``native``, ``reference``, ``datapath``.
    choices
        Choices for unpinned behaviours, by id.

    Returns
    -------
    Tile
        Shape (R, coef · C rounded up to 32), coef = 2 for 32-bit values and 4 for 16-bit
        ones; under ``cpu`` the pads of a tail block are not written.

    Raises
    ------
    RuleViolations
        With all rules that the operands break.
    ArgumentTypeError, ArgumentValueError
        If an argument is not an array of one or two dimensions, or unknown by name.

    Examples
    --------
    >>> scores = np.array([0.5, 2.0, 1.0], np.float32)
    >>> tile = tsort32(scores, engine="reference")
    >>> np.asarray(tile).shape, tile.unpinned
    ((1, 64), ('pto.pad-bits',))
    >>> np.asarray(tile)[0, :6:2].tolist(), np.asarray(tile).view(np.uint32)[0, 1:7:2].tolist()
    ([2.0, 1.0, 0.5], [1, 2, 0])
    """
    target = find_target(target)
    if tmp is not None and not (isinstance(tmp, str) and tmp == "auto"):
        raise ArgumentValueError(
            f"tmp is {tmp!r}; give 'auto' for a tmp of the right size, or None for no tmp"
        )
    values = _matrix(src, "src")
    columns = values.shape[1]
    lanes = round_up(columns, BLOCK)
    indices, warnings = _indices(idx, columns, columns if target.simulated else lanes)
    index_tile = (indices.dtype, *indices.shape)
    sort = _sorter(values.shape, values.dtype, index_tile, target, tmp, *_asked(engine, choices))
    dst = _filled((values.shape[0], sort.width * lanes), values.dtype, fill, whole=sort.lanes == lanes)
    outcome = sort.run(dst, values, indices)
    return Tile(dst, outcome.produced_columns, outcome.unpinned, warnings + outcome.warnings)


def tmrgsort(
    src: Any,
    block_len: int,
    *,
    target: str | Target = "a2a3",
    engine: str | Engine = "native",
    choices: Mapping[str, str] | None = None,
    check_sorted: bool = True,
) -> Tile:
    """Merge each group of four consecutive sorted blocks of a tile.

    Parameters
    ----------
    src
        A `Tile`, or an array of shape (1, columns) or (columns,), of sorted pairs.
    block_len
        Length of one sorted block in tile elements, a multiple of 64; the columns are a
        multiple of four blocks.
    target, engine, choices
        See `tsort32`.
    check_sorted
        Whether to refuse blocks that are not sorted, which the hardware does not.

    Returns
    -------
    Tile
        Shape of `src`.

    Raises
    ------
    RuleViolations
        With all rules that the operands break, or the first pair that is out of order.

    Examples
    --------
    >>> from lanesort import pto
    >>> scores = np.arange(128, dtype=np.float32)
    >>> merged = pto.tmrgsort(pto.tsort32(scores, engine="reference"), 64, engine="reference")
    >>> pto.pairs(merged).indices[0, :3].tolist()
    [127, 126, 125]
    """
    source = _matrix(src, "src")
    length = whole_number(block_len, "block_len")
    tiles = ((source.dtype, source.shape),)
    merge = _merger(tiles, length, False, None, find_target(target), *_asked(engine, choices), check_sorted)
    dst = np.empty(source.shape, source.dtype)
    outcome = merge.run(dst, [source], apart=True)
    return Tile(dst, outcome.produced_columns, outcome.unpinned, outcome.warnings)


def tmrgsort_lists(
    lists: Sequence[Any],
    *,
    exhausted: bool = False,
    columns: int | None = None,
    target: str | Target = "a2a3",
    engine: str | Engine = "native",
    choices: Mapping[str, str] | None = None,
    check_sorted: bool = True,
) -> tuple[Tile, Executed | None]:
    """Merge two to four sorted lists of pairs.

    Parameters
    ----------
    lists
        Tiles, or arrays of shape (1, columns) or (columns,), each a sorted list of pairs.
    exhausted
        Whether to stop as soon as one list has given its last pair.
    columns
        Tile elements (not pairs) of the result; all of them if not given. A shorter result
        takes the best pairs.
    target, engine, choices
        See `tsort32`.
    check_sorted
        Whether to refuse lists that are not sorted, which the hardware does not.

    Returns
    -------
    Tile, executed
        The merged pairs, shape (1, columns), and the pairs taken from each of four lists;
        None where the instruction does not write them.

    Raises
    ------
    RuleViolations
        With all rules that the operands break, or the first pair that is out of order.

    Examples
    --------
    >>> from lanesort import pto
    >>> left, right = (pto.tile(np.array(v, np.float32), i) for v, i in (([5, 1], [0, 1]), ([4, 3], [2, 3])))
    >>> dst, executed = pto.tmrgsort_lists([left, right], exhausted=True, engine="reference")
    >>> executed, pto.pairs(dst).values.tolist()
    ((1, 2, 0, 0), [[5.0, 4.0, 3.0]])
    """
    target = find_target(target)
    if not isinstance(lists, (list, tuple, Sequence)):
        raise ArgumentTypeError(f"lists is of type {type(lists).__name__}; give a list of two to four tiles")
    sources = [_matrix(part, f"src{number}") for number, part in enumerate(lists)]
    if not sources:
        raise ArgumentValueError("lists is empty; a merge takes two to four lists")
    tiles = tuple([(source.dtype, source.shape) for source in sources])
    wanted = None if columns is None else whole_number(columns, "columns")
    merge = _merger(tiles, None, bool(exhausted), wanted, target, *_asked(engine, choices), check_sorted)
    dst = np.empty((1, merge.operands.dst.columns), sources[0].dtype)
    if not merge.fills_dst:
        dst[...] = 0
    outcome = merge.run(dst, sources, apart=True)
    valid = merge.operands.dst.valid_columns
    result = dst if dst.shape[1] == valid else dst[:, :valid]
    tile = Tile(result, outcome.produced_columns, outcome.unpinned, outcome.warnings)
    return tile, outcome.executed


def _asked(
    engine: str | Engine, choices: Mapping[str, str] | None
) -> tuple[Any, tuple[tuple[str, str], ...]]:
    """Return engine and choices in a form that a cache can look up."""
    if choices is None:
        return engine, ()
    if not isinstance(choices, Mapping) or not all(isinstance(choice, str) for choice in choices.values()):
        raise ArgumentTypeError(f"choices is {choices!r}; it maps ids to choices, both strings")
    return engine, tuple(choices.items())


@lru_cache(maxsize=256)
def _sorter(
    shape: tuple[int, int],
    dtype: np.dtype[Any],
    index_tile: tuple[np.dtype[Any], int, int],
    target: Target,
    tmp: Literal["auto"] | None,
    engine: Any,
    choices: tuple[tuple[str, str], ...],
) -> Sort32:
    """Check the operands of a shape once; later calls of that shape find them checked."""
    operands = sort32_operands(*shape, dtype, target=target, tmp=tmp)
    operands = replace(operands, idx=TileOperand.of("idx", *index_tile))
    return Sort32(operands, target, engine, dict(choices))


@lru_cache(maxsize=256)
def _merger(
    tiles: tuple[tuple[np.dtype[Any], tuple[int, int]], ...],
    block_len: int | None,
    exhausted: bool,
    columns: int | None,
    target: Target,
    engine: Any,
    choices: tuple[tuple[str, str], ...],
    check_sorted: bool,
) -> Merge:
    """Check the operands of a shape once, as `_sorter` does."""
    sizes = [columns for _, (_, columns) in tiles]
    operands = merge_operands(sizes, tiles[0][0], block_len=block_len, exhausted=exhausted, columns=columns)
    sources = tuple(
        TileOperand.of(operand.role, dtype, *shape)
        for operand, (dtype, shape) in zip(operands.sources, tiles, strict=True)
    )
    return Merge(replace(operands, sources=sources), target, engine, dict(choices), check_sorted)


def _matrix(data: Any, name: str) -> Array:
    array = data.array if isinstance(data, Tile) else np.asarray(data)
    if array.ndim == 2 and array.dtype in USUAL_DTYPES and array.flags.c_contiguous:
        return array
    if array.dtype.kind not in "fiuV" or array.dtype.itemsize not in (1, 2, 4, 8):
        raise ArgumentTypeError(f"{name} has dtype {array.dtype}; tiles hold float32 or float16")
    if array.ndim not in (1, 2):
        raise ArgumentValueError(f"{name} has shape {array.shape}; give (columns,) or (rows, columns)")
    rows = np.ascontiguousarray(np.atleast_2d(array))
    return rows if rows.dtype.isnative else rows.astype(rows.dtype.newbyteorder("="))


def _indices(idx: Any, columns: int, lanes: int) -> tuple[Array, tuple[str, ...]]:
    if idx is None:
        return np.arange(lanes, dtype=np.uint32)[None, :], ()
    given = _matrix(idx, "idx")
    missing = lanes - given.shape[1]
    if given.shape[1] < columns or missing <= 0:
        return given, ()
    warning = f"idx has {given.shape[1]} columns; the {missing} lanes behind them got index 0"
    return np.pad(given, ((0, 0), (0, missing))), (warning,)


def _filled(shape: tuple[int, int], dtype: np.dtype[Any], fill: int | None, whole: bool) -> Array:
    """Return a tile of bytes `fill`, or of any if the instruction writes the `whole` of it."""
    byte = 0 if fill is None else whole_number(fill, "fill")
    if byte > 255:
        raise ArgumentValueError(f"fill is {fill}; it is one byte, 0 … 255")
    if whole:
        return np.empty(shape, dtype)
    if byte == 0:
        return np.zeros(shape, dtype)
    return np.full((shape[0], shape[1] * dtype.itemsize), byte, np.uint8).view(dtype)
