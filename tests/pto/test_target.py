"""Targets: limits, thresholds, default choices."""

from __future__ import annotations

import numpy as np
import pytest

from lanesort import pto
from lanesort.errors import ArgumentTypeError, ArgumentValueError
from lanesort.evidence import facts, unpinned_behaviours
from lanesort.pto import TARGETS, find_target


def test_sizes_of_the_unified_buffer() -> None:
    sizes = {name: target.ub_bytes for name, target in TARGETS.items()}
    assert sizes == {
        "a2a3": 196608,
        "a5": 262144,
        "cpu": None,
        "kirin9030": 131072,
        "kirin_x90": 131072,
        "kirin_dev0000": 131072,
    }


@pytest.mark.parametrize(
    ("target", "dtype", "longest"),
    [("a2a3", "float32", 8160), ("a2a3", "float16", 8160), ("a5", "float32", 2040), ("a5", "float16", 4080)],
)
def test_tmp_holds_whole_rows_up_to_a_threshold(target: str, dtype: str, longest: int) -> None:
    assert pto.tsort32_tmp_columns(longest - 1, dtype, target) == -(-longest // 32) * 32
    assert pto.tsort32_tmp_columns(longest + 1, dtype, target) == 32
    assert find_target(target).small_row(longest, np.dtype(dtype).itemsize)
    assert not find_target(target).small_row(longest + 1, np.dtype(dtype).itemsize)


def test_tmp_is_not_needed_for_whole_blocks_nor_by_the_simulator() -> None:
    assert pto.tsort32_tmp_columns(96, "float32") == 0
    assert pto.tsort32_tmp_columns(97, "float32", "cpu") == 0
    assert pto.tmrgsort_tmp_columns(64, 64, 128, 2) == 258


def test_choices_of_the_caller_win_over_those_of_the_target() -> None:
    cpu = find_target("cpu")
    assert cpu.choose("pto.tsort32")["pto.tie-order"] == "index-value"
    assert cpu.choose("pto.tsort32")["pto.nan-order"] == "sign-magnitude"
    assert cpu.choose("pto.tmrgsort")["pto.nan-order"] == "compare-false"
    given = {"pto.nan-order": "sign-magnitude", "pto.tie-order": "positional"}
    assert cpu.choose("pto.tmrgsort", given)["pto.nan-order"] == "sign-magnitude"
    assert cpu.choose("pto.tsort32", given)["pto.tie-order"] == "positional"
    assert find_target("a5").choose("pto.tsort32")["pto.tie-order"] == "positional"


def test_every_open_behaviour_and_the_facts_are_in_the_ledger() -> None:
    assert {entry.id for entry in unpinned_behaviours("pto")} == {
        "pto.tie-order",
        "pto.merge-tie",
        "pto.nan-order",
        "pto.pad-bits",
        "pto.half-pad-slot",
        "pto.executed-unasked",
        "pto.exhausted-empty",
        "pto.exhausted-tail",
    }
    for about in ("pto.tsort32", "pto.tmrgsort", "pto.target", "pto.vbitsort", "pto.vmrgsort4", "pto.fault"):
        assert facts(about)


def test_unknown_names_are_refused() -> None:
    with pytest.raises(ArgumentValueError, match="'a2a3', 'a5', 'cpu'"):
        find_target("a3")
    with pytest.raises(ArgumentTypeError, match="whole number"):
        pto.tsort32_tmp_columns(True, "float32")
    with pytest.raises(ArgumentValueError, match="negative"):
        pto.tmrgsort_tmp_columns(-2)
