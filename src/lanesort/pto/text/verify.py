"""Static checks of a program: every operand is of a kind that its operation can take.

What depends on sizes and targets is a validity rule of the instruction and is tested when
it runs; here stand only those that an assembler refuses as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NoReturn

from lanesort.evidence import fact
from lanesort.pto.program import (
    Block,
    Function,
    Module,
    OpaqueType,
    PartitionViewType,
    PtrType,
    ScalarType,
    Step,
    TensorViewType,
    TileType,
    Type,
    VectorType,
)
from lanesort.pto.text.diagnostics import Source
from lanesort.pto.text.types import type_text

__all__ = ["verify"]

fact(
    "pto.tmrgsort",
    "executed is a vector of four 16-bit counts",
    "documented",
    "high",
    "seed 004 (TMRGSORT), Assembly Syntax",
)


@dataclass(frozen=True, slots=True)
class _Kind:
    """What an operand may be."""

    noun: str
    types: tuple[type, ...]
    element: Callable[[str], bool] = lambda name: True

    def holds(self, type_: Type) -> bool:
        if isinstance(type_, OpaqueType):
            return True
        named = type_.name if isinstance(type_, ScalarType) else type_.element
        return isinstance(type_, self.types) and self.element(named)


def _whole(name: str) -> bool:
    return name == "index" or "i" in name.removeprefix("u")


_TILE = _Kind("a tile", (TileType,))
_PART = _Kind("a view of global memory", (PartitionViewType, TensorViewType))
_PTR = _Kind("a pointer", (PtrType,))
_NUMBER = _Kind("a number", (ScalarType,))
_WHOLE = _Kind("an integer", (ScalarType,), _whole)
_COUNTS = _Kind("vector<4xi16>", (VectorType,), lambda name: name == "i16")

_TILE_OPERATIONS = (
    "tsort32 tmrgsort tgather tmov tcvt tfillpad tadd tsub tmul tdiv tmax tmin tcmp tsel ttrans tci "
    "trowsum trowmax trowmin trowexpanddiv trowexpandmul trowexpandsub "
    "tadds tsubs tmuls tdivs tmins tmaxs tcmps tsels texpands"
)
_KINDS: dict[str, dict[str, _Kind]] = {
    **{
        name: {"scalar": _NUMBER, "start": _WHOLE, "executed": _COUNTS, "block_len": _WHOLE, "": _TILE}
        for name in _TILE_OPERATIONS.split()
    },
    "make_tensor_view": {"ptr": _PTR, "": _WHOLE},
    "partition_view": {"view": _PART, "": _WHOLE},
    "alloc_tile": {"": _WHOLE},
    "subview": {"src": _TILE, "": _WHOLE},
    "set_validshape": {"tile": _TILE, "": _WHOLE},
    "tload": {"src": _PART, "dst": _TILE},
    "tstore": {"src": _TILE, "dst": _PART},
    "treshape": {"": _TILE},
    "tassign": {"tile": _TILE, "addr": _WHOLE},
    "addptr": {"ptr": _PTR, "offset": _WHOLE},
    "load_scalar": {"ptr": _PTR, "offset": _WHOLE},
    "store_scalar": {"ptr": _PTR, "offset": _WHOLE, "value": _NUMBER},
    "tgetval": {"src": _TILE, "offset": _WHOLE},
    "tsetval": {"dst": _TILE, "offset": _WHOLE, "value": _NUMBER},
    "vbitsort": {"repeat": _WHOLE, "": _PTR},
    "vmrgsort4": {"lengths": _WHOLE, "config": _WHOLE, "": _PTR},
}
"""Kinds of operands by name; the empty name stands for all others."""


def verify(module: Module, source: Source) -> None:
    """Check every step of a module.

    Raises
    ------
    ProgramError
        At the first step, in the order of the text, that has an operand of the wrong kind
        or breaks what an assembler would refuse.
    """
    for function in module.functions:
        if function.body is None:
            continue
        steps = list(_steps(function.body))
        subject = _Subject(function, source)
        for step in steps:
            if step.modelled:
                _check_kinds(subject, step)
                _CHECKS.get(step.op, _accept)(subject, step)


def _steps(block: Block) -> Iterator[Step]:
    for step in block.steps:
        yield step
        for region in step.regions:
            yield from _steps(region)


@dataclass(frozen=True, slots=True)
class _Subject:
    """A function under test, with the text."""

    function: Function
    source: Source

    def type(self, value: int) -> Type:
        return self.function.types[value]

    def shown(self, value: int) -> str:
        return f"{self.function.name_of(value)}, is {type_text(self.type(value))}"

    def refuse(self, step: Step, text: str, hint: str | None = None) -> NoReturn:
        self.source.refuse(step.place, f"{step.op}: {text}", hint)


def _accept(subject: _Subject, step: Step) -> None:
    """Accept a step that has no check of its own."""


def _check_kinds(subject: _Subject, step: Step) -> None:
    kinds = _KINDS.get(step.op, {})
    for name, operand in zip(step.signature.names, step.operands, strict=True):
        kind = kinds.get(name) or kinds.get("")
        values = operand if isinstance(operand, tuple) else () if operand is None else (operand,)
        for value in values:
            if kind is not None and not kind.holds(subject.type(value)):
                subject.refuse(step, f"operand {name}, {subject.shown(value)}; it must be {kind.noun}")


def _check_tmrgsort(subject: _Subject, step: Step) -> None:
    executed = step.optional("executed")
    if executed is not None and subject.type(executed) != VectorType(4, "i16"):
        subject.refuse(
            step,
            f"executed, {subject.shown(executed)}; four 16-bit counts are written to it",
            "declare it as vector<4xi16>",
        )
    lists = len(step.values("sources"))
    single = step.attributes["block_len"] is not None or step.optional("block_len") is not None
    if single and lists > 1:
        subject.refuse(step, f"a block length stands beside {lists} lists", "it belongs to a single list")
    if not single and lists == 1:
        subject.refuse(
            step, "one list and no block length", "write ins(%src, %len : T, i32), or give two to four lists"
        )
    if single:
        _check_columns(subject, step)


def _check_columns(subject: _Subject, step: Step) -> None:
    into, of = subject.type(step.value("dst")), subject.type(step.values("sources")[0])
    if isinstance(into, TileType) and isinstance(of, TileType) and into.cols != of.cols:
        subject.refuse(
            step,
            f"src has {of.cols} columns and dst {into.cols}; a single list keeps its columns",
            f"allocate dst with {of.cols} columns",
        )


def _check_tsort32(subject: _Subject, step: Step) -> None:
    for name in ("idx", "index_dst"):
        value = step.optional(name)
        type_ = None if value is None else subject.type(value)
        if value is not None and isinstance(type_, TileType) and type_.element not in ("ui32", "i32"):
            shown = subject.function.name_of(value)
            subject.refuse(
                step,
                f"idx, {shown}, holds {type_.element}; indices are 32-bit integers",
                "declare the tile with dtype=ui32",
            )


def _check_tgather(subject: _Subject, step: Step) -> None:
    masked, indexed = step.attributes["mask_pattern"] is not None, step.optional("idx") is not None
    if masked == indexed:
        which = "both a mask pattern and indices" if masked else "neither a mask pattern nor indices"
        subject.refuse(
            step, f"there are {which}", "write {maskPattern = #pto.mask_pattern<P0101>} or an index tile"
        )


def _check_address(subject: _Subject, step: Step) -> None:
    address = step.attributes["address"]
    if isinstance(address, int) and address < 0:
        subject.refuse(step, f"the address is {address}; addresses count bytes from 0")


_CHECKS: dict[str, Callable[[_Subject, Step], None]] = {
    "tmrgsort": _check_tmrgsort,
    "tsort32": _check_tsort32,
    "tgather": _check_tgather,
    "alloc_tile": _check_address,
    "tassign": _check_address,
}
