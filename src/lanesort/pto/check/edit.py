"""Small changes of a program: what a fix is made of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from lanesort.pto.program import Block, Function, Module, Step, TileType, Type

__all__ = ["AddTmp", "Edit", "Insert", "Remove", "Retype", "Spot", "apply"]


@dataclass(frozen=True, slots=True, eq=False)
class Spot:
    """A step by its place in the program: the block that has it, and its index there."""

    block: Block
    index: int


@dataclass(frozen=True, slots=True)
class Insert:
    """Put a step before or behind another one; the same edit given twice is made once."""

    spot: Spot
    step: Step
    behind: bool = False

    @property
    def key(self) -> tuple[object, ...]:
        """What tells edits apart."""
        attributes = tuple(sorted((k, str(v)) for k, v in self.step.attributes.items()))
        return ("insert", id(self.spot.block), self.spot.index, self.behind, self.step.op, attributes)


@dataclass(frozen=True, slots=True)
class Remove:
    """Take a step away."""

    spot: Spot

    @property
    def key(self) -> tuple[object, ...]:
        """What tells edits apart."""
        return ("remove", id(self.spot.block), self.spot.index)


@dataclass(frozen=True, slots=True)
class Retype:
    """Make a tile at least so many columns wide; one with a given address moves to `address`."""

    function: str
    value: int
    columns: int
    address: int

    @property
    def key(self) -> tuple[object, ...]:
        """What tells edits apart."""
        return ("retype", self.function, self.value, self.columns)


@dataclass(frozen=True, slots=True)
class AddTmp:
    """Allocate a tile in front of a step and make it the step's operand ``tmp``."""

    function: str
    spot: Spot
    type: TileType

    @property
    def key(self) -> tuple[object, ...]:
        """What tells edits apart."""
        return ("tmp", id(self.spot.block), self.spot.index)


Edit = Insert | Remove | Retype | AddTmp


@dataclass(slots=True)
class _Plan:
    """Edits of one function, by where they are made."""

    before: dict[tuple[int, int], list[Step]] = field(default_factory=lambda: defaultdict(list))
    behind: dict[tuple[int, int], list[Step]] = field(default_factory=lambda: defaultdict(list))
    removed: set[tuple[int, int]] = field(default_factory=set)
    moved: dict[int, int] = field(default_factory=dict)
    tmp: dict[tuple[int, int], int] = field(default_factory=dict)


def apply(module: Module, edits: Iterable[Edit]) -> Module:
    """Return the module with edits made.

    Parameters
    ----------
    module
        The program that the edits were found in: they name its blocks.
    edits
        In the order in which steps at one place are to stand.
    """
    distinct: Mapping[tuple[object, ...], Edit] = {edit.key: edit for edit in edits}
    functions = [_function(function, list(distinct.values())) for function in module.functions]
    return replace(module, functions=tuple(functions))


def _function(function: Function, edits: Sequence[Edit]) -> Function:
    plan = _Plan()
    widths: dict[int, int] = {}
    for edit in edits:
        if isinstance(edit, Insert | Remove):
            _place(plan, edit)
        elif isinstance(edit, Retype) and edit.function == function.name:
            widths[edit.value] = max(widths.get(edit.value, 0), edit.columns)
            plan.moved[edit.value] = edit.address
    tmps = [edit for edit in edits if isinstance(edit, AddTmp) and edit.function == function.name]
    made = _with_tmps(function, tmps, plan)
    types = tuple(_wider(type, widths.get(v, 0)) for v, type in enumerate(made.types))
    return replace(made, types=types, body=None if made.body is None else _block(made.body, plan))


def _place(plan: _Plan, edit: Insert | Remove) -> None:
    at = (id(edit.spot.block), edit.spot.index)
    if isinstance(edit, Remove):
        plan.removed.add(at)
    else:
        (plan.behind if edit.behind else plan.before)[at].append(edit.step)


def _wider(type: Type, columns: int) -> Type:
    if not isinstance(type, TileType) or type.cols >= columns:
        return type
    valid = columns if type.valid_cols == type.cols else type.valid_cols
    return replace(type, cols=columns, valid_cols=valid)


def _with_tmps(function: Function, edits: list[AddTmp], plan: _Plan) -> Function:
    """Give the function a value for each new tile, and plan its allocation."""
    types, names = list(function.types), list(function.names)
    for edit in edits:
        at = (id(edit.spot.block), edit.spot.index)
        value = len(types)
        types.append(edit.type)
        names += [f"v{n}" for n in range(len(names), value)]
        names.append("tmp" if "tmp" not in names else f"tmp_{value}")
        alloc = Step("alloc_tile", (None, None, None), (value,), {"address": None})
        plan.before[at].insert(0, alloc)
        plan.tmp[at] = value
    return replace(function, types=tuple(types), names=tuple(names))


def _block(block: Block, plan: _Plan) -> Block:
    steps: list[Step] = []
    for index, step in enumerate(block.steps):
        at = (id(block), index)
        steps += plan.before.get(at, ())
        if at not in plan.removed:
            steps.append(_step(step, plan, plan.tmp.get(at)))
        steps += plan.behind.get(at, ())
    return replace(block, steps=tuple(steps))


def _step(step: Step, plan: _Plan, tmp: int | None) -> Step:
    made = replace(step, regions=tuple(_block(region, plan) for region in step.regions))
    if step.op == "alloc_tile" and step.results[0] in plan.moved and step.attributes["address"] is not None:
        made = replace(made, attributes={**step.attributes, "address": plan.moved[step.results[0]]})
    if tmp is None:
        return made
    operands = list(step.operands)
    operands[step.signature.position("tmp")] = tmp
    return replace(made, operands=tuple(operands))
