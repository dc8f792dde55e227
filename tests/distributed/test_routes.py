"""Three rounds bring every element where one round brings it, with few and even pieces."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lanesort.distributed.routes import Grouping, gathered, shared_out, straight, swapped, table_of_ends


def _sent(sources: list[Any], ranges: Any) -> list[Any]:
    """What each target gets, merged: elements are their own ranks."""
    return [
        np.sort(
            np.concatenate([np.concatenate([s[a:b] for a, b in ranges[i, o]]) for i, s in enumerate(sources)])
        )
        for o in range(ranges.shape[1])
    ]


def _ends(runs: list[Any], outputs: int) -> Any:
    total = sum(r.size for r in runs)
    ranks = [total * o // outputs for o in range(1, outputs)]
    cut = np.array([np.searchsorted(r, ranks) for r in runs]).reshape(len(runs), -1)
    return table_of_ends(cut, np.array([r.size for r in runs]), outputs)


def _runs(rng: Any, pattern: str, count: int, size: int) -> list[Any]:
    ranks = np.arange(count * size)
    if pattern == "random":
        rng.shuffle(ranks)
    elif pattern == "reversed":
        ranks = ranks[::-1]
    elif pattern == "strided":
        ranks = ranks.reshape(size, count).T.reshape(-1)
    elif pattern == "grouped":  # what lies in a group of runs belongs to every other group's place
        step = Grouping.of(count).size
        order = np.argsort(np.arange(count) % step, kind="stable")
        ranks = ranks.reshape(count, size)[order].reshape(-1)
    return [np.sort(part) for part in ranks.reshape(count, size)]


@given(
    seed=st.integers(0, 2**32 - 1),
    pattern=st.sampled_from(["random", "sorted", "reversed", "strided", "grouped"]),
    count=st.integers(1, 40),
    outputs=st.integers(1, 40),
)
@settings(max_examples=100, deadline=None)
def test_three_rounds_deliver_what_one_does(seed: int, pattern: str, count: int, outputs: int) -> None:
    size = 60
    runs = _runs(np.random.default_rng(seed), pattern, count, size)
    ends = _ends(runs, outputs)
    expected = _sent(runs, straight(ends))
    own = Grouping.of(count)
    targets = Grouping(outputs, own.size)
    first = [
        _sent([runs[i] for i in own.members(g)], shared_out(ends, own, targets, g)) for g in range(own.groups)
    ]
    for middle in (m for group in first for m in group):
        assert middle.size <= size + targets.groups  # even, whatever the pattern
    second = [_sent([group[m] for group in first], swapped(ends, own, targets, m)) for m in range(own.size)]
    found = []
    for g in range(targets.groups):
        held = [middle[g] for middle in second]
        assert max(h.size for h in held) - min(h.size for h in held) <= own.groups
        found += _sent(held, gathered(ends, own, targets, g))
    assert len(found) == len(expected)
    for got, wanted in zip(found, expected, strict=True):
        assert np.array_equal(got, wanted)


@pytest.mark.parametrize(("count", "size", "groups"), [(1, 1, 1), (9, 3, 3), (10, 4, 3), (1000, 32, 32)])
def test_groups_are_about_the_root(count: int, size: int, groups: int) -> None:
    grouping = Grouping.of(count)
    assert (grouping.size, grouping.groups) == (size, groups)
    assert [i for g in range(groups) for i in grouping.members(g)] == list(range(count))
