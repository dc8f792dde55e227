"""The engines agree bit by bit wherever they claim a verb, and name what they lack."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from lanesort.engine.pairs import pair_words
from lanesort.engine.protocol import Engine, Verb, resolve
from lanesort.errors import ArgumentTypeError, ArgumentValueError, UnsupportedPolicyError
from lanesort.order import KEY_NAN_POLICIES, NanPolicy, Order, key_class, unsigned_view
from lanesort.reference import ranks

SEED = 20261130
DTYPES = ["float32", "float16", "bfloat16", "int32", "uint32", "int16", "uint16", "float64", "int64"]
TILE_DTYPES = ["float32", "float16", "bfloat16", "int32", "uint32", "int16", "uint16"]
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


def tile_runs(
    rng: np.random.Generator, name: str, groups: int, lengths: list[int], order: Order, nans: bool
) -> list[Array]:
    """One array of pairs for each run, a group in each row; gaps hold random bits too."""
    width = 8 // dtype_of(name).itemsize
    runs = []
    for length in lengths:
        rows = (
            np.frombuffer(rng.bytes(8 * groups * length), dtype_of(name))
            .reshape(groups, width * length)
            .copy()
        )
        for row in rows:
            row[::width] = sorted_run(rng, name, length, order, nans)[0]
        runs.append(rows)
    return runs


def same_merge(
    engine: Engine, oracle: Engine, runs: list[Array], order: Order, room: int, **ends: Any
) -> None:
    """Merge by both to `room` pairs a row: all bits, also those not written, and the reports agree."""
    width = 8 // runs[0].itemsize
    found, expected = (np.zeros((len(runs[0]), room * width), runs[0].dtype) for _ in range(2))
    told = engine.merge_runs(runs, order, out=found, **ends)
    assert told == oracle.merge_runs(runs, order, out=expected, **ends)
    same(pair_words(found), pair_words(expected))


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
    else:
        engine.merge_runs([x[0]], order, out=x[0].copy())


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
            found = engine.order_pairs(values, payload, order)
            same(found.values, expected.values)
            same(found.payload, expected.payload)
            assert found.nan == expected.nan


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
    for name in TILE_DTYPES:
        for lengths in shapes:
            runs = tile_runs(rng, name, 1, lengths, order, keeps_nans(engine, order))
            for stop in ("all", "first-exhausted"):
                for limit in (None, 0, sum(lengths) // 2):
                    for room in (sum(lengths), sum(lengths) // 3):
                        same_merge(engine, oracle, runs, order, room, stop=stop, limit=limit)


@pytest.mark.parametrize("tie", ["run", "later-run"])
@pytest.mark.parametrize("nan", KEY_NAN_POLICIES)
def test_merge_runs_of_groups(engine: Engine, oracle: Engine, nan: NanPolicy, tie) -> None:
    order = Order(descending=True, nan=nan, tie=tie)
    skip_unless(engine, "merge_runs", order)
    rng = np.random.default_rng(SEED)
    for name in TILE_DTYPES:
        for groups, lengths in ((0, [8] * 4), (1, [5]), (3, [32] * 4), (2, [17, 3, 20])):
            runs = tile_runs(rng, name, groups, lengths, order, keeps_nans(engine, order))
            same_merge(engine, oracle, runs, order, sum(lengths))


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("nan", KEY_NAN_POLICIES)
def test_merge_runs_tells_where_they_are_unsorted(
    engine: Engine, oracle: Engine, nan: NanPolicy, descending: bool
) -> None:
    order = Order(descending=descending, nan=nan, tie="run")
    skip_unless(engine, "merge_runs", order)
    rng = np.random.default_rng(SEED)
    for name in TILE_DTYPES:
        for length in (1, 2, 17, 40):
            runs = tile_runs(rng, name, 3, [length] * 3, order, keeps_nans(engine, order))
            words = pair_words(runs[1])
            words[2] = rng.permutation(words[2])
            out = np.empty((3, 3 * runs[0].shape[1]), runs[0].dtype)
            assert engine.merge_runs(runs, order, out=out) == oracle.merge_runs(runs, order, out=out.copy())


def test_out_of_a_merge_may_be_one_of_its_runs(engine: Engine, oracle: Engine) -> None:
    rng = np.random.default_rng(SEED)
    order = Order(descending=True, tie="run")
    runs = tile_runs(rng, "float32", 1, [40, 30, 40], order, False)
    same_merge(engine, oracle, runs, order, 40)
    expected = np.empty_like(runs[0])
    oracle.merge_runs(runs, order, out=expected)
    engine.merge_runs(runs, order, out=runs[0])
    same(pair_words(runs[0]), pair_words(expected))


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
    assert (tile[[0, 5]] == 0xA5).all()


def test_rows_of_payload_serve_by_turns(engine: Engine, oracle: Engine) -> None:
    rng = np.random.default_rng(SEED)
    values = values_of(rng, "float32", (6, 40), nans=False)
    for turns in (rng.permutation(80).reshape(2, 40), np.arange(7, 127).reshape(3, 40)):
        turns = turns.astype(np.uint32)
        expected = oracle.order_pairs(values, np.tile(turns, (6 // len(turns), 1)), Order())
        found = engine.order_pairs(values, turns, Order())
        same(found.values, expected.values)
        same(found.payload, expected.payload)


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
        ("merge_runs", Order(tie="high"), "tie='high'"),
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
        ("merge_runs", Order(tie="run", nan="compare-false", zero="signed")),
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


ROWS = np.zeros((2, 4), np.float32)


@pytest.mark.parametrize("name", ["reference", *OTHERS])
@pytest.mark.parametrize(
    ("runs", "change", "message"),
    [
        ([], {}, "runs is empty"),
        ([ROWS.astype(">f4")], {}, r"runs\[0\] has dtype >f4, out float32"),
        ([ROWS, ROWS.view(np.int32)], {}, r"runs\[1\] has dtype int32, out float32"),
        ([ROWS.astype(float)], {"out": ROWS.astype(float)}, "values of one dtype of 16 or 32 bits"),
        ([ROWS[:1]], {}, r"runs\[0\] has shape \(1, 4\), out \(2, 4\)"),
        ([ROWS[None]], {}, "both have a row for each group"),
        ([ROWS, ROWS], {}, "2 groups with room for 2 of 4 pairs"),
        ([ROWS], {"limit": 1}, "limit 1; a merge that ends early is one of one group"),
        ([ROWS[:0]], {"out": ROWS[:0], "stop": "first-exhausted"}, "out has 0 groups"),
        ([ROWS[:1]], {"out": ROWS[:1].copy(), "limit": -1}, "limit -1"),
        ([ROWS[:1]], {"out": ROWS[:1].copy(), "stop": "never"}, "stop is 'never'"),
    ],
)
def test_merges_that_do_not_fit(name: str, runs: list[Array], change: dict[str, Any], message: str) -> None:
    arguments = {"out": ROWS.copy(), **change}
    with pytest.raises((ArgumentTypeError, ArgumentValueError), match=message):
        resolve(name).merge_runs(runs, Order(tie="run"), **arguments)


@pytest.mark.parametrize("name", ["reference", "native"])
def test_a_payload_for_all_rows_may_be_broadcast(name: str) -> None:
    values = np.array([[2.0, 1.0, 3.0], [1.0, 3.0, 2.0]], np.float32)
    payload = np.broadcast_to(np.array([7, 8, 9], np.uint32), values.shape)
    ordered, travelled, _ = resolve(name).order_pairs(values, payload, Order())
    assert ordered.tolist() == [[1, 2, 3]] * 2
    assert travelled.tolist() == [[8, 7, 9], [7, 9, 8]]
