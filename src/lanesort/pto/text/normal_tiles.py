"""The spellings of `pto` operations, brought to the operands that the signature names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from xdsl.dialects import builtin
from xdsl.ir import Attribute as XdslAttribute
from xdsl.ir import Operation, SSAValue

from lanesort.errors import counted
from lanesort.pto.operations import OPERATIONS
from lanesort.pto.program import Attribute, Operand, TileType, Type, VectorType
from lanesort.pto.text.attributes import plain_type
from lanesort.pto.text.diagnostics import Fault
from lanesort.pto.text.positions import by_name, by_sizes

__all__ = ["Call", "Numbering", "canonical"]

COUNTS = VectorType(4, "i16")
"""Type of the counts that a merge reports."""


class Numbering(Protocol):
    """What is needed of the lowering of a function."""

    def start(self, operation: Operation) -> int:
        """Return the offset of an operation."""

    def new(self, type_: XdslAttribute | Type, name: str | None = None) -> int:
        """Give a new value its number."""

    def define(self, value: SSAValue, number: int | None = None) -> int:
        """Give a value of the text its number."""

    def type_of(self, number: int) -> Type:
        """Return the type of a value."""

    def add(
        self,
        operation: Operation,
        name: str,
        operands: Sequence[Operand],
        results: Sequence[int] = (),
        attributes: Mapping[str, Attribute] | None = None,
    ) -> None:
        """Append a step."""


@dataclass
class Call:
    """One operation on its way to normal form.

    Attributes
    ----------
    lowering
        Numbers the values.
    operation
        The xDSL operation.
    name
        Name without ``pto.``; may change.
    groups
        Operands in the groups of the spelling.
    operands, results, attributes
        What `canonical` fills in; attributes here override those of the text.
    """

    lowering: Numbering
    operation: Operation
    name: str
    groups: list[tuple[str, tuple[int, ...]]]
    operands: tuple[Operand, ...] = ()
    results: tuple[int, ...] = ()
    attributes: dict[str, Attribute] = field(default_factory=dict)

    def group(self, name: str) -> tuple[int, ...]:
        """Return the operands of a group, none if the spelling has no such group."""
        return dict(self.groups).get(name, ())

    def refuse(self, text: str, hint: str | None = None) -> Fault:
        """Return the fault about this operation."""
        return Fault(self.lowering.start(self.operation), f"{self.operation.name}: {text}", hint)


def canonical(call: Call) -> None:
    """Fill in operands and results of a call.

    Raises
    ------
    Fault
        If the spelling gives operands that the operation does not have.
    """
    if call.name == "subview" and call.group("view"):
        call.name = "partition_view"
    signature = OPERATIONS[call.name]
    spelled = {name for name, _ in call.groups}
    if spelled <= set(signature.names):
        call.operands = tuple(_named(call, mark) for mark in signature.operands)
        call.results = tuple(call.lowering.define(value) for value in call.operation.results)
        return
    if signature.results:
        call.results = tuple(call.lowering.define(value) for value in call.operation.results)
        outs: tuple[int, ...] = call.group("outs")
    else:
        outs = _destinations(call)
    if "generic" in spelled and call.operation.attributes.get("operandSegmentSizes") is not None:
        call.operands = by_sizes(call.name, call.group("generic"), _segment_sizes(call), call.refuse)
        return
    ins = call.group("ins") + call.group("ssa") + call.group("generic")
    if not ins:
        raise call.refuse("no operands")
    arrange = {"tsort32": _tsort32, "tmrgsort": _tmrgsort}.get(call.name, _in_order)
    call.operands = arrange(call, ins, outs)


def _named(call: Call, mark: str) -> Operand:
    values = call.group(mark.rstrip("?*"))
    if mark.endswith("*"):
        return values
    if len(values) > 1 or (not values and not mark.endswith("?") and not _folded(call, mark)):
        raise call.refuse(f"operand {mark.rstrip('?')} has {counted(len(values), 'value')}")
    return values[0] if values else None


def _folded(call: Call, mark: str) -> bool:
    return mark == "addr" and call.attributes.get("address") is not None


def _segment_sizes(call: Call) -> tuple[int, ...]:
    sizes = call.operation.attributes["operandSegmentSizes"]
    if not isinstance(sizes, builtin.DenseArrayBase):
        raise call.refuse("operandSegmentSizes is not an array")
    return tuple(int(size) for size in sizes.get_values())


def _destinations(call: Call) -> tuple[int, ...]:
    """Return the operands that are written: those of ``outs``, or one made for each result.

    A result beside ``outs`` (``… outs(%d : T) -> T``) is another name of the destination.
    """
    outs = call.group("outs")
    results = call.operation.results
    if outs:
        for value, number in zip(results, outs, strict=False):
            call.lowering.define(value, number)
        if len(results) > len(outs):
            raise call.refuse(f"{len(results)} results stand beside {len(outs)} destinations")
        return outs
    return tuple(_destination(call, value) for value in results)


def _destination(call: Call, value: SSAValue) -> int:
    type_ = plain_type(value.type)
    number = call.lowering.define(value)
    if isinstance(type_, TileType):
        call.lowering.add(call.operation, "alloc_tile", (None, None, None), (number,), {"address": None})
    elif type_ == COUNTS:
        zeros: dict[str, Attribute] = {"value": (0, 0, 0, 0), "bits": None}
        call.lowering.add(call.operation, "arith.constant", (), (number,), zeros)
    else:
        raise call.refuse("a result is neither a tile nor vector<4xi16>")
    return number


def _in_order(call: Call, ins: tuple[int, ...], outs: tuple[int, ...]) -> tuple[Operand, ...]:
    return by_name(call.name, ins + outs, call.refuse)


def _tsort32(call: Call, ins: tuple[int, ...], outs: tuple[int, ...]) -> tuple[Operand, ...]:
    if len(ins) == 1 and len(outs) == 2:
        return ins[0], None, None, outs[0], outs[1]
    if not outs:  # quoted form: sources, then the destination
        ins, outs = ins[:-1], ins[-1:]
    if not 2 <= len(ins) <= 3 or len(outs) != 1:
        raise call.refuse(
            f"{counted(len(ins), 'source')} and {counted(len(outs), 'destination')}",
            "write ins(%src, %idx) outs(%dst), or ins(%src, %idx, %tmp) outs(%dst)",
        )
    return ins[0], ins[1], ins[2] if len(ins) == 3 else None, outs[0], None


def _is_tile(call: Call, number: int) -> bool:
    return isinstance(call.lowering.type_of(number), TileType)


def _tmrgsort(call: Call, ins: tuple[int, ...], outs: tuple[int, ...]) -> tuple[Operand, ...]:
    if not outs:  # quoted form: what is read, then what is written
        written_from = len(ins) - (2 if isinstance(call.lowering.type_of(ins[-1]), VectorType) else 1)
        ins, outs = ins[:written_from], ins[written_from:]
    executed = next((n for n in outs if isinstance(call.lowering.type_of(n), VectorType)), None)
    written = [n for n in outs if n != executed]
    lengths = [n for n in ins if not _is_tile(call, n)]
    sources = tuple(n for n in ins if _is_tile(call, n))
    if not 1 <= len(written) <= 2 or len(lengths) > 1 or not 1 <= len(sources) <= 5:
        raise call.refuse(
            f"{len(sources)} tiles, {len(lengths)} lengths and {len(written)} written tiles",
            "write ins(%src, %len) outs(%dst), or ins(%s0, %s1, %tmp {exhausted = b}) outs(%dst, %ex)",
        )
    length = lengths[0] if lengths else None
    tmp = written[1] if len(written) == 2 else None
    if tmp is None and _last_is_tmp(call, sources, written[0]):
        sources, tmp = sources[:-1], sources[-1]
    if len(sources) > 4:
        raise call.refuse(f"{len(sources)} lists; a merge takes two to four")
    return sources, tmp, written[0], executed, length


def _last_is_tmp(call: Call, tiles: tuple[int, ...], dst: int) -> bool:
    """Say whether the last tile of ``ins`` is tmp.

    It is, unless ``no_tmp`` stands there, the form is SSA, or there are two tiles only. Nor
    is it in the manual's own example, four lists and no tmp: there the last tile is too small
    for the other three and the destination takes all four.
    """
    if len(tiles) <= 2 or call.group("ssa") or "no_tmp" in call.operation.attributes:
        return False
    columns = [type_.cols for type_ in map(call.lowering.type_of, tiles) if isinstance(type_, TileType)]
    into = call.lowering.type_of(dst)
    holds_all = isinstance(into, TileType) and into.cols >= sum(columns)
    return not (holds_all and columns[-1] < sum(columns[:-1]))
