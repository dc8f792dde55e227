"""``lanesort nonzero``: the positions of a file's nonzeros."""

from __future__ import annotations

from pathlib import Path

from lanesort.cli.console import console as make_console
from lanesort.cli.options import External, Output, Reading, progress_of
from lanesort.cli.progress import shown
from lanesort.cli.wording import in_options
from lanesort.distributed import external
from lanesort.errors import counted
from lanesort.files import read_array, write_arrays
from lanesort.kernels.nonzero import flatnonzero

__all__ = ["nonzero"]


def nonzero(
    file: Path,
    /,
    *,
    output: Output,
    reading: Reading = Reading(),
    beyond: External = External(),
    threads: int | None = None,
) -> int:
    """Write the positions of the nonzeros in the flattened array, and print how many there are.

    Parameters
    ----------
    file
        .npy, .npz, .safetensors or .parquet.
    output
        File to write, of any of these kinds.
    threads
        Threads to use; the result is the same.
    """
    if beyond.in_pieces(name=reading.name, threads=threads, temporary=beyond.temporary):
        with progress_of("nonzero") as moved, in_options():
            total = external.nonzero(
                file,
                output,
                dtype=reading.dtype,
                memory_bytes=beyond.bytes,
                progress=moved,
            )
    else:
        with in_options(("x has", f"{file} has")), shown("nonzero"):
            found = flatnonzero(read_array(file, reading.name, reading.dtype), threads=threads)
        write_arrays(output, {"indices": found.indices})
        total = found.total
    make_console().print(counted(total, "nonzero"))
    return 0
