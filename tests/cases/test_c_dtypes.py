"""Cases 42–52: direction, dtype, index type. Each test bears the number of its case."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import lanesort as ls
from tests.patterns import DTYPES, PATTERNS


def test_case_42_descending_is_stable() -> None:
    assert ls.argsort(np.array([0, 1, 0]), descending=True, stable=True).tolist() == [1, 0, 2]


def test_case_43_nothing_is_flipped_or_negated() -> None:
    assert ls.argsort(np.array([0, 1, 200], np.uint8), descending=True).tolist() == [2, 1, 0]
    assert ls.argsort(np.array([-128, 5, 0], np.int8), descending=True).tolist() == [1, 2, 0]
    for dtype in (np.int16, np.int32, np.int64):
        x = np.array([np.iinfo(dtype).min, 5, 0], dtype)
        assert ls.top_k(x, 3).indices.tolist() == [1, 2, 0]


@pytest.mark.parametrize("n", range(65))
def test_case_44_tiny_arrays_of_float16(n: int) -> None:
    x = np.random.default_rng(n).standard_normal(n).astype(np.float16)
    assert ls.sort(x).tolist() == sorted(x.tolist())
    assert ls.argsort(x).tolist() == sorted(range(n), key=lambda i: x[i])


@pytest.mark.parametrize("dtype", sorted(DTYPES))
@pytest.mark.parametrize("shape", [(1,), (1, 2), (3, 2500)])
def test_case_46_every_dtype_in_every_shape(dtype: str, shape: tuple[int, ...]) -> None:
    x = PATTERNS["random"](np.random.default_rng(46), shape, DTYPES[dtype])
    k = min(4, shape[-1])
    found = ls.top_k(x, k)
    assert found.values.dtype == x.dtype
    assert found.indices.tolist() == ls.argsort(x, descending=True)[..., :k].tolist()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_case_47_indices_are_indices(dtype: str) -> None:
    x = PATTERNS["specials"](np.random.default_rng(47), (5, 1000), DTYPES[dtype])
    for k in (1, 17, 1000):
        found = ls.top_k(x, k)
        assert found.indices.min() >= 0
        assert found.indices.max() < 1000
        assert all(len(set(row)) == k for row in found.indices.tolist())
        assert found.values.tobytes() == np.take_along_axis(x, found.indices, 1).tobytes()


def test_case_49_an_index_type_that_is_too_narrow_is_refused() -> None:
    with pytest.raises(ValueError, match="do not fit uint16"):
        ls.argsort(np.zeros(70_000, np.uint8), index_dtype=np.uint16)
    with pytest.raises(ValueError, match="do not fit uint32"):
        ls.argsort(np.zeros(2), index_offset=2**32 - 1, index_dtype=np.uint32)


def test_case_50_integers_are_exact() -> None:
    x = np.array([16777217, 16777216, -1], np.int32)
    assert ls.sort(x).tolist() == [-1, 16777216, 16777217]
    assert ls.sort(x, where=x >= 0, fill_value=-1).tolist() == [16777216, 16777217, -1]
    wide = np.array([2**53 + 1, 2**53, -1], np.int64)
    assert ls.top_k(wide, 2).values.tolist() == [2**53 + 1, 2**53]


def test_case_51_experts_beyond_a_byte() -> None:
    x = np.zeros((2, 384), ml_dtypes.bfloat16)
    x[:, 300] = 2
    x[:, 256] = 1
    assert ls.top_k(x, 2, index_dtype=np.int32).indices.tolist() == [[300, 256]] * 2


@pytest.mark.parametrize("verb", ["sort", "argsort", "top_k"])
def test_case_52_layout_changes_nothing_and_inputs_stay(verb: str) -> None:
    x = PATTERNS["mostly_numbers"](np.random.default_rng(52), (40, 30), np.dtype(np.float32))

    def run(a: Any) -> Any:
        return ls.top_k(a, 5).indices if verb == "top_k" else getattr(ls, verb)(a)

    expected = run(x).astype(np.float32).tobytes()
    frozen = x.copy()
    frozen.flags.writeable = False
    for view in (x.astype(">f4"), x[::-1][::-1], np.asfortranarray(x), frozen):
        before = view.tobytes()
        assert run(view).astype(np.float32).tobytes() == expected
        assert view.tobytes() == before
