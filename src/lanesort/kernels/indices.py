"""Index types: what fits, what fills."""

from __future__ import annotations

import operator
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from lanesort.errors import ArgumentTypeError, ArgumentValueError

__all__ = ["allocate", "checked_offset", "fill_index_of", "native_index"]

Array = npt.NDArray[Any]


@lru_cache(maxsize=32)
def _limits(dtype: np.dtype[Any]) -> tuple[int, int]:
    limits = np.iinfo(dtype)
    return int(limits.min), int(limits.max)


def checked_offset(index_offset: Any, n: int, dtype: np.dtype[Any]) -> int:
    """Return the offset if every position plus it fits the index dtype.

    Raises
    ------
    ArgumentValueError
        If n − 1 + index_offset, or the offset itself, lies outside the dtype.
    """
    try:
        offset = operator.index(index_offset)
    except TypeError:
        raise ArgumentTypeError(f"index_offset is {index_offset!r}; it must be an integer") from None
    smallest, largest = _limits(dtype)
    last = max(n - 1, 0) + offset
    if last > largest or offset < smallest:
        raise ArgumentValueError(
            f"indices {offset} … {last} (n = {n}, index_offset = {offset}) do not fit {dtype}, "
            f"which holds {smallest} … {largest}; choose a wider index_dtype"
        )
    return offset


def fill_index_of(fill_index: Any, dtype: np.dtype[Any]) -> int:
    """Return the index that fills rows up: −1, or the largest of an unsigned dtype."""
    smallest, largest = _limits(dtype)
    if fill_index is None:
        return -1 if smallest < 0 else largest
    try:
        fill = operator.index(fill_index)
    except TypeError:
        raise ArgumentTypeError(f"fill_index is {fill_index!r}; it must be an integer") from None
    if not smallest <= fill <= largest:
        raise ArgumentValueError(
            f"fill_index is {fill}; {dtype} holds {smallest} … {largest}: choose another index_dtype"
        )
    return fill


def allocate(shape: tuple[int, ...], dtype: np.dtype[Any]) -> tuple[Array, Array]:
    """Return an index array to fill, and the unsigned view of it that the kernels write.

    The kernels write 16, 32 and 64 bits; 8-bit indices are computed wider and narrowed by
    `native_index`.
    """
    made = np.empty(shape, dtype=np.dtype(np.uint16) if dtype.itemsize == 1 else dtype)
    return made, made.view(f"u{made.dtype.itemsize}")


def native_index(made: Array, dtype: np.dtype[Any]) -> Array:
    """Return the index array of `allocate` in the dtype that was asked for."""
    return made if made.dtype == dtype else made.astype(dtype)
