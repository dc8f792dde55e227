"""Where a flag is set and where it is waited for, and which flag it is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from lanesort.evidence import fact
from lanesort.pto.check.edit import Spot
from lanesort.pto.check.event import Event
from lanesort.pto.program import Block, Step

__all__ = [
    "SETTING",
    "WAITING",
    "FreeFlags",
    "Key",
    "beside",
    "flag_line",
    "line_of",
    "pipe_of",
    "where_to_wait",
]

FLAGS_OF_PAIR = 8
"""Events EVENT_ID0 … EVENT_ID7 of a pair of pipes."""
Key = tuple[str, str, str]
"""A flag: the pipe that sets it, the pipe that waits, and its name."""
SETTING, WAITING = ("set_flag", "record_event"), ("wait_flag", "wait_event")
"""Operations that set a flag, and those that wait for one."""

fact(
    "pto.pipes",
    "A pair of pipes has the events EVENT_ID0 to EVENT_ID7.",
    "documented",
    "medium",
    "AscendC documentation, SetFlag and WaitFlag",
)


class FreeFlags:
    """Gives the flags that a program does not use yet, each pair of pipes in turn."""

    def __init__(self, events: Iterable[Event]) -> None:
        used: dict[tuple[str, str], set[str]] = defaultdict(set)
        for event in events:
            if event.step.op in (*SETTING, *WAITING):
                pair = (pipe_of(event.step, "src"), pipe_of(event.step, "dst"))
                used[pair].add(str(event.step.attributes.get("event")))
        self._used = used
        self._next: dict[tuple[str, str], int] = defaultdict(int)

    def take(self, source: str, target: str) -> str:
        """Return a flag for a pair of pipes."""
        every = [f"EVENT_ID{n}" for n in range(FLAGS_OF_PAIR)]
        free = [name for name in every if name not in self._used[source, target]] or every
        at = self._next[source, target]
        self._next[source, target] += 1
        return free[at % len(free)]


def pipe_of(step: Step, name: str) -> str:
    """Return the pipe that a flag or a barrier names, without ``PIPE_``."""
    return str(step.attributes.get(name) or "").removeprefix("PIPE_")


def flag_line(op: str, source: str, target: str, name: str) -> str:
    """Write ``set_flag`` or ``wait_flag`` as a line of a program.

    Examples
    --------
    >>> flag_line("wait_flag", "MTE2", "V", "EVENT_ID0")
    'pto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]'
    """
    return f'pto.{op}["PIPE_{source}", "PIPE_{target}", "{name}"]'


def line_of(event: Event) -> str:
    """Say in which line a step stands."""
    return f"line {event.step.place.line}" if event.step.place else f"@{event.function.name}"


def where_to_wait(before: Event, event: Event) -> tuple[Spot, Spot, bool]:
    """Return where to set a flag and where to wait: in one block, so that both happen equally often.

    The third value is True if the second step comes in a later iteration: the wait then stands
    at the end of the block.
    """
    first, second = _fork(before, event)
    if first.index < second.index:
        return first, second, False
    return first, Spot(first.block, _last(first.block)), True


def beside(side: str, spot: Spot) -> str:
    """Say beside which step a line belongs."""
    step = spot.block.steps[spot.index]
    line = f"line {step.place.line}" if step.place else step.op
    return f"{side} the {step.op} of {line}" if step.regions else f"{side} {line}"


def _fork(one: Event, other: Event) -> tuple[Spot, Spot]:
    """Return the steps of the innermost common block in which two events lie."""
    last = (one.path[0], other.path[0])
    for first, second in zip(one.path, other.path, strict=False):
        if first.block is not second.block:
            break
        last = (first, second)
        if first.index != second.index:
            break
    return last


def _last(block: Block) -> int:
    """Return the index of the last step that is not the block's terminator."""
    steps = block.steps
    ends = steps and steps[-1].op in ("scf.yield", "yield", "func.return", "scf.condition")
    return len(steps) - (2 if ends else 1)
