"""The merge tree of a row, tried on numbers without any model."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lanesort import plan
from lanesort.plan.levels import levels
from lanesort.plan.tree import BLOCK, WAYS, Run, Tree, merge_tree, most_rounds
from tests.patterns import Array

LIMIT = 4095


def played(tree: Tree, row: Array) -> Array:
    """Do what a tree says with two buffers, where every pair is its value."""
    room = np.full((2, -(-row.size // BLOCK) * BLOCK), np.iinfo(np.int64).max)
    room[0, : row.size] = row
    for start in range(0, row.size, BLOCK):
        room[0, start : min(start + BLOCK, row.size)][::-1].sort()
    for buffer, block, pairs in tree.rounds:
        assert pairs % (WAYS * block) == 0
        assert block <= LIMIT
        groups = room[buffer, :pairs].reshape(-1, WAYS * block)
        room[1 - buffer, :pairs] = -np.sort(-groups, axis=1).reshape(-1)
    for buffer, start, pairs in tree.copies:
        room[1 - buffer, start : start + pairs] = room[buffer, start : start + pairs]
    for merge in tree.merges:
        assert 2 <= len(merge.sources) <= WAYS
        assert [run.start for run in merge.sources] == sorted(run.start for run in merge.sources)
        found = np.concatenate([taken(room, run) for run in merge.sources])
        target = merge.target
        room[target.buffer, target.start : target.start + target.pairs] = -np.sort(-found)[: target.pairs]
    return taken(room, tree.result)


def taken(room: Array, run: Run) -> Array:
    assert run.pairs <= room.shape[1]
    part = room[run.buffer, run.start : run.start + run.pairs]
    assert (np.diff(part) <= 0).all(), "a list has to be sorted"
    return part.copy()


@given(st.integers(1, 8192), st.data())
def test_a_tree_sorts_and_keeps_the_best(n: int, data: st.DataObject) -> None:
    keep = data.draw(st.one_of(st.just(n), st.integers(1, n)))
    rounds = data.draw(st.integers(0, most_rounds(n, LIMIT)))
    row = np.random.default_rng(n).integers(0, 1000, n)
    tree = merge_tree(n, keep, rounds, LIMIT)
    if tree is None:
        assert rounds < most_rounds(n, LIMIT), "as many rounds as there can be always work"
        return
    assert (played(tree, row) == -np.sort(-row)[:keep]).all()
    assert all(run.pairs <= LIMIT for merge in tree.merges for run in merge.sources)


def test_equal_blocks_need_no_copies() -> None:
    tree = merge_tree(8192, 2048, 4, LIMIT)
    assert tree is not None
    assert (len(tree.rounds), tree.copies, tree.merges, tree.result) == (4, (), (), Run(0, 0, 2048))


def test_lists_that_are_too_long_are_not_merged() -> None:
    assert merge_tree(8 * 2048, 8 * 2048, 1, 1000) is None


def test_levels_cover_the_row() -> None:

    for made in (
        plan.sort(shape=(2, 8191), target="a2a3"),
        plan.sort(shape=30000, target="a2a3"),
        plan.top_k(shape=30000, k=10, target="a5"),
        plan.sort(shape=5000, target="cayman"),
    ):
        found = levels(made.chosen)
        assert len(found[-1].runs) == 1
        assert found[-1].runs[0] == (0, made.job.width)
        assert len(found[0].runs) > 1
