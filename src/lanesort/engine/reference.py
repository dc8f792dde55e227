"""The reference engine: every policy, in obvious NumPy and Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from lanesort import reference
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
from lanesort.errors import UnsupportedPolicyError
from lanesort.order import Order

__all__ = ["ReferenceEngine"]

Array = npt.NDArray[Any]
RUN_TIES = ("run", "later-run")


class ReferenceEngine:
    """`lanesort.engine.protocol.Engine` over `lanesort.reference`."""

    name = "reference"
    merges_unsorted = True

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
    ) -> OrderedPairs:
        """Order each row of (R, N) pairs; see the protocol."""
        self._require("order_pairs", order)
        ordered = reference.sort_pairs(values, order, serving_by_turns(payload, len(values)))
        return written(out, *ordered, any_nan(values))

    def merge_runs(
        self, runs: Sequence[Array], order: Order, *, out: Array, stop: Stop = "all", limit: int | None = None
    ) -> MergedRuns:
        """Merge sorted runs of pairs of 8 bytes; see the protocol."""
        self._require("merge_runs", order)
        refuse_misfits(runs, out, stop, limit)

        def merge(values: list[Array]) -> tuple[Array, tuple[int, ...]]:
            ends = np.cumsum([len(run) for run in values])
            places = np.split(np.arange(ends[-1]), ends[:-1])
            merged = reference.merge(list(zip(values, places, strict=True)), order, stop=stop, limit=limit)
            return merged.indices, merged.consumed

        return merged_by_places(runs, out, merge, lambda run: reference.inspect_runs(run, order))

    def compact(self, values: Array, rule: NonzeroRule) -> Array:
        """Return the int64 positions of the nonzeros of a 1-D array; see the protocol."""
        return reference.nonzero(values, rule)
