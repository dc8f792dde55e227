"""Spelling of tile allocation, views of memory and windows of tiles."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, builtin
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr
from xdsl.ir import Attribute, SSAValue

from lanesort.pto.program import PartitionViewType, PtrType, TensorViewType
from lanesort.pto.text.attributes import PtoType
from lanesort.pto.text.diagnostics import Fault
from lanesort.pto.text.operation import Parts
from lanesort.pto.text.reader import Reader

__all__ = ["spell_alloc_tile", "spell_make_tensor_view", "spell_partition_view", "spell_subview"]


def spell_alloc_tile(parser: Reader) -> Parts:
    """Read ``[addr = %a] [valid_row = %r] [valid_col = %c] : T``."""
    parts = Parts()
    for keyword, group in (("addr", "addr"), ("valid_row", "valid_rows"), ("valid_col", "valid_cols")):
        found = []
        if parser.parse_optional_keyword(keyword):
            parser.parse_punctuation("=")
            found.append(parser.operand())
        parts.add(group, found)
    parts.attributes |= parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    parts.results.append(parser.short_type())
    return parts


def spell_make_tensor_view(parser: Reader) -> Parts:
    """Read ``%ptr, shape = […][,] strides = […][,] {…} : TV``."""
    parts = Parts()
    parts.add("ptr", [parser.operand()])
    for keyword, group in (("shape", "shape"), ("strides", "strides")):
        parser.parse_optional_punctuation(",")
        parser.parse_keyword(keyword)
        parser.parse_punctuation("=")
        parts.add(group, parser.sizes())
    parser.parse_optional_punctuation(",")
    parts.attributes |= parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    result = parser.short_type("tensor_view")
    shape = parts.groups[1][1]
    if isinstance(result, PtoType) and isinstance(result.data, TensorViewType) and shape > 1:
        result = _of_rank(result.data, shape)
    parts.results.append(result)
    return parts


def _of_rank(view: TensorViewType, rank: int) -> PtoType:
    """Read the old ``!pto.tensor_view<2xf32>``: a rank, not a size."""
    if len(view.shape) == 1 and view.shape[0] == rank:
        return PtoType(TensorViewType((None,) * rank, view.element))
    return PtoType(view)


def spell_partition_view(parser: Reader) -> Parts:
    """Read ``%v, offsets = […], sizes = […] : TV [-> PV]``."""
    parts = Parts()
    view = parser.operand()
    parts.add("view", [view])
    _read_window(parser, parts, view)
    return parts


def _read_window(parser: Reader, parts: Parts, view: SSAValue) -> None:
    for keyword in ("offsets", "sizes"):
        parser.parse_optional_punctuation(",")
        parser.parse_keyword(keyword)
        parser.parse_punctuation("=")
        parts.add(keyword, parser.sizes())
    parts.attributes |= parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    at = parser.pos
    written = _rank_as_size(parser.short_type("tensor_view"), view)
    parser.agree([view], [written], at)
    if parser.parse_optional_punctuation("->"):
        parts.results.append(parser.short_type("partition_tensor_view"))
    else:
        parts.results.append(_inferred(view, parts.operands[-parts.groups[-1][1] :], at))


def _rank_as_size(written: Attribute, view: SSAValue) -> Attribute:
    there = view.type.data if isinstance(view.type, PtoType) else None
    here = written.data if isinstance(written, PtoType) else None
    if isinstance(here, TensorViewType) and isinstance(there, TensorViewType) and len(there.shape) > 1:
        return _of_rank(here, len(there.shape))
    return written


def _inferred(view: SSAValue, sizes: Sequence[SSAValue], at: int) -> PtoType:
    """Return the window's type: constants give sizes, other values leave them open."""
    data = view.type.data if isinstance(view.type, PtoType) else None
    if not isinstance(data, TensorViewType | PartitionViewType | PtrType):
        raise Fault(at, "the type of the window is missing", "write -> !pto.partition_tensor_view<…>")
    return PtoType(PartitionViewType(tuple(_constant(value) for value in sizes), data.element))


def _constant(value: SSAValue) -> int | None:
    owner = value.owner
    if isinstance(owner, arith.ConstantOp) and isinstance(owner.value, IntegerAttr):
        return int(owner.value.value.data)
    return None


def spell_subview(parser: Reader) -> Parts:
    """Read ``%t[%r, %c] sizes [1, 8] [valid [%vr, %vc]] : T -> T``, or the window of a view."""
    parts = Parts()
    source = parser.operand()
    if parser.parse_optional_punctuation(","):
        parts.add("view", [source])
        _read_window(parser, parts, source)
        return parts
    parts.add("src", [source])
    parts.add("offsets", parser.sizes())
    parser.parse_keyword("sizes")
    numbers = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)
    parts.attributes["sizes"] = ArrayAttr(IntegerAttr(number, builtin.i64) for number in numbers)
    parts.add("valid", parser.sizes() if parser.parse_optional_keyword("valid") else ())
    parts.attributes |= parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    at = parser.pos
    parser.agree([source], [parser.short_type()], at)
    parser.parse_punctuation("->")
    parts.results.append(parser.short_type())
    return parts
