"""Steps that read and write single elements, ask for the block, print, or order the pipes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from lanesort.errors import MachineError
from lanesort.pto.machine import BlockIndex
from lanesort.pto.memory import GlobalBuffer, Pointer, UnifiedBuffer, Window
from lanesort.pto.operations import SYNCHRONISATION
from lanesort.pto.program import Step
from lanesort.pto.result import PIPES
from lanesort.pto.scalar import wrapper
from lanesort.pto.steps.step import Accesses, Factory, PreparedStep, Registers, Scope
from lanesort.pto.view import PlacedTile

__all__ = ["FACTORIES"]

MOST_LOG_LINES = 1000


def _plain(value: Any) -> int | float:
    """Return a NumPy element as a Python number."""
    return int(value) if value.dtype.kind in "iub" else float(value)


def _load(step: Step, scope: Scope) -> PreparedStep:
    source, offset = step.value("ptr"), step.value("offset")
    (result,) = step.results
    fit = wrapper(scope.type(result))

    def accesses(registers: Registers) -> Accesses:
        return ((registers[source].moved(registers[offset]).access(1),), ())

    def run(registers: Registers) -> None:
        pointer: Pointer = registers[source].moved(registers[offset])
        element = pointer.elements(1)
        if isinstance(pointer.memory, UnifiedBuffer):
            pointer.memory.check(pointer.access(1))
        registers[result] = fit(_plain(element[0]))

    return PreparedStep(step.op, step.place, run, accesses=accesses)


def _store(step: Step, scope: Scope) -> PreparedStep:
    target, offset, value = step.value("ptr"), step.value("offset"), step.value("value")

    def accesses(registers: Registers) -> Accesses:
        return ((), (registers[target].moved(registers[offset]).access(1),))

    def run(registers: Registers) -> None:
        pointer: Pointer = registers[target].moved(registers[offset])
        _put(pointer.elements(1), 0, registers[value])
        if isinstance(pointer.memory, GlobalBuffer):
            pointer.memory.changed = True
        else:
            pointer.memory.mark(pointer.access(1))

    return PreparedStep(step.op, step.place, run, accesses=accesses)


def _put(elements: Any, at: Any, value: Any) -> None:
    dtype = elements.dtype
    if dtype.kind in "iu":
        if isinstance(value, float):
            raise MachineError(f"{value} is a float, and the element is of {dtype}")
        elements.view(f"u{dtype.itemsize}")[at] = value & ((1 << 8 * dtype.itemsize) - 1)
    else:
        elements[at] = value


def _element(tile: PlacedTile, offset: int) -> Window:
    """Return the element that many elements behind the first, row by row."""
    if not 0 <= offset < tile.rows * tile.columns:
        raise MachineError(f"element {offset} of a tile of {tile.rows} × {tile.columns} elements")
    row, column = divmod(offset, tile.columns)
    address = tile.address + row * tile.row_stride + column * tile.column_stride
    return tile.memory.window(address, tile.element, 1, 1, tile.row_stride, tile.column_stride)


def _get(step: Step, scope: Scope) -> PreparedStep:
    source, offset = step.value("src"), step.value("offset")
    (result,) = step.results
    scope.tile_type(source)
    fit = wrapper(scope.type(result))

    def accesses(registers: Registers) -> Accesses:
        return ((_element(registers[source], registers[offset]).access,), ())

    def run(registers: Registers) -> None:
        element = _element(registers[source], registers[offset])
        registers[result] = fit(_plain(registers[-1].ub.read(element)[0, 0]))

    return PreparedStep(step.op, step.place, run, accesses=accesses)


def _set(step: Step, scope: Scope) -> PreparedStep:
    target, offset, value = step.value("dst"), step.value("offset"), step.value("value")
    scope.tile_type(target)

    def accesses(registers: Registers) -> Accesses:
        return ((), (_element(registers[target], registers[offset]).access,))

    def run(registers: Registers) -> None:
        element = _element(registers[target], registers[offset])
        _put(element.view, (0, 0), registers[value])
        registers[-1].ub.wrote(element)

    return PreparedStep(step.op, step.place, run, accesses=accesses)


def _block(read: Callable[[BlockIndex], int]) -> Factory:
    def factory(step: Step, scope: Scope) -> PreparedStep:
        (result,) = step.results

        def run(registers: Registers) -> None:
            registers[result] = read(registers[-1].block)

        return PreparedStep(step.op, step.place, run)

    return factory


def _print(step: Step, scope: Scope) -> PreparedStep:
    source = step.value("src")
    name = scope.function.name_of(source)

    def run(registers: Registers) -> None:
        value, log = registers[source], registers[-1].log
        if len(log) < MOST_LOG_LINES:
            shown = np.array2string(value.window.view) if isinstance(value, PlacedTile) else str(value)
            log.append(f"{name} = {shown}")

    return PreparedStep(step.op, step.place, run)


def _counts(step: Step, scope: Scope) -> PreparedStep:
    results = step.results

    def run(registers: Registers) -> None:
        for result, count in zip(results, registers[-1].merge_counts, strict=True):
            registers[result] = count

    return PreparedStep(step.op, step.place, run)


def _pipe(text: Any) -> str:
    name = str(text or "").removeprefix("PIPE_")
    return name if name in PIPES else "S"


def _synchronise(step: Step, scope: Scope) -> PreparedStep:
    """Do nothing: the model runs steps in order. The trace keeps it for the hazard check."""
    pipe = _pipe(step.attributes.get("dst" if step.op == "wait_flag" else "src"))
    detail = {name: value for name, value in step.attributes.items() if value is not None}
    return PreparedStep(step.op, step.place, lambda registers: None, pipe, detail=detail)


FACTORIES: Mapping[str, Factory] = MappingProxyType(
    {
        "load_scalar": _load,
        "store_scalar": _store,
        "tgetval": _get,
        "tsetval": _set,
        "get_block_idx": _block(lambda block: block.index),
        "get_block_num": _block(lambda block: block.count),
        "get_subblock_idx": _block(lambda block: block.sub_index),
        "get_subblock_num": _block(lambda block: block.sub_count),
        "tprint": _print,
        "get_vms4_sr": _counts,
        **dict.fromkeys(SYNCHRONISATION, _synchronise),
    }
)
"""Operation name to what prepares it."""
