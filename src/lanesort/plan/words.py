"""What the programs of NeuronCore words have in common: words, steps, and what a file holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lanesort.neuron.generation import GENERATIONS
from lanesort.neuron.instruction import Instruction
from lanesort.plan.job import Job
from lanesort.plan.step import Step

__all__ = ["MOST_WORDS", "WordProgram", "refuse_many"]

MOST_WORDS = 1 << 16
"""More words than this are not planned: split the job by rows or columns."""


@dataclass(frozen=True)
class WordProgram:
    """Words with their steps.

    Attributes
    ----------
    name
        Which of the alternatives it is.
    words
        In the order in which they run.
    steps
        Transfers, words and the host's part.
    """

    name: str
    job: Job
    words: tuple[Instruction, ...]
    steps: tuple[Step, ...]

    suffix = ".bin"
    memory = "SBUF"

    @property
    def memory_bytes(self) -> int:
        """Bytes of one partition."""
        return GENERATIONS[self.job.target].sbuf_bytes

    def encode(self) -> bytes:
        """Return the 64 bytes of each word, one behind the other."""
        return b"".join(word.encode() for word in self.words)


def refuse_many(job: Job, words: int, near: Sequence[int]) -> None:
    """Refuse a job of too many words; a shape of `near` can be planned.

    Raises
    ------
    ArgumentValueError
        If there are more than `MOST_WORDS`.
    """
    if words > MOST_WORDS:
        k = min(job.k, near[-1])
        raise job.refuse(
            f"{words} words are needed, and plans have up to {MOST_WORDS}", shape=tuple(near), k=k
        )
