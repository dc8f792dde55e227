"""The pieces that words share: header, events, tensors and addresses."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple

from lanesort.errors import ArgumentTypeError, ArgumentValueError, counted
from lanesort.evidence import fact
from lanesort.neuron.generation import Generation, generation
from lanesort.neuron.part import Number, Piece, Vector
from lanesort.neuron.word import part

__all__ = [
    "INST_WORD_LEN",
    "U8",
    "U16",
    "U32",
    "I16",
    "I32",
    "NIBBLE",
    "Address",
    "Events",
    "Header",
    "Mark",
    "Tensor",
    "UpdateMode",
    "WaitMode",
    "padded",
    "register_address",
    "tensor_part",
]

U8, U16, U32 = Number(8), Number(16), Number(32)
I16, I32 = Number(16, signed=True), Number(32, signed=True)
NIBBLE = Number(4)

INST_WORD_LEN = 0x10
"""Length of a word as its header counts it: sixteen dwords."""


class WaitMode(IntEnum):
    """What an instruction waits for before it starts."""

    NONE = 0
    SEM_EQ = 1
    SEM_LT = 2
    SEM_LE = 3
    SEM_GT = 4
    SEM_GE = 5
    EVENT_SET = 6
    EVENT_SET_THEN_CLEAR = 7
    EVENT_CLEAR = 14
    EVENT_CLEAR_THEN_SET = 15


class UpdateMode(IntEnum):
    """What an instruction signals: when its reads are done, or (`_DONE`) on completion."""

    NONE = 0
    EVENT_SET = 1
    EVENT_CLEAR = 2
    SEM_INC = 3
    SEM_DEC = 4
    SEM_ADD = 5
    SEM_SUB = 7
    SEM_WRITE = 9
    EVENT_SET_DONE = 17
    EVENT_CLEAR_DONE = 18
    SEM_INC_DONE = 19
    SEM_DEC_DONE = 20
    SEM_ADD_DONE = 21
    SEM_SUB_DONE = 23
    SEM_WRITE_DONE = 25


@dataclass(frozen=True, slots=True)
class Header:
    """HEADER, 4 bytes."""

    opcode: int = part(U8)
    inst_word_len: int = part(U8, INST_WORD_LEN)
    debug_cmd: int = part(U8, 0)
    debug_hint: int = part(U8, 0)


@dataclass(frozen=True, slots=True)
class Events:
    """EVENTS, 8 bytes: what to wait for and what to signal; one immediate serves both."""

    wait_mode: int = part(U8, 0)
    wait_idx: int = part(U8, 0)
    update_mode: int = part(U8, 0)
    update_idx: int = part(U8, 0)
    semaphore_value: int = part(U32, 0)


class Mark(IntEnum):
    """Bits 29–31 of an address; the other combinations have no meaning."""

    DIRECT = 0
    INDIRECT = 1
    SHAPE_REGISTER = 2
    REGISTER = 4
    REGISTER_AND_SHAPE = 6


class Address(NamedTuple):
    """ADDR4, 4 bytes, taken apart.

    Attributes
    ----------
    mark
        Bits 29–31, see `Mark`.
    low
        The low 29 bits: an address, or for a register its number.
    """

    mark: int
    low: int

    @classmethod
    def of(cls, raw: int) -> Address:
        """Take a raw address apart."""
        return cls(raw >> 29, raw & 0x1FFFFFFF)


def register_address(number: int) -> int:
    """Return the raw address that names a register.

    Examples
    --------
    >>> hex(register_address(5))
    '0x80000005'
    """
    low: int = U8.check("register number", number)
    return Mark.REGISTER << 29 | low


@dataclass(frozen=True, slots=True)
class Tensor:
    """TENSORnD: a start address with a step and a count for each dimension, innermost first.

    Attributes
    ----------
    start
        Raw ADDR4.
    steps
        Elements from one position to the next, of any sign.
    counts
        Positions.
    """

    start: int
    steps: tuple[int, ...]
    counts: tuple[int, ...]

    @classmethod
    def at(
        cls,
        partition: int,
        offset_bytes: int,
        counts: int | Sequence[int],
        steps: int | Sequence[int] | None = None,
        *,
        on: str | Generation = "cayman",
    ) -> Tensor:
        """Describe a tensor by partition and byte offset.

        Parameters
        ----------
        partition, offset_bytes
            Where the first element of the first partition lies.
        counts
            Positions of each dimension, innermost first.
        steps
            Elements between them; by default dense.
        on
            Generation, whose partition stride makes the address.

        Raises
        ------
        ArgumentTypeError, ArgumentValueError
            For what is no whole number, for more steps than counts, for an unknown generation.

        Examples
        --------
        >>> Tensor.at(0, 0x100, (2, 6))
        Tensor(start=256, steps=(1, 2), counts=(2, 6))
        """
        sizes = _wholes("counts", counts)
        if steps is None:
            dense = [1]
            for size in sizes[:-1]:
                dense.append(dense[-1] * size)
            strides = tuple(dense)
        else:
            strides = _wholes("steps", steps)
        if len(strides) != len(sizes):
            raise ArgumentValueError(
                f"steps has {counted(len(strides), 'dimension')} and counts has {len(sizes)}"
            )
        place = (_whole("partition", partition), _whole("offset_bytes", offset_bytes))
        return cls(generation(on).address(*place), strides, sizes)

    @property
    def elements(self) -> int:
        """Positions in all dimensions together."""
        total = 1
        for count in self.counts:
            total *= count
        return total

    @property
    def reach(self) -> tuple[int, int]:
        """Elements from the start to the lowest and to the furthest position."""
        ends = [step * (count - 1) for step, count in zip(self.steps, self.counts, strict=True) if count]
        return sum(e for e in ends if e < 0), sum(e for e in ends if e > 0)

    def padded(self, name: str, dimensions: int) -> Tensor:
        """Return the tensor with unused outer dimensions of step 1 and count 1."""
        missing = dimensions - len(self.counts)
        if missing < 0:
            raise ArgumentValueError(
                f"{name} has {counted(len(self.counts), 'dimension')}; the word has room for {dimensions}"
            )
        return Tensor(self.start, (*self.steps, *[1] * missing), (*self.counts, *[1] * missing))


def _whole(name: str, value: Any) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise ArgumentTypeError(f"{name} is {value!r}, which is not a whole number")
    return operator.index(value)


def _wholes(name: str, values: Any) -> tuple[int, ...]:
    """Return the numbers of the dimensions; one alone stands for one dimension."""
    if isinstance(values, Iterable) and not isinstance(values, str):
        return tuple(_whole(f"{name}[{at}]", value) for at, value in enumerate(values))
    return (_whole(name, values),)


def tensor_part(dimensions: int) -> Piece:
    """Return the part of a word that holds a tensor: steps and counts as two arrays."""
    return Piece(
        _tensor,
        (("start", U32), ("steps", Vector(dimensions, I16)), ("counts", Vector(dimensions, U16))),
    )


def _tensor(start: int, steps: tuple[int, ...], counts: tuple[int, ...]) -> Tensor:
    return Tensor(start, steps, counts)


def padded(name: str, tensor: Tensor, dimensions: int) -> Tensor:
    """Return a tensor argument with all the dimensions that the word has."""
    if not isinstance(tensor, Tensor):
        raise ArgumentTypeError(
            f"{name} is {tensor!r}; expected a Tensor, for example Tensor.at(0, 0x100, 8)"
        )
    return tensor.padded(name, dimensions)


fact(
    "neuron.machine",
    "A tensor is a 32-bit start address, n signed 16-bit steps, then n 16-bit counts, dimension 0 innermost, "
    "steps and counts in elements.",
    "observed",
    "high",
    "ISA headers, TENSORnD; sizes in seed 000 §3 and seed 003 §3",
)
fact(
    "neuron.machine",
    "The top bits of an address mark a register (0x80), a shape register (0x40), both, or indirection "
    "(0x20); the low 29 bits are the address.",
    "observed",
    "medium",
    "ISA headers, ADDR4",
)
fact(
    "neuron.machine",
    "A word waits before it starts and signals when its reads are done or, with 16 added to the mode, "
    "on completion.",
    "observed",
    "medium",
    "ISA headers, EVENTS",
)
