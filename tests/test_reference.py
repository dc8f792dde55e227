"""The oracle against tables written by hand, and against the key maps, which it knows nothing of."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from lanesort import reference
from lanesort.errors import ArgumentValueError, UnsupportedPolicyError
from lanesort.order import KEY_NAN_POLICIES, NanPolicy, Order, keys

NEGATIVE_NAN = np.array([0xFFC00000], np.uint32).view(np.float32)[0]
ROW = np.array([1.0, np.nan, -0.0, np.inf, 0.0, NEGATIVE_NAN, -np.inf, 1.0], np.float32)
ORDERS = {
    # policy, descending, zero: the positions of ROW in order
    ("last", False, "equal"): [6, 2, 4, 0, 7, 3, 1, 5],
    ("last", True, "equal"): [3, 0, 7, 2, 4, 6, 1, 5],
    ("last", True, "signed"): [3, 0, 7, 4, 2, 6, 1, 5],
    ("largest", False, "equal"): [6, 2, 4, 0, 7, 3, 1, 5],
    ("largest", True, "equal"): [1, 5, 3, 0, 7, 2, 4, 6],
    ("sign-magnitude", False, "equal"): [5, 6, 2, 4, 0, 7, 3, 1],
    ("sign-magnitude", True, "equal"): [1, 3, 0, 7, 2, 4, 6, 5],
    ("total", False, "equal"): [5, 6, 2, 4, 0, 7, 3, 1],
    ("total", True, "equal"): [1, 3, 0, 7, 4, 2, 6, 5],
}


@pytest.mark.parametrize("policy", ORDERS, ids=str)
def test_order_of_special_values(policy) -> None:
    nan, descending, zero = policy
    order = Order(descending=descending, nan=nan, zero=zero)
    assert reference.argsort(ROW[None], order)[0].tolist() == ORDERS[policy]


def test_total_order_tells_nans_apart_by_their_bits() -> None:
    bits = np.array([[0x7E01, 0xFE00, 0x7C01, 0xFE01, 0x7E00]], np.uint16).view(np.float16)
    assert reference.argsort(bits, Order(nan="total")).tolist() == [[3, 1, 2, 4, 0]]


def test_tie_rules_of_a_row() -> None:
    x = np.array([[2, 1, 2, 1]])
    payload = np.array([[0, 9, 5, 3]])
    assert reference.argsort(x, Order(tie="low")).tolist() == [[1, 3, 0, 2]]
    assert reference.argsort(x, Order(tie="high")).tolist() == [[3, 1, 2, 0]]
    assert reference.argsort(x, Order(tie="payload"), payload).tolist() == [[3, 1, 0, 2]]


def test_nat_takes_the_place_of_a_nan() -> None:
    x = np.array([["2020-01-02", "NaT", "1960-01-01"]], "M8[D]")
    assert reference.argsort(x, Order()).tolist() == [[2, 0, 1]]
    assert reference.argsort(x, Order(descending=True)).tolist() == [[0, 2, 1]]
    assert reference.argsort(x, Order(descending=True, nan="largest")).tolist() == [[1, 0, 2]]


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("zero", ["equal", "signed"])
@pytest.mark.parametrize("nan", KEY_NAN_POLICIES)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int16", "float8_e4m3fn", "float8_e5m2", "bool"])
def test_every_bit_pattern_is_where_the_key_map_puts_it(dtype, nan: NanPolicy, zero, descending) -> None:
    actual = np.dtype(dtype) if dtype in ("float16", "int16", "bool") else np.dtype(getattr(ml_dtypes, dtype))
    count = 2 if dtype == "bool" else 1 << (8 * actual.itemsize)
    x = np.arange(count).astype(f"u{actual.itemsize}").view(actual)
    order = Order(descending=descending, nan=nan, zero=zero)
    _, by_key = np.unique(keys(x, order), return_inverse=True)
    _, by_rank = np.unique(reference.ranks(x, order), return_inverse=True)
    np.testing.assert_array_equal(by_rank, by_key)


@pytest.mark.parametrize("nan", KEY_NAN_POLICIES)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "uint64", "int8", "M8[us]"])
def test_wide_values_are_where_the_key_map_puts_them(dtype, nan: NanPolicy) -> None:
    rng = np.random.default_rng(5)
    x = rng.integers(0, 256, (2000, np.dtype(dtype).itemsize), np.uint8).view(dtype)[:, 0]
    edge = np.array([0, 1, -1], f"i{x.itemsize}") << (8 * x.itemsize - 1) | np.array([0, 0, 1])
    x = np.concatenate([x, edge.astype(f"i{x.itemsize}").view(dtype)])
    for descending in (False, True):
        order = Order(descending=descending, nan=nan)
        expected = np.argsort(keys(x, order), kind="stable")
        np.testing.assert_array_equal(reference.argsort(x[None], order)[0], expected)


def test_byte_order_and_strides_change_nothing() -> None:
    x = np.array([[3.0, -0.0, np.nan, 1.0, 0.0]], np.float32)
    wide = np.zeros((1, 10), ">f4")
    wide[:, ::2] = x
    expected = reference.argsort(x, Order())
    np.testing.assert_array_equal(reference.argsort(wide[:, ::2], Order()), expected)


def test_sorted_values_keep_their_bits() -> None:
    values, indices = reference.sort_pairs(ROW[None], Order(descending=True))
    np.testing.assert_array_equal(values.view(np.uint32), ROW.view(np.uint32)[indices])


def test_top_k_is_the_front_of_the_sort() -> None:
    values, indices = reference.top_k(ROW[None], 3, Order(descending=True))
    assert indices.tolist() == [[3, 0, 7]]
    assert values.tolist() == [[np.inf, 1.0, 1.0]]


def run(values, first: int) -> tuple[np.ndarray, np.ndarray]:
    return np.asarray(values), np.arange(first, first + len(values), dtype=np.uint32)


def test_merge_takes_the_earlier_run_on_a_tie() -> None:
    runs = [run([5, 3], 0), run([5, 3, 1], 10)]
    merged = reference.merge(runs, Order(descending=True, tie="run"))
    assert merged.indices.tolist() == [0, 10, 1, 11, 12]
    assert reference.merge(runs, Order(descending=True, tie="later-run")).indices.tolist() == [
        10,
        0,
        11,
        1,
        12,
    ]


def test_merge_ties_by_payload() -> None:
    runs = [run([5, 5], 10), run([5, 5], 0)]
    assert reference.merge(runs, Order(tie="low")).indices.tolist() == [0, 1, 10, 11]
    backward = [(v, p[::-1]) for v, p in runs]
    assert reference.merge(backward, Order(tie="high")).indices.tolist() == [11, 10, 1, 0]


def test_merge_stops_when_a_run_has_given_its_last() -> None:
    runs = [run([9, 2], 0), run([8, 7], 10), run([1], 20)]
    merged = reference.merge(runs, Order(descending=True, tie="run"), stop="first-exhausted")
    assert (merged.values.tolist(), merged.consumed) == ([9, 8, 7], (1, 2, 0))


def test_an_empty_run_stops_a_merge_before_anything() -> None:
    runs = [run([9, 2], 0), run(np.zeros(0, int), 0)]
    merged = reference.merge(runs, Order(tie="run"), stop="first-exhausted")
    assert (merged.values.tolist(), merged.consumed) == ([], (0, 0))
    assert reference.merge(runs, Order(tie="run")).consumed == (2, 0)


def test_merge_stops_at_the_limit() -> None:
    runs = [run([1, 4], 0), run([2, 3], 10)]
    merged = reference.merge(runs, Order(tie="run"), limit=3)
    assert (merged.values.tolist(), merged.consumed) == ([1, 2, 3], (1, 2))


def test_under_compare_false_a_nan_wins_only_by_position() -> None:
    nan_first = [run(np.array([np.nan, 1.0]), 0), run(np.array([5.0, 4.0]), 10)]
    order = Order(descending=True, nan="compare-false", tie="run")
    assert reference.merge(nan_first, order).indices.tolist() == [0, 10, 11, 1]
    assert reference.merge(nan_first[::-1], order).indices.tolist() == [10, 11, 0, 1]


def test_merge_of_unsorted_runs_still_compares_heads_alone() -> None:
    runs = [run([1, 9], 0), run([5, 6], 10)]
    assert reference.merge(runs, Order(descending=True, tie="run")).values.tolist() == [5, 6, 1, 9]


@pytest.mark.parametrize(
    ("values", "payload", "tie", "position"),
    [
        ([3, 3, 2], [0, 1, 2], "run", -1),
        ([3, 2, 3], [0, 1, 2], "run", 2),
        ([3, 3, 2], [1, 0, 2], "run", -1),
        ([3, 3, 2], [1, 0, 2], "low", 1),
        ([3, 3, 2], [0, 1, 2], "high", 1),
        ([], [], "run", -1),
    ],
)
def test_first_unsorted(values, payload, tie, position: int) -> None:
    order = Order(descending=True, tie=tie)
    assert reference.first_unsorted(np.array(values), np.array(payload), order) == position


def test_what_counts_as_nonzero() -> None:
    x = np.array([0.0, np.nan, -0.0, 1e-45, -3.0], np.float32)
    assert reference.nonzero(x).tolist() == [1, 3, 4]
    assert reference.nonzero(x, "ordered").tolist() == [3, 4]
    assert reference.nonzero(x, "bits").tolist() == [1, 2, 3, 4]


def test_refusals() -> None:
    x = np.zeros((1, 2))
    with pytest.raises(UnsupportedPolicyError, match="no rank under NaN policy 'compare-false'"):
        reference.argsort(x, Order(nan="compare-false"))
    with pytest.raises(UnsupportedPolicyError, match="tie 'run' orders runs, not rows"):
        reference.argsort(x, Order(tie="run"))
    with pytest.raises(ArgumentValueError, match="payload is None"):
        reference.argsort(x, Order(tie="payload"))
    with pytest.raises(UnsupportedPolicyError, match="tie 'payload' orders rows, not runs"):
        reference.merge([run([1], 0)], Order(tie="payload"))
    with pytest.raises(UnsupportedPolicyError, match="has no meaning"):
        reference.merge([run([1], 0)], Order(tie="low", nan="compare-false"))
    with pytest.raises(ArgumentValueError, match="at least one run"):
        reference.merge([], Order(tie="run"))
    with pytest.raises(ArgumentValueError, match="rule is 'any'"):
        reference.nonzero(x[0], "any")
