"""Output arrays with guard bytes all around, at any misalignment: who writes beyond is found out."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Guarded", "misaligned"]

FILL = 0xA5


class Guarded:
    """A (rows, columns) array inside a larger buffer of one repeated byte.

    Attributes
    ----------
    array
        The part to write: rows apart by a few more bytes than they need, misaligned by `shift`.
    """

    def __init__(self, rows: int, columns: int, dtype: Any, shift: int = 1, gap: int = 7) -> None:
        item = np.dtype(dtype).itemsize
        stride = columns * item + gap
        self._bytes = np.full(64 + shift + rows * stride + 64, FILL, np.uint8)
        self._start, self._stride, self._row_bytes = 64 + shift, stride, columns * item
        self.array: npt.NDArray[Any] = np.ndarray(
            (rows, columns), dtype, self._bytes.data, self._start, (stride, item)
        )

    def written(self) -> npt.NDArray[np.bool_]:
        """Say for each byte of the rows whether it is no longer the fill; (rows, bytes)."""
        rows = self.array.shape[0]
        inner = np.lib.stride_tricks.as_strided(
            self._bytes[self._start :], (rows, self._row_bytes), (self._stride, 1)
        )
        return np.asarray(inner != FILL)

    def guards_hold(self) -> bool:
        """Say whether every byte outside the rows is as it was."""
        outside = np.ones(self._bytes.size, np.bool_)
        for row in range(self.array.shape[0]):
            start = self._start + row * self._stride
            outside[start : start + self._row_bytes] = False
        return bool((self._bytes[outside] == FILL).all())


def misaligned(x: npt.NDArray[Any], shift: int = 1) -> npt.NDArray[Any]:
    """Copy `x` to an address that is `shift` bytes off the alignment of its dtype."""
    raw = np.empty(x.nbytes + 64 + shift, np.uint8)
    start = -raw.ctypes.data % 64 + shift
    copy: npt.NDArray[Any] = np.ndarray(x.shape, x.dtype, raw.data, start)
    copy[...] = x
    return copy
