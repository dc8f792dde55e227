"""``lanesort merge``: sorted files into one."""

from __future__ import annotations

from pathlib import Path

from lanesort.cli.options import External, Order, Output, Reading, progress_of
from lanesort.cli.progress import shown
from lanesort.cli.wording import in_options
from lanesort.distributed import external
from lanesort.errors import ArgumentValueError
from lanesort.files import read_array, write_arrays
from lanesort.kernels.merge import merge as merge_arrays

__all__ = ["merge"]


def merge(
    *files: Path,
    output: Output,
    order: Order = Order(),
    reading: Reading = Reading(),
    beyond: External = External(),
    check: bool = True,
    threads: int | None = None,
) -> int:
    """Merge sorted files; of equal values the earlier file's come first.

    Parameters
    ----------
    files
        Sorted 1-D arrays of one dtype: .npy, .npz, .safetensors or .parquet.
    output
        File to write: .npz gets values and positions in the concatenation, .npy the values.
    check
        Refuse files that are not sorted.
    threads
        Threads to use; the result is the same.
    """
    if not files:
        raise ArgumentValueError("no file is given; merge needs one or more sorted files")
    if order.tie != "low":
        raise ArgumentValueError(f"--tie is {order.tie}; of equal values the earlier file's come first")
    as_files = [(f"runs[{i}]", str(file)) for i, file in enumerate(files)]
    if beyond.in_pieces(name=reading.name, no_check=not check, threads=threads, temporary=beyond.temporary):
        with progress_of("merge") as moved, in_options():
            external.merge(
                files,
                output,
                descending=order.descending,
                nan=order.nan,
                dtype=reading.dtype,
                memory_bytes=beyond.bytes,
                progress=moved,
            )
        return 0
    with in_options((", tie='run'", ""), *as_files), shown("merge"):
        merged = merge_arrays(
            [read_array(file, reading.name, reading.dtype) for file in files],
            descending=order.descending,
            nan=order.nan,
            check=check,
            threads=threads,
        )
    both = {"values": merged.values, "indices": merged.indices}
    write_arrays(output, {"values": merged.values} if output.suffix.lower() == ".npy" else both)
    return 0
