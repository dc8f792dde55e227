"""What networks do with NaN is shown for each of them, and only with NaN do they differ."""

from __future__ import annotations

import numpy as np
import pytest

from lanesort.datapath.lanes import run
from lanesort.datapath.nan_order import NAN_EXAMPLE, demonstrate, nan_outcomes
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


def test_the_demonstration_groups_networks_that_agree():
    first, *lines = demonstrate(descending=True)
    assert first == "3 nan 1 nan 2 inf 0 4 (0 1 2 3 4 5 6 7): the input, descending"
    assert sum(line.split(": ")[1].count(",") + 1 for line in lines) == 24
    assert len(lines) == len({line.split(": ")[0] for line in lines}) > 4
