"""Findings about the pipes: who has to wait for whom, and flags that don't come in pairs.

Each pipe executes its steps in order; the pipes run beside each other. A flag that one pipe
sets and another waits for makes everything before the first known to everything behind the
second. The check keeps, for each pipe, how far it knows the others to have come.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Reversible
from dataclasses import dataclass, field
from typing import NamedTuple

from lanesort.evidence import fact
from lanesort.pto.check.edit import Edit, Insert, Remove
from lanesort.pto.check.event import Event, exclusive, share
from lanesort.pto.check.finding import Finding, Line
from lanesort.pto.check.flag import (
    SETTING,
    WAITING,
    FreeFlags,
    Key,
    beside,
    flag_line,
    line_of,
    pipe_of,
    where_to_wait,
)
from lanesort.pto.check.state import Walk
from lanesort.pto.check.straight import SORTS
from lanesort.pto.memory import Access
from lanesort.pto.operations import SYNCHRONISATION
from lanesort.pto.program import Block, Function, Step

__all__ = ["UNMODELLED_ORDER", "has_synchronisation", "hazards"]

PIPES = ("MTE2", "V", "MTE3", "S")
UNMODELLED_ORDER = ("get_buf", "rls_buf", "mem_bar")
"""Operations that order the pipes as well, in ways that are not modelled."""
MOST_PENDING = 512
"""Steps of a pipe that are kept to be compared with later ones of the others."""

fact(
    "pto.pipes",
    "MTE2 loads, V computes and sorts, MTE3 stores; each is in order, and set_flag and wait_flag order them "
    "among each other.",
    "documented",
    "high",
    "seed 002, manual mode; PTO specification, synchronisation",
)


def has_synchronisation(function: Function) -> bool:
    """Say whether a function orders its pipes by hand."""

    def inside(block: Block) -> bool:
        return any(
            (step.modelled and step.op in SYNCHRONISATION) or any(map(inside, step.regions))
            for step in block.steps
        )

    return inside(function.body or Block())


class _Flag(NamedTuple):
    """A flag that was set: what is known behind it, and the step that set it."""

    known: dict[str, int]
    event: Event


class _Done(NamedTuple):
    """A step that a pipe was given: its number there and over all, and what the pipe knew before."""

    number: int
    order: int
    known: dict[str, int]
    event: Event
    span: tuple[int, int]


class _Conflict(NamedTuple):
    """A step that touches the same bytes as one behind it, and how."""

    step: _Done
    kind: str
    access: Access

    def __str__(self) -> str:
        return self.kind.format(f"bytes {self.access.start} … {self.access.stop - 1} of UB")


@dataclass(slots=True)
class _Pipe:
    """One pipe: how many steps it was given, the last of them, and how far it knows the others."""

    count: int = 0
    pending: deque[_Done] = field(default_factory=lambda: deque(maxlen=MOST_PENDING))
    known: dict[str, int] = field(default_factory=dict)
    barrier: int = 0


class _Order:
    """The pipes while the program goes on."""

    def __init__(self, walk: Walk) -> None:
        self.walk = walk
        self.pipes: dict[str, _Pipe] = defaultdict(_Pipe)
        self.flags: dict[Key, deque[_Flag]] = defaultdict(deque)
        self.met: dict[Key, tuple[Event, _Flag]] = {}
        self.order = 0
        self.names = FreeFlags(walk.events)
        for name in PIPES:
            self.pipes[name].known = {}

    def learn(self, pipe: str, known: dict[str, int]) -> None:
        """Let a pipe know what stands behind a flag; what the scalar pipe knows, all later steps do."""
        for name in [pipe] if pipe != "S" else list(self.pipes):
            mine = self.pipes[name].known
            for other, count in known.items():
                mine[other] = max(mine.get(other, 0), count)

    def synchronise(self, event: Event) -> Iterator[Finding]:
        """Follow a flag or a barrier."""
        step = event.step
        if step.op in SETTING or step.op in WAITING:
            key = (pipe_of(step, "src"), pipe_of(step, "dst"), str(step.attributes.get("event")))
            yield from self._set(event, key) if step.op in SETTING else self._wait(event, key)
            return
        pipe = pipe_of(step, "pipe")
        if pipe in PIPES and step.op == "barrier":
            self.pipes[pipe].barrier = self.pipes[pipe].count
            return
        everything = {name: one.count for name, one in self.pipes.items()}
        for name, one in self.pipes.items():
            one.barrier = one.count
            self.learn(name, everything)

    def _set(self, event: Event, key: Key) -> Iterator[Finding]:
        source, waiting = self.pipes[key[0]], self.flags[key]
        if waiting and exclusive(waiting[-1].event.branch, event.branch):
            # Whichever arm of a condition is taken sets the flag, behind what that arm has done.
            known = waiting.pop().known
            mine = {**source.known, key[0]: source.count}
            both = {name: max(known.get(name, 0), mine.get(name, 0)) for name in {*known, *mine}}
            waiting.append(_Flag(both, event))
        else:
            waiting.append(_Flag({**source.known, key[0]: source.count}, event))
        yield from ()

    def _wait(self, event: Event, key: Key) -> Iterator[Finding]:
        waiting, last = self.flags[key], self.met.get(key)
        if last is not None and exclusive(last[0].branch, event.branch):
            self.learn(key[1], last[1].known)
        elif waiting:
            flag = waiting.popleft()
            self.met[key] = (event, flag)
            self.learn(key[1], flag.known)
        else:
            yield self._never_set(event, key)

    def _never_set(self, event: Event, key: Key) -> Finding:
        source, target, name = key
        text = f"pipe {target} waits for {name} of pipe {source}, which nothing before has set: it stops here"
        line = Line(f"before {line_of(event)}", flag_line("set_flag", source, target, name))
        edits = (Remove(event.path[-1]),)
        return Finding(
            "flag-never-set", text, event.step.place, event.function.name, add=(line,), edits=edits
        )

    def touch(self, event: Event) -> Iterator[Finding]:
        """Follow a step that touches memory: look for what it would have to wait for."""
        mine = self.pipes[event.pipe]
        conflicts = [
            (found.step.order, name, found)
            for name, other in self.pipes.items()
            if name != event.pipe
            and (found := _latest_conflict(event, other.pending, mine.known.get(name, 0)))
        ]
        # What the last of them has waited for need not be waited for again.
        for _, name, found in sorted(conflicts, key=lambda one: -one[0]):
            if found.step.number > mine.known.get(name, 0):
                yield self._missing_flag(found, event, name)
                self.learn(event.pipe, {**found.step.known, name: found.step.number})
        if event.pipe == "V" and event.step.op in SORTS and self.walk.target.needs_barrier:
            yield from self._barrier(event, mine)
        mine.count += 1
        self.order += 1
        mine.pending.append(_Done(mine.count, self.order, dict(mine.known), event, _span(event)))

    def _missing_flag(self, found: _Conflict, event: Event, source: str) -> Finding:
        before = found.step.event
        name = self.names.take(source, event.pipe)
        first, second, carried = where_to_wait(before, event)
        attributes = {"src": f"PIPE_{source}", "dst": f"PIPE_{event.pipe}", "event": name}
        edits: tuple[Edit, ...] = (
            Insert(first, Step("set_flag", (), (), attributes), behind=True),
            Insert(second, Step("wait_flag", (), (), attributes), behind=carried),
        )
        lines = (
            Line(beside("behind", first), flag_line("set_flag", source, event.pipe, name)),
            Line(
                beside("behind" if carried else "before", second),
                flag_line("wait_flag", source, event.pipe, name),
            ),
        )
        text = (
            f"{event.step.op} (pipe {event.pipe}) {found} by {before.step.op} in "
            f"{line_of(before)} (pipe {source}), and does not wait for it"
        )
        if carried:
            text += " (in the next iteration)"
        return Finding(
            "missing-flag",
            text,
            event.step.place,
            event.function.name,
            other=before.step.place,
            add=lines,
            edits=edits,
        )

    def _barrier(self, event: Event, mine: _Pipe) -> Iterator[Finding]:
        sorts = [one for one in mine.pending if one.event.step.op in SORTS]
        found = _latest_conflict(event, sorts, mine.barrier)
        if found is None:
            return
        before, mine.barrier = found.step.event, found.step.number
        text = (
            f"{event.step.op} {found} by {before.step.op} in {line_of(before)}; "
            f"{self.walk.target.name} needs a barrier of pipe V between them"
        )
        edits = (Insert(event.path[-1], Step("barrier", (), (), {"pipe": "PIPE_V"})),)
        yield Finding(
            "missing-barrier",
            text,
            event.step.place,
            event.function.name,
            other=before.step.place,
            add=(Line(f"before {line_of(event)}", "pto.barrier #pto.pipe<PIPE_V>"),),
            edits=edits,
        )

    def left(self) -> Iterator[Finding]:
        """Find flags that were set and that nothing has waited for."""
        for (source, target, name), flags in self.flags.items():
            for flag in flags:
                text = f"{name} from pipe {source} to pipe {target} is set here, and nothing waits for it"
                place, function = flag.event.step.place, flag.event.function.name
                line = Line(f"behind {line_of(flag.event)}", flag_line("wait_flag", source, target, name))
                edits = (Remove(flag.event.path[-1]),)
                yield Finding("flag-never-waited", text, place, function, add=(line,), edits=edits)


def hazards(walk: Walk) -> Iterator[Finding]:
    """Find what is wrong with the order of the pipes.

    Parameters
    ----------
    walk
        A program that was followed, and that orders its pipes by hand.
    """
    order = _Order(walk)
    for event in walk.events:
        if event.step.op in SYNCHRONISATION:
            yield from order.synchronise(event)
        else:
            yield from order.touch(event)
    if walk.complete:
        yield from order.left()


def _span(event: Event) -> tuple[int, int]:
    """Return the bytes of UB between the first and the last that a step touches."""
    touched = [access for access in (*event.reads, *event.writes) if access.space == "ub"]
    return (
        min((access.start for access in touched), default=0),
        max((access.stop for access in touched), default=0),
    )


_KINDS = ("reads {} that are written", "overwrites {} that are read", "overwrites {} that are written")


def _latest_conflict(event: Event, pending: Reversible[_Done], seen: int) -> _Conflict | None:
    """Return the last step behind number `seen` that touches the same bytes, with the kind of conflict."""
    start, stop = _span(event)
    for step in reversed(pending):
        before = step.event
        if step.number <= seen:
            return None
        if step.span[0] >= stop or start >= step.span[1] or exclusive(before.branch, event.branch):
            continue
        pairs = (
            (event.reads, before.writes),
            (event.writes, before.reads),
            (event.writes, before.writes),
        )
        for kind, (mine, theirs) in zip(_KINDS, pairs, strict=True):
            for access in mine:
                if access.space == "ub" and any(share(access, other) for other in theirs):
                    return _Conflict(step, kind, access)
    return None
