"""Cases 61–65: nonzero. Each test bears the number of its case."""

from __future__ import annotations

import numpy as np

import lanesort as ls


def test_case_61_nothing_found_is_told_from_position_zero() -> None:
    none = ls.flatnonzero(np.zeros(5), size=1)
    one = ls.flatnonzero(np.ones(5), size=1)
    assert (none.indices.tolist(), none.total) == ([-1], 0)
    assert (one.indices.tolist(), one.total) == ([0], 5)


def test_case_62_a_fixed_size_with_the_true_count() -> None:
    x = np.array([0, 1, 0, 1], np.float32)
    assert ls.flatnonzero(x, size=3).indices.tolist() == [1, 3, -1]
    assert ls.flatnonzero(x, size=3).total == 2
    cut = ls.flatnonzero(x, size=1)
    assert (cut.indices.tolist(), cut.total) == ([1], 2)
    rows = ls.flatnonzero(np.stack([x, x * 0]), axis=1, fill_index=9)
    assert rows.indices.tolist() == [[1, 3, 9, 9], [9, 9, 9, 9]]
    assert rows.total.tolist() == [2, 0]


def test_case_63_nan_counts_and_negative_zero_does_not() -> None:
    for dtype in (np.float16, np.float32, np.float64):
        x = np.array([np.nan, -0.0, 0.0, 1.0], dtype)
        assert ls.flatnonzero(x).indices.tolist() == [0, 3]
    denormal = np.array([0, 1, 0x80000001, 0x80000000], np.uint32).view(np.float32)
    assert ls.flatnonzero(denormal).indices.tolist() == [1, 2]


def test_case_65_positions_by_dimension() -> None:
    x = np.random.default_rng(65).random((7, 11, 5)) < 0.4
    for ours, theirs in zip(ls.nonzero(x), np.nonzero(x), strict=True):
        assert np.array_equal(ours, theirs)
