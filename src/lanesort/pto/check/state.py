"""What a check knows while it follows a program: registers, tiles, events, what was refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lanesort.errors import MachineError
from lanesort.pto.allocation import allocate
from lanesort.pto.arguments import bind
from lanesort.pto.check.edit import Spot
from lanesort.pto.check.event import Branch, Event, Placement
from lanesort.pto.machine import UNLIMITED_UB_BYTES, BlockIndex, Machine, Trace
from lanesort.pto.memory import ELEMENTS, Access, GlobalBuffer, Pointer, UnifiedBuffer
from lanesort.pto.operand import round_up
from lanesort.pto.program import (
    Function,
    Module,
    PartitionViewType,
    PtrType,
    Step,
    TensorViewType,
    TileType,
    Type,
    VectorType,
)
from lanesort.pto.target import Target
from lanesort.pto.view import PlacedTile, TensorView

__all__ = ["UNKNOWN", "Frame", "Refusal", "Stop", "Walk", "is_number"]

MOST_STEPS = 20_000
MOST_EVENTS = 4_000
MOST_FINDINGS = 200


class _Unknown:
    """A value that is known at run time only."""

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = _Unknown()


class Stop(Exception):
    """The check has seen as much of the program as it looks at."""


class Refusal(Exception):
    """A step can't be followed."""


def is_number(value: Any) -> bool:
    """Say whether a value is a number that is known."""
    return isinstance(value, int | float)


@dataclass(frozen=True, slots=True)
class Frame:
    """Where the check is: the function, the blocks around, the arms of unknown conditions."""

    module: Module
    function: Function
    addresses: Mapping[int, int]
    path: tuple[Spot, ...]
    branch: Branch

    def inside(self, spot: Spot) -> Frame:
        """Return the frame for the regions of a step."""
        return replace(self, path=(*self.path, spot))

    def arm(self, condition: int, arm: int) -> Frame:
        """Return the frame for one arm of an unknown condition."""
        return replace(self, branch=(*self.branch, (condition, arm)))


class Walk:
    """What following a function has given.

    Attributes
    ----------
    events
        What touches memory or orders the pipes, in the order of the program.
    placements
        Tiles with their addresses, each allocation once.
    refused
        Steps that can't be executed, with the function and the reason.
    given
        Bytes of UB that the caller has written.
    notes
        What was not known, and so not checked.
    filled
        Bytes that a loop of which only two iterations were followed may have written, by the
        number of events in front of them; None stands for anywhere.
    complete
        False if the check gave up before the end.
    """

    def __init__(self, module: Module, target: Target) -> None:
        self.module = module
        self.target = target
        self.ub_bytes = target.ub_bytes or UNLIMITED_UB_BYTES
        self.machine = Machine(module, target, "reference", {}, BlockIndex(), MOST_STEPS, Trace(False))
        self.machine.ub = UnifiedBuffer(UNLIMITED_UB_BYTES, lambda access, first: None)
        self.events: list[Event] = []
        self.placements: dict[tuple[str, int, int], Placement] = {}
        self.refused: dict[int, tuple[Step, Function, str]] = {}
        self.given: list[Access] = []
        self.notes: dict[str, None] = {}
        self.filled: dict[int, list[Access | None]] = {}
        self.complete = True
        self._steps = 0
        self._tiles: dict[int, tuple[PlacedTile, int | None]] = {}
        self._assumed: set[int] = set()

    def spend(self) -> None:
        """Count a step; raise `Stop` at the limit."""
        self._steps += 1
        if self._steps > MOST_STEPS or len(self.events) > MOST_EVENTS:
            raise Stop(f"the check ends after {self._steps - 1} steps; what comes behind was not looked at")

    def note(self, text: str) -> None:
        """Say something once that is not a fault of the program."""
        if len(self.notes) < MOST_FINDINGS:
            self.notes[text] = None

    def cut(self, step: Step, function: Function, count: int | None, first: int) -> None:
        """Note that a loop was not followed to its end; its events begin with number `first`."""
        self.filled.setdefault(len(self.events), []).extend(self._reach(first))
        line = f" in line {step.place.line}" if step.place else ""
        times = "an unknown number of" if count is None else str(count)
        self.note(f"@{function.name}: the loop{line} has {times} iterations; two were followed")

    def _reach(self, first: int) -> Iterator[Access | None]:
        """Yield what later iterations may write: all of every tile that the first ones wrote into."""
        placed = {(one.function.name, one.value): one for one in self.placements.values()}
        for event in self.events[first:]:
            for role in event.roles:
                one = placed.get((event.function.name, role.root if role.root is not None else -1))
                if role.written and one is not None:
                    yield Access("ub", one.start, one.stop - one.start)
            if any(access.space == "ub" for access in event.writes) and not event.roles:
                yield None

    def refuse(self, step: Step, function: Function, text: str) -> None:
        """Keep the reason why a step can't be executed."""
        if len(self.refused) < MOST_FINDINGS:
            self.refused.setdefault(id(step), (step, function, text))

    def registers(self, function: Function, values: Sequence[Any]) -> list[Any]:
        """Return the registers that a function begins with."""
        rest = len(function.types) - len(values)
        return [*values, *[UNKNOWN] * rest, self.machine]

    def begin(self, function: Function, arguments: Mapping[str, Any]) -> list[Any]:
        """Return the registers of the function that the check enters."""
        known = [at for at, name in enumerate(function.arguments) if name in arguments]
        part = replace(
            function,
            arguments=tuple(function.arguments[at] for at in known),
            types=tuple(function.types[at] for at in known),
        )
        free = allocate(function, self.ub_bytes).stop
        bound = dict(zip(known, bind(part, arguments, self.machine, free).values, strict=True))
        values: list[Any] = []
        for at, name in enumerate(function.arguments):
            type = function.types[at]
            made = bound[at] if at in bound else self._stand_in(name, type, free)
            if isinstance(made, PlacedTile):
                free = max(free, round_up(made.address + made.extent_bytes, 32))
                self.given.append(made.whole.access)
            values.append(made)
        return self.registers(function, values)

    def _stand_in(self, name: str, type: Type, free: int) -> Any:
        """Return what stands for an argument that is not given; a tile stands at `free`."""
        if isinstance(type, VectorType):
            return (0,) * min(type.length, 4)
        element = getattr(type, "element", None)
        if isinstance(type, TileType) and element in ELEMENTS:
            return self._tile(type, free)
        if isinstance(type, PtrType) and type.space == "gm" and element in ELEMENTS:
            return Pointer(GlobalBuffer(name, np.zeros(0, ELEMENTS[type.element])), 0, type.element)
        if isinstance(type, TensorViewType | PartitionViewType) and element in ELEMENTS:
            return self._view(name, type)
        return UNKNOWN

    def _tile(self, type: TileType, free: int) -> Any:
        valid = (
            type.rows if type.valid_rows is None else type.valid_rows,
            type.cols if type.valid_cols is None else type.valid_cols,
        )
        try:
            tile = PlacedTile(self.machine.ub, free, type, valid)
            self.machine.ub.require_inside(tile.whole.access)
        except MachineError:
            return UNKNOWN
        self.assume(tile, None in (type.valid_rows, type.valid_cols))
        return tile

    def _view(self, name: str, type: TensorViewType | PartitionViewType) -> Any:
        shape = [size for size in type.shape if size is not None]
        if len(shape) < len(type.shape):
            return UNKNOWN
        strides = [1]
        for size in reversed(shape[1:]):
            strides.insert(0, strides[0] * size)
        buffer = GlobalBuffer(name, np.zeros(0, ELEMENTS[type.element]))
        return TensorView(Pointer(buffer, 0, type.element), tuple(shape), tuple(strides[: len(shape)]))

    def adopt(self, tile: PlacedTile, root: int | None) -> None:
        """Remember which allocation a tile's bytes belong to."""
        self._tiles[id(tile)] = (tile, root)

    def root(self, tile: PlacedTile) -> int | None:
        """Return the allocation that a tile's bytes belong to."""
        return self._tiles.get(id(tile), (tile, None))[1]

    def assume(self, tile: PlacedTile, assumed: bool) -> None:
        """Mark whether a tile's valid size is not known."""
        self._tiles.setdefault(id(tile), (tile, None))
        (self._assumed.add if assumed else self._assumed.discard)(id(tile))

    def is_assumed(self, tile: PlacedTile) -> bool:
        """Say whether a tile's valid size is not known."""
        return id(tile) in self._assumed

    def place(self, tile: PlacedTile, value: int, step: Step, function: Function) -> None:
        """Remember where an allocation puts its tile."""
        key = (function.name, value, tile.address)
        if key not in self.placements and len(self.placements) < MOST_EVENTS:
            given = step.attributes.get("address") is not None or step.op != "alloc_tile"
            stop = tile.address + round_up(max(tile.extent_bytes, 0), 32)
            self.placements[key] = Placement(value, tile.address, stop, given, step, function)
