"""Arithmetic on numbers, against NumPy and by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanesort.errors import MachineError
from lanesort.pto.program import PtrType, ScalarType
from lanesort.pto.scalar import FLOAT_BINARY, INTEGER_BINARY, binary, cast, integer_range, predicate, wrapper

WIDTHS = ["i1", "i8", "i16", "i32", "i64", "ui8", "ui32", "index"]
I8, I32, I64, F32, INDEX = (ScalarType(name) for name in ("i8", "i32", "i64", "f32", "index"))


@given(st.sampled_from(WIDTHS), st.integers(-(2**70), 2**70))
def test_integers_wrap_into_their_range(name: str, value: int) -> None:
    type = ScalarType(name)
    least, greatest = integer_range(type) or (0, 0)
    wrapped = wrapper(type)(value)
    assert least <= wrapped <= greatest
    assert (wrapped - value) % (greatest - least + 1) == 0


I64S = st.integers(-(2**63), 2**63 - 1)


@given(st.sampled_from(["addi", "subi", "muli", "andi", "ori", "xori", "minsi", "maxsi"]), I64S, I64S)
def test_as_numpy_does(name: str, a: int, b: int) -> None:
    ufunc = {
        "addi": np.add,
        "subi": np.subtract,
        "muli": np.multiply,
        "andi": np.bitwise_and,
        "ori": np.bitwise_or,
        "xori": np.bitwise_xor,
        "minsi": np.minimum,
        "maxsi": np.maximum,
    }[name]
    with np.errstate(all="ignore"):
        assert binary(name, I64)(a, b) == int(ufunc(np.array([a]), np.array([b]))[0])


@given(I64S, I64S.filter(bool))
def test_division_truncates_and_the_remainder_fits(a: int, b: int) -> None:
    quotient, rest = INTEGER_BINARY["divsi"](a, b), INTEGER_BINARY["remsi"](a, b)
    assert quotient * b + rest == a
    assert abs(rest) < abs(b)
    assert rest == 0 or (rest < 0) == (a < 0)
    assert binary("floordivsi", I64)(a, b) == wrapper(I64)(math.floor(a // b))
    assert binary("ceildivsi", I64)(a, b) == wrapper(I64)(-(-a // b))


def test_unsigned_operations_read_bits() -> None:
    assert binary("divui", I8)(-1, 2) == 127
    assert binary("remui", I8)(-1, 16) == 15
    assert binary("minui", I8)(-1, 1) == 1
    assert binary("maxui", I8)(-1, 1) == -1
    assert binary("shrui", I8)(-128, 7) == 1
    assert binary("shrsi", I8)(-128, 7) == -1
    assert binary("shli", I8)(1, 7) == -128


@pytest.mark.parametrize("name", ["divsi", "remsi", "divui", "ceildivsi", "floordivsi"])
def test_division_by_zero_is_an_error(name: str) -> None:
    with pytest.raises(MachineError, match="division by zero"):
        binary(name, I32)(1, 0)


@pytest.mark.parametrize("by", [-1, 64, 10**9])
def test_shifts_are_bounded(by: int) -> None:
    with pytest.raises(MachineError, match="a shift by"):
        binary("shli", I64)(1, by)


def test_floats_round_to_their_type() -> None:
    assert binary("addf", F32)(16777216.0, 1.0) == 16777216.0
    assert binary("divf", F32)(1.0, 3.0) == float(np.float32(1) / np.float32(3))
    assert wrapper(ScalarType("bf16"))(1.00390625) == 1.0
    with np.errstate(all="ignore"):
        assert binary("divf", F32)(1.0, 0.0) == math.inf


def test_minimum_and_nan() -> None:
    assert math.isnan(FLOAT_BINARY["minimumf"](1.0, math.nan))
    assert FLOAT_BINARY["minnumf"](1.0, math.nan) == 1.0
    assert FLOAT_BINARY["maxnumf"](math.nan, 2.0) == 2.0
    assert FLOAT_BINARY["maximumf"](1.0, 2.0) == 2.0


@pytest.mark.parametrize(
    ("name", "a", "b", "holds"),
    [
        ("eq", 1, 1, True),
        ("ne", 1, 1, False),
        ("slt", -1, 1, True),
        ("ult", -1, 1, False),
        ("uge", -1, 1, True),
        ("sgt", 2, 1, True),
    ],
)
def test_integer_comparisons(name: str, a: int, b: int, holds: bool) -> None:
    assert predicate(name, I32)(a, b) is holds


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("oeq", False),
        ("ueq", True),
        ("ogt", False),
        ("une", True),
        ("ord", False),
        ("uno", True),
        ("true", True),
    ],
)
def test_float_comparisons_with_nan(name: str, expected: bool) -> None:
    assert predicate(name, F32)(math.nan, 1.0) is expected


@pytest.mark.parametrize(("name", "type"), [("xlt", I32), ("lt", I32), ("abc", F32)])
def test_unknown_comparisons(name: str, type: ScalarType) -> None:
    with pytest.raises(MachineError, match="is unknown"):
        predicate(name, type)


def test_casts() -> None:
    assert cast("trunci", I32, I8)(300) == 44
    assert cast("extui", I8, I32)(-1) == 255
    assert cast("extsi", ScalarType("i1"), I32)(1) == -1
    assert cast("index_cast", I32, INDEX)(-5) == -5
    assert cast("sitofp", I32, F32)(16777217) == 16777216.0
    assert cast("uitofp", I8, F32)(-1) == 255.0
    assert cast("fptosi", F32, I32)(-2.9) == -2
    assert cast("negf", F32, F32)(2.0) == -2.0
    assert cast("bitcast", F32, I32)(1.0) == 0x3F800000


def test_casts_that_have_no_value() -> None:
    with pytest.raises(MachineError, match="has no integer value"):
        cast("fptosi", F32, I32)(math.nan)
    with pytest.raises(MachineError, match="widths differ"):
        cast("bitcast", F32, I64)
    with pytest.raises(MachineError, match="a number is needed"):
        wrapper(PtrType("f32"))
