"""What an instruction sees of the machine that runs it, and what it gives back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from lanesort.engine.protocol import Engine
from lanesort.evidence import Choices, fact
from lanesort.neuron.generation import Generation
from lanesort.neuron.memory import Access

__all__ = ["CORE_PARTITIONS", "Effect", "Machine", "Prepared", "cores"]

Array = npt.NDArray[Any]

CORE_PARTITIONS = 16

fact(
    "neuron.machine",
    "Eight GPSIMD cores serve the partitions, core c those from 16c to 16c + 15.",
    "documented",
    "high",
    "NKI documentation, GPSIMD engine",
)


class Machine(Protocol):
    """The machine, as an instruction may use it: nothing here changes it."""

    @property
    def generation(self) -> Generation:
        """The generation that it models."""

    @property
    def engine(self) -> Engine:
        """Who orders the pairs."""

    @property
    def choices(self) -> Choices:
        """What was chosen where no source says."""

    def load(self, access: Access) -> Array:
        """Return the elements of an access, partitions first; reports what was never written."""

    def room(
        self, shape: tuple[int, ...], values: np.dtype[Any], indices: np.dtype[Any]
    ) -> tuple[Array, Array]:
        """Return arrays to order pairs into; they are the effect's until it has been applied."""

    def immediate(self, field: str, source: int, raw: int, channels: range) -> Array:
        """Return an immediate as one u32 for each of the partitions `channels`."""


@dataclass(frozen=True, slots=True)
class Effect:
    """What an instruction will do once it has succeeded.

    Attributes
    ----------
    writes
        Accesses with the values to store, in order.
    log
        Lines that follow those of decoding.
    """

    writes: tuple[tuple[Access, Array], ...]
    log: tuple[str, ...]


class Prepared(Protocol):
    """A valid word with everything worked out that does not depend on memory."""

    @property
    def reads(self) -> tuple[Access, ...]:
        """What it reads, immediates aside."""

    @property
    def writes(self) -> tuple[Access, ...]:
        """What it writes."""

    def outputs(self, choices: Choices) -> Mapping[str, Access]:
        """Return what it writes under these choices, by the name of each result."""

    @property
    def decode_log(self) -> tuple[str, ...]:
        """Lines of the DEBUG build when the word is decoded."""

    def effect(self, machine: Machine) -> Effect:
        """Work out the effect; raises MachineError if the machine refuses it."""


def cores(start: int, channels: int) -> range:
    """Return the GPSIMD cores that serve the partitions from `start` on; each serves sixteen.

    Examples
    --------
    >>> list(cores(32, 17))
    [2, 3]
    """
    if channels <= 0:
        return range(0)
    return range(start // CORE_PARTITIONS, (start + channels - 1) // CORE_PARTITIONS + 1)
