"""Follows a function without data: sizes and addresses are computed, bytes are not.

Scalars whose value is not known are `UNKNOWN`. A tile whose valid size is not known takes its
whole size and is marked. Of a condition that is not known both arms are followed; a loop is
followed for two iterations if it is long or its bounds are not known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lanesort.pto.allocation import allocate
from lanesort.pto.check.edit import Spot
from lanesort.pto.check.state import UNKNOWN, Frame, Refusal, Stop, Walk, is_number
from lanesort.pto.check.straight import Straight
from lanesort.pto.program import Block, Function, Module, Step
from lanesort.pto.target import Target

__all__ = ["follow"]

MOST_TURNS = 16
"""Loops of known length are followed to their end up to this many iterations."""
CUT_TURNS = 2
DEEPEST_CALL = 16
TERMINATORS = ("scf.yield", "yield", "func.return", "scf.condition")


def follow(module: Module, function: Function, target: Target, arguments: Mapping[str, Any]) -> Walk:
    """Follow a function from its first step to its last.

    Parameters
    ----------
    module, function
        What to follow; the function has a body.
    target
        Whose unified buffer tiles are placed in.
    arguments
        Values of arguments, as `lanesort.pto.run` takes them; those left out are not known.

    Returns
    -------
    Walk
        Events, placements, refusals, and what was not known.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If an argument does not fit.
    """
    walk = Walk(module, target)
    walker = _Walker(walk)
    registers = walk.begin(function, arguments)
    try:
        walker.call(function, registers, (), ())
    except Stop as reason:
        walk.complete = False
        walk.note(str(reason))
    except RecursionError:
        walk.complete = False
        walk.note("calls and regions are nested too deeply to be followed to the end")
    return walk


class _Walker:
    """Follows blocks, and the steps that run others."""

    def __init__(self, walk: Walk) -> None:
        self.walk = walk
        self.straight = Straight(walk)
        self._addresses: dict[str, Mapping[int, int]] = {}
        self._conditions = 0
        self._depth = 0

    def call(
        self, function: Function, registers: list[Any], path: tuple[Spot, ...], branch: Any
    ) -> list[Any]:
        if function.name not in self._addresses:
            allocation = allocate(function, self.walk.ub_bytes)
            self._addresses[function.name] = allocation.addresses
            if allocation.shared:
                self.walk.note(
                    f"@{function.name}: tiles share bytes, because they don't fit one behind the other"
                )
        frame = Frame(self.walk.module, function, self._addresses[function.name], path, branch)
        return self.block(function.body or Block(), registers, frame)

    def block(self, block: Block, registers: list[Any], frame: Frame) -> list[Any]:
        """Follow a block; return the values that its last step passes on."""
        for index, step in enumerate(block.steps):
            self.walk.spend()
            if step.op in TERMINATORS:
                return [registers[value] for value in step.used()]
            self.step(step, Spot(block, index), registers, frame)
        return []

    def step(self, step: Step, spot: Spot, registers: list[Any], frame: Frame) -> None:
        control = {
            "scf.for": self._for,
            "scf.if": self._if,
            "scf.while": self._while,
            "section.vector": self._region,
            "fusion_region": self._region,
            "func.call": self._call,
        }.get(step.op)
        if control is None:
            self.straight.step(step, spot, registers, frame)
            return
        try:
            control(step, registers, frame.inside(spot))
        except Refusal as refused:
            self.walk.refuse(step, frame.function, str(refused))
            assign(registers, step.results, [UNKNOWN] * len(step.results))

    def _region(self, step: Step, registers: list[Any], frame: Frame) -> None:
        values = self.block(step.regions[0], registers, frame)
        assign(registers, step.results, values)

    def _for(self, step: Step, registers: list[Any], frame: Frame) -> None:
        lower, upper, by = (registers[step.value(name)] for name in ("lower", "upper", "step"))
        if is_number(by) and by <= 0:
            raise Refusal(f"the loop's step is {by}; it has to be positive")
        known = all(map(is_number, (lower, upper, by)))
        count = len(range(lower, upper, by)) if known else None
        whole = count is not None and count <= MOST_TURNS
        begin = len(self.walk.events)
        values = [registers[value] for value in step.values("initial")]
        (block,) = step.regions
        index, *carried = block.arguments
        for turn in range(count if whole and count is not None else CUT_TURNS):
            registers[index] = lower + turn * by if is_number(lower) and is_number(by) else UNKNOWN
            assign(registers, carried, values)
            values = self.block(block, registers, frame)
        if not whole:
            self.walk.cut(step, frame.function, count, begin)
        assign(registers, step.results, values if whole else forget(values))

    def _while(self, step: Step, registers: list[Any], frame: Frame) -> None:
        before, after = step.regions
        values = [registers[value] for value in step.values("initial")]
        whole, begin = True, len(self.walk.events)
        for turn in range(MOST_TURNS + 1):
            assign(registers, before.arguments, values)
            holds, *values = self.block(before, registers, frame) or [UNKNOWN]
            if is_number(holds) and not holds:
                break
            whole = whole and is_number(holds)
            if turn == MOST_TURNS or (not whole and turn >= CUT_TURNS):
                self.walk.cut(step, frame.function, None, begin)
                whole = False
                break
            assign(registers, after.arguments, values)
            values = self.block(after, registers, frame)
        assign(registers, step.results, values if whole else forget(values))

    def _if(self, step: Step, registers: list[Any], frame: Frame) -> None:
        condition = registers[step.value("condition")]
        if is_number(condition):
            values = self.block(step.regions[0 if condition else 1], registers, frame)
            assign(registers, step.results, values)
            return
        self._conditions += 1
        number = self._conditions
        arms = [
            self.block(region, registers, frame.arm(number, arm)) for arm, region in enumerate(step.regions)
        ]
        joined = [one if same(one, other) else UNKNOWN for one, other in zip(*arms, strict=False)]
        assign(registers, step.results, joined)

    def _call(self, step: Step, registers: list[Any], frame: Frame) -> None:
        name = str(step.attributes["callee"])
        found = next((f for f in self.walk.module.functions if f.name == name), None)
        if found is None or found.body is None:
            raise Refusal(f"there is no function @{name} with a body")
        if self._depth >= DEEPEST_CALL:
            raise Refusal(f"calls are nested more than {DEEPEST_CALL} deep")
        given = [registers[value] for value in step.values("values")]
        inner = self.walk.registers(found, given)
        self._depth += 1
        values = self.call(found, inner, frame.path, frame.branch)
        self._depth -= 1
        assign(registers, step.results, values)


def assign(registers: list[Any], targets: Sequence[int], values: Sequence[Any]) -> None:
    """Set registers; values that are missing are not known."""
    for at, target in enumerate(targets):
        registers[target] = values[at] if at < len(values) else UNKNOWN


def forget(values: Sequence[Any]) -> list[Any]:
    """Return what is left of values behind a loop that was cut: numbers have gone on."""
    return [UNKNOWN if is_number(value) else value for value in values]


def same(one: Any, other: Any) -> bool:
    """Say whether two arms gave the same value."""
    return one is other or (is_number(one) and is_number(other) and one == other)
