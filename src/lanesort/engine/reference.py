"""The reference engine: every policy, in obvious NumPy and Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy.typing as npt

from lanesort import reference
from lanesort.engine.protocol import MergedRuns, NonzeroRule, RunsSeen, Stop, Verb, serving_by_turns, written
from lanesort.errors import UnsupportedPolicyError
from lanesort.order import Order

__all__ = ["ReferenceEngine"]

Array = npt.NDArray[Any]
RUN_TIES = ("run", "later-run")


class ReferenceEngine:
    """`lanesort.engine.protocol.Engine` over `lanesort.reference`."""

    name = "reference"

    def refusal(self, verb: Verb, order: Order) -> str | None:
        """Return None if the engine has `verb` under `order`, else which part it lacks."""
        if verb == "compact":
            return None
        if verb == "order_pairs":
            if order.nan == "compare-false":
                return "nan='compare-false' for order_pairs: a sort under it is not defined"
            return f"tie={order.tie!r} for order_pairs" if order.tie in RUN_TIES else None
        if order.tie not in RUN_TIES:
            return f"tie={order.tie!r} for {verb}"
        if order.nan == "compare-false" and order.zero == "signed":
            return "zero='signed' with nan='compare-false'"
        return None

    def _require(self, verb: Verb, order: Order) -> None:
        lacking = self.refusal(verb, order)
        if lacking:
            raise UnsupportedPolicyError(f"engine {self.name!r} has no {lacking}")

    def order_pairs(
        self, values: Array, payload: Array, order: Order, *, out: tuple[Array, Array] | None = None
    ) -> tuple[Array, Array]:
        """Order each row of (R, N) pairs; see the protocol."""
        self._require("order_pairs", order)
        return written(out, *reference.sort_pairs(values, order, serving_by_turns(payload, len(values))))

    def merge_runs(
        self,
        runs: Sequence[tuple[Array, Array]],
        order: Order,
        *,
        stop: Stop = "all",
        limit: int | None = None,
    ) -> MergedRuns:
        """Merge sorted runs of pairs; see the protocol."""
        self._require("merge_runs", order)
        merged = reference.merge(runs, order, stop=stop, limit=limit)
        return MergedRuns(merged.values, merged.indices, merged.consumed)

    def merge_blocks(
        self, values: Array, payload: Array, order: Order, *, out: tuple[Array, Array] | None = None
    ) -> tuple[Array, Array]:
        """Merge groups of equally long sorted runs; see the protocol."""
        self._require("merge_blocks", order)
        return written(out, *reference.merge_blocks(values, payload, order))

    def inspect_runs(self, values: Array, order: Order) -> RunsSeen:
        """Look at runs before a merge; see the protocol."""
        self._require("inspect_runs", order)
        unsorted, nan = reference.inspect_runs(values, order)
        return RunsSeen(None if unsorted < 0 else unsorted, nan)

    def compact(self, values: Array, rule: NonzeroRule) -> Array:
        """Return the int64 positions of the nonzeros of a 1-D array; see the protocol."""
        return reference.nonzero(values, rule)
