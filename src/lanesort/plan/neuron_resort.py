"""Top-k by Sort words twice: the best k pairs of all pieces are sorted once more, instead of merged.

Where the candidates of a row fit one Sort, the host only gathers them. They stand in the
order of their pieces, so that a stable second Sort leaves equal values in the order of
their positions; its own positions say which candidates were chosen.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from lanesort.engine.protocol import Engine
from lanesort.neuron.generation import GENERATIONS
from lanesort.plan.job import Job
from lanesort.plan.neuron_sort import Array, Piece, SortProgram, sort_lowerings
from lanesort.plan.outcome import Outcome
from lanesort.plan.step import Step
from lanesort.plan.words import WordProgram

__all__ = ["ResortProgram", "resort_lowerings"]


@dataclass(frozen=True)
class ResortProgram(WordProgram):
    """Sort words for the pieces of a job, and for the candidates that they leave.

    Attributes
    ----------
    first, second
        The programs of the job, and of the same job on the candidates.
    """

    first: SortProgram
    second: SortProgram

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The pieces of both programs, one for each word."""
        return self.first.pieces + self.second.pieces

    def run(self, x: Array, engine: str | Engine) -> Outcome:
        """Run the words on an input of the job's shape, and those of the second program on what is left."""
        found = self.first.sort_pieces(x, engine)
        values = np.concatenate([values for values, _ in found.runs.values()], axis=1)
        indices = np.concatenate([indices for _, indices in found.runs.values()], axis=1)
        again = self.second.run(values, engine)
        unpinned = tuple(sorted(found.unpinned | set(again.unpinned)))
        warnings = (*found.warnings, *again.warnings)
        chosen = np.take_along_axis(indices, again.indices, axis=1)
        return Outcome(again.values, chosen, unpinned, warnings, {"Sort": len(self.words)})


def resort_lowerings(job: Job) -> Iterator[SortProgram | ResortProgram]:
    """Yield the programs of `sort_lowerings`, and behind each the one that sorts again, where it fits.

    Examples
    --------
    >>> job = Job.of("top_k", 128256, "float32", "cayman", k=3)
    >>> [(program.name, len(program.words)) for program in resort_lowerings(job)][:2]
    [('pieces of 2048', 63), ('pieces of 2048, sorted again', 64)]
    """
    for first in sort_lowerings(job):
        yield first
        starts = {piece.start: min(job.k, piece.length) for piece in first.pieces}
        candidates = sum(starts.values())
        room = GENERATIONS[job.target].sort_ram_bytes // job.dtype.itemsize
        if job.op == "top_k" and len(starts) > 1 and candidates <= room:
            yield _with_second(first, candidates)


def _with_second(first: SortProgram, candidates: int) -> ResortProgram:
    job = first.job
    second = next(iter(sort_lowerings(job.replace(shape=(*job.shape[:-1], candidates)))))
    steps = [step for step in first.steps if step.place != "host"]
    moved = job.rows * candidates
    gather = Step("concatenate", f"{candidates} candidates a row", "host", moved, phase="candidates")
    steps += [gather, *(_again(step) for step in second.steps)]
    return ResortProgram(
        f"{first.name}, sorted again", job, first.words + second.words, tuple(steps), first, second
    )


def _again(step: Step) -> Step:
    return replace(step, phase=f"again, {step.phase}")
