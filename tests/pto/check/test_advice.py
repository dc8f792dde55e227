"""A run gives the findings about its text as warnings."""

from __future__ import annotations

import numpy as np

from lanesort.pto.interpreter import run
from lanesort.pto.text.parser import parse
from tests.pto.check.programs import FLAG, LOAD, LOAD_ARGUMENTS, PROGRAMS, USE, VIEW, kernel

ROW = [np.arange(64, dtype="f4")]


def test_a_missing_flag_is_a_warning_of_the_run() -> None:
    # The flag stands in front of the load, where it is of no use.
    module = parse(kernel(VIEW + FLAG + LOAD + USE, LOAD_ARGUMENTS))
    for _ in range(2):
        (warning,) = run(module, ROW, engine="reference").warnings
        assert "error[missing-flag]: tadds (pipe V) reads" in warning
        assert warning.startswith("<text>:15:3: ")


def test_a_sound_program_has_none() -> None:
    assert run(PROGRAMS["missing-flag"].sound, ROW, engine="reference").warnings == ()


def test_what_the_run_sees_itself_is_said_once() -> None:
    warnings = run(PROGRAMS["read-before-written"].faulty, engine="reference").warnings
    assert len(warnings) == 1
    assert "never written" in warnings[0]


def test_findings_depend_on_the_target() -> None:
    module = parse(PROGRAMS["known-fault"].faulty.replace("1x32xf32", "1x8160xf32"))
    arguments = [np.zeros((1, 8130), "f4"), np.arange(8160, dtype="i4")[None]]
    found = {name: run(module, arguments, name, "reference").warnings for name in ("a2a3", "a5")}
    assert any("a5-tail-underflow-255" in line for line in found["a5"])
    assert not any("a5-tail-underflow-255" in line for line in found["a2a3"])
