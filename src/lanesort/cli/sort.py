"""``lanesort sort``: the values of a file in order."""

from __future__ import annotations

from pathlib import Path

from lanesort.cli.options import External, Order, Output, Reading, progress_of
from lanesort.cli.progress import shown
from lanesort.cli.wording import in_options
from lanesort.distributed import external
from lanesort.files import read_array, write_arrays
from lanesort.kernels.sort import sort_pairs

__all__ = ["sort"]


def sort(
    file: Path,
    /,
    *,
    output: Output,
    order: Order = Order(),
    reading: Reading = Reading(),
    beyond: External = External(),
    axis: int = -1,
    threads: int | None = None,
) -> int:
    """Write the values of each row in order.

    Parameters
    ----------
    file
        .npy, .npz, .safetensors or .parquet.
    output
        File to write, of any of these kinds.
    axis
        Axis to order along.
    threads
        Threads to use; the result is the same.
    """
    if beyond.in_pieces(tie_high=order.tie == "high", axis=axis != -1, name=reading.name, threads=threads):
        with progress_of("sort") as moved, in_options():
            external.sort(
                file,
                output,
                descending=order.descending,
                nan=order.nan,
                dtype=reading.dtype,
                memory_bytes=beyond.bytes,
                temporary=beyond.temporary,
                progress=moved,
            )
        return 0
    with in_options(("x has", f"{file} has")), shown("sort"):
        pairs = sort_pairs(
            read_array(file, reading.name, reading.dtype),
            axis=axis,
            descending=order.descending,
            nan=order.nan,
            tie=order.tie,
            threads=threads,
        )
    write_arrays(output, {"values": pairs.values})
    return 0
