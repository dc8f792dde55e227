"""What a task does for a top-k: the best of a chunk, the best of several bests, the result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from lanesort.kernels.top_k import top_k
from lanesort.order import Order
from lanesort.results import Pairs

__all__ = ["finished_top", "top_of_chunk", "top_of_tops"]

Array = npt.NDArray[Any]


def top_of_chunk(
    values: Array, k: int, axis: int, start: int, order: Order, lengths: Array | None, where: Array | None
) -> Pairs:
    """Return the best k of a chunk along an axis; indices count from the row's beginning.

    `lengths` are those of whole rows.
    """
    size = values.shape[axis]
    own = None if lengths is None else np.clip(np.asarray(lengths, np.int64) - start, 0, size)
    best = _top(values, min(k, size), axis, order, own, where)
    return Pairs(best.values, best.indices + start, best.valid)


def top_of_tops(tops: Sequence[Pairs], k: int, axis: int, order: Order) -> Pairs:
    """Return the best k of the best of several chunks, given in the order of their indices."""
    # Equal candidates stand in the order that the tie rule wants, inside a chunk by its sort;
    # across chunks that is the order of the chunks, or its reverse.
    in_order = tops[::-1] if order.tie == "high" else tops
    values = np.concatenate([top.values for top in in_order], axis=axis)
    indices = np.concatenate([top.indices for top in in_order], axis=axis)
    where = None
    if tops[0].valid is not None:
        real = [np.moveaxis(_real(top.values.shape[axis], top.valid), -1, axis) for top in in_order]
        where = np.concatenate(real, axis=axis)
    best = _top(values, min(k, values.shape[axis]), axis, order.replace(tie="low"), None, where)
    chosen = np.maximum(best.indices, 0)
    return Pairs(best.values, np.take_along_axis(indices, chosen, axis=axis), best.valid)


def finished_top(
    best: Pairs,
    k: int,
    axis: int,
    by_index: bool,
    dtypes: tuple[np.dtype[Any], np.dtype[Any]],
    offset: int,
    fills: tuple[Any, Any],
) -> Pairs:
    """Return the best k as they are given to the caller.

    Parameters
    ----------
    by_index
        Those chosen in ascending index order instead of the best first.
    dtypes
        Of values, byte order included, and of indices.
    offset
        Added to every index.
    fills
        Value and index that fill rows up where elements were left out.
    """
    values = np.moveaxis(best.values, axis, -1)
    indices = np.moveaxis(best.indices, axis, -1)
    real = None if best.valid is None else _real(values.shape[-1], best.valid)
    if by_index:
        last = np.iinfo(np.int64).max
        order = np.argsort(indices if real is None else np.where(real, indices, last), axis=-1)
        values, indices = np.take_along_axis(values, order, -1), np.take_along_axis(indices, order, -1)
    dtype, index_dtype = dtypes
    # Indices wrap around in a narrow or unsigned dtype, and adding the offset brings them back.
    indices = indices.astype(index_dtype) + index_dtype.type(offset)
    if real is not None:
        values = _filled(np.where(real, values, fills[0].astype(values.dtype)), k, fills[0])
        indices = _filled(np.where(real, indices, index_dtype.type(fills[1])), k, fills[1])
    values = values.astype(dtype, copy=False)
    return Pairs(np.moveaxis(values, -1, axis), np.moveaxis(indices, -1, axis), best.valid)


def _top(values: Array, k: int, axis: int, order: Order, lengths: Any, where: Any) -> Pairs:
    return top_k(
        values,
        k,
        axis=axis,
        mode="largest" if order.descending else "smallest",
        nan=order.nan,
        tie=order.tie,
        index_dtype=np.int64,
        lengths=lengths,
        where=where,
        threads=1,
    )


def _real(width: int, valid: Any) -> Array:
    """Say which of `width` candidates are real, shape (…, width)."""
    return np.asarray(np.arange(width) < np.asarray(valid)[..., None])


def _filled(array: Array, k: int, fill: Any) -> Array:
    missing = np.full((*array.shape[:-1], k - array.shape[-1]), fill, array.dtype)
    return np.concatenate([array, missing], axis=-1)
