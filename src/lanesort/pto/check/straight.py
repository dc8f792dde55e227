"""Follows the steps that run no others: views and numbers are computed, data is not moved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from lanesort.errors import LanesortError
from lanesort.pto.check.edit import Spot
from lanesort.pto.check.event import Event, Role
from lanesort.pto.check.state import UNKNOWN, Frame, Walk, is_number
from lanesort.pto.memory import Access, GlobalBuffer, Pointer
from lanesort.pto.operations import SYNCHRONISATION
from lanesort.pto.prepare import FACTORIES
from lanesort.pto.program import ScalarType, Step, TileType
from lanesort.pto.steps import arithmetic, views
from lanesort.pto.steps.step import PreparedStep, Scope
from lanesort.pto.view import PlacedTile

__all__ = ["SORTS", "Straight"]

SORTS = ("tsort32", "tmrgsort", "vbitsort", "vmrgsort4")
"""Instructions of the sorter."""

SCALAR_ACCESSES = ("load_scalar", "store_scalar", "tgetval", "tsetval")
POINTER_OPERATIONS = ("vbitsort", "vmrgsort4", *SCALAR_ACCESSES)
"""Operations whose scalars decide which bytes they touch."""

SILENT = ("tprint", "get_vms4_sr", "section.cube")
BLOCK_QUESTIONS = ("get_block_idx", "get_block_num", "get_subblock_idx", "get_subblock_num")

SIZE_OPERANDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "alloc_tile": ("valid_rows", "valid_cols"),
        "set_validshape": ("rows", "cols"),
        "subview": ("valid",),
        "bind_tile": ("valid",),
        "pointer_cast": ("valid",),
    }
)
"""Operands that only say which part of a tile is valid."""

STORES = ("tstore", "dma_store", "mte_ub_gm", "copy_ubuf_to_gm")
WRITTEN_ROLES = ("dst", "index_dst", "tmp", "outs")


class Straight:
    """Follows one step after another into a `Walk`."""

    def __init__(self, walk: Walk) -> None:
        self.walk = walk
        self._prepared: dict[int, PreparedStep | str] = {}
        self._stored: set[str] = set()

    def step(self, step: Step, spot: Spot, registers: list[Any], frame: Frame) -> None:
        """Follow one step."""
        path = (*frame.path, spot)
        if step.op in SYNCHRONISATION and step.modelled:
            pipe = str(step.attributes.get("src") or step.attributes.get("pipe") or "")
            event = Event(step, frame.function, pipe.removeprefix("PIPE_"), (), (), path, frame.branch)
            self.walk.events.append(event)
        elif not step.modelled or step.op not in FACTORIES:
            self._unmodelled(step, registers, frame, path)
        elif step.op in SILENT or step.op in BLOCK_QUESTIONS:
            _unknown_results(step, registers)
        elif step.op in arithmetic.FACTORIES or step.op in views.FACTORIES or step.op.startswith("set_loop"):
            self._compute(step, registers, frame)
        else:
            self._touch(step, registers, frame, path)

    def _unmodelled(self, step: Step, registers: list[Any], frame: Frame, path: tuple[Spot, ...]) -> None:
        name = step.op if "." in step.op else f"pto.{step.op}"
        self.walk.note(f"@{frame.function.name}: {name} is not modelled; of what it does nothing is checked")
        self._record(step, "V", self._rough(step, registers), registers, frame, path)
        _unknown_results(step, registers)

    def _prepare(self, step: Step, frame: Frame) -> PreparedStep | str:
        """Return the step as a run would have it, or why it can't be prepared."""
        found = self._prepared.get(id(step))
        if found is None:
            scope = Scope(frame.module, frame.function, frame.addresses, lambda steps: (), lambda name: None)
            try:
                found = FACTORIES[step.op](step, scope)
            except (LanesortError, KeyError) as error:
                found = str(error.args[0]) if error.args else str(error)
            self._prepared[id(step)] = found
        return found

    def _compute(self, step: Step, registers: list[Any], frame: Frame) -> None:
        """Follow a step that makes a number, a view or a tile."""
        prepared = self._prepare(step, frame)
        sizes = _size_values(step)
        missing = [value for value in step.used() if registers[value] is UNKNOWN]
        assumed = [value for value in missing if value in sizes]
        if isinstance(prepared, str):
            self.walk.refuse(step, frame.function, prepared)
            _unknown_results(step, registers)
        elif len(assumed) < len(missing):
            _unknown_results(step, registers)
        else:
            whole = self._whole_sizes(step, registers, frame, assumed)
            self._run(step, prepared, registers, frame, whole)

    def _whole_sizes(
        self, step: Step, registers: list[Any], frame: Frame, assumed: list[int]
    ) -> dict[int, int]:
        """Return what stands for valid sizes that are not known: all of the tile."""
        if not assumed:
            return {}
        rows, cols = _whole_size(step, registers, frame)
        names = _size_values(step)
        both = [value for value in assumed if names[value] == {"rows", "cols"}]
        sizes = {value: rows if names[value] == {"rows"} else cols for value in assumed}
        return sizes | {value: min(rows, cols) for value in both}

    def _run(
        self,
        step: Step,
        prepared: PreparedStep,
        registers: list[Any],
        frame: Frame,
        whole: Mapping[int, int],
    ) -> None:
        kept = {value: registers[value] for value in whole}
        for value, size in whole.items():
            registers[value] = size
        try:
            prepared.bare(registers)
        except LanesortError as error:
            self.walk.refuse(step, frame.function, str(error))
            _unknown_results(step, registers)
        for value, before in kept.items():
            registers[value] = before
        self._adopt(step, registers, frame, bool(whole))

    def _adopt(self, step: Step, registers: list[Any], frame: Frame, assumed: bool) -> None:
        """Remember where the tiles that a step made come from."""
        made = list(step.results)
        if step.op in ("set_validshape", "tassign"):
            made = [step.value("tile")]
        elif step.op == "treshape" and not made:
            made = [step.value("dst")]
        for value in made:
            tile = registers[value]
            if not isinstance(tile, PlacedTile):
                continue
            if step.op != "tassign":
                self.walk.assume(tile, assumed or self._open_type(step, tile))
            source = next(iter(step.used()), None)
            if step.op in ("alloc_tile", "pointer_cast", "tassign"):
                if step.op != "tassign" or self.walk.root(tile) is None:
                    self.walk.adopt(tile, value)
                self.walk.place(tile, value, step, frame.function)
            elif source is not None:
                self._inherit(tile, registers[source])

    def _inherit(self, tile: PlacedTile, source: Any) -> None:
        if isinstance(source, PlacedTile) and source is not tile:
            self.walk.adopt(tile, self.walk.root(source))

    def _open_type(self, step: Step, tile: PlacedTile) -> bool:
        """Say whether the type leaves the valid size open and no operand gives it."""
        given = bool(_size_values(step))
        return not given and None in (tile.type.valid_rows, tile.type.valid_cols)

    def _touch(self, step: Step, registers: list[Any], frame: Frame, path: tuple[Spot, ...]) -> None:
        """Follow a step that moves data: what it touches counts, not what it computes."""
        prepared = self._prepare(step, frame)
        if isinstance(prepared, str):
            self.walk.refuse(step, frame.function, prepared)
            self._record(step, "V", self._rough(step, registers), registers, frame, path)
        else:
            touched = self._touched(step, prepared, registers, frame)
            self._record(step, prepared.pipe or "S", touched, registers, frame, path)
        if not self._loaded(step, prepared, registers):
            _unknown_results(step, registers)

    def _touched(
        self, step: Step, prepared: PreparedStep, registers: list[Any], frame: Frame
    ) -> tuple[tuple[Access, ...], tuple[Access, ...], bool]:
        """Return reads, writes, and whether it also writes where one can't tell."""
        types = frame.function.types
        scalars_count = step.op in POINTER_OPERATIONS or prepared.pipe != "V"
        missing = [
            value
            for value in step.used()
            if registers[value] is UNKNOWN and (scalars_count or not isinstance(types[value], ScalarType))
        ]
        if missing:
            return self._rough(step, registers)
        try:
            reads, writes = prepared.accesses(registers)
        except LanesortError as error:
            # A size that only stands for an unknown one is no reason to refuse the step.
            if not any(role.assumed for role in self._roles(step, registers)):
                self.walk.refuse(step, frame.function, str(error))
            return self._rough(step, registers)
        return tuple(reads), tuple(writes), False

    def _rough(self, step: Step, registers: list[Any]) -> tuple[tuple[Access, ...], tuple[Access, ...], bool]:
        """Return the valid parts of the tiles that are known, by what the operands are called."""
        reads: list[Access] = []
        writes: list[Access] = []
        somewhere = False
        for name, value in _named(step):
            tile = registers[value]
            written = _written(step, name)
            if isinstance(tile, PlacedTile) and _inside(tile):
                (writes if written else reads).append(tile.window.access)
            elif written and (tile is UNKNOWN or isinstance(tile, Pointer)):
                somewhere = True
        return tuple(reads), tuple(writes), somewhere or step.op in ("store_scalar", "tsetval")

    def _record(
        self,
        step: Step,
        pipe: str,
        touched: tuple[tuple[Access, ...], tuple[Access, ...], bool],
        registers: list[Any],
        frame: Frame,
        path: tuple[Spot, ...],
    ) -> None:
        reads, writes, somewhere = touched
        if somewhere:
            line = f" in line {step.place.line}" if step.place else ""
            self.walk.note(
                f"@{frame.function.name}: where {step.op}{line} writes is not known; reads of bytes that "
                "nothing wrote were not looked for behind it"
            )
        self._stored.update(access.space for access in writes)
        roles = tuple(self._roles(step, registers))
        if any(role.assumed for role in roles):
            self.walk.note(
                f"@{frame.function.name}: valid sizes are not known everywhere; checks that need them were "
                "skipped (give the sizes with --arg)"
            )
        numbers = {
            name: registers[value] if is_number(registers[value]) else None
            for name, value in _named(step)
            if isinstance(frame.function.types[value], ScalarType)
        }
        event = Event(
            step, frame.function, pipe, reads, writes, path, frame.branch, roles, numbers, somewhere
        )
        self.walk.events.append(event)

    def _roles(self, step: Step, registers: list[Any]) -> Iterator[Role]:
        for name, value in _named(step):
            tile = registers[value]
            if isinstance(tile, PlacedTile):
                root, assumed = self.walk.root(tile), self.walk.is_assumed(tile)
                yield Role(name, tile.operand(name), root, assumed, _written(step, name))

    def _loaded(self, step: Step, prepared: PreparedStep | str, registers: list[Any]) -> bool:
        """Load a scalar from an array that the caller gave and the program has not stored into."""
        if step.op != "load_scalar" or isinstance(prepared, str):
            return False
        pointer, offset = registers[step.value("ptr")], registers[step.value("offset")]
        if not isinstance(pointer, Pointer) or not isinstance(pointer.memory, GlobalBuffer):
            return False
        if not is_number(offset) or not pointer.memory.size_bytes or pointer.memory.space in self._stored:
            return False
        try:
            prepared.bare(registers)
        except LanesortError:
            return False
        return True


def _whole_size(step: Step, registers: list[Any], frame: Frame) -> tuple[int, int]:
    """Return the whole size of the tile that a step makes or changes."""
    if step.op == "set_validshape":
        tile = registers[step.value("tile")]
        return (tile.rows, tile.columns) if isinstance(tile, PlacedTile) else (0, 0)
    given = step.attributes.get("sizes")
    if isinstance(given, tuple) and len(given) == 2:
        return int(given[0]), int(given[1])
    type = frame.function.types[step.results[0]]
    return (type.rows, type.cols) if isinstance(type, TileType) else (0, 0)


def _inside(tile: PlacedTile) -> bool:
    return tile.address >= 0 and tile.address + tile.extent_bytes <= tile.memory.size_bytes


def _written(step: Step, name: str) -> bool:
    """Say whether a step writes the tile that it calls by this name."""
    return name in WRITTEN_ROLES and step.op not in STORES


def _named(step: Step) -> Iterator[tuple[str, int]]:
    """Yield the values of a step with what the signature calls them."""
    for name, operand in zip(step.signature.names, step.operands, strict=True):
        values = operand if isinstance(operand, tuple) else () if operand is None else (operand,)
        for value in values:
            yield name, value


def _size_values(step: Step) -> dict[int, set[str]]:
    """Return the values that give valid sizes, each with the axes that it is used for."""
    found: dict[int, set[str]] = {}
    names = SIZE_OPERANDS.get(step.op, ())
    if names == ("valid",):
        values = step.values("valid")
        axes = ("rows", "cols") if len(values) == 2 else ("cols",)
        pairs = list(zip(values, axes, strict=False))
    else:
        given = [(step.optional(name), name.removeprefix("valid_")) for name in names]
        pairs = [(value, axis) for value, axis in given if value is not None]
    for value, axis in pairs:
        found.setdefault(value, set()).add(axis)
    return found


def _unknown_results(step: Step, registers: list[Any]) -> None:
    for value in step.results:
        registers[value] = UNKNOWN
    if step.op == "tmrgsort" and (executed := step.optional("executed")) is not None:
        registers[executed] = UNKNOWN
