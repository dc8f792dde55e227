"""The library's arguments on Dask arrays: the same names and defaults, the same results."""

from __future__ import annotations

import inspect
from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lanesort as ls
from tests.distributed.test_dask import DA, POLICY, _divided, _synchronous, chunked
from tests.patterns import same_bits

__all__ = ["_synchronous"]


@pytest.fixture(autouse=True, params=["at once", "three rounds"])
def _rounds(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "three rounds":
        monkeypatch.setattr("lanesort.distributed.exchange.AT_ONCE", 1)


VERBS = ["sort", "argsort", "sort_pairs", "top_k", "merge", "flatnonzero"]


@pytest.mark.parametrize("verb", VERBS)
def test_arguments_are_the_library_s(verb: str) -> None:
    own = inspect.signature(getattr(DA, verb)).parameters
    library = inspect.signature(getattr(ls, verb)).parameters
    assert list(own) == [name for name in library if name not in ("threads", "out")]
    for name, parameter in own.items():
        assert (parameter.kind, parameter.default) == (library[name].kind, library[name].default)


def test_what_means_nothing_here_is_refused_with_the_reason() -> None:
    lazy = da.from_array(np.arange(4.0), chunks=2)
    with pytest.raises(TypeError, match="threads is 2; a task uses one thread"):
        DA.sort(lazy, threads=2)
    with pytest.raises(TypeError, match=r"out is \(1, 2\); a lazy result has no memory yet"):
        DA.top_k(lazy, 2, out=(1, 2))
    assert DA.sort(lazy, threads=None).compute().tolist() == [0, 1, 2, 3]
    with pytest.raises(TypeError, match="unexpected keyword"):
        DA.sort(lazy, order="C")


def _same(found: Any, expected: Any) -> None:
    values, indices, valid = dask.compute(found.values, found.indices, found.valid)
    assert same_bits(values, expected.values)
    assert np.array_equal(indices, expected.indices)
    assert indices.dtype == expected.indices.dtype
    assert (valid is None) == (expected.valid is None)
    if valid is not None:
        assert np.array_equal(valid, expected.valid)
        assert found.valid.shape == np.shape(expected.valid)
        assert found.valid.dtype == np.asarray(expected.valid).dtype


def _ragged(draw: Any, x: Any, axis: int, lazy: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """Lengths and a mask, or one of them, for the library and for Dask."""
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    across = tuple(np.delete(x.shape, axis))
    given_: dict[str, Any] = {}
    kind = draw(st.sampled_from(["lengths", "where", "both"]))
    if kind != "where":
        given_["lengths"] = rng.integers(0, x.shape[axis] + 1, across)
    if kind != "lengths":
        shape = x.shape if draw(st.booleans()) else (x.shape[-1],)
        given_["where"] = rng.random(shape) < 0.6
    own = {n: da.from_array(v, chunks=2) if lazy and np.ndim(v) else v for n, v in given_.items()}
    return given_, own


@given(pair=st.one_of(chunked(), chunked(2)), data=st.data(), lazy=st.booleans(), **POLICY)
@settings(max_examples=40, deadline=None)
def test_ragged_rows(pair: Any, data: Any, lazy: bool, nan: Any, tie: Any, descending: bool) -> None:
    x, chunks = pair
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    given_, own = _ragged(data.draw, x, axis, lazy)
    policy = {"axis": axis, "descending": descending, "nan": nan}
    index = {"index_dtype": np.int16, "index_offset": data.draw(st.integers(-20, 20)), "fill_index": 77}
    index["tie"] = tie
    fill = {"fill_value": data.draw(st.sampled_from([None, 0, 1] if x.dtype.kind not in "mM" else [None]))}
    _same(
        DA.sort_pairs(chunks, **policy, **index, **fill, **own),
        ls.sort_pairs(x, **policy, **index, **fill, **given_),
    )
    assert same_bits(
        DA.sort(chunks, **policy, **fill, **own).compute(), ls.sort(x, **policy, **fill, **given_)
    )
    found = DA.argsort(chunks, **policy, **index, **own).compute()
    assert np.array_equal(found, ls.argsort(x, **policy, **index, **given_))


@given(
    pair=st.one_of(chunked(), chunked(2)),
    data=st.data(),
    by=st.sampled_from([True, False, "index"]),
    ragged=st.booleans(),
    **POLICY,
)
@settings(max_examples=40, deadline=None)
def test_top_k(pair: Any, data: Any, by: Any, ragged: bool, nan: Any, tie: Any, descending: bool) -> None:
    x, chunks = pair
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    given_, own = _ragged(data.draw, x, axis, True) if ragged else ({}, {})
    k = data.draw(st.integers(0, x.shape[axis] + (5 if ragged else 0)))
    policy = {"axis": axis, "mode": "largest" if descending else "smallest", "nan": nan, "tie": tie}
    more = {"sorted": by, "index_dtype": np.uint16, "index_offset": 9}
    found = DA.top_k(chunks, k, **policy, **more, **own)
    assert found.values.shape[axis] == k
    _same(found, ls.top_k(x, k, **policy, **more, **given_))


@given(pair=st.one_of(chunked(), chunked(2)), data=st.data(), size=st.none() | st.integers(0, 90))
@settings(max_examples=30, deadline=None)
def test_flatnonzero(pair: Any, data: Any, size: int | None) -> None:
    x, chunks = pair
    axis = data.draw(st.none() | st.integers(-x.ndim, x.ndim - 1))
    more = {"axis": axis, "size": size, "index_offset": 3, "index_dtype": np.uint16}
    expected = ls.flatnonzero(x, **more)
    found = DA.flatnonzero(chunks, **more)
    assert found.indices.shape == expected.indices.shape
    indices, total = dask.compute(*found)
    assert indices.dtype == expected.indices.dtype
    assert np.array_equal(indices, expected.indices)
    assert np.array_equal(total, expected.total)


@st.composite
def sorted_runs(draw: st.DrawFn, tie: str, with_indices: bool, dimensions: int) -> Any:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows = () if dimensions == 1 else (draw(st.integers(1, 4)),)
    descending = draw(st.booleans())
    runs, indices, lazy, travelling = [], [], [], []
    for _ in range(draw(st.integers(1, 4))):
        shape = (*rows, draw(st.integers(0, 25)))
        values = rng.integers(-4, 5, shape).astype(np.float32)
        values[values == 4] = np.nan
        values[values == 3] = -0.0
        if tie == "high" and not with_indices:  # equal values would be out of order
            values = (rng.permuted(np.arange(90)[None].repeat(max(1, *rows, 1), 0), axis=1)).astype(
                np.float32
            )
            values = values[..., : shape[-1]].reshape(shape)
        own = rng.integers(0, 40, shape).astype(np.int16)
        if tie == "run":
            values = ls.sort(values, descending=descending)
        else:
            by = np.lexsort((-own if tie == "high" else own, ls.order.keys(values, ls.Order(descending))))
            values, own = np.take_along_axis(values, by, -1), np.take_along_axis(own, by, -1)
        chunks = tuple(_divided(draw, n) for n in shape)
        runs.append(values)
        indices.append(own)
        lazy.append(da.from_array(values, chunks=chunks))
        travelling.append(da.from_array(own, chunks=chunks) if draw(st.booleans()) else own)
    return runs, indices, lazy, travelling, descending


@given(
    data=st.data(),
    tie=st.sampled_from(["run", "low", "high"]),
    with_indices=st.booleans(),
    dimensions=st.sampled_from([1, 1, 2]),
    k=st.none() | st.integers(0, 60),
    stop=st.sampled_from(["all", "first-exhausted"]),
    check=st.booleans(),
)
@settings(max_examples=80, deadline=None)
def test_merge(
    data: Any, tie: str, with_indices: bool, dimensions: int, k: int | None, stop: str, check: bool
) -> None:
    runs, indices, lazy, travelling, descending = data.draw(sorted_runs(tie, with_indices, dimensions))
    more: dict[str, Any] = {"descending": descending, "tie": tie, "k": k, "check": check}
    more["stop"] = stop if dimensions == 1 else "all"
    expected = ls.merge(runs, indices=indices if with_indices else None, **more)
    found = DA.merge(lazy, indices=travelling if with_indices else None, **more)
    assert found.values.shape == expected.values.shape
    values, positions, consumed = dask.compute(found.values, found.indices, found.consumed)
    assert same_bits(values, expected.values)
    assert np.array_equal(positions, expected.indices)
    assert positions.dtype == expected.indices.dtype
    for own, wanted in zip(consumed, expected.consumed, strict=True):
        assert np.array_equal(own, wanted)


LAZY = da.from_array(np.arange(6.0).reshape(2, 3), chunks=2)
ROW = LAZY[0]


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: DA.sort(LAZY, lengths=[1.5, 2]), "lengths has dtype float64"),
        (lambda: DA.sort(LAZY, lengths=[1, 2, 3]), r"lengths has shape \(3,\); it must be \(2,\)"),
        (lambda: DA.sort(LAZY, lengths=[1, 9]), r"lengths\[1\] \(flattened\) is 9; rows have 0 … 3"),
        (lambda: DA.sort(LAZY, where=[1, 0, 1]), "where has dtype int64"),
        (lambda: DA.sort(LAZY, where=[True] * 5), "does not broadcast"),
        (lambda: DA.sort(LAZY, lengths=[1, 2], fill_value="x"), "fill_value is 'x'"),
        (lambda: DA.argsort(LAZY, lengths=[1, 2], fill_index=300, index_dtype=np.uint8), "fill_index is 300"),
        (lambda: DA.argsort(LAZY, index_dtype=float), "accepted are integer dtypes"),
        (lambda: DA.argsort(LAZY, index_dtype=np.int8, index_offset=126), "do not fit int8"),
        (lambda: DA.sort(LAZY, axis=2), "axis is 2"),
        (lambda: DA.sort(LAZY, nan="first"), "nan is 'first'"),
        (lambda: DA.argsort(LAZY, stable=True, tie="high"), "stable is True and tie is 'high'"),
        (lambda: DA.top_k(LAZY, -1), "k is -1"),
        (lambda: DA.top_k(LAZY, 1.5), "k is 1.5; it must be an integer"),
        (lambda: DA.top_k(LAZY, 1, sorted="value"), "sorted is 'value'"),
        (lambda: DA.top_k(LAZY, 1, mode="most"), "mode is 'most'"),
        (lambda: DA.flatnonzero(LAZY, size=-1), "size is -1"),
        (lambda: DA.flatnonzero(LAZY, size="x"), "size is 'x'; it must be an integer"),
        (lambda: DA.merge([]), "runs is empty"),
        (lambda: DA.merge([ROW, ROW.astype("f4")]), r"runs\[1\] is float32, runs\[0\] is float64"),
        (lambda: DA.merge([LAZY, ROW]), "may differ along axis alone"),
        (lambda: DA.merge([ROW], k=-1), "k is -1"),
        (lambda: DA.merge([ROW], stop="some"), "stop is 'some'"),
        (lambda: DA.merge([LAZY], stop="first-exhausted"), "rows would end at different lengths"),
        (lambda: DA.merge([ROW], indices=[]), "indices has 0 arrays for 1 runs"),
        (lambda: DA.merge([ROW], indices=[[1.0, 2, 3]]), r"indices\[0\] has dtype float64"),
        (lambda: DA.merge([ROW], indices=[[1, 2]]), r"indices\[0\] does not have the shape of runs\[0\]"),
        (lambda: DA.merge([ROW], tie="index"), "tie is 'index'"),
    ],
)
def test_errors_come_before_anything_is_computed(call: Any, says: str) -> None:
    with pytest.raises((TypeError, ValueError), match=says):
        call()


def test_errors_that_need_the_values_come_when_they_are_there() -> None:
    with pytest.raises(ValueError, match="is 9; rows have 0 … 3"):
        DA.sort(LAZY, lengths=da.from_array(np.array([1, 9]))).compute()
    with pytest.raises(ValueError, match=r"indices\[0\] holds -1"):
        DA.merge([ROW], indices=[[1, -1, 3]]).indices.compute()
    run = da.from_array(np.array([1.0, 2.0, 2.0, 2.0]), chunks=2)
    with pytest.raises(ValueError, match=r"runs\[1\] .*element 2 is 2.0, element 3 is 2.0, index 3 then 1"):
        DA.merge([run, run], indices=[[0, 1, 2, 3], [0, 1, 3, 1]]).values.compute()
    with pytest.raises(ValueError, match=r"element 1 is 2.0, element 2 is 2.0, index 9 then 3"):
        DA.merge([run], indices=[[0, 9, 3, 4]]).values.compute()


def test_arrays_of_nothing() -> None:
    x = np.zeros((2, 0, 3), np.float32)
    lazy = da.from_array(x, chunks=2)
    for axis in range(3):
        assert DA.sort(lazy, axis=axis).compute().shape == x.shape
        assert DA.argsort(lazy, axis=axis).compute().shape == x.shape
        assert DA.top_k(lazy, 0, axis=axis).values.compute().shape == ls.top_k(x, 0, axis=axis).values.shape
        assert DA.flatnonzero(lazy, axis=axis).indices.compute().shape == x.shape


def test_byte_order_comes_back() -> None:
    x = np.array([3, 1, 2, 9, 0], ">f4")
    lazy = da.from_array(x, chunks=2)
    assert DA.sort(lazy).compute().dtype == x.dtype
    assert DA.sort(lazy).compute().tolist() == [0, 1, 2, 3, 9]
    values, indices = dask.compute(*DA.top_k(lazy, 3))
    assert (values.dtype, values.tolist(), indices.tolist()) == (x.dtype, [9, 3, 2], [3, 0, 2])


def test_equal_values_of_other_bits_keep_their_order() -> None:
    rng = np.random.default_rng(4)
    x = np.where(rng.random(900) < 0.5, np.float32(0), np.float32(-0.0)).astype(np.float32)
    x[::3] = (rng.integers(1, 1 << 22, 300) | 0x7FC00000).astype(np.uint32).view(np.float32)
    lazy = da.from_array(x, chunks=45)
    for descending in (False, True):
        for nan in ("last", "largest", "sign-magnitude"):
            found = DA.sort(lazy, descending=descending, nan=nan).compute()
            assert same_bits(found, ls.sort(x, descending=descending, nan=nan))
