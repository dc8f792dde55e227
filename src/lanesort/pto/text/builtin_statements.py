"""The text of steps from arith, func and builtin."""

from __future__ import annotations

import math

from lanesort.pto.program import ScalarType, Step, Type, VectorType
from lanesort.pto.text.statements import Namer, dictionary

__all__ = ["builtin_statement", "constant_text"]

_DIGITS = {"f64": 16, "f32": 8, "bf16": 4, "f16": 4}


def constant_text(step: Step, type_: Type, shown_type: str) -> str:
    """Return ``arith.constant …`` with its type."""
    value = step.attributes["value"]
    extra = dictionary(step.extra)
    if isinstance(value, bool):
        return f"arith.constant{extra} {'true' if value else 'false'}"
    if isinstance(type_, VectorType) and isinstance(value, tuple):
        same = len(set(value)) == 1
        body = value[0] if same else f"[{', '.join(map(str, value))}]"
        return f"arith.constant{extra} dense<{body}> : {shown_type}"
    if isinstance(value, float) and isinstance(type_, ScalarType):
        return f"arith.constant{extra} {_float_text(step, value, type_)} : {shown_type}"
    return f"arith.constant{extra} {value} : {shown_type}"


def _float_text(step: Step, value: float, type_: ScalarType) -> str:
    bits = step.attributes["bits"]
    if not math.isfinite(value) and isinstance(bits, int):
        return f"0x{bits:0{_DIGITS[type_.name]}X}"
    mantissa, _, exponent = f"{value!r}".partition("e")
    if "." not in mantissa:
        mantissa += ".0"
    return f"{mantissa}e{exponent}" if exponent else mantissa


def _cast(step: Step, namer: Namer) -> str:
    src = step.value("src")
    return f"{namer.name(src)}{dictionary(step.extra)} : {namer.type(src)} to {namer.type(step.results[0])}"


def _arith(step: Step, namer: Namer) -> str:
    values = list(step.used())
    if "src" in step.signature.operands and step.op != "arith.negf":
        return f"{step.op} {_cast(step, namer)}"
    predicate = step.attributes.get("predicate")
    first = f"{predicate}, " if predicate is not None else ""
    typed = values[0] if predicate is not None else step.results[0]
    return f"{step.op} {first}{namer.names(values)}{dictionary(step.extra)} : {namer.type(typed)}"


def builtin_statement(step: Step, namer: Namer) -> str:
    """Return the text of a step that is not of the `pto` dialect, results in front."""
    left = f"{namer.names(step.results)} = " if step.results else ""
    values = list(step.used())
    if step.op == "func.return":
        return "return" + (f" {namer.names(values)} : {namer.types(values)}" if values else "")
    if step.op == "func.call":
        types = f"({namer.types(values)}) -> ({namer.types(step.results)})"
        callee = step.attributes["callee"]
        return f"{left}func.call @{callee}({namer.names(values)}){dictionary(step.extra)} : {types}"
    if step.op == "builtin.unrealized_conversion_cast":
        of = f" {namer.names(values)} : {namer.types(values)}" if values else ""
        return f"{left}{step.op}{of} to {namer.types(step.results)}{dictionary(step.extra)}"
    return left + _arith(step, namer)
