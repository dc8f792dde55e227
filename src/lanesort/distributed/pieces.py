"""Pieces of a `.npy` file that fit the memory given, and outputs that are whole or absent."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from lanesort.distributed.runs import Source
from lanesort.distributed.scratch import scratch_folder
from lanesort.errors import ArgumentValueError, FileError
from lanesort.files import named_dtype, read_array, written_aside
from lanesort.order import key_class

__all__ = ["MEMORY_BYTES", "elements_in", "opened", "output", "pieces", "row_blocks"]

Array = npt.NDArray[Any]

MEMORY_BYTES = 1 << 30
"""Memory to use unless the caller says how much."""

MINIMUM_BYTES = 1 << 20
SCRATCH_BYTES_PER_ELEMENT = 48
"""What the kernels and their results take for each element of a piece, at most."""


@contextmanager
def output(target: str | Path, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Iterator[IO[bytes]]:
    """Write a `.npy` file aside, in a folder that a later run removes if a kill leaves it."""
    path = Path(target)
    if path.suffix.lower() != ".npy":
        raise FileError(f"{path}: results larger than memory are written as .npy")
    header = {
        "descr": np.lib.format.dtype_to_descr(dtype),
        "fortran_order": False,
        "shape": shape,
    }
    needed = math.prod(shape) * dtype.itemsize
    with scratch_folder(path.parent, needed) as folder, written_aside(path, folder) as file:
        np.lib.format.write_array_header_2_0(file, header)
        yield file


def opened(source: str | Path, dtype: str | None) -> tuple[Source, tuple[int, ...]]:
    """Return the elements of a `.npy` file, in C order, and their shape.

    Raises
    ------
    FileError
        If it is no such file, or has no dimension.
    """
    path = Path(source)
    if path.suffix.lower() != ".npy":
        raise FileError(f"{path}: files larger than memory are read as .npy; convert it first")
    mapped = read_array(path, dtype=dtype)
    if mapped.ndim == 0 or not mapped.flags.c_contiguous:
        raise FileError(f"{path}: has shape {mapped.shape}; it must have a dimension, and lie in C order")
    key_class(mapped.dtype)
    known = named_dtype(dtype) if dtype is not None else mapped.dtype
    return Source(path, known, getattr(mapped, "offset", 0), mapped.size), mapped.shape


def elements_in(memory_bytes: int, dtype: np.dtype[Any]) -> int:
    """Return how many elements can be worked on at once."""
    if memory_bytes < MINIMUM_BYTES:
        raise ArgumentValueError(
            f"the memory given is {memory_bytes:,} bytes; it must be at least {MINIMUM_BYTES:,}"
        )
    return memory_bytes // (2 * dtype.itemsize + SCRATCH_BYTES_PER_ELEMENT)


def pieces(values: Source, memory_bytes: int) -> Iterator[tuple[int, Array]]:
    """Yield the pieces of a file, and where each begins."""
    size = elements_in(memory_bytes, values.dtype)
    for start in range(0, values.length, size):
        yield start, values.block(start, min(start + size, values.length))


def row_blocks(values: Source, columns: int, memory_bytes: int) -> Iterator[Array]:
    """Yield whole rows of `columns` elements, as many at once as fit.

    Raises
    ------
    FileError
        If one row does not fit.
    """
    most = elements_in(memory_bytes, values.dtype)
    if columns > most:
        raise FileError(
            f"{values.path}: a row has {columns:,} elements, the memory given holds {most:,}; give more, "
            "or sort the rows one by one from files of their own"
        )
    step = max(1, most // max(1, columns)) * columns
    for start in range(0, values.length, step or 1):
        yield values.block(start, min(start + step, values.length)).reshape(-1, columns)
