"""``lanesort pto check`` as a user calls it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from lanesort.cli.main import main
from tests.pto.check.programs import LOAD, LOAD_ARGUMENTS, PROGRAMS, SET, USE, VIEW, kernel
from tests.pto.check.test_pipes import loop

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = sorted((ROOT / "examples" / "pto").glob("*.pto"))
Write = Callable[[str], str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(text: str) -> str:
        path = tmp_path / "kernel.pto"
        path.write_text(text, encoding="utf-8")
        return str(path)

    return written


def checked(*options: str) -> int:
    return main(["pto", "check", *options])


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_are_clean(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert checked(str(path), "--target", "all", "--werror") == 0
    assert capsys.readouterr().out.endswith("clean\n")


def test_an_error_is_shown_with_its_line_and_what_to_add(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    assert checked(write(PROGRAMS["missing-flag"].faulty), "--manual", "--target", "a5") == 1
    shown = capsys.readouterr().out
    assert "kernel.pto:13:3: error[missing-flag]: tadds (pipe V) reads" in shown
    assert "  pto.tadds ins(%t, %zero" in shown
    assert '  add behind line 12: pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]' in shown
    assert '  add before line 13: pto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]' in shown
    assert shown.endswith("\n1 error\n")


def test_warnings_decide_under_werror_only(write: Write) -> None:
    path = write(PROGRAMS["unused-tile"].faulty)
    assert checked(path) == 0
    assert checked(path, "--werror") == 1


@pytest.mark.parametrize("text", ["", "func.func @f( {", "func.func @f() { pto.nothing }"])
def test_what_can_not_be_read_is_2(text: str, write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    assert checked(write(text)) == 2
    assert "kernel.pto:1:" in capsys.readouterr().err


def test_a_text_without_functions_is_clean_and_says_so(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    assert checked(write("module {}")) == 0
    assert "no function with a body" in capsys.readouterr().out


def test_a_missing_file_and_a_wrong_option_are_2(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    assert checked("nowhere.pto") == 2
    path = write(PROGRAMS["known-fault"].sound)
    assert checked(path, "--target", "a7") == 2
    assert checked(path, "--function", "other") == 2
    assert checked(path, "--arg", "n=3") == 2
    assert "no function has an argument n; there are idx, src" in capsys.readouterr().err


def test_json(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    assert checked(write(PROGRAMS["portability-ub"].faulty), "--json", "--target", "all") == 1
    document = json.loads(capsys.readouterr().out)
    found = {finding["id"]: finding for finding in document["findings"]}
    assert found["ub-overflow"]["targets"] == ["a2a3"]
    assert found["portability-ub"]["severity"] == "note"
    assert document["notes"]


def test_the_map(write: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    drawing = tmp_path / "map.svg"
    assert checked(str(EXAMPLES[0]), "--map", "--map-svg", str(drawing)) == 0
    assert "of 262144 bytes of UB" in capsys.readouterr().out
    assert drawing.read_text(encoding="utf-8").startswith("<svg")
    assert checked(str(EXAMPLES[0]), "--map-svg", str(tmp_path / "no" / "map.svg")) == 2


def test_fix_keeps_the_text_and_adds_lines(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    text = kernel(VIEW + loop(LOAD + "    // Work.\n" + USE) + SET, f"{LOAD_ARGUMENTS}, %n: index")
    path = write(text)
    assert checked(path, "--fix", "--target", "all") == 0
    streams = capsys.readouterr()
    lines, before = streams.out.splitlines(), text.splitlines()
    added = [line.strip() for line in lines if line not in before]
    assert [line for line in before if line not in lines] == [SET.rstrip()]
    assert added == [
        'pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID1"]',
        'pto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID1"]',
        'pto.set_flag["PIPE_V", "PIPE_MTE2", "EVENT_ID0"]',
        'pto.wait_flag["PIPE_V", "PIPE_MTE2", "EVENT_ID0"]',
    ]
    assert streams.err.count("mended: ") == 3
    write(streams.out)
    assert checked(path, "--manual", "--werror", "--target", "all") == 0


def test_fix_prints_anew_where_a_tile_grows(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    assert checked(write(PROGRAMS["tmp-too-small"].faulty), "--fix") == 0
    assert "rows=1, cols=128" in capsys.readouterr().out


def test_fix_says_what_it_leaves(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    assert checked(write(PROGRAMS["misaligned"].faulty), "--fix") == 1
    assert "left: " in capsys.readouterr().err


SIZED = kernel(
    """
  %part = pto.alloc_tile valid_row = %c1 valid_col = %n : T(1x64xf32, valid=?x?)
  %idx = pto.alloc_tile : T(1x64xi32)
  %pairs = pto.alloc_tile : T(1x128xf32)
  pto.texpands ins(%zero : f32) outs(%part : T(1x64xf32, valid=?x?))
  pto.tci ins(%first : i32) outs(%idx : T(1x64xi32)) {descending = false}
  pto.tsort32 ins(%part, %idx : T(1x64xf32, valid=?x?), T(1x64xi32)) outs(%pairs : T(1x128xf32))
""",
    "%n: index",
)


@pytest.mark.parametrize("arguments", [["--arg", "n=50"], ["--arg", "%n=50"], ["--arg", "50"]])
def test_sizes_can_be_given(arguments: list[str], write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(SIZED)
    assert checked(path) == 0
    assert "valid sizes are not known everywhere" in capsys.readouterr().out
    assert checked(path, *arguments) == 1
    assert "error[tail-dropped]: tsort32: src has 50 columns" in capsys.readouterr().out


def test_placement_comments_are_honoured_when_asked_for(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    text = PROGRAMS["missing-barrier"].sound.replace(
        "  %c0 =", "  # pto.tassign %src, @tile(0x1010)\n  %c0 ="
    )
    path = write(text)
    assert checked(path) == 0
    assert checked(path, "--placements") == 1
    assert "%src is at address 4112 (0x1010)" in capsys.readouterr().out


def test_too_many_arguments_are_refused(write: Write) -> None:
    assert checked(write(SIZED), "--arg", "1", "--arg", "2") == 2
