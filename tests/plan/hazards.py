"""Hazards of a run, by vector clocks: independent of the checker, which looks at the text alone.

A pipe works in order; a flag carries what its source pipe has done; a barrier joins all; the
scalar pipe issues every instruction, so that each knows what the scalar pipe knew then.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from lanesort.pto.memory import Access
from lanesort.pto.result import PIPES, TraceEvent

Clock = dict[str, int]


@dataclass
class Seen:
    """An access that happened: on which pipe, as its how-manieth event."""

    access: Access
    pipe: str
    count: int
    writes: bool
    event: TraceEvent


@dataclass
class Machine:
    """The clock of each pipe, flags on their way, and what was accessed."""

    clocks: dict[str, Clock] = field(default_factory=lambda: {p: dict.fromkeys(PIPES, 0) for p in PIPES})
    flags: dict[tuple[Any, ...], deque[Clock]] = field(default_factory=dict)
    seen: list[Seen] = field(default_factory=list)

    def know(self, pipe: str, other: Clock) -> None:
        mine = self.clocks[pipe]
        for name, count in other.items():
            mine[name] = max(mine[name], count)


def hazards(trace: Sequence[TraceEvent]) -> list[str]:
    """Return a line for each pair of accesses that nothing orders."""
    machine = Machine()
    found = [line for event in trace for line in _step(machine, event)]
    left = [flag for flag, queue in machine.flags.items() if queue]
    return found + [f"flag {flag} is never waited for" for flag in left]


def _step(machine: Machine, event: TraceEvent) -> Iterator[str]:
    pipe = event.pipe
    machine.know(pipe, machine.clocks["S"])
    clock = machine.clocks[pipe]
    clock[pipe] += 1
    flag = tuple(event.detail.get(name) for name in ("src", "dst", "event"))
    if event.name == "set_flag":
        machine.flags.setdefault(flag, deque()).append(dict(clock))
    elif event.name == "wait_flag":
        queue = machine.flags.get(flag)
        if queue:
            machine.know(pipe, queue.popleft())
        else:
            yield f"flag {flag} is waited for and never set"
    elif event.name == "barrier" and event.detail["pipe"] == "PIPE_ALL":
        for other in PIPES:
            machine.know("S", machine.clocks[other])
    for writes, accesses in ((False, event.reads), (True, event.writes)):
        for access in accesses:
            yield from _unordered(machine, access, event, clock, writes)
    for writes, accesses in ((False, event.reads), (True, event.writes)):
        machine.seen += [Seen(access, pipe, clock[pipe], writes, event) for access in accesses]


def _unordered(
    machine: Machine, access: Access, event: TraceEvent, clock: Clock, writes: bool
) -> Iterator[str]:
    for before in machine.seen:
        if before.pipe == event.pipe or not (writes or before.writes):
            continue
        apart = before.access.stop <= access.start or access.stop <= before.access.start
        if before.access.space == access.space and not apart and clock[before.pipe] < before.count:
            yield f"{event.name} at {event.place} and {before.event.name} at {before.event.place}: {access}"
