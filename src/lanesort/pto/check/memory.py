"""Findings about the unified buffer: room, alignment, overlap, what is read before it is written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from lanesort.pto.check.event import Event, Placement, share
from lanesort.pto.check.finding import Finding
from lanesort.pto.check.state import Walk
from lanesort.pto.elementwise import TILE_OPERATIONS
from lanesort.pto.memory import ALIGNMENT_BYTES, Access
from lanesort.pto.program import Block, Function, Step
from lanesort.pto.tile import PAIR_BYTES

__all__ = ["overlaps", "placements", "reads", "unused"]


def placements(walk: Walk) -> Iterator[Finding]:
    """Find tiles that don't fit the unified buffer, or are misaligned."""
    size, target = walk.target.ub_bytes, walk.target.name
    beyond = [one for one in walk.placements.values() if size is not None and one.stop > size]
    for one in walk.placements.values():
        if one.start % ALIGNMENT_BYTES:
            text = (
                f"{one.name} is at address {one.start} (0x{one.start:x}); tiles start at multiples of "
                f"{ALIGNMENT_BYTES}, such as {-(-one.start // ALIGNMENT_BYTES) * ALIGNMENT_BYTES}"
            )
            yield Finding("misaligned", text, one.step.place, one.function.name)
    for one in [b for b in beyond if b.given]:
        text = (
            f"{one.name} takes bytes {one.start} … {one.stop - 1} of the unified buffer; {target} has {size}"
        )
        yield Finding("ub-overflow", text, one.step.place, one.function.name)
    placed = [b for b in beyond if not b.given]
    if placed:
        yield _does_not_fit(placed, walk)
    yield from _pointers_beyond(walk)


def _does_not_fit(placed: list[Placement], walk: Walk) -> Finding:
    names = ", ".join(one.name for one in placed[:4]) + (" …" if len(placed) > 4 else "")
    last = max(placed, key=lambda one: one.stop)
    text = (
        f"the tiles take {last.stop} bytes of the unified buffer and {walk.target.name} has "
        f"{walk.target.ub_bytes}: there is no room for {names}"
    )
    return Finding("ub-overflow", text, placed[0].step.place, last.function.name)


def _pointers_beyond(walk: Walk) -> Iterator[Finding]:
    """Find accesses through pointers that reach beyond the unified buffer."""
    size = walk.target.ub_bytes
    for event in walk.events:
        for access in (*event.reads, *event.writes):
            if size is None or event.roles or access.space != "ub" or access.stop <= size:
                continue
            text = (
                f"{event.step.op} touches bytes {access.start} … {access.stop - 1} of the unified buffer; "
                f"{walk.target.name} has {size}"
            )
            yield Finding("ub-overflow", text, event.step.place, event.function.name)


def overlaps(walk: Walk) -> Iterator[Finding]:
    """Find operands that share bytes; those of tsort32 and tmrgsort have rules of their own."""
    for event in walk.events:
        op = event.step.op
        if op in ("vbitsort", "vmrgsort4", "tgather") or op in TILE_OPERATIONS:
            yield from _overlap(event)
        if op in ("vbitsort", "vmrgsort4"):
            yield from _misaligned(event)


def _overlap(event: Event) -> Iterator[Finding]:
    operation = TILE_OPERATIONS.get(event.step.op)
    in_place = operation is not None and operation.in_place
    if not event.writes:
        return
    into = event.writes[0]
    for read in event.reads:
        if share(into, read) and not (in_place and _exactly(into, read)):
            text = (
                f"{event.step.op}: dst (bytes {into.start} … {into.stop - 1} of UB) overlaps an input "
                f"(bytes {read.start} … {read.stop - 1})"
            )
            text += "; only exactly the same place is allowed" if in_place else "; they have to be apart"
            yield Finding("operand-overlap", text, event.step.place, event.function.name)
            return


def _exactly(one: Access, other: Access) -> bool:
    """Say whether two accesses begin at one place and go the same way."""
    rows = min(one.rows, other.rows)
    return one.start == other.start and (rows <= 1 or one.stride_bytes == other.stride_bytes)


def _misaligned(event: Event) -> Iterator[Finding]:
    wrong = [a.start for a in (*event.writes, *event.reads) if a.start % ALIGNMENT_BYTES]
    if wrong:
        text = f"{event.step.op}: a pointer is {wrong[0]} (0x{wrong[0]:x}), no multiple of {ALIGNMENT_BYTES}"
        yield Finding("misaligned", text, event.step.place, event.function.name)


class _Ledger:
    """Which bytes were written, and which hold what a merge may have left."""

    def __init__(self, size: int) -> None:
        self.written = np.zeros(size, np.bool_)
        self.stale = np.zeros(size, np.int32)
        self.size = size

    def view(self, array: npt.NDArray[Any], access: Access) -> npt.NDArray[Any] | None:
        """Return the bytes of an access, or None if they are not all in the buffer."""
        if access.space != "ub" or access.start < 0 or access.stop > self.size or access.stop <= access.start:
            return None
        stride = access.stride_bytes * array.itemsize
        shape = (access.rows, access.row_bytes)
        return np.ndarray(
            shape, array.dtype, array, offset=access.start * array.itemsize, strides=(stride, array.itemsize)
        )

    def put(self, array: npt.NDArray[Any], access: Access, value: int) -> None:
        """Set the bytes of an access."""
        view = self.view(array, access)
        if view is not None:
            view[...] = value

    def overwrite(self, access: Access | None) -> None:
        """Note that bytes are written, by something that is not left over from a merge."""
        if access is not None:
            self.put(self.written, access, True)
            self.put(self.stale, access, 0)


def reads(walk: Walk) -> Iterator[Finding]:
    """Find reads of bytes that nothing wrote, and of what a merge may not have written."""
    ledger = _Ledger(walk.ub_bytes)
    for access in walk.given:
        ledger.put(ledger.written, access, True)
    somewhere = False
    for number, event in enumerate(walk.events, 1):
        for filled in walk.filled.get(number - 1, ()):
            somewhere = somewhere or filled is None
            ledger.overwrite(filled)
        for access in event.reads:
            if not somewhere and not event.assumed:
                yield from _unwritten(event, _needed(event, access), ledger)
            if not event.assumed:
                yield from _stale(event, access, ledger, walk)
        for access in event.writes:
            ledger.overwrite(access)
        leftover = _leftover(event)
        if leftover is not None:
            ledger.put(ledger.stale, leftover, number)
        somewhere = somewhere or event.somewhere


def _needed(event: Event, access: Access) -> Access:
    """Return what a read depends on: indices behind the last value go to pads, whatever they are."""
    idx, src = event.role("idx"), event.role("src")
    if event.step.op != "tsort32" or idx is None or src is None or access.start != idx.operand.address_bytes:
        return access
    used = src.operand.valid_columns * idx.operand.dtype.itemsize
    return Access("ub", access.start, min(access.row_bytes, used), access.rows, access.stride_bytes)


def _unwritten(event: Event, access: Access, ledger: _Ledger) -> Iterator[Finding]:
    view = ledger.view(ledger.written, access)
    if view is None or view.all():
        return
    row, offset = np.unravel_index(int(np.argmin(view)), view.shape)
    first = access.start + int(row) * access.stride_bytes + int(offset)
    count = int(view.size - np.count_nonzero(view))
    named = _reader(event, access)
    text = (
        f"{event.step.op} reads {view.size} bytes{named} (UB {access.start} … {access.stop - 1}); {count} of "
        f"them, from byte {first} on, were never written"
    )
    yield Finding("read-before-written", text, event.step.place, event.function.name)
    view[...] = True


def _reader(event: Event, access: Access) -> str:
    """Name the tile that an access belongs to."""
    for role in event.roles:
        if role.operand.address_bytes == access.start and role.root is not None:
            return f" of {event.function.name_of(role.root)}"
    return ""


def _leftover(event: Event) -> Access | None:
    """Return the bytes of a merge's dst that it is not sure to write."""
    step, dst = event.step, event.role("dst")
    sources = [role for role in event.roles if role.name == "sources"]
    if step.op != "tmrgsort" or dst is None or len(sources) < 2 or event.assumed or not event.writes:
        return None
    lists = [r.operand.valid_columns * r.operand.dtype.itemsize // PAIR_BYTES * PAIR_BYTES for r in sources]
    sure = min(lists) if step.attributes["exhausted"] else sum(lists)
    into = event.writes[0]
    if into.rows != 1 or into.row_bytes <= sure:
        return None
    return Access("ub", into.start + sure, into.row_bytes - sure)


def _stale(event: Event, access: Access, ledger: _Ledger, walk: Walk) -> Iterator[Finding]:
    view = ledger.view(ledger.stale, access)
    if view is None or not view.any():
        return
    cause = walk.events[int(view.max()) - 1]
    count = int(np.count_nonzero(view))
    why = "stops at the first exhausted list" if cause.step.attributes["exhausted"] else "has too few pairs"
    text = (
        f"{event.step.op} reads {count} bytes that the merge before it ({_where(cause)}) is not sure to "
        f"write: it {why}"
    )
    yield Finding("stale-tail", text, event.step.place, event.function.name, other=cause.step.place)
    view[...] = 0


def _where(event: Event) -> str:
    return f"line {event.step.place.line}" if event.step.place else event.step.op


_ALIASES = {"subview": "src", "treshape": "src", "bind_tile": "src", "set_validshape": "tile"}
"""Steps that only give a tile another name or size."""


def unused(function: Function, walk: Walk) -> Iterator[Finding]:
    """Find tiles that nothing uses; one that only gives a name to bytes of others takes no room."""
    steps = list(_all(function.body or Block()))
    used: set[int] = set()
    for step in reversed(steps):
        alias = step.op in _ALIASES and step.modelled
        wanted = any(value in used for value in step.results)
        if not alias or (wanted and step.op != "set_validshape"):
            used.update(step.used())
        if alias and step.op == "treshape" and not step.results:
            used.update(step.used())
    for step in steps:
        if (
            step.op == "alloc_tile"
            and step.results[0] not in used
            and not _shares(step, function, used, walk)
        ):
            text = f"{function.name_of(step.results[0])} is allocated and never used"
            yield Finding("unused-tile", text, step.place, function.name)


def _shares(step: Step, function: Function, used: set[int], walk: Walk) -> bool:
    """Say whether the text places a tile on bytes of a tile that is used."""
    mine = [one for one in walk.placements.values() if one.step is step and one.given]
    theirs = [one for one in walk.placements.values() if one.function is function and one.value in used]
    return any(one.start < other.stop and other.start < one.stop for one in mine for other in theirs)


def _all(block: Block) -> Iterator[Step]:
    for step in block.steps:
        yield step
        for region in step.regions:
            yield from _all(region)
