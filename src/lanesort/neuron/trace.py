"""What a run leaves behind: results, and a trace for a timeline viewer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from lanesort.neuron.machine import Prepared
from lanesort.neuron.opcodes import AnyWord

__all__ = ["Result", "TraceEvent", "chrome_trace"]


@dataclass(frozen=True, slots=True)
class TraceEvent:
    """One instruction that ran.

    Attributes
    ----------
    number
        Its place in the program, from 0.
    name
        Its class.
    text
        Its assembly.
    reads, writes
        Partitions and bytes.
    """

    number: int
    name: str
    text: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]


@dataclass(frozen=True)
class Result:
    """What `NeuronCore.run` gives.

    Attributes
    ----------
    instructions
        The words that ran, in order; those that went through a register with the address put in.
    log
        Lines of the device's build.
    unpinned
        Ids of the unpinned behaviours that this result depended on, sorted.
    warnings
        Reads of bytes that nothing has written, overlaps.
    """

    instructions: tuple[AnyWord, ...]
    log: tuple[str, ...]
    unpinned: tuple[str, ...]
    warnings: tuple[str, ...]
    prepared: tuple[Prepared, ...]

    @cached_property
    def trace(self) -> tuple[TraceEvent, ...]:
        """One event for each instruction."""
        return tuple(
            TraceEvent(
                number, type(word).__name__, str(word), tuple(map(str, p.reads)), tuple(map(str, p.writes))
            )
            for number, (word, p) in enumerate(zip(self.instructions, self.prepared, strict=True))
        )


def chrome_trace(trace: Iterable[TraceEvent]) -> dict[str, Any]:
    """Return a trace as Chrome trace-event JSON, which Perfetto opens.

    Times are instruction numbers: the model knows the order and no durations.
    """
    return {
        "displayTimeUnit": "ms",
        "otherData": {"clock": "instruction number; durations are not modelled"},
        "traceEvents": [
            {
                "name": event.name,
                "ph": "X",
                "ts": event.number,
                "dur": 1,
                "pid": 0,
                "tid": 0,
                "args": {"text": event.text, "reads": list(event.reads), "writes": list(event.writes)},
            }
            for event in trace
        ],
    }
