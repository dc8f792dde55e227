"""A prepared step: a function over registers, with what it touches and where it stands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lanesort.errors import LanesortError, MachineError, Place, ProgramError
from lanesort.pto.machine import Machine
from lanesort.pto.memory import Access
from lanesort.pto.program import Function, Module, Step, TileType, Type

__all__ = ["Accesses", "Action", "Factory", "PreparedStep", "Registers", "Scope", "execute", "machine_of"]

Registers = list[Any]
"""A value for each value number of a function, and the `Machine` behind the last one."""

Action = Callable[[Registers], None]
Accesses = tuple[Sequence[Access], Sequence[Access]]

_NOTHING: Accesses = ((), ())


def _no_accesses(registers: Registers) -> Accesses:
    return _NOTHING


@dataclass(slots=True)
class PreparedStep:
    """One step, ready to run.

    Attributes
    ----------
    name, place
        Operation and where it stands in the text.
    bare
        Does the work.
    pipe
        ``MTE2``, ``V``, ``MTE3`` or ``S``; None for a step that is only the frame of others.
    accesses
        Bytes that it would read and write, given the registers before it runs.
    always_traced
        Whether it is recorded even when the run is not traced.
    detail
        What a trace shows beside.
    """

    name: str
    place: Place | None
    bare: Action
    pipe: str | None = "S"
    accesses: Callable[[Registers], Accesses] = _no_accesses
    always_traced: bool = False
    detail: Mapping[str, Any] = field(default_factory=dict)
    run: Action = field(init=False)

    def __post_init__(self) -> None:
        self.run = self._traced if self.always_traced else self.bare

    def _traced(self, registers: Registers) -> None:
        machine_of(registers).trace.run(self, registers)


def machine_of(registers: Registers) -> Machine:
    """Return the machine that the registers belong to."""
    machine: Machine = registers[-1]
    return machine


def execute(steps: Sequence[PreparedStep], registers: Registers) -> None:
    """Execute steps one after another.

    Raises
    ------
    ProgramError
        If one of them can't be executed; it has the step's place.
    """
    machine: Machine = registers[-1]
    step: PreparedStep | None = None
    try:
        if machine.trace.full:
            for step in steps:
                machine.trace.run(step, registers)
        else:
            for step in steps:
                machine.place = step.place
                step.run(registers)
    except ProgramError:
        raise
    except LanesortError as error:
        raise machine.located(error, step) from error


@dataclass(frozen=True, slots=True)
class Scope:
    """What a factory needs to know of the function around a step.

    Attributes
    ----------
    module, function
        Where the step stands.
    addresses
        Address in bytes of each tile that the text gives none, by value number.
    prepare
        Prepares the steps of a block.
    callee
        Finds the prepared body of a function of the module by name.
    """

    module: Module
    function: Function
    addresses: Mapping[int, int]
    prepare: Callable[[Sequence[Step]], tuple[PreparedStep, ...]]
    callee: Callable[[str], Any]

    def type(self, value: int) -> Type:
        """Return the type of a value."""
        return self.function.types[value]

    def tile_type(self, value: int) -> TileType:
        """Return the type of a value that has to be a tile in UB without boxes.

        Raises
        ------
        MachineError
            If it is not one.
        """
        type, name = self.function.types[value], self.function.name_of(value)
        if not isinstance(type, TileType):
            raise MachineError(f"{name} has to be a tile and is {type}")
        if type.location not in ("vec", "ub") or type.slayout != "none_box":
            raise MachineError(
                f"{name} is a tile with loc={type.location}, slayout={type.slayout}; "
                "tiles of vector memory without boxes are modelled"
            )
        return type


Factory = Callable[[Step, Scope], PreparedStep]
