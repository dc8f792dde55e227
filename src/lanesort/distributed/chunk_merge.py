"""What a task does for a merge: checks of runs, rows merged whole, where a run ends first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from lanesort.errors import ArgumentValueError
from lanesort.kernels.merge import merge
from lanesort.order import Order, keys
from lanesort.results import Merged, Pairs

__all__ = [
    "checked_indices",
    "checked_run",
    "consumed_of",
    "counted_before",
    "last_pair",
    "merged_rows",
    "taken_of",
]

Array = npt.NDArray[Any]


def checked_run(
    values: Array, indices: Array | None, before: Pairs | None, order: Order, run: int, start: int
) -> Array:
    """Return a chunk of a run after checking that it is sorted, also against the one before.

    Parameters
    ----------
    before
        The last pair of the chunk before, or None.
    order
        With a tie rule by index, equal values are checked by index too.
    run, start
        Number of the run and where the chunk begins in it, for the error.
    """
    given = indices
    if given is None and order.tie == "high":
        given = np.arange(start, start + values.size)
    if before is not None and before.values.size:
        values_with = np.concatenate([before.values, values])
        given_with = None if given is None else np.concatenate([before.indices, given])
        start -= 1
    else:
        values_with, given_with = values, given
    mapped = keys(values_with, order)
    wrong = mapped[1:] < mapped[:-1]
    if given_with is not None and order.tie != "run":
        later, earlier = given_with[1:], given_with[:-1]
        out = later > earlier if order.tie == "high" else later < earlier
        wrong = wrong | ((mapped[1:] == mapped[:-1]) & out)
    at = np.flatnonzero(wrong)
    if at.size:
        raise ArgumentValueError(_unsorted(values_with, given_with, order, run, start, int(at[0])))
    return values


def _unsorted(values: Array, indices: Array | None, order: Order, run: int, start: int, at: int) -> str:
    direction = "descending" if order.descending else "ascending"
    ties = "" if indices is None else f", index {indices[at]} then {indices[at + 1]}"
    return (
        f"runs[{run}] is not sorted {direction} with nan={order.nan!r}, tie={order.tie!r}: element "
        f"{start + at} is {values[at]}, element {start + at + 1} is {values[at + 1]}{ties}; sort it first, "
        "or pass check=False to leave out this look"
    )


def checked_indices(indices: Array, run: int) -> Array:
    """Return the indices of a run if they are not negative."""
    if indices.size and indices.min() < 0:
        raise ArgumentValueError(f"indices[{run}] holds {indices.min()}; indices are not negative")
    return indices


def last_pair(values: Array, indices: Array | None, start: int, before: Pairs | None) -> Pairs:
    """Return the last value of a chunk of a run, and its index; of an empty one that before it."""
    if not values.size and before is not None:
        return before
    own = np.arange(start, start + values.size) if indices is None else indices
    return Pairs(values[-1:], own[-1:])


def counted_before(
    values: Array, indices: Array | None, last: Pairs, order: Order, relation: int, whole: bool
) -> int:
    """Count a chunk's elements that come before the last of another run.

    Parameters
    ----------
    last
        That element, one value and one index.
    relation
        −1 if this run is earlier, 1 if it is later: equal ones come before, or behind.
    whole
        The chunk is of the same run, so all of it comes before, the element included.
    """
    if whole or not values.size:
        return int(values.size)
    mapped, bound = keys(values, order), keys(last.values, order)[0]
    low = int(np.searchsorted(mapped, bound, "left"))
    high = int(np.searchsorted(mapped, bound, "right"))
    if indices is None or order.tie == "run":
        return high if relation < 0 else low
    equal = indices[low:high].astype(np.uint64)
    index = last.indices.astype(np.uint64)[0]
    before = equal > index if order.tie == "high" else equal < index
    same = (equal == index) if relation < 0 else np.zeros(equal.size, bool)
    return low + int((before | same).sum())


def merged_rows(
    runs: Sequence[Array], indices: Sequence[Array] | None, axis: int, order: Order, options: dict[str, Any]
) -> Merged:
    """Merge chunks that hold whole rows, as the library does."""
    policy: dict[str, Any] = {"descending": order.descending, "nan": order.nan, "tie": order.tie}
    return merge(list(runs), indices=indices, axis=axis, threads=1, **policy, **options)


def consumed_of(merged: Merged, run: int) -> Array:
    """Return what was taken of a run."""
    return np.asarray(merged.consumed[run])


def taken_of(ends: Array, first: int, stop: int) -> Array:
    """Return how many elements of chunks first … stop − 1 are in the outputs."""
    return np.asarray(ends[first:stop, -1].sum(), np.int64)
