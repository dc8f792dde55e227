"""What lies where in the unified buffer while rows or chunks are sorted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from lanesort.plan.job import Job
from lanesort.plan.tree import BLOCK
from lanesort.pto.operand import BLOCK_BYTES, round_up
from lanesort.pto.target import Target
from lanesort.pto.tile import PAIR_BYTES

__all__ = ["CHUNKS", "STRATEGIES", "Layout", "Strategy", "layout_of"]

Strategy = Literal["whole", "keep-best", "spill"]
STRATEGIES: tuple[Strategy, ...] = ("whole", "keep-best", "spill")

CHUNKS = (8192, 4096, 2048, 1024)
"""Sizes of chunks: the longest is four lists of 2048 pairs, as longer ones are not counted by a merge."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Addresses in UB: two buffers of pairs, two of values, and the best pairs so far.

    While a chunk is sorted, its positions and the completed tail lie in the second buffer.
    """

    chunk: int
    pairs: int
    buffers: tuple[int, int]
    sources: tuple[int, int]
    best: int
    stop: int

    @classmethod
    def of(cls, chunk: int, itemsize: int, best_pairs: int) -> Layout:
        """Lay out chunks of `chunk` values beside `best_pairs` pairs that are kept."""
        pairs = round_up(max(chunk, 2 * best_pairs), BLOCK)
        source = round_up(chunk, BLOCK) * itemsize
        second = pairs * PAIR_BYTES
        first_source = 2 * second
        best = first_source + 2 * source
        stop = best + round_up(best_pairs * PAIR_BYTES, BLOCK_BYTES)
        return cls(chunk, pairs, (0, second), (first_source, first_source + source), best, stop)


def layout_of(job: Job, target: Target, strategy: Strategy) -> Layout | None:
    """Return the layout of the largest chunks that fit, or None if the strategy does not suit the job.

    Examples
    --------
    >>> from lanesort.pto.target import find_target
    >>> job = Job.of("top_k", 100000, "float32", "a2a3", k=4000)
    >>> layout_of(job, find_target("a2a3"), "keep-best").chunk
    4096
    """
    room = target.ub_bytes
    sizes = [size for size in CHUNKS if size < job.width]
    if strategy == "whole":
        sizes = [job.width] if job.width <= CHUNKS[0] else []
    kept = job.k if strategy == "keep-best" else 0
    limit = target.list_pairs_limit
    for size in sizes:
        layout = Layout.of(size, job.dtype.itemsize, kept)
        fits = room is None or layout.stop <= room
        if fits and kept <= size and (limit is None or kept <= limit):
            return layout
    return None
