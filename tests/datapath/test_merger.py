"""The merger compares heads, keeps a mask of lists and can be suspended."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanesort.datapath.merger import merge_heads, merge_steps
from lanesort.errors import ArgumentValueError

LISTS = st.lists(st.lists(st.integers(0, 6)), min_size=1, max_size=4)


@given(LISTS, st.booleans(), st.booleans())
def test_a_merge_is_the_stable_sort_of_the_lists(lists, descending, later):
    heads = [np.array(sorted(column, reverse=descending), np.int64) for column in lists]
    merged = merge_heads(heads, descending=descending, later_on_tie=later)
    emitted = [(heads[k][p], k, p) for k, p in zip(merged.lists, merged.positions, strict=True)]
    value_sign, list_sign = (-1 if descending else 1), (-1 if later else 1)
    key = [(value_sign * value, list_sign * number, place) for value, number, place in emitted]
    assert key == sorted(key)
    assert merged.consumed == tuple(map(len, heads))
    assert not merged.suspended


@given(LISTS)
def test_suspension_ends_with_the_last_pair_of_the_first_list_used_up(lists):
    heads = [np.array(sorted(column, reverse=True), np.int64) for column in lists]
    whole = merge_heads(heads)
    part = merge_heads(heads, suspend=True)
    assert part.lists.tolist() == whole.lists.tolist()[: len(part.lists)]
    used_up = [taken == len(column) for taken, column in zip(part.consumed, heads, strict=True)]
    assert any(used_up)
    if all(len(column) for column in heads):
        assert sum(used_up) == 1
    else:
        assert len(part.lists) == 0
    assert part.suspended == (len(part.lists) < len(whole.lists))


def test_the_mask_loses_the_bit_of_a_list_that_is_used_up():
    steps = list(merge_steps([np.array([9]), np.array([8, 1]), np.array([], np.int64), np.array([5])]))
    assert [(step.list, step.mask, step.comparisons) for step in steps] == [
        (0, 0b1011, 2),
        (1, 0b1010, 1),
        (3, 0b1010, 1),
        (1, 0b0010, 0),
    ]


def test_a_limit_stops_the_emission():
    merged = merge_heads([np.array([3, 1]), np.array([2])], limit=2)
    assert (merged.lists.tolist(), merged.consumed) == ([0, 1], (1, 1))
    assert merge_heads([np.array([3, 1])], limit=0).consumed == (0,)


def test_a_nan_head_wins_only_by_its_position():
    nan = np.float32("nan")
    first = merge_heads([np.array([nan, 9], np.float32), np.array([5], np.float32)])
    assert first.lists.tolist() == [0, 0, 1]
    second = merge_heads([np.array([5], np.float32), np.array([nan, 9], np.float32)])
    assert second.lists.tolist() == [0, 1, 1]


def test_five_lists_are_too_many():
    with pytest.raises(ArgumentValueError, match="5 lists"):
        merge_heads([np.array([1])] * 5)
