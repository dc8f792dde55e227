"""Cuts by rank on sorted runs, against sorting everything."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lanesort import reference
from lanesort.distributed.split import (
    balanced_sizes,
    candidates,
    count_below,
    cuts,
    local_counts,
    narrowed,
    search,
)
from lanesort.order import KEY_NAN_POLICIES, Order
from tests.patterns import DTYPES, PATTERNS


@given(
    seed=st.integers(0, 2**32 - 1),
    name=st.sampled_from(sorted(DTYPES)),
    pattern=st.sampled_from(sorted(PATTERNS)),
    nan=st.sampled_from(KEY_NAN_POLICIES),
    descending=st.booleans(),
    pieces=st.integers(1, 9),
)
@settings(max_examples=150, deadline=None)
def test_pieces_between_cuts_are_the_slices_of_the_whole(
    seed: int, name: str, pattern: str, nan: Any, descending: bool, pieces: int
) -> None:
    rng = np.random.default_rng(seed)
    order = Order(descending, nan)
    whole = PATTERNS[pattern](rng, (1, 120), DTYPES[name])
    places = np.sort(rng.integers(0, 121, 4))
    chunks = np.split(whole, places, axis=1)
    runs = [reference.sort_pairs(c, order).values[0] for c in chunks]
    starts = [0, *places.tolist()]
    positions = [reference.argsort(c, order)[0] + s for c, s in zip(chunks, starts, strict=True)]
    ranks = np.cumsum(balanced_sizes(120, pieces))[:-1]
    state = search(ranks.tolist(), whole.dtype)
    while state.shift:
        state = narrowed(state, sum(count_below(r, candidates(state), order) for r in runs))
    table = cuts(state, np.stack([local_counts(r, state, order) for r in runs]))
    assert table.sum(axis=0).tolist() == ranks.tolist()
    expected = reference.argsort(whole, order)[0]
    for place, rank in enumerate(ranks):
        head = np.concatenate([p[:c] for p, c in zip(positions, table[:, place], strict=True)])
        assert np.array_equal(np.sort(head), np.sort(expected[:rank]))


def test_sizes_differ_by_one_at_most() -> None:
    for total in range(30):
        for pieces in range(1, 9):
            sizes = balanced_sizes(total, pieces)
            assert sum(sizes) == total
            assert max(sizes) - min(sizes) <= 1
