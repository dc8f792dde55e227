"""The engines agree bit by bit wherever they claim a verb, and name what they lack."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from lanesort.engine.protocol import Engine, Verb, resolve
from lanesort.errors import ArgumentValueError, UnsupportedPolicyError
from lanesort.order import KEY_NAN_POLICIES, NanPolicy, Order, key_class, unsigned_view
from lanesort.reference import ranks

SEED = 20261130
DTYPES = ["float32", "float16", "bfloat16", "int32", "uint32", "int16", "uint16", "float64", "int64"]
OTHERS = ["native", "datapath"]
Array = np.ndarray[Any, Any]


@pytest.fixture(scope="module", params=OTHERS)
def engine(request) -> Engine:
    return resolve(request.param)


@pytest.fixture(scope="module")
def oracle() -> Engine:
    return resolve("reference")


def dtype_of(name: str) -> np.dtype[Any]:
    return np.dtype(ml_dtypes.bfloat16) if name == "bfloat16" else np.dtype(name)


def keeps_nans(engine: Engine, order: Order) -> bool:
    """Say whether the policy holds for NaN: a datapath that compares floats does not place them."""
    return engine.name != "datapath" or order.nan in ("sign-magnitude", "total")


def values_of(rng: np.random.Generator, name: str, shape: tuple[int, ...], nans: bool = True) -> Array:
    """Values with many ties; among floats both zeros, infinities, denormals, and NaNs of both signs."""
    dtype = dtype_of(name)
    x = rng.integers(0 if dtype.kind == "u" else -4, 5, shape).astype(dtype)
    cls = key_class(dtype)
    if cls.kind == "float":
        bits, sign = unsigned_view(x), 1 << (cls.bits - 1)
        specials = [0, sign, 1, sign | 1, cls.infinity, cls.infinity | sign]
        if nans:
            specials += [cls.infinity + 1, cls.infinity + 2, sign | (cls.infinity + 1)]
        chosen = rng.random(shape) < 0.4
        bits[chosen] = rng.choice(np.array(specials, bits.dtype), int(chosen.sum()))
    return x


def sorted_run(rng: np.random.Generator, name: str, n: int, order: Order, nans: bool) -> tuple[Array, Array]:
    x = values_of(rng, name, (n,), nans)
    payload = rng.integers(0, 1 << 16, n).astype(np.uint32)
    by = np.argsort(ranks(x, order), kind="stable")
    return x[by], payload[by]


def same(found: Array, expected: Array) -> None:
    assert found.dtype == expected.dtype
    if found.dtype.kind in "fV":
        found, expected = unsigned_view(found), unsigned_view(expected)
    np.testing.assert_array_equal(found, expected)


def skip_unless(engine: Engine, verb: Verb, order: Order) -> None:
    lacking = engine.refusal(verb, order)
    if lacking:
        with pytest.raises(UnsupportedPolicyError):
            call(engine, verb, order)
        pytest.skip(f"{engine.name} has no {lacking}")


def call(engine: Engine, verb: Verb, order: Order) -> None:
    x, p = np.zeros((1, 2, 2), np.float32), np.zeros((1, 2, 2), np.uint32)
    if verb == "order_pairs":
        engine.order_pairs(x[0], p[0], order)
    elif verb == "merge_runs":
        engine.merge_runs([(x[0, 0], p[0, 0])], order)
    elif verb == "inspect_runs":
        engine.inspect_runs(x[0], order)
    else:
        engine.merge_blocks(x, p, order)


@pytest.mark.parametrize("zero", ["equal", "signed"])
@pytest.mark.parametrize("tie", ["low", "high", "payload"])
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("nan", KEY_NAN_POLICIES)
def test_order_pairs(engine: Engine, oracle: Engine, nan: NanPolicy, descending, tie, zero) -> None:
    order = Order(descending=descending, nan=nan, tie=tie, zero=zero)
    skip_unless(engine, "order_pairs", order)
    rng = np.random.default_rng(SEED)
    for name in DTYPES:
        for shape in ((3, 0), (2, 1), (5, 7), (3, 32), (2, 100)):
            values = values_of(rng, name, shape, keeps_nans(engine, order))
            payload = rng.integers(0, 1 << 16, shape).astype([np.uint32, np.uint16][values.itemsize == 2])
            expected = oracle.order_pairs(values, payload, order)
            for found, right in zip(engine.order_pairs(values, payload, order), expected, strict=True):
                same(found, right)


@pytest.mark.parametrize("tie", ["run", "later-run"])
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("nan", KEY_NAN_POLICIES)
def test_merge_runs(engine: Engine, oracle: Engine, nan: NanPolicy, descending, tie) -> None:
    order = Order(descending=descending, nan=nan, tie=tie)
    skip_unless(engine, "merge_runs", order)
    rng = np.random.default_rng(SEED)
    shapes = [[5], [7, 0], [16, 16], [3, 40, 9], [33, 1, 64, 20], [1] * 9]
    if engine.name == "datapath":
        shapes.pop()  # it has four cursors
    for name in DTYPES:
        for lengths in shapes:
            runs = [sorted_run(rng, name, n, order, keeps_nans(engine, order)) for n in lengths]
            for stop in ("all", "first-exhausted"):
                for limit in (None, 0, sum(lengths) // 2):
                    expected = oracle.merge_runs(runs, order, stop=stop, limit=limit)
                    found = engine.merge_runs(runs, order, stop=stop, limit=limit)
                    assert found.consumed == expected.consumed
                    same(found.values, expected.values)
                    same(found.payload, expected.payload)


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("nan", KEY_NAN_POLICIES)
def test_inspect_runs(engine: Engine, oracle: Engine, nan: NanPolicy, descending: bool) -> None:
    order = Order(descending=descending, nan=nan, tie="run")
    skip_unless(engine, "inspect_runs", order)
    rng = np.random.default_rng(SEED)
    for name in DTYPES:
        for length in (0, 1, 2, 17, 40):
            rows = np.array([sorted_run(rng, name, length, order, True)[0] for _ in range(3)], dtype_of(name))
            rows = rows.reshape(3, length)
            assert engine.inspect_runs(rows, order).unsorted is None
            assert engine.inspect_runs(rows, order) == oracle.inspect_runs(rows, order)
            rows[1] = rng.permutation(rows[1])
            assert engine.inspect_runs(rows, order) == oracle.inspect_runs(rows, order)


@pytest.mark.parametrize("tie", ["run", "later-run"])
@pytest.mark.parametrize("nan", KEY_NAN_POLICIES)
def test_merge_blocks(engine: Engine, oracle: Engine, nan: NanPolicy, tie) -> None:
    order = Order(descending=True, nan=nan, tie=tie)
    skip_unless(engine, "merge_blocks", order)
    rng = np.random.default_rng(SEED)
    for name in DTYPES:
        for groups, ways, length in ((0, 4, 8), (1, 1, 5), (3, 4, 32), (2, 3, 17)):
            nans = keeps_nans(engine, order)
            runs = [sorted_run(rng, name, length, order, nans) for _ in range(groups * ways)]
            shape = groups, ways, length
            values = np.array([v for v, _ in runs], dtype_of(name)).reshape(shape)
            payload = np.array([p for _, p in runs], np.uint32).reshape(shape)
            expected = oracle.merge_blocks(values, payload, order)
            for found, right in zip(engine.merge_blocks(values, payload, order), expected, strict=True):
                same(found, right)


@pytest.mark.parametrize("rule", ["value", "ordered", "bits"])
def test_compact(engine: Engine, oracle: Engine, rule) -> None:
    rng = np.random.default_rng(SEED)
    for name in DTYPES:
        for n in (0, 1, 31, 200):
            values = values_of(rng, name, (n,))
            same(engine.compact(values, rule), oracle.compact(values, rule))


@pytest.mark.parametrize("value_bytes", [2, 4])
def test_interleaved_outputs_are_written_in_place(engine: Engine, oracle: Engine, value_bytes: int) -> None:
    rng = np.random.default_rng(SEED)
    order = Order(descending=True, nan="sign-magnitude")
    values = values_of(rng, "float32" if value_bytes == 4 else "float16", (4, 32))
    payload = rng.permutation(128).astype(np.uint32).reshape(4, 32)
    tile = np.full((6, 32 * 8), 0xA5, np.uint8)
    pairs = np.dtype({"names": ["v", "p"], "formats": [values.dtype, "u4"], "offsets": [0, 4], "itemsize": 8})
    rows = tile[1:5].view(pairs)
    engine.order_pairs(values, payload, order, out=(rows["v"], rows["p"]))
    expected = oracle.order_pairs(values, payload, order)
    same(np.ascontiguousarray(rows["v"]), expected[0])
    same(np.ascontiguousarray(rows["p"]), expected[1])
    runs = order.replace(tie="run")
    blocks = rows["v"][None].copy(), rows["p"][None].copy()
    merged = np.full(128 * 8, 0xA5, np.uint8).view(pairs)[None]
    engine.merge_blocks(*blocks, runs, out=(merged["v"], merged["p"]))
    expected = oracle.merge_blocks(*blocks, runs)
    same(np.ascontiguousarray(merged["v"]), expected[0])
    same(np.ascontiguousarray(merged["p"]), expected[1])
    assert (tile[[0, 5]] == 0xA5).all()


def test_rows_of_payload_serve_by_turns(engine: Engine, oracle: Engine) -> None:
    rng = np.random.default_rng(SEED)
    values = values_of(rng, "float32", (6, 40), nans=False)
    for turns in (rng.permutation(80).reshape(2, 40), np.arange(7, 127).reshape(3, 40)):
        turns = turns.astype(np.uint32)
        expected = oracle.order_pairs(values, np.tile(turns, (6 // len(turns), 1)), Order())
        for found, right in zip(engine.order_pairs(values, turns, Order()), expected, strict=True):
            same(found, right)


def test_half_values_fill_slots_of_32_bits(engine: Engine, oracle: Engine) -> None:
    rng = np.random.default_rng(SEED)
    order = Order(descending=True, nan="sign-magnitude")
    for width in (1, 7, 8, 9, 31, 32, 33, 70):
        values = values_of(rng, "float16", (5, width))
        payload = rng.permutation(5 * width).astype(np.uint32).reshape(5, width)
        counting = np.arange(3, 3 + width, dtype=np.uint32)[None]
        for travelling in (payload, counting):
            words = np.full((5, 2 * width), 0xA5A5A5A5, np.uint32)
            engine.order_pairs(values, travelling, order, out=(words[:, ::2], words[:, 1::2]))
            expected = oracle.order_pairs(values, travelling, order)
            same(words[:, ::2].astype(np.uint32), expected[0].view(np.uint16).astype(np.uint32))
            same(words[:, 1::2].copy(), expected[1])


def test_strided_and_swapped_inputs(engine: Engine, oracle: Engine) -> None:
    rng = np.random.default_rng(SEED)
    wide = values_of(rng, "float32", (4, 40), nans=False).astype(">f4")
    payload = np.arange(160, dtype=np.uint32).reshape(4, 40)
    expected = oracle.order_pairs(wide[::-1, ::2], payload[:, ::-2], Order())
    found = engine.order_pairs(wide[::-1, ::2], payload[:, ::-2], Order())
    np.testing.assert_array_equal(
        found[0].astype(">f4").view(np.uint32), expected[0].astype(">f4").view(np.uint32)
    )
    np.testing.assert_array_equal(found[1], expected[1])


@pytest.mark.parametrize(
    ("verb", "order", "part"),
    [
        ("order_pairs", Order(nan="compare-false"), "nan='compare-false'"),
        ("order_pairs", Order(tie="run"), "tie='run'"),
        ("order_pairs", Order(tie="payload"), "tie='payload'"),
        ("merge_runs", Order(tie="run", nan="compare-false"), "nan='compare-false'"),
        ("merge_runs", Order(tie="low"), "tie='low'"),
        ("merge_blocks", Order(tie="high"), "tie='high'"),
    ],
)
def test_what_the_native_engine_lacks(verb: Verb, order: Order, part: str) -> None:
    native = resolve("native")
    assert str(native.refusal(verb, order)).startswith(part)
    with pytest.raises(UnsupportedPolicyError, match=f"engine 'native' has no {part}"):
        call(native, verb, order)


@pytest.mark.parametrize(
    ("verb", "order"),
    [
        ("order_pairs", Order(nan="compare-false")),
        ("order_pairs", Order(tie="later-run")),
        ("merge_runs", Order(tie="payload")),
        ("merge_blocks", Order(tie="run", nan="compare-false", zero="signed")),
    ],
)
def test_what_the_reference_lacks(verb: Verb, order: Order) -> None:
    with pytest.raises(UnsupportedPolicyError, match="engine 'reference' has no "):
        call(resolve("reference"), verb, order)


def test_every_engine_compacts_under_any_order(engine: Engine) -> None:
    assert engine.refusal("compact", Order(nan="compare-false", tie="run")) is None


def test_shapes_that_do_not_fit() -> None:
    native = resolve("native")
    with pytest.raises(ArgumentValueError, match=r"payload \(1, 3\); they are \(R, N\)"):
        native.order_pairs(np.zeros((1, 2)), np.zeros((1, 3), np.uint32), Order())
    with pytest.raises(ArgumentValueError, match=r"both are \(G, W, L\)"):
        native.merge_blocks(np.zeros((1, 2)), np.zeros((1, 2), np.uint32), Order(tie="run"))
    with pytest.raises(ArgumentValueError, match="at least one run"):
        native.merge_runs([], Order(tie="run"))


@pytest.mark.parametrize("name", ["reference", "native"])
def test_a_payload_for_all_rows_may_be_broadcast(name: str) -> None:
    values = np.array([[2.0, 1.0, 3.0], [1.0, 3.0, 2.0]], np.float32)
    payload = np.broadcast_to(np.array([7, 8, 9], np.uint32), values.shape)
    ordered, travelled = resolve(name).order_pairs(values, payload, Order())
    assert ordered.tolist() == [[1, 2, 3]] * 2
    assert travelled.tolist() == [[8, 7, 9], [7, 9, 8]]
