"""Fuzz target for the text of `.pto` programs; it takes any bytes and must return."""

from __future__ import annotations

from lanesort.errors import ProgramError
from lanesort.pto.text.parser import parse
from lanesort.pto.text.printer import print_module

__all__ = ["fuzz_parse"]


def fuzz_parse(data: bytes) -> None:
    """A text is refused with its place, or what is printed parses to the same module."""
    text = data.decode("utf-8", "replace")
    try:
        module = parse(text, "fuzz.pto")
    except ProgramError as error:
        if error.place is None or not str(error).startswith("fuzz.pto:"):
            raise AssertionError(f"a refusal without a place: {error}") from error
        return
    if parse(print_module(module)) != module:
        raise AssertionError("the printed program is another one")
