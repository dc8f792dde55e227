"""The four-way merge of TMRGSORT (``vmrgsort4``) by the head comparisons that it makes.

Up to four sorted lists stand side by side, each with a head. One step compares the heads of
the lists whose mask bit is set, from list 0 upwards (or downwards, where the later list wins a
tie), keeps a head unless one that it comes to is strictly better, and moves that list on.
A list that has given its last pair loses its mask bit; under suspension that ends the merge.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lanesort.errors import ArgumentValueError
from lanesort.evidence import fact

__all__ = ["MOST_LISTS", "HeadMerge", "Step", "merge_heads", "merge_steps"]

Array = npt.NDArray[Any]

MOST_LISTS = 4
"""Lists that one instruction merges."""

fact(
    "pto.tmrgsort.datapath",
    "vmrgsort4 merges up to four lists; the mask of 2, 3 and 4 lists is 0b0011, 0b0111 and 0b1111, and "
    "absent lists have length 0.",
    "documented",
    "high",
    "seed 004, two variants, mask configuration",
)
fact(
    "pto.tmrgsort.datapath",
    "Under exhausted suspension the merge stops when a list is used up, and the pairs taken from each list "
    "are read from VMS4_SR.",
    "documented",
    "high",
    "seed 004, variant B",
)


class Step(NamedTuple):
    """One emitted pair.

    Attributes
    ----------
    list
        The list that gave it.
    position
        Where it stood in that list.
    mask
        Lists that had a head, bit k for list k.
    comparisons
        Heads that were compared to find it.
    """

    list: int
    position: int
    mask: int
    comparisons: int


@dataclass(frozen=True, slots=True)
class HeadMerge:
    """What a merge did.

    Attributes
    ----------
    lists, positions
        For each emitted pair the list that gave it and its place there.
    consumed
        Pairs taken from each list, as VMS4_SR reports them.
    comparisons
        Head comparisons in all.
    suspended
        It stopped because a list was used up while others still had pairs.
    """

    lists: npt.NDArray[np.intp]
    positions: npt.NDArray[np.intp]
    consumed: tuple[int, ...]
    comparisons: int
    suspended: bool


def merge_steps(
    heads: Sequence[Array],
    *,
    descending: bool = True,
    later_on_tie: bool = False,
    suspend: bool = False,
    limit: int | None = None,
) -> Iterator[Step]:
    """Merge lists and yield each emission.

    Parameters
    ----------
    heads
        At most `MOST_LISTS` one-dimensional arrays of what the heads compare, each sorted.
        They are compared as they are: a NaN is never better than anything.
    descending
        Larger heads are better.
    later_on_tie
        Of equal heads the one of the later list goes first, else of the earlier.
    suspend
        Stop as soon as one list has given its last pair; with a list that is empty from the
        start nothing is emitted.
    limit
        Emit no more than so many.

    Raises
    ------
    ArgumentValueError
        For more lists than the instruction has.

    Examples
    --------
    >>> for step in merge_steps([np.array([5, 2]), np.array([4])], suspend=True):
    ...     print(step)
    Step(list=0, position=0, mask=3, comparisons=1)
    Step(list=1, position=0, mask=3, comparisons=1)
    """
    if len(heads) > MOST_LISTS:
        raise ArgumentValueError(f"{len(heads)} lists to merge; vmrgsort4 takes at most {MOST_LISTS}")
    columns = [column.tolist() for column in heads]
    lengths = [len(column) for column in columns]
    at = [0] * len(columns)
    active = [number for number, length in enumerate(lengths) if length]
    if suspend and len(active) < len(columns):
        return
    if later_on_tie:
        active.reverse()
    better = operator.gt if descending else operator.lt
    left = sum(lengths) if limit is None else min(limit, sum(lengths))
    for _ in range(left):
        best = active[0]
        for rival in active[1:]:
            if better(columns[rival][at[rival]], columns[best][at[best]]):
                best = rival
        yield Step(best, at[best], sum(1 << number for number in active), len(active) - 1)
        at[best] += 1
        if at[best] == lengths[best]:
            if suspend:
                return
            active.remove(best)


def merge_heads(
    heads: Sequence[Array],
    *,
    descending: bool = True,
    later_on_tie: bool = False,
    suspend: bool = False,
    limit: int | None = None,
) -> HeadMerge:
    """Merge lists by their heads; parameters are those of `merge_steps`.

    Examples
    --------
    >>> merge_heads([np.array([5, 2]), np.array([4, 1])]).lists.tolist()
    [0, 1, 0, 1]
    """
    emitted = list(
        merge_steps(heads, descending=descending, later_on_tie=later_on_tie, suspend=suspend, limit=limit)
    )
    table = np.array([step[:2] for step in emitted], np.intp).reshape(-1, 2)
    consumed = np.bincount(table[:, 0], minlength=len(heads))
    stopped = len(emitted) < min(sum(map(len, heads)), np.inf if limit is None else limit)
    return HeadMerge(
        lists=table[:, 0],
        positions=table[:, 1],
        consumed=tuple(map(int, consumed)),
        comparisons=sum(step.comparisons for step in emitted),
        suspended=bool(suspend and stopped),
    )
