"""The semantics of TMRGSORT, and what it has to know about its lists.

Rules, facts and unpinned behaviours stand in `lanesort.pto.tmrgsort`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from lanesort.engine.protocol import Engine, MergedRuns, Stop, Verb
from lanesort.errors import RuleViolations, Violation
from lanesort.order import NanPolicy, Order, TieRule, key_class, nan_mask
from lanesort.pto.operand import BLOCK_BYTES, Executed, MergeOperands, Outcome, round_up
from lanesort.pto.ordering import Able, able_engine, has_nan
from lanesort.pto.target import Target, find_target
from lanesort.pto.tile import PAD_BITS, PAIR_BYTES, PairViews, pair_views
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


def tie_in_reach(merged: MergedRuns, runs: Sequence[tuple[Array, Array]]) -> bool:
    """Say whether the tie rule may have mattered: equal neighbours, or an equal head left behind.

    A NaN counts as equal to anything, which it is under plain >.
    """
    values = merged.values
    if not len(values):
        return False
    if bool((values[1:] == values[:-1]).any()):
        return True
    heads = [run[taken] for (run, _), taken in zip(runs, merged.consumed, strict=True) if taken < len(run)]
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
        self.width = PAIR_BYTES // operands.dst.dtype.itemsize
        self.counts = tuple(map(pairs_in, operands.sources))
        itemsize = operands.dst.dtype.itemsize
        self.copied = round_up(operands.dst.valid_columns * itemsize, BLOCK_BYTES) // itemsize
        self.total = sum(self.counts)
        self.fills_dst = not operands.exhausted and self.width * self.total >= operands.dst.columns
        self.equally_long = not operands.exhausted and len(set(self.counts)) == 1 and self.counts[0] > 0
        nan: Any = self.made["pto.nan-order"]
        self.nan: NanPolicy = nan
        self._asked: dict[tuple[Verb, str, bool], tuple[Order, Able]] = {}

    def run(self, dst: Array, sources: Sequence[Array], tmp: Array | None = None) -> Outcome:
        """Merge the sources into dst.

        Parameters
        ----------
        dst, sources, tmp
            The bytes of the tiles: shape (1, columns) of the operand's dtype, physical
            columns included. tmp may be None although the operands have one: the merge then
            goes to dst directly, and what a stopped merge would have copied from tmp is
            left as it was.

        Raises
        ------
        RuleViolations
            If a list is not sorted; it names the first offending pair.
        """
        if self.operands.block_len is not None:
            into, source = (pair_views(tile[:1], self.counts[0]) for tile in (dst, sources[0]))
            return self._blocks(into, source, self.operands.block_len)
        tiles = [_leading(tile, self.width * n) for tile, n in zip(sources, self.counts, strict=True)]
        return self._lists(dst, tiles, tmp)

    def _blocks(self, into: PairViews, source: PairViews, block_len: int) -> Outcome:
        length = block_len // self.width
        found: set[str] = set()
        shape = (-1, WAYS, length)
        nan = self._inspect(source.values.reshape(-1, length), "block ", found)
        order, (engine, warnings) = self._ask("merge_blocks", "run", nan)
        carried = self._carry([source], found)
        payload = source.indices if carried is None else np.arange(len(carried), dtype=np.uint32)
        values = into.values.reshape(-1, WAYS * length)
        indices = into.indices.reshape(values.shape)
        engine.merge_blocks(
            source.values.reshape(shape), payload.reshape(shape), order, out=(values, indices)
        )
        if carried is not None:
            _put(into, carried[into.indices[0]])
        elif into.gaps is not None:
            into.gaps[...] = 0
        return Outcome(self.width * self.counts[0], None, tuple(sorted(found)), warnings)

    def _lists(self, dst: Array, tiles: Sequence[Array], tmp: Array | None) -> Outcome:
        found: set[str] = set()
        through = tmp is not None and not self.target.simulated
        into = tmp if tmp is not None and through else _leading(dst, self._copied_columns(dst))
        room = self.operands.dst.valid_columns if self.target.simulated else into.shape[1]
        joined = None
        if self.equally_long and room >= self.width * self.total:
            joined = pair_views(np.concatenate(tiles), self.counts[0])
        if joined is not None and not (joined.gaps is not None and joined.gaps.any()):
            taken, warnings = self._joined(into, joined, found)
        else:
            lists = [pair_views(tile, n) for tile, n in zip(tiles, self.counts, strict=True)]
            taken, warnings = self._runs(into, lists, found)
        if tmp is not None and through:
            copied = min(self._copied_columns(dst), tmp.shape[1])
            dst[0, :copied] = tmp[0, :copied]
        valid = self.operands.dst.valid_columns
        produced = min(self.width * sum(taken), valid)
        if self.operands.exhausted and not self.target.simulated and produced < valid:
            found.add("pto.exhausted-tail")
        if not self.operands.exhausted and produced < valid:
            warnings += (
                f"dst has {valid} columns, all lists together fill {produced}; the rest is no result",
            )
        return Outcome(produced, self._executed(taken, found), tuple(sorted(found)), warnings)

    def _joined(
        self, into: Array, lists: PairViews, found: set[str]
    ) -> tuple[tuple[int, ...], tuple[str, ...]]:
        """Merge lists of one length, a row each, as one group of blocks, straight into place."""
        nan = self._inspect(lists.values, "src", found)
        order, (engine, warnings) = self._ask("merge_blocks", "run", nan)
        pairs = pair_views(into, self.total)
        engine.merge_blocks(lists.values[None], lists.indices[None], order, out=(pairs.values, pairs.indices))
        if pairs.gaps is not None:
            pairs.gaps[...] = 0
        return self.counts, warnings

    def _runs(
        self, into: Array, lists: Sequence[PairViews], found: set[str]
    ) -> tuple[tuple[int, ...], tuple[str, ...]]:
        """Merge any lists, perhaps up to an end that comes early."""
        nan = False
        for number, part in enumerate(lists):
            nan |= self._inspect(part.values, f"src{number}", found)
        carried = self._carry(lists, found)
        runs = [(part.values[0], part.indices[0]) for part in lists]
        if carried is not None:
            ends = np.cumsum(self.counts)
            places = np.split(np.arange(ends[-1], dtype=np.uint32), ends[:-1])
            runs = [(values, place) for (values, _), place in zip(runs, places, strict=True)]
        merged, warnings = self._merge(runs, nan, found)
        fitting = min(len(merged.values), into.shape[1] // self.width)
        _put(pair_views(into[:1], fitting), merged if carried is None else carried[merged.payload])
        return merged.consumed, warnings

    def _ask(self, verb: Verb, tie: TieRule, nan: bool) -> tuple[Order, Able]:
        """Return the order for lists with or without NaN, and an engine that has it."""
        key = (verb, tie, nan)
        found = self._asked.get(key)
        if found is None:
            # Without NaN every policy gives the same order, and engines have more of the others.
            policy = "sign-magnitude" if self.nan == "compare-false" and not nan else self.nan
            order = Order(descending=True, nan=policy, tie=tie)
            found = self._asked[key] = order, able_engine(self.engine, verb, order)
        return found

    def _inspect(self, lists: Array, role: str, found: set[str]) -> bool:
        """Refuse rows that are not sorted; say whether there is a NaN in them."""
        order, (engine, _) = self._ask("inspect_runs", "run", nan=True)
        seen = engine.inspect_runs(lists, order)
        if seen.unsorted is not None and self.check_sorted:
            raise RuleViolations(ABOUT, [_unsorted_violation(lists, seen.unsorted, role)])
        pads_are_last = self.nan in ("sign-magnitude", "last")
        if seen.nan and (not pads_are_last or nan_beyond_pads(lists)):
            found.add("pto.nan-order")
        return seen.nan

    def _carry(self, lists: Sequence[PairViews], found: set[str]) -> Array | None:
        """Return all pairs of the lists as 64-bit words if their gaps hold anything, else None."""
        if not any(part.gaps is not None and part.gaps.any() for part in lists):
            return None
        found.add("pto.half-pad-slot")
        return np.concatenate([_words(part) for part in lists])

    def _merge(
        self, runs: Sequence[tuple[Array, Array]], nan: bool, found: set[str]
    ) -> tuple[MergedRuns, tuple[str, ...]]:
        exhausted = self.operands.exhausted
        limit = self.operands.dst.valid_columns // self.width if self.target.simulated else None
        filled = sum(count > 0 for count in self.counts)
        if exhausted and 0 < filled < len(runs):
            found.add("pto.exhausted-empty")
            if self.made["pto.exhausted-empty"] == "cpu-sim":
                exhausted, limit = False, 1 if limit is None else min(1, limit)
        later = self.operands.exhausted and self.made["pto.merge-tie"] == "later-when-exhausted"
        order, (engine, warnings) = self._ask("merge_runs", "later-run" if later else "run", nan)
        stop: Stop = "first-exhausted" if exhausted else "all"
        merged = engine.merge_runs(runs, order, stop=stop, limit=limit)
        if self.operands.exhausted and tie_in_reach(merged, runs):
            other, (able, _) = self._ask("merge_runs", "run" if later else "later-run", nan)
            if not _same(merged, able.merge_runs(runs, other, stop=stop, limit=limit)):
                found.add("pto.merge-tie")
        return merged, warnings

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


def _unsorted_violation(lists: Array, place: int, field: str) -> Violation:
    row, position = divmod(place, lists.shape[1])
    first, second = lists[row, position - 1], lists[row, position]
    if field in ("block ", "src"):
        field += str(row)
    text = (
        f"{field}: pair {position} holds {second}, which belongs before pair {position - 1} with {first}; "
        "merges take sorted lists: sort them first, or turn the check off"
    )
    return Violation(_SORTED, field, (first, second), "descending", text)


def _words(part: PairViews) -> Array:
    """Pack the pairs of a row into 64-bit words: value, gap, index from the lowest bit on."""
    words = part.indices[0].astype(np.uint64) << np.uint64(32)
    if part.gaps is not None:
        words |= part.gaps[0].astype(np.uint64) << np.uint64(16)
    return np.asarray(words | part.values[0].view(f"u{part.values.itemsize}"))


def _put(into: PairViews, pairs: MergedRuns | Array) -> None:
    """Write leading pairs, given as values and indices or as 64-bit words, into a row."""
    count = into.values.shape[1]
    if isinstance(pairs, MergedRuns):
        into.values[0] = pairs.values[:count]
        into.indices[0] = pairs.payload[:count]
        if into.gaps is not None:
            into.gaps[...] = 0
        return
    words = pairs[:count]
    into.values.view(f"u{into.values.itemsize}")[0] = words.astype(f"u{into.values.itemsize}")
    into.indices[0] = words >> np.uint64(32)
    if into.gaps is not None:
        into.gaps[0] = (words >> np.uint64(16)).astype(np.uint16)


def _same(first: MergedRuns, second: MergedRuns) -> bool:
    return (
        first.consumed == second.consumed
        and np.array_equal(first.payload, second.payload)
        and first.values.tobytes() == second.values.tobytes()
    )
