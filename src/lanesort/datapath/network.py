"""Compare-exchange networks as data: stages of comparators over lanes.

A network is a fixed list of stages; a stage is a set of comparators that touch each lane at
most once, so that all of them happen at the same time. What is compared does not change
which lanes meet: that is what lets hardware wire it with immediate permutes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from lanesort.datapath.families import bitonic, merge_exchange, odd_even_merge
from lanesort.datapath.smallest import SMALLEST, smallest
from lanesort.errors import ArgumentValueError
from lanesort.evidence import fact

__all__ = ["FAMILIES", "MAX_LANES", "Network", "Stage", "network"]

Lanes = npt.NDArray[np.intp]
Pairs = Iterable[tuple[int, int]]

MAX_LANES = 4096
"""The longest row of one Sort instruction: 16-bit values of one channel."""

fact(
    "neuron.sort.datapath",
    "Sort is a data-oblivious compare-exchange network over lane pairs at distances that are powers of two.",
    "observed",
    "medium",
    "seed 000 §5.2",
)
fact(
    "neuron.sort.datapath",
    "Which network (bitonic, odd-even merge or another of Batcher's) the firmware wires is not known.",
    "observed",
    "high",
    "seed 000 §5.2, §10",
)


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """Comparators that happen at once.

    Attributes
    ----------
    first, second
        Lane numbers, one entry a comparator: lane ``first`` receives the value that comes
        first in the order, lane ``second`` the other. In a bitonic network ``first`` may be
        the higher lane: there the direction bit of the exchange is set.
    """

    first: Lanes
    second: Lanes

    def __len__(self) -> int:
        return len(self.first)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return iter(zip(self.first.tolist(), self.second.tolist(), strict=True))

    @property
    def distances(self) -> frozenset[int]:
        """How far apart the lanes of a comparator lie, each distance once."""
        return frozenset(np.abs(self.first - self.second).tolist())


@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """A sorting network.

    Attributes
    ----------
    family
        One of `FAMILIES`.
    width
        Values that it sorts.
    lanes
        Lanes that its stages name. More than `width` where the family needs a power of two:
        the lanes behind `width` then hold padding that comes after everything.
    stages
        In the order in which they happen.
    """

    family: str
    width: int
    lanes: int
    stages: tuple[Stage, ...]

    @property
    def depth(self) -> int:
        """Stages, that is the time the network takes when each stage takes one step."""
        return len(self.stages)

    @property
    def comparators(self) -> int:
        """Compare-exchanges in all stages."""
        return sum(map(len, self.stages))

    def __str__(self) -> str:
        padding = f", padded to {self.lanes} lanes" if self.lanes != self.width else ""
        return f"{self.family} of {self.width}: {self.comparators} comparators, depth {self.depth}{padding}"


@dataclass(frozen=True, slots=True)
class _Family:
    stages: Callable[[int], Iterable[Pairs]]
    padded: bool
    most: int
    meaning: str


FAMILIES: Mapping[str, _Family] = MappingProxyType(
    {
        "bitonic": _Family(bitonic, True, MAX_LANES, "Batcher's bitonic sorter, directions alternating"),
        "odd-even-merge": _Family(odd_even_merge, False, MAX_LANES, "Batcher's odd-even merge sort, pruned"),
        "merge-exchange": _Family(merge_exchange, False, MAX_LANES, "Batcher's merge exchange, any width"),
        "smallest": _Family(smallest, False, max(SMALLEST), "fewest comparators known, up to 16 lanes"),
    }
)
"""The kinds of network on offer."""


def stage_of(pairs: Pairs) -> Stage:
    """Make a stage of (first, second) lane pairs."""
    lanes = np.array(list(pairs), dtype=np.intp).reshape(-1, 2)
    first, second = np.ascontiguousarray(lanes[:, 0]), np.ascontiguousarray(lanes[:, 1])
    first.flags.writeable = second.flags.writeable = False
    return Stage(first, second)


@lru_cache(maxsize=64)
def network(family: str, width: int) -> Network:
    """Build a sorting network.

    Parameters
    ----------
    family
        ``bitonic``, ``odd-even-merge``, ``merge-exchange`` or ``smallest`` (at most 16 wide).
    width
        Values to sort, 0 … `MAX_LANES`. A bitonic network is padded to a power of two; the
        others lose the comparators that would touch a lane behind `width`.

    Raises
    ------
    ArgumentValueError
        For an unknown family or a width outside its range.

    Examples
    --------
    >>> print(network("odd-even-merge", 8))
    odd-even-merge of 8: 19 comparators, depth 6
    >>> print(network("bitonic", 6))
    bitonic of 6: 24 comparators, depth 6, padded to 8 lanes
    """
    kind = FAMILIES.get(family)
    if kind is None:
        raise ArgumentValueError(
            f"network family is {family!r}; accepted are {', '.join(map(repr, FAMILIES))}"
        )
    if not 0 <= width <= kind.most:
        raise ArgumentValueError(f"a {family} network of {width} values; it has 0 to {kind.most}")
    lanes = 1 << max(width - 1, 0).bit_length() if kind.padded and width else width
    stages = (stage_of(pairs) for pairs in kind.stages(lanes))
    return Network(family, width, lanes, tuple(stage for stage in stages if len(stage)))
