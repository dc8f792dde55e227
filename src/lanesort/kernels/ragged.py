"""Rows of unequal length: which elements take part, and what fills the rest."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lanesort.errors import ArgumentTypeError, ArgumentValueError
from lanesort.kernels.arrays import receive
from lanesort.kernels.rows import Rows
from lanesort.order import key_class

__all__ = ["Ragged", "fill_value_of", "ragged_rows"]

Array = npt.NDArray[Any]


class Ragged(NamedTuple):
    """Rows whose elements that take part stand in front.

    Attributes
    ----------
    array
        Shape (rows, n); of row r the first ``lengths[r]`` elements take part.
    lengths
        int64, shape (rows,).
    positions
        Shape (rows, n): the original position of each element, or None where that is its
        present one.
    """

    array: Array
    lengths: Array
    positions: Array | None

    def original(self, indices: Array) -> Array:
        """Map positions among the elements that take part to original positions."""
        if self.positions is None:
            return indices
        inside = np.minimum(indices, self.positions.shape[1] - 1)
        return np.take_along_axis(self.positions, inside.astype(np.intp), axis=1)

    def behind(self, width: int) -> Array:
        """Say which of `width` result columns lie behind the real ones, row by row."""
        return np.arange(width) >= self.lengths[:, None]


def ragged_rows(rows: Rows, lengths: Any, where: Any) -> Ragged:
    """Bring the elements that take part to the front of their rows, in order.

    Parameters
    ----------
    rows
        The array as rows.
    lengths
        None, or integers of the array's shape without the axis, 0 … n.
    where
        None, or a mask that broadcasts to the array. Both given: both must hold.
    """
    counts = None if lengths is None else _lengths(rows, lengths)
    if where is None:
        assert counts is not None
        return Ragged(rows.array, counts, None)
    taking = _mask(rows, where)
    if counts is not None:
        taking = taking & (np.arange(rows.n) < counts[:, None])
    return _compacted(rows.array, taking)


def _lengths(rows: Rows, lengths: Any) -> Array:
    given = receive(lengths, "lengths").array
    expected = rows.shape[:-1]
    if given.dtype.kind not in "iu":
        raise ArgumentTypeError(f"lengths has dtype {given.dtype}; it must be of integers")
    if given.shape != expected:
        raise ArgumentValueError(
            f"lengths has shape {given.shape}; it must be {expected}, the shape of x without the axis"
        )
    flat = given.reshape(-1)
    bad = np.flatnonzero((flat < 0) | (flat > rows.n))
    if bad.size:
        raise ArgumentValueError(
            f"lengths[{int(bad[0])}] (flattened) is {int(flat[bad[0]])}; rows have 0 … {rows.n} elements"
        )
    return flat.astype(np.int64)


def _mask(rows: Rows, where: Any) -> Array:
    given = receive(where, "where").array
    if given.dtype.kind != "b":
        raise ArgumentTypeError(f"where has dtype {given.dtype}; it must be of booleans")
    moved_shape = list(rows.shape)
    n = moved_shape.pop()
    moved_shape.insert(rows.axis, n)
    try:
        full = np.broadcast_to(given, tuple(moved_shape))
    except ValueError:
        raise ArgumentValueError(
            f"where has shape {given.shape}, which does not broadcast to x's {tuple(moved_shape)}"
        ) from None
    return np.ascontiguousarray(np.moveaxis(full, rows.axis, -1)).reshape(rows.array.shape)


def _compacted(array: Array, taking: Array) -> Ragged:
    lengths = taking.sum(axis=1, dtype=np.int64)
    row, column = np.nonzero(taking)
    first = np.repeat(np.cumsum(lengths) - lengths, lengths)
    slot = np.arange(row.size) - first
    front = np.zeros_like(array)
    positions = np.zeros(array.shape, dtype=np.intp)
    front[row, slot] = array[row, column]
    positions[row, slot] = column
    return Ragged(front, lengths, positions)


def fill_value_of(fill_value: Any, dtype: np.dtype[Any]) -> Any:
    """Return the value that fills rows up: NaN, NaT, or 0 for integers and booleans."""
    if fill_value is None:
        kind = key_class(dtype).kind
        if kind == "time":
            return np.array("NaT", dtype=dtype)
        return np.array(np.nan if kind == "float" else 0).astype(dtype)
    try:
        filled = np.asarray(fill_value).astype(dtype, casting="same_kind" if dtype.kind in "mM" else "unsafe")
    except (TypeError, ValueError, OverflowError) as error:
        raise ArgumentTypeError(f"fill_value is {fill_value!r}, which {dtype} can't hold: {error}") from error
    if filled.ndim:
        raise ArgumentValueError(f"fill_value has shape {filled.shape}; it must be one value")
    if dtype.kind in "iub" and np.asarray(fill_value) != filled:
        raise ArgumentValueError(f"fill_value is {fill_value!r}, which {dtype} can't hold")
    return filled
