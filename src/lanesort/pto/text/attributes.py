"""The xDSL attributes of the dialect: one for every `pto` type, one for every keyword."""

from __future__ import annotations

import re

from xdsl.dialects import builtin
from xdsl.ir import Attribute, Data, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from lanesort.pto.program import OpaqueType, ScalarType, Type, VectorType
from lanesort.pto.text.types import type_text

__all__ = ["KEYWORDS", "Groups", "Keyword", "PtoType", "keyword_of", "plain_type"]


@irdl_attr_definition
class PtoType(Data[Type], TypeAttribute):
    """Any type of the dialect; its data is the plain type, so that equal types are equal."""

    name = "pto.type"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Type:
        """Refuse: the types are read by name, in `PtoParser.parse_optional_type`."""
        parser.raise_error("!pto.type is not written; write the type itself")

    def print_parameter(self, printer: Printer) -> None:
        """Print the type as the text has it."""
        printer.print_string(f"<{type_text(self.data)}>")


@irdl_attr_definition
class Groups(Data[tuple[tuple[str, int], ...]]):
    """How many operands stand in each group of an operation's spelling, in order."""

    name = "pto.groups"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[tuple[str, int], ...]:
        """Refuse: groups come from the spelling, never from text."""
        parser.raise_error("#pto.groups is not written; it follows from the operation's spelling")

    def print_parameter(self, printer: Printer) -> None:
        """Print names and counts."""
        printer.print_string("<" + ", ".join(f"{name} {count}" for name, count in self.data) + ">")


class Keyword(Data[str]):
    """``#pto.name<word>`` or ``#pto<name word>``; both mean the same."""

    words: tuple[str, ...] = ()

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> str:
        """Read the word, with or without its own angle brackets."""
        bracket = parser.parse_optional_punctuation("<")
        position = parser.pos
        word = parser.parse_identifier()
        if cls.words and word not in cls.words:
            parser.raise_error(f"{word!r} is not one of {', '.join(cls.words)}", position)
        if bracket:
            parser.parse_punctuation(">")
        return word

    def print_parameter(self, printer: Printer) -> None:
        """Print the word in brackets."""
        printer.print_string(f"<{self.data}>")


def _keyword(mnemonic: str, words: str = "") -> type[Keyword]:
    fields = {"name": f"pto.{mnemonic}", "words": tuple(words.split()), "__module__": __name__}
    return irdl_attr_definition(type(f"Keyword_{mnemonic}", (Keyword,), fields))


KEYWORDS: tuple[type[Keyword], ...] = (
    _keyword("mask_pattern", "P0101 P1010 P0001 P0010 P0100 P1000 P1111"),
    *(
        _keyword(mnemonic)
        for mnemonic in (
            "layout",
            "kernel_kind",
            "pipe",
            "event",
            "cmp",
            "round_mode",
            "saturation_mode",
            "pad_value",
            "address_space",
            "blayout",
            "slayout",
            "sync_op_type",
        )
    ),
)
"""Keyword attributes that the dialect knows; others are kept as text."""


def keyword_of(attribute: Attribute) -> str | None:
    """Return the word of a keyword attribute or the text of a string attribute."""
    if isinstance(attribute, Keyword | builtin.StringAttr):
        return attribute.data
    return None


_SIGNS = {
    builtin.Signedness.SIGNLESS: "i",
    builtin.Signedness.SIGNED: "si",
    builtin.Signedness.UNSIGNED: "ui",
}
_VECTOR = re.compile(r"vector<(\d+)x(\w+)>")


def plain_type(attribute: Attribute) -> Type:
    """Return the plain type that an xDSL type means."""
    match attribute:
        case PtoType():
            return attribute.data
        case builtin.IntegerType():
            return ScalarType(f"{_SIGNS[attribute.signedness.data]}{attribute.width.data}")
        case builtin.IndexType():
            return ScalarType("index")
        case builtin.BFloat16Type() | builtin.Float16Type() | builtin.Float32Type() | builtin.Float64Type():
            return ScalarType(attribute.name)
        case _:
            text = str(attribute)
            vector = _VECTOR.fullmatch(text)
            return VectorType(int(vector[1]), vector[2]) if vector else OpaqueType(text)
