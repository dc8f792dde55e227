"""What running a `.pto` function gives: arrays, counts, warnings and a trace."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from lanesort.errors import FileError, Place
from lanesort.pto.memory import Access

__all__ = ["PIPES", "PlacedRange", "RunResult", "TraceEvent", "trace_document", "trace_text", "write_trace"]

Array = npt.NDArray[Any]
Counts = tuple[int, int, int, int]

PIPES = ("MTE2", "V", "MTE3", "S")
"""The pipes that steps run on: loads, vector work, stores, scalars."""


@dataclass(frozen=True, slots=True)
class TraceEvent:
    """One executed step.

    Attributes
    ----------
    name
        Operation, as in the text without ``pto.``.
    pipe
        One of `PIPES`.
    place
        Where it stands in the text.
    reads, writes
        Byte ranges of UB and of arguments.
    start_us, duration_us
        When the model ran it, in microseconds from the start; the model's own time, not the
        accelerator's.
    detail
        What else is known, such as pipes of a flag or counts of a merge.
    """

    name: str
    pipe: str
    place: Place | None
    reads: tuple[Access, ...]
    writes: tuple[Access, ...]
    start_us: float
    duration_us: float
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PlacedRange:
    """Where a tile of the text is in UB: bytes `start` up to `stop`."""

    name: str
    start: int
    stop: int
    given: bool


@dataclass(frozen=True, slots=True)
class RunResult:
    """What a run gives.

    Attributes
    ----------
    outputs
        Every array argument by name, as the program left it; the caller's arrays are never
        written.
    changed
        Names of those arrays that the program stored into.
    returned
        What the function returned.
    executed
        The four counts of every merge that wrote them, in the order of execution.
    unpinned
        Ids of the unpinned behaviours that the result depended on, sorted.
    warnings
        What a user should know, one line each.
    trace
        Executed sorts and merges; every step if the run was asked to trace.
    map
        Where the tiles are in UB.
    log
        Lines that ``tprint`` wrote.
    steps
        How many steps were executed.
    """

    outputs: Mapping[str, Array]
    changed: tuple[str, ...]
    returned: tuple[Any, ...]
    executed: tuple[Counts, ...]
    unpinned: tuple[str, ...]
    warnings: tuple[str, ...]
    trace: tuple[TraceEvent, ...]
    map: tuple[PlacedRange, ...]
    log: tuple[str, ...]
    steps: int


def _described(accesses: Sequence[Access]) -> list[str]:
    return [f"{a.space} {a.start} … {a.stop}" for a in accesses]


def trace_document(events: Sequence[TraceEvent]) -> dict[str, Any]:
    """Return events as a Chrome trace-event document, one thread for each pipe.

    Examples
    --------
    >>> event = TraceEvent("tsort32", "V", None, (), (), 0.0, 2.5)
    >>> trace_document([event])["traceEvents"][-1]["dur"]
    2.5
    """
    threads = [
        {"ph": "M", "name": "thread_name", "pid": 1, "tid": tid, "args": {"name": f"pipe {pipe}"}}
        for tid, pipe in enumerate(PIPES, 1)
    ]
    steps = [
        {
            "ph": "X",
            "name": event.name,
            "cat": event.pipe,
            "pid": 1,
            "tid": PIPES.index(event.pipe) + 1,
            "ts": event.start_us,
            "dur": event.duration_us,
            "args": {
                "place": str(event.place) if event.place else "",
                "reads": _described(event.reads),
                "writes": _described(event.writes),
                **event.detail,
            },
        }
        for event in events
    ]
    return {"traceEvents": [*threads, *steps], "displayTimeUnit": "ns"}


def trace_text(events: Sequence[TraceEvent]) -> str:
    """Return events as Chrome trace-event JSON."""
    return json.dumps(trace_document(events), default=_plain)


def write_trace(path: str | Path, events: Sequence[TraceEvent]) -> None:
    """Write events as Chrome trace-event JSON, which Perfetto opens.

    Raises
    ------
    FileError
        If the file can't be written.
    """
    try:
        Path(path).write_text(trace_text(events), encoding="utf-8")
    except OSError as error:
        raise FileError(f"can't write the trace to {path}: {error.strerror}") from error


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else str(value)
