"""What a probe is: a program, its input, and the result under every choice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Outcome", "Probe"]

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result under one choice.

    Attributes
    ----------
    choice
        The choice on offer, or in words what else the device may do.
    meaning
        What it means, in a line.
    result
        Unsigned integers of the width of the elements; 0xA5 bytes where nothing was written.
    on_offer
        Whether ``choices=`` takes the choice; if not, the outcome only explains a result.
    """

    choice: str
    meaning: str
    result: Array
    on_offer: bool = True


@dataclass(frozen=True, slots=True)
class Probe:
    """A program with input whose result decides an unpinned behaviour.

    Attributes
    ----------
    id
        Of the unpinned behaviour.
    question
        What is open.
    runs_on
        Generation or target of the device.
    program
        A word's 64 bytes, or the text of a `.pto` kernel.
    listing
        The program for a reader.
    inputs
        Arrays that the device holds before, by name; for a word ``sbuf`` of shape
        (partitions, bytes) and perhaps ``registers``.
    readout
        What of the device's memory is the result, in words.
    outcomes
        One for each choice; those on offer first.
    """

    id: str
    question: str
    runs_on: str
    program: bytes | str
    listing: str
    inputs: Mapping[str, Array]
    readout: str
    outcomes: tuple[Outcome, ...]

    @property
    def tells_apart(self) -> bool:
        """Whether every choice on offer has a result of its own, and there is another."""
        offered = [outcome.result.tobytes() for outcome in self.outcomes if outcome.on_offer]
        everything = {outcome.result.tobytes() for outcome in self.outcomes}
        return len(set(offered)) == len(offered) and len(everything) > 1

    def consistent(self, result: Array) -> tuple[Outcome, ...]:
        """Return the outcomes that a device's result agrees with, bit for bit."""
        given = np.ascontiguousarray(result).tobytes()
        return tuple(outcome for outcome in self.outcomes if outcome.result.tobytes() == given)
