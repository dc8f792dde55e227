"""Cuts by rank: where sorted runs are divided so that every output has the size it was given.

Elements are ordered by (key, run, position), or by (key, index, run), so equal keys can be cut
too. The key at a rank is found digit by digit: each round, every run counts how many of its keys
lie below all candidates for the next digit, and the sums tell that digit. No run is gathered,
whatever the distribution. No engine and no scheduler is known here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lanesort.order import Order, keys

__all__ = [
    "Search",
    "Windows",
    "balanced_sizes",
    "cuts",
    "digit_counts",
    "digit_widths",
    "index_windows",
    "key_windows",
    "narrowed",
    "own_counts",
    "search",
]

Array = npt.NDArray[Any]
Probe = Callable[[Array], Array]

MOST_CANDIDATES = 1 << 19
"""Candidates that a round counts below, over all ranks: 4 MiB of counts a run."""

FEWEST_CANDIDATES = 1 << 8

ELEMENTS_A_CANDIDATE = 1 << 4
"""A run has at least so many elements for each candidate, so that counting takes less than it."""


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
    shared
        All ranks are looked for in the same range, so those with the same digits share counts.
    """

    ranks: Array
    known: Array
    shift: int
    shared: bool = True


class Windows(NamedTuple):
    """What one run is searched in: the unsigned keys at given positions, and a range for each rank.

    Attributes
    ----------
    probe
        Maps positions of the run to keys, ascending inside each range.
    low, high
        int64, shape (T,): the range of each rank. All are the same for keys, and differ for the
        indices of equal keys.
    """

    probe: Probe
    low: Array
    high: Array


def balanced_sizes(total: int, pieces: int) -> tuple[int, ...]:
    """Divide `total` into `pieces` sizes that differ by one at most.

    Examples
    --------
    >>> balanced_sizes(10, 4)
    (3, 3, 2, 2)
    """
    small, larger = divmod(total, pieces)
    return (small + 1,) * larger + (small,) * (pieces - larger)


def digit_widths(bits: int, ranks: int, largest_run: int) -> tuple[int, ...]:
    """Return the bits of each digit, the highest first.

    All ranks share the first digit's candidates, so it is wide.

    Examples
    --------
    >>> digit_widths(32, 63, 1 << 24), digit_widths(32, 999, 1 << 24)
    ((19, 13), (19, 9, 4))
    """
    room = min(MOST_CANDIDATES, max(FEWEST_CANDIDATES, largest_run // ELEMENTS_A_CANDIDATE)).bit_length() - 1
    widths = [min(bits, room)]
    following = max(4, room - (max(ranks, 1) - 1).bit_length())
    while sum(widths) < bits:
        widths.append(min(following, bits - sum(widths)))
    return tuple(widths)


def search(ranks: Sequence[int], bits: int, shared: bool = True) -> Search:
    """Begin a search for the keys of `bits` bits at `ranks`."""
    return Search(np.asarray(ranks, np.int64), np.zeros(len(ranks), f"u{bits // 8}"), bits, shared)


def key_windows(values: Array, state: Search, order: Order) -> Windows:
    """Return a run sorted under `order` as what its keys are searched in."""
    everywhere = np.zeros(state.ranks.shape, np.int64)
    return Windows(lambda at: keys(values[at], order), everywhere, everywhere + values.size)


def index_windows(indices: Array, own: Array, order: Order) -> Windows:
    """Return a run's indices as what is searched among equal keys, `own` being their ranges."""
    turned = np.uint64(np.iinfo(np.uint64).max if order.tie == "high" else 0)
    return Windows(lambda at: indices[at].astype(np.uint64) ^ turned, own[0], own[0] + own[1])


def digit_counts(windows: Windows, state: Search, width: int) -> Array:
    """Count a run's keys below every candidate of the next digit.

    Returns
    -------
    numpy.ndarray
        int64, shape (U, 2**width + 1), a row for each of the ranks that share no counts; the
        last column counts the keys up to the end of the prefix.
    """
    first, _ = _rows(state)
    prefix, low, high = state.known[first], windows.low[first], windows.high[first]
    kind = prefix.dtype.type
    shift = state.shift - width
    stop = _bisected(windows.probe, prefix | kind((1 << state.shift) - 1), low, high, inclusive=True)
    # Every 2**(width // 2)-th candidate first: it bounds where those between are looked for.
    step = 1 << width // 2
    digits = np.arange(1 << width, dtype=prefix.dtype) << kind(shift)
    bounds = (prefix[:, None] | digits).reshape(prefix.size, -1, step)
    coarse = _bisected(windows.probe, bounds[:, :, 0], low[:, None], stop[:, None])
    edges = np.concatenate([coarse, stop[:, None]], axis=1)
    below = _bisected(windows.probe, bounds, edges[:, :-1, None], edges[:, 1:, None])
    return np.concatenate([below.reshape(prefix.size, -1), stop[:, None]], axis=1)


def _rows(state: Search) -> tuple[Array, Array]:
    """Return which ranks have rows of their own in `digit_counts`, and the row of each rank."""
    if not state.shared:
        every = np.arange(state.known.size)
        return every, every
    _, first, row = np.unique(state.known, return_index=True, return_inverse=True)
    return first, row


def _bisected(probe: Probe, bounds: Array, low: Array, high: Array, inclusive: bool = False) -> Array:
    """Return the first position in low … high whose key is not below its bound, or above it."""
    first = np.array(np.broadcast_to(low, bounds.shape), np.int64).reshape(-1)
    last = np.array(np.broadcast_to(high, bounds.shape), np.int64).reshape(-1)
    flat = bounds.reshape(-1)
    open_ = np.flatnonzero(first < last)
    while open_.size:
        middle = (first[open_] + last[open_]) // 2
        probed = probe(middle)
        below = (probed <= flat[open_]) if inclusive else (probed < flat[open_])
        first[open_[below]] = middle[below] + 1
        last[open_[~below]] = middle[~below]
        open_ = open_[first[open_] < last[open_]]
    return first.reshape(bounds.shape)


def narrowed(state: Search, counts: Array) -> Search:
    """Return the search with one more digit known.

    Parameters
    ----------
    state
        The search that the counts were made for.
    counts
        `digit_counts` of all runs, added. A rank beyond the last element gets the largest key.
    """
    width = (counts.shape[1] - 1).bit_length() - 1
    _, row = _rows(state)
    # Counts rise along a row. Comparing all of them at once would take a row for each rank.
    places = [
        np.searchsorted(counts[r, :-1], rank, "right") for r, rank in zip(row, state.ranks, strict=True)
    ]
    digit = np.array(places, np.int64) - 1
    shift = state.shift - width
    found = digit.astype(state.known.dtype) << state.known.dtype.type(shift)
    return Search(state.ranks, state.known | found, shift, state.shared)


def own_counts(before: Search, after: Search, counts: Array) -> Array:
    """Return how many of a run's keys lie below, and at, the key found for each rank.

    Parameters
    ----------
    before, after
        The search before and after its last digit.
    counts
        The run's own `digit_counts` for that digit.

    Returns
    -------
    numpy.ndarray
        int64, shape (2, T).
    """
    _, row = _rows(before)
    digit = (after.known ^ before.known).astype(np.int64)
    below = counts[row, digit]
    return np.stack([below, counts[row, digit + 1] - below])


def cuts(ranks: Array, counts: Array) -> Array:
    """Return where each run is cut for each rank, shape (runs, T).

    Parameters
    ----------
    ranks
        Global ranks, shape (T,).
    counts
        `own_counts` of every run, shape (runs, 2, T); of equal keys those of an earlier run
        come first.
    """
    below, equal = counts[:, 0], counts[:, 1]
    wanted = ranks - below.sum(axis=0)
    earlier = np.cumsum(equal, axis=0) - equal
    return np.asarray(below + np.clip(wanted - earlier, 0, equal))
