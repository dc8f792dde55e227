"""Tokens of `.pto` text: xDSL's, except for strings and blanks, in time that grows with their length."""

from __future__ import annotations

import re

from xdsl.utils.lexer import Position
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRToken

from lanesort.pto.text.diagnostics import Fault

__all__ = ["Lexer"]

# Possessive repeats never give back what they took. xDSL's own do, and where a string is not
# closed they try every way of cutting it into pieces: time doubles with each character.
_STRING = re.compile(r'"(?:[^"\\\n\v\f]++|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+"')
_TO_THE_FAULT = re.compile(r'"(?:[^"\\\n\v\f]++|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+')


class Lexer(MLIRLexer):
    """xDSL's lexer, which refuses a string without an end at its first quote."""

    def _lex_string_literal(self, start_pos: Position) -> MLIRToken:
        if _STRING.match(self.input.content, start_pos) is None:
            raise _unclosed(self.input.content, start_pos)
        return super()._lex_string_literal(start_pos)


def _unclosed(text: str, start: int) -> Fault:
    """Return the error about a string that does not end: at its quote, or at the escape that is none."""
    read = _TO_THE_FAULT.match(text, start)
    end = read.end() if read else start
    if text.startswith("\\", end):
        known = 'strings know \\" \\\\ \\n \\t, and \\ before two hex digits'
        return Fault(end, f"{text[end : end + 2].strip()} is no escape", known)
    return Fault(start, "this string has no closing quote on its line", 'close it with "')
