"""Cases 54 and 56 in so far as they concern the library. Each test bears the number of its case."""

from __future__ import annotations

import numpy as np
import pytest

import lanesort as ls


def test_case_54_k_beyond_n_is_refused_and_zero_is_legal() -> None:
    with pytest.raises(ValueError, match=r"k is 4 but rows have n = 3"):
        ls.top_k(np.zeros((2, 3)), 4)
    assert ls.top_k(np.zeros((2, 3)), 0).values.shape == (2, 0)
    assert ls.top_k(np.zeros((2, 0)), 0).indices.shape == (2, 0)


@pytest.mark.parametrize("k", [1, 3, 16384, 16385, 128256])
def test_case_56_a_vocabulary_and_any_k(k: int) -> None:
    x = np.random.default_rng(56).integers(0, 50_000, 128256).astype(np.float32)
    expected = np.argsort(-x, kind="stable")[:k]
    assert np.array_equal(ls.top_k(x, k).indices, expected)
