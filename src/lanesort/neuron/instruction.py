"""What every instruction word has: encoding, rules, text, and raw access to its fields."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, Literal, Self

from lanesort.errors import ArgumentValueError, Violation
from lanesort.neuron.assembly import Syntax
from lanesort.neuron.descriptor import Events, Header
from lanesort.neuron.generation import Generation
from lanesort.neuron.generation import generation as generation_named
from lanesort.neuron.word import layout_of
from lanesort.rule import RuleBook

__all__ = ["MODES", "Instruction", "Mode", "checked_mode"]

Mode = Literal["strict", "device", "literal"]

MODES: tuple[Mode, ...] = ("strict", "device", "literal")
"""How to validate: ``strict`` tests the quoted predicate and the inferred clauses, ``device``
allows besides what the firmware is said to honour, ``literal`` tests the quoted predicate alone."""


def checked_mode(mode: str) -> str:
    """Return a validation mode, or say which there are."""
    if mode not in MODES:
        raise ArgumentValueError(f"mode is {mode!r}; accepted are {', '.join(map(repr, MODES))}")
    return mode


class Instruction:
    """Base of the instruction words; each is a frozen dataclass of raw fields in byte order."""

    __slots__ = ()

    OPCODE: ClassVar[int]
    MNEMONIC: ClassVar[str]
    ABOUT: ClassVar[str]
    RULES: ClassVar[RuleBook[Any, Generation]]
    SYNTAX: ClassVar[Syntax]
    header: Header
    events: Events

    @classmethod
    def raw(cls, **fields: Any) -> Self:
        """Make a word from raw fields, each any number that its bits hold.

        Raises
        ------
        ArgumentValueError, ArgumentTypeError
            For a number that does not fit, or an unknown or missing field.
        """
        return cls._held(layout_of(cls).check(fields))

    @classmethod
    def decode(cls, data: bytes) -> Self:
        """Make a word from its 64 bytes, whatever the opcode.

        Raises
        ------
        DecodeError
            For a wrong length.
        """
        return cls._held(layout_of(cls).decode(data))

    @classmethod
    def _held(cls, fields: dict[str, Any]) -> Self:
        word = object.__new__(cls)
        word._hold(fields)
        return word

    def _hold(self, fields: dict[str, Any]) -> None:
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def replace(self, **fields: Any) -> Self:
        """Return a copy with some raw fields changed."""
        return self.raw(**{**self.fields(), **fields})

    def fields(self) -> dict[str, Any]:
        """Return the raw fields by name, in byte order."""
        return {name: getattr(self, name) for name in layout_of(type(self)).parts}

    def encode(self) -> bytes:
        """Return the 64 bytes of the word."""
        return layout_of(type(self)).encode(self)

    def validate(self, generation: str | Generation, mode: str = "strict") -> tuple[Violation, ...]:
        """Return every broken rule, in the source's order; empty for a valid word.

        Parameters
        ----------
        generation
            Generation by name (``cayman`` …).
        mode
            One of `MODES`.

        Raises
        ------
        ArgumentValueError
            For an unknown generation or mode; never for anything in the word.
        """
        return self.RULES.validate(self, generation_named(generation), checked_mode(mode))

    def assembly(self, on: str | Generation = "cayman") -> str:
        """Return one line of text; `on` is the generation whose map turns addresses into partitions."""
        return self.SYNTAX.show(self, generation_named(on))

    def __str__(self) -> str:
        return self.assembly()

    def __repr__(self) -> str:
        shown = ", ".join(
            f"{f.name}={getattr(self, f.name)!r}"
            for f in dataclasses.fields(self)  # type: ignore[arg-type]  # every subclass is a dataclass
            if getattr(self, f.name) != f.default
        )
        return f"{type(self).__name__}.raw({shown})"
