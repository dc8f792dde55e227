"""``choices={"rules": "parse-only"}``: what a kernel breaks is shown, and nothing runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lanesort.cli.main import main
from lanesort.errors import ArgumentValueError, ProgramError
from lanesort.pto.interpreter import run
from tests.pto.interpreter.programs import function, tile_type

SRC, IDX, SHORT = tile_type("1x32xf16"), tile_type("1x32xui32"), tile_type("1x64xf16")
# Compiler tests give half a dst of 2 × C columns; its pairs take 4 × C.
HALF = function(
    "%x: !pto.ptr<f16>",
    f"""  %src = pto.alloc_tile : {SRC}
  %idx = pto.alloc_tile : {IDX}
  %dst = pto.alloc_tile : {SHORT}
  pto.tsort32 ins(%src, %idx : {SRC}, {IDX}) outs(%dst : {SHORT})""",
)
BROKEN = "dst has 64 physical columns; 32 pairs of 4 columns are written, 128 in all"


def test_a_program_that_breaks_a_rule_is_refused() -> None:
    with pytest.raises(ProgramError, match=BROKEN):
        run(HALF, [np.zeros(32, np.float16)], engine="reference")


@pytest.mark.parametrize("args", [None, [np.zeros(32, np.float16)], {"x": np.zeros(32, np.float16)}])
def test_the_rule_is_shown_and_nothing_runs(args: object) -> None:
    result = run(HALF, args, choices={"rules": "parse-only"})
    (warning,) = [line for line in result.warnings if BROKEN in line]
    assert warning.startswith("<text>:8:3: error[columns-too-small]: ")
    assert (result.steps, result.outputs, result.trace) == (0, {}, ())
    assert [tile.name for tile in result.map] == ["%src", "%idx", "%dst"]


def test_rules_are_enforced_unless_told_otherwise() -> None:
    with pytest.raises(ProgramError, match=BROKEN):
        run(HALF, [np.zeros(32, np.float16)], engine="reference", choices={"rules": "enforced"})
    with pytest.raises(ArgumentValueError, match=r"choices\['rules'\] is 'off'; on offer are 'enforced', 'p"):
        run(HALF, choices={"rules": "off"})


def test_the_command_shows_it_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "half.pto"
    path.write_text(HALF, encoding="utf-8")
    assert main(["pto", "run", str(path), "--choice", "rules=parse-only"]) == 0
    shown = capsys.readouterr().out
    assert BROKEN in shown
    assert shown.endswith("0 steps\n")
