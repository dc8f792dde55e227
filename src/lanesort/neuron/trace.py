"""What a run leaves behind: results, and a trace for a timeline viewer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from lanesort.neuron.dispatch import dispatch_word
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
    dispatch
        How known images of the generation reach the body, a line a step.
    """

    number: int
    name: str
    text: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    dispatch: tuple[str, ...]


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
    generation
        Name of the generation that they ran on.
    """

    instructions: tuple[AnyWord, ...]
    log: tuple[str, ...]
    unpinned: tuple[str, ...]
    warnings: tuple[str, ...]
    prepared: tuple[Prepared, ...]
    generation: str

    @cached_property
    def trace(self) -> tuple[TraceEvent, ...]:
        """One event for each instruction."""
        return tuple(
            TraceEvent(
                number,
                type(word).__name__,
                str(word),
                tuple(map(str, p.reads)),
                tuple(map(str, p.writes)),
                _ways(word, self.generation),
            )
            for number, (word, p) in enumerate(zip(self.instructions, self.prepared, strict=True))
        )


def _ways(word: AnyWord, generation: str) -> tuple[str, ...]:
    found = dispatch_word(word, generation)
    if not found:
        return (f"no kernel table of {generation} is known",)
    return tuple(line for way in found for line in way.steps())


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
                "args": {
                    "text": event.text,
                    "reads": list(event.reads),
                    "writes": list(event.writes),
                    "dispatch": list(event.dispatch),
                },
            }
            for event in trace
        ],
    }
