"""From the steps of a function to prepared ones: names are looked up once, not at each step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

from lanesort.errors import MachineError, ProgramError
from lanesort.pto.allocation import Allocation, allocate
from lanesort.pto.machine import Machine
from lanesort.pto.program import Function, Module, Step
from lanesort.pto.steps import arithmetic, control, copies, scalars, sorting, tiles, views
from lanesort.pto.steps.step import Factory, PreparedStep, Registers, Scope, execute

__all__ = ["FACTORIES", "PreparedFunction", "PreparedModule"]

FACTORIES: Mapping[str, Factory] = MappingProxyType(
    {
        name: factory
        for family in (arithmetic, control, copies, scalars, sorting, tiles, views)
        for name, factory in family.FACTORIES.items()
    }
)
"""Every operation that can run, and what prepares it."""


def _refusing(step: Step, text: str) -> PreparedStep:
    """Return a step that fails when it is reached, and only then."""

    def run(registers: Registers) -> None:
        raise MachineError(text)

    return PreparedStep(step.op, step.place, run)


def _prepare_step(step: Step, scope: Scope) -> PreparedStep:
    factory = FACTORIES.get(step.op) if step.modelled else None
    if factory is None:
        name = step.op if "." in step.op else f"pto.{step.op}"
        return _refusing(step, f"the operation {name} is not modelled, and the program has come to it")
    try:
        return factory(step, scope)
    except MachineError as error:
        return _refusing(step, str(error))


class PreparedFunction:
    """A function whose steps are ready to run.

    Attributes
    ----------
    function
        What it was made from.
    allocation
        Where its tiles are.
    steps
        Its steps, without the return.
    returned
        Values that it returns.
    """

    def __init__(
        self, module: Module, function: Function, ub_bytes: int, callee: Callable[[str], Any]
    ) -> None:
        if function.body is None:
            raise ProgramError(f"function @{function.name} has no body", function.place)
        self.function = function
        self.allocation: Allocation = allocate(function, ub_bytes)
        prepare: list[Callable[[Sequence[Step]], tuple[PreparedStep, ...]]] = []
        scope = Scope(module, function, self.allocation.addresses, lambda steps: prepare[0](steps), callee)
        prepare.append(partial(_prepare_all, scope))
        steps = function.body.steps
        ends = bool(steps) and steps[-1].op == "func.return"
        self.returned = steps[-1].values("values") if ends else ()
        self.steps = _prepare_all(scope, steps[:-1] if ends else steps)

    def call(self, machine: Machine, arguments: Sequence[Any]) -> list[Any]:
        """Run with the given values of the arguments; return those that it returns."""
        registers: Registers = [*arguments, *[None] * (len(self.function.types) - len(arguments)), machine]
        machine.spend(len(self.steps))
        execute(self.steps, registers)
        return [registers[value] for value in self.returned]


def _prepare_all(scope: Scope, steps: Sequence[Step]) -> tuple[PreparedStep, ...]:
    return tuple([_prepare_step(step, scope) for step in steps])


class PreparedModule:
    """The functions of a module, each prepared when it is first needed.

    Parameters
    ----------
    module
        The parsed text.
    ub_bytes
        Size of UB, for the placement of tiles.
    """

    def __init__(self, module: Module, ub_bytes: int) -> None:
        self.module = module
        self._ub_bytes = ub_bytes
        self._made: dict[str, PreparedFunction] = {}

    def function(self, name: str) -> PreparedFunction:
        """Return a function by name.

        Raises
        ------
        ProgramError
            If the module has none of that name, or it has no body.
        """
        if name not in self._made:
            found = next((f for f in self.module.functions if f.name == name), None)
            if found is None:
                names = ", ".join(f"@{f.name}" for f in self.module.functions)
                raise ProgramError(f"there is no function @{name}; the text has {names or 'none'}")
            self._made[name] = PreparedFunction(self.module, found, self._ub_bytes, self.function)
        return self._made[name]
