"""Tiles of sorted pairs: the hardware's layout, and the result of a tile function.

A pair has 8 bytes: for a 32-bit value the value and its u32 index; for a 16-bit value the
value, a gap of 16 bits, and the u32 index. A tile counts elements of the value's type, so
that a pair takes two columns or four.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lanesort.engine.pairs import PAIR_BYTES
from lanesort.errors import ArgumentTypeError, ArgumentValueError
from lanesort.evidence import fact, unpinned
from lanesort.results import Pairs

__all__ = ["PAD_BITS", "PAIR_BYTES", "PairViews", "Tile", "columns_per_pair", "pair_views", "pairs", "tile"]

Array = npt.NDArray[Any]

PAD_BITS: Mapping[str, Mapping[str, int]] = {
    "negative-nan": {"float32": 0xFFC00000, "float16": 0xFE00},
    "-inf": {"float32": 0xFF800000, "float16": 0xFC00},
    "lowest": {"float32": 0xFF7FFFFF, "float16": 0xFBFF},
}
"""Bits of the value that completes a tail block, by choice of ``pto.pad-bits`` and dtype."""

fact(
    "pto.pair",
    "A pair is [value f32, index u32] or [value f16, 16 bits, index u32]: 8 bytes, the best pair first.",
    "documented",
    "high",
    "seed 002, tile sizes; seed 004, data format",
)

unpinned(
    "pto.half-pad-slot",
    ("pto.tsort32", "pto.tmrgsort"),
    "The 16 bits between value and index of a pair of half.",
    "seed 002: zero; AscendC documentation: reserved",
    {"zero": "zero after TSORT32, carried along by TMRGSORT"},
)


def columns_per_pair(dtype: Any) -> int:
    """Return how many tile columns one pair takes: 2 for 32-bit values, 4 for 16-bit ones.

    Raises
    ------
    ArgumentTypeError
        For values of another width.

    Examples
    --------
    >>> columns_per_pair("float16")
    4
    """
    itemsize = np.dtype(dtype).itemsize
    if itemsize not in (2, 4):
        raise ArgumentTypeError(f"pairs hold values of 16 or 32 bits; {np.dtype(dtype)} has {8 * itemsize}")
    return PAIR_BYTES // int(itemsize)


class PairViews(NamedTuple):
    """Views of the values, u32 indices and gaps (16-bit values only) inside a tile's rows."""

    values: Array
    indices: Array
    gaps: Array | None


def pair_views(rows: Array, count: int) -> PairViews:
    """View the first `count` pairs of each row of a tile, without a copy.

    Parameters
    ----------
    rows
        Shape (R, columns), elements of one row contiguous.
    count
        Pairs to view.
    """
    width = PAIR_BYTES // rows.itemsize
    part = rows if rows.shape[1] == width * count else rows[:, : width * count]
    indices = part.view(np.uint32)[:, 1::2]
    gaps = part.view(np.uint16)[:, 1::4] if width == 4 else None
    return PairViews(part[:, ::width], indices, gaps)


@dataclass(frozen=True, slots=True, eq=False)
class Tile:
    """The result of a tile function.

    ``numpy.asarray(tile)`` gives the elements, shape (rows, columns), pairs as the hardware
    lays them out.

    Attributes
    ----------
    array
        The elements.
    produced_columns
        Leading elements of each row that the instruction produced.
    unpinned
        Ids of the unpinned behaviours that the result depended on.
    warnings
        What a user should know beside the result.
    """

    array: Array
    produced_columns: int
    unpinned: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """Return the elements for NumPy."""
        return np.array(self.array, dtype=dtype, copy=copy)

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""
        return self.array.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Element type."""
        return self.array.dtype

    @property
    def written(self) -> npt.NDArray[np.bool_]:
        """Mask, of the tile's shape, of the elements that the instruction produced."""
        mask = np.arange(self.array.shape[1]) < self.produced_columns
        return np.broadcast_to(mask, self.array.shape)


def pairs(tile: Tile | Array) -> Pairs:
    """Pull the values and the indices of a tile's pairs apart.

    Parameters
    ----------
    tile
        A result, or an array of shape (R, columns) or (columns,) of 16- or 32-bit elements.

    Returns
    -------
    Pairs
        Values of the tile's dtype and u32 indices, one row for each of the tile's; of a
        `Tile` only those that the instruction produced.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If the elements have another width, or the shape is not that of a tile.

    Examples
    --------
    >>> values, indices = pairs(np.array([7.0, 0.0, 5.0, 0.0], np.float32))
    >>> values.tolist(), indices.tolist()
    ([[7.0, 5.0]], [[0, 0]])
    """
    rows = np.atleast_2d(np.asarray(tile))
    if rows.ndim != 2:
        raise ArgumentValueError(f"a tile has rows and columns; this array has shape {rows.shape}")
    width = columns_per_pair(rows.dtype)
    columns = tile.produced_columns if isinstance(tile, Tile) else rows.shape[1]
    views = pair_views(np.ascontiguousarray(rows), columns // width)
    return Pairs(views.values.copy(), views.indices.copy())


def tile(values: Any, indices: Any, dtype: Any = None) -> Tile:
    """Lay values and indices out as a tile of pairs.

    Parameters
    ----------
    values
        Shape (R, N) or (N,).
    indices
        The same shape, or one row for all; integers from 0 to 2^32 - 1.
    dtype
        Element type of the tile; that of `values` if not given.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        For dtypes that pairs do not hold, or shapes that do not fit each other.

    Examples
    --------
    >>> np.asarray(tile(np.array([7.0, 5.0], np.float16), [2, 0])).view(np.uint16).tolist()
    [[18176, 0, 2, 0, 17664, 0, 0, 0]]
    """
    rows = np.atleast_2d(np.asarray(values, dtype=dtype))
    width = columns_per_pair(rows.dtype)
    payload = np.atleast_2d(np.asarray(indices))
    if payload.size and (payload.dtype.kind not in "iu" or payload.min() < 0 or payload.max() > 0xFFFFFFFF):
        raise ArgumentValueError("indices must be integers from 0 to 4294967295")
    if rows.ndim != 2 or payload.shape not in (rows.shape, (1, rows.shape[1])):
        raise ArgumentValueError(f"indices of shape {payload.shape} do not fit values of shape {rows.shape}")
    array = np.zeros((rows.shape[0], width * rows.shape[1]), rows.dtype)
    views = pair_views(array, rows.shape[1])
    views.values[...] = rows
    views.indices[...] = payload
    return Tile(array, array.shape[1])
