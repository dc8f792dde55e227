"""Networks sort, and have the sizes that are known for them."""

from __future__ import annotations

from itertools import chain

import numpy as np
import pytest

from lanesort.datapath.network import FAMILIES, MAX_LANES, Network, network, stage_of
from lanesort.datapath.proof import EXHAUSTIVE_WIDTH, prove
from lanesort.datapath.smallest import SMALLEST
from lanesort.errors import ArgumentValueError

LARGE = tuple(name for name, kind in FAMILIES.items() if kind.most == MAX_LANES)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_width_up_to_16_is_proved(family):
    for width in range(17):
        proof = prove(network(family, width))
        assert (proof.sorts, proof.exhaustive, proof.inputs) == (True, True, 2**width)


@pytest.mark.parametrize("family", LARGE)
@pytest.mark.parametrize("width", [17, 20, 23, EXHAUSTIVE_WIDTH])
def test_larger_widths_are_proved_by_every_input(family, width):
    assert prove(network(family, width)).sorts


@pytest.mark.parametrize("family", LARGE)
@pytest.mark.parametrize("width", [25, 31, 32, 33, 100, 1000, 2048, 4095, 4096])
def test_wide_networks_sort_a_sample(family, width):
    proof = prove(network(family, width), samples=512)
    assert proof.sorts
    assert not proof.exhaustive


@pytest.mark.parametrize("family", FAMILIES)
def test_no_lane_is_touched_twice_in_a_stage(family):
    for stage in network(family, 16).stages:
        lanes = list(chain.from_iterable(stage))
        assert len(lanes) == len(set(lanes))


@pytest.mark.parametrize("lanes", SMALLEST)
def test_the_smallest_networks_have_the_known_number_of_comparators(lanes):
    assert network("smallest", lanes).comparators == SMALLEST[lanes]


@pytest.mark.parametrize(("log", "depth"), [(1, 1), (2, 3), (3, 6), (6, 21), (12, 78)])
def test_batchers_networks_have_their_depth_and_size(log, depth):
    width = 2**log
    bitonic = network("bitonic", width)
    assert (bitonic.depth, bitonic.comparators) == (depth, width // 2 * depth)
    merge_size = (log * log - log + 4) * 2 ** (log - 2) - 1
    for family in ("odd-even-merge", "merge-exchange"):
        assert (network(family, width).depth, network(family, width).comparators) == (depth, merge_size)


def test_bitonic_partners_are_a_power_of_two_away():
    for stage in network("bitonic", 64).stages:
        assert len(stage.distances) == 1
        assert max(stage.distances).bit_count() == 1


@pytest.mark.parametrize("family", LARGE)
def test_a_missing_comparator_is_found_out_with_an_input_that_shows_it(family):
    whole = network(family, 10)
    for number, stage in enumerate(whole.stages):
        stages = list(whole.stages)
        stages[number] = stage_of(list(stage)[1:])
        broken = Network(family, 10, whole.lanes, tuple(stages))
        # Bitonic lanes behind the width hold only padding, so some of its comparators do nothing.
        if max(next(iter(stage))) < 10 and family != "bitonic":
            proof = prove(broken)
            assert not proof.sorts
            assert proof.counterexample is not None
            assert len(proof.counterexample) == 10


def test_a_counterexample_really_comes_out_unsorted():
    empty = Network("none", 5, 5, ())
    assert prove(empty).counterexample == (1, 0, 0, 0, 0)
    wide = prove(Network("none", 40, 40, ()), samples=8)
    assert not wide.sorts
    assert wide.counterexample is not None
    assert np.any(np.diff(wide.counterexample) < 0)


@pytest.mark.parametrize(
    ("family", "width", "says"),
    [
        ("bubble", 4, "accepted are 'bitonic'"),
        ("bitonic", 4097, "it has 0 to 4096"),
        ("smallest", 17, "it has 0 to 16"),
        ("bitonic", -1, "it has 0 to 4096"),
    ],
)
def test_what_is_not_on_offer_is_refused(family, width, says):
    with pytest.raises(ArgumentValueError, match=says):
        network(family, width)
