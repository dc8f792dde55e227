"""Arguments that are refused, and what the refusal says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import lanesort as ls

X = np.array([[3.0, 1.0, 2.0]], np.float32)
SORTS: list[Callable[..., Any]] = [ls.sort, ls.argsort, ls.sort_pairs]


@pytest.mark.parametrize("dtype", [complex, object, "U3", "S3", [("a", "f4")]])
@pytest.mark.parametrize("verb", [*SORTS, lambda x: ls.top_k(x, 1), ls.flatnonzero, lambda x: ls.merge([x])])
def test_dtypes_without_an_order_are_named(dtype: Any, verb: Any) -> None:
    with pytest.raises(TypeError, match=r"no order here; accepted are float32, float16, bfloat16"):
        verb(np.zeros(3, dtype))


@pytest.mark.parametrize(
    ("call", "kind", "says"),
    [
        (lambda: ls.top_k(X, 4), ValueError, r"k is 4 but rows have n = 3"),
        (lambda: ls.top_k(X, -1), ValueError, r"k is -1; it must be at least 0"),
        (lambda: ls.top_k(X, 1.0), TypeError, r"k is 1.0; it must be an integer"),
        (
            lambda: ls.top_k(X, 1, mode="max"),
            ValueError,
            r"mode is 'max'; accepted are 'largest', 'smallest'",
        ),
        (
            lambda: ls.top_k(X, 1, sorted="value"),
            ValueError,
            r"sorted is 'value'; accepted are True, False, 'i",
        ),
        (lambda: ls.sort(X, nan="first"), ValueError, r"nan is 'first'; accepted are 'last', 'largest'"),
        (lambda: ls.argsort(X, tie="run"), ValueError, r"tie is 'run'; accepted are 'low', 'high'"),
        (lambda: ls.argsort(X, tie=1), TypeError, r"tie is 1; accepted"),
        (lambda: ls.sort(X, compat="cupy"), ValueError, r"compat is 'cupy'; accepted are 'numpy', 'torch'"),
        (lambda: ls.argsort(X, stable=True, tie="high"), ValueError, r"stable is True and tie is 'high'"),
        (lambda: ls.sort(X, axis=2), ValueError, r"axis is 2; an array of 2 dimensions has -2 … 1"),
        (lambda: ls.sort(X, axis="0"), TypeError, r"axis is '0'; it must be an integer"),
        (lambda: ls.sort(np.float32(1)), ValueError, r"x has no dimension"),
        (lambda: ls.nonzero(np.float32(1)), ValueError, r"x has no dimension"),
        (
            lambda: ls.argsort(X, index_dtype=float),
            TypeError,
            r"index_dtype is .*float.*; accepted are integer",
        ),
        (
            lambda: ls.argsort(X, index_dtype="int8", index_offset=126),
            ValueError,
            r"126 … 128 .*do not fit int8",
        ),
        (
            lambda: ls.argsort(X, index_dtype="uint8", index_offset=-1),
            ValueError,
            r"-1 … 1 .*do not fit uint8",
        ),
        (lambda: ls.argsort(X, index_offset=0.5), TypeError, r"index_offset is 0.5"),
        (lambda: ls.sort(X, threads=0), ValueError, r"threads is 0; it must be at least 1"),
        (lambda: ls.sort(X, threads="2"), TypeError, r"threads is '2'"),
        (lambda: ls.sort(X, lengths=[4]), ValueError, r"lengths\[0\] \(flattened\) is 4; rows have 0 … 3"),
        (lambda: ls.sort(X, lengths=[1, 2]), ValueError, r"lengths has shape \(2,\); it must be \(1,\)"),
        (lambda: ls.sort(X, lengths=[1.5]), TypeError, r"lengths has dtype float64"),
        (lambda: ls.sort(X, where=[1, 0, 1]), TypeError, r"where has dtype int64"),
        (
            lambda: ls.sort(X, where=[True, False]),
            ValueError,
            r"where has shape \(2,\), which does not broadcast",
        ),
        (
            lambda: ls.argsort(X, lengths=[1], fill_index=300, index_dtype="uint8"),
            ValueError,
            r"fill_index is 300",
        ),
        (lambda: ls.sort(X.astype(int), lengths=[1], fill_value=0.5), ValueError, r"fill_value is 0.5"),
        (lambda: ls.flatnonzero(X, size=-2), ValueError, r"size is -2"),
        (lambda: ls.flatnonzero(X, size=1.5), TypeError, r"size is 1.5"),
        (lambda: ls.merge([]), ValueError, r"runs is empty"),
        (lambda: ls.merge(5), TypeError, r"runs is 5; it must be a sequence of arrays"),
        (lambda: ls.top_k(X, 2**62, lengths=[1]), ValueError, r"k is 4611686018427387904; rows of n = 3"),
        (
            lambda: ls.merge([X[0]]),
            ValueError,
            r"runs\[0\] is not sorted .* element 0 is 3.0, element 1 is 1.0",
        ),
        (
            lambda: ls.merge([X[0], X[0].astype("f8")]),
            TypeError,
            r"runs\[1\] is float64, runs\[0\] is float32",
        ),
        (lambda: ls.merge([X, X.T]), ValueError, r"runs\[1\] has shape"),
        (lambda: ls.merge([np.array([1])], indices=[]), ValueError, r"indices has 0 arrays for 1 runs"),
        (lambda: ls.merge([np.array([1])], indices=[[-1]]), ValueError, r"indices\[0\] holds -1"),
        (lambda: ls.merge([np.array([1])], indices=[[0.5]]), TypeError, r"indices\[0\] has dtype float64"),
        (lambda: ls.merge([np.array([1])], stop="one"), ValueError, r"stop is 'one'"),
        (lambda: ls.merge([X * 0], stop="first-exhausted"), ValueError, r"runs have 2 dimensions"),
        (lambda: ls.merge([np.array([1, 1])], indices=[[1, 0]]), ValueError, r"index 1 then 0"),
        (lambda: ls.merge([np.array([1, 1])], tie="high"), ValueError, r"tie='high'"),
        (lambda: ls.sort_by_key(X, X[0]), ValueError, r"payloads\[0\] has shape \(3,\); it must be \(1, 3\)"),
        (lambda: ls.sort_by_key(X, X.astype(object)), TypeError, r"payloads\[0\] has dtype object"),
    ],
)
def test_a_refusal_says_what_came_and_what_is_accepted(call: Any, kind: Any, says: str) -> None:
    with pytest.raises(kind, match=says) as caught:
        call()
    assert isinstance(caught.value, ls.LanesortError)


def test_a_masked_array_is_not_read_without_its_mask() -> None:
    with pytest.raises(TypeError, match=r"x is a masked array; give x.data, and where=~x.mask"):
        ls.sort(np.ma.masked_less(X, 2))


def test_the_thread_variable_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANESORT_NUM_THREADS", "many")
    with pytest.raises(ValueError, match="LANESORT_NUM_THREADS is 'many'"):
        ls.sort(np.zeros(1 << 18))


def test_out_is_written_and_returned() -> None:
    out = np.empty((1, 2), np.float32), np.empty((1, 2), np.intp)
    found = ls.top_k(X, 2, out=out)
    assert found.values is out[0]
    assert found.indices is out[1]
    assert out[0].tolist() == [[3, 2]]


@pytest.mark.parametrize(
    ("out", "says"),
    [
        (np.empty((1, 2), np.float32), "tuple of two"),
        ((np.empty((1, 3), np.float32), np.empty((1, 2), np.intp)), "out values is float32 of shape"),
        ((np.empty((1, 2), np.float32), np.empty((1, 2), np.int32)), "out indices is int32 of shape"),
        ((X[:, :2], np.empty((1, 2), np.intp)), "out values overlaps an input"),
    ],
)
def test_out_stays_as_it_is_when_it_does_not_fit(out: Any, says: str) -> None:
    before = [np.array(o, copy=True) for o in out] if isinstance(out, tuple) else []
    with pytest.raises((TypeError, ValueError), match=says):
        ls.top_k(X, 2, out=out)
    for now, then in zip(out if isinstance(out, tuple) else [], before, strict=True):
        assert now.tobytes() == then.tobytes()


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 3), (2, 0, 3)])
def test_empty_arrays_are_arrays(shape: tuple[int, ...]) -> None:
    x = np.zeros(shape, np.float32)
    assert ls.sort(x).shape == shape
    assert ls.argsort(x).shape == shape
    assert ls.top_k(x, 0).values.shape == (*shape[:-1], 0)
    assert ls.flatnonzero(x).total == 0
    assert [a.size for a in ls.nonzero(x)] == [0] * len(shape)
