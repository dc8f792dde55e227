"""Cases 1–19: ties and determinism. Each test bears the number of its case."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import lanesort as ls
from tests.patterns import DTYPES, SMALL_DTYPES


def indices(x: Any, k: int, **policy: Any) -> list[int]:
    found: list[int] = ls.top_k(np.asarray(x), k, **policy).indices.tolist()
    return found


@pytest.mark.parametrize("dtype", SMALL_DTYPES)
def test_case_1_tied_positions_ascend(dtype: str) -> None:
    x = np.array([3, 2, 3, 2, 1, 1]).astype(DTYPES[dtype])
    found = ls.top_k(x, 2)
    assert found.values.tolist() == [3, 3]
    assert found.indices.tolist() == [0, 2]
    assert indices(x, 4) == [0, 2, 1, 3]


def test_case_2_the_first_of_equal_maxima() -> None:
    x = np.array([-0.1944, -0.1944, -0.1945, -0.1945, -0.1945], np.float32)
    assert [indices(x, k) for k in range(1, 6)] == [list(range(k)) for k in range(1, 6)]


def test_case_4_results_are_prefixes_as_k_grows() -> None:
    assert [indices([1, 2, 5, 4, 5], k) for k in range(1, 6)] == [[2, 4, 3, 1, 0][:k] for k in range(1, 6)]
    x = np.random.default_rng(4).integers(0, 9, 300).astype(np.float32)
    whole = indices(x, 300)
    assert all(indices(x, k) == whole[:k] for k in range(301))


@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, np.float16])
@pytest.mark.parametrize("n", [257, 512, 1000, 2048])
def test_case_6_half_width_rows_come_out_the_same_every_time(dtype: Any, n: int) -> None:
    patterns = np.random.default_rng(n).permutation(n).astype(np.uint16) + np.uint16(0x3000)
    x = patterns.view(dtype)
    first = ls.top_k(x, 8)
    assert first.indices.tolist() == np.argsort(patterns)[::-1][:8].tolist()
    assert all(ls.top_k(x, 8).indices.tolist() == first.indices.tolist() for _ in range(10))


@pytest.mark.parametrize("batch", [1, 7, 8, 9, 64])
def test_case_7_exactly_k_whatever_the_batch(batch: int) -> None:
    found = ls.top_k(np.tile(np.array([1, 2, 2, 2, 3], np.float32), (batch, 1)), 3)
    assert found.indices.tolist() == [[4, 1, 2]] * batch


def test_case_8_one_best_is_argmax() -> None:
    assert indices([5, 7, 7], 1) == [1]
    x = np.random.default_rng(8).integers(0, 3, (200, 37)).astype(np.float32)
    assert ls.top_k(x, 1).indices[:, 0].tolist() == np.argmax(x, axis=1).tolist()
    assert ls.top_k(x, 1, mode="smallest").indices[:, 0].tolist() == np.argmin(x, axis=1).tolist()


def test_case_10_the_set_in_index_order() -> None:
    x = np.random.default_rng(10).standard_normal(8192).astype(np.float32)
    boundary = np.float32(np.sort(x)[::-1][1000])
    tied = np.random.default_rng(11).permutation(np.flatnonzero(x < boundary))[:3000]
    x[tied] = boundary
    above = np.flatnonzero(x > boundary)
    expected = np.sort(np.concatenate([above, np.flatnonzero(x == boundary)[: 2048 - above.size]]))
    assert indices(x, 2048, sorted="index") == expected.tolist()
    assert sorted(indices(x, 2048)) == expected.tolist()


def test_case_11_lists_of_ranks_merge_to_the_global_answer() -> None:
    a, b = ([9, 7, 7], [0, 3, 5]), ([9, 7, 1], [10, 11, 12])
    found = ls.merge([a[0], b[0]], indices=[a[1], b[1]], descending=True, k=4)
    assert list(zip(found.values.tolist(), found.indices.tolist(), strict=True)) == [
        (9, 0),
        (9, 10),
        (7, 3),
        (7, 5),
    ]


@pytest.mark.parametrize("tile", [1, 2, 4])
def test_case_12_tiling_does_not_show(tile: int) -> None:
    x = np.full(4, 0.5, np.float32)
    runs = [ls.top_k(x[s : s + tile], tile, index_offset=s) for s in range(0, 4, tile)]
    for order in (runs, runs[::-1]):
        merged = ls.merge([r.values for r in order], indices=[r.indices for r in order], descending=True, k=2)
        assert merged.indices.tolist() == [0, 1]


def test_case_13_padding_stays_at_the_tail() -> None:
    chosen = np.array([7, 2, 9, -1])
    assert ls.sort(chosen, where=chosen >= 0, fill_value=-1).tolist() == [2, 7, 9, -1]


@pytest.mark.parametrize("experts", [256, 384])
def test_case_16_expert_routing(experts: int) -> None:
    x = np.random.default_rng(16).integers(0, 3, (64, experts)).astype(ml_dtypes.bfloat16)
    expected = [sorted(range(experts), key=lambda i, r=row: (-r[i], i))[:8] for row in x.astype(float)]
    assert ls.top_k(x, 8).indices.tolist() == expected


@pytest.mark.parametrize(("tie", "rank"), [("low", 1), ("high", 3)])
def test_case_17_either_end_of_a_tie(tie: str, rank: int) -> None:
    assert indices([1, 1, 1], 3, tie=tie).index(0) + 1 == rank


def test_case_19_one_order_for_all_payloads() -> None:
    rows = np.array([[10, 20, 30], [ord("x"), ord("y"), ord("z")]])
    by, a, b = ls.sort_by_key(np.ones(3), rows[0], rows[1], descending=True)
    assert by.tolist() == [1, 1, 1]
    assert list(zip(a[:2].tolist(), map(chr, b[:2]), strict=True)) == [(10, "x"), (20, "y")]
