"""Cases 21–40: NaN, infinities, signed zeros. Each test bears the number of its case."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import lanesort as ls
from tests.patterns import DTYPES

NAN, INF = np.nan, np.inf
FLOATS = ("float16", "bfloat16", "float32", "float64")


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    ("mode", "nan", "expected"),
    [
        ("largest", "largest", [2, 4, 5]),
        ("largest", "last", [5, 0, 3]),
        ("smallest", "largest", [1, 3, 0]),
        ("smallest", "last", [1, 3, 0]),
    ],
)
def test_case_21_no_value_is_lost_to_a_nan(dtype: str, mode: Any, nan: Any, expected: list[int]) -> None:
    x = np.array([3, 1, NAN, 2, NAN, 5]).astype(DTYPES[dtype])
    assert ls.top_k(x, 3, mode=mode, nan=nan).indices.tolist() == expected


@pytest.mark.parametrize("nan", ["last", "largest"])
def test_case_22_where_a_nan_stands_does_not_matter(nan: Any) -> None:
    for place in range(4):
        x = np.insert(np.array([1.0, 2.0, 3.0], np.float32), place, NAN)
        expected = [3, 2, 1] if nan == "last" else [NAN, 3, 2]
        assert np.array_equal(ls.top_k(x, 3, nan=nan).values, expected, equal_nan=True)
        assert np.array_equal(ls.top_k(x, 1, nan=nan).values, expected[:1], equal_nan=True)


@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, np.float16, ml_dtypes.float8_e5m2, np.float32])
def test_cases_23_24_small_floats_sort_as_large_ones(dtype: Any) -> None:
    x = np.array([3, 1, NAN, 2, NAN, 5]).astype(dtype)
    assert ls.argsort(x).tolist() == [1, 3, 0, 5, 2, 4]
    assert np.array_equal(ls.sort(x).astype(float), [1, 2, 3, 5, NAN, NAN], equal_nan=True)


def test_case_23_float8_e4m3fn() -> None:
    x = np.array([3, 1, NAN, 2]).astype(ml_dtypes.float8_e4m3fn)
    assert ls.argsort(x).tolist() == [1, 3, 0, 2]


def test_case_25_float16() -> None:
    found = ls.sort(np.array([NAN, 2, 1, NAN, 0], np.float16))
    assert np.array_equal(found, np.array([0, 1, 2, NAN, NAN], np.float16), equal_nan=True)


@pytest.mark.parametrize(
    ("descending", "nan", "expected"),
    [
        (False, "last", [4, 0, 3, 1, 2]),
        (False, "largest", [4, 0, 3, 1, 2]),
        (True, "last", [3, 0, 4, 1, 2]),
        (True, "largest", [1, 2, 3, 0, 4]),
        (True, "total", [2, 3, 0, 4, 1]),
    ],
)
def test_case_26_the_sign_of_a_nan(descending: bool, nan: Any, expected: list[int]) -> None:
    bits = np.array([0x3F800000, 0xFFC00000, 0x7FC00000, 0x7F800000, 0xFF800000], np.uint32)
    assert ls.argsort(bits.view(np.float32), descending=descending, nan=nan).tolist() == expected


@pytest.mark.parametrize(("compat", "expected"), [("torch", [0, 2, 3]), ("numpy", [2, 3, 1])])
def test_case_29_values_are_those_of_the_indices(compat: str, expected: list[int]) -> None:
    x = np.array([NAN, -INF, INF, 0], np.float32)
    found = ls.top_k(x, 3, compat=compat)
    assert found.indices.tolist() == expected
    assert found.values.tobytes() == x[found.indices].tobytes()


def test_case_30_no_sentinel_collides_with_data() -> None:
    assert ls.top_k(np.array([0.5, -INF, -INF, -INF, -INF], np.float32), 3).indices.tolist() == [0, 1, 2]
    x = np.array([0.5, NAN, NAN, NAN, NAN], np.float32)
    assert ls.top_k(x, 3).indices.tolist() == [0, 1, 2]
    assert ls.top_k(x, 3, nan="largest").indices.tolist() == [1, 2, 3]
    for dtype in (np.int32, np.uint32, np.uint16, np.int16):
        low = np.full(70, np.iinfo(dtype).min, dtype)
        assert ls.top_k(low, 3).indices.tolist() == [0, 1, 2]
        high = np.full(70, np.iinfo(dtype).max, dtype)
        assert ls.top_k(high, 3, mode="smallest").indices.tolist() == [0, 1, 2]


def test_case_33_top_k_matches_sort() -> None:
    x = np.array([NAN, INF, INF, 3, INF], np.float32)
    assert ls.top_k(x, 1, nan="largest").indices.tolist() == [0]
    assert ls.top_k(x, 1).indices.tolist() == [1]
    assert ls.top_k(x, 1, mode="smallest").indices.tolist() == [3]


def test_case_34_argsort_of_specials() -> None:
    assert ls.argsort(np.array([INF, 0, -1, NAN, 5])).tolist() == [2, 1, 4, 0, 3]


def test_case_35_key_and_value_with_nan_and_inf() -> None:
    keys, values = ls.sort_by_key(np.array([INF, NAN, 1, INF, NAN], np.float32), np.arange(5))
    assert np.array_equal(keys, np.array([1, INF, INF, NAN, NAN], np.float32), equal_nan=True)
    assert values.tolist() == [2, 0, 3, 1, 4]


@pytest.mark.parametrize("dtype", FLOATS)
def test_cases_37_38_zeros_are_equal(dtype: str) -> None:
    x = np.array([0.0, -0.0, 0.0, -0.0]).astype(DTYPES[dtype])
    assert ls.argsort(x).tolist() == [0, 1, 2, 3]
    assert ls.argsort(x, descending=True).tolist() == [0, 1, 2, 3]
    assert ls.top_k(x, 4, compat="jax").indices.tolist() == [0, 2, 1, 3]


def test_cases_39_40_the_sign_of_a_zero_survives() -> None:
    x = np.array([0.0, -0.0, 1.0, -0.0, 0.0], np.float32)
    assert np.signbit(ls.sort(x)).tolist() == [False, True, True, False, False]
    assert np.signbit(ls.sort_pairs(x, descending=True).values).tolist() == [False, False, True, True, False]
    payload = np.array([0xFFC00001, 0x7F800001, 0x3F800000], np.uint32).view(np.float32)
    assert ls.sort(payload).view(np.uint32).tolist() == [0x3F800000, 0xFFC00001, 0x7F800001]
