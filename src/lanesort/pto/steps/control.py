"""Steps that run other steps: loops, conditions, regions and calls.

Every iteration counts against the run's step limit, so that an endless loop ends with an
error. Loops are kept in lists of registers; nothing here recurses but nesting and calls.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from lanesort.errors import MachineError
from lanesort.pto.program import Block, Step
from lanesort.pto.steps.step import Factory, PreparedStep, Registers, Scope, execute, machine_of

__all__ = ["FACTORIES"]


def _assign(registers: Registers, targets: Sequence[int], values: Sequence[Any]) -> None:
    for target, value in zip(targets, values, strict=True):
        registers[target] = value


def _body(block: Block, scope: Scope) -> tuple[tuple[PreparedStep, ...], tuple[int, ...]]:
    """Prepare a region; return its steps and the values that its yield passes on."""
    steps = block.steps
    if steps and steps[-1].op in ("scf.yield", "yield"):
        return scope.prepare(steps[:-1]), steps[-1].values("values")
    return scope.prepare(steps), ()


def _for(step: Step, scope: Scope) -> PreparedStep:
    lower, upper, stride = (step.value(name) for name in ("lower", "upper", "step"))
    initial, results = step.values("initial"), step.results
    (block,) = step.regions
    index, *carried = block.arguments
    steps, yielded = _body(block, scope)
    cost = 1 + len(steps)

    def run(registers: Registers) -> None:
        machine = machine_of(registers)
        by = registers[stride]
        if by <= 0:
            raise MachineError(f"the loop's step is {by}; it has to be positive")
        values = [registers[value] for value in initial]
        for at in range(registers[lower], registers[upper], by):
            machine.spend(cost)
            registers[index] = at
            _assign(registers, carried, values)
            execute(steps, registers)
            values = [registers[value] for value in yielded]
        _assign(registers, results, values)

    return PreparedStep(step.op, step.place, run, None)


def _if(step: Step, scope: Scope) -> PreparedStep:
    condition, results = step.value("condition"), step.results
    branches = [_body(block, scope) for block in step.regions]

    def run(registers: Registers) -> None:
        steps, yielded = branches[0 if registers[condition] else 1]
        machine_of(registers).spend(len(steps))
        execute(steps, registers)
        _assign(registers, results, [registers[value] for value in yielded])

    return PreparedStep(step.op, step.place, run, None)


def _while(step: Step, scope: Scope) -> PreparedStep:
    initial, results = step.values("initial"), step.results
    before, after = step.regions
    *tested, last = before.steps
    checks, (condition, passed) = scope.prepare(tested), (last.value("condition"), last.values("values"))
    steps, yielded = _body(after, scope)
    cost = 1 + len(checks) + len(steps)

    def run(registers: Registers) -> None:
        machine = machine_of(registers)
        values = [registers[value] for value in initial]
        while True:
            machine.spend(cost)
            _assign(registers, before.arguments, values)
            execute(checks, registers)
            values = [registers[value] for value in passed]
            if not registers[condition]:
                break
            _assign(registers, after.arguments, values)
            execute(steps, registers)
            values = [registers[value] for value in yielded]
        _assign(registers, results, values)

    return PreparedStep(step.op, step.place, run, None)


def _region(step: Step, scope: Scope) -> PreparedStep:
    """Run the body of ``section.vector`` or ``fusion_region`` in its place."""
    (block,) = step.regions
    steps, yielded = _body(block, scope)
    results = step.results

    def run(registers: Registers) -> None:
        execute(steps, registers)
        _assign(registers, results, [registers[value] for value in yielded])

    return PreparedStep(step.op, step.place, run, None)


def _call(step: Step, scope: Scope) -> PreparedStep:
    values, results, name = step.values("values"), step.results, str(step.attributes["callee"])

    def run(registers: Registers) -> None:
        machine = machine_of(registers)
        machine.enter()
        returned = scope.callee(name).call(machine, [registers[value] for value in values])
        machine.leave()
        _assign(registers, results, returned)

    return PreparedStep(step.op, step.place, run, None)


def _unmodelled_region(step: Step, scope: Scope) -> PreparedStep:
    def run(registers: Registers) -> None:
        raise MachineError(f"{step.op} is not modelled: only vector code runs here")

    return PreparedStep(step.op, step.place, run)


FACTORIES: Mapping[str, Factory] = MappingProxyType(
    {
        "scf.for": _for,
        "scf.if": _if,
        "scf.while": _while,
        "section.vector": _region,
        "section.cube": _unmodelled_region,
        "fusion_region": _region,
        "func.call": _call,
    }
)
"""Operation name to what prepares it."""
