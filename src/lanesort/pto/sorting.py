"""The semantics of TSORT32 on the bytes of its tiles.

Rules, facts and unpinned behaviours stand in `lanesort.pto.tsort32`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from lanesort.engine.protocol import Engine, OrderedPairs
from lanesort.errors import RuleViolations
from lanesort.order import NanPolicy, Order
from lanesort.pto.operand import Outcome, Sort32Operands
from lanesort.pto.ordering import (
    able_engine,
    ascends_in_blocks,
    descends_in_tie,
    nan_decides,
    row_pieces,
)
from lanesort.pto.target import Target, find_target
from lanesort.pto.tile import PAD_BITS, PAIR_BYTES, pair_views
from lanesort.pto.tsort32 import ABOUT, BLOCK, RULES, lanes_of, pair_width

__all__ = ["Sort32"]

Array = npt.NDArray[Any]


class Sort32:
    """TSORT32 on given operands, checked once and run on bytes as often as wanted.

    Parameters
    ----------
    operands
        The tiles.
    target
        The target or its name.
    engine
        Who orders the pairs.
    choices
        Choices for unpinned behaviours, by id.

    Raises
    ------
    RuleViolations
        If the operands break rules of the target; it has all of them.
    """

    def __init__(
        self,
        operands: Sort32Operands,
        target: str | Target = "a2a3",
        engine: str | Engine = "native",
        choices: Mapping[str, str] | None = None,
    ) -> None:
        target = find_target(target)
        made = target.choose(ABOUT, choices)
        violations = RULES.validate(operands, target)
        if violations:
            raise RuleViolations(ABOUT, violations)
        self.engine: Any = engine
        self.rows, self.columns = operands.src.valid_rows, operands.src.valid_columns
        self.lanes = lanes_of(operands, target)
        self.width = pair_width(operands)
        self.one_index_row = operands.idx.valid_rows == 1
        self.by_index_value = made["pto.tie-order"] == "index-value"
        self.nan_is_undefined = target.simulated or made["pto.nan-order"] == "compare-false"
        nan: Any = made["pto.nan-order"]
        policy: NanPolicy = "sign-magnitude" if nan == "compare-false" else nan
        self.order = Order(descending=True, nan=policy)
        self.pads = self.lanes - self.columns
        self.pad_bits = PAD_BITS[made["pto.pad-bits"]].get(operands.src.dtype.name, 0)
        self.whole_row_in_tmp = target.small_row(self.columns, operands.src.dtype.itemsize)
        self.always_open = {"pto.pad-bits"} if self.pads else set()
        if self.width == 4 and not target.simulated:
            self.always_open.add("pto.half-pad-slot")

    def run(self, dst: Array, src: Array, idx: Array, tmp: Array | None = None) -> Outcome:
        """Sort src into dst.

        Parameters
        ----------
        dst, src, idx, tmp
            The bytes of the tiles: shape (rows, columns) of the operand's dtype, physical
            columns included, elements of a row contiguous. tmp may be None although the
            operands have one; it is then not written.
        """
        src = src[: self.rows, : self.columns]
        idx = idx.view(np.uint32)[: 1 if self.one_index_row else self.rows]
        ascending = ascends_in_blocks(idx[:, : self.columns], BLOCK)
        by_value = self.by_index_value and not ascending
        order = self.order.replace(tie="payload") if by_value else self.order
        engine, warnings = able_engine(self.engine, "order_pairs", order)
        found = set(self.always_open)
        for into, values, payload in row_pieces(dst[: self.rows], src, idx, BLOCK):
            pairs = _ordered(engine, order, into, values, payload)
            if pairs.nan and nan_decides(pairs.values):
                found.add("pto.nan-order")
            if not ascending and self._tie_decides(engine, order, values, payload, pairs):
                found.add("pto.tie-order")
        if self.pads:
            self._write_pads(dst[: self.rows], src, idx, tmp)
        if "pto.nan-order" in found and self.nan_is_undefined:
            warnings += ("a sort with NaN under plain > follows no rule; sign-magnitude was used",)
        return Outcome(self.width * self.lanes, None, tuple(sorted(found)), warnings)

    def _tie_decides(
        self, engine: Engine, order: Order, values: Array, payload: Array, pairs: OrderedPairs
    ) -> bool:
        if order.tie == "low":
            return descends_in_tie(pairs.values, pairs.payload, order)
        positional = engine.order_pairs(values, payload, order.replace(tie="low")).payload
        return not np.array_equal(positional, pairs.payload)

    def _write_pads(self, dst: Array, src: Array, idx: Array, tmp: Array | None) -> None:
        pairs = pair_views(dst[:, self.width * self.columns :], self.pads)
        indices = idx[:, self.columns : self.lanes]
        pairs.values.view(f"u{src.itemsize}")[...] = self.pad_bits
        pairs.indices[...] = np.sort(indices) if self.by_index_value else indices
        if pairs.gaps is not None:
            pairs.gaps[...] = 0
        if tmp is not None:
            # One row of tmp serves all rows: it keeps what the last row put there.
            tail = src[-1] if self.whole_row_in_tmp else src[-1, self.columns // BLOCK * BLOCK :]
            tmp[0, : len(tail)] = tail
            tmp[0, len(tail) : len(tail) + self.pads].view(f"u{src.itemsize}")[...] = self.pad_bits


def _ordered(engine: Engine, order: Order, into: Array, values: Array, payload: Array) -> OrderedPairs:
    """Order blocks and write their pairs to dst, gaps as zeros; return them as they stand there."""
    count = values.shape[1]
    words = into[:, : PAIR_BYTES // values.itemsize * count].view(np.uint32)
    pairs = pair_views(into, count)
    out = pairs.values if pairs.gaps is None else words[:, ::2], pairs.indices
    nan = engine.order_pairs(values, payload, order, out=out).nan
    return OrderedPairs(pairs.values, pairs.indices, nan)
