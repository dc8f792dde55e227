"""Spelling of scalar, pointer and copy operations: operands in a row, then their types."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import builtin
from xdsl.ir import Attribute, SSAValue

from lanesort.errors import counted
from lanesort.pto.text.diagnostics import Fault
from lanesort.pto.text.operation import Parts, Spelling
from lanesort.pto.text.reader import Reader

__all__ = [
    "spell_burst_copy",
    "spell_index_query",
    "spell_list",
    "spell_load_scalar",
    "spell_pointer_cast",
    "spell_results",
    "spell_store_scalar",
]


def spell_list(*names: str) -> Spelling:
    """Return the reader of ``%a, %b, … {…} : T, U, … [-> R, …]`` for operands called `names`.

    Types may be fewer than operands (``pto.addptr %p, %n : PTR -> PTR``): they are those of
    the first ones.
    """

    def spell(parser: Reader) -> Parts:
        at = parser.pos
        operands = parser.operands()
        least = sum(not name.endswith("*") for name in names)
        if len(operands) < least or (len(operands) > least and not names[-1].endswith("*")):
            shown = ", ".join(name.rstrip("*") for name in names)
            raise Fault(at, f"{counted(len(operands), 'operand')} where {least} are expected: {shown}")
        parts = Parts()
        fixed = [name for name in names if not name.endswith("*")]
        for name, operand in zip(fixed, operands, strict=False):
            parts.add(name, [operand])
        if names[-1].endswith("*"):
            parts.add(names[-1].rstrip("*"), operands[len(fixed) :])
        _read_types(parser, parts, operands)
        return parts

    return spell


def _read_types(parser: Reader, parts: Parts, operands: list[SSAValue]) -> None:
    parts.attributes |= parser.parse_optional_attr_dict()
    if not parser.parse_optional_punctuation(":"):
        return
    at = parser.pos
    bracket = parser.parse_optional_punctuation("(")
    parser.agree(operands, parser.types(), at)
    if bracket:
        parser.parse_punctuation(")")
    if parser.parse_optional_punctuation("->"):
        parts.results += parser.types()


def spell_results(parser: Reader) -> Parts:
    """Read ``{…} : i16, i16, i16, i16``: the types of the results."""
    parts = Parts()
    parts.attributes |= parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    parts.results += parser.types()
    return parts


def spell_index_query(parser: Reader) -> Parts:
    """Read nothing, or the type of the result, which is i64 where it is not written."""
    parts = Parts()
    parts.attributes |= parser.parse_optional_attr_dict()
    typed = parser.parse_optional_punctuation(":") or parser.parse_optional_punctuation("->")
    parts.results.append(parser.parse_type() if typed else builtin.i64)
    return parts


def spell_load_scalar(parser: Reader) -> Parts:
    """Read ``%ptr[%i] : PTR -> i32``."""
    parts = Parts()
    pointer = parser.operand()
    parts.add("ptr", [pointer])
    parts.add("offset", _subscript(parser))
    _read_types(parser, parts, [pointer])
    return parts


def spell_store_scalar(parser: Reader) -> Parts:
    """Read ``%x, %ptr[%i] : PTR, i16``."""
    parts = Parts()
    value = parser.operand()
    parser.parse_punctuation(",")
    pointer = parser.operand()
    parts.add("value", [value])
    parts.add("ptr", [pointer])
    parts.add("offset", _subscript(parser))
    _read_types(parser, parts, [pointer, value])
    return parts


def _subscript(parser: Reader) -> list[SSAValue]:
    at = parser.pos
    found = parser.sizes()
    if len(found) != 1:
        raise Fault(at, f"{len(found)} subscripts stand where one offset in elements is expected")
    return found


def spell_pointer_cast(parser: Reader) -> Parts:
    """Read ``(%addr, …) [%rows, %cols] {…} : T``."""
    parts = Parts()
    parts.add("addrs", parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.operand))
    valid: list[SSAValue] = []
    while (value := parser.optional_operand()) is not None:
        valid.append(value)
        if not parser.parse_optional_punctuation(","):
            break
    parts.add("valid", valid)
    parts.attributes |= parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    parts.results.append(parser.short_type())
    return parts


_GROUPS = (("nburst", "nburst"), ("loop", "loops"), ("loop1", "loops"), ("loop2", "loops"), ("pad", "pad"))


def spell_burst_copy(parser: Reader) -> Parts:
    """Read ``%src, %dst, [%cache,] %len nburst(%n, %s, %d) [loop(…)…] [pad(…)] : types``."""
    at = parser.pos
    plain = parser.operands()
    if not 3 <= len(plain) <= 4:
        raise Fault(at, f"{len(plain)} operands stand in front of nburst; 3 or 4 are expected")
    groups: dict[str, list[SSAValue]] = {"nburst": [], "loops": [], "pad": []}
    in_order = list(plain)
    while True:
        found = next((pair for pair in _GROUPS if parser.parse_optional_keyword(pair[0])), None)
        if found is None:
            break
        values = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.operand)
        groups[found[1]] += values
        in_order += values
    parts = Parts()
    names = ("src", "dst", "length") if len(plain) == 3 else ("src", "dst", "l2_cache", "length")
    for name, value in zip(names, plain, strict=True):
        parts.add(name, [value])
    for name, values in groups.items():
        parts.add(name, values)
    parts.attributes |= parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    start = parser.pos
    parser.agree(in_order, _types_with_group_names(parser), start)
    return parts


def _types_with_group_names(parser: Reader) -> list[Attribute]:
    """Read types between commas; in front of a group's types its name may stand."""
    names = [name for name, _ in _GROUPS]

    def read() -> Attribute:
        parser.parse_optional_keyword_in(names)
        return parser.short_type()

    one: Callable[[], Attribute] = read
    return parser.parse_comma_separated_list(parser.Delimiter.NONE, one)
