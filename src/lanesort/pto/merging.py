"""The semantics of TMRGSORT, and what it has to know about its lists.

Rules, facts and unpinned behaviours stand in `lanesort.pto.tmrgsort`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from lanesort.engine.pairs import PAIR_BYTES, pair_values
from lanesort.engine.protocol import Engine, MergedRuns, Place, Stop, resolve
from lanesort.errors import RuleViolations, Violation
from lanesort.order import NanPolicy, Order, TieRule, key_class, nan_mask
from lanesort.pto.operand import BLOCK_BYTES, Executed, MergeOperands, Outcome, round_up
from lanesort.pto.ordering import Able, able_engine, has_nan
from lanesort.pto.target import Target, find_target
from lanesort.pto.tile import PAD_BITS
from lanesort.pto.tmrgsort import ABOUT, WAYS, pairs_in, violations

__all__ = ["SEEN_IN_A_RUN", "Merge"]

_SORTED = "lists_are_sorted"
SEEN_IN_A_RUN = {
    _SORTED: "Each list, or each block of a single one, descends: a run compares the pairs unless it is "
    "told not to (check_sorted, --unsorted); the hardware merges what it gets."
}
"""Rules about data, which no check of sizes can test: name and statement."""

Array = npt.NDArray[Any]


def nan_beyond_pads(lists: Array) -> bool:
    """Say whether a row has a NaN other than the pads of a tail block at its end."""
    if not has_nan(lists):
        return False
    bits = np.ascontiguousarray(lists).view(key_class(lists.dtype).unsigned)
    pad = bits == PAD_BITS["negative-nan"].get(lists.dtype.name, -1)
    trailing = np.logical_and.accumulate(pad[:, ::-1], axis=1)[:, ::-1]
    return bool((nan_mask(lists) & ~trailing).any())


def tie_in_reach(out: Array, runs: Sequence[Array], consumed: Sequence[int]) -> bool:
    """Say whether the tie rule may have mattered: equal neighbours, or an equal head left behind.

    A NaN counts as equal to anything, which it is under plain >.
    """
    values = pair_values(out)[0, : sum(consumed)]
    if not len(values):
        return False
    if bool((values[1:] == values[:-1]).any()):
        return True
    lists = [(pair_values(run)[0], taken) for run, taken in zip(runs, consumed, strict=True)]
    heads = [values_of[taken] for values_of, taken in lists if taken < len(values_of)]
    return any(bool(head == values[-1] or head != head) for head in heads) or has_nan(values)


class Merge:
    """TMRGSORT on given operands, checked once and run on bytes as often as wanted.

    Parameters
    ----------
    operands
        The tiles.
    target
        The target or its name.
    engine
        Who merges the pairs.
    choices
        Choices for unpinned behaviours, by id.
    check_sorted
        Whether to refuse lists that are not sorted, which the hardware does not.

    Attributes
    ----------
    fills_dst
        Whether each run writes all columns of dst.

    Raises
    ------
    RuleViolations
        If the operands break rules of the target; it has all of them.
    """

    def __init__(
        self,
        operands: MergeOperands,
        target: str | Target = "a2a3",
        engine: str | Engine = "native",
        choices: Mapping[str, str] | None = None,
        check_sorted: bool = True,
    ) -> None:
        self.target = find_target(target)
        self.made = self.target.choose(ABOUT, choices)
        broken = violations(operands, self.target)
        if broken:
            raise RuleViolations(ABOUT, broken)
        self.operands = operands
        self.engine: Any = engine
        self.check_sorted = check_sorted
        itemsize = operands.dst.dtype.itemsize
        self.width = PAIR_BYTES // itemsize
        self.counts = tuple(map(pairs_in, operands.sources))
        self.copied = round_up(operands.dst.valid_columns * itemsize, BLOCK_BYTES) // itemsize
        self.total = sum(self.counts)
        self.whole_tiles = all(
            tile.columns == self.width * count
            for tile, count in zip(operands.sources, self.counts, strict=True)
        )
        last_pair_is_whole = not self.target.simulated or operands.dst.valid_columns % self.width == 0
        enough = self.width * self.total >= operands.dst.columns
        self.fills_dst = enough and last_pair_is_whole and not operands.exhausted
        nan: Any = self.made["pto.nan-order"]
        self.nan: NanPolicy = nan
        self._asked: dict[tuple[TieRule, bool], tuple[Order, Able]] = {}

    def run(
        self, dst: Array, sources: Sequence[Array], tmp: Array | None = None, *, apart: bool = False
    ) -> Outcome:
        """Merge the sources into dst.

        Parameters
        ----------
        dst, sources, tmp
            The bytes of the tiles: shape (1, columns) of the operand's dtype, physical
            columns included. tmp may be None although the operands have one: the merge then
            goes to dst directly, and what a stopped merge would have copied from tmp is
            left as it was. dst may be one of the sources.
        apart
            Whether dst surely shares no memory with the sources, which is then not looked at.

        Raises
        ------
        RuleViolations
            If a list is not sorted; it names the first offending pair. By then the lists are
            merged as they are: what dst holds is no result.
        """
        if apart or not any(np.may_share_memory(dst, source) for source in sources):
            return self._run(dst, sources, tmp)
        result = dst.copy()
        outcome = self._run(result, sources, tmp)
        dst[...] = result
        return outcome

    def _run(self, dst: Array, sources: Sequence[Array], tmp: Array | None) -> Outcome:
        tiles = sources if self.whole_tiles else self._valid_parts(sources)
        if self.operands.block_len is not None:
            return self._blocks(_leading(dst, tiles[0].shape[1]), tiles[0], self.operands.block_len)
        return self._lists(dst, tiles, tmp)

    def _valid_parts(self, sources: Sequence[Array]) -> list[Array]:
        return [_leading(tile, self.width * count) for tile, count in zip(sources, self.counts, strict=True)]

    def _blocks(self, into: Array, source: Array, block_len: int) -> Outcome:
        found: set[str] = set()
        runs = list(source.reshape(-1, WAYS, block_len).swapaxes(0, 1))
        merged, warnings = self._merge(runs, into.reshape(-1, WAYS * block_len))
        self._report(merged, runs, found)
        return Outcome(self.width * self.counts[0], None, tuple(sorted(found)), warnings)

    def _lists(self, dst: Array, tiles: Sequence[Array], tmp: Array | None) -> Outcome:
        found: set[str] = set()
        through = tmp is not None and not self.target.simulated
        into = tmp[:1] if tmp is not None and through else _leading(dst, self._copied_columns(dst))
        if self.operands.exhausted:
            merged, warnings = self._merge_until_exhausted(tiles, into, found)
        else:
            merged, warnings = self._merge(tiles, into, limit=self._limit())
        self._report(merged, tiles, found)
        if tmp is not None and through:
            copied = min(self._copied_columns(dst), tmp.shape[1])
            dst[0, :copied] = tmp[0, :copied]
        valid = self.operands.dst.valid_columns
        produced = min(self.width * sum(merged.consumed), valid)
        if self.operands.exhausted and not self.target.simulated and produced < valid:
            found.add("pto.exhausted-tail")
        if not self.operands.exhausted and produced < valid:
            warnings += (
                f"dst has {valid} columns, all lists together fill {produced}; the rest is no result",
            )
        return Outcome(produced, self._executed(merged.consumed, found), tuple(sorted(found)), warnings)

    def _ask(self, tie: TieRule, nan: bool) -> tuple[Order, Able]:
        """Return the order for lists with or without NaN, and an engine that has it."""
        found = self._asked.get((tie, nan))
        if found is None:
            # Without NaN every policy gives the same order, and engines have more of the others.
            policy = "sign-magnitude" if self.nan == "compare-false" and not nan else self.nan
            order = Order(descending=True, nan=policy, tie=tie)
            found = self._asked[tie, nan] = order, able_engine(self.engine, "merge_runs", order)
        return found

    def _merge(
        self,
        runs: Sequence[Array],
        out: Array,
        tie: TieRule = "run",
        stop: Stop = "all",
        limit: int | None = None,
    ) -> tuple[MergedRuns, tuple[str, ...]]:
        order, (engine, warnings) = self._ask(tie, nan=False)
        merged = engine.merge_runs(runs, order, out=out, stop=stop, limit=limit)
        if merged.nan and self.nan == "compare-false":
            order, (engine, warnings) = self._ask(tie, nan=True)
            merged = engine.merge_runs(runs, order, out=out, stop=stop, limit=limit)
        if merged.unsorted is not None and not (self.check_sorted or engine.merges_unsorted):
            warnings += (
                f"engine {engine.name!r} merges only sorted lists; the reference engine ran instead",
            )
            merged = resolve("reference").merge_runs(runs, order, out=out, stop=stop, limit=limit)
        return merged, warnings

    def _limit(self) -> int | None:
        return self.operands.dst.valid_columns // self.width if self.target.simulated else None

    def _merge_until_exhausted(
        self, runs: Sequence[Array], into: Array, found: set[str]
    ) -> tuple[MergedRuns, tuple[str, ...]]:
        stop: Stop = "first-exhausted"
        limit = self._limit()
        filled = sum(count > 0 for count in self.counts)
        if 0 < filled < len(runs):
            found.add("pto.exhausted-empty")
            if self.made["pto.exhausted-empty"] == "cpu-sim":
                stop, limit = "all", 1 if limit is None else min(1, limit)
        ties: tuple[TieRule, TieRule] = ("run", "later-run")
        if self.made["pto.merge-tie"] == "later-when-exhausted":
            ties = ties[::-1]
        out, other = (np.empty((1, self.width * self.total), into.dtype) for _ in range(2))
        merged, warnings = self._merge(runs, out, ties[0], stop, limit)
        written = self.width * sum(merged.consumed)
        if merged.unsorted is not None or tie_in_reach(out, runs, merged.consumed):
            differs = self._merge(runs, other, ties[1], stop, limit)[0].consumed != merged.consumed
            if differs or out[0, :written].tobytes() != other[0, :written].tobytes():
                found.add("pto.merge-tie")
        fitting = min(written, into.shape[1])
        into[0, :fitting] = out[0, :fitting]
        return merged, warnings

    def _report(self, merged: MergedRuns, runs: Sequence[Array], found: set[str]) -> None:
        """Refuse runs that are not sorted; tell what their values and gaps leave open."""
        if merged.unsorted is not None and self.check_sorted:
            single = self.operands.single
            raise RuleViolations(ABOUT, [_unsorted_violation(runs, merged.unsorted, single)])
        if merged.nan:
            pads_are_last = self.nan in ("sign-magnitude", "last")
            if not pads_are_last or any(nan_beyond_pads(pair_values(run)) for run in runs):
                found.add("pto.nan-order")
        if self.width == 4 and any(bool(run.view(np.uint16)[:, 1::4].any()) for run in runs):
            found.add("pto.half-pad-slot")

    def _copied_columns(self, dst: Array) -> int:
        if self.target.simulated:
            return int(dst.shape[1])
        return min(self.copied, int(dst.shape[1]))

    def _executed(self, taken: tuple[int, ...], found: set[str]) -> Executed | None:
        if not self.operands.exhausted:
            found.add("pto.executed-unasked")
            if self.made["pto.executed-unasked"] == "untouched":
                return None
        first, second, third, fourth = (*taken, 0, 0)[:WAYS]
        return first, second, third, fourth


def _leading(tile: Array, columns: int) -> Array:
    """Return the leading columns of a tile of one row."""
    return tile if tile.size == columns else tile[:1, :columns]


def _unsorted_violation(runs: Sequence[Array], place: Place, single: bool) -> Violation:
    group, run, position = place
    field = f"block {group * len(runs) + run}" if single else f"src{run}"
    first, second = pair_values(runs[run])[group, position - 1 : position + 1]
    text = (
        f"{field}: pair {position} holds {second}, which belongs before pair {position - 1} with {first}; "
        "merges take sorted lists: sort them first, or turn the check off"
    )
    return Violation(_SORTED, field, (first, second), "descending", text)
