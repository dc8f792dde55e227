"""Lanes: networks order values and tags, stages can be watched, operations are counted."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from lanesort.datapath.lanes import EXCHANGES, comparand, run, steps
from lanesort.datapath.network import FAMILIES, network
from lanesort.datapath.operations import count_operations
from lanesort.datapath.primitives import LANE_CLASSES, VECTOR_BITS
from lanesort.errors import ArgumentTypeError, ArgumentValueError
from lanesort.order import Order

NAN = np.float32("nan")


def tags(x):
    return np.broadcast_to(np.arange(x.shape[1], dtype=np.int64), x.shape)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("exchange", EXCHANGES)
def test_rows_are_sorted_stably(family, descending, exchange):
    random = np.random.default_rng(5)
    for width in (0, 1, 2, 7, 16) if family == "smallest" else (0, 1, 2, 7, 33, 200):
        x = random.integers(-3, 4, (5, width)).astype(np.float32)
        values, order = run(network(family, width), x, tags(x), descending=descending, exchange=exchange)
        expected = np.argsort(-x if descending else x, axis=1, kind="stable")
        np.testing.assert_array_equal(order, expected)
        np.testing.assert_array_equal(values, np.take_along_axis(x, expected, 1))


def test_padding_never_comes_out_even_beside_infinities():
    x = np.full((1, 33), np.inf, np.float32)
    for descending in (False, True):
        sign = -1 if descending else 1
        _, order = run(network("bitonic", 33), sign * x, tags(x), descending=descending, tie_by_tag=False)
        assert sorted(order[0]) == list(range(33))


def test_rows_are_taken_in_parts(monkeypatch):
    monkeypatch.setattr("lanesort.datapath.lanes._CELLS", 40)
    x = np.random.default_rng(1).integers(0, 9, (11, 16))
    values, _ = run(network("smallest", 16), x, tags(x))
    np.testing.assert_array_equal(values, np.sort(x, axis=1))


def test_steps_show_every_stage_and_what_moved():
    x = np.array([[3, 2, 1]], np.int32)
    states = [
        (s.values[:, 0].tolist(), s.moved[:, 0].tolist()) for s in steps(network("smallest", 3), x, tags(x))
    ]
    assert states == [([3, 2, 1], []), ([1, 2, 3], [True]), ([1, 2, 3], [False]), ([1, 2, 3], [False])]


def test_a_nan_is_unordered_and_each_network_places_it_elsewhere():
    x = np.array([[3, NAN, 1, NAN, 2, 5, 0, 4]], np.float32)
    found = {
        (family, exchange): run(network(family, 8), x, tags(x), tie_by_tag=False, exchange=exchange)
        for family in ("bitonic", "odd-even-merge")
        for exchange in EXCHANGES
    }
    swap = found["bitonic", "swap"][0][0]
    np.testing.assert_array_equal(swap, np.array([1, NAN, 2, NAN, 0, 3, 4, 5], np.float32))
    swap = found["odd-even-merge", "swap"][0][0]
    np.testing.assert_array_equal(swap, np.array([0, NAN, 1, NAN, 3, 2, 4, 5], np.float32))
    for family in ("bitonic", "odd-even-merge"):
        # minNum and maxNum drop the NaNs and give other numbers twice, while the indices stay whole.
        values, order = found[family, "num"]
        assert not np.isnan(values).any()
        assert np.all(np.diff(values[0]) >= 0)
        assert sorted(order[0]) == list(range(8))


def test_orders_on_bits_compare_integers():
    x = np.array([np.float32("nan"), -0.0, 0.0, -np.inf], np.float32)
    for order in (Order(nan="total"), Order(nan="sign-magnitude"), Order(zero="signed")):
        assert comparand(x, order).dtype == np.uint32
    assert comparand(x.astype(ml_dtypes.bfloat16), Order()).dtype == np.float32
    seen = comparand(x, Order(nan="last", zero="signed", descending=True))
    assert np.argsort(seen)[::-1].tolist() == [2, 1, 3, 0]


def test_shapes_and_exchanges_are_checked():
    x = np.zeros((2, 4))
    with pytest.raises(ArgumentValueError, match=r"takes \(rows, 5\)"):
        list(steps(network("bitonic", 5), x, tags(x)))
    with pytest.raises(ArgumentValueError, match="accepted are 'swap'"):
        list(steps(network("bitonic", 4), x, tags(x), exchange="bubble"))


@pytest.mark.parametrize("dtype", LANE_CLASSES)
def test_operations_follow_the_width_of_a_lane(dtype):
    lanes = LANE_CLASSES[dtype]
    assert lanes.lanes * lanes.bits == VECTOR_BITS
    plain = count_operations(network("bitonic", 256), dtype, stable=False)
    stable = count_operations(network("bitonic", 256), dtype, stable=True)
    assert plain.vectors == 256 // lanes.lanes
    assert plain.counts[lanes.select] == 2 * plain.counts[lanes.compare]
    assert stable.total > plain.total
    # 36 stages; those whose partners lie in another vector compare vectors two by two.
    across = sum(1 for s in network("bitonic", 256).stages if max(s.distances) >= lanes.lanes)
    exchanges = across * plain.vectors // 2 + (36 - across) * plain.vectors
    assert plain.counts[lanes.compare] == exchanges
    assert plain.counts["ivp_sel2nx8i_s4"] == 2 * (36 - across) * plain.vectors


def test_operations_of_other_dtypes_are_not_known():
    with pytest.raises(ArgumentTypeError, match="float64"):
        count_operations(network("bitonic", 8), np.float64)
