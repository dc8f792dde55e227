"""``lanesort argsort``: the positions that put a file in order."""

from __future__ import annotations

from pathlib import Path

from lanesort.cli.options import External, Order, Output, Reading, progress_of
from lanesort.cli.progress import shown
from lanesort.cli.wording import in_options
from lanesort.distributed import external
from lanesort.files import read_array, write_arrays
from lanesort.kernels.sort import argsort as positions

__all__ = ["argsort"]


def argsort(
    file: Path,
    /,
    *,
    output: Output,
    order: Order = Order(),
    reading: Reading = Reading(),
    beyond: External = External(),
    axis: int = -1,
    index_dtype: str = "int64",
    threads: int | None = None,
) -> int:
    """Write the positions that put each row in order.

    Parameters
    ----------
    file
        .npy, .npz, .safetensors or .parquet.
    output
        File to write, of any of these kinds.
    axis
        Axis to order along.
    index_dtype
        Integer dtype of the positions; int64 with --memory.
    threads
        Threads to use; the result is the same.
    """
    other = {"axis": axis != -1, "index_dtype": index_dtype != "int64", "name": reading.name}
    if beyond.in_pieces(**other, threads=threads):
        with progress_of("argsort") as moved, in_options():
            external.argsort(
                file,
                output,
                descending=order.descending,
                nan=order.nan,
                tie=order.tie,
                dtype=reading.dtype,
                memory_bytes=beyond.bytes,
                temporary=beyond.temporary,
                progress=moved,
            )
        return 0
    with in_options(("x has", f"{file} has")), shown("argsort"):
        found = positions(
            read_array(file, reading.name, reading.dtype),
            axis=axis,
            descending=order.descending,
            nan=order.nan,
            tie=order.tie,
            index_dtype=index_dtype,
            threads=threads,
        )
    write_arrays(output, {"indices": found})
    return 0
