"""Cases 67–74: merges, ragged rows, payloads. Each test bears the number of its case."""

from __future__ import annotations

import numpy as np

import lanesort as ls


def test_case_67_the_left_run_first() -> None:
    found = ls.merge([np.array([1, 3, 3]), np.array([3, 4])])
    assert found.values.tolist() == [1, 3, 3, 3, 4]
    assert found.indices.tolist() == [0, 1, 2, 3, 4]


def test_case_69_a_suspended_merge_says_what_it_took() -> None:
    found = ls.merge([np.array([5, 1]), np.array([4, 3])], descending=True, stop="first-exhausted")
    assert found.values.tolist() == [5, 4, 3]
    assert found.consumed == (1, 2)
    empty = ls.merge([np.array([5.0]), np.array([])], descending=True, stop="first-exhausted")
    assert empty.values.tolist() == []
    assert empty.consumed == (0, 0)


def test_case_70_segments_of_unequal_length() -> None:
    x = np.array([[5, 9, 7, 0, 0], [0, 0, 0, 0, 0], [1, 2, 3, 4, 5]], np.float32)
    found = ls.top_k(x, 2, lengths=[3, 0, 5])
    assert found.indices.tolist() == [[1, 2], [-1, -1], [4, 3]]
    assert found.valid.tolist() == [2, 0, 2]


def test_case_73_wide_payloads_of_narrow_keys() -> None:
    keys = np.random.default_rng(73).integers(0, 50, 4000).astype(np.uint32)
    payload = np.arange(4000, dtype=np.uint64) << np.uint64(40)
    order = np.argsort(keys, kind="stable")
    found = ls.sort_by_key(keys, payload)
    assert np.array_equal(found[0], keys[order])
    assert np.array_equal(found[1], payload[order])


def test_case_74_groups_inside_an_array() -> None:
    x = np.array([[3, 1], [2, 9], [1, 0]])
    found = ls.argsort(x, axis=0, lengths=[3, 2])
    assert found.T.tolist() == [[2, 1, 0], [0, 1, -1]]
