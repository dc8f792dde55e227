"""Cuts by rank: where sorted runs are divided so that every output has the size it was given.

Elements are ordered by (key, run, position), so equal keys can be cut too. The key at a rank is
found digit by digit: each round, every run counts how many of its keys lie below 256 candidates
for each rank, and the sums tell the next digit. No run is gathered, whatever the distribution.
No engine and no scheduler is known here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lanesort.order import Order, key_class, keys

__all__ = [
    "Search",
    "balanced_sizes",
    "candidates",
    "count_below",
    "cuts",
    "local_counts",
    "narrowed",
    "search",
]

Array = npt.NDArray[Any]
DIGIT_BITS = 8


class Search(NamedTuple):
    """How far the keys at some ranks are known.

    Attributes
    ----------
    ranks
        int64, shape (T,): global ranks, ascending.
    known
        Unsigned keys, shape (T,): the digits found so far, zeros below.
    shift
        Bits that are still open.
    """

    ranks: Array
    known: Array
    shift: int


def balanced_sizes(total: int, pieces: int) -> tuple[int, ...]:
    """Divide `total` into `pieces` sizes that differ by one at most.

    Examples
    --------
    >>> balanced_sizes(10, 4)
    (3, 3, 2, 2)
    """
    small, larger = divmod(total, pieces)
    return (small + 1,) * larger + (small,) * (pieces - larger)


def search(ranks: Sequence[int], dtype: np.dtype[Any]) -> Search:
    """Begin a search for the keys at `ranks`, of values of a dtype."""
    cls = key_class(dtype)
    return Search(np.asarray(ranks, np.int64), np.zeros(len(ranks), cls.unsigned), cls.bits)


def candidates(state: Search) -> Array:
    """Return the keys to count below, shape (T, 256): each rank's digits with every next one."""
    digits = np.arange(1 << DIGIT_BITS, dtype=state.known.dtype)
    return np.asarray(state.known[:, None] | digits << state.known.dtype.type(state.shift - DIGIT_BITS))


def count_below(values: Array, bounds: Array, order: Order, inclusive: bool = False) -> Array:
    """Count the sorted values whose key lies below each bound, by bisection.

    Parameters
    ----------
    values
        Sorted under `order`, shape (n,).
    bounds
        Unsigned keys of any shape.
    inclusive
        Count equal keys too.

    Returns
    -------
    numpy.ndarray
        int64 counts of the shape of `bounds`.
    """
    low = np.zeros(bounds.shape, np.int64)
    high = np.full(bounds.shape, values.size, np.int64)
    for _ in range(int(values.size).bit_length()):
        middle = (low + high) // 2
        open_ = low < high
        probed = keys(values[np.minimum(middle, values.size - 1)], order)
        below = open_ & ((probed <= bounds) if inclusive else (probed < bounds))
        low = np.where(below, middle + 1, low)
        high = np.where(open_ & ~below, middle, high)
    return low


def narrowed(state: Search, below: Array) -> Search:
    """Return the search with one more digit known.

    Parameters
    ----------
    state
        The search that `candidates` was taken from.
    below
        How many keys of all runs lie below each candidate, shape (T, 256).
    """
    digit = (below <= state.ranks[:, None]).sum(axis=1) - 1
    shift = state.shift - DIGIT_BITS
    found = digit.astype(state.known.dtype) << state.known.dtype.type(shift)
    return Search(state.ranks, state.known | found, shift)


def local_counts(values: Array, state: Search, order: Order) -> Array:
    """Count for one run, shape (2, T): keys below, and equal to, the key found for each rank."""
    below = count_below(values, state.known, order)
    return np.stack([below, count_below(values, state.known, order, inclusive=True) - below])


def cuts(state: Search, counts: Array) -> Array:
    """Return where each run is cut for each rank, shape (runs, T).

    Parameters
    ----------
    state
        The finished search.
    counts
        `local_counts` of every run, shape (runs, 2, T); of equal keys those of an earlier run
        come first.
    """
    below, equal = counts[:, 0], counts[:, 1]
    wanted = state.ranks - below.sum(axis=0)
    earlier = np.cumsum(equal, axis=0) - equal
    return np.asarray(below + np.clip(wanted - earlier, 0, equal))
