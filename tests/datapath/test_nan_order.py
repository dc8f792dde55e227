"""What networks do with NaN is shown for each of them, and only with NaN do they differ."""

from __future__ import annotations

import numpy as np
import pytest

from lanesort.datapath.lanes import run
from lanesort.datapath.nan_order import NAN_EXAMPLE, nan_outcomes
from lanesort.datapath.network import network
from lanesort.errors import ArgumentValueError


def test_nan_outcomes_differ_by_network_and_hold_without_nan():
    given = {
        (o.family, o.exchange, o.stable): o.values.tobytes()
        for o in nan_outcomes(NAN_EXAMPLE, descending=True)
    }
    assert len(given) == 4 * 3 * 2
    assert len(set(given.values())) > 4
    numbers = np.array([3, 1, 2, 0], np.float16)
    for outcome in nan_outcomes(numbers):
        assert outcome.values.tolist() == [0, 1, 2, 3]
        assert outcome.values.dtype == np.float16
        assert outcome.indices.tolist() == [3, 1, 2, 0]
    with pytest.raises(ArgumentValueError, match=r"shape \(1, 4\)"):
        list(nan_outcomes(numbers[None]))


def test_the_bits_of_a_nan_come_out_as_they_went_in():
    row = NAN_EXAMPLE
    for outcome in nan_outcomes(row, families=("bitonic",)):
        if outcome.exchange != "num":
            assert outcome.values.tobytes() == row[outcome.indices].tobytes()
    assert run(network("bitonic", 8), row[None], np.arange(8)[None])[0].shape == (1, 8)
