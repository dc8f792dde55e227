"""Immediates: a value in the word, behind a pointer, or behind a register."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from lanesort.evidence import fact, unpinned
from lanesort.neuron.descriptor import I32, U8, U32
from lanesort.neuron.generation import BOTH, Generation, generation

__all__ = [
    "IMM_POINTER",
    "ImmSource",
    "Pointer",
    "Register",
    "immediate_fields",
    "register_number",
    "signed32",
]


class ImmSource(IntEnum):
    """IMM_SRC: where an immediate is found."""

    INSTRUCTION = 0
    POINTER = 1
    REGISTER = 2


@dataclass(frozen=True, slots=True)
class Pointer:
    """An immediate that lies in SBUF, at a raw address."""

    address: int

    @classmethod
    def at(cls, partition: int, offset_bytes: int, *, on: str | Generation = "cayman") -> Pointer:
        """Point to a byte of a partition.

        Examples
        --------
        >>> Pointer.at(0, 64)
        Pointer(address=64)
        """
        return cls(generation(on).address(partition, offset_bytes))


@dataclass(frozen=True, slots=True)
class Register:
    """An immediate that an address register leads to."""

    number: int


def immediate_fields(name: str, value: int | Pointer | Register, *, signed: bool) -> tuple[int, int]:
    """Return source and raw number of an immediate."""
    if isinstance(value, Pointer):
        raw = U32.check(f"{name}.address", value.address)
        return ImmSource.POINTER, signed32(raw) if signed else raw
    if isinstance(value, Register):
        return ImmSource.REGISTER, U8.check(f"{name}.number", value.number)
    return ImmSource.INSTRUCTION, (I32 if signed else U32).check(name, value)


def register_number(raw: int) -> int | None:
    """Return the register that a raw immediate names, or None if its upper bytes are not zero."""
    return raw if 0 <= raw < 256 else None


def signed32(raw: int) -> int:
    """Read 32 bits as a signed number.

    Examples
    --------
    >>> signed32(0xFFFFFFFF)
    -1
    """
    return ((raw + (1 << 31)) & 0xFFFFFFFF) - (1 << 31)


fact(
    "neuron.machine",
    "IMM_SRC is 0 for the instruction, 1 for a pointer, 2 for a register; a register immediate is its number "
    "and three zero bytes.",
    "observed",
    "high",
    "seed 000 §3, seed 003 §3.2; another enum of the same family swaps 0 and 1",
)

unpinned(
    "imm.register",
    BOTH,
    "whether the register of IMM_SRC 2 holds a pointer, as its name says, or the value (“a reg num”)",
    "seed 000 §3, header note",
    {"pointer": "the register holds a pointer to the value", "value": "the register holds the value"},
)
unpinned(
    "imm.pointer-values",
    BOTH,
    "whether a pointer leads to one value for each partition or to one for all",
    "seed 000 §3 (“u32 values”)",
    {
        "each": "each processed partition reads its own",
        "first": "all use the one of the first processed partition",
    },
)
IMM_POINTER = unpinned(
    "imm.pointer",
    BOTH,
    "which partitions a pointer immediate may lie on: the body of the check is not public",
    "no source",
    {"start-partition": "the documented start-partition rule of NKI"},
)
