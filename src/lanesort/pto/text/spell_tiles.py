"""Spelling of tile instructions: ``ins(…) outs(…)``, and the SSA form of the manuals."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, StringAttr, UnitAttr
from xdsl.ir import Attribute, SSAValue

from lanesort.errors import counted
from lanesort.pto.text.diagnostics import Fault
from lanesort.pto.text.operation import Parts
from lanesort.pto.text.reader import Reader

__all__ = ["spell_either", "spell_tiles"]


def spell_tiles(parser: Reader) -> Parts:
    """Read ``ins(operands [attributes] : types) outs(operands : types) [attributes]``."""
    parts = Parts()
    has_ins = parser.parse_optional_keyword("ins")
    if has_ins:
        _read_ins(parser, parts)
    if not parser.parse_optional_keyword("outs"):
        if not has_ins:
            parser.parse_keyword("outs")
    elif parser.parse_optional_punctuation(":"):
        parts.results.append(parser.short_type())
    else:
        _read_outs(parser, parts)
    if parser.parse_optional_keyword("blockLen"):  # the oldest files write it behind outs(…)
        parser.parse_punctuation("=")
        parts.attributes["blockLen"] = IntegerAttr(parser.parse_integer(), 32)
    parts.attributes |= parser.parse_optional_attr_dict()
    if parser.parse_optional_punctuation("->"):
        parts.results += parser.types()
    return parts


def _read_ins(parser: Reader, parts: Parts) -> None:
    parser.parse_punctuation("(")
    operands: list[SSAValue] = []
    while (operand := parser.optional_operand()) is not None:
        operands.append(operand)
        if not parser.parse_optional_punctuation(","):
            break
    if parser.parse_optional_keyword("no_tmp"):
        parts.attributes["no_tmp"] = UnitAttr()
    parts.attributes |= parser.parse_optional_attr_dict()
    if parser.parse_optional_punctuation(":"):
        at = parser.pos
        _expect_as_many(operands, _types_and_axis(parser, parts), parser, at)
    elif operands:
        raise Fault(parser.pos, "the types of the operands are missing", "write them behind a colon")
    parser.parse_punctuation(")")
    parts.add("ins", operands)


def _types_and_axis(parser: Reader, parts: Parts) -> list[Attribute]:
    types: list[Attribute] = []
    while True:
        if (axis := parser.parse_optional_str_literal()) is not None:
            parts.attributes["axis"] = StringAttr(axis)
        else:
            types.append(parser.short_type("partition_tensor_view"))
        if not parser.parse_optional_punctuation(","):
            return types


def _expect_as_many(operands: list[SSAValue], types: list[Attribute], parser: Reader, at: int) -> None:
    if len(operands) != len(types):
        raise Fault(
            at,
            f"{counted(len(operands), 'operand')} with {counted(len(types), 'type')}",
            "one type for each operand",
        )
    parser.agree(operands, types, at)


def _read_outs(parser: Reader, parts: Parts) -> None:
    """Read ``(%a, %b : T, U)`` or the older ``(%a : T, %b : U)``."""
    parser.parse_punctuation("(")
    operands: list[SSAValue] = []
    types: list[Attribute] = []
    at = parser.pos
    if parser.parse_optional_punctuation(")"):
        parts.add("outs", ())
        return
    while True:
        if (operand := parser.optional_operand()) is not None:
            operands.append(operand)
            if parser.parse_optional_punctuation(":"):
                types.append(parser.short_type("partition_tensor_view"))
        else:
            types.append(parser.short_type("partition_tensor_view"))
        if not parser.parse_optional_punctuation(","):
            break
    _expect_as_many(operands, types, parser, at)
    parser.parse_punctuation(")")
    parts.add("outs", operands)


def _spell_values(parser: Reader) -> Parts:
    """Read the SSA form: ``%a, %b {…} : (T, U) -> T`` or ``%a : T -> U``."""
    parts = Parts()
    operands = parser.operands()
    parts.attributes |= parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    at = parser.pos
    bracket = parser.parse_optional_punctuation("(")
    types = parser.types("partition_tensor_view")
    if bracket:
        parser.parse_punctuation(")")
    _expect_as_many(operands, types, parser, at)
    if parser.parse_optional_punctuation("->"):
        if parser.parse_optional_punctuation("("):
            if not parser.parse_optional_punctuation(")"):
                parts.results += parser.types()
                parser.parse_punctuation(")")
        else:
            parts.results.append(parser.short_type())
    parts.add("ssa", operands)
    return parts


def spell_either(parser: Reader) -> Parts:
    """Read the form with ``ins`` and ``outs``, or the SSA form."""
    value_follows = parser.lexer.input.content.startswith("%", parser.pos)
    return _spell_values(parser) if value_follows else spell_tiles(parser)
