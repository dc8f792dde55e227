"""Findings about merges: lists and blocks that are taken to be sorted and are not.

How long sorted runs of pairs are depends on sizes alone: a sort leaves runs of 32 pairs, a
merge of blocks of one list runs four times as long, a merge of several lists a single one.
So the runs can be followed through the unified buffer without data. Bytes that anything
else wrote are not judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lanesort.pto.check.event import Branch, Event, Role
from lanesort.pto.check.finding import Finding
from lanesort.pto.check.state import Walk
from lanesort.pto.memory import Access
from lanesort.pto.tile import PAIR_BYTES
from lanesort.pto.tmrgsort import BLOCK_UNIT, WAYS
from lanesort.pto.tsort32 import BLOCK

__all__ = ["unsorted_runs"]

MOST_ROWS = 4096


@dataclass(frozen=True, slots=True)
class _Runs:
    """Bytes `start` up to `stop` of UB hold sorted runs of `length` bytes, from `start` on."""

    start: int
    stop: int
    length: int
    branch: Branch
    cause: Event


@dataclass(frozen=True, slots=True)
class _Claim:
    """A merge takes bytes `start` up to `stop` to be sorted blocks of `block` bytes.

    `single` says that they are blocks of its only list, and not a list of several.
    """

    start: int
    stop: int
    block: int
    role: Role
    single: bool


def unsorted_runs(walk: Walk) -> Iterator[Finding]:
    """Find merges that take longer blocks to be sorted than what wrote them left sorted."""
    known: list[_Runs] = []
    for number, event in enumerate(walk.events):
        for filled in walk.filled.get(number, ()):
            known = _without(known, filled)
        sure = [runs for runs in known if event.branch[: len(runs.branch)] == runs.branch]
        for claim in _claims(event):
            broken = _broken(claim, sure)
            if broken is not None:
                yield _finding(event, claim, broken)
                break
        for access in event.writes:
            known = _without(known, access)
        if event.somewhere:
            known = []
        known += _left(event)


def _without(known: Sequence[_Runs], written: Access | None) -> list[_Runs]:
    """Forget runs that a write meets; None is a write that may be anywhere."""
    if written is None:
        return []
    if written.space != "ub":
        return list(known)
    return [runs for runs in known if written.stop <= runs.start or runs.stop <= written.start]


def _claims(event: Event) -> Iterator[_Claim]:
    """Yield what a merge takes to be sorted: blocks of its one list, or each of its lists."""
    if event.step.op != "tmrgsort" or event.assumed:
        return
    sources = [role for role in event.roles if role.name == "sources"]
    for role in sources:
        tile = role.operand
        size = tile.valid_columns * tile.dtype.itemsize
        block = size if len(sources) > 1 else (_block_length(event) or 0) * tile.dtype.itemsize
        if tile.address_bytes is not None and size > 0 and block > 0 and tile.valid_rows == 1:
            yield _Claim(tile.address_bytes, tile.address_bytes + size, block, role, len(sources) == 1)


def _block_length(event: Event) -> int | None:
    length = event.step.attributes["block_len"]
    if event.step.optional("block_len") is not None:
        length = event.numbers.get("block_len")
    return length if isinstance(length, int) and length % BLOCK_UNIT == 0 else None


def _broken(claim: _Claim, known: Sequence[_Runs]) -> _Runs | None:
    """Return runs of which one ends inside a block that is taken to be sorted."""
    ends = {runs.stop for runs in known}
    for runs in known:
        first = runs.start if runs.start in ends else runs.start + runs.length
        if first <= claim.start:
            first += ((claim.start - first) // runs.length + 1) * runs.length
        stop = min(claim.stop, runs.stop)
        for boundary in (first, first + runs.length):
            if boundary < stop and (boundary - claim.start) % claim.block:
                return runs
    return None


def _finding(event: Event, claim: _Claim, broken: _Runs) -> Finding:
    line = f"line {broken.cause.step.place.line}" if broken.cause.step.place else broken.cause.step.op
    name = event.function.name_of(claim.role.root) if claim.role.root is not None else "its source"
    pairs, left = claim.block // PAIR_BYTES, broken.length // PAIR_BYTES
    text = (
        f"tmrgsort takes {pairs} pairs after one another in {name} to be sorted; {line} left runs of {left}"
    )
    if claim.single:
        text += f" (blockLen {broken.length // claim.role.operand.dtype.itemsize})"
    place, other = event.step.place, broken.cause.step.place
    return Finding("unsorted-run", text, place, event.function.name, other=other)


def _left(event: Event) -> Iterator[_Runs]:
    """Yield the runs that a sort or a merge leaves in its destination."""
    dst = event.role("dst")
    if dst is None or event.assumed or not event.writes:
        return
    into = event.writes[0]
    if event.step.op == "tsort32" and event.role("idx") is not None:
        for row in range(min(into.rows, MOST_ROWS)):
            start = into.start + row * into.stride_bytes
            yield _Runs(start, start + into.row_bytes, BLOCK * PAIR_BYTES, event.branch, event)
    elif event.step.op == "tmrgsort":
        claims = list(_claims(event))
        size = min(into.row_bytes, sum(claim.stop - claim.start for claim in claims))
        length = WAYS * claims[0].block if claims and claims[0].single else size
        if size > 0:
            yield _Runs(into.start, into.start + size, min(length, size), event.branch, event)
