"""What a task does to find nonzeros: in a chunk of one row, in whole rows, and to place them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from lanesort.distributed.chunk import part
from lanesort.distributed.routes import table_of_ends
from lanesort.kernels.nonzero import flatnonzero
from lanesort.results import Nonzero, Pairs

__all__ = ["count", "ends", "nonzero_rows", "nonzeros", "placed", "placed_pairs"]

Array = npt.NDArray[Any]


def nonzeros(values: Array, start: int) -> Array:
    """Return the positions of a flat chunk's nonzeros in the whole array."""
    return np.asarray(flatnonzero(values, index_offset=start, index_dtype=np.int64, threads=1).indices)


def count(values: Array) -> Array:
    """Count a chunk's nonzeros."""
    return np.array([flatnonzero(values, size=0, threads=1).total])


def nonzero_rows(values: Array, options: dict[str, Any]) -> Nonzero:
    """Find the nonzeros of a chunk that holds whole rows, as the library does."""
    return flatnonzero(values, threads=1, **options)


def ends(lengths: Sequence[int], sizes: Sequence[int]) -> Array:
    """Return where each chunk's positions are cut for outputs of these sizes."""
    counts = np.asarray(lengths, np.int64)
    earlier = np.cumsum(counts) - counts
    cut = np.clip(np.cumsum(sizes)[None, :] - earlier[:, None], 0, counts[:, None])
    return table_of_ends(cut, counts, len(sizes))


def placed(found: Array, dtype: np.dtype[Any], size: int | None, offset: int, fill: int) -> Array:
    """Return positions as they are given to the caller, see `part`."""
    return part(Pairs(None, found), 1, dtype, size, offset, fill)


def placed_pairs(pairs: Pairs, dtype: np.dtype[Any], size: int, offset: int, fill: int) -> Array:
    """Do the same with positions that were exchanged as values."""
    return placed(pairs.values, dtype, size, offset, fill)
