"""Spelling of synchronisation and of operations that hold a body."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr

from lanesort.pto.text.attributes import keyword_of
from lanesort.pto.text.diagnostics import Fault
from lanesort.pto.text.operation import Parts
from lanesort.pto.text.reader import Reader

__all__ = ["spell_barrier", "spell_flag", "spell_fusion_region", "spell_section", "spell_yield"]


def _word(parser: Reader) -> str:
    """Read a pipe or event as ``"NAME"``, ``<NAME>`` or ``#pto.kind<NAME>``."""
    if (text := parser.parse_optional_str_literal()) is not None:
        return text
    if parser.parse_optional_punctuation("<"):
        text = parser.parse_identifier()
        parser.parse_punctuation(">")
        return text
    at = parser.pos
    word = keyword_of(parser.parse_attribute())
    if word is None:
        raise Fault(at, "this is not the name of a pipe or an event", 'write "PIPE_V" or #pto.pipe<PIPE_V>')
    return word


def spell_flag(parser: Reader) -> Parts:
    """Read ``["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]``."""
    parts = Parts()
    at = parser.pos
    words = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: _word(parser))
    if len(words) != 3:
        raise Fault(at, f"{len(words)} names stand where a source pipe, a target pipe and an event belong")
    for name, word in zip(("src", "dst", "event"), words, strict=True):
        parts.attributes[name] = StringAttr(word)
    parts.attributes |= parser.parse_optional_attr_dict()
    return parts


def spell_barrier(parser: Reader) -> Parts:
    """Read ``#pto.pipe<PIPE_ALL>``, ``<PIPE_ALL>`` or ``[<TVEC>]``."""
    parts = Parts()
    bracket = parser.parse_optional_punctuation("[")
    parts.attributes["pipe"] = StringAttr(_word(parser))
    if bracket:
        parser.parse_punctuation("]")
    parts.attributes |= parser.parse_optional_attr_dict()
    return parts


def spell_section(parser: Reader) -> Parts:
    """Read ``{ body } [attributes]``."""
    parts = Parts()
    parts.regions.append(parser.parse_region())
    parts.attributes |= parser.parse_optional_attr_dict()
    return parts


def spell_fusion_region(parser: Reader) -> Parts:
    """Read ``{ body } [attributes] [: types of the results]``."""
    parts = spell_section(parser)
    if parser.parse_optional_punctuation(":"):
        parts.results += parser.types()
    return parts


def spell_yield(parser: Reader) -> Parts:
    """Read ``(%a, …) : (T, …) -> ()`` or ``%a, … : T, …`` or nothing."""
    parts = Parts()
    bracket = parser.parse_optional_punctuation("(")
    values = []
    while (value := parser.optional_operand()) is not None:
        values.append(value)
        if not parser.parse_optional_punctuation(","):
            break
    if bracket:
        parser.parse_punctuation(")")
    parts.add("values", values)
    parts.attributes |= parser.parse_optional_attr_dict()
    if parser.parse_optional_punctuation(":"):
        at = parser.pos
        types = parser.parse_function_type().inputs.data if bracket else parser.types()
        parser.agree(values, types, at)
    return parts
