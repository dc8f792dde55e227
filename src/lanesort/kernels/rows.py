"""Arrays as rows: the axis brought to the end, the rest folded, and back."""

from __future__ import annotations

import math
import operator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lanesort.errors import ArgumentTypeError, ArgumentValueError

__all__ = ["Rows", "as_rows", "normal_axis"]

Array = npt.NDArray[Any]


class Rows(NamedTuple):
    """An array as (rows, n) in native byte order and C order.

    Attributes
    ----------
    array
        Shape (rows, n).
    shape
        Shape of the original, its axis moved to the end.
    axis
        Where that axis was, counted from the front.
    dtype
        Original dtype, byte order included.
    """

    array: Array
    shape: tuple[int, ...]
    axis: int
    dtype: np.dtype[Any]

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.array.shape[0])

    @property
    def n(self) -> int:
        """Length of a row."""
        return int(self.array.shape[1])

    def restore(self, rows: Array) -> Array:
        """Give (rows, m) results the original's shape and axis, m in the axis' place."""
        shaped = rows.reshape(*self.shape[:-1], rows.shape[1])
        return shaped if self.axis == len(self.shape) - 1 else np.moveaxis(shaped, -1, self.axis)

    def restore_values(self, rows: Array) -> Array:
        """Do the same with values, which get the original's byte order back."""
        shaped = self.restore(rows)
        return shaped if self.dtype.isnative else shaped.astype(self.dtype)

    def per_row(self, counts: Array) -> Array:
        """Give one number a row the original's shape without the axis."""
        return counts.reshape(self.shape[:-1])


def normal_axis(axis: Any, ndim: int, name: str = "axis") -> int:
    """Return the axis counted from the front."""
    try:
        number = operator.index(axis)
    except TypeError:
        raise ArgumentTypeError(f"{name} is {axis!r}; it must be an integer") from None
    if not -ndim <= number < ndim:
        raise ArgumentValueError(
            f"{name} is {number}; an array of {ndim} dimensions has {-ndim} … {ndim - 1}"
        )
    return number % ndim


def as_rows(x: Array, axis: Any) -> Rows:
    """Bring `axis` to the end and fold the rest into rows.

    A view where the layout allows it, else a copy; the input is never written.
    """
    if x.ndim == 0:
        raise ArgumentValueError("x has no dimension; ordering needs at least one")
    if axis == -1 and x.flags.c_contiguous and x.dtype.isnative:
        return Rows(x.reshape(math.prod(x.shape[:-1]), x.shape[-1]), x.shape, x.ndim - 1, x.dtype)
    place = normal_axis(axis, x.ndim)
    moved = x if place == x.ndim - 1 else np.moveaxis(x, place, -1)
    dtype = x.dtype
    native = moved if dtype.isnative else moved.astype(dtype.newbyteorder("="))
    n = moved.shape[-1]
    folded = np.ascontiguousarray(native).reshape(math.prod(moved.shape[:-1]), n)
    return Rows(folded, moved.shape, place, dtype)
