"""The datapath engine agrees with the reference on everything without NaN, and on bit orders with it."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanesort.datapath.network import FAMILIES
from lanesort.engine.datapath import DatapathEngine
from lanesort.engine.pairs import pair_words
from lanesort.engine.protocol import Engine, resolve
from lanesort.engine.reference import ReferenceEngine
from lanesort.errors import ArgumentTypeError, ArgumentValueError, UnsupportedPolicyError
from lanesort.order import KEY_NAN_POLICIES, Order, nan_mask, unsigned_view

DTYPES = [
    np.dtype(t) for t in ("f4", "f2", "f8", "i4", "u4", "i2", "u2", "i8", "u8", "i1", "u1", "?", "M8[s]")
]
DTYPES += [np.dtype(ml_dtypes.bfloat16), np.dtype(ml_dtypes.float8_e5m2), np.dtype(ml_dtypes.float8_e4m3fn)]
TILE_DTYPES = [d for d in DTYPES if d.itemsize in (2, 4)]
REFERENCE = ReferenceEngine()
SORT_ORDERS = st.builds(
    Order,
    descending=st.booleans(),
    nan=st.sampled_from(KEY_NAN_POLICIES),
    tie=st.sampled_from(["low", "high", "payload"]),
    zero=st.sampled_from(["equal", "signed"]),
)
MERGE_ORDERS = st.builds(
    Order,
    descending=st.booleans(),
    nan=st.sampled_from(["sign-magnitude", "total", "last", "largest", "compare-false"]),
    tie=st.sampled_from(["run", "later-run"]),
)


def draw_values(data, shape, *, nan, dtypes=DTYPES):
    """Random bits of any dtype, with many equal values; without NaN if asked."""
    dtype = data.draw(st.sampled_from(dtypes))
    random = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    if dtype.kind == "b":
        return random.integers(0, 2, shape).astype(bool)
    pool = np.frombuffer(random.bytes(12 * dtype.itemsize), dtype).copy()
    pool[:3] = np.zeros(3, np.int8).astype(dtype)
    if dtype.kind in "fV":
        unsigned_view(pool)[1] |= unsigned_view(pool).dtype.type(1 << (8 * dtype.itemsize - 1))
    if not nan:
        pool[nan_mask(pool)] = pool[0]
    return random.choice(pool, shape)


def same(a, b):
    for x, y in zip(a[:2], b[:2], strict=True):
        assert x.dtype == y.dtype
        assert x.tobytes() == y.tobytes()


def pair_rows(values, payload):
    """Rows of pairs of 8 bytes, the index behind the value or a gap."""
    rows = np.zeros((len(values), 8 // values.itemsize * values.shape[1]), values.dtype)
    pair_words(rows)[...] = payload.astype(np.uint64) << np.uint64(32)
    rows[:, :: 8 // values.itemsize] = values
    return rows


def same_merge(runs, order, **ends):
    columns = sum(run.shape[1] for run in runs)
    found, expected = (np.zeros((len(runs[0]), columns), runs[0].dtype) for _ in range(2))
    told = DatapathEngine().merge_runs(runs, order, out=found, **ends)
    assert told == REFERENCE.merge_runs(runs, order, out=expected, **ends)
    assert found.tobytes() == expected.tobytes()


@given(
    st.data(),
    SORT_ORDERS,
    st.integers(0, 3),
    st.integers(0, 70),
    st.sampled_from(["bitonic", "merge-exchange"]),
)
def test_pairs_are_ordered_as_the_reference_orders_them(data, order, rows, width, family):
    bits = order.nan in ("sign-magnitude", "total")
    values = draw_values(data, (rows, width), nan=bits)
    payload = np.random.default_rng(width).integers(0, 9, values.shape).astype(np.uint32)
    engine = DatapathEngine(family)
    assert engine.refusal("order_pairs", order) is None
    same(engine.order_pairs(values, payload, order), REFERENCE.order_pairs(values, payload, order))


@given(st.data(), MERGE_ORDERS, st.booleans(), st.none() | st.integers(0, 40))
def test_runs_are_merged_as_the_reference_merges_them(data, order, suspend, limit):
    bits = order.nan in ("sign-magnitude", "total", "compare-false")
    ways = data.draw(st.integers(1, 4))
    values = draw_values(data, 60, nan=bits, dtypes=TILE_DTYPES)
    payload = np.arange(60, dtype=np.uint32)
    cuts = sorted(data.draw(st.lists(st.integers(0, 60), min_size=ways - 1, max_size=ways - 1)))
    runs = []
    for part in np.split(np.arange(60), cuts):
        key_order = order.replace(tie="low", nan="total" if order.nan == "compare-false" else order.nan)
        v, p, _ = REFERENCE.order_pairs(values[None, part], payload[None, part], key_order)
        runs.append(pair_rows(v, p))
    stop = "first-exhausted" if suspend else "all"
    same_merge(runs, order, stop=stop, limit=limit)


@given(st.data(), st.booleans(), st.sampled_from(["run", "later-run"]), st.integers(1, 4), st.integers(0, 9))
def test_blocks_are_merged_as_the_reference_merges_them(data, descending, tie, ways, length):
    order = Order(descending=descending, tie=tie)
    values = draw_values(data, (3 * ways, length), nan=False, dtypes=TILE_DTYPES)
    payload = np.arange(values.size, dtype=np.uint32).reshape(values.shape)
    rows = pair_rows(*REFERENCE.order_pairs(values, payload, order.replace(tie="low"))[:2])
    same_merge(list(rows.reshape(3, ways, rows.shape[1]).swapaxes(0, 1)), order)


@given(st.data(), st.sampled_from(["value", "ordered", "bits"]), st.integers(0, 100))
def test_nonzeros_are_those_of_the_reference(data, rule, size):
    values = draw_values(data, size, nan=True)
    np.testing.assert_array_equal(DatapathEngine().compact(values, rule), REFERENCE.compact(values, rule))


@pytest.mark.parametrize("family", ["bitonic", "odd-even-merge", "merge-exchange"])
def test_the_longest_row_is_ordered(family):
    x = np.random.default_rng(3).integers(0, 500, (2, 4096)).astype(np.uint16)
    payload = np.broadcast_to(np.arange(4096, dtype=np.uint16), x.shape)
    order = Order(descending=True)
    same(DatapathEngine(family).order_pairs(x, payload, order), REFERENCE.order_pairs(x, payload, order))


def test_results_are_written_where_asked():
    pairs = np.zeros((1, 3, 2), np.uint32)
    out = pairs[..., 0], pairs[..., 1]
    x = np.array([[7, 9, 8]], np.uint32)
    given_back = DatapathEngine().order_pairs(x, x + 1, Order(), out=out)
    assert given_back[:2] == out
    assert pairs.tolist() == [[[7, 8], [8, 9], [9, 10]]]


def test_it_is_an_engine_and_found_by_name():
    engine = resolve("datapath")
    assert isinstance(engine, Engine)
    assert isinstance(engine, DatapathEngine)
    assert engine.family in FAMILIES


@pytest.mark.parametrize(
    ("verb", "order", "part"),
    [
        ("order_pairs", Order(nan="compare-false"), "compare-false"),
        ("order_pairs", Order(tie="run"), "tie='run'"),
        ("merge_runs", Order(tie="low"), "tie='low'"),
        ("merge_runs", Order(nan="compare-false", tie="run", zero="signed"), "zero='signed'"),
    ],
)
def test_policies_that_it_lacks_are_named(verb, order, part):
    engine = DatapathEngine()
    assert part in engine.refusal(verb, order)
    x = np.zeros((1, 2), np.float32)
    with pytest.raises(UnsupportedPolicyError, match="engine 'datapath' has no"):
        engine.merge_runs([x], order, out=x) if verb == "merge_runs" else engine.order_pairs(x, x, order)


def test_limits_of_the_hardware_are_named():
    engine = DatapathEngine()
    with pytest.raises(ArgumentValueError, match="4097 pairs"):
        engine.order_pairs(np.zeros((1, 4097)), np.zeros((1, 4097), np.uint32), Order())
    with pytest.raises(ArgumentValueError, match="5 runs"):
        engine.merge_runs(
            [np.zeros((1, 2), np.float32)] * 5, Order(tie="run"), out=np.zeros((1, 10), np.float32)
        )
    with pytest.raises(ArgumentTypeError, match="payload has dtype int64"):
        engine.order_pairs(np.zeros((1, 2)), np.zeros((1, 2), np.int64), Order(tie="payload"))
    with pytest.raises(ArgumentValueError, match="network family"):
        DatapathEngine("bubble")
