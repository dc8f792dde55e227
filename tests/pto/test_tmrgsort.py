"""TMRGSORT: both variants, counts, suspension, clipping, the sortedness check and what is open."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from lanesort import pto, reference
from lanesort.errors import ArgumentTypeError, ArgumentValueError, RuleViolations
from lanesort.order import Order
from lanesort.pto import Merge, merge_operands

DESCENDING = Order(descending=True, nan="sign-magnitude")
NEGATIVE_NAN = np.array([0xFFC00000], np.uint32).view(np.float32)[0]


def run(values: Any, first: int = 0, dtype: Any = np.float32) -> pto.Tile:
    """Lay a list of pairs out whose indices count from `first` on."""
    array = np.asarray(values, dtype)
    return pto.tile(array, np.arange(first, first + array.size, dtype=np.uint32))


def merged(lists: list[Any], **options: Any) -> tuple[list[int], Any, pto.Tile]:
    dst, executed = pto.tmrgsort_lists(lists, **{"engine": "reference", **options})
    return pto.pairs(dst).indices[0].tolist(), executed, dst


def sort_any(scores: np.ndarray, engine: str, target: str = "a2a3") -> pto.Tile:
    """TSORT32, then merges of up to four lists until one is left."""
    tile = np.asarray(pto.tsort32(scores, target=target, engine=engine))
    width = 8 // scores.itemsize
    lists = [tile[:, first : first + 32 * width] for first in range(0, tile.shape[1], 32 * width)]
    while len(lists) > 1:
        groups = [lists[first : first + 4] for first in range(0, len(lists), 4)]
        lists = [
            np.asarray(pto.tmrgsort_lists(group, engine=engine, target=target)[0])
            if len(group) > 1
            else group[0]
            for group in groups
        ]
    return pto.tile(*pto.pairs(lists[0]))


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_blocks_and_merges_make_a_stable_descending_sort(data: st.DataObject, engine: str) -> None:
    dtype = data.draw(st.sampled_from([np.float32, np.float16]))
    bits = data.draw(hnp.arrays(f"u{np.dtype(dtype).itemsize}", st.integers(1, 300)))
    few = data.draw(st.booleans())
    scores = (bits % 7).astype(dtype) if few else bits.view(dtype)
    values, indices = pto.pairs(sort_any(scores, engine))
    wanted = reference.sort_pairs(scores[None], DESCENDING, np.arange(scores.size, dtype=np.uint32)[None])
    assert indices[0, : scores.size].tolist() == wanted.indices[0].tolist()
    assert values[0, : scores.size].tobytes() == wanted.values.tobytes()


@pytest.mark.parametrize(("dtype", "block_len"), [(np.float32, 64), (np.float16, 128), (np.float16, 64)])
@pytest.mark.parametrize("target", ["a2a3", "a5", "cpu"])
def test_groups_of_four_blocks_are_merged(dtype: Any, block_len: int, target: str, engine: str) -> None:
    width = 8 // np.dtype(dtype).itemsize
    length = block_len // width
    scores = np.random.default_rng(block_len).integers(-9, 9, (12, length)).astype(dtype)
    runs = np.sort(scores, axis=1)[:, ::-1]
    src = pto.tile(runs.reshape(1, -1), np.arange(runs.size, dtype=np.uint32))
    dst = pto.tmrgsort(src, block_len, target=target, engine=engine)
    values, indices = pto.pairs(dst)
    for group in range(3):
        part = np.s_[:, group * 4 * length : (group + 1) * 4 * length]
        wanted = reference.sort_pairs(runs.reshape(1, -1)[part], DESCENDING)
        np.testing.assert_array_equal(values[part], wanted.values)
        np.testing.assert_array_equal(indices[part], wanted.indices + group * 4 * length)
    assert dst.unpinned == ()


def test_top_k_by_rounds_of_one_tile_merges(engine: str) -> None:
    scores = np.random.default_rng(9).standard_normal(8192).astype(np.float32)
    tile = pto.tsort32(scores, engine=engine)
    for block_len in (64, 256, 1024, 4096):
        tile = pto.tmrgsort(tile, block_len, engine=engine)
    assert pto.pairs(tile).indices[0, :5].tolist() == np.argsort(-scores, kind="stable")[:5].tolist()


@pytest.mark.parametrize("count", [2, 3, 4])
@pytest.mark.parametrize("target", ["a2a3", "a5", "cpu"])
def test_lists_are_merged_whole(count: int, target: str, engine: str) -> None:
    rng = np.random.default_rng(count)
    lists = [np.sort(rng.integers(0, 9, 5 + 3 * n))[::-1].astype(np.float32) for n in range(count)]
    starts = np.cumsum([0, *map(len, lists)])
    tiles = [run(values, first) for values, first in zip(lists, starts[:-1], strict=True)]
    dst, executed = pto.tmrgsort_lists(tiles, target=target, engine=engine)
    wanted = reference.sort_pairs(np.concatenate(lists)[None], DESCENDING)
    np.testing.assert_array_equal(pto.pairs(dst).values, wanted.values)
    np.testing.assert_array_equal(pto.pairs(dst).indices, wanted.indices)
    assert dst.unpinned == ("pto.executed-unasked",)
    lengths = [len(values) for values in lists]
    assert executed == ((*lengths, 0, 0)[:4] if target == "cpu" else None)


def test_exhausted_stops_behind_the_last_pair_of_a_list(engine: str) -> None:
    indices, executed, dst = merged([run([5, 1]), run([4, 3], 2)], exhausted=True, engine=engine)
    assert indices == [0, 2, 3]
    assert executed == (1, 2, 0, 0)
    assert dst.written[0].tolist() == [True] * 6 + [False] * 2
    assert dst.unpinned == ("pto.exhausted-tail",)


def test_counts_of_unasked_executed_by_choice() -> None:
    choices = {"pto.executed-unasked": "taken"}
    assert merged([run([5, 1]), run([4, 3], 2)], choices=choices)[1] == (2, 2, 0, 0)
    _, executed, dst = merged([run([5, 1]), run([4], 2)], exhausted=True, choices=choices)
    assert executed == (1, 1, 0, 0)
    assert "pto.executed-unasked" not in dst.unpinned


@pytest.mark.parametrize(("target", "executed"), [("a2a3", (2, 2, 0, 0)), ("cpu", (1, 0, 0, 0))])
def test_a_short_dst_takes_the_best_pairs(target: str, executed: tuple[int, ...], engine: str) -> None:
    lists = [run([9, 8]), run([7, 1], 2)]
    choices = {"pto.executed-unasked": "taken"}
    indices, counts, dst = merged(lists, columns=2, target=target, choices=choices, engine=engine)
    assert (indices, counts, dst.shape) == ([0], executed, (1, 2))


def test_a_short_dst_does_not_stop_an_exhausted_merge_on_hardware() -> None:
    lists = [run([9, 2]), run([7, 1], 2)]
    assert merged(lists, columns=2, exhausted=True)[1] == (2, 1, 0, 0)
    assert merged(lists, columns=2, exhausted=True, target="cpu")[1] == (1, 0, 0, 0)


def test_a_dst_with_room_to_spare_is_mentioned() -> None:
    _, _, dst = merged([run([9, 2]), run([7], 2)], columns=10)
    assert dst.produced_columns == 6
    assert "10 columns" in dst.warnings[0]
    assert merged([run([9, 2]), run([7], 2)], columns=6)[2].warnings == ()


def test_a_clipped_copy_is_rounded_up_to_32_bytes() -> None:
    operands = merge_operands([64, 64], np.float32, columns=10)
    assert operands.dst.columns == 16
    dst = np.zeros((1, 16), np.float32)
    lists = [np.asarray(run(np.arange(32, 0, -1), 32 * n)) for n in range(2)]
    outcome = Merge(operands, "a2a3", "reference").run(dst, lists)
    assert outcome.produced_columns == 10
    assert dst[0, ::2].tolist() == [32, 32, 31, 31, 30, 30, 29, 29]


def test_what_a_stopped_merge_leaves_is_what_tmp_held() -> None:
    operands = merge_operands([4, 4], np.float32, exhausted=True)
    tmp = np.full((1, 8), 99, np.float32)
    dst = np.zeros((1, 8), np.float32)
    lists = [np.asarray(run([5, 1])), np.asarray(run([4, 3], 2))]
    outcome = Merge(operands, "a5", "reference").run(dst, lists, tmp)
    assert dst[0, [0, 2, 4, 6, 7]].tolist() == [5, 4, 3, 99, 99]
    assert outcome.produced_columns == 6
    assert "pto.exhausted-tail" in outcome.unpinned
    full = Merge(merge_operands([4, 4], np.float32, exhausted=True, columns=4), "a5", "reference").run(
        dst, lists, tmp
    )
    assert "pto.exhausted-tail" not in full.unpinned


@pytest.mark.parametrize(
    ("choice", "executed", "order"),
    [("lower-first", (2, 0, 0, 0), [0, 1]), ("later-when-exhausted", (0, 2, 0, 0), [2, 3])],
)
def test_equal_values_under_exhausted(
    choice: str, executed: tuple[int, ...], order: list[int], engine: str
) -> None:
    lists = [run([7, 7]), run([7, 7], 2)]
    indices, counts, dst = merged(lists, exhausted=True, choices={"pto.merge-tie": choice}, engine=engine)
    assert (counts, indices) == (executed, order)
    assert "pto.merge-tie" in dst.unpinned
    assert merged(lists, choices={"pto.merge-tie": choice}, engine=engine)[0] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("first", "second", "exhausted"),
    [([7, 7], [7, 7], False), ([9, 5], [8, 4], True), ([9, 9, 1], [8, 4], True)],
)
def test_merge_tie_is_open_only_where_the_choices_differ(
    first: list[int], second: list[int], exhausted: bool
) -> None:
    assert "pto.merge-tie" not in merged([run(first), run(second, 8)], exhausted=exhausted)[2].unpinned


@pytest.mark.parametrize(
    ("nan_order", "first", "second", "is_open"),
    [
        ("sign-magnitude", [np.nan, np.nan], [np.nan, np.nan], True),
        ("sign-magnitude", [np.nan, 5], [4, 3], False),
        ("sign-magnitude", [np.nan, 1], [-np.nan], False),
        ("last", [np.nan], [-np.nan], True),
        ("last", [5, np.nan], [4, 3, np.nan], True),
        ("last", [5, np.nan], [4, 3], False),
        ("largest", [-np.nan, 2], [np.nan, 3], True),
        ("largest", [np.nan, 2], [3, 1], False),
        # Plain > is false for a NaN, so that it ties with anything.
        ("compare-false", [np.nan], [5], True),
        ("compare-false", [6, np.nan], [5, 4], True),
        ("compare-false", [6, 5], [4, np.nan], False),
    ],
)
# The datapath compares floats as its lanes do, where a NaN is unordered whatever was chosen.
@pytest.mark.parametrize("engine", ["reference", "native"])
def test_merge_tie_with_nan_is_open_only_where_the_choices_differ(
    nan_order: str, first: list[float], second: list[float], is_open: bool, engine: str
) -> None:
    lists = [run(first), run(second, len(first))]
    found = []
    for tie in ("lower-first", "later-when-exhausted"):
        choices = {"pto.nan-order": nan_order, "pto.merge-tie": tie}
        indices, counts, dst = merged(lists, exhausted=True, choices=choices, engine=engine)
        assert ("pto.merge-tie" in dst.unpinned) == is_open
        found.append((indices, counts))
    assert (found[0] != found[1]) == is_open


def test_merge_tie_at_the_very_end_is_seen() -> None:
    dst = merged([run([5]), run([5], 1)], exhausted=True)[2]
    assert "pto.merge-tie" in dst.unpinned


@pytest.mark.parametrize(("choice", "executed"), [("stop-first", (0, 0, 0, 0)), ("cpu-sim", (1, 0, 0, 0))])
def test_an_empty_list_under_exhausted(choice: str, executed: tuple[int, ...], engine: str) -> None:
    lists = [run([5, 4]), np.zeros((1, 0), np.float32)]
    _, counts, dst = merged(lists, exhausted=True, choices={"pto.exhausted-empty": choice}, engine=engine)
    assert counts == executed
    assert "pto.exhausted-empty" in dst.unpinned
    assert merged(lists, engine=engine)[0] == [0, 1]
    assert "pto.exhausted-empty" not in merged(lists)[2].unpinned
    assert "pto.exhausted-empty" not in merged([run([5]), run([4])], exhausted=True)[2].unpinned


def test_gaps_of_half_are_carried_along(engine: str) -> None:
    lists = [np.asarray(run([5, 1], dtype=np.float16)).copy(), np.asarray(run([4, 3], 2, np.float16)).copy()]
    _, _, dst = merged(lists, engine=engine)
    assert "pto.half-pad-slot" not in dst.unpinned
    for n, part in enumerate(lists):
        part.view(np.uint16)[0, 1::4] = [10 * n + 1, 10 * n + 2]
    indices, _, dst = merged(lists, engine=engine)
    assert indices == [0, 2, 3, 1]
    assert np.asarray(dst).view(np.uint16)[0, 1::4].tolist() == [1, 11, 12, 2]
    assert "pto.half-pad-slot" in dst.unpinned


def test_gaps_of_half_are_carried_along_in_one_tile(engine: str) -> None:
    src = np.asarray(
        pto.tile(np.sort(np.arange(64, dtype=np.float16))[::-1].reshape(4, 16).reshape(1, -1), range(64))
    )
    src.view(np.uint16)[0, 1::4] = np.arange(64) + 100
    dst = np.asarray(pto.tmrgsort(src, 64, engine=engine))
    assert dst.view(np.uint16)[0, 1::4].tolist() == list(range(100, 164))


@pytest.mark.parametrize(
    ("choice", "lists", "order"),
    [
        ("sign-magnitude", ([np.nan, 5], [9, NEGATIVE_NAN]), [0, 2, 1, 3]),
        ("last", ([5, np.nan], [9, NEGATIVE_NAN]), [2, 0, 1, 3]),
        ("largest", ([np.nan, 5], [NEGATIVE_NAN, 9]), [0, 2, 3, 1]),
        ("compare-false", ([np.nan, 5], [9, 7]), [0, 2, 3, 1]),
    ],
)
def test_nan_goes_where_the_choice_says(choice: str, lists: Any, order: list[int]) -> None:
    indices, _, dst = merged([run(lists[0]), run(lists[1], 2)], choices={"pto.nan-order": choice})
    assert indices == order
    assert "pto.nan-order" in dst.unpinned


def test_pads_of_a_tail_block_leave_nothing_open() -> None:
    tiles = [pto.tsort32(np.arange(n, dtype=np.float32), engine="reference") for n in (5, 9)]
    assert merged(tiles)[2].unpinned == ("pto.executed-unasked",)
    assert "pto.nan-order" in merged(tiles, choices={"pto.nan-order": "compare-false"})[2].unpinned


@pytest.mark.parametrize("columns", [1, 5, 7])
def test_what_no_whole_pair_fills_is_zero(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(np, "empty", lambda shape, dtype=float: np.full(shape, 7, dtype))
    lists = [run([5, 3, 2], 0, np.float16), run([4, 1], 3, np.float16)]
    dst = np.asarray(merged(lists, columns=columns, target="cpu", engine="native")[2])
    whole = columns // 4 * 4
    assert not dst[0, whole:].any()


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_engines_agree_on_any_lists(data: st.DataObject, engine: str) -> None:
    lists, first, checked = [], 0, data.draw(st.booleans())
    for _ in range(data.draw(st.integers(2, 4))):
        bits = data.draw(hnp.arrays(np.uint32, st.integers(0, 12)))
        few = data.draw(st.booleans())
        values = (bits % 3).astype(np.float32) if few else bits.view(np.float32)
        if checked:
            values = reference.sort_pairs(values[None], DESCENDING).values[0]
        lists.append(run(values, first))
        first += len(values)
    options: dict[str, Any] = {
        "exhausted": data.draw(st.booleans()),
        "columns": 2 * data.draw(st.integers(0, first)),
        "target": data.draw(st.sampled_from(["a2a3", "cpu"])),
        "choices": {
            "pto.merge-tie": data.draw(st.sampled_from(["lower-first", "later-when-exhausted"])),
            "pto.nan-order": "sign-magnitude",
        },
        "check_sorted": checked,
    }
    wanted = merged(lists, **options)
    found = merged(lists, **options, engine=engine)
    assert np.asarray(found[2]).tobytes() == np.asarray(wanted[2]).tobytes()
    assert found[1] == wanted[1]
    assert found[2].unpinned == wanted[2].unpinned


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: pto.tmrgsort_lists([]), ArgumentValueError, "lists is empty"),
        (lambda: pto.tmrgsort_lists(5), ArgumentTypeError, "of type int"),
        (lambda: pto.tmrgsort_lists([1.0, 2.0]), ArgumentValueError, "src0 has shape"),
        (lambda: pto.tmrgsort_lists([run([1])]), RuleViolations, "sources_are_two_to_four"),
        (
            lambda: pto.tmrgsort_lists([run([1]), run([1], 0, np.float16)]),
            RuleViolations,
            "tiles_have_one_dtype",
        ),
        (lambda: pto.tmrgsort_lists([run([1])] * 2, columns=-1), ArgumentValueError, "columns is -1"),
        (lambda: pto.tmrgsort_lists([run([1])] * 2, columns=1.5), ArgumentTypeError, "whole number"),
        (lambda: pto.tmrgsort(run(np.zeros(128)), 32), RuleViolations, "block_len_is_multiple_of_64"),
        (lambda: pto.tmrgsort(run(np.zeros(128)), "64"), ArgumentTypeError, "block_len"),
        (lambda: pto.tmrgsort(run(np.zeros(100)), 64), RuleViolations, "columns_are_whole_groups"),
        (lambda: pto.tmrgsort(np.zeros((2, 256), np.float32), 64), RuleViolations, "tiles_have_one_row"),
        (lambda: pto.tmrgsort(np.zeros((1, 256), np.int32), 64), RuleViolations, "dtype_can_be_merged"),
        (lambda: pto.tmrgsort(np.zeros((1, 256)), 64), RuleViolations, "float64"),
    ],
)
def test_bad_arguments_are_named(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()
