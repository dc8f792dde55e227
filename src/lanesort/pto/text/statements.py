"""The text of one step, in the form with destinations or in the SSA form."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from lanesort.pto.operations import OPERATIONS
from lanesort.pto.program import Step, Type

__all__ = ["Namer", "VALUE_FORM", "statement", "value_statement"]

_WRITTEN = ("dst", "index_dst", "executed")
VALUE_FORM = frozenset(
    name
    for name, signature in OPERATIONS.items()
    if "dst" in signature.operands and not signature.results and name not in ("treshape", "tsetval", "tstore")
    if not name.startswith(("mte_", "dma_", "copy_", "v"))
)
"""Operations that have an SSA form: the destination is a result."""

_BARE_KEY = re.compile(r"[A-Za-z_][\w$.]*")


class Namer:
    """Names and types of values as the text shows them."""

    def __init__(self, names: Sequence[str], types: Sequence[Type], show: Callable[[Type], str]) -> None:
        self._names = names
        self._types = types
        self._show = show

    def name(self, value: int) -> str:
        """Return ``%name``."""
        return f"%{self._names[value]}"

    def names(self, values: Sequence[int]) -> str:
        """Return names between commas."""
        return ", ".join(map(self.name, values))

    def type(self, value: int) -> str:
        """Return the text of a value's type."""
        return self._show(self._types[value])

    def types(self, values: Sequence[int]) -> str:
        """Return types between commas."""
        return ", ".join(map(self.type, values))


def dictionary(entries: Mapping[str, str], space: str = " ") -> str:
    """Return ``{name = text, …}`` behind a blank, or nothing."""
    shown = ", ".join(_entry(name, text) for name, text in sorted(entries.items()))
    return f"{space}{{{shown}}}" if shown else ""


def _entry(name: str, text: str) -> str:
    key = name if _BARE_KEY.fullmatch(name) else f'"{name}"'
    return key if text == "unit" else f"{key} = {text}"


def _flat(step: Step, names: Sequence[str]) -> list[int]:
    found: list[int] = []
    for name in names:
        operand = step.operands[step.signature.position(name)]
        if isinstance(operand, tuple):
            found += operand
        elif operand is not None:
            found.append(operand)
    return found


def _instruction_attributes(step: Step) -> dict[str, str]:
    """Return the attributes that stand inside ``ins(…)``."""
    shown: dict[str, str] = {}
    attributes = step.attributes
    if step.op == "tmrgsort" and len(step.values("sources")) > 1:
        shown["exhausted"] = "true" if attributes["exhausted"] else "false"
    elif attributes.get("exhausted"):
        shown["exhausted"] = "true"
    if attributes.get("block_len") is not None:
        shown["blockLen"] = f"{attributes['block_len']} : i32"
    for name, key, form in (
        ("mask_pattern", "maskPattern", "#pto.mask_pattern<{}>"),
        ("rmode", "rmode", "#pto<round_mode {}>"),
        ("cmp", "cmpMode", "#pto<cmp {}>"),
    ):
        if attributes.get(name) is not None:
            shown[key] = form.format(attributes[name])
    return shown


def _outer_attributes(step: Step) -> dict[str, str]:
    shown = dict(step.extra)
    if "descending" in step.attributes:
        shown["descending"] = "true" if step.attributes["descending"] else "false"
    return shown


def _inputs(step: Step) -> list[str]:
    """Return the operands of ``ins(…)`` in the assembler's order, tmp behind the lists."""
    names = [name for name in step.signature.names if name not in _WRITTEN]
    return sorted(names, key=lambda name: name == "tmp") if step.op == "tmrgsort" else names


def _tile_instruction(step: Step, namer: Namer) -> str:
    ins = _flat(step, _inputs(step))
    outs = _flat(step, [name for name in step.signature.names if name in _WRITTEN])
    inner = _instruction_attributes(step)
    comma = "," if "maskPattern" in inner else ""
    if step.op == "tmrgsort" and len(step.values("sources")) > 1 and step.optional("tmp") is None:
        comma = " no_tmp"
    axis = f', "{step.attributes["axis"]}"' if step.attributes.get("axis") is not None else ""
    types = f" : {namer.types(ins)}" if ins else ""
    text = f"pto.{step.op} ins({namer.names(ins)}{comma}{dictionary(inner)}{types}{axis})"
    if step.results:
        text += f" outs : {namer.types(step.results)}"
    elif outs:
        text += f" outs({namer.names(outs)} : {namer.types(outs)})"
    return text + dictionary(_outer_attributes(step))


def value_statement(step: Step, namer: Namer) -> str:
    """Return the SSA form: ``%dst = pto.op %a, %b {…} : (T, U) -> T``."""
    ins = _flat(step, _inputs(step))
    outs = _flat(step, [name for name in step.signature.names if name in _WRITTEN])
    shown = _instruction_attributes(step) | _outer_attributes(step)
    if step.attributes.get("axis") is not None:
        shown["axis"] = f'"{step.attributes["axis"]}"'
    results = namer.types(outs) if len(outs) == 1 else f"({namer.types(outs)})"
    head = f"{namer.names(outs)} = pto.{step.op} {namer.names(ins)}{dictionary(shown)}"
    return f"{head} : ({namer.types(ins)}) -> {results}"


def _unmodelled(step: Step, namer: Namer) -> str:
    ins, outs = step.values("ins"), step.values("outs")
    left = f"ins({namer.names(ins)} : {namer.types(ins)})" if ins else "ins()"
    right = f"outs({namer.names(outs)} : {namer.types(outs)})" if outs else "outs()"
    results = f" -> {namer.types(step.results)}" if step.results else ""
    return f"pto.{step.op} {left} {right}{dictionary(step.extra)}{results}"


def _list(step: Step, namer: Namer) -> str:
    values = list(step.used())
    results = f" -> {namer.types(step.results)}" if step.results else ""
    types = f" : {namer.types(values)}" if values else ""
    names = f" {namer.names(values)}" if values else ""
    return f"pto.{step.op}{names}{dictionary(step.extra)}{types}{results}"


def _alloc_tile(step: Step, namer: Namer) -> str:
    text = "pto.alloc_tile"
    for name, keyword in (("addr", "addr"), ("valid_rows", "valid_row"), ("valid_cols", "valid_col")):
        if (value := step.optional(name)) is not None:
            text += f" {keyword} = {namer.name(value)}"
    return f"{text}{dictionary(step.extra)} : {namer.type(step.results[0])}"


def _make_tensor_view(step: Step, namer: Namer) -> str:
    extra = dict(step.extra)
    if step.attributes["layout"] is not None:
        extra = {"layout": f"#pto.layout<{step.attributes['layout']}>"} | extra
    shape, strides = (namer.names(step.values(name)) for name in ("shape", "strides"))
    head = f"pto.make_tensor_view {namer.name(step.value('ptr'))}, shape = [{shape}], strides = [{strides}]"
    return f"{head}{dictionary(extra)} : {namer.type(step.results[0])}"


def _partition_view(step: Step, namer: Namer) -> str:
    view = step.value("view")
    offsets, sizes = (namer.names(step.values(name)) for name in ("offsets", "sizes"))
    head = f"pto.partition_view {namer.name(view)}, offsets = [{offsets}], sizes = [{sizes}]"
    return f"{head}{dictionary(step.extra)} : {namer.type(view)} -> {namer.type(step.results[0])}"


def _subview(step: Step, namer: Namer) -> str:
    src = step.value("src")
    valid = f" valid [{namer.names(step.values('valid'))}]" if step.values("valid") else ""
    numbers = step.attributes["sizes"]
    sizes = ", ".join(map(str, numbers)) if isinstance(numbers, tuple) else ""
    head = f"pto.subview {namer.name(src)}[{namer.names(step.values('offsets'))}] sizes [{sizes}]{valid}"
    return f"{head}{dictionary(step.extra)} : {namer.type(src)} -> {namer.type(step.results[0])}"


def _set_validshape(step: Step, namer: Namer) -> str:
    tile = step.value("tile")
    return f"pto.set_validshape {namer.names(list(step.used()))}{dictionary(step.extra)} : {namer.type(tile)}"


def _addptr(step: Step, namer: Namer) -> str:
    head = f"pto.addptr {namer.names(list(step.used()))}{dictionary(step.extra)}"
    return f"{head} : {namer.type(step.value('ptr'))} -> {namer.type(step.results[0])}"


def _load_scalar(step: Step, namer: Namer) -> str:
    ptr = step.value("ptr")
    head = f"pto.load_scalar {namer.name(ptr)}[{namer.name(step.value('offset'))}]{dictionary(step.extra)}"
    return f"{head} : {namer.type(ptr)} -> {namer.type(step.results[0])}"


def _store_scalar(step: Step, namer: Namer) -> str:
    value, ptr, offset = (step.value(name) for name in ("value", "ptr", "offset"))
    head = f"pto.store_scalar {namer.name(value)}, {namer.name(ptr)}[{namer.name(offset)}]"
    return f"{head}{dictionary(step.extra)} : {namer.types((ptr, value))}"


def _pointer_cast(step: Step, namer: Namer) -> str:
    valid = step.values("valid")
    shown = f" {namer.names(valid)}" if valid else ""
    head = f"pto.pointer_cast({namer.names(step.values('addrs'))}){shown}{dictionary(step.extra)}"
    return f"{head} : {namer.type(step.results[0])}"


def _burst_copy(step: Step, namer: Namer) -> str:
    plain = _flat(step, ["src", "dst", "l2_cache", "length"])
    text = f"pto.{step.op} {namer.names(plain)} nburst({namer.names(step.values('nburst'))})"
    loops = step.values("loops")
    for at in range(0, len(loops), 3):
        text += f" loop({namer.names(loops[at : at + 3])})"
    if step.values("pad"):
        text += f" pad({namer.names(step.values('pad'))})"
    return f"{text}{dictionary(step.extra)} : {namer.types(list(step.used()))}"


def _results_only(step: Step, namer: Namer) -> str:
    return f"pto.{step.op}{dictionary(step.extra)} : {namer.types(step.results)}"


def _flag(step: Step, namer: Namer) -> str:
    words = ", ".join(f'"{step.attributes[name]}"' for name in ("src", "dst", "event"))
    return f"pto.{step.op}[{words}]{dictionary(step.extra)}"


def _barrier(step: Step, namer: Namer) -> str:
    pipe = step.attributes["pipe"]
    where = f"[<{pipe}>]" if step.op == "barrier_sync" else f"#pto.pipe<{pipe}>"
    return f"pto.{step.op} {where}{dictionary(step.extra)}"


def _yield(step: Step, namer: Namer) -> str:
    values = step.values("values")
    return f"pto.yield({namer.names(values)}){dictionary(step.extra)} : ({namer.types(values)}) -> ()"


_LISTS = (
    "castptr tile_buf_addr vbitsort vmrgsort4 copy_gm_to_ubuf copy_ubuf_to_gm tassign bind_tile "
    "set_loop_size_outtoub set_loop_size_ubtoout set_loop1_stride_outtoub set_loop2_stride_outtoub "
    "set_loop1_stride_ubtoout set_loop2_stride_ubtoout"
)

_STATEMENTS: dict[str, Callable[[Step, Namer], str]] = {
    "alloc_tile": _alloc_tile,
    "make_tensor_view": _make_tensor_view,
    "partition_view": _partition_view,
    "subview": _subview,
    "set_validshape": _set_validshape,
    "addptr": _addptr,
    "load_scalar": _load_scalar,
    "store_scalar": _store_scalar,
    "pointer_cast": _pointer_cast,
    "barrier": _barrier,
    "barrier_sync": _barrier,
    "yield": _yield,
    **dict.fromkeys(("mte_gm_ub", "mte_ub_gm", "dma_load", "dma_store"), _burst_copy),
    **dict.fromkeys(("set_flag", "wait_flag", "record_event", "wait_event"), _flag),
    **{f"get_{what}_{unit}": _results_only for what in ("block", "subblock") for unit in ("idx", "num")},
    "get_vms4_sr": _results_only,
    **dict.fromkeys(_LISTS.split(), _list),
}


def _treshape(step: Step, namer: Namer) -> str:
    return _list(step, namer) if step.results else _tile_instruction(step, namer)


_STATEMENTS["treshape"] = _treshape


def statement(step: Step, namer: Namer) -> str:
    """Return the text of a `pto` step in the form with destinations, results in front."""
    write = _STATEMENTS.get(step.op, _tile_instruction) if step.modelled else _unmodelled
    left = f"{namer.names(step.results)} = " if step.results else ""
    return left + write(step, namer)
