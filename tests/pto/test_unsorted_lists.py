"""TMRGSORT on lists that are not sorted, and on those that share memory with dst."""

from __future__ import annotations

import numpy as np
import pytest

from lanesort import pto
from lanesort.errors import RuleViolations
from lanesort.pto.merging import Merge
from lanesort.pto.sizes import merge_operands

from .test_tmrgsort import merged, run


def test_dst_may_be_one_of_the_sources(engine: str) -> None:
    buffer = np.asarray(run([5, 1, 0, 0])).copy()
    operands = merge_operands([4, 4], np.float32)
    Merge(operands, "a2a3", engine).run(buffer, [buffer, np.asarray(run([4, 3], 2))])
    assert pto.pairs(buffer).indices.tolist() == [[0, 2, 3, 1]]


def test_unsorted_lists_are_refused_with_the_first_offending_pair() -> None:
    with pytest.raises(RuleViolations, match=r"src1: pair 2 holds 4.0, which belongs before pair 1 with 3.0"):
        merged([run([5, 1]), run([9, 3, 4], 2)])
    blocks = np.arange(128, 0, -1, dtype=np.float32)
    blocks[70] = 500
    with pytest.raises(RuleViolations, match="block 2: pair 6 holds 500"):
        pto.tmrgsort(run(blocks), 64)


@pytest.mark.parametrize("engine", ["native", "reference", "datapath"])
def test_unsorted_lists_are_merged_by_their_heads_if_that_is_wanted(engine: str) -> None:
    lists = [run([5, 1]), run([3, 9, 4], 2)]
    indices, executed, dst = merged(lists, check_sorted=False, target="cpu", engine=engine)
    assert (indices, executed) == ([0, 2, 3, 4, 1], (2, 3, 0, 0))
    assert bool(dst.warnings) == (engine == "native")
    assert all("the reference engine ran instead" in warning for warning in dst.warnings)
    blocks = np.arange(128, 0, -1, dtype=np.float32)
    blocks[70] = 500
    tile = pto.tmrgsort(run(blocks), 64, check_sorted=False, engine=engine)
    assert pto.pairs(tile).indices[0].tolist() == list(range(128))


def test_what_is_said_of_lists_that_dst_overwrites_is_what_they_held(engine: str) -> None:
    unsorted = np.asarray(run([5, 1, 2, 0])).copy()
    operands = merge_operands([8, 4], np.float32)
    with pytest.raises(
        RuleViolations, match=r"src0: pair 2 holds 2\.0, which belongs before pair 1 with 1\.0"
    ):
        Merge(operands, "a2a3", engine).run(unsorted, [unsorted, np.asarray(run([8, 7], 4))])
    assert unsorted.tobytes() == np.asarray(run([5, 1, 2, 0])).tobytes()
    half = np.asarray(run([5, 1, np.nan, 0], 0, np.float16)).copy()
    half[0, 3::4] = 1
    half.view(np.uint16)[0, 1:12:4] = [0, 0, 7]
    operands = merge_operands([12, 8], np.float16, columns=12)
    outcome = Merge(operands, "cpu", engine, check_sorted=False).run(
        half[:, :12], [half[:, :12], np.asarray(run([8, 7], 4, np.float16))]
    )
    assert {"pto.half-pad-slot", "pto.nan-order"} <= set(outcome.unpinned)


def test_a_tie_early_in_unsorted_lists_is_open(engine: str) -> None:
    lists = [run([-1, np.inf, 0, 3, 2]), run([-1, np.inf], 8)]
    assert "pto.merge-tie" in merged(lists, exhausted=True, check_sorted=False, engine=engine)[2].unpinned


@pytest.mark.parametrize("choices", [{}, {"pto.nan-order": "compare-false"}])
def test_lists_merged_twice_may_share_memory_with_dst(choices: dict[str, str]) -> None:
    lists = [np.asarray(run(values, first)) for values, first in (([5, np.nan], 0), ([4, 7], 2))]
    wanted = np.asarray(merged(lists, choices=choices, check_sorted=False)[2])
    buffer = np.zeros((1, 8), np.float32)
    buffer[:, :4], buffer[:, 4:] = lists
    merge = Merge(merge_operands([4, 4], np.float32), "a2a3", "native", choices, check_sorted=False)
    merge.run(buffer, [buffer[:, :4], buffer[:, 4:]])
    assert buffer.tobytes() == wanted.tobytes()
