"""One line of text for a word: a mnemonic with suffixes, and named operands.

Each instruction declares a `Syntax` over the tokens of `lanesort.neuron.operand`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lanesort.errors import ArgumentValueError, Place, ProgramError
from lanesort.neuron.generation import Generation
from lanesort.neuron.operand import Choice, Dtypes, Fields, Token
from lanesort.neuron.word import Layout

__all__ = ["Syntax"]

LONGEST_LINE = 4096


@dataclass(frozen=True)
class Syntax:
    """The line of one instruction: mnemonic, element types, further suffixes, operands."""

    mnemonic: str
    dtypes: Dtypes
    choices: tuple[Choice, ...]
    operands: Sequence[Token]

    def show(self, word: Any, on: Generation) -> str:
        """Print a word."""
        tokens: tuple[Token, ...] = (self.dtypes, *self.choices)
        suffixes = [token.show(word, on).get("") for token in tokens]
        head = ".".join([self.mnemonic, *(s for s in suffixes if s)])
        shown = [f"{k}={v}" for t in self.operands for k, v in t.show(word, on).items()]
        return " ".join([head, *shown])

    def read(self, text: str, layout: Layout, on: Generation, place: Place) -> Fields:
        """Parse a line into checked fields.

        Raises
        ------
        ProgramError
            With the place of the token that is wrong.
        """
        head, operands = _split(text, place)
        fields: Fields = {}
        try:
            fields |= self._suffixes(head[1:], on)
            left = dict(operands)
            for token in self.operands:
                fields |= token.read({k: left.pop(k) for k in token.keys if k in left}, on)
            if left:
                accepted = ", ".join(k for t in self.operands for k in t.keys)
                raise ArgumentValueError(f"no operand {', '.join(left)}; accepted are {accepted}")
            return layout.check(fields)
        except ValueError as error:
            raise ProgramError(str(error), place, text) from None

    def _suffixes(self, given: Sequence[str], on: Generation) -> Fields:
        if not given:
            return self.dtypes.read({}, on)
        fields = self.dtypes.read({"": given[0]}, on)
        left = list(given[1:])
        for choice in self.choices:
            own = [s for s in left if choice.owns(s)]
            if len(own) > 1:
                raise ArgumentValueError(f"suffixes .{' .'.join(own)} exclude one another")
            left = [s for s in left if s not in own]
            fields |= choice.read({"": own[0]} if own else {}, on)
        if left:
            accepted = ", ".join(f".{n}" for c in self.choices for n in c.names)
            raise ArgumentValueError(f"no suffix .{left[0]}; accepted are {accepted}")
        return fields


_OPERAND = re.compile(r"\s+(\w+)=(\[[^\]\[]*\]|[^\s\[\]]+)")


def _split(text: str, place: Place) -> tuple[list[str], dict[str, str]]:
    if len(text) > LONGEST_LINE:
        raise ProgramError(f"the line has {len(text)} characters; at most {LONGEST_LINE}", place)
    head = re.match(r"\S*", text)
    at = head.end() if head else 0
    operands: dict[str, str] = {}
    stripped = text.rstrip()
    while at < len(stripped):
        found = _OPERAND.match(stripped, at)
        here = Place(place.file, place.line, place.column + at)
        if found is None:
            raise ProgramError("expected operand=value", here, text)
        if found[1] in operands:
            raise ProgramError(f"operand {found[1]}= is given twice", here, text)
        operands[found[1]] = found[2]
        at = found.end()
    return text[: head.end() if head else 0].split("."), operands
