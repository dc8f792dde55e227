"""What a task does to one chunk: plain functions of arrays, wired into graphs in `dask`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from lanesort.distributed.split import Search, candidates, count_below, cuts, local_counts, narrowed
from lanesort.kernels.merge import merge
from lanesort.kernels.nonzero import flatnonzero
from lanesort.kernels.sort import sort_pairs
from lanesort.kernels.top_k import top_k
from lanesort.order import Order
from lanesort.results import Pairs

__all__ = [
    "added",
    "candidate_counts",
    "checked_run",
    "cut_table",
    "merged",
    "next_search",
    "nonzero_positions",
    "own_counts",
    "part",
    "piece",
    "placed",
    "sorted_chunk",
    "top_of_chunk",
    "top_of_tops",
]

Array = npt.NDArray[Any]


def sorted_chunk(values: Array, offset: int, order: Order) -> Pairs:
    """Sort a chunk; its indices are global."""
    return sort_pairs(
        values,
        descending=order.descending,
        nan=order.nan,
        tie=order.tie,
        index_dtype=np.int64,
        index_offset=offset,
        threads=1,
    )


def checked_run(values: Array, offset: int, order: Order, before: Array | None) -> Pairs:
    """Take a chunk that is sorted already, after checking that it is, also against the one before."""
    joined = values if before is None else np.concatenate([before[-1:], values])
    merge([joined], descending=order.descending, nan=order.nan)
    return Pairs(values, np.arange(offset, offset + values.size, dtype=np.int64))


def candidate_counts(chunk: Pairs, state: Search, order: Order) -> Array:
    """Count a sorted chunk's keys below each candidate."""
    return count_below(chunk.values, candidates(state), order)


def added(counts: Sequence[Array]) -> Array:
    """Add counts of several chunks."""
    return np.asarray(np.sum(counts, axis=0))


def next_search(state: Search, below: Array) -> Search:
    """Take one more digit of the keys at the ranks."""
    return narrowed(state, below)


def own_counts(chunk: Pairs, state: Search, order: Order) -> Array:
    """Count a sorted chunk's keys below and at the keys found."""
    return local_counts(chunk.values, state, order)


def cut_table(state: Search, counts: Sequence[Array]) -> Array:
    """Return where each chunk is cut, shape (chunks, ranks)."""
    return cuts(state, np.stack(counts))


def piece(chunk: Pairs, table: Array, run: int, output: int) -> tuple[Array, Array]:
    """Return what a sorted chunk gives to one output."""
    row = table[run]
    start = int(row[output - 1]) if output else 0
    stop = int(row[output]) if output < row.size else chunk.values.size
    return chunk.values[start:stop].copy(), chunk.indices[start:stop].copy()


def merged(pieces: Sequence[tuple[Array, Array]], order: Order) -> Pairs:
    """Merge the pieces of one output; of equal values those of an earlier piece come first."""
    found = merge(
        [values for values, _ in pieces],
        indices=[indices for _, indices in pieces],
        descending=order.descending,
        nan=order.nan,
        tie="run",
        check=False,
        threads=1,
    )
    return Pairs(found.values, found.indices)


def part(pairs: Pairs, which: int, dtype: Any) -> Array:
    """Return the values (0) or the indices (1) of pairs, in a dtype."""
    return np.asarray(pairs[which]).astype(dtype, copy=False)


def top_of_chunk(values: Array, k: int, axis: int, offset: int, order: Order) -> Pairs:
    """Return the best k of a chunk along an axis, with global indices."""
    return top_k(
        values,
        min(k, values.shape[axis]),
        axis=axis,
        mode="largest" if order.descending else "smallest",
        nan=order.nan,
        tie=order.tie,
        index_dtype=np.int64,
        index_offset=offset,
        threads=1,
    )


def top_of_tops(tops: Sequence[Pairs], k: int, axis: int, order: Order) -> Pairs:
    """Return the best k of the best of several chunks, given in the order of their indices."""
    values = np.concatenate([top.values for top in tops], axis=axis)
    indices = np.concatenate([top.indices for top in tops], axis=axis)
    # Equal candidates stand in the order that the tie rule wants, inside a chunk by its sort;
    # across chunks that is the order of the chunks, or its reverse.
    if order.tie == "high":
        values = np.concatenate([top.values for top in tops[::-1]], axis=axis)
        indices = np.concatenate([top.indices for top in tops[::-1]], axis=axis)
    best = top_of_chunk(values, k, axis, 0, order.replace(tie="low"))
    return Pairs(best.values, np.take_along_axis(indices, best.indices, axis=axis))


def nonzero_positions(values: Array, offset: int, size: int | None) -> tuple[Array, int]:
    """Return the global positions of a flat chunk's nonzeros, `size` at most, and their count."""
    found = flatnonzero(values, index_offset=offset, index_dtype=np.int64, threads=1)
    return (found.indices if size is None else found.indices[:size]), found.total


def placed(found: Sequence[tuple[Array, int]], start: int, stop: int, fill: int, dtype: Any) -> Array:
    """Return positions start … stop − 1 of the concatenation of `found`, filled up behind."""
    whole = np.concatenate([positions for positions, _ in found])[start:stop]
    filled = np.full(stop - start, fill, dtype)
    filled[: whole.size] = whole
    return filled
