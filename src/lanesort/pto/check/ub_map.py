"""The tiles of a function in the unified buffer: address by program order."""

from __future__ import annotations

from dataclasses import dataclass

from lanesort.pto.check.event import Placement
from lanesort.pto.check.state import Walk
from lanesort.pto.program import Function, Step

__all__ = ["Lane", "UbMap", "map_text", "ub_map"]

WIDEST_STEPS = 64


@dataclass(frozen=True, slots=True)
class Lane:
    """One tile: its bytes, and what each step does with it.

    Attributes
    ----------
    name
        Name in the text.
    start, stop
        Bytes `start` up to `stop` of the unified buffer.
    given
        Whether the text gives the address.
    uses
        A letter for each step of the map: ``R`` read, ``W`` written, ``B`` both, ``-`` neither but
        between two uses, a blank before the first and behind the last.
    """

    name: str
    start: int
    stop: int
    given: bool
    uses: str

    @property
    def first(self) -> int:
        """Number of the first step that uses the tile; the number of steps if none does."""
        return len(self.uses) - len(self.uses.lstrip())

    @property
    def last(self) -> int:
        """Number of the last step that uses the tile; -1 if none does."""
        return len(self.uses.rstrip()) - 1


@dataclass(frozen=True, slots=True)
class UbMap:
    """Where the tiles of a function are, and when they are used.

    Attributes
    ----------
    function, target
        Names.
    size_bytes
        Size of the unified buffer; None if it is not limited.
    steps
        The steps that use tiles, each once: the operation and its line.
    lanes
        Tiles by address.
    """

    function: str
    target: str
    size_bytes: int | None
    steps: tuple[tuple[str, int], ...]
    lanes: tuple[Lane, ...]

    @property
    def used_bytes(self) -> int:
        """The first byte behind all tiles."""
        return max((lane.stop for lane in self.lanes), default=0)


def ub_map(function: Function, walk: Walk) -> UbMap:
    """Return the map of a function that was followed."""
    numbers: dict[int, int] = {}
    steps: list[Step] = []
    uses: dict[tuple[str, int], dict[int, set[str]]] = {}
    for event in walk.events:
        if not event.roles:
            continue
        number = numbers.setdefault(id(event.step), len(steps))
        if number == len(steps):
            steps.append(event.step)
        for role in event.roles:
            if role.root is not None:
                lane = uses.setdefault((event.function.name, role.root), {})
                lane.setdefault(number, set()).add("W" if role.written else "R")
    lanes = [
        Lane(one.name, one.start, one.stop, one.given, _letters(uses, one, len(steps)))
        for one in walk.placements.values()
    ]
    lanes.sort(key=lambda lane: (lane.start, lane.stop, lane.name))
    named = tuple((step.op, step.place.line if step.place else 0) for step in steps)
    return UbMap(function.name, walk.target.name, walk.target.ub_bytes, named, tuple(lanes))


def _letters(uses: dict[tuple[str, int], dict[int, set[str]]], one: Placement, steps: int) -> str:
    mine = uses.get((one.function.name, one.value), {})
    if not mine:
        return " " * steps
    first, last = min(mine), max(mine)
    letters = [_letter(mine.get(number, set())) for number in range(first, last + 1)]
    return " " * first + "".join(letters) + " " * (steps - last - 1)


def _letter(uses: set[str]) -> str:
    if len(uses) > 1:
        return "B"
    return next(iter(uses), "-")


def map_text(shown: UbMap) -> str:
    """Write a map for a terminal.

    Examples
    --------
    >>> lane = Lane("%src", 0, 128, False, "WR ")
    >>> print(map_text(UbMap("f", "a5", 262144, (("tload", 3), ("tsort32", 4), ("tstore", 5)), (lane,))))
    @f on a5: 128 of 262144 bytes of UB
    tile  from    to  bytes  steps 1 … 3
    %src   0x0  0x80    128  WR
    steps: 1 tload (line 3), 2 tsort32 (line 4), 3 tstore (line 5)
    """
    size = "unlimited" if shown.size_bytes is None else str(shown.size_bytes)
    lines = [f"@{shown.function} on {shown.target}: {shown.used_bytes} of {size} bytes of UB"]
    rows = [("tile", "from", "to", "bytes", f"steps 1 … {len(shown.steps)}")]
    for lane in shown.lanes:
        cut = " …" if len(lane.uses.rstrip()) > WIDEST_STEPS else ""
        uses = lane.uses[:WIDEST_STEPS].rstrip() + cut
        rows.append((lane.name, f"{lane.start:#x}", f"{lane.stop:#x}", str(lane.stop - lane.start), uses))
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    for name, start, stop, count, uses in rows:
        cells = name.ljust(widths[0]), start.rjust(widths[1]), stop.rjust(widths[2]), count.rjust(widths[3])
        lines.append("  ".join([*cells, uses]).rstrip())
    shown_steps = enumerate(shown.steps[:WIDEST_STEPS], 1)
    listed = ", ".join(f"{n} {op} (line {line})" for n, (op, line) in shown_steps)
    more = f", and {len(shown.steps) - WIDEST_STEPS} more" if len(shown.steps) > WIDEST_STEPS else ""
    return "\n".join([*lines, f"steps: {listed or 'none'}{more}"])
