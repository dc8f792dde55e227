"""One way to lay a word out: fields are declared once, everything else is derived.

A word is a frozen dataclass whose fields, in byte order, carry a `Part` each. From these
come encoding, decoding, the NumPy dtype of many words, the range check of every field and
the diagram. Sub-byte fields that follow one another fill a byte from its low bits up.
"""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lanesort.errors import ArgumentTypeError, DecodeError
from lanesort.neuron.part import Part, Piece, Vector

__all__ = ["WORD_BYTES", "Cell", "Layout", "layout_of", "part"]

WORD_BYTES = 64


def part(kind: Part, default: Any = dataclasses.MISSING, *, note: str = "", shares: str = "") -> Any:
    """Declare a dataclass field as a part of a word.

    Parameters
    ----------
    kind
        What the field is made of.
    default
        The value that it has when nothing is said.
    note
        A few words for diagrams.
    shares
        For fields of less than a byte: the name of the byte that they share.
    """
    return dataclasses.field(default=default, metadata={"part": kind, "note": note, "shares": shares})


@dataclass(frozen=True, slots=True)
class Cell:
    """One number or run of bytes of a word, for diagrams and dumps.

    Attributes
    ----------
    name
        Dotted, for example ``src.steps``.
    bit
        First bit, counted from the low bit of byte 0.
    bits
        Width.
    note
        A few words on its meaning.
    """

    name: str
    bit: int
    bits: int
    note: str

    @property
    def byte(self) -> int:
        """The byte that the cell starts in."""
        return self.bit // 8

    @property
    def range(self) -> str:
        """Byte range, with the bits where it is less than a byte."""
        if self.bits % 8:
            low = self.bit % 8
            return f"{self.byte} [{low + self.bits - 1}:{low}]"
        last = self.byte + self.bits // 8 - 1
        return f"{self.byte}" if last == self.byte else f"{self.byte}–{last}"


Taker = Callable[[Sequence[Any]], Any]


class Layout:
    """Where each field of a word stands, and what follows from it.

    Attributes
    ----------
    parts
        Field name to part, in byte order.
    cells
        Every number of the word with its place; together they cover all its bits.
    dtype
        Structured NumPy dtype of one word; fields that share a byte appear as that byte.
    """

    def __init__(self, record: type[Any]) -> None:
        fields = dataclasses.fields(record)
        self.name = record.__name__
        self.parts: Mapping[str, Part] = {f.name: f.metadata["part"] for f in fields}
        self.defaults = {f.name: f.default for f in fields if f.default is not dataclasses.MISSING}
        self.cells = tuple(_cells(fields))
        self._takers: list[tuple[str, Taker]] = []
        self._givers: list[Callable[[Any], tuple[Any, ...]]] = []
        self._struct, self.dtype = self._compile(fields)

    @property
    def size_bytes(self) -> int:
        """Length of a word in bytes."""
        return self._struct.size

    def _compile(self, fields: Sequence[dataclasses.Field[Any]]) -> tuple[struct.Struct, np.dtype[Any]]:
        codes, columns, at, shift = ["<"], [], 0, 0
        for f in fields:
            kind: Part = f.metadata["part"]
            if kind.bits % 8 == 0:
                self._takers.append((f.name, _taker(kind, at)))
                self._givers.append(_giver(f.name, kind))
                codes.append(kind.code)
                columns.append((f.name, kind.dtype))
                at += kind.items
                continue
            self._takers.append((f.name, _bits_taker(at, shift, kind.bits)))
            shift += kind.bits
            if shift == 8:
                shared = [g for g in fields if g.metadata["shares"] == f.metadata["shares"]]
                self._givers.append(_byte_giver([(g.name, g.metadata["part"].bits) for g in shared]))
                codes.append("B")
                columns.append((f.metadata["shares"], np.dtype("u1")))
                at, shift = at + 1, 0
        return struct.Struct("".join(codes)), np.dtype(columns)

    def encode(self, word: Any) -> bytes:
        """Return the bytes of a word."""
        return self._struct.pack(*(v for give in self._givers for v in give(word)))

    def decode(self, data: bytes) -> dict[str, Any]:
        """Return the fields of a word."""
        if len(data) != self._struct.size:
            raise DecodeError(f"a word has {self._struct.size} bytes; got {len(data)}")
        values = self._struct.unpack(data)
        return {name: take(values) for name, take in self._takers}

    def check(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields of a word, defaults filled in, every number in its range.

        Raises
        ------
        ArgumentValueError, ArgumentTypeError
            For a number that its bits can't hold, or a field that is unknown or missing.
        """
        unknown = [n for n in fields if n not in self.parts]
        if unknown:
            raise ArgumentTypeError(
                f"{self.name} has no field {', '.join(unknown)}; it has {', '.join(self.parts)}"
            )
        merged = {**self.defaults, **fields}
        missing = [n for n in self.parts if n not in merged]
        if missing:
            raise ArgumentTypeError(f"{self.name} needs {', '.join(missing)}")
        return {name: kind.check(name, merged[name]) for name, kind in self.parts.items()}


def _taker(kind: Part, at: int) -> Taker:
    if kind.items == 1 and not isinstance(kind, Vector | Piece):
        return lambda values: values[at]
    end = at + kind.items
    return lambda values: kind.join(values[at:end])


def _bits_taker(at: int, shift: int, bits: int) -> Taker:
    mask = (1 << bits) - 1
    return lambda values: (values[at] >> shift) & mask


def _giver(name: str, kind: Part) -> Callable[[Any], tuple[Any, ...]]:
    return lambda word: kind.split(getattr(word, name))


def _byte_giver(shared: Sequence[tuple[str, int]]) -> Callable[[Any], tuple[Any, ...]]:
    def give(word: Any) -> tuple[Any, ...]:
        byte, shift = 0, 0
        for name, bits in shared:
            byte |= getattr(word, name) << shift
            shift += bits
        return (byte,)

    return give


def _cells(fields: Sequence[dataclasses.Field[Any]]) -> Iterator[Cell]:
    bit = 0
    for f in fields:
        kind: Part = f.metadata["part"]
        inner = kind.parts if isinstance(kind, Piece) else ((None, kind),)
        for name, p in inner:
            yield Cell(f"{f.name}.{name}" if name else f.name, bit, p.bits, f.metadata["note"])
            bit += p.bits


_LAYOUTS: dict[type[Any], Layout] = {}


def layout_of(record: type[Any]) -> Layout:
    """Return the layout that a word's class declares."""
    found = _LAYOUTS.get(record)
    if found is None:
        found = _LAYOUTS[record] = Layout(record)
    return found
