"""How many vector operations a network costs, by primitive.

The count follows the vectors, not the comparators. Two vectors whose lanes meet at the same
place are compared as they are: one compare, and a dual select each for values and indices
gives both outputs. A vector whose lanes meet lanes elsewhere first has its partners brought
to the same places by immediate permutes, each from two vectors; it is then compared on its
own, and the direction select says which of its lanes take the first of the two.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy.typing as npt

from lanesort.datapath.network import Network, Stage
from lanesort.datapath.primitives import DIRECTION, INDEX_COMPARE, PERMUTE, STREAM, LaneClass, lane_class

__all__ = ["Operations", "count_operations"]


@dataclass(frozen=True, slots=True)
class Operations:
    """Vector operations of one run of a network over one row.

    Attributes
    ----------
    network
        Name and size.
    dtype
        Of the values.
    stable
        Whether the index is the second key.
    vectors
        512-bit vectors that hold the values; the indices take as many again.
    counts
        Operations by primitive.
    """

    network: str
    dtype: str
    stable: bool
    vectors: int
    counts: Mapping[str, int]

    @property
    def total(self) -> int:
        """Vector operations in all."""
        return sum(self.counts.values())


def count_operations(network: Network, dtype: npt.DTypeLike, *, stable: bool = True) -> Operations:
    """Count the vector operations of a network.

    Parameters
    ----------
    network
        Any network.
    dtype
        One of the seven dtypes that Sort takes.
    stable
        The index as second key costs a second compare of the values (neither is less) and
        one of the indices.

    Raises
    ------
    ArgumentTypeError
        For another dtype.

    Examples
    --------
    >>> from lanesort.datapath.network import network
    >>> count_operations(network("bitonic", 64), "float32", stable=False).counts["ivp_oltn_2xf32t"]
    78
    """
    lanes = lane_class(dtype)
    vectors = -(-network.lanes // lanes.lanes)
    counts: Counter[str] = Counter({STREAM: vectors})
    for stage in network.stages:
        _count_stage(stage, lanes, stable, counts)
    return Operations(str(network), lanes.dtype, stable, vectors, MappingProxyType(dict(counts)))


def _count_stage(stage: Stage, lanes: LaneClass, stable: bool, counts: Counter[str]) -> None:
    width = lanes.lanes
    level = stage.first % width == stage.second % width
    first, second = stage.first // width, stage.second // width
    directions = set(zip(first[level].tolist(), second[level].tolist(), strict=True))
    pairs = {(min(pair), max(pair)) for pair in directions}
    partners: dict[int, set[int]] = {}
    for here, there in ((first, second), (second, first)):
        for vector, partner in zip(here[~level].tolist(), there[~level].tolist(), strict=True):
            partners.setdefault(vector, set()).add(partner)
    # Values and indices are both brought alongside; one permute takes lanes of two vectors.
    counts[PERMUTE] += 2 * sum(max(1, len(found) - 1) for found in partners.values())
    counts[DIRECTION] += len(partners) + len(directions) - len(pairs)
    exchanges = len(pairs) + len(partners)
    counts[lanes.compare] += exchanges * (2 if stable else 1)
    if stable:
        counts[INDEX_COMPARE] += exchanges
    counts[lanes.select] += 2 * exchanges
