"""One step of a plan: what runs where, how often, and what it touches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["PLACES", "Span", "Step"]

PLACES = ("MTE2", "V", "MTE3", "S", "DMA in", "POOL", "DMA out", "host")
"""Where steps run: the pipes of a PTO core; transfers, GPSIMD and host of a NeuronCore."""


class Span(NamedTuple):
    """Bytes of on-chip memory: UB, or one partition of SBUF. `lane` is the partition."""

    start: int
    stop: int
    lane: int = 0


@dataclass(frozen=True, slots=True)
class Step:
    """One instruction, transfer or host action of a plan.

    Attributes
    ----------
    op
        ``tsort32``, ``tmrgsort``, ``tload``, ``Sort``, ``merge`` …
    what
        One line for a reader.
    place
        One of `PLACES`.
    units
        What its cost grows with: blocks of 32 for ``tsort32``, pairs for merges, elements for
        NeuronCore words and the host, bytes for everything else.
    times
        How often it runs in the whole job. For a loop whose length depends on the data it is
        the most.
    bytes
        Bytes that it moves each time between memories.
    reads, writes
        On-chip bytes.
    phase
        Which part of the plan it belongs to.
    """

    op: str
    what: str
    place: str
    units: int
    times: int = 1
    bytes: int = 0
    reads: tuple[Span, ...] = ()
    writes: tuple[Span, ...] = ()
    phase: str = ""
