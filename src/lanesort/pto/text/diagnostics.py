"""Messages about a program text: from an offset to file, line, column and a caret."""

from __future__ import annotations

import difflib
from bisect import bisect_right
from collections.abc import Iterable
from typing import NoReturn

from lanesort.errors import Place, ProgramError

__all__ = ["Fault", "Source", "closest"]


class Fault(Exception):
    """Something wrong at an offset of the text; `Source.error` makes it a `ProgramError`."""

    def __init__(self, offset: int, text: str, hint: str | None = None) -> None:
        super().__init__(text)
        self.offset = offset
        self.text = text
        self.hint = hint


class Source:
    """A program text with its name, able to say where an offset stands.

    Parameters
    ----------
    text
        The whole text.
    file
        Its name in messages.
    """

    def __init__(self, text: str, file: str) -> None:
        self.text = text
        self.file = file
        self._starts = [0, *(i + 1 for i, c in enumerate(text) if c == "\n")]

    def place(self, offset: int) -> Place:
        """Return file, line and column of an offset; both count from 1."""
        offset = max(0, min(offset, len(self.text)))
        line = bisect_right(self._starts, offset)
        return Place(self.file, line, offset - self._starts[line - 1] + 1)

    def line(self, number: int) -> str:
        """Return a line by its number, tabs as single blanks so that a caret fits below it."""
        start = self._starts[number - 1]
        end = self.text.find("\n", start)
        return self.text[start : end if end >= 0 else len(self.text)].rstrip("\r").replace("\t", " ")

    def error(self, offset: int, text: str, hint: str | None = None) -> ProgramError:
        """Return the error about an offset, with its source line."""
        place = self.place(offset)
        return ProgramError(text, place, _clipped(self.line(place.line), place.column), hint)

    def refuse(self, place: Place | None, text: str, hint: str | None = None) -> NoReturn:
        """Raise the error about a place, with its source line."""
        line = self.line(place.line) if place else None
        raise ProgramError(text, place, _clipped(line, place.column) if place and line else None, hint)


_WIDEST_QUOTE_COLUMNS = 4096


def _clipped(line: str, column: int) -> str | None:
    """Return the line, or None where it is too long to be worth quoting."""
    return line if max(len(line), column) <= _WIDEST_QUOTE_COLUMNS else None


def closest(word: str, known: Iterable[str], mark: str = "") -> str | None:
    """Return a hint that names the nearest known word, if one is near."""
    found = difflib.get_close_matches(word[:64], list(known)[:4096], n=1)
    return f"did you mean {mark}{found[0]}?" if found else None
