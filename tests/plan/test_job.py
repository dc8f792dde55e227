"""Jobs: what is accepted, and what is refused with a reason and the nearest that can be planned."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import lanesort
from lanesort import plan
from lanesort.errors import ArgumentTypeError, ArgumentValueError
from lanesort.plan.job import Job, targets

NEAREST = "the nearest that can be planned is "

REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("top_k", {"shape": (2, 10), "k": 11}, "k is 11 and a row has n = 10"),
    ("top_k", {"shape": (2, 10), "k": -1}, "k is -1"),
    ("top_k", {"shape": 10, "k": 2, "dtype": "bfloat16"}, "dtype is bfloat16; a5 sorts and merges rows"),
    (
        "top_k",
        {"shape": 10, "k": 2, "dtype": "float32", "target": "kirin9030"},
        "sorts and merges rows of float16",
    ),
    ("sort", {"shape": 10, "dtype": "int16", "target": "cpu"}, "cpu sorts and merges rows of float32"),
    ("sort", {"shape": 10, "dtype": "float16", "target": "cpu"}, "cpu sorts and merges rows of float32"),
    ("sort", {"shape": 10, "descending": False}, "descending is False"),
    ("sort", {"shape": 10, "dtype": "float64", "target": "cayman"}, "Sort takes"),
    ("sort", {"shape": 10, "dtype": "int64", "target": "cayman"}, "dtype is int64"),
    ("sort", {"shape": 10, "dtype": "uint8", "target": "cayman"}, "dtype is uint8"),
    ("sort", {"shape": 10, "dtype": "float8_e5m2", "target": "cayman"}, "dtype is float8_e5m2"),
    ("nonzero", {"shape": 10, "target": "a2a3"}, "PTO has no instruction"),
    ("nonzero", {"shape": 10, "target": "sunda"}, "has no NonzeroWithCount"),
    ("nonzero", {"shape": 10, "dtype": "int8"}, "NonzeroWithCount takes fp32, i32"),
    ("top_k", {"shape": 3 << 30, "k": 5}, "positions are 32-bit"),
    ("nonzero", {"shape": (1 << 20, 1 << 20)}, "positions are 32-bit"),
    ("sort", {"shape": (1 << 20, 1 << 11), "target": "cayman"}, "words are needed"),
    (
        "sort",
        {"shape": 10, "target": "cayman", "choices": {"sort.zero-order": "signed"}},
        "tells zeros apart under 'total' only",
    ),
    (
        "sort",
        {"shape": 10, "dtype": "bfloat16", "target": "cayman", "choices": {"sort.bf16-compare": "as-fp16"}},
        "no order of bfloat16",
    ),
]


@pytest.mark.parametrize(("op", "given", "reason"), REFUSED)
def test_refusals_name_the_reason_and_a_job_that_can_be_planned(
    op: str, given: dict[str, Any], reason: str
) -> None:
    with pytest.raises(ArgumentValueError, match="nearest") as refused:
        getattr(plan, op)(**given)
    text = str(refused.value)
    assert reason in text
    call = text.partition(NEAREST)[2]
    found = eval(call, {"lanesort": lanesort})  # the message promises that this can be run
    assert isinstance(found, plan.Plan)
    assert found.job.call() == call


@pytest.mark.parametrize("target", ["tonga", "a7", "", "CAYMAN"])
def test_unknown_targets_are_refused_with_those_known(target: str) -> None:
    with pytest.raises(ArgumentValueError, match="known are a2a3, a5, cpu"):
        plan.top_k(shape=10, k=1, target=target)


@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        ({"shape": (2, -1), "k": 1}, ArgumentValueError, "none below 0"),
        ({"shape": (), "k": 1}, ArgumentValueError, "give one size or more"),
        ({"shape": "16x8", "k": 1}, ArgumentTypeError, "a whole number"),
        ({"shape": (2, 2.5), "k": 1}, ArgumentTypeError, "a whole number"),
        ({"shape": 10, "k": True}, ArgumentTypeError, "k is True"),
        ({"shape": 10, "k": 2.0}, ArgumentTypeError, "k is 2.0"),
        ({"shape": 10, "k": 2, "dtype": "complex64"}, ArgumentTypeError, "no order"),
        ({"shape": 10, "k": 2, "dtype": "nonsense"}, ArgumentValueError, "dtype is 'nonsense'; known are"),
        ({"shape": 10, "k": 2, "choices": {"no.such": "x"}}, ArgumentValueError, "no unpinned behaviour"),
        ({"shape": 10, "k": 2, "choices": {"pto.merge-tie": "x"}}, ArgumentValueError, "on offer"),
        ({"shape": 10, "k": 2, "alternative": "fastest"}, ArgumentValueError, "this job has 'whole"),
    ],
)
def test_bad_arguments_are_named(given: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        plan.top_k(**given)


def test_a_job_knows_its_rows_and_its_order() -> None:
    job = Job.of("top_k", (2, 3, 100), "fp16", "a5", k=7)
    assert (job.rows, job.width, job.result_shape) == (6, 100, (2, 3, 7))
    assert job.dtype == np.float16
    assert (job.policy.nan, job.policy.tie, job.policy.descending) == ("sign-magnitude", "low", True)
    assert Job.of("sort", 5, "bf16", "cayman", choices={"sort.nan-order": "total"}).policy.nan == "total"
    assert Job.of("nonzero", (3, 4), "i32", "cayman").width == 12


def test_every_target_plans_something() -> None:
    for target in targets():
        dtype = "float16" if target.startswith("kirin") else "float32"
        assert plan.top_k(shape=(2, 50), k=3, dtype=dtype, target=target).cost.instructions > 0
