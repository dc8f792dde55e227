"""The verbs of the library against the reference: what must always hold (order.py)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lanesort as ls
from lanesort import reference
from lanesort.order import KEY_NAN_POLICIES, Order
from tests.patterns import DTYPES, PATTERNS, SMALL_DTYPES, same_bits

SEEDS = st.integers(0, 2**32 - 1)


@st.composite
def rows(draw: st.DrawFn, dtypes: Any = tuple(DTYPES)) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(draw(SEEDS))
    shape = draw(st.tuples(st.integers(0, 4), st.integers(0, 90)))
    pattern = PATTERNS[draw(st.sampled_from(sorted(PATTERNS)))]
    return pattern(rng, shape, DTYPES[draw(st.sampled_from(dtypes))])


POLICY = {
    "nan": st.sampled_from(KEY_NAN_POLICIES),
    "tie": st.sampled_from(["low", "high"]),
    "descending": st.booleans(),
}


@given(x=rows(), **POLICY)
@settings(max_examples=300, deadline=None)
def test_sorting_agrees_with_the_reference(x: Any, nan: Any, tie: Any, descending: bool) -> None:
    before = x.tobytes()
    expected = reference.sort_pairs(x, Order(descending, nan, tie))
    pairs = ls.sort_pairs(x, descending=descending, nan=nan, tie=tie)
    assert np.array_equal(pairs.indices, expected.indices)
    assert same_bits(pairs.values, expected.values)
    assert np.array_equal(ls.argsort(x, descending=descending, nan=nan, tie=tie), expected.indices)
    assert same_bits(pairs.values, np.take_along_axis(x, pairs.indices, axis=1))
    assert x.tobytes() == before


@given(x=rows(), nan=POLICY["nan"], descending=st.booleans())
@settings(max_examples=200, deadline=None)
def test_values_alone_are_those_of_the_pairs(x: Any, nan: Any, descending: bool) -> None:
    expected = reference.sort_pairs(x, Order(descending, nan)).values
    assert same_bits(ls.sort(x, descending=descending, nan=nan), expected)


@given(x=rows(), data=st.data(), **POLICY)
@settings(max_examples=300, deadline=None)
def test_top_k_is_the_head_of_the_sort(x: Any, data: Any, nan: Any, tie: Any, descending: bool) -> None:
    k = data.draw(st.integers(0, x.shape[1]))
    expected = reference.top_k(x, k, Order(descending, nan, tie))
    mode = "largest" if descending else "smallest"
    found = ls.top_k(x, k, mode=mode, nan=nan, tie=tie)
    assert np.array_equal(found.indices, expected.indices)
    assert same_bits(found.values, expected.values)
    by_index = ls.top_k(x, k, mode=mode, nan=nan, tie=tie, sorted="index")
    assert np.array_equal(by_index.indices, np.sort(expected.indices, axis=1))
    assert same_bits(by_index.values, np.take_along_axis(x, by_index.indices, axis=1))


@given(x=rows(), data=st.data(), **POLICY)
@settings(max_examples=300, deadline=None)
def test_any_split_merges_to_the_sort_of_the_whole(
    x: Any, data: Any, nan: Any, tie: Any, descending: bool
) -> None:
    flat = x.reshape(-1)
    cuts = sorted(data.draw(st.lists(st.integers(0, flat.size), max_size=5)))
    pieces = np.split(flat, cuts)
    starts = [0, *cuts]
    policy = {"descending": descending, "nan": nan, "tie": tie}
    runs = [ls.sort_pairs(p, index_offset=s, **policy) for p, s in zip(pieces, starts, strict=True)]
    merged = ls.merge([r.values for r in runs], indices=[r.indices for r in runs], **policy)
    expected = reference.sort_pairs(flat[None], Order(descending, nan, tie))
    assert np.array_equal(merged.indices, expected.indices[0])
    assert same_bits(merged.values, expected.values[0])
    assert merged.consumed == tuple(p.size for p in pieces)


@given(x=rows(), data=st.data(), nan=POLICY["nan"], descending=st.booleans())
@settings(max_examples=200, deadline=None)
def test_a_merge_stops_where_the_reference_stops(x: Any, data: Any, nan: Any, descending: bool) -> None:
    order = Order(descending, nan, "run")
    runs = [ls.sort(r, descending=descending, nan=nan) for r in np.split(x.reshape(-1), [x.size // 3])]
    k = data.draw(st.none() | st.integers(0, x.size + 2))
    stop = data.draw(st.sampled_from(["all", "first-exhausted"]))
    starts = np.cumsum([0, *(r.size for r in runs)])
    pairs = [(r, np.arange(s, s + r.size)) for r, s in zip(runs, starts, strict=False)]
    expected = reference.merge(pairs, order, stop=stop, limit=k)
    merged = ls.merge(runs, descending=descending, nan=nan, k=k, stop=stop)
    assert same_bits(merged.values, expected.values)
    assert np.array_equal(merged.indices, expected.indices)
    assert merged.consumed == expected.consumed


@pytest.mark.parametrize("dtype", ["i4", "u2", "i8"])
def test_a_merge_keeps_the_width_of_its_indices(dtype: str) -> None:
    runs = [np.array([1.0, 3.0]), np.empty(0), np.array([2.0])]
    indices = [np.array([5, 6], dtype), np.empty(0, dtype), np.array([7], dtype)]
    assert ls.merge(runs, indices=indices).indices.dtype == dtype
    # A list without elements says nothing of its width.
    assert ls.merge(runs, indices=[indices[0], [], indices[2]]).indices.dtype == np.int64


@given(x=rows())
@settings(max_examples=150, deadline=None)
def test_nonzero_agrees_with_the_reference(x: Any) -> None:
    flat = x.reshape(-1)
    expected = reference.nonzero(flat, "value")
    found, total = ls.flatnonzero(x)
    assert np.array_equal(found, expected)
    assert total == expected.size
    for ours, theirs in zip(ls.nonzero(x), np.unravel_index(expected, x.shape), strict=True):
        assert np.array_equal(ours, theirs)


@given(x=rows(SMALL_DTYPES), axis=st.integers(-3, 2), data=st.data(), **POLICY)
@settings(max_examples=150, deadline=None)
def test_axes_strides_and_byte_orders_change_nothing(
    x: Any, axis: int, data: Any, nan: Any, tie: Any, descending: bool
) -> None:
    columns = x.shape[1] // 2 * 2
    cube = x[:, :columns].reshape(x.shape[0], columns // 2, 2)
    policy = {"descending": descending, "nan": nan, "tie": tie, "axis": axis}
    expected = ls.sort_pairs(cube.copy(), **policy)
    views = [np.asfortranarray(cube), cube[::-1][::-1], np.repeat(cube, 2, axis=1)[:, ::2]]
    if cube.dtype.isbuiltin == 1:
        views.append(cube.astype(cube.dtype.newbyteorder(">")))
    frozen = cube.copy()
    frozen.flags.writeable = False
    views.append(frozen)
    view = views[data.draw(st.integers(0, len(views) - 1))]
    found = ls.sort_pairs(view, **policy)
    assert np.array_equal(found.indices, expected.indices)
    assert found.values.dtype == view.dtype
    assert found.values.astype(cube.dtype).tobytes() == expected.values.tobytes()
    moved = np.moveaxis(cube, axis, -1)
    oracle = reference.argsort(
        moved.reshape(math.prod(moved.shape[:-1]), moved.shape[-1]), Order(descending, nan, tie)
    )
    assert np.array_equal(np.moveaxis(found.indices, axis, -1), oracle.reshape(moved.shape))


def test_a_broadcast_input_is_read_as_it_looks() -> None:
    x = np.broadcast_to(np.array([3.0, 1.0, 2.0]), (4, 3))
    assert ls.argsort(x).tolist() == [[1, 2, 0]] * 4


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "float64", "uint8"])
@pytest.mark.parametrize("exponent", [11, 14, 17, 20])
def test_long_rows(dtype: str, exponent: int) -> None:
    rng = np.random.default_rng(exponent)
    n = int(rng.integers(2**exponent // 2, 2**exponent))
    for pattern in ("random", "small", "mostly_numbers", "organ_pipe"):
        x = PATTERNS[pattern](rng, (1, n), DTYPES[dtype])
        for descending in (False, True):
            expected = reference.sort_pairs(x, Order(descending))
            found = ls.sort_pairs(x, descending=descending)
            assert np.array_equal(found.indices, expected.indices)
            assert same_bits(ls.sort(x, descending=descending), expected.values)
            top = ls.top_k(x, n // 7, mode="largest" if descending else "smallest")
            assert np.array_equal(top.indices, expected.indices[:, : n // 7])


@pytest.mark.parametrize(
    "index_dtype", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.uint64]
)
def test_every_index_dtype(index_dtype: Any) -> None:
    x = np.random.default_rng(5).standard_normal((3, 50)).astype(np.float32)
    expected = np.argsort(x, axis=1, kind="stable")
    for found in (
        ls.argsort(x, index_dtype=index_dtype, index_offset=60),
        ls.top_k(x, 50, mode="smallest", index_dtype=index_dtype, index_offset=60).indices,
    ):
        assert found.dtype == index_dtype
        assert np.array_equal(found, expected + 60)


def test_payloads_travel_with_their_keys() -> None:
    rng = np.random.default_rng(11)
    keys = rng.integers(0, 5, (3, 40)).astype(np.uint16)
    words = rng.integers(0, 100, (3, 40)).astype("U5")
    places = rng.standard_normal((3, 40, 1)).astype(np.complex128)[..., 0]
    for axis in (0, 1):
        order = np.argsort(keys, axis=axis, kind="stable")
        found = ls.sort_by_key(keys, words, places, axis=axis)
        for result, source in zip(found, (keys, words, places), strict=True):
            assert np.array_equal(result, np.take_along_axis(source, order, axis=axis))


def test_threads_change_nothing() -> None:
    rng = np.random.default_rng(3)
    for shape in ((7, 100_003), (1, 700_001), (3000, 257)):
        x = PATTERNS["mostly_numbers"](rng, shape, DTYPES["float32"])
        one, two = (ls.sort_pairs(x, threads=t, descending=True) for t in (1, 2))
        assert np.array_equal(one.indices, two.indices)
        one, two = (ls.top_k(x, 100, threads=t) for t in (1, 2))
        assert np.array_equal(one.indices, two.indices)
        one, two = (ls.flatnonzero(x, threads=t) for t in (1, 2))
        assert np.array_equal(one.indices, two.indices)
        runs = list(ls.sort(x, descending=True))
        one, two = (ls.merge(runs, descending=True, threads=t) for t in (1, 2))
        assert np.array_equal(one.indices, two.indices)
