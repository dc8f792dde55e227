"""Steps of the element-wise and row operations, and of TGATHER."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from lanesort.errors import MachineError
from lanesort.pto.elementwise import TILE_OPERATIONS
from lanesort.pto.gather import gather_by_index, gather_by_mask, index_windows, mask_windows
from lanesort.pto.memory import Window
from lanesort.pto.program import Step, TileType
from lanesort.pto.steps.step import Accesses, Factory, PreparedStep, Registers, Scope

__all__ = ["FACTORIES"]


def _require_apart(windows: Sequence[Window], in_place: bool) -> None:
    """Refuse a destination that shares bytes with an input, other than being exactly there."""
    into = windows[0]
    for window in windows[1:]:
        if window.start < into.stop and into.start < window.stop:
            exact = (
                window.start == into.start
                and window.view.itemsize == into.view.itemsize
                and (into.access.rows <= 1 or window.access.stride_bytes == into.access.stride_bytes)
            )
            if not (in_place and exact) and into.overlaps(window):
                raise MachineError(
                    f"dst (bytes {into.start} … {into.stop - 1} of UB) overlaps an input (bytes "
                    f"{window.start} … {window.stop - 1}); "
                    + ("only exactly the same place is allowed" if in_place else "they have to be apart")
                )


def _step(
    step: Step,
    operands: Sequence[int],
    scalars: Sequence[int],
    windows_of: Callable[..., tuple[Window, ...]],
    work: Callable[..., None],
    in_place: bool,
    scratch: int | None,
) -> PreparedStep:
    """Make the step of an operation on tiles: `operands` are tiles, the destination first."""

    def accesses(registers: Registers) -> Accesses:
        into, *sources = windows_of(*[registers[v] for v in operands])
        writes = [into.access]
        if scratch is not None:
            writes.append(registers[scratch].window.access)
        return [window.access for window in sources], writes

    checked: tuple[Window, ...] = ()

    def run(registers: Registers) -> None:
        nonlocal checked
        windows = windows_of(*[registers[v] for v in operands])
        if windows != checked:
            _require_apart(windows, in_place)
            checked = windows
        ub, into = registers[-1].ub, windows[0]
        work(into.view, *[ub.read(w) for w in windows[1:]], *[registers[v] for v in scalars])
        ub.wrote(into)

    return PreparedStep(step.op, step.place, run, "V", accesses)


def _float_step(
    step: Step,
    accesses: Callable[[Registers], Accesses],
    ufunc: np.ufunc,
    operands: Sequence[int],
    is_tile: bool,
) -> PreparedStep:
    """Make the step of a ufunc on tiles of one float type: dst, a tile, a tile or a number."""
    target, first, second = operands
    checked: tuple[Window, ...] = ()

    def run(registers: Registers) -> None:
        nonlocal checked
        dst, lhs, rhs = registers[target], registers[first].like(registers[target]), registers[second]
        into = dst.window
        windows: tuple[Window, ...] = (into, lhs, rhs.like(dst)) if is_tile else (into, lhs)
        if windows != checked:
            _require_apart(windows, True)
            checked = windows
        for window in windows[1:]:
            if not window.written:
                registers[-1].ub.read(window)
        ufunc(lhs.view, windows[2].view if is_tile else rhs, out=into.view)
        if not into.written:
            registers[-1].ub.wrote(into)

    return PreparedStep(step.op, step.place, run, "V", accesses)


def _scratch(step: Step) -> int | None:
    return step.optional("tmp") if "tmp" in step.signature.names else None


def _elementwise(step: Step, scope: Scope) -> PreparedStep:
    operation = TILE_OPERATIONS[step.op]
    values = [step.value(name) for name in operation.operands]
    tiles = [v for v in values if isinstance(scope.type(v), TileType)]
    scalars = [v for v in values if v not in tiles]
    dst = step.value("dst")
    for value in (dst, *tiles):
        scope.tile_type(value)
    attributes: dict[str, Any] = {**step.attributes, "dst_pad": scope.tile_type(dst).pad}
    windows, work = operation.domain.windows, operation.make(attributes)
    made = _step(step, [dst, *tiles], scalars, windows, work, operation.in_place, _scratch(step))
    elements = {scope.tile_type(value).element for value in (dst, *tiles)}
    if operation.ufunc is None or len(elements) > 1 or not elements <= {"f32", "f16"}:
        return made
    return _float_step(step, made.accesses, operation.ufunc, [dst, *values], not scalars)


def _gather(step: Step, scope: Scope) -> PreparedStep:
    dst, src, idx = step.value("dst"), step.value("src"), step.optional("idx")
    for value in (dst, src) if idx is None else (dst, src, idx):
        scope.tile_type(value)
    if idx is not None:
        return _step(step, [dst, src, idx], (), index_windows, gather_by_index, False, _scratch(step))
    pattern, axis = step.attributes.get("mask_pattern"), step.attributes.get("axis") or "row"
    if not isinstance(pattern, str):
        raise MachineError("tgather needs a mask pattern or a tile of indices")
    windows = mask_windows(pattern, axis == "col")
    work = partial(gather_by_mask, pattern=pattern)
    if axis == "col":
        return _step(step, [dst, src], (), windows, lambda d, s: work(d.T, s.T), False, None)
    return _step(step, [dst, src], (), windows, work, False, None)


FACTORIES: Mapping[str, Factory] = MappingProxyType(
    {**dict.fromkeys(TILE_OPERATIONS, _elementwise), "tgather": _gather}
)
"""Operation name to what prepares it."""
