"""Lowering to PTO: a job becomes a `.pto` kernel for one core, or for many.

Three strategies. ``whole``: a row fits the unified buffer and is sorted there. ``keep-best``:
a longer row is sorted in chunks, and the best k pairs so far are merged with those of each
chunk. ``spill``: sorted chunks go to global memory and are merged four at a time through
windows that are refilled (see `lanesort.plan.windows`). Each comes in variants by the number
of rounds of four before runs are merged as lists. Rows are divided among the blocks of a
launch; loads are double buffered.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from lanesort import pto
from lanesort.engine.protocol import Engine
from lanesort.plan.job import Job
from lanesort.plan.layout import STRATEGIES, Layout, Strategy, layout_of
from lanesort.plan.outcome import Outcome
from lanesort.plan.step import Step
from lanesort.plan.strategies import JobKernel
from lanesort.plan.tree import Tree, most_rounds
from lanesort.pto.target import find_target

__all__ = ["PtoProgram", "lowerings"]

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class PtoProgram:
    """A kernel with its steps.

    Attributes
    ----------
    name
        Strategy and number of rounds.
    text
        The `.pto` module.
    steps
        Instructions and transfers, for cost and report.
    work_elements
        Elements of global memory that one block needs for sorted chunks.
    tree
        How a row, or a chunk, is merged.
    chunk
        Elements that are sorted at a time.
    stop_bytes
        The first byte behind all tiles.
    """

    name: str
    job: Job
    text: str
    steps: tuple[Step, ...]
    work_elements: int
    tree: Tree | None
    chunk: int
    stop_bytes: int

    suffix = ".pto"
    memory = "UB"

    @property
    def memory_bytes(self) -> int:
        """Bytes of the unified buffer; what the kernel uses where that is not limited."""
        return find_target(self.job.target).ub_bytes or self.stop_bytes

    @cached_property
    def module(self) -> Any:
        """The parsed text."""
        return pto.parse(self.text)

    def encode(self) -> bytes:
        """Return what is written to a file."""
        return self.text.encode()

    def run(self, x: Array, engine: str | Engine) -> Outcome:
        """Run the kernel on an input of the job's shape."""
        job = self.job
        shape = (job.rows, job.k)
        arguments = {
            "scores": x.reshape(job.rows, job.width),
            "values": np.zeros(shape, job.dtype),
            "indices": np.zeros(shape, np.int32),
        }
        if self.work_elements:
            arguments["work"] = np.zeros(self.work_elements, job.dtype)
        if job.is_empty:
            return Outcome(arguments["values"], arguments["indices"].astype(np.int64))
        result = pto.run(self.module, arguments, engine=engine, choices=job.given)
        counts: dict[str, int] = {}
        for event in result.trace:
            counts[event.name] = counts.get(event.name, 0) + 1
        indices = result.outputs["indices"].astype(np.int64)
        return Outcome(result.outputs["values"], indices, result.unpinned, result.warnings, counts)


def lowerings(job: Job) -> Iterator[PtoProgram]:
    """Yield every program that does the job; they differ in cost alone.

    Examples
    --------
    >>> job = Job.of("top_k", (16, 8192), "float32", "a5", k=2048)
    >>> [program.name for program in lowerings(job)][:2]
    ['whole, 4 rounds', 'whole, 3 rounds']
    """
    if job.is_empty:
        yield PtoProgram("nothing to do", job, JobKernel(job).kernel_text(), (), 0, None, 0, 0)
        return
    target = find_target(job.target)
    for strategy in STRATEGIES:
        layout = layout_of(job, target, strategy)
        if layout is None:
            continue
        most = most_rounds(layout.chunk, target.list_pairs_limit)
        for rounds in range(most, max(most - 4, -1), -1):
            program = _lower(job, strategy, layout, rounds)
            if program is not None:
                yield program
        if strategy == "whole":
            return


def _lower(job: Job, strategy: Strategy, layout: Layout, rounds: int) -> PtoProgram | None:
    lowering = JobKernel(job, layout, rounds)
    trees = [lowering.tree(n) for n in {layout.chunk, job.width % layout.chunk} if n]
    if None in trees:
        return None
    write = {"whole": lowering.whole, "keep-best": lowering.keep_best, "spill": lowering.spill}[strategy]
    write()
    name = f"{strategy}, {rounds} round{'' if rounds == 1 else 's'}"
    work = 2 * job.width * lowering.kernel.pair_width if strategy == "spill" else 0
    kernel = lowering.kernel
    text, tree = lowering.kernel_text(), lowering.tree(layout.chunk)
    return PtoProgram(name, job, text, tuple(kernel.steps), work, tree, layout.chunk, kernel.stop_bytes)
