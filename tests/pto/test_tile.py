"""The tile of pairs: layout, taking apart, putting together."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from lanesort import pto
from lanesort.errors import ArgumentTypeError, ArgumentValueError
from lanesort.pto.tile import columns_per_pair


@given(data=st.data())
def test_pairs_of_a_tile_are_what_it_was_made_of(data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from([np.float32, np.float16, np.int32, np.int16, ml_dtypes.bfloat16]))
    shape = data.draw(st.tuples(st.integers(0, 3), st.integers(0, 9)))
    values = data.draw(hnp.arrays(f"u{np.dtype(dtype).itemsize}", shape)).view(dtype)
    indices = data.draw(hnp.arrays(np.uint32, shape))
    tile = pto.tile(values, indices)
    found = pto.pairs(tile)
    assert found.values.tobytes() == values.tobytes()
    assert found.indices.tobytes() == indices.tobytes()
    assert tile.shape == (shape[0], shape[1] * columns_per_pair(dtype))


def test_bytes_of_a_pair() -> None:
    assert np.asarray(pto.tile([1.5], [0x01020304], np.float32)).tobytes().hex() == "0000c03f04030201"
    assert np.asarray(pto.tile([1.5], [0x01020304], np.float16)).tobytes().hex() == "003e000004030201"


def test_one_row_of_indices_serves_all() -> None:
    assert pto.pairs(pto.tile(np.zeros((2, 3), np.float32), [4, 5, 6])).indices.tolist() == [[4, 5, 6]] * 2


def test_only_produced_pairs_are_taken_out() -> None:
    tile = pto.Tile(np.zeros((1, 8), np.float32), 4)
    assert pto.pairs(tile).values.shape == (1, 2)
    assert pto.pairs(np.asarray(tile)).values.shape == (1, 4)
    assert tile.written.tolist() == [[True] * 4 + [False] * 4]
    assert tile.dtype == np.float32


def test_a_tile_is_an_array_for_numpy() -> None:
    tile = pto.Tile(np.ones((1, 8), np.float32), 8)
    assert np.asarray(tile) is tile.array
    assert np.array(tile, copy=True) is not tile.array
    assert np.asarray(tile, dtype=np.float64).dtype == np.float64


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: pto.pairs(np.zeros(4)), ArgumentTypeError, "float64"),
        (lambda: pto.pairs(np.zeros((1, 2, 4), np.float32)), ArgumentValueError, "shape"),
        (lambda: pto.tile(np.zeros(4), [0, 1, 2, 3]), ArgumentTypeError, "64"),
        (lambda: pto.tile(np.zeros(4, np.float32), [0, 1]), ArgumentValueError, r"\(1, 2\)"),
        (lambda: pto.tile(np.zeros(2, np.float32), [0, -1]), ArgumentValueError, "4294967295"),
        (lambda: pto.tile(np.zeros(2, np.float32), [0.5, 1]), ArgumentValueError, "integers"),
    ],
)
def test_bad_arguments_are_named(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()
