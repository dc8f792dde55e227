"""Arrays that touch a page which nobody may read or write: who goes beyond an edge, dies there."""

from __future__ import annotations

import ctypes
import mmap
import os
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["FILL", "Fenced", "fenced_copy"]

PAGE = mmap.PAGESIZE
FILL = 0xA5
_PROT_NONE = 0
_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)


class Fenced:
    """An array between two guard pages, at the edge of one of them.

    Parameters
    ----------
    shape, dtype
        Of the array.
    at_end
        Whether it ends where the guard page behind begins; otherwise it begins where the one
        before ends.
    shift
        Bytes between array and guard page, which misalign the array.
    gap
        Bytes between one item of the first axis and the next.

    Attributes
    ----------
    array
        The array. Every other byte up to the guard pages has the value FILL.
    """

    def __init__(
        self, shape: tuple[int, ...], dtype: Any, *, at_end: bool, shift: int = 0, gap: int = 0
    ) -> None:
        item = np.dtype(dtype).itemsize
        inner = [item * prod(shape[axis + 1 :]) for axis in range(len(shape))]
        self._row, self._stride, self._rows = item * prod(shape[1:]), inner[0] + gap, shape[0]
        span = (shape[0] - 1) * self._stride + self._row if prod(shape) else 0
        size = max(1, -(-(span + shift) // PAGE)) * PAGE
        memory = mmap.mmap(-1, size + 2 * PAGE)
        address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        for page in (address, address + PAGE + size):
            if _LIBC.mprotect(page, PAGE, _PROT_NONE) != 0:
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        self._bytes = np.frombuffer(memory, np.uint8, size, PAGE)
        self._bytes.fill(FILL)
        self._start = size - shift - span if at_end else shift
        self._rows = self._rows if span else 0
        self.array: npt.NDArray[Any] = np.ndarray(
            shape, dtype, self._bytes.data, self._start, (self._stride, *inner[1:])
        )

    def intact(self) -> bool:
        """Say whether every byte beside the array is as it was."""
        beside = np.ones(self._bytes.size, np.bool_)
        for row in range(self._rows):
            start = self._start + row * self._stride
            beside[start : start + self._row] = False
        return bool((self._bytes[beside] == FILL).all())


def fenced_copy(x: npt.NDArray[Any], *, at_end: bool, shift: int = 0, gap: int = 0) -> npt.NDArray[Any]:
    """Copy `x` to the edge of a guard page."""
    fenced = Fenced(x.shape, x.dtype, at_end=at_end, shift=shift, gap=gap)
    fenced.array[...] = x
    return fenced.array
