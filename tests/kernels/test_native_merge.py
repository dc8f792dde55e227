"""Native merges against the oracle, on every SIMD target that runs here."""

from __future__ import annotations

import threading
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

from lanesort import _core, reference
from lanesort.kernels.native_order import bits_view, key_order
from lanesort.order import Order, key_class
from lanesort.results import Merged

from .guarded import Guarded, misaligned

Array = npt.NDArray[Any]
Runs = list[tuple[Array, Array]]
DTYPES = [
    *map(np.dtype, ["float32", "float16", "int32", "uint16", "int8", "float64", "int64", "M8[s]"]),
    np.dtype(ml_dtypes.bfloat16),
    np.dtype(ml_dtypes.float8_e5m2),
]
PAIR = np.dtype({"names": ["v", "p"], "formats": ["f4", "u4"], "offsets": [0, 4], "itemsize": 8})
HALF_PAIR = np.dtype({"names": ["v", "p"], "formats": ["f2", "u4"], "offsets": [0, 4], "itemsize": 8})


def values_of(rng: np.random.Generator, dtype: np.dtype[Any], n: int) -> Array:
    """Random bits or small numbers; among floats both zeros, infinities, and NaNs of both signs."""
    cls = key_class(dtype)
    if rng.random() < 0.5:
        x = rng.integers(0, 256, (n, dtype.itemsize), np.uint8).view(dtype)[:, 0]
    else:
        x = rng.integers(0, 5, n).astype(dtype)
    if cls.kind == "float":
        sign = 1 << (cls.bits - 1)
        specials = np.array(
            [0, sign, cls.infinity, cls.infinity + 1, sign | (cls.infinity + 1)], cls.unsigned
        )
        chosen = rng.random(n) < rng.choice([0.0, 0.3])
        bits_view(x)[chosen] = rng.choice(specials, int(chosen.sum()))
    return x


def sorted_runs(
    rng: np.random.Generator, dtype: np.dtype[Any], lengths: list[int], order: Order, index: str, most: int
) -> Runs:
    runs = []
    for n in lengths:
        x, payload = values_of(rng, dtype, n), rng.integers(0, most, n, dtype=np.uint64).astype(index)
        rank = reference.ranks(x, order)
        tie = {"low": payload, "high": ~payload}.get(order.tie, np.zeros(n))
        by = np.lexsort((tie, rank))
        runs.append((x[by], payload[by]))
    return runs


def native_order(dtype: np.dtype[Any], order: Order) -> _core.KeyOrder:
    return key_order(dtype, order.replace(tie="low"))


def native_merge(runs: Runs, order: Order, *, size: int, positions: bool = False, **options: Any) -> Merged:
    dtype, index = runs[0][0].dtype, runs[0][1].dtype
    values, indices = Guarded(1, size, dtype), Guarded(1, size, index)
    consumed, are_sorted = _core.merge(
        [bits_view(v) for v, _ in runs],
        None if positions else [p for _, p in runs],
        native_order(dtype, order),
        order.tie,
        bits_view(values.array[0]),
        indices.array[0],
        look=True,
        **options,
    )
    assert are_sorted
    count = sum(consumed)
    for guarded, item in ((values, dtype.itemsize), (indices, index.itemsize)):
        assert guarded.guards_hold()
        assert not guarded.written()[0, count * item :].any()
    return Merged(values.array[0, :count], indices.array[0, :count], tuple(consumed))


def same(found: Merged, expected: Merged) -> None:
    assert found.consumed == expected.consumed
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_array_equal(bits_view(found.values), bits_view(expected.values))


def random_order(rng: np.random.Generator, tie: Any) -> Order:
    nan: Any = rng.choice(["last", "largest", "sign-magnitude", "total"])
    return Order(descending=bool(rng.integers(2)), nan=str(nan), tie=tie)


@pytest.mark.parametrize(("index", "most"), [("u4", 6), ("u4", 1 << 32), ("u8", 6), ("u8", 1 << 63)])
@pytest.mark.parametrize("tie", ["run", "low", "high"])
def test_random_merges(target: str, tie: str, index: str, most: int) -> None:
    rng = np.random.default_rng(7)
    for dtype in DTYPES:
        for _ in range(3):
            order = random_order(rng, tie)
            longest = int(rng.choice([3, 20, 100]))
            lengths = [int(n) for n in rng.integers(0, longest, rng.integers(1, 9)) * (rng.random() < 0.9)]
            runs = sorted_runs(rng, dtype, lengths, order, index, most)
            stop: Any = rng.choice(["all", "first-exhausted"])
            limit = int(rng.integers(0, sum(lengths) + 1)) if rng.random() < 0.3 else sum(lengths)
            expected = reference.merge(runs, order, stop=stop, limit=limit)
            same(native_merge(runs, order, size=limit, first_exhausted=stop != "all"), expected)


@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 255, 257])
def test_lengths_around_blocks(target: str, n: int) -> None:
    rng = np.random.default_rng(n)
    order = Order(tie="run")
    for other in (0, 1, 8, n - 1, n, n + 1, 3 * n):
        runs = sorted_runs(rng, np.dtype(np.float32), [n, other], order, "u4", 1 << 32)
        same(native_merge(runs, order, size=n + other), reference.merge(runs, order))


@pytest.mark.parametrize("pattern", ["random", "disjoint", "reversed", "equal", "largest key"])
@pytest.mark.parametrize("ways", [2, 3, 16])
def test_many_rounds(target: str, ways: int, pattern: str) -> None:
    rng = np.random.default_rng(3)
    length = 30_000 // ways
    keys = rng.integers(0, 1 << 32, (ways, length), dtype=np.uint32)
    if pattern in ("disjoint", "reversed"):
        keys = np.sort(keys.reshape(-1)).reshape(ways, length)[:: 1 if pattern == "disjoint" else -1]
    elif pattern != "random":
        keys[:] = 5 if pattern == "equal" else 0xFFFFFFFF
    keys = np.sort(keys, axis=1)
    last = np.full((ways, length), 0xFFFFFFFF, np.uint32)
    order, flat = Order(tie="run"), keys.reshape(-1)
    expected = np.argsort(flat, kind="stable")
    for payload in (np.arange(flat.size, dtype=np.uint32).reshape(keys.shape), last):
        found = native_merge(list(zip(keys, payload, strict=True)), order, size=flat.size)
        np.testing.assert_array_equal(found.values, flat[expected])
        np.testing.assert_array_equal(found.indices, payload.reshape(-1)[expected])


def test_positions_in_the_concatenation(target: str) -> None:
    rng = np.random.default_rng(1)
    for index in ("u4", "u8"):
        for tie in ("run", "low"):
            order = Order(descending=True, tie="run")
            runs = sorted_runs(rng, np.dtype(np.float32), [300, 0, 41, 1000], order, index, 9)
            starts = np.cumsum([0, *(len(v) for v, _ in runs)])
            placed = [
                (v, np.arange(s, s + len(v)).astype(index)) for (v, _), s in zip(runs, starts, strict=False)
            ]
            expected = reference.merge(placed, order)
            same(native_merge(placed, order.replace(tie=tie), size=1341, positions=True), expected)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_threads_change_nothing(dtype: np.dtype[Any]) -> None:
    rng = np.random.default_rng(2)
    order = Order(descending=True, tie="run")
    runs = sorted_runs(rng, dtype, [70_000, 5, 40_000, 33_333], order, "u4", 1 << 32)
    size = sum(len(v) for v, _ in runs)
    same(native_merge(runs, order, size=size, threads=3), native_merge(runs, order, size=size))
    cut = 99_999
    same(native_merge(runs, order, size=cut, threads=2), native_merge(runs, order, size=cut))


def test_suspension_by_the_earliest_of_equal_ends(target: str) -> None:
    runs = [
        (np.array(v, np.int32), np.array(p, np.uint32)) for v, p in (([1, 5], [3, 3]), ([2, 5, 5], [3, 3, 3]))
    ]
    for tie in ("run", "low", "high"):
        order = Order(tie=tie)
        found = native_merge(runs, order, size=5, first_exhausted=True)
        assert found.consumed == (2, 1)


@pytest.mark.parametrize("pair", [PAIR, HALF_PAIR], ids=["float", "half"])
def test_interleaved_pairs(target: str, pair: np.dtype[Any]) -> None:
    rng = np.random.default_rng(4)
    order = Order(descending=True, nan="sign-magnitude", tie="run")
    for lengths in ([0, 3], [64, 17, 80], [1000, 2000]):
        runs = sorted_runs(rng, pair["v"], lengths, order, "u4", 1 << 32)
        tiles = []
        for v, p in runs:
            tile = misaligned(np.zeros(len(v), pair), 2)
            tile["v"], tile["p"] = v, p
            tiles.append(tile)
        out = Guarded(1, sum(lengths), pair, shift=3)
        _core.merge(
            [t["v"].view(f"u{t['v'].itemsize}") for t in tiles],
            [t["p"] for t in tiles],
            native_order(pair["v"], order),
            "run",
            out.array[0]["v"].view(f"u{pair['v'].itemsize}"),
            out.array[0]["p"],
        )
        expected = reference.merge(runs, order)
        found = Merged(out.array[0]["v"].copy(), out.array[0]["p"].copy(), expected.consumed)
        same(found, expected)
        assert out.guards_hold()
        if pair is HALF_PAIR:  # what lies between value and index stays as it was
            gap = np.ndarray((sum(lengths),), np.uint16, out.array[0].view(np.uint8).tobytes(), 2, (8,))
            assert (gap == 0xA5A5).all()


@pytest.mark.parametrize(("length", "threads"), [(40, 1), (5000, 1), (70_000, 1), (70_000, 3)])
@pytest.mark.parametrize("tie", ["run", "low", "high"])
def test_a_look_finds_what_is_not_sorted(target: str, tie: str, length: int, threads: int) -> None:
    rng = np.random.default_rng(length)
    for dtype in map(np.dtype, ["float32", "uint16", "int64"]):
        order = random_order(rng, tie)
        for run, at in ((0, 1), (1, length // 2), (2, length - 1), *rng.integers(0, [3, length], (3, 2))):
            runs = sorted_runs(rng, dtype, [length] * 3, order, "u4", 1 << 32)
            values, payload = runs[run]
            for part in (values, payload):
                part[[at - 1, at]] = part[[at, at - 1]]
            by_value = order.replace(tie="run") if tie == "run" else order
            wrong = reference.first_unsorted(values, payload, by_value) >= 0
            out = np.empty(3 * length, f"u{dtype.itemsize}"), np.empty(3 * length, np.uint32)
            given = [bits_view(v) for v, _ in runs], [p for _, p in runs], native_order(dtype, order), tie
            consumed, are_sorted = _core.merge(*given, *out, look=True, threads=threads)
            assert (sum(consumed), are_sorted) == (3 * length, not wrong)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("positions", [False, True])
@pytest.mark.parametrize("tie", ["run", "low"])
def test_what_is_not_sorted_crashes_nothing(target: str, tie: str, positions: bool, threads: int) -> None:
    rng = np.random.default_rng(9)
    for most in (3, 300, 60_000):
        for dtype in map(np.dtype, ["float32", "float16", "int64"]):
            lengths = rng.integers(0, most, 4)
            runs = [
                (values_of(rng, dtype, n), rng.integers(0, 1 << 32, n).astype(np.uint32)) for n in lengths
            ]
            for size in (lengths.sum(), lengths.sum() // 2):
                values, indices = Guarded(1, size, dtype), Guarded(1, size, "u4")
                order = native_order(dtype, Order(tie=tie))
                payload = None if positions else [p for _, p in runs]
                out = bits_view(values.array[0]), indices.array[0]
                _core.merge([bits_view(v) for v, _ in runs], payload, order, tie, *out, threads=threads)
                assert values.guards_hold()
                assert indices.guards_hold()


@pytest.mark.parametrize("index", ["u4", "u8"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_first_unsorted(target: str, dtype: np.dtype[Any], index: str) -> None:
    rng = np.random.default_rng(6)
    for tie in ("run", "low", "high"):
        order = random_order(rng, tie)
        (run,) = sorted_runs(rng, dtype, [2100], order, index, 1 << 32)
        values, payload = run
        for at in (None, 1, 8, 1023, 1024, 1500, 2099):
            wrong = np.arange(2100)
            if at is not None:
                wrong[at - 1 : at + 1] = at, at - 1
            v, p = values[wrong], payload[wrong]
            found = _core.first_unsorted(bits_view(v), p, native_order(dtype, order), tie)
            assert found == reference.first_unsorted(v, p, order)


def test_gather_moves_items_of_any_size() -> None:
    rng = np.random.default_rng(8)
    for item in (1, 2, 3, 4, 8, 16, 24):
        for index in ("u2", "u4", "u8"):
            source = rng.integers(0, 256, (3, 50, item), np.uint8).view(f"V{item}")[..., 0]
            positions = rng.integers(0, 50, (3, 70)).astype(index)
            out = Guarded(3, 70, f"V{item}")
            _core.gather(source, positions, out.array, threads=2)
            assert out.guards_hold()
            expected = np.take_along_axis(source, positions.astype(np.intp), axis=1)
            assert out.array.tobytes() == expected.tobytes()


def test_a_cancelled_merge_raises() -> None:
    control = _core.Control()
    x, p = np.zeros(1 << 20, np.uint32), np.zeros(1 << 20, np.uint32)
    canceller = threading.Thread(target=control.cancel)
    canceller.start()
    canceller.join()
    order = key_order(np.dtype(np.uint32), Order())
    with pytest.raises(_core.Cancelled):
        _core.merge(
            [x, x],
            [p, p],
            order,
            "run",
            np.empty(1 << 21, np.uint32),
            np.empty(1 << 21, np.uint32),
            control=control,
        )


def test_what_does_not_fit_is_refused() -> None:
    order = key_order(np.dtype(np.uint32), Order())
    x, p = np.zeros(4, np.uint32), np.zeros(4, np.uint32)
    with pytest.raises(ValueError, match="payloads has 1 arrays; values has 2"):
        _core.merge([x, x], [p], order, "run", x.copy(), p.copy())
    with pytest.raises(ValueError, match=r"payloads\[1\] is None; give an array for each run, or none"):
        _core.merge([x, x], [p, None], order, "run", x.repeat(2), p.repeat(2))
    with pytest.raises(ValueError, match="tie is 'any'; accepted are run, low, high"):
        _core.merge([x], [p], order, "any", x.copy(), p.copy())
    with pytest.raises(ValueError, match="indices_out has length 3 along axis 0; it must have 4"):
        _core.merge([x], [p], order, "run", x.copy(), p[:3].copy())
    with pytest.raises(ValueError, match="values has items of 2 bytes; they must have 4"):
        _core.merge([x.astype(np.uint16)], [p], order, "run", x.copy(), p.copy())
    with pytest.raises(ValueError, match="indices_out has items of 2 bytes; they must have 4 or 8"):
        _core.merge([x], [p], order, "run", x.copy(), p.astype(np.uint16))
