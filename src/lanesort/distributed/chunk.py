"""What a task does to one chunk: plain functions of arrays, wired into graphs in `exchange`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from lanesort.distributed.routes import table_of_ends
from lanesort.distributed.split import (
    Search,
    cuts,
    digit_counts,
    index_windows,
    key_windows,
)
from lanesort.errors import ArgumentValueError
from lanesort.kernels.merge import merge
from lanesort.kernels.sort import argsort, sort, sort_pairs
from lanesort.order import Order
from lanesort.results import Pairs

__all__ = [
    "added",
    "checked_lengths",
    "counted",
    "counted_indices",
    "drained",
    "ends",
    "merged",
    "part",
    "piece",
    "positions_of_run",
    "run_part",
    "sorted_chunk",
    "sorted_rows",
    "taken",
    "total",
    "valid_of",
]

Array = npt.NDArray[Any]


def checked_lengths(lengths: Array, n: int) -> Array:
    """Return how many elements of each row take part, if rows have that many."""
    flat = np.asarray(lengths).reshape(-1)
    bad = np.flatnonzero((flat < 0) | (flat > n))
    if bad.size:
        raise ArgumentValueError(
            f"lengths[{int(bad[0])}] (flattened) is {int(flat[bad[0]])}; rows have 0 … {n} elements"
        )
    return lengths


def taken(start: int, size: int, lengths: Array | None, where: Array | None) -> Array:
    """Say which elements of a chunk of one row take part.

    Parameters
    ----------
    start, size
        Where the chunk lies in the row.
    lengths
        None, or how many elements of the row take part, zero-dimensional.
    where
        None, or the chunk's mask.
    """
    taking = np.ones(size, bool) if where is None else np.asarray(where)
    if lengths is not None:
        taking = taking & (np.arange(start, start + size) < lengths)
    return taking


def sorted_chunk(
    values: Array,
    start: int,
    order: Order,
    index_dtype: np.dtype[Any] | None,
    lengths: Array | None,
    where: Array | None,
) -> Pairs:
    """Sort a chunk of one row; its indices count from the row's beginning.

    Without `index_dtype` there are none. What does not take part is left out.
    """
    policy: dict[str, Any] = {"descending": order.descending, "nan": order.nan, "threads": 1}
    positions = None
    if lengths is not None or where is not None:
        positions = np.flatnonzero(taken(start, values.size, lengths, where))
        values = values[positions]
    if index_dtype is None:
        return Pairs(sort(values, **policy), None)
    policy["tie"] = order.tie
    if positions is None:
        return sort_pairs(values, index_dtype=index_dtype, index_offset=start, **policy)
    pairs = sort_pairs(values, **policy)
    return Pairs(pairs.values, (positions[pairs.indices] + start).astype(index_dtype))


def sorted_rows(
    values: Array,
    want: str,
    axis: int,
    order: Order,
    options: dict[str, Any],
    lengths: Array | None,
    where: Array | None,
) -> Pairs:
    """Sort a chunk that holds whole rows, as the library does.

    Parameters
    ----------
    want
        ``values``, ``indices`` or ``pairs``.
    options
        The further arguments of the verb that gives them.
    """
    policy: dict[str, Any] = {"axis": axis, "descending": order.descending, "nan": order.nan, "threads": 1}
    policy |= {**options, "lengths": lengths, "where": where}
    if want == "values":
        return Pairs(sort(values, **policy), None)
    policy["tie"] = order.tie
    if want == "indices":
        return Pairs(None, argsort(values, **policy))
    return sort_pairs(values, **policy)


def positions_of_run(values: Array, start: int, dtype: np.dtype[Any]) -> Array:
    """Return the positions of a chunk of a run in the concatenation of all runs."""
    return np.arange(start, start + values.size).astype(dtype)


def run_part(pairs: Pairs, which: int) -> Any:
    """Return the values (0) or the indices (1) of a sorted chunk, to be kept apart."""
    return pairs[which]


def valid_of(pairs: Pairs) -> Array:
    """Return how many elements of each row are real."""
    return np.asarray(pairs.valid)


def counted(values: Array, state: Search, width: int, order: Order) -> Array:
    """Count a sorted chunk's keys below each candidate."""
    return digit_counts(key_windows(values, state, order), state, width)


def counted_indices(indices: Array, own: Array, state: Search, width: int, order: Order) -> Array:
    """Count the indices of a sorted chunk's equal keys below each candidate."""
    return digit_counts(index_windows(indices, own, order), state, width)


def added(counts: Sequence[Array]) -> Array:
    """Add counts of several chunks."""
    return np.asarray(np.sum(counts, axis=0))


def total(counts: Sequence[Any]) -> Array:
    """Add numbers of several chunks."""
    return np.asarray(sum(int(count) for count in counts), np.int64)


def ends(ranks: Sequence[int], owns: Sequence[Array], lengths: Sequence[int], outputs: int) -> Array:
    """Return where each chunk's share of each output begins and ends, see `table_of_ends`."""
    table = (
        cuts(np.asarray(ranks, np.int64), np.stack(owns)) if ranks else np.empty((len(lengths), 0), np.int64)
    )
    return table_of_ends(table, np.asarray(lengths, np.int64), outputs)


def piece(source: Sequence[Array | None], ranges: Array, number: int, output: int) -> Pairs:
    """Copy what the sorted values and indices of source `number` give to one output."""
    slices = [slice(int(start), int(stop)) for start, stop in ranges[number, output]]
    return Pairs(*(None if a is None else np.concatenate([a[s] for s in slices]) for a in source))


def drained(pieces: Sequence[Any]) -> None:
    """Say that all pieces of a chunk exist, so that it is needed no more."""


def merged(pieces: Sequence[Pairs], order: Order, tie: str, _after: None) -> Pairs:
    """Merge the pieces of one output.

    Parameters
    ----------
    tie
        ``run``: of equal values those of an earlier piece come first; else by index.
    """
    carried = pieces[0].indices is not None
    found = merge(
        [p.values for p in pieces],
        indices=[p.indices for p in pieces] if carried else None,
        descending=order.descending,
        nan=order.nan,
        tie=tie,
        check=False,
        # Said, because the library widens the indices of a piece without elements.
        index_dtype=np.result_type(*(p.indices.dtype for p in pieces)) if carried else np.uint32,
        threads=1,
    )
    return Pairs(found.values, found.indices if carried else None)


def part(pairs: Pairs, which: int, dtype: np.dtype[Any], size: int | None, offset: int, fill: Any) -> Array:
    """Return the values (0) or the indices (1) of pairs as they are given to the caller.

    Parameters
    ----------
    dtype
        Of the result.
    size
        Length to fill up to, or None where nothing is missing.
    offset
        Added to every index.
    fill
        What fills the array up.
    """
    # Indices wrap around in a narrow or unsigned dtype, and adding the offset brings them back.
    found = np.asarray(pairs[which]).astype(dtype, copy=False)
    if which == 1 and offset:
        found = found + dtype.type(offset)
    if size is None or found.size == size:
        return found
    filled = np.full(size, fill, dtype)
    filled[: found.size] = found
    return filled
