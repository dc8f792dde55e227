"""One line of text for a word: a mnemonic with suffixes, and named operands.

Each instruction declares a `Syntax` over the tokens of `lanesort.neuron.operand`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

from lanesort.errors import Place, ProgramError
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
        fields = self._suffixes(head, text, on, place)
        left = dict(operands)
        for token in self.operands:
            given = {k: left.pop(k) for k in token.keys if k in left}
            at = min((found.at for found in given.values()), default=0)
            with _blamed(text, place, at):
                read = token.read({k: found.text for k, found in given.items()}, on)
                fields |= {name: layout.parts[name].check(name, value) for name, value in read.items()}
        for key, found in left.items():
            accepted = ", ".join(k for t in self.operands for k in t.keys)
            raise _error(f"no operand {key}; accepted are {accepted}", text, place, found.at)
        with _blamed(text, place, 0):
            return layout.check(fields)

    def _suffixes(self, head: Sequence[_Given], text: str, on: Generation, place: Place) -> Fields:
        with _blamed(text, place, head[1].at if len(head) > 1 else 0):
            fields = self.dtypes.read({"": head[1].text} if len(head) > 1 else {}, on)
        left = list(head[2:])
        for choice in self.choices:
            own = [s for s in left if choice.owns(s.text)]
            if len(own) > 1:
                shown = " .".join(s.text for s in own)
                raise _error(f"suffixes .{shown} exclude one another", text, place, own[1].at)
            left = [s for s in left if s not in own]
            with _blamed(text, place, own[0].at if own else 0):
                fields |= choice.read({"": own[0].text} if own else {}, on)
        for one in left:
            accepted = ", ".join(f".{n}" for c in self.choices for n in c.names)
            raise _error(f"no suffix .{one.text}; accepted are {accepted}", text, place, one.at)
        return fields


class _Given(NamedTuple):
    """The text of an operand or a suffix, and where in the line that begins."""

    text: str
    at: int


@contextmanager
def _blamed(text: str, place: Place, at: int) -> Iterator[None]:
    """Make what is wrong inside an error at that character of the line."""
    try:
        yield
    except ValueError as error:
        raise _error(str(error), text, place, at) from None


def _error(what: str, text: str, place: Place, at: int) -> ProgramError:
    """Return an error with its line; blanks in front of the text were cut off."""
    source = " " * (place.column - 1) + text
    return ProgramError(what, Place(place.file, place.line, place.column + at), source)


_OPERAND = re.compile(r"\s+(\w+)=(\[[^\]\[]*\]|[^\s\[\]]+)")


def _split(text: str, place: Place) -> tuple[list[_Given], dict[str, _Given]]:
    if len(text) > LONGEST_LINE:
        raise ProgramError(f"the line has {len(text)} characters; at most {LONGEST_LINE}", place)
    head = re.match(r"\S*", text)
    at = head.end() if head else 0
    operands: dict[str, _Given] = {}
    stripped = text.rstrip()
    while at < len(stripped):
        found = _OPERAND.match(stripped, at)
        if found is None:
            blanks = len(stripped) - at - len(stripped[at:].lstrip())
            raise _error("expected operand=value", text, place, at + blanks)
        if found[1] in operands:
            raise _error(f"operand {found[1]}= is given twice", text, place, found.start(1))
        operands[found[1]] = _Given(found[2], found.start(1))
        at = found.end()
    return list(_dotted(text[: head.end() if head else 0])), operands


def _dotted(head: str) -> Iterator[_Given]:
    at = 0
    for part in head.split("."):
        yield _Given(part, at)
        at += len(part) + 1
