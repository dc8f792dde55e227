"""TSORT32: placement, pads, ties, NaN, paths and what it reports as open."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from lanesort import pto, reference
from lanesort.engine.protocol import resolve
from lanesort.errors import ArgumentTypeError, ArgumentValueError, RuleViolations
from lanesort.order import Order
from lanesort.pto import Sort32, sort32_operands

NAN_BITS = {np.float32: (0x7FC00000, 0xFFC00001), np.float16: (0x7E00, 0xFE01)}
PAD = {np.float32: 0xFFC00000, np.float16: 0xFE00}
DESCENDING = Order(descending=True, nan="sign-magnitude")


def values_of(tile: Any) -> list[float]:
    return pto.pairs(tile).values[0].tolist()


def indices_of(tile: Any) -> list[int]:
    return pto.pairs(tile).indices[0].tolist()


def expected(src: np.ndarray, idx: np.ndarray, order: Order = DESCENDING) -> tuple[np.ndarray, np.ndarray]:
    """Sort each block with the oracle, block by block."""
    values, indices = src.copy(), idx.copy()
    for first in range(0, src.shape[1], 32):
        part = np.s_[:, first : first + 32]
        values[part], indices[part] = reference.sort_pairs(src[part], order, idx[part])
    return values, indices


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize(
    ("rows", "columns"), [(1, 32), (3, 64), (2, 100), (40, 96), (5, 1), (1, 8192), (70, 33)]
)
def test_each_block_is_sorted_and_placed(dtype: Any, rows: int, columns: int, engine: str) -> None:
    rng = np.random.default_rng(rows * columns)
    src = rng.integers(-50, 50, (rows, columns)).astype(dtype)
    tile = pto.tsort32(src, engine=engine)
    lanes = -(-columns // 32) * 32
    values, indices = pto.pairs(tile)
    assert tile.shape == (rows, (2 if dtype is np.float32 else 4) * lanes)
    wanted = expected(src, np.broadcast_to(np.arange(columns, dtype=np.uint32), src.shape))
    np.testing.assert_array_equal(values[:, :columns], wanted[0])
    np.testing.assert_array_equal(indices[:, :columns], wanted[1])
    assert (values[:, columns:].view(f"u{src.itemsize}") == PAD[dtype]).all()
    np.testing.assert_array_equal(
        indices[:, columns:], np.broadcast_to(np.arange(columns, lanes), (rows, lanes - columns))
    )
    assert np.asarray(tile.written).all()


def test_half_pairs_have_a_zero_gap() -> None:
    tile = pto.tsort32(np.arange(40, dtype=np.float16), engine="reference")
    assert not np.asarray(tile).view(np.uint16)[:, 1::4].any()
    assert "pto.half-pad-slot" in tile.unpinned
    assert (
        "pto.half-pad-slot" not in pto.tsort32(np.arange(40, dtype=np.float32), engine="reference").unpinned
    )


@pytest.mark.parametrize("rows", [1, 3])
def test_idx_is_moved_along_and_one_row_serves_all(rows: int, engine: str) -> None:
    src = np.random.default_rng(1).permuted(np.tile(np.arange(64, dtype=np.float32), (3, 1)), axis=1)
    idx = np.random.default_rng(2).integers(0, 2**32, (rows, 64), dtype=np.uint32)
    tile = pto.tsort32(src, idx, engine=engine)
    _, wanted = expected(src, np.broadcast_to(idx, src.shape))
    np.testing.assert_array_equal(pto.pairs(tile).indices, wanted)
    assert tile.unpinned == ()


def test_ties_go_by_position_or_by_index_value(engine: str) -> None:
    src = np.array([1, 2, 2, 1], np.float32)
    idx = np.array([7, 9, 4, 3], np.uint32)
    positional = pto.tsort32(src, idx, engine=engine)
    by_value = pto.tsort32(src, idx, engine=engine, choices={"pto.tie-order": "index-value"})
    assert indices_of(positional)[:4] == [9, 4, 7, 3]
    assert indices_of(by_value)[:4] == [4, 9, 3, 7]
    assert "pto.tie-order" in positional.unpinned
    assert "pto.tie-order" in by_value.unpinned


@pytest.mark.parametrize("choice", ["positional", "index-value"])
@pytest.mark.parametrize(
    ("src", "idx"),
    [
        ([1, 2, 2, 1], [3, 4, 7, 9]),  # equal values, but idx ascends
        ([1, 2, 3, 4], [9, 7, 4, 3]),  # idx falls, but no values are equal
        ([2, 1, 2, 1], [3, 4, 3, 9]),  # equal values with the same index
    ],
)
def test_tie_order_is_open_only_where_the_choices_differ(choice: str, src: list[int], idx: list[int]) -> None:
    tile = pto.tsort32(
        np.array(src, np.float32),
        np.array(idx, np.uint32),
        engine="reference",
        choices={"pto.tie-order": choice},
    )
    assert "pto.tie-order" not in tile.unpinned


def test_zeros_are_equal_and_keep_their_sign(engine: str) -> None:
    tile = pto.tsort32(np.array([-0.0, 0.0, -0.0, 1.0], np.float32), engine=engine)
    assert indices_of(tile)[:4] == [3, 0, 1, 2]
    assert np.signbit(values_of(tile)[:4]).tolist() == [False, True, False, True]


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize(
    ("choice", "wanted"),
    [
        ("sign-magnitude", [1, 2, 0, 4, 3]),
        ("last", [2, 0, 4, 1, 3]),
        ("largest", [1, 3, 2, 0, 4]),
        ("compare-false", [1, 2, 0, 4, 3]),
    ],
)
def test_nan_goes_where_the_choice_says_and_pads_come_last(
    dtype: Any, choice: str, wanted: list[int]
) -> None:
    src = np.array([1, 0, np.inf, 0, -np.inf], dtype)
    src.view(f"u{src.itemsize}")[[1, 3]] = NAN_BITS[dtype]
    tile = pto.tsort32(src, engine="reference", choices={"pto.nan-order": choice})
    assert indices_of(tile) == [*wanted, *range(5, 32)]
    assert "pto.nan-order" in tile.unpinned
    assert bool(tile.warnings) == (choice == "compare-false")


def test_nan_order_is_open_only_where_a_block_mixes() -> None:
    rng = np.random.default_rng(3)
    src = rng.standard_normal((2, 64)).astype(np.float32)
    assert pto.tsort32(src, engine="reference").unpinned == ()
    src[1, 32:] = np.nan
    assert pto.tsort32(src, engine="reference").unpinned == ()
    src[1, 40] = 0
    assert pto.tsort32(src, engine="reference").unpinned == ("pto.nan-order",)
    src[1, 32:] = np.nan
    src.view(np.uint32)[1, 50] |= 0x80000000
    assert pto.tsort32(src, engine="reference").unpinned == ("pto.nan-order",)


@pytest.mark.parametrize(
    ("choice", "bits"), [("negative-nan", 0xFFC00000), ("-inf", 0xFF800000), ("lowest", 0xFF7FFFFF)]
)
def test_pad_bits_by_choice_come_last_even_behind_lower_values(choice: str, bits: int) -> None:
    src = np.array([-np.inf, 1], np.float32)
    tile = pto.tsort32(src, engine="reference", choices={"pto.pad-bits": choice})
    assert indices_of(tile)[:2] == [1, 0]
    assert (pto.pairs(tile).values[0, 2:].view(np.uint32) == bits).all()
    assert "pto.pad-bits" in tile.unpinned
    assert pto.tsort32(np.zeros(32, np.float32), engine="reference").unpinned == ()


@pytest.mark.parametrize("columns", [31, 32, 33, 64, 95, 96, 8128, 8160])
@pytest.mark.parametrize("tmp", ["auto", None])
def test_pad_bits_are_open_only_beyond_whole_blocks(columns: int, tmp: Any) -> None:
    tail = columns % 32 > 0
    if tail and tmp is None:
        pytest.skip("three operands take whole blocks only")
    # Values that equal a pad of another choice make no difference: there is no pad.
    for value in (0, -np.inf, np.finfo(np.float32).min):
        src = np.full((2, columns), value, np.float32)
        assert ("pto.pad-bits" in pto.tsort32(src, tmp=tmp, engine="reference").unpinned) == tail


def test_explicit_idx_is_continued_with_zero_and_that_is_said() -> None:
    src, idx = np.zeros((1, 33), np.float32), np.arange(33, dtype=np.uint32)
    tile = pto.tsort32(src, idx, engine="reference")
    assert indices_of(tile)[33:] == [0] * 31
    assert "31 lanes" in tile.warnings[0]
    longer = pto.tsort32(src, np.arange(64, dtype=np.uint32), engine="reference")
    assert indices_of(longer)[33:] == list(range(33, 64))
    assert longer.warnings == ()


def test_the_simulator_writes_no_pads_and_leaves_what_was_there() -> None:
    tile = pto.tsort32(np.zeros((2, 5), np.float32), target="cpu", fill=0xA5, engine="reference")
    assert tile.produced_columns == 10
    assert tile.written[:, :10].all()
    assert not tile.written[:, 10:].any()
    assert (np.asarray(tile).view(np.uint8)[:, 40:] == 0xA5).all()
    assert "pto.pad-bits" not in tile.unpinned


@pytest.mark.parametrize("dtype", [np.int32, np.int16, ml_dtypes.bfloat16])
def test_extra_dtypes_of_the_simulator(dtype: Any) -> None:
    tile = pto.tsort32(np.array([-3, 5, 0], dtype), target="cpu", engine="reference")
    assert values_of(tile) == [5, 0, -3]
    with pytest.raises(RuleViolations, match="src_dtype_can_be_sorted"):
        pto.tsort32(np.array([-3, 5, 0], dtype), target="a5")


def test_kirin_sorts_half_only() -> None:
    assert indices_of(pto.tsort32(np.array([1, 2], np.float16), target="kirin9030", engine="reference"))[
        :2
    ] == [1, 0]
    with pytest.raises(RuleViolations, match="float32"):
        pto.tsort32(np.array([1, 2], np.float32), target="kirin9030")


@pytest.mark.parametrize(
    ("rows", "columns", "dtype"), [(2, 32, np.float32), (4, 64, np.float16), (1, 32 * 256, np.float32)]
)
@pytest.mark.parametrize("target", ["a2a3", "a5", "cpu"])
def test_system_test_shapes(rows: int, columns: int, dtype: Any, target: str, engine: str) -> None:
    src = np.random.default_rng(columns).standard_normal((rows, columns)).astype(dtype)
    values, indices = pto.pairs(pto.tsort32(src, tmp=None, target=target, engine=engine))
    wanted = expected(src, np.broadcast_to(np.arange(columns, dtype=np.uint32), src.shape))
    np.testing.assert_array_equal(values, wanted[0])
    np.testing.assert_array_equal(indices, wanted[1])


def test_system_test_of_13_columns_needs_tiles_of_32() -> None:
    operands = pto.Sort32Operands(
        pto.TileOperand.of("dst", np.float32, 2, 32, valid=(2, 26)),
        pto.TileOperand.of("src", np.float32, 2, 16, valid=(2, 13)),
        pto.TileOperand.of("idx", np.uint32, 2, 16, valid=(2, 13)),
        pto.TileOperand.of("tmp", np.float32, 1, 16),
    )
    with pytest.raises(RuleViolations) as error:
        Sort32(operands, "a2a3")
    assert [violation.rule for violation in error.value.violations] == [
        "idx_reaches_every_lane",
        "dst_reaches_every_lane",
        "tmp_holds_the_tail",
    ]
    assert "reads 32" in str(error.value)
    tile = pto.tsort32(np.arange(26, dtype=np.float32).reshape(2, 13), engine="reference")
    assert pto.pairs(tile).indices[1, :13].tolist() == list(range(12, -1, -1))


@pytest.mark.parametrize(
    ("target", "dtype", "columns", "kept"),
    [("a2a3", np.float32, 100, 128), ("a5", np.float32, 2041, 32), ("a5", np.float16, 2041, 2048)],
)
def test_tmp_keeps_the_completed_row_or_its_tail(target: str, dtype: Any, columns: int, kept: int) -> None:
    operands = sort32_operands(2, columns, dtype, target=target)
    assert operands.tmp is not None
    assert operands.tmp.columns == kept
    src = np.random.default_rng(5).standard_normal((2, columns)).astype(dtype)
    dst = np.zeros((2, operands.dst.columns), dtype)
    tmp = np.zeros((1, kept + 3), dtype)
    idx = np.arange(operands.idx.columns, dtype=np.uint32)[None]
    Sort32(operands, target, "reference").run(dst, src, idx, tmp)
    tail = columns % 32 if kept == 32 else columns
    np.testing.assert_array_equal(tmp[0, :tail], src[-1, columns - tail :])
    assert (tmp[0, tail:kept].view(f"u{src.itemsize}") == PAD[dtype]).all()
    assert not tmp[0, kept:].any()


def test_columns_behind_the_pairs_are_not_touched(engine: str) -> None:
    operands = sort32_operands(3, 64, np.float16, tmp=None)
    src = np.random.default_rng(6).standard_normal((3, 80)).astype(np.float16)
    dst = np.full((3, 300), 7, np.float16)
    Sort32(operands, "a2a3", engine).run(dst, src, np.arange(64, dtype=np.int32)[None])
    assert (dst[:, 256:] == 7).all()
    wanted, _ = expected(src[:, :64], np.zeros((3, 64), np.uint32))
    np.testing.assert_array_equal(dst[:, :256:4], wanted)


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_engines_agree_on_any_bits(data: st.DataObject, engine: str) -> None:
    dtype = data.draw(st.sampled_from([np.float32, np.float16]))
    bits = np.dtype(f"u{np.dtype(dtype).itemsize}")
    shape = data.draw(st.tuples(st.integers(1, 4), st.integers(1, 70)))
    src = data.draw(hnp.arrays(bits, shape)).view(dtype)
    idx = data.draw(hnp.arrays(np.uint32, (data.draw(st.sampled_from([1, shape[0]])), shape[1])))
    # The datapath engine shows what a network would do with the other policies.
    policies = ["sign-magnitude"] if engine == "datapath" else ["sign-magnitude", "last", "largest"]
    choices = {"pto.nan-order": data.draw(st.sampled_from(policies))}
    wanted = pto.tsort32(src, idx, engine="reference", choices=choices)
    found = pto.tsort32(src, idx, engine=engine, choices=choices)
    assert np.asarray(found).tobytes() == np.asarray(wanted).tobytes()
    assert found.unpinned == wanted.unpinned


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"src": np.zeros((2, 2, 2), np.float32)}, ArgumentValueError, "shape"),
        ({"src": ["a"]}, ArgumentTypeError, "dtype"),
        ({"src": np.zeros(32, np.complex64)}, ArgumentTypeError, "complex64"),
        ({"src": np.zeros(32)}, RuleViolations, "float64"),
        ({"src": np.zeros((0, 32), np.float32)}, RuleViolations, "src_is_not_empty"),
        ({"src": np.zeros(0, np.float32)}, RuleViolations, "src_is_not_empty"),
        ({"src": np.zeros(33, np.float32), "tmp": None}, RuleViolations, "columns_are_whole_blocks"),
        (
            {"src": np.zeros((3, 32), np.float32), "idx": np.zeros((2, 32), np.uint32)},
            RuleViolations,
            "idx has 2 rows",
        ),
        ({"src": np.zeros(32, np.float32), "idx": np.zeros(31, np.uint32)}, RuleViolations, "idx_covers_src"),
        (
            {"src": np.zeros(32, np.float32), "idx": np.zeros(32, np.int64)},
            RuleViolations,
            "idx_dtype_is_u32",
        ),
        ({"src": np.zeros(32, np.float32), "fill": 256}, ArgumentValueError, "fill"),
        ({"src": np.zeros(32, np.float32), "fill": "a"}, ArgumentTypeError, "fill"),
        ({"src": np.zeros(32, np.float32), "tmp": 4}, ArgumentValueError, "tmp is 4"),
        ({"src": np.zeros(32, np.float32), "choices": 5}, ArgumentTypeError, "choices is 5"),
        ({"src": np.zeros(32, np.float32), "choices": {"pto.tie-order": [1]}}, ArgumentTypeError, "strings"),
        ({"src": np.zeros(32, np.float32), "target": "a4"}, ArgumentValueError, "a4"),
        ({"src": np.zeros(32, np.float32), "choices": {"pto.pad": "x"}}, ArgumentValueError, "pto.pad"),
        (
            {"src": np.zeros(32, np.float32), "choices": {"pto.tie-order": "x"}},
            ArgumentValueError,
            "positional",
        ),
    ],
)
def test_bad_arguments_are_named(arguments: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        pto.tsort32(**arguments, engine="reference")


def test_byte_order_and_strides_do_not_matter() -> None:
    src = np.random.default_rng(8).standard_normal((3, 64)).astype(np.float32)
    wanted = np.asarray(pto.tsort32(src, engine="reference")).tobytes()
    for same in (src.astype(">f4"), np.asfortranarray(src), src[::-1][::-1]):
        assert np.asarray(pto.tsort32(same, engine="reference")).tobytes() == wanted


class Picky:
    """An engine that refuses ties by payload and otherwise asks the reference."""

    name = "picky"

    def __init__(self) -> None:
        self.inner = resolve("reference")

    def refusal(self, verb: str, order: Order) -> str | None:
        return f"tie={order.tie!r} for {verb}" if order.tie == "payload" else None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


def test_an_engine_without_the_policy_is_replaced_and_that_is_said() -> None:
    src, idx = np.array([1, 1], np.float32), np.array([2, 1], np.uint32)
    picky: Any = Picky()
    tile = pto.tsort32(src, idx, target="cpu", engine=picky)
    assert indices_of(tile) == [1, 2]
    assert tile.warnings == (
        "engine 'picky' has no tie='payload' for order_pairs; the reference engine ran instead",
    )
    assert pto.tsort32(src, idx, engine=picky).warnings[-1].startswith("idx has 2 columns")
