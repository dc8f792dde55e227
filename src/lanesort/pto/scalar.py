"""Arithmetic on numbers: what the `arith` operations of a `.pto` program compute.

An integer is a Python int in the range of its type, signless types as signed; a float is a
Python float that its type can hold; a vector is a tuple.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from lanesort.errors import MachineError
from lanesort.pto.memory import ELEMENTS
from lanesort.pto.program import ScalarType, Type

__all__ = [
    "FLOAT_BINARY",
    "INTEGER_BINARY",
    "UNSIGNED_BINARY",
    "binary",
    "cast",
    "integer_range",
    "predicate",
    "wrapper",
]

_FLOATS = ("f32", "f16", "bf16", "f64")

Rounded = Callable[[Any], Any]


def integer_range(type: Type) -> tuple[int, int] | None:
    """Return the least and the greatest integer of a type, or None if it is not one of integers.

    Examples
    --------
    >>> integer_range(ScalarType("ui8"))
    (0, 255)
    """
    if not isinstance(type, ScalarType) or type.name in _FLOATS:
        return None
    bits = _bits(type.name)
    if type.name.startswith("ui") or bits == 1:
        return 0, (1 << bits) - 1
    return -(1 << (bits - 1)), (1 << (bits - 1)) - 1


def _bits(name: str) -> int:
    if name == "index":
        return 64
    digits = name.lstrip("sui")
    if not digits.isdecimal() or not 0 < int(digits) <= 64:
        raise MachineError(f"numbers of type {name} are not modelled; index and integers of 1 to 64 bits are")
    return int(digits)


def wrapper(type: Type) -> Rounded:
    """Return the function that brings a result into the range of a scalar type.

    Integers wrap around; floats are rounded to the type.

    Raises
    ------
    MachineError
        If it is not the type of a number.

    Examples
    --------
    >>> wrapper(ScalarType("i8"))(200), wrapper(ScalarType("ui8"))(-1), wrapper(ScalarType("f16"))(0.1)
    (-56, 255, 0.0999755859375)
    """
    if not isinstance(type, ScalarType):
        raise MachineError(f"a number is needed, not a value of type {type}")
    name = type.name
    if name in _FLOATS:
        rounded = ELEMENTS[name].type
        return lambda value: float(rounded(value))
    bits = _bits(name)
    mask, half = (1 << bits) - 1, 1 << (bits - 1)
    if name.startswith("ui") or bits == 1:
        return lambda value: int(value) & mask
    return lambda value: ((int(value) + half) & mask) - half


def _unsigned(value: int, bits: int) -> int:
    return value & ((1 << bits) - 1)


def _truncated(a: int, b: int) -> int:
    _divisor(b)
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _divisor(b: int) -> int:
    if b == 0:
        raise MachineError("division by zero; test the divisor first, with arith.cmpi and scf.if")
    return b


def _shift(b: int) -> int:
    if not 0 <= b < 64:
        raise MachineError(f"a shift by {b} bits; it has to be 0 … 63")
    return b


def _nan_first(choose: Callable[[float, float], float]) -> Callable[[float, float], float]:
    return lambda a, b: math.nan if math.isnan(a) or math.isnan(b) else choose(a, b)


def _number_first(choose: Callable[[float, float], float]) -> Callable[[float, float], float]:
    return lambda a, b: b if math.isnan(a) else a if math.isnan(b) else choose(a, b)


def _quotient(a: float, b: float) -> float:
    return float(np.float64(a) / np.float64(b))


INTEGER_BINARY: Mapping[str, Callable[[int, int], int]] = MappingProxyType(
    {
        "addi": operator.add,
        "subi": operator.sub,
        "muli": operator.mul,
        "divsi": _truncated,
        "remsi": lambda a, b: a - b * _truncated(a, b),
        "ceildivsi": lambda a, b: -(-a // _divisor(b)),
        "floordivsi": lambda a, b: a // _divisor(b),
        "minsi": min,
        "maxsi": max,
        "andi": operator.and_,
        "ori": operator.or_,
        "xori": operator.xor,
        "shli": lambda a, b: a << _shift(b),
        "shrsi": lambda a, b: a >> _shift(b),
    }
)
"""Operations on integers; the result wraps to the type."""

UNSIGNED_BINARY: Mapping[str, Callable[[int, int], int]] = MappingProxyType(
    {
        "divui": lambda a, b: a // _divisor(b),
        "remui": lambda a, b: a % _divisor(b),
        "minui": min,
        "maxui": max,
        "shrui": lambda a, b: a >> _shift(b),
    }
)
"""Operations that read their operands as unsigned."""

FLOAT_BINARY: Mapping[str, Callable[[float, float], float]] = MappingProxyType(
    {
        "addf": operator.add,
        "subf": operator.sub,
        "mulf": operator.mul,
        "divf": _quotient,
        "minimumf": _nan_first(min),
        "maximumf": _nan_first(max),
        "minnumf": _number_first(min),
        "maxnumf": _number_first(max),
    }
)
"""Operations on floats; the result is rounded to the type."""


def binary(name: str, type: Type) -> Callable[[Any, Any], Any]:
    """Return the function of an `arith` operation with two operands of `type`.

    Examples
    --------
    >>> binary("addi", ScalarType("i8"))(127, 1)
    -128
    """
    fit = wrapper(type)
    if name in UNSIGNED_BINARY:
        raw = UNSIGNED_BINARY[name]
        bits = _bits(type.name) if isinstance(type, ScalarType) else 64
        return lambda a, b: fit(raw(_unsigned(a, bits), _unsigned(b, bits)))
    function = INTEGER_BINARY.get(name) or FLOAT_BINARY[name]
    return lambda a, b: fit(function(a, b))


_ORDERED: Mapping[str, Callable[[Any, Any], bool]] = MappingProxyType(
    {
        "eq": operator.eq,
        "ne": operator.ne,
        "lt": operator.lt,
        "le": operator.le,
        "gt": operator.gt,
        "ge": operator.ge,
    }
)


def predicate(name: str, type: Type) -> Callable[[Any, Any], bool]:
    """Return the comparison of ``arith.cmpi`` or ``arith.cmpf`` that has that name.

    Raises
    ------
    MachineError
        For an unknown name.

    Examples
    --------
    >>> predicate("ult", ScalarType("i8"))(1, -1), predicate("olt", ScalarType("f32"))(1.0, math.nan)
    (True, False)
    """
    if isinstance(type, ScalarType) and type.name in _FLOATS:
        return _float_predicate(name)
    if name in ("eq", "ne"):
        return _ORDERED[name]
    kind, compare = name[:1], _ORDERED.get(name[1:])
    if compare is None or kind not in "su":
        raise MachineError(
            f"comparison {name!r} of integers is unknown; eq, ne, and lt, le, gt, ge behind s or u are known"
        )
    if kind == "s":
        return compare
    bits = _bits(type.name) if isinstance(type, ScalarType) else 64
    return lambda a, b: compare(_unsigned(a, bits), _unsigned(b, bits))


def _unordered(a: float, b: float) -> bool:
    return math.isnan(a) or math.isnan(b)


_WHOLE: Mapping[str, Callable[[float, float], bool]] = MappingProxyType(
    {
        "ord": lambda a, b: not _unordered(a, b),
        "uno": _unordered,
        "true": lambda a, b: True,
        "false": lambda a, b: False,
    }
)


def _float_predicate(name: str) -> Callable[[float, float], bool]:
    if name in _WHOLE:
        return _WHOLE[name]
    kind, compare = name[:1], _ORDERED.get(name[1:])
    if compare is None or kind not in "ou":
        raise MachineError(
            f"comparison {name!r} of floats is unknown; eq, ne, lt, le, gt, ge behind o or u are known"
        )
    if kind == "o":
        return lambda a, b: not _unordered(a, b) and compare(a, b)
    return lambda a, b: _unordered(a, b) or compare(a, b)


def cast(name: str, source: Type, result: Type) -> Rounded:
    """Return the function of an `arith` conversion.

    Examples
    --------
    >>> cast("extui", ScalarType("i8"), ScalarType("i32"))(-1)
    255
    """
    fit = wrapper(result)
    bits = 64 if not isinstance(source, ScalarType) or source.name in _FLOATS else _bits(source.name)
    if name == "negf":
        return lambda value: fit(-value)
    if name in ("extui", "index_castui", "uitofp"):
        return lambda value: fit(_unsigned(value, bits))
    if name in ("fptosi", "fptoui"):
        return lambda value: fit(_whole(value))
    if name == "bitcast":
        return _bitcast(source, result)
    if name in ("extsi", "index_cast", "sitofp") and bits == 1:
        return lambda value: fit(-value)
    return fit


def _whole(value: float) -> int:
    if not math.isfinite(value):
        raise MachineError(f"{value} has no integer value; compare or clamp it before the conversion")
    return int(value)


def _numpy_type(type: Type) -> np.dtype[Any]:
    if not isinstance(type, ScalarType):
        raise MachineError(f"a number is needed, not a value of type {type}")
    return ELEMENTS["i64" if type.name == "index" else type.name]


def _bitcast(source: Type, result: Type) -> Rounded:
    given, taken = _numpy_type(source), _numpy_type(result)
    if given.itemsize != taken.itemsize:
        widths = f"{8 * given.itemsize} and {8 * taken.itemsize} bits"
        raise MachineError(f"a bitcast from {given} to {taken}: the widths differ, {widths}; convert instead")
    return lambda value: np.array(value, given).view(taken)[()].item()
