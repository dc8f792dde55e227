"""The compactor closes the gaps of every mask, and its cursor is the count."""

from __future__ import annotations

import numpy as np
import pytest

from lanesort.datapath.compactor import BLOCK_LANES, close_gaps, compact, detect, trace_blocks
from lanesort.errors import ArgumentValueError


def test_every_mask_of_sixteen_lanes_is_compacted():
    masks = np.arange(1 << BLOCK_LANES)[:, None] >> np.arange(BLOCK_LANES) & 1 == 1
    packed = close_gaps(masks, np.broadcast_to(np.arange(BLOCK_LANES), masks.shape))[-1]
    useful = np.arange(BLOCK_LANES) < masks.sum(axis=1)[:, None]
    np.testing.assert_array_equal(packed[useful], np.nonzero(masks)[1])


@pytest.mark.parametrize("size", [0, 1, 15, 16, 17, 1000])
@pytest.mark.parametrize("share", [0.0, 0.2, 1.0])
def test_positions_and_count(size, share):
    x = (np.random.default_rng(size).random(size) < share).astype(np.int32)
    done = compact(x, offset=-5)
    np.testing.assert_array_equal(done.positions, np.flatnonzero(x) - 5)
    assert done.cursor == np.count_nonzero(x)
    assert done.blocks == -(-size // BLOCK_LANES)


def test_blocks_are_taken_in_parts(monkeypatch):
    monkeypatch.setattr("lanesort.datapath.compactor._BLOCKS_AT_ONCE", 2)
    x = np.random.default_rng(2).integers(0, 2, 500)
    np.testing.assert_array_equal(compact(x).positions, np.flatnonzero(x))


@pytest.mark.parametrize(
    ("rule", "counted"),
    [
        ("value", [False, False, True, True]),
        ("ordered", [False, False, False, True]),
        ("bits", [False, True, True, True]),
    ],
)
def test_what_counts_as_nonzero(rule, counted):
    for dtype in (np.float16, np.float32, np.float64):
        assert detect(np.array([0.0, -0.0, np.nan, -2.0], dtype), rule).tolist() == counted


def test_float_and_integer_bodies_differ_in_the_detect_alone():
    ints, floats = compact(np.ones(40, np.int32)).counts, compact(np.ones(40, np.float32)).counts
    assert set(ints) ^ set(floats) == {"ivp_neqn_2x32", "ivp_olen_2xf32", "ivp_lt2nx8"}
    assert {name: ints[name] for name in set(ints) & set(floats)} == {
        name: floats[name] for name in set(ints) & set(floats)
    }
    assert ints["ivp_packvr2nx24"] == 3


def test_a_trace_shows_the_selects():
    block = trace_blocks(np.array([0, 0, 0, 7, 5], np.int32), offset=10)[0]
    assert block.kept == 2
    assert block.lanes[:, :2].tolist() == [[0, 1], [0, 1], [13, 14], [13, 14], [13, 14]]


def test_bad_arguments_are_named():
    with pytest.raises(ArgumentValueError, match="accepted are 'value'"):
        compact(np.zeros(3), "any")
    with pytest.raises(ArgumentValueError, match=r"shape \(1, 3\)"):
        compact(np.zeros((1, 3)))
