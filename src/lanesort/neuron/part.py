"""What the fields of a word are made of: numbers, bytes, rows of numbers, nested records."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lanesort.errors import ArgumentTypeError, ArgumentValueError, counted

__all__ = ["Bytes", "Number", "Part", "Piece", "Vector"]

_CODES = {
    (8, False): "B",
    (16, False): "H",
    (32, False): "I",
    (8, True): "b",
    (16, True): "h",
    (32, True): "i",
}


@dataclass(frozen=True, slots=True)
class Number:
    """An integer of 8, 16 or 32 bits, or an unsigned one of fewer than 8."""

    bits: int
    signed: bool = False

    @property
    def code(self) -> str:
        """The `struct` code; a part of a byte shares the code of that byte."""
        return _CODES[max(self.bits, 8), self.signed]

    items = 1

    @property
    def dtype(self) -> Any:
        """The NumPy type."""
        return np.dtype(f"<{'i' if self.signed else 'u'}{max(self.bits, 8) // 8}")

    @property
    def limits(self) -> tuple[int, int]:
        """Smallest and largest number that fits."""
        if self.signed:
            return -(1 << (self.bits - 1)), (1 << (self.bits - 1)) - 1
        return 0, (1 << self.bits) - 1

    def join(self, values: Sequence[Any]) -> Any:
        """Make the field from its `struct` values."""
        return values[0]

    def split(self, value: Any) -> tuple[Any, ...]:
        """Take the field apart into its `struct` values."""
        return (value,)

    def check(self, name: str, value: Any) -> Any:
        """Return the number as an int, or say that it does not fit."""
        try:
            number = value.__index__()
        except AttributeError:
            raise ArgumentTypeError(f"{name} is {value!r}, which is not an integer") from None
        low, high = self.limits
        if not low <= number <= high:
            raise ArgumentValueError(f"{name} is {number}; its {self.bits} bits hold {low} to {high}")
        return number


@dataclass(frozen=True, slots=True)
class Bytes:
    """Raw bytes, kept as they are."""

    length: int

    items = 1

    @property
    def bits(self) -> int:
        """Width in bits."""
        return 8 * self.length

    @property
    def code(self) -> str:
        """The `struct` code."""
        return f"{self.length}s"

    @property
    def dtype(self) -> Any:
        """The NumPy type."""
        return np.dtype(("u1", (self.length,)))

    def join(self, values: Sequence[Any]) -> Any:
        """Make the field from its `struct` values."""
        return values[0]

    def split(self, value: Any) -> tuple[Any, ...]:
        """Take the field apart into its `struct` values."""
        return (value,)

    def check(self, name: str, value: Any) -> Any:
        """Return the bytes, or say that there are too few or too many."""
        if not isinstance(value, bytes | bytearray):
            raise ArgumentTypeError(f"{name} is {value!r}, which is not bytes")
        if len(value) != self.length:
            raise ArgumentValueError(
                f"{name} has {counted(len(value), 'byte')}; it takes exactly {self.length}"
            )
        return bytes(value)


@dataclass(frozen=True, slots=True)
class Vector:
    """Several numbers of one kind in a row, as a tuple."""

    length: int
    number: Number

    @property
    def items(self) -> int:
        """How many `struct` values it takes."""
        return self.length

    @property
    def bits(self) -> int:
        """Width in bits."""
        return self.length * self.number.bits

    @property
    def code(self) -> str:
        """The `struct` code."""
        return f"{self.length}{self.number.code}"

    @property
    def dtype(self) -> Any:
        """The NumPy type."""
        return np.dtype((self.number.dtype, (self.length,)))

    def join(self, values: Sequence[Any]) -> Any:
        """Make the field from its `struct` values."""
        return tuple(values)

    def split(self, value: Any) -> tuple[Any, ...]:
        """Take the field apart into its `struct` values."""
        return tuple(value)

    def check(self, name: str, value: Any) -> Any:
        """Return the numbers as a tuple of ints, or say which does not fit."""
        numbers = tuple(value)
        if len(numbers) != self.length:
            raise ArgumentValueError(
                f"{name} has {counted(len(numbers), 'number')}; it takes exactly {self.length}"
            )
        return tuple(self.number.check(f"{name}[{i}]", n) for i, n in enumerate(numbers))


@dataclass(frozen=True, slots=True)
class Piece:
    """A nested record: a frozen dataclass made from parts."""

    make: Callable[..., Any]
    parts: tuple[tuple[str, Number | Vector], ...]

    @classmethod
    def of(cls, record: type[Any]) -> Piece:
        """Take the parts from a dataclass that declares them."""
        return cls(record, tuple(_declared(record)))

    @property
    def items(self) -> int:
        """How many `struct` values it takes."""
        return sum(p.items for _, p in self.parts)

    @property
    def bits(self) -> int:
        """Width in bits."""
        return sum(p.bits for _, p in self.parts)

    @property
    def code(self) -> str:
        """The `struct` code."""
        return "".join(p.code for _, p in self.parts)

    @property
    def dtype(self) -> Any:
        """The NumPy type."""
        return np.dtype([(name, p.dtype) for name, p in self.parts])

    def join(self, values: Sequence[Any]) -> Any:
        """Make the record from its `struct` values."""
        fields, at = [], 0
        for _, p in self.parts:
            fields.append(p.join(values[at : at + p.items]))
            at += p.items
        return self.make(*fields)

    def split(self, value: Any) -> tuple[Any, ...]:
        """Take the record apart into its `struct` values."""
        return tuple(v for name, p in self.parts for v in p.split(getattr(value, name)))

    def check(self, name: str, value: Any) -> Any:
        """Return the record with every number checked."""
        if not all(hasattr(value, n) for n, _ in self.parts):
            kind = getattr(self.make, "__name__", "record")
            raise ArgumentTypeError(f"{name} is {value!r}, which is not a {kind}")
        return self.make(*(p.check(f"{name}.{n}", getattr(value, n)) for n, p in self.parts))


Part = Number | Bytes | Vector | Piece


def _declared(record: type[Any]) -> Iterator[tuple[str, Any]]:
    for f in dataclasses.fields(record):
        yield f.name, f.metadata["part"]
