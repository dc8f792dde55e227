"""The datapath engine: networks, head comparisons and a cursor, as the hardware has them.

Equal to the other engines on every input without NaN. With one, an order whose NaN policy is
``last`` or ``largest`` is compared as floats are, so that the result is what this network
would do and not what the policy asks for; ``sign-magnitude`` and ``total`` are comparisons
of bits and hold for every input.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from lanesort.datapath.compactor import compact
from lanesort.datapath.lanes import Exchange, comparand, run
from lanesort.datapath.merger import MOST_LISTS, merge_heads
from lanesort.datapath.network import MAX_LANES, network
from lanesort.engine.pairs import any_nan, merged_by_places, refuse_misfits
from lanesort.engine.protocol import (
    MergedRuns,
    NonzeroRule,
    OrderedPairs,
    Stop,
    Verb,
    serving_by_turns,
    written,
)
from lanesort.errors import ArgumentTypeError, ArgumentValueError, UnsupportedPolicyError
from lanesort.order import Order

__all__ = ["DatapathEngine"]

Array = npt.NDArray[Any]

_SORT_TIES = ("low", "high", "payload")
_MERGE_TIES = ("run", "later-run")


class DatapathEngine:
    """`lanesort.engine.protocol.Engine` over `lanesort.datapath`.

    Parameters
    ----------
    family
        Which network sorts; one of `lanesort.datapath.network.FAMILIES`.
    exchange
        How the vbool of an ordered compare is used; it matters only where a NaN is met.

    Examples
    --------
    >>> import numpy as np
    >>> engine = DatapathEngine("odd-even-merge")
    >>> engine.order_pairs(np.array([[9, 3, 5]]), np.array([[0, 1, 2]], np.uint32), Order())[1].tolist()
    [[1, 2, 0]]
    """

    name = "datapath"
    merges_unsorted = True

    def __init__(self, family: str = "bitonic", exchange: Exchange = "swap") -> None:
        network(family, 0)
        self.family = family
        self.exchange: Exchange = exchange

    def refusal(self, verb: Verb, order: Order) -> str | None:
        """Return None if the engine has `verb` under `order`, else which part it lacks."""
        if verb == "compact":
            return None
        ties = _SORT_TIES if verb == "order_pairs" else _MERGE_TIES
        if order.tie not in ties:
            return f"tie={order.tie!r} for {verb}"
        if order.nan != "compare-false":
            return None
        if verb == "order_pairs":
            return "nan='compare-false' for order_pairs: a sort under it is not defined"
        return "zero='signed' with nan='compare-false'" if order.zero == "signed" else None

    def _require(self, verb: Verb, order: Order) -> None:
        lacking = self.refusal(verb, order)
        if lacking:
            raise UnsupportedPolicyError(f"engine {self.name!r} has no {lacking}")

    def order_pairs(
        self, values: Array, payload: Array, order: Order, *, out: tuple[Array, Array] | None = None
    ) -> OrderedPairs:
        """Order each row of (R, N) pairs by a network with the index as second key.

        Raises
        ------
        ArgumentValueError
            For rows longer than a network has lanes.
        UnsupportedPolicyError
            For what `refusal` names.
        """
        self._require("order_pairs", order)
        width = values.shape[1]
        if width > MAX_LANES:
            raise ArgumentValueError(
                f"a row has {width} pairs; engine {self.name!r} orders at most {MAX_LANES}, the longest Sort"
            )
        payload = serving_by_turns(payload, len(values))
        tags = _tags(payload, order)
        _, sorted_tags = run(
            network(self.family, width),
            comparand(values, order),
            tags,
            descending=order.descending,
            exchange=self.exchange,
        )
        positions = sorted_tags & (MAX_LANES - 1)
        if order.tie == "high":
            positions = width - 1 - positions
        return _take(values, payload, positions, out)

    def merge_runs(
        self, runs: Sequence[Array], order: Order, *, out: Array, stop: Stop = "all", limit: int | None = None
    ) -> MergedRuns:
        """Merge one to four sorted runs of pairs of 8 bytes by their heads; see the protocol.

        Raises
        ------
        ArgumentValueError
            For more runs than the hardware has lists.
        UnsupportedPolicyError
            For what `refusal` names.
        """
        self._require("merge_runs", order)
        refuse_misfits(runs, out, stop, limit)
        if len(runs) > MOST_LISTS:
            raise ArgumentValueError(
                f"{len(runs)} runs to merge; engine {self.name!r} takes 1 to {MOST_LISTS}, as vmrgsort4 does"
            )

        def merge(values: list[Array]) -> tuple[Array, tuple[int, ...]]:
            merged = merge_heads(
                [comparand(run, order) for run in values],
                descending=order.descending,
                later_on_tie=order.tie == "later-run",
                suspend=stop == "first-exhausted",
                limit=limit,
            )
            starts = np.cumsum([0, *map(len, values)])
            return starts[merged.lists] + merged.positions, merged.consumed

        return merged_by_places(runs, out, merge, lambda run: _inspected(run, order))

    def compact(self, values: Array, rule: NonzeroRule) -> Array:
        """Return the int64 positions of the nonzeros of a 1-D array; see the protocol."""
        return compact(values, rule).positions


def _inspected(values: Array, order: Order) -> tuple[int, bool]:
    """Return where a head is better than the one before it, over all rows, or -1, and if there is a NaN."""
    heads = comparand(values, order)
    better = np.greater if order.descending else np.less
    falls = np.zeros(heads.shape, np.bool_)
    falls[:, 1:] = better(heads[:, 1:], heads[:, :-1])
    return int(falls.argmax()) if falls.any() else -1, any_nan(values)


def _tags(payload: Array, order: Order) -> npt.NDArray[np.int64]:
    """Return the second key of each pair; its low bits are the position, or its mirror image."""
    width = payload.shape[1]
    position: npt.NDArray[np.int64] = np.broadcast_to(np.arange(width, dtype=np.int64), payload.shape)
    if order.tie == "high":
        return np.asarray(width - 1 - position)
    if order.tie == "low":
        return position
    if payload.dtype.kind != "u" or payload.dtype.itemsize > 4:
        raise ArgumentTypeError(
            f"payload has dtype {payload.dtype}; a second key is an unsigned integer of at most 32 bits"
        )
    return np.asarray(payload.astype(np.int64) * MAX_LANES + position)


def _take(values: Array, payload: Array, positions: Array, out: tuple[Array, Array] | None) -> OrderedPairs:
    ordered = np.take_along_axis(values, positions, axis=1), np.take_along_axis(payload, positions, axis=1)
    return written(out, *ordered, any_nan(values))
