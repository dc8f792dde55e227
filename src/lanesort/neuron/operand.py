"""The tokens that a line of assembly is made of.

A token both prints fields and parses them, so text and word are exact in both directions:
what a word holds beside the usual appears as one more operand, however odd.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Protocol

from lanesort.errors import ArgumentValueError
from lanesort.neuron.descriptor import (
    Address,
    Events,
    Header,
    Mark,
    Tensor,
    UpdateMode,
    WaitMode,
    register_address,
)
from lanesort.neuron.dtype import Dtype
from lanesort.neuron.generation import Generation
from lanesort.neuron.immediate import ImmSource, register_number, signed32

__all__ = [
    "Choice",
    "Dtypes",
    "EventsOperand",
    "Fields",
    "HeaderOperand",
    "ImmediateOperand",
    "NumberOperand",
    "ReservedOperand",
    "TensorOperand",
    "Token",
    "read_address",
    "show_address",
]

Fields = dict[str, Any]


class Token(Protocol):
    """A part of a line that stands for some fields of the word."""

    @property
    def keys(self) -> tuple[str, ...]:
        """Names of the operands that it may print; none for a suffix."""

    def show(self, word: Any, on: Generation) -> Mapping[str, str]:
        """Return the texts to print, by key; a suffix has the key ``""``."""

    def read(self, given: Mapping[str, str], on: Generation) -> Fields:
        """Return fields from the texts that are there; raises ValueError for a bad one."""


def _number(text: str) -> int:
    try:
        return int(text, 0)
    except ValueError:
        raise ArgumentValueError(f"{text!r} is not a number") from None


def _name(enum: type[IntEnum], value: int, prefix: str = "") -> str:
    try:
        return enum(value).name.lower()
    except ValueError:
        return f"{prefix}{value:#x}"


def _value(enum: type[IntEnum], text: str, prefix: str = "") -> int:
    found = enum.__members__.get(text.upper())
    if found is not None:
        return int(found)
    if not re.fullmatch(re.escape(prefix) + r"(0x[0-9a-f]+|\d+)", text, re.IGNORECASE):
        names = ", ".join(n.lower() for n in enum.__members__)
        raise ArgumentValueError(f"{text!r} is none of {names}, and not {prefix}0x…")
    return _number(text[len(prefix) :])


def show_address(raw: int, on: Generation) -> str:
    """Print an address: ``p2+0x40``, ``r5``, or the raw number."""
    mark, low = Address.of(raw)
    if mark == Mark.DIRECT and low < on.psum_base:
        return f"p{on.partition_of(low)}+{on.offset_of(low):#x}"
    if mark == Mark.REGISTER and low < 256:
        return f"r{low}"
    return f"{raw:#x}"


def read_address(text: str, on: Generation) -> int:
    """Parse what `show_address` prints."""
    direct = re.fullmatch(r"p(\d{1,3})\+(0x[0-9a-fA-F]{1,8}|\d{1,9})", text)
    if direct:
        partition, offset = int(direct[1]), _number(direct[2])
        if partition >= on.partitions or offset >= on.partition_stride_bytes:
            raise ArgumentValueError(
                f"{text!r} lies outside {on.partitions} partitions of {on.partition_stride_bytes:#x} bytes"
            )
        return on.address(partition, offset)
    register = re.fullmatch(r"r(\d{1,3})", text)
    return register_address(int(register[1])) if register else _number(text)


@dataclass(frozen=True)
class Dtypes:
    """Suffix ``fp32``, or ``fp32>i32`` when the output type is not the usual one."""

    input: str
    output: str
    usual_output: Dtype | None = None
    keys = ()

    def _usual(self, code: int) -> int:
        return code if self.usual_output is None else int(self.usual_output)

    def show(self, word: Any, on: Generation) -> Mapping[str, str]:
        """Print the types."""
        given, out = getattr(word, self.input), getattr(word, self.output)
        text = _name(Dtype, given, "dt")
        return {"": text if out == self._usual(given) else f"{text}>{_name(Dtype, out, 'dt')}"}

    def read(self, given: Mapping[str, str], on: Generation) -> Fields:
        """Parse the types."""
        if "" not in given:
            raise ArgumentValueError("the element type is missing, for example .fp32")
        first, arrow, second = given[""].partition(">")
        code = _value(Dtype, first, "dt")
        return {self.input: code, self.output: _value(Dtype, second, "dt") if arrow else self._usual(code)}


@dataclass(frozen=True)
class Choice:
    """Suffix that names a field's usual values, and spells the others out."""

    field: str
    names: Mapping[str, int]
    prefix: str
    absent: int
    keys = ()

    def show(self, word: Any, on: Generation) -> Mapping[str, str]:
        """Print the value, unless it is the one that goes without saying."""
        value = getattr(word, self.field)
        if value == self.absent and value not in self.names.values():
            return {}
        name = next((n for n, v in self.names.items() if v == value), f"{self.prefix}{value:#x}")
        return {"": name}

    def owns(self, text: str) -> bool:
        """Say whether a suffix is one of this token's."""
        return text in self.names or re.fullmatch(self.prefix + r"0x[0-9a-f]+", text) is not None

    def read(self, given: Mapping[str, str], on: Generation) -> Fields:
        """Parse the value."""
        text = given.get("")
        if text is None:
            return {self.field: self.absent}
        value = self.names.get(text)
        return {self.field: _number(text[len(self.prefix) :]) if value is None else value}


@dataclass(frozen=True)
class NumberOperand:
    """``key=5``."""

    key: str
    field: str

    @property
    def keys(self) -> tuple[str, ...]:
        """Its one key."""
        return (self.key,)

    def show(self, word: Any, on: Generation) -> Mapping[str, str]:
        """Print the number."""
        return {self.key: str(getattr(word, self.field))}

    def read(self, given: Mapping[str, str], on: Generation) -> Fields:
        """Parse the number."""
        if self.key not in given:
            raise ArgumentValueError(f"operand {self.key}= is missing")
        return {self.field: _number(given[self.key])}


@dataclass(frozen=True)
class TensorOperand:
    """``key=[p0+0x2000, 2:2048 2048:1]``: address, then count:step, innermost first."""

    key: str
    dimensions: int

    @property
    def keys(self) -> tuple[str, ...]:
        """Its one key."""
        return (self.key,)

    def show(self, word: Any, on: Generation) -> Mapping[str, str]:
        """Print the tensor without its unused outer dimensions."""
        tensor: Tensor = getattr(word, self.key)
        pairs = list(zip(tensor.counts, tensor.steps, strict=True))
        while len(pairs) > 1 and pairs[-1] == (1, 1):
            pairs.pop()
        dimensions = " ".join(f"{count}:{step}" for count, step in pairs)
        return {self.key: f"[{show_address(tensor.start, on)}, {dimensions}]"}

    def read(self, given: Mapping[str, str], on: Generation) -> Fields:
        """Parse the tensor."""
        text = given.get(self.key, "")
        start, comma, rest = text.removeprefix("[").removesuffix("]").partition(",")
        pairs = [pair.split(":") for pair in rest.split()]
        if not (text.startswith("[") and comma and pairs and all(len(p) == 2 for p in pairs)):
            raise ArgumentValueError(
                f"operand {self.key}= is {text or 'missing'}; expected [address, count:step …]"
            )
        counts, steps = zip(*pairs, strict=True)
        tensor = Tensor(
            read_address(start.strip(), on), tuple(map(_number, steps)), tuple(map(_number, counts))
        )
        return {self.key: tensor.padded(self.key, self.dimensions)}


@dataclass(frozen=True)
class ImmediateOperand:
    """``key=5`` in the word, ``key=*p0+0x40`` behind a pointer, ``key=r5`` behind a register."""

    key: str
    field: str
    source: str
    signed: bool = False

    @property
    def keys(self) -> tuple[str, ...]:
        """Its one key."""
        return (self.key,)

    def show(self, word: Any, on: Generation) -> Mapping[str, str]:
        """Print the immediate, unless it is 0 in the word."""
        source, value = getattr(word, self.source), getattr(word, self.field)
        raw = value & 0xFFFFFFFF
        if source == ImmSource.INSTRUCTION:
            return {self.key: str(value)} if value else {}
        if source == ImmSource.POINTER:
            return {self.key: f"*{show_address(raw, on)}"}
        if source == ImmSource.REGISTER and register_number(value) is not None:
            return {self.key: f"r{value}"}
        return {self.key: f"{source}:{raw:#x}"}

    def read(self, given: Mapping[str, str], on: Generation) -> Fields:
        """Parse the immediate."""
        text = given.get(self.key, "0")
        source, raw = self._parse(text, on)
        if source != ImmSource.INSTRUCTION and self.signed:
            raw = signed32(raw)
        return {self.source: source, self.field: raw}

    def _parse(self, text: str, on: Generation) -> tuple[int, int]:
        if text.startswith("*"):
            return ImmSource.POINTER, read_address(text[1:], on)
        if text.startswith("r"):
            return ImmSource.REGISTER, _number(text[1:])
        source, colon, raw = text.partition(":")
        return (_number(source), _number(raw)) if colon else (ImmSource.INSTRUCTION, _number(text))


@dataclass(frozen=True)
class HeaderOperand:
    """``hdr=opcode,length,debug_cmd,debug_hint``, when it is not the usual one."""

    opcode: int
    keys = ("hdr",)

    def show(self, word: Any, on: Generation) -> Mapping[str, str]:
        """Print an unusual header."""
        h: Header = word.header
        if h == Header(self.opcode):
            return {}
        return {"hdr": f"{h.opcode:#x},{h.inst_word_len:#x},{h.debug_cmd},{h.debug_hint}"}

    def read(self, given: Mapping[str, str], on: Generation) -> Fields:
        """Parse a header."""
        numbers = [_number(t) for t in given.get("hdr", hex(self.opcode)).split(",")]
        if len(numbers) > 4:
            raise ArgumentValueError(f"hdr= has {len(numbers)} numbers; at most 4")
        return {"header": Header(*numbers)}


@dataclass(frozen=True)
class EventsOperand:
    """``wait=sem_ge:3 update=sem_inc:4 sem=5``, each when there is something to say."""

    keys = ("wait", "update", "sem")

    def show(self, word: Any, on: Generation) -> Mapping[str, str]:
        """Print what is waited for and signalled."""
        e: Events = word.events
        shown = {}
        if (e.wait_mode, e.wait_idx) != (0, 0):
            shown["wait"] = f"{_name(WaitMode, e.wait_mode)}:{e.wait_idx}"
        if (e.update_mode, e.update_idx) != (0, 0):
            shown["update"] = f"{_name(UpdateMode, e.update_mode)}:{e.update_idx}"
        if e.semaphore_value:
            shown["sem"] = str(e.semaphore_value)
        return shown

    def read(self, given: Mapping[str, str], on: Generation) -> Fields:
        """Parse what is waited for and signalled."""
        wait, _, wait_idx = given.get("wait", "none:0").partition(":")
        update, _, update_idx = given.get("update", "none:0").partition(":")
        return {
            "events": Events(
                _value(WaitMode, wait),
                _number(wait_idx),
                _value(UpdateMode, update),
                _number(update_idx),
                _number(given.get("sem", "0")),
            )
        }


@dataclass(frozen=True)
class ReservedOperand:
    """``key=hex``, when reserved bytes are not zero."""

    field: str
    length: int

    @property
    def keys(self) -> tuple[str, ...]:
        """Its one key."""
        return (self.field,)

    def show(self, word: Any, on: Generation) -> Mapping[str, str]:
        """Print bytes that are not all zero."""
        held: bytes = getattr(word, self.field)
        return {self.field: held.hex()} if any(held) else {}

    def read(self, given: Mapping[str, str], on: Generation) -> Fields:
        """Parse the bytes."""
        text = given.get(self.field, "00" * self.length)
        try:
            return {self.field: bytes.fromhex(text)}
        except ValueError:
            raise ArgumentValueError(f"{self.field}={text} is not hexadecimal") from None
