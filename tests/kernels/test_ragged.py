"""Rows of unequal length, against a row at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lanesort as ls
from tests.patterns import DTYPES, PATTERNS

NAMES = ("float32", "bfloat16", "int16", "uint32", "float64", "datetime64", "uint8")


@given(
    seed=st.integers(0, 2**32 - 1),
    name=st.sampled_from(NAMES),
    use=st.sampled_from(["lengths", "where", "both"]),
    k=st.integers(0, 30),
    tie=st.sampled_from(["low", "high"]),
    by=st.sampled_from([True, "index"]),
)
@settings(max_examples=200, deadline=None)
def test_only_what_takes_part_appears(seed: int, name: str, use: str, k: int, tie: Any, by: Any) -> None:
    rng = np.random.default_rng(seed)
    x = PATTERNS["mostly_numbers"](rng, (5, 20), DTYPES[name])
    lengths = rng.integers(0, 21, 5) if use != "where" else None
    where = rng.random((5, 20)) < 0.6 if use != "lengths" else None
    given = {"lengths": lengths, "where": where}
    found = ls.top_k(x, k, tie=tie, sorted=by, **given)
    whole = ls.sort_pairs(x, descending=True, tie=tie, **given)
    for r in range(5):
        taking = np.ones(20, bool) if where is None else where[r].copy()
        if lengths is not None:
            taking[lengths[r] :] = False
        kept = np.flatnonzero(taking)
        order = kept[ls.argsort(x[r][kept], descending=True, tie=tie)]
        assert whole.valid[r] == kept.size
        assert whole.indices[r].tolist() == order.tolist() + [-1] * (20 - kept.size)
        chosen = order[:k] if by is True else np.sort(order[:k])
        assert found.valid[r] == chosen.size
        assert found.indices[r].tolist() == chosen.tolist() + [-1] * (k - chosen.size)
        assert found.values[r][: chosen.size].tobytes() == x[r][chosen].tobytes()


def test_fills_follow_the_dtype() -> None:
    for name in NAMES:
        values = ls.sort(np.zeros(3, DTYPES[name]), lengths=1)
        if DTYPES[name].kind in "iub":
            assert values[1:].tolist() == [0, 0]
        else:
            assert (values[1:] != values[1:]).all()


def test_fills_can_be_chosen() -> None:
    x = np.array([[5, 7], [1, 2]], np.int16)
    found = ls.top_k(x, 2, lengths=[1, 0], fill_value=-3, fill_index=9, index_dtype=np.uint8)
    assert found.values.tolist() == [[5, -3], [-3, -3]]
    assert found.indices.tolist() == [[0, 9], [9, 9]]
    assert found.valid.tolist() == [1, 0]
    assert ls.argsort(x, lengths=[1, 0], index_dtype=np.uint8)[1].tolist() == [255, 255]


def test_the_axis_of_a_mask_is_that_of_the_array() -> None:
    x = np.array([[3.0, 1.0], [2.0, 5.0], [4.0, 0.0]])
    found = ls.sort_pairs(x, axis=0, where=np.array([True, True, False])[:, None])
    assert found.indices.tolist() == [[1, 0], [0, 1], [-1, -1]]
    assert found.valid.tolist() == [2, 2]
    assert np.isnan(found.values[2]).all()


def test_more_than_there_are_is_filled_up() -> None:
    found = ls.top_k(np.array([1.0, 2.0]), 4, lengths=2)
    assert found.indices.tolist() == [1, 0, -1, -1]
    with pytest.raises(ValueError, match="k is 4 but rows have n = 2"):
        ls.top_k(np.array([1.0, 2.0]), 4)
