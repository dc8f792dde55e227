"""Dask arrays against the library on the whole array."""

from __future__ import annotations

from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lanesort as ls
from lanesort.distributed import chunk_top as tasks
from lanesort.order import KEY_NAN_POLICIES
from tests.patterns import DTYPES, PATTERNS, same_bits

NAMES = sorted(DTYPES)
DA = pytest.importorskip("lanesort.distributed.dask")


@pytest.fixture(autouse=True)
def _synchronous() -> Any:
    with dask.config.set(scheduler="synchronous"):
        yield


@st.composite
def chunked(draw: st.DrawFn, dimensions: int = 1, names: Any = NAMES) -> Any:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shape = tuple(draw(st.integers(1, 60 if dimensions == 1 else 12)) for _ in range(dimensions))
    pattern = PATTERNS[draw(st.sampled_from(sorted(PATTERNS)))]
    x = pattern(rng, shape, DTYPES[draw(st.sampled_from(names))])
    chunks = tuple(_divided(draw, n) for n in shape)
    return x, da.from_array(x, chunks=chunks)


def _divided(draw: st.DrawFn, n: int) -> tuple[int, ...]:
    cuts = sorted(draw(st.lists(st.integers(0, n), max_size=4)))
    return tuple(int(d) for d in np.diff([0, *cuts, n]))


POLICY = {
    "nan": st.sampled_from(KEY_NAN_POLICIES),
    "tie": st.sampled_from(["low", "high"]),
    "descending": st.booleans(),
}


@given(pair=chunked(), **POLICY)
@settings(max_examples=60, deadline=None)
def test_one_dimension(pair: Any, nan: Any, tie: Any, descending: bool) -> None:
    x, lazy = pair
    expected = ls.sort_pairs(x, descending=descending, nan=nan, tie=tie)
    values, indices = dask.compute(*DA.sort_pairs(lazy, descending=descending, nan=nan, tie=tie))
    assert same_bits(values, expected.values)
    assert np.array_equal(indices, expected.indices)
    assert same_bits(
        DA.sort(lazy, descending=descending, nan=nan).compute(), ls.sort(x, descending=descending, nan=nan)
    )
    assert np.array_equal(DA.argsort(lazy, descending=descending, nan=nan, tie=tie).compute(), indices)


@given(pair=chunked(2), axis=st.integers(-2, 1), data=st.data(), **POLICY)
@settings(max_examples=40, deadline=None)
def test_two_dimensions(pair: Any, axis: int, data: Any, nan: Any, tie: Any, descending: bool) -> None:
    x, lazy = pair
    policy = {"axis": axis, "nan": nan, "tie": tie}
    expected = ls.sort_pairs(x, descending=descending, **policy)
    values, indices = dask.compute(*DA.sort_pairs(lazy, descending=descending, **policy))
    assert same_bits(values, expected.values)
    assert np.array_equal(indices, expected.indices)
    k = data.draw(st.integers(0, x.shape[axis]))
    mode = "largest" if descending else "smallest"
    best = ls.top_k(x, k, mode=mode, **policy)
    values, indices = dask.compute(*DA.top_k(lazy, k, mode=mode, **policy))
    assert same_bits(values, best.values)
    assert np.array_equal(indices, best.indices)


@given(pair=chunked(2), size=st.none() | st.integers(0, 150))
@settings(max_examples=30, deadline=None)
def test_nonzero(pair: Any, size: int | None) -> None:
    x, lazy = pair
    expected = ls.flatnonzero(x, size=size)
    found = DA.flatnonzero(lazy, size=size)
    assert not any(np.isnan(c) for c in found.indices.chunks[0])
    indices, total = dask.compute(found.indices, found.total)
    assert np.array_equal(indices, expected.indices)
    assert total == expected.total


@given(first=chunked(names=["float32"]), second=chunked(names=["float32"]), descending=st.booleans())
@settings(max_examples=30, deadline=None)
def test_merge(first: Any, second: Any, descending: bool) -> None:
    runs = [ls.sort(x, descending=descending) for x, _ in (first, second)]
    lazy = [da.from_array(r, chunks=d.chunks) for r, (_, d) in zip(runs, (first, second), strict=True)]
    expected = ls.merge(runs, descending=descending)
    found = DA.merge(lazy, descending=descending)
    values, indices = dask.compute(found.values, found.indices)
    assert same_bits(values, expected.values)
    assert np.array_equal(indices, expected.indices)
    assert found.consumed == expected.consumed


@pytest.mark.parametrize("pattern", ["random", "equal", "mostly equal", "sorted", "nan"])
def test_output_chunks_stay_balanced(pattern: str) -> None:
    rng = np.random.default_rng(9)
    x = rng.standard_normal(10_007).astype(np.float32)
    if pattern == "equal":
        x[:] = 1
    elif pattern == "mostly equal":
        x[rng.random(x.size) < 0.9] = 0.5
    elif pattern == "sorted":
        x.sort()
    elif pattern == "nan":
        x[rng.random(x.size) < 0.1] = np.nan
    pairs = DA.sort_pairs(da.from_array(x, chunks=997))
    sizes = pairs.values.chunks[0]
    assert max(sizes) - min(sizes) <= 1
    blocks = dask.compute(*[pairs.values.blocks[i] for i in range(len(sizes))])
    assert tuple(b.size for b in blocks) == sizes
    assert np.array_equal(pairs.indices.compute(), ls.argsort(x))


def test_a_top_k_task_never_sees_more_than_a_fan_in_of_candidates() -> None:
    seen: list[int] = []
    original = tasks.top_of_tops

    def watched(tops: Any, *rest: Any) -> Any:
        seen.append(sum(t.values.size for t in tops))
        return original(tops, *rest)

    x = np.random.default_rng(1).standard_normal(5_000).astype(np.float32)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(tasks, "top_of_tops", watched)
        indices = DA.top_k(da.from_array(x, chunks=50), 7).indices.compute()
    assert np.array_equal(indices, ls.top_k(x, 7).indices)
    assert len(seen) > 10
    assert max(seen) <= 7 * 8


@pytest.mark.parametrize("scheduler", ["threads", "processes"])
def test_schedulers_agree(scheduler: str) -> None:
    x = np.random.default_rng(2).integers(0, 9, 3_000).astype(np.int16)
    lazy = DA.argsort(da.from_array(x, chunks=701), descending=True)
    assert np.array_equal(lazy.compute(scheduler=scheduler, num_workers=2), ls.argsort(x, descending=True))


def test_task_names_show_what_they_do() -> None:
    lazy = DA.sort(da.from_array(np.arange(100.0), chunks=10))
    names = {str(key[0]) for key in lazy.dask if isinstance(key, tuple)}
    for prefix in (
        "lanesort-sort-chunk",
        "lanesort-count",
        "lanesort-cuts",
        "lanesort-exchange",
        "lanesort-merge",
    ):
        assert any(name.startswith(prefix) for name in names)


def test_errors_come_before_anything_is_computed() -> None:
    def fail(block: Any) -> Any:
        raise AssertionError("computed")

    lazy = da.from_array(np.arange(10.0), chunks=3).map_blocks(fail, dtype=float)
    unknown = lazy[lazy > 3]
    with pytest.raises(ValueError, match="chunks of unknown size"):
        DA.sort(unknown)
    with pytest.raises(ValueError, match="k is 11 but rows have n = 10"):
        DA.top_k(lazy, 11)
    with pytest.raises(TypeError, match="no order here"):
        DA.sort(lazy.astype(complex))
    with pytest.raises(TypeError, match="x is a ndarray; these functions take Dask arrays"):
        DA.sort(np.arange(3))


def test_an_unsorted_run_fails_when_computed() -> None:
    run = da.from_array(np.array([1.0, 2.0, 1.5, 3.0]), chunks=2)
    with pytest.raises(ValueError, match="is not sorted"):
        DA.merge([run]).values.compute()


def test_case_66_nonzero_has_known_chunks() -> None:
    found = DA.flatnonzero(da.from_array(np.array([0, 1, 0, 1]), chunks=2))
    assert found.indices.chunks == ((1, 1),)
    assert found.indices[1:].compute().tolist() == [3]
    assert found.total == 2


def test_case_54_more_than_there_are_is_refused() -> None:
    with pytest.raises(ValueError, match="k is 5"):
        DA.top_k(da.from_array(np.arange(4), chunks=2), 5)
