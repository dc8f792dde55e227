"""Ways from sorted runs to outputs: all at once, or in three rounds with few pieces each.

All at once, every run has a piece for every output: c² of them. In three rounds runs and outputs
stand in groups of about √c. In the first, the runs of a group share out what they hold for each
group of outputs evenly among √c middles; in the second, the middles of the same number in all
groups exchange, which brings everything to its group of outputs; in the third, each of those
groups gives its outputs their shares. That is 3 c √c pieces, whatever lies where: the middles
are as large as the inputs, because what is shared out evenly is each group's share of each group.

Everything here follows from the table of cuts; no engine and no scheduler is known.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Grouping", "gathered", "shared_out", "straight", "swapped", "table_of_ends"]

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Grouping:
    """Runs, or outputs, in groups of neighbours.

    Attributes
    ----------
    count
        How many there are.
    size
        Of a group; the last may be smaller. Also how many middles a group has.
    """

    count: int
    size: int

    @classmethod
    def of(cls, count: int) -> Grouping:
        """Divide `count` into groups of about its square root."""
        return cls(count, math.isqrt(max(count, 1) - 1) + 1)

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return -(-self.count // self.size)

    def members(self, group: int) -> range:
        """Return who belongs to a group."""
        return range(group * self.size, min((group + 1) * self.size, self.count))


def table_of_ends(cuts: Array, lengths: Array, outputs: int) -> Array:
    """Return where each run's share of each output begins and ends, shape (runs, outputs + 1).

    Parameters
    ----------
    cuts
        Shape (runs, outputs − 1), or one more where what lies behind the last is left out.
    lengths
        Elements of each run.
    outputs
        How many there are.
    """
    begin = np.zeros((lengths.size, 1), np.int64)
    rest = [] if cuts.shape[1] == outputs else [lengths[:, None]]
    return np.concatenate([begin, cuts, *rest], axis=1)


def straight(ends: Array) -> Array:
    """Return the ranges of every run for every output, shape (runs, outputs, 1, 2)."""
    return np.stack([ends[:, :-1], ends[:, 1:]], axis=-1)[:, :, None]


def shared_out(ends: Array, runs: Grouping, outputs: Grouping, group: int) -> Array:
    """Return the first round of a group of runs: their ranges for each middle.

    Returns
    -------
    numpy.ndarray
        Shape (runs of the group, middles, output groups, 2): one range a group of outputs,
        ascending.
    """
    borders = _borders(ends, runs, outputs, group)
    length = np.diff(borders, axis=1)
    earlier = np.cumsum(length, axis=0) - length
    quota = _shares(length.sum(axis=0), np.arange(runs.size + 1)[:, None], runs)
    within = np.clip(quota[None] - earlier[:, None], 0, length[:, None])
    cut = borders[:, None, :-1] + within
    return np.stack([cut[:, :-1], cut[:, 1:]], axis=-1)


def swapped(ends: Array, runs: Grouping, outputs: Grouping, middle: int) -> Array:
    """Return the second round of a middle: the ranges of each group's for each group of outputs.

    Returns
    -------
    numpy.ndarray
        Shape (run groups, output groups, 1, 2).
    """
    held = np.zeros((runs.groups, outputs.groups + 1), np.int64)
    for group in range(runs.groups):
        total = np.diff(_borders(ends, runs, outputs, group), axis=1).sum(axis=0)
        held[group, 1:] = np.cumsum(_shares(total, middle + 1, runs) - _shares(total, middle, runs))
    return straight(held)


def gathered(ends: Array, runs: Grouping, outputs: Grouping, group: int) -> Array:
    """Return the third round of a group of outputs: the ranges of its middles for each output.

    Returns
    -------
    numpy.ndarray
        Shape (middles, outputs of the group, 1, 2).
    """
    members = outputs.members(group)
    own = ends[:, members.start : members.stop + 1]
    held = np.zeros((runs.size, len(members) + 1), np.int64)
    for source in range(runs.groups):
        ranges = shared_out(ends, runs, outputs, source)[:, :, group]
        inside = np.clip(own[runs.members(source), None], ranges[:, :, :1], ranges[:, :, 1:])
        held[:, 1:] += np.cumsum(np.diff(inside, axis=2).sum(axis=0), axis=1)
    return straight(held)


def _borders(ends: Array, runs: Grouping, outputs: Grouping, group: int) -> Array:
    """Return where each run of a group is cut between groups of outputs."""
    return ends[runs.members(group)][:, [*range(0, outputs.count, outputs.size), outputs.count]]


def _shares(total: Array, middles: Any, runs: Grouping) -> Array:
    """Return how many of `total` elements the first `middles` of all middles get."""
    return np.asarray(total * middles // runs.size)
