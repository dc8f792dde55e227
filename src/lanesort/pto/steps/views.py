"""Steps that make, change and take apart views: tensor views, tiles, pointers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from lanesort.errors import MachineError
from lanesort.pto.machine import Machine
from lanesort.pto.memory import ELEMENTS, Pointer
from lanesort.pto.program import OpaqueType, PtrType, ScalarType, Step, TileType, Type
from lanesort.pto.steps.step import Factory, PreparedStep, Registers, Scope
from lanesort.pto.view import PlacedTile, TensorView

__all__ = ["FACTORIES"]

_MEMREF = re.compile(r"memref<(?:(?P<rows>\d+)x)?(?P<cols>\d+)x(?P<element>\w+)\b")


def _tensor_view(step: Step, scope: Scope) -> PreparedStep:
    source, shape, strides = step.value("ptr"), step.values("shape"), step.values("strides")
    (result,) = step.results
    if len(shape) != len(strides):
        raise MachineError(
            f"{len(shape)} sizes and {len(strides)} strides; a view needs one stride a dimension"
        )

    def run(registers: Registers) -> None:
        sizes = tuple([registers[v] for v in shape])
        if min(sizes, default=0) < 0:
            raise MachineError(f"a view can't have the sizes {sizes}; each is 0 or more")
        registers[result] = TensorView(registers[source], sizes, tuple([registers[v] for v in strides]))

    return PreparedStep(step.op, step.place, run)


def _partition(step: Step, scope: Scope) -> PreparedStep:
    view, offsets, sizes = step.value("view"), step.values("offsets"), step.values("sizes")
    (result,) = step.results

    def run(registers: Registers) -> None:
        registers[result] = registers[view].part(
            tuple([registers[v] for v in offsets]), tuple([registers[v] for v in sizes])
        )

    return PreparedStep(step.op, step.place, run)


def _valid(type: TileType, registers: Registers, rows: int | None, cols: int | None) -> tuple[int, int]:
    """Return the valid size: of the operands if given, else of the type, else all."""
    given_rows = type.rows if type.valid_rows is None else type.valid_rows
    given_cols = type.cols if type.valid_cols is None else type.valid_cols
    return (
        given_rows if rows is None else registers[rows],
        given_cols if cols is None else registers[cols],
    )


def _alloc(step: Step, scope: Scope) -> PreparedStep:
    (result,) = step.results
    type = scope.tile_type(result)
    addr, rows, cols = (step.optional(name) for name in ("addr", "valid_rows", "valid_cols"))
    given = step.attributes.get("address")
    fixed = given if isinstance(given, int) else scope.addresses.get(result, 0)

    def run(registers: Registers) -> None:
        address = fixed if addr is None else registers[addr]
        registers[result] = PlacedTile(registers[-1].ub, address, type, _valid(type, registers, rows, cols))

    return PreparedStep(step.op, step.place, run)


def _two(values: tuple[int, ...]) -> tuple[int | None, int | None]:
    if len(values) == 2:
        return values[0], values[1]
    return None, values[0] if values else None


def _subview(step: Step, scope: Scope) -> PreparedStep:
    source, offsets = step.value("src"), step.values("offsets")
    (result,) = step.results
    type = scope.tile_type(result)
    valid_rows, valid_cols = _two(step.values("valid"))
    sizes = step.attributes.get("sizes")
    row, column = offsets if len(offsets) == 2 else (-1, -1)
    if row < 0:
        raise MachineError(f"a window of a tile has 2 offsets, and here are {len(offsets)}")

    def run(registers: Registers) -> None:
        tile: PlacedTile = registers[source]
        cut = _cut(type, sizes, tile)
        registers[result] = tile.sub(
            registers[row], registers[column], cut, _valid(cut, registers, valid_rows, valid_cols)
        )

    return PreparedStep(step.op, step.place, run)


def _cut(type: TileType, sizes: Any, tile: PlacedTile) -> TileType:
    """Return the window's type with the size that `sizes` gives, as some texts keep the source's."""
    if not isinstance(sizes, tuple) or (type.rows, type.cols) == sizes:
        return type
    rows, cols = sizes
    valid_rows = None if type.valid_rows is None else min(type.valid_rows, rows)
    valid_cols = None if type.valid_cols is None else min(type.valid_cols, cols)
    return TileType(
        rows, cols, type.element, valid_rows, valid_cols, type.location, type.blayout, pad=type.pad
    )


def _set_valid(step: Step, scope: Scope) -> PreparedStep:
    tile, rows, cols = step.value("tile"), step.value("rows"), step.value("cols")

    def run(registers: Registers) -> None:
        registers[tile].resize(registers[rows], registers[cols])

    return PreparedStep(step.op, step.place, run)


def _memory_type(type: Type) -> TileType | None:
    """Return the tile that a type means; the text of a memref of UB counts as one."""
    if isinstance(type, TileType):
        return type
    found = _MEMREF.match(type.text) if isinstance(type, OpaqueType) else None
    if found is None or found["element"] not in ELEMENTS:
        return None
    rows, cols = int(found["rows"] or 1), int(found["cols"])
    return TileType(rows, cols, found["element"], None, None)


def _retype(step: Step, scope: Scope) -> PreparedStep:
    """Read the bytes of a tile under another type: ``treshape`` and ``bind_tile``."""
    source = step.value("src")
    # Where the text names a destination, that tile becomes the other reading.
    (result,) = step.results or (step.value("dst"),)
    type = _memory_type(scope.type(result))
    rows, cols = _two(step.values("valid") if step.op == "bind_tile" else ())

    def run(registers: Registers) -> None:
        tile = registers[source]
        if type is None or not isinstance(tile, PlacedTile):
            registers[result] = tile
            return
        made = PlacedTile(tile.memory, tile.address, type, _valid(type, registers, rows, cols))
        if made.extent_bytes > tile.extent_bytes:
            raise MachineError(
                f"the tile has {tile.extent_bytes} bytes, and the type that it is read as {made.extent_bytes}"
            )
        if tile.rows > 1 and not tile.is_contiguous:
            raise MachineError(
                "a window whose rows don't follow one another can't be read under another type"
            )
        registers[result] = made

    return PreparedStep(step.op, step.place, run)


def _assign(step: Step, scope: Scope) -> PreparedStep:
    tile, addr, fixed = step.value("tile"), step.optional("addr"), step.attributes.get("address")

    def run(registers: Registers) -> None:
        registers[tile].move(fixed if addr is None else registers[addr])

    return PreparedStep(step.op, step.place, run)


def _pointer(value: Any, type: PtrType, machine: Machine) -> Pointer:
    if isinstance(value, Pointer):
        return Pointer(value.memory, value.offset_bytes, type.element)
    if isinstance(value, PlacedTile):
        return Pointer(value.memory, value.address, type.element)
    if isinstance(value, TensorView):
        return Pointer(value.pointer.memory, value.pointer.offset_bytes, type.element)
    if type.space != "ub":
        raise MachineError(f"address {value} of global memory is not known; pointers to it are arguments")
    return Pointer(machine.ub, value, type.element)


def _cast_pointer(step: Step, scope: Scope) -> PreparedStep:
    source = step.value("src")
    (result,) = step.results
    type = scope.type(result)

    def run(registers: Registers) -> None:
        value = registers[source]
        if isinstance(type, PtrType):
            registers[result] = _pointer(value, type, registers[-1])
        elif isinstance(type, ScalarType) and isinstance(value, Pointer):
            registers[result] = value.offset_bytes
        else:
            registers[result] = value

    return PreparedStep(step.op, step.place, run)


def _add_pointer(step: Step, scope: Scope) -> PreparedStep:
    source, offset = step.value("ptr"), step.value("offset")
    (result,) = step.results

    def run(registers: Registers) -> None:
        registers[result] = registers[source].moved(registers[offset])

    return PreparedStep(step.op, step.place, run)


def _place_memory(step: Step, scope: Scope) -> PreparedStep:
    """Make a tile, or a pointer, of an address: ``pointer_cast``."""
    addresses = step.values("addrs")
    (result,) = step.results
    type = _memory_type(scope.type(result))
    pointed = scope.type(result)
    rows, cols = _two(step.values("valid"))
    if len(addresses) != 1:
        raise MachineError(f"{len(addresses)} addresses; one is modelled: write a pointer_cast for each")

    def run(registers: Registers) -> None:
        address, machine = registers[addresses[0]], registers[-1]
        if type is not None:
            registers[result] = PlacedTile(machine.ub, address, type, _valid(type, registers, rows, cols))
        elif isinstance(pointed, PtrType):
            registers[result] = _pointer(address, pointed, machine)
        else:
            raise MachineError(f"the result type {pointed} is not modelled; a tile or a pointer is")

    return PreparedStep(step.op, step.place, run)


FACTORIES: Mapping[str, Factory] = MappingProxyType(
    {
        "make_tensor_view": _tensor_view,
        "partition_view": _partition,
        "alloc_tile": _alloc,
        "subview": _subview,
        "set_validshape": _set_valid,
        "treshape": _retype,
        "bind_tile": _retype,
        "tassign": _assign,
        "castptr": _cast_pointer,
        "tile_buf_addr": _cast_pointer,
        "addptr": _add_pointer,
        "pointer_cast": _place_memory,
    }
)
"""Operation name to what prepares it."""
