"""Cuts by rank on sorted runs, against sorting everything."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lanesort import reference
from lanesort.distributed.split import (
    balanced_sizes,
    cuts,
    digit_counts,
    digit_widths,
    index_windows,
    key_windows,
    narrowed,
    own_counts,
    search,
)
from lanesort.order import KEY_NAN_POLICIES, Order, key_class
from tests.patterns import DTYPES, PATTERNS


def _owned(windows: Any, bits: int, ranks: Any, shared: bool, room: int) -> list[Any]:
    state = search(ranks.tolist(), bits, shared)
    for width in digit_widths(bits, len(ranks), room):
        before, counts = state, [digit_counts(w(state), state, width) for w in windows]
        state = narrowed(before, sum(counts))
    assert state.shift == 0
    return [own_counts(before, state, own) for own in counts]


def _table(runs: list[Any], ranks: Any, order: Order, indices: Any = None) -> Any:
    if not ranks.size:
        return np.empty((len(runs), 0), np.int64)
    room = 1 << 13  # digits of 9 bits, of which some are left over
    bits = key_class(runs[0].dtype).bits
    owns = _owned([lambda s, r=r: key_windows(r, s, order) for r in runs], bits, ranks, True, room)
    if indices is not None:
        windows = [
            lambda s, i=i, own=own: index_windows(i, own, order) for i, own in zip(indices, owns, strict=True)
        ]
        owns = _owned(windows, 64, ranks, False, room)
    return cuts(ranks, np.stack(owns))


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
    table = _table(runs, ranks, order)
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


@given(seed=st.integers(0, 2**32 - 1), tie=st.sampled_from(["low", "high"]), pieces=st.integers(2, 9))
@settings(max_examples=60, deadline=None)
def test_equal_keys_are_cut_by_their_indices(seed: int, tie: Any, pieces: int) -> None:
    rng = np.random.default_rng(seed)
    order = Order(tie=tie)
    runs, indices = [], []
    for length in rng.integers(0, 40, 4):
        values = rng.integers(0, 4, length).astype(np.int16)
        given_ = rng.integers(0, 30, length)
        by = np.lexsort((-given_ if tie == "high" else given_, values))
        runs.append(values[by])
        indices.append(given_[by])
    whole, travelling = np.concatenate(runs), np.concatenate(indices)
    ranks = np.cumsum(balanced_sizes(whole.size, pieces))[:-1]
    table = _table(runs, ranks, order, indices)
    expected = np.lexsort((-travelling if tie == "high" else travelling, whole))  # stable: by run
    starts = np.cumsum([0, *(r.size for r in runs[:-1])])
    for place, rank in enumerate(ranks):
        head = np.concatenate([s + np.arange(c) for s, c in zip(starts, table[:, place], strict=True)])
        assert np.array_equal(np.sort(head), np.sort(expected[:rank]))


def test_digits_cover_the_key_and_their_candidates_fit() -> None:
    for bits in (8, 16, 32, 64):
        for ranks in (0, 1, 63, 999, 100_000):
            for largest in (0, 100, 1 << 16, 1 << 24):
                widths = digit_widths(bits, ranks, largest)
                assert sum(widths) == bits
                assert all(ranks << w <= 1 << 19 or w <= 4 for w in widths[1:])
