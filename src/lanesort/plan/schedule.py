"""When the steps of a plan would run: in order on each pipe, and behind what they depend on.

A step starts when its pipe is free, when what it reads is written, and when nothing that
still runs reads or writes what it writes. Phases follow one another. Each step is taken
once, however often it runs, so that the schedule shows one turn of every loop.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from lanesort.plan.cost import Rate, step_cycles
from lanesort.plan.step import PLACES, Span, Step

__all__ = ["Life", "Slot", "busy_text", "lives", "schedule", "trace_document"]


class Slot(NamedTuple):
    """A step with its first cycle and the one behind its last."""

    step: Step
    start: float
    stop: float


def busy_text(slots: Sequence[Slot]) -> str:
    """Return in one line how long one turn of every loop takes, and how busy each place is.

    Examples
    --------
    >>> busy_text([Slot(Step("tload", "", "MTE2", 1), 0, 10), Slot(Step("tsort32", "", "V", 1), 10, 40)])
    '40 cycles for one turn of every loop; MTE2 25 %, V 75 %'
    """
    end = max((slot.stop for slot in slots), default=0)
    if not end:
        return ""
    shares = [
        f"{place} {sum(s.stop - s.start for s in slots if s.step.place == place) / end:.0%}".replace(
            "%", " %"
        )
        for place in PLACES
        if any(slot.step.place == place for slot in slots)
    ]
    return f"{end:,.0f} cycles for one turn of every loop; {', '.join(shares)}"


class Life(NamedTuple):
    """On-chip bytes that hold something: from the write to the last read of it."""

    span: Span
    op: str
    start: float
    stop: float


def _overlap(first: Span, second: Span) -> bool:
    return first.lane == second.lane and first.start < second.stop and second.start < first.stop


def _meet(first: Iterable[Span], second: Sequence[Span]) -> bool:
    return any(_overlap(a, b) for a in first for b in second)


def schedule(steps: Sequence[Step], rates: Mapping[str, Rate], most: int = 300) -> tuple[Slot, ...]:
    """Return when the first `most` steps run.

    Examples
    --------
    >>> from lanesort.plan.cost import RATES
    >>> tile = Span(0, 128)
    >>> load = Step("tload", "", "MTE2", 128, writes=(tile,))
    >>> sort = Step("tsort32", "", "V", 1, reads=(tile,))
    >>> [(slot.start, slot.stop) for slot in schedule([load, sort, load], RATES)]
    [(0, 102.0), (102.0, 110.0), (110.0, 212.0)]
    """
    slots: list[Slot] = []
    free: dict[str, float] = {}
    begin, phase = 0.0, None
    for step in steps[:most]:
        if step.phase != phase:
            begin, phase = max((slot.stop for slot in slots), default=0), step.phase
        start = max(begin, free.get(step.place, 0))
        for slot in slots:
            if slot.stop > start and _depends(step, slot.step):
                start = slot.stop
        stop = start + step_cycles(step, rates)
        free[step.place] = stop
        slots.append(Slot(step, start, stop))
    return tuple(slots)


def _depends(step: Step, before: Step) -> bool:
    return _meet(step.writes, (*before.writes, *before.reads)) or _meet(step.reads, before.writes)


def lives(slots: Sequence[Slot], lane: int = 0) -> tuple[Life, ...]:
    """Return which bytes of a lane hold something, and how long.

    Examples
    --------
    >>> tile = Span(0, 128)
    >>> load, sort = Step("tload", "", "MTE2", 1, writes=(tile,)), Step("tsort32", "", "V", 1, reads=(tile,))
    >>> [(life.start, life.stop) for life in lives([Slot(load, 0, 5), Slot(sort, 5, 9)])]
    [(0, 9)]
    """
    return tuple(
        Life(span, slot.step.op, slot.start, _last_use(span, slots[number:]))
        for number, slot in enumerate(slots)
        for span in slot.step.writes
        if span.lane == lane
    )


def _last_use(span: Span, slots: Sequence[Slot]) -> float:
    stop = slots[0].stop
    for slot in slots[1:]:
        if _meet([span], slot.step.reads):
            stop = max(stop, slot.stop)
        if any(_overlap(span, written) and written.start <= span.start for written in slot.step.writes):
            break
    return stop


def trace_document(slots: Sequence[Slot]) -> dict[str, Any]:
    """Return a schedule as a Chrome trace-event document, which Perfetto opens; a cycle is a microsecond.

    Examples
    --------
    >>> slot = Slot(Step("tsort32", "256 blocks", "V", 256), 0, 518)
    >>> trace_document([slot])["traceEvents"][-1]["dur"]
    518
    """
    used = [place for place in PLACES if any(slot.step.place == place for slot in slots)]
    threads = [
        {"ph": "M", "name": "thread_name", "pid": 1, "tid": tid, "args": {"name": place}}
        for tid, place in enumerate(used, 1)
    ]
    events = [
        {
            "ph": "X",
            "name": slot.step.op,
            "cat": slot.step.phase or "plan",
            "pid": 1,
            "tid": used.index(slot.step.place) + 1,
            "ts": slot.start,
            "dur": slot.stop - slot.start,
            "args": {"what": slot.step.what, "times": slot.step.times, "bytes": slot.step.bytes},
        }
        for slot in slots
    ]
    clock = "cycles by the plan's cost model, one turn of every loop"
    return {"displayTimeUnit": "ms", "otherData": {"clock": clock}, "traceEvents": [*threads, *events]}
