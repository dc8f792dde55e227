"""Steps of the `arith` dialect, and the casts that go with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from lanesort.pto.memory import ELEMENTS
from lanesort.pto.operations import OPERATIONS
from lanesort.pto.program import ScalarType, Step
from lanesort.pto.scalar import INTEGER_BINARY, binary, cast, integer_range, predicate, wrapper
from lanesort.pto.steps.step import Factory, PreparedStep, Registers, Scope

__all__ = ["FACTORIES"]


def _constant(step: Step, scope: Scope) -> PreparedStep:
    (result,) = step.results
    type, value = scope.type(result), step.attributes["value"]
    if isinstance(type, ScalarType):
        value = _number(type, value, step.attributes.get("bits"))

    def run(registers: Registers) -> None:
        registers[result] = value

    return PreparedStep(step.op, step.place, run)


def _number(type: ScalarType, value: Any, bits: Any) -> Any:
    """Return a scalar constant; a float given by its bits keeps the payload of a NaN."""
    if bits is None:
        return wrapper(type)(value)
    dtype = ELEMENTS[type.name]
    return float(np.array(bits, f"u{dtype.itemsize}").view(dtype)[()])


def _two(step: Step, function: Callable[[Any, Any], Any]) -> PreparedStep:
    lhs, rhs = step.value("lhs"), step.value("rhs")
    (result,) = step.results

    def run(registers: Registers) -> None:
        registers[result] = function(registers[lhs], registers[rhs])

    return PreparedStep(step.op, step.place, run)


def _one(step: Step, source: int, function: Callable[[Any], Any]) -> PreparedStep:
    (result,) = step.results

    def run(registers: Registers) -> None:
        registers[result] = function(registers[source])

    return PreparedStep(step.op, step.place, run)


def _binary(name: str, step: Step, scope: Scope) -> PreparedStep:
    type = scope.type(step.results[0])
    limits, raw = integer_range(type), INTEGER_BINARY.get(name)
    if limits is None or raw is None:
        return _two(step, binary(name, type))
    lhs, rhs = step.value("lhs"), step.value("rhs")
    (result,) = step.results
    (least, greatest), function, fit = limits, raw, wrapper(type)

    def run(registers: Registers) -> None:
        # Index arithmetic is most of what runs, and it hardly ever wraps.
        value = function(registers[lhs], registers[rhs])
        registers[result] = value if least <= value <= greatest else fit(value)

    return PreparedStep(step.op, step.place, run)


def _compare(step: Step, scope: Scope) -> PreparedStep:
    holds = predicate(str(step.attributes["predicate"]), scope.type(step.value("lhs")))
    return _two(step, lambda a, b: int(holds(a, b)))


def _cast(name: str, step: Step, scope: Scope) -> PreparedStep:
    source = step.value("src")
    return _one(step, source, cast(name, scope.type(source), scope.type(step.results[0])))


def _select(step: Step, scope: Scope) -> PreparedStep:
    condition, true, false = (step.value(name) for name in ("condition", "true", "false"))
    (result,) = step.results

    def run(registers: Registers) -> None:
        registers[result] = registers[true if registers[condition] else false]

    return PreparedStep(step.op, step.place, run)


def _conversion_cast(step: Step, scope: Scope) -> PreparedStep:
    """Carry values over to another type of the same bits: i32 to ui32, a tile to its memory."""
    sources, results = step.values("values"), step.results
    types = [scope.type(result) for result in results]
    fits = [wrapper(type) if isinstance(type, ScalarType) else _same for type in types]

    def run(registers: Registers) -> None:
        for source, result, fit in zip(sources, results, fits, strict=True):
            registers[result] = fit(registers[source])

    return PreparedStep(step.op, step.place, run)


def _same(value: Any) -> Any:
    return value


def _factories() -> dict[str, Factory]:
    special: dict[str, Factory] = {
        "arith.constant": _constant,
        "arith.cmpi": _compare,
        "arith.cmpf": _compare,
        "arith.select": _select,
        "builtin.unrealized_conversion_cast": _conversion_cast,
    }
    made = dict(special)
    for op, signature in OPERATIONS.items():
        if op.startswith("arith.") and op not in special:
            name = op.removeprefix("arith.")
            made[op] = partial(_cast if signature.names == ("src",) else _binary, name)
    return made


FACTORIES: Mapping[str, Factory] = MappingProxyType(_factories())
"""Operation name to what prepares it."""
