"""Instruction counts of fixed cases against the baseline: a slower kernel is seen without a clock."""

from __future__ import annotations

import json
import shutil

import pytest
from bench.counts import CASES, compare, count


def test_instructions_are_those_stored() -> None:
    if shutil.which("valgrind") is None:
        pytest.skip("valgrind is not installed")
    found = count()
    assert list(found.instructions) == [case.id for case in CASES]
    if not found.baseline.exists():
        pytest.skip(f"no baseline {found.baseline.name}; python -m bench.counts --write stores one")
    stored = json.loads(found.baseline.read_text(encoding="utf-8"))
    assert compare(found.instructions, stored) == []


def test_complaints_name_the_case_and_both_counts() -> None:
    assert compare({"a": 1019, "b": 5}, {"a": 1000, "b": 5}) == []
    off = compare({"a": 1021, "b": 5, "c": 1}, {"a": 1000, "b": 5})
    assert off == [
        "a takes 1021 instructions, 1.021 × the 1000 stored",
        "c is only in one of run and baseline",
    ]
