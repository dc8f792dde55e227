"""Steps of TSORT32 and TMRGSORT, and of the low-level instructions below them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import numpy as np

from lanesort.errors import MachineError
from lanesort.pto.machine import Machine
from lanesort.pto.memory import ELEMENTS, Access, Pointer, UnifiedBuffer
from lanesort.pto.merging import Merge
from lanesort.pto.operand import MergeOperands, Outcome, Sort32Operands, TileOperand, round_up
from lanesort.pto.program import Step, TileType
from lanesort.pto.sorting import Sort32
from lanesort.pto.steps.step import Accesses, Factory, PreparedStep, Registers, Scope
from lanesort.pto.tile import PAIR_BYTES, pair_views
from lanesort.pto.tsort32 import BLOCK
from lanesort.pto.view import PlacedTile

__all__ = ["FACTORIES"]

LARGEST_REPEAT = 255
MASKS = {0b0011: 2, 0b0111: 3, 0b1111: 4}


def _report(machine: Machine, step: Step, outcome: Outcome) -> None:
    machine.unpinned.update(outcome.unpinned)
    for warning in outcome.warnings:
        machine.warn(warning, step.place)
    detail: dict[str, Any] = {"produced_columns": outcome.produced_columns}
    if outcome.executed is not None:
        detail["executed"] = outcome.executed
    machine.trace.detail = detail


def _sorter(machine: Machine, step: Step, tiles: Sequence[PlacedTile]) -> Sort32:
    """Return the checked instruction on tiles dst, src, idx and, if there is one, tmp."""

    def make() -> Sort32:
        roles = ("dst", "src", "idx", "tmp")
        operands = [tile.operand(role) for tile, role in zip(tiles, roles, strict=False)]
        return Sort32(Sort32Operands(*operands), machine.target, machine.engine, machine.choices)

    return machine.checked(step, tiles, make)


def _sort_tiles(machine: Machine, step: Step, tiles: Sequence[PlacedTile]) -> None:
    dst, src, idx = tiles[:3]
    sorter = _sorter(machine, step, tiles)
    ub = machine.ub
    ub.read(src.window)
    ub.read(idx.part(1 if sorter.one_index_row else sorter.rows, sorter.columns))
    tmp = tiles[3].whole.view if len(tiles) > 3 else None
    outcome = sorter.run(dst.whole.view, src.whole.view, idx.whole.view, tmp)
    ub.wrote(dst.part(sorter.rows, outcome.produced_columns))
    _report(machine, step, outcome)


def _sort_accesses(tiles: Sequence[PlacedTile]) -> Accesses:
    dst, src, idx, *scratch = tiles
    coef = PAIR_BYTES // ELEMENTS[src.element].itemsize
    lanes = round_up(src.valid_columns, BLOCK)
    written = dst.part(min(dst.rows, src.valid_rows), min(dst.columns, coef * lanes))
    touched = idx.part(idx.valid_rows, min(idx.columns, lanes))
    return (src.window.access, touched.access), (written.access, *(t.whole.access for t in scratch))


def _tsort32(step: Step, scope: Scope) -> PreparedStep:
    dst, src, idx, tmp = step.value("dst"), step.value("src"), step.optional("idx"), step.optional("tmp")
    if idx is None:
        return _tsort32_apart(step, scope)
    values = [dst, src, idx] if tmp is None else [dst, src, idx, tmp]
    for value in values:
        scope.tile_type(value)

    def accesses(registers: Registers) -> Accesses:
        return _sort_accesses([registers[v] for v in values])

    def run(registers: Registers) -> None:
        _sort_tiles(registers[-1], step, [registers[v] for v in values])

    return PreparedStep(step.op, step.place, run, "V", accesses, always_traced=True)


def _tsort32_apart(step: Step, scope: Scope) -> PreparedStep:
    """Prepare the oldest form: indices are not read, and go to a tile of their own."""
    dst, src, index_dst = step.value("dst"), step.value("src"), step.value("index_dst")
    for value in (dst, src, index_dst):
        scope.tile_type(value)

    def accesses(registers: Registers) -> Accesses:
        written = (registers[dst].window.access, registers[index_dst].window.access)
        return (registers[src].window.access,), written

    def run(registers: Registers) -> None:
        machine, tile = registers[-1], registers[src]
        rows, columns = tile.valid_rows, tile.valid_columns
        lanes, coef = round_up(columns, BLOCK), PAIR_BYTES // ELEMENTS[tile.element].itemsize
        operands = Sort32Operands(
            TileOperand.of("dst", ELEMENTS[tile.element], rows, coef * lanes),
            tile.operand("src"),
            TileOperand.of("idx", np.uint32, 1, lanes, valid=(1, columns)),
        )
        sorter = machine.checked(
            step, [tile], lambda: Sort32(operands, machine.target, machine.engine, machine.choices)
        )
        pairs = np.zeros((rows, coef * lanes), ELEMENTS[tile.element])
        machine.ub.read(tile.window)
        outcome = sorter.run(pairs, tile.whole.view, np.arange(lanes, dtype=np.uint32)[None])
        values, indices, _ = pair_views(pairs, columns)
        for target, found in ((registers[dst], values), (registers[index_dst], indices)):
            window = target.part(rows, columns)
            window.view[...] = found.astype(window.view.dtype)
            machine.ub.wrote(window)
        _report(machine, step, outcome)

    return PreparedStep(step.op, step.place, run, "V", accesses, always_traced=True)


def _merge_tiles(
    machine: Machine,
    step: Step,
    dst: PlacedTile,
    sources: Sequence[PlacedTile],
    tmp: PlacedTile | None,
    block_len: int | None,
    exhausted: bool,
) -> Outcome:
    def make() -> Merge:
        roles = ["src"] if len(sources) == 1 else [f"src{n}" for n in range(len(sources))]
        operands = MergeOperands(
            dst.operand("dst"),
            tuple(tile.operand(role) for tile, role in zip(sources, roles, strict=True)),
            None if tmp is None else tmp.operand("tmp"),
            block_len,
            exhausted,
        )
        if tmp is not None and tmp.columns < dst.columns:
            machine.warn(
                f"tmp has {tmp.columns} columns and dst {dst.columns}: the instruction takes it, "
                "the PTO assembler wants as many in tmp",
                step.place,
            )
        return Merge(operands, machine.target, machine.engine, machine.choices, machine.check_sorted)

    tiles = [dst, *sources] if tmp is None else [dst, *sources, tmp]
    merge: Merge = machine.checked(step, tiles, make, block_len)
    ub = machine.ub
    for source in sources:
        ub.read(source.window)
    views = [source.whole.view for source in sources]
    outcome = merge.run(dst.whole.view, views, None if tmp is None else tmp.whole.view)
    ub.wrote(dst.part(1, min(outcome.produced_columns, dst.columns)))
    if outcome.executed is not None:
        machine.count(outcome.executed, exhausted)
    _report(machine, step, outcome)
    return outcome


def _merge_accesses(
    dst: PlacedTile, sources: Sequence[PlacedTile], tmp: PlacedTile | None
) -> tuple[tuple[Access, ...], tuple[Access, ...]]:
    written = (dst.window.access,) if tmp is None else (dst.window.access, tmp.whole.access)
    return tuple(source.window.access for source in sources), written


def _tmrgsort(step: Step, scope: Scope) -> PreparedStep:
    dst, sources, tmp = step.value("dst"), step.values("sources"), step.optional("tmp")
    executed, length, fixed = (
        step.optional("executed"),
        step.optional("block_len"),
        step.attributes["block_len"],
    )
    exhausted = bool(step.attributes["exhausted"])
    for value in (dst, *sources):
        scope.tile_type(value)
    if len(sources) == 1 and length is None and not isinstance(fixed, int):
        raise MachineError("a merge of one source needs blockLen, or further sources")
    block_len = fixed if isinstance(fixed, int) and len(sources) == 1 else None

    def accesses(registers: Registers) -> Accesses:
        scratch = None if tmp is None else registers[tmp]
        return _merge_accesses(registers[dst], [registers[v] for v in sources], scratch)

    def run(registers: Registers) -> None:
        outcome = _merge_tiles(
            registers[-1],
            step,
            registers[dst],
            [registers[v] for v in sources],
            None if tmp is None else registers[tmp],
            block_len if length is None else registers[length],
            exhausted,
        )
        if executed is not None and outcome.executed is not None:
            registers[executed] = outcome.executed

    return PreparedStep(step.op, step.place, run, "V", accesses, always_traced=True)


def _at(pointer: Pointer, columns: int, element: str | None = None) -> PlacedTile:
    """Return the tile of one row that begins where a pointer into UB points."""
    if not isinstance(pointer.memory, UnifiedBuffer):
        raise MachineError("pointers have to point into UB, and one points to global memory")
    type = TileType(1, columns, element or pointer.element, 1, columns)
    return PlacedTile(pointer.memory, pointer.offset_bytes, type, (1, columns))


def _vbitsort(step: Step, scope: Scope) -> PreparedStep:
    values = [step.value(name) for name in ("dst", "src", "idx")]
    repeat = step.value("repeat")

    def tiles(registers: Registers) -> list[PlacedTile]:
        dst, src, idx = (registers[v] for v in values)
        blocks = registers[repeat]
        if not 1 <= blocks <= LARGEST_REPEAT:
            raise MachineError(f"repeat is {blocks}; one call sorts 1 to {LARGEST_REPEAT} blocks of 32")
        coef = PAIR_BYTES // src.itemsize
        return [_at(dst, coef * BLOCK * blocks), _at(src, BLOCK * blocks), _at(idx, BLOCK * blocks)]

    def run(registers: Registers) -> None:
        _sort_tiles(registers[-1], step, tiles(registers))

    return PreparedStep(
        step.op, step.place, run, "V", lambda registers: _sort_accesses(tiles(registers)), always_traced=True
    )


def _lists(
    registers: Registers, pointers: Sequence[int], lengths: int, config: int
) -> tuple[PlacedTile, list[PlacedTile], int, bool]:
    """Read the words of a vmrgsort4: the first merge's tiles, the repeat, and exhausted."""
    dst, *sources = (registers[v] for v in pointers)
    repeat, mask, exhausted = config & 0xFF, config >> 8 & 0xF, bool(config >> 12 & 1)
    if mask not in MASKS:
        raise MachineError(f"list mask is 0b{mask:04b}; it is 0b0011, 0b0111 or 0b1111")
    pairs = [lengths >> 16 * n & 0xFFFF for n in range(MASKS[mask])]
    if repeat == 0:
        raise MachineError(f"repeat is 0 in the configuration word 0x{config:x}; it is 1 … {LARGEST_REPEAT}")
    coef = PAIR_BYTES // dst.itemsize
    tiles = [_at(s, coef * n, dst.element) for s, n in zip(sources, pairs, strict=False)]
    if repeat > 1 and (len(set(pairs)) > 1 or mask != 0b1111 or exhausted):
        raise MachineError(
            f"repeat is {repeat}; it needs four lists of one length and no exhausted suspension"
        )
    if repeat > 1 and any(b.address - a.address != a.extent_bytes for a, b in pairwise(tiles)):
        raise MachineError(f"repeat is {repeat}; it needs lists that follow one another in UB")
    return _at(dst, coef * sum(pairs)), tiles, repeat, exhausted


def _vmrgsort4(step: Step, scope: Scope) -> PreparedStep:
    pointers = [step.value(name) for name in ("dst", "src0", "src1", "src2", "src3")]
    lengths, config = step.value("lengths"), step.value("config")

    def read(registers: Registers) -> tuple[PlacedTile, list[PlacedTile], int, bool]:
        return _lists(registers, pointers, registers[lengths], registers[config])

    def accesses(registers: Registers) -> Accesses:
        dst, sources, repeat, _ = read(registers)
        reads, writes = _merge_accesses(dst, sources, None)
        if repeat == 1:
            return reads, writes
        span = dst.extent_bytes * repeat
        return (Access("ub", sources[0].address, span),), (Access("ub", dst.address, span),)

    def run(registers: Registers) -> None:
        dst, sources, repeat, exhausted = read(registers)
        if any(dst.window.overlaps(source.window) for source in sources):
            raise MachineError("dst overlaps a list: pairs would be written before all are read")
        stride = dst.extent_bytes
        for _ in range(repeat):
            _merge_tiles(registers[-1], step, dst, sources, None, None, exhausted)
            for tile in (dst, *sources):
                tile.move(tile.address + stride)

    return PreparedStep(step.op, step.place, run, "V", accesses, always_traced=True)


_TABLE: dict[str, Callable[[Step, Scope], PreparedStep]] = {
    "tsort32": _tsort32,
    "tmrgsort": _tmrgsort,
    "vbitsort": _vbitsort,
    "vmrgsort4": _vmrgsort4,
}

FACTORIES: Mapping[str, Factory] = MappingProxyType(_TABLE)
"""Operation name to what prepares it."""
