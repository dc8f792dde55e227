"""Plans for PTO: ties and tiling, blocks of a launch, flags, counts, limits."""

from __future__ import annotations

import re

import numpy as np
import pytest

import lanesort
from lanesort import plan, pto
from lanesort.plan.schedule import schedule
from lanesort.pto.check import check
from tests.patterns import Array
from tests.plan.hazards import hazards

LATER = {"pto.merge-tie": "later-when-exhausted"}


def tied(shape: tuple[int, int]) -> Array:
    return np.random.default_rng(5).integers(0, 4, shape).astype(np.float32)


@pytest.mark.parametrize("target", ["a2a3", "a5", "cpu"])
def test_case_12_the_result_does_not_depend_on_tiling(target: str) -> None:
    """Of equal scores the lowest positions are chosen, whichever list a stopped merge prefers."""
    equal = np.ones((1, 20000), np.float32)
    for choices in ({}, LATER):
        planned = plan.top_k(shape=(1, 20000), k=5000, target=target, choices=choices)
        for name in [program.name for program in planned.alternatives][:2]:
            assert planned.using(name).run(equal).indices[0].tolist() == list(range(5000))


def test_registering_lists_in_reverse_is_what_keeps_the_order() -> None:
    """Run under the other choice, the program of one gives another order."""
    x = tied((1, 20000))
    planned = plan.sort(shape=x.shape, target="a5")
    arguments = {
        "scores": x,
        "values": np.zeros_like(x),
        "indices": np.zeros(x.shape, np.int32),
        "work": np.zeros(planned.chosen.work_elements, np.float32),
    }
    found = pto.run(planned.program, arguments, choices=LATER)
    assert found.outputs["values"].tobytes() == planned.run(x).values.tobytes()
    assert not np.array_equal(found.outputs["indices"], planned.run(x).indices)
    assert plan.sort(shape=x.shape, target="a5", choices=LATER).check(x)


@pytest.mark.parametrize(("width", "k"), [(200, 200), (20000, 50), (20000, 9000)])
def test_blocks_of_a_launch_share_the_rows(width: int, k: int) -> None:
    x = tied((5, width))
    planned = plan.top_k(shape=x.shape, k=k, target="a2a3")
    values, indices = np.zeros((5, k), np.float32), np.zeros((5, k), np.int32)
    for block in range(3):
        arguments = {"scores": x, "values": values, "indices": indices}
        if planned.chosen.work_elements:
            arguments["work"] = np.zeros(3 * planned.chosen.work_elements, np.float32)
        found = pto.run(planned.program, arguments, block=(block, 3)).outputs
        values, indices = found["values"], found["indices"]
    best = lanesort.top_k(x, k)
    assert np.array_equal(indices, best.indices)
    assert np.array_equal(values, best.values)


@pytest.mark.parametrize("target", ["a2a3", "a5"])
@pytest.mark.parametrize(("width", "k"), [(100, 7), (8192, 2048), (20000, 50)])
def test_every_wait_is_needed(target: str, width: int, k: int) -> None:
    """The checker finds nothing, and finds something as soon as one line of the loop is missing."""
    text = plan.top_k(shape=(4, width), k=k, target=target).program
    assert not check(pto.parse(text), manual=True).findings
    lines = text.splitlines()
    flags = [number for number, line in enumerate(lines) if re.search(r"wait_flag", line)]
    rng = np.random.default_rng(1)
    for number in rng.choice(flags, 4, replace=False):
        without = pto.parse("\n".join(lines[:number] + lines[number + 1 :]))
        assert check(without, manual=True).findings, lines[number]


def traced(shape: tuple[int, int], k: int, text: str, work: int) -> list[str]:
    arguments = {"scores": tied(shape), "values": np.zeros((shape[0], k), np.float32)}
    arguments["indices"] = np.zeros((shape[0], k), np.int32)
    if work:
        arguments["work"] = np.zeros(work, np.float32)
    return hazards(pto.run(text, arguments, trace=True).trace)


@pytest.mark.parametrize(("width", "k"), [(100, 7), (20000, 50), (12000, 9000), (20000, 20000)])
def test_no_run_has_a_hazard(width: int, k: int) -> None:
    """By the clocks of a run, where the sizes of windows are known."""
    shape = (2, width)
    planned = plan.top_k(shape=shape, k=k, target="a2a3")
    text, work = planned.program, planned.chosen.work_elements
    assert traced(shape, k, text, work) == []
    lines = text.splitlines()
    handed = [n for n, line in enumerate(lines) if re.search(r'set_flag."PIPE_V", "PIPE_MTE3"', line)]
    number = handed[0]
    assert "wait_flag" in lines[number + 1]
    without = "\n".join(lines[:number] + lines[number + 2 :])
    assert traced(shape, k, without, work), "without the flag there is one"


@pytest.mark.parametrize(("shape", "k"), [((5, 8192), 2048), ((1, 300), 300), ((3, 50000), 100)])
def test_steps_count_what_runs(shape: tuple[int, int], k: int) -> None:
    x = tied(shape)
    planned = plan.top_k(shape=shape, k=k, target="a5")
    counted = planned.cost.by_operation
    for name, times in planned.check(x).counts.items():
        assert counted[name][0] == times


def test_loops_that_depend_on_data_are_counted_at_their_most() -> None:
    planned = plan.sort(shape=(2, 40000), target="a5")
    found = planned.check(np.random.default_rng(0).standard_normal((2, 40000)).astype(np.float32))
    assert found
    assert 0 < found.counts["tmrgsort"] <= planned.cost.by_operation["tmrgsort"][0]


def test_loads_alternate_between_two_buffers() -> None:
    planned = plan.top_k(shape=(4, 4096), k=10, target="a5")
    loads = {step.writes for step in planned.steps if step.op == "tload"}
    assert len(loads) == 2
    slots = schedule(planned.steps, planned.rates)
    second = [slot for slot in slots if slot.step.op == "tload"][1]
    first_sort = next(slot for slot in slots if slot.step.op == "tsort32")
    assert second.start < first_sort.stop, "the next row is loaded while the first is sorted"


@pytest.mark.parametrize("k", [1, 2047, 2048, 4095, 4096, 8192, 8193, 10000])
@pytest.mark.parametrize("target", ["a2a3", "kirin9030"])
def test_k_around_the_length_of_a_list(k: int, target: str) -> None:
    dtype = "float16" if target == "kirin9030" else "float32"
    x = tied((1, 10000)).astype(dtype)
    assert plan.top_k(shape=x.shape, k=k, dtype=dtype, target=target).check(x)


def test_a_plan_stays_inside_the_unified_buffer() -> None:
    for target, dtype in (("a2a3", "float32"), ("a5", "float16"), ("kirin9030", "float16")):
        for width in (8192, 100000):
            for k in (100, 4095, 8192):
                planned = plan.top_k(shape=width, k=k, dtype=dtype, target=target)
                for program in planned.alternatives:
                    assert program.stop_bytes <= program.memory_bytes
