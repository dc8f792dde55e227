"""The native top-k against a stable sort of the keys, on every SIMD target that runs here."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from lanesort import _core
from lanesort.kernels.native_order import bits_view, key_order
from lanesort.order import KEY_NAN_POLICIES, Order, keys

from ..patterns import DTYPES, PATTERNS
from .guarded import Guarded, misaligned

Array = npt.NDArray[Any]
ORDERS = [
    Order(descending=descending, nan=nan, tie=tie)
    for descending, nan, tie in itertools.product((True, False), KEY_NAN_POLICIES, ("low", "high"))
]


def expected(x: Array, order: Order, k: int, sort_by: str = "value") -> Array:
    """Positions that top-k of one row must give, from its definition."""
    key = keys(x, order)
    if order.tie == "low":
        positions = np.argsort(key, kind="stable")[:k]
    else:
        positions = (x.size - 1 - np.argsort(key[::-1], kind="stable"))[:k]
    return np.sort(positions) if sort_by == "index" else positions


def top_k(x: Array, order: Order, k: int, index: Any = np.uint32, **options: Any) -> tuple[Array, Array]:
    """Values' bits and indices of the rows of `x`."""
    bits = bits_view(x)
    values = np.empty((x.shape[0], k), bits.dtype)
    indices = np.empty((x.shape[0], k), index)
    _core.top_k(bits, key_order(x.dtype, order), k, values, indices, **options)
    return values, indices


def check(x: Array, order: Order, k: int, sort_by: str = "value", **options: Any) -> None:
    values, indices = top_k(x, order, k, sort_by=sort_by, **options)
    for row in range(x.shape[0]):
        want = expected(x[row], order, k, sort_by)
        np.testing.assert_array_equal(indices[row], want)
        np.testing.assert_array_equal(values[row], bits_view(x)[row][want])


@pytest.mark.parametrize("name", DTYPES)
def test_every_short_length(target: str, name: str) -> None:
    rng = np.random.default_rng(7)
    settings = itertools.cycle(itertools.product(ORDERS, PATTERNS.values(), ("value", "index", "value")))
    for n in range(301):
        for k in sorted({min(n, 1), min(n, 8), n // 5, n // 2 + n % 2, n}):
            order, pattern, sort_by = next(settings)
            check(np.ascontiguousarray(pattern(rng, (1, n), DTYPES[name])), order, k, sort_by)


@pytest.mark.parametrize("name", ["float32", "bfloat16", "uint8", "float64", "datetime64"])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_longer_rows(target: str, name: str, pattern: str) -> None:
    rng = np.random.default_rng(8)
    for n, k in ((1000, 3), (4096, 1), (5000, 700), (20011, 64), (70001, 900)):
        x = np.ascontiguousarray(PATTERNS[pattern](rng, (1, n), DTYPES[name]))
        for order in (ORDERS[n % len(ORDERS)], Order(descending=True), Order(descending=True, tie="high")):
            check(x, order, k, "index" if n % 3 == 0 else "value")


def adversaries(rng: np.random.Generator, n: int) -> dict[str, Array]:
    """Rows on which a threshold or a histogram alone would keep far too many candidates."""
    normal = rng.standard_normal(n).astype(np.float32)
    holed = normal.copy()
    holed[rng.choice(n, n // 100, replace=False)] = np.nan
    return {
        "ascending": np.arange(n, dtype=np.float32),
        "descending": -np.arange(n, dtype=np.float32),
        "equal": np.ones(n, np.float32),
        "three values": rng.integers(0, 3, n).astype(np.float32),
        "one percent NaN": holed,
        "all NaN": np.full(n, np.nan, np.float32),
        "zeros of both signs": np.where(rng.random(n) < 0.5, np.float32(-0.0), np.float32(0.0)),
        "one histogram bin": (np.float32(1) + normal * np.float32(1e-5)).astype(np.float32),
        "late maxima": np.where(np.arange(n) > n - n // 8, normal + np.float32(9), normal).astype(np.float32),
        "denormals": (rng.integers(0, 1 << 20, n).astype(np.uint32)).view(np.float32),
    }


@pytest.mark.parametrize("tie", ["low", "high"])
@pytest.mark.parametrize("nan", ["last", "largest"])
@pytest.mark.parametrize("k", [1, 50, 2048])
def test_adversarial_rows(k: int, nan: Any, tie: Any) -> None:
    rng = np.random.default_rng(9)
    for row in adversaries(rng, 32768).values():
        for descending in (True, False):
            check(row[None], Order(descending=descending, nan=nan, tie=tie), k)


@pytest.mark.parametrize("threads", [2, 3])
@pytest.mark.parametrize("order", [Order(descending=True), Order(descending=True, tie="high", nan="largest")])
def test_a_row_cut_for_threads_gives_the_same(order: Order, threads: int) -> None:
    rng = np.random.default_rng(10)
    for row in adversaries(rng, 300_001).values():
        check(row[None], order, 100, threads=threads)
        check(row[None], order, 100, "index", threads=threads)


@pytest.mark.parametrize("dtype", ["uint8", "float64"])
def test_rows_over_threads(dtype: str) -> None:
    x = PATTERNS["random"](np.random.default_rng(11), (200, 1000), DTYPES[dtype])
    check(x, Order(descending=True), 20, threads=2)


@pytest.mark.parametrize("index", [np.uint16, np.uint32, np.uint64])
@pytest.mark.parametrize("name", ["uint8", "float16", "float32", "int64"])
def test_nothing_else_is_written_and_no_alignment_needed(target: str, name: str, index: Any) -> None:
    rng = np.random.default_rng(12)
    order = Order(descending=True)
    for n, k, shift in ((1, 1, 1), (64, 64, 1), (65, 17, 3), (300, 8, 5), (3000, 100, 1), (3000, 2999, 7)):
        x = misaligned(PATTERNS["random"](rng, (3, n), DTYPES[name]), shift)
        values, indices = Guarded(3, k, bits_view(x).dtype, shift), Guarded(3, k, index, shift)
        before = x.tobytes()
        _core.top_k(bits_view(x), key_order(x.dtype, order), k, values.array, indices.array, 5)
        assert values.guards_hold()
        assert indices.guards_hold()
        assert x.tobytes() == before
        for row in range(3):
            want = expected(x[row], order, k)
            np.testing.assert_array_equal(indices.array[row], (want + 5).astype(index))
            np.testing.assert_array_equal(values.array[row], bits_view(x)[row][want])


@pytest.mark.parametrize("sort_by", ["value", "index"])
def test_short_rows_leave_the_rest_unwritten(target: str, sort_by: str) -> None:
    rng = np.random.default_rng(13)
    x = PATTERNS["mostly_numbers"](rng, (40, 90), DTYPES["float32"])
    lengths = rng.integers(0, 91, 40)
    lengths[:3] = 0, 90, 1
    order, k = Order(descending=True), 20
    values, indices = Guarded(40, k, np.uint32), Guarded(40, k, np.uint32)
    _core.top_k(
        bits_view(x),
        key_order(x.dtype, order),
        k,
        values.array,
        indices.array,
        lengths=lengths,
        sort_by=sort_by,
    )
    for row, length in enumerate(lengths):
        want = expected(x[row, :length], order, min(k, int(length)), sort_by)
        np.testing.assert_array_equal(indices.array[row, : want.size], want)
        assert not indices.written()[row, 4 * want.size :].any()
        assert not values.written()[row, 4 * want.size :].any()
    assert values.guards_hold()
    assert indices.guards_hold()


def test_either_output_alone() -> None:
    x = np.array([[1, 9, 5, 7]], np.uint32)
    order = key_order(x.dtype, Order(descending=True))
    values, indices = np.zeros((1, 2), np.uint32), np.zeros((1, 2), np.uint64)
    _core.top_k(x, order, 2, values, None)
    _core.top_k(x, order, 2, None, indices)
    assert values.tolist() == [[9, 7]]
    assert indices.tolist() == [[1, 3]]


def test_offsets_wrap_in_the_index_width() -> None:
    x = np.array([[1, 9, 5, 7]], np.uint8)
    indices = np.zeros((1, 2), np.uint16)
    _core.top_k(x, key_order(x.dtype, Order(descending=True)), 2, None, indices, 65533)
    assert indices.tolist() == [[65534, 0]]


@pytest.mark.parametrize("shape", [(0, 0), (0, 5), (4, 0), (3, 7)])
def test_k_of_zero_and_empty_arrays(shape: tuple[int, int]) -> None:
    x = np.zeros(shape, np.uint32)
    values, indices = top_k(x, Order(descending=True), 0)
    assert values.shape == indices.shape == (shape[0], 0)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"k": 5}, "k is 5, but a row has only 4"),
        ({"sort_by": "size"}, "sort_by is 'size'; accepted are value, index"),
        ({"values": np.zeros((1, 3), np.uint32)}, "values has length 3 along axis 1; it must have 2"),
        ({"values": np.zeros((1, 2), np.uint16)}, "values has items of 2 bytes; they must have 4"),
        ({"indices": np.zeros((2, 2), np.uint32)}, "indices has length 2 along axis 0"),
        ({"indices": np.zeros((1, 2), np.uint8)}, "indices has items of 1 bytes; accepted are 2, 4, 8"),
        ({"lengths": np.array([5])}, r"lengths\[0\] is 5; it must lie in 0 … 4"),
        ({"lengths": np.array([-1])}, r"lengths\[0\] is -1"),
        ({"x": np.zeros((1, 8), np.uint32)[:, ::2]}, "x has items 8 bytes apart"),
    ],
)
def test_wrong_arguments_are_refused(change: dict[str, Any], says: str) -> None:
    arguments: dict[str, Any] = {
        "x": np.zeros((1, 4), np.uint32),
        "order": key_order(np.dtype(np.uint32), Order()),
        "k": 2,
        "values": np.zeros((1, 2), np.uint32),
        "indices": np.zeros((1, 2), np.uint32),
    }
    with pytest.raises(ValueError, match=says):
        _core.top_k(**(arguments | change))


def test_a_cancelled_call_ends() -> None:
    control = _core.Control()
    control.cancel()
    x = np.zeros((4, 100_000), np.uint32)
    with pytest.raises(_core.Cancelled):
        top_k(x, Order(), 3, control=control)
