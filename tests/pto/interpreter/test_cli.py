"""``lanesort pto run`` as a user calls it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from lanesort import pto
from lanesort.cli.main import main
from lanesort.cli.pto_run import read_argument
from lanesort.errors import LanesortError
from tests.pto.interpreter.conftest import EXAMPLES, ROOT

SCORES = str(ROOT / "examples" / "debian-search" / "scores.npy")
KERNEL = str(EXAMPLES / "topk_8192_f32.pto")
GIVEN = ["--arg", SCORES, "--arg", "zeros:16384:f32", "--arg", "0"]
COMMON = ["pto", "run", KERNEL, "--engine", "reference"]


def test_a_row_of_real_scores(tmp_path: Path, scores, best, capsys: pytest.CaptureFixture[str]) -> None:
    out, trace = tmp_path / "out.npy", tmp_path / "t.json"
    arguments = ["--arg", f"scores={SCORES}", "--arg", "out=zeros:1x16384:f32", "--arg", "row=0"]
    assert main([*COMMON, *arguments, "-o", f"out={out}", "--trace", str(trace), "--map"]) == 0
    assert pto.pairs(np.load(out)).indices[0].tolist() == best(scores[0]).tolist()
    names = [event["name"] for event in json.loads(trace.read_text())["traceEvents"]]
    assert names.count("tmrgsort") == 4
    shown = capsys.readouterr().out
    assert "out: 1 × 16384 float32: 0.590055@1221 0.582693@212 " in shown
    assert "%ping" in shown
    assert "0x20000" in shown


def test_arguments_by_position_and_the_only_output(tmp_path: Path) -> None:
    out = tmp_path / "out.npy"
    arguments = ["--arg", SCORES, "--arg", "zeros:1x16384:f32", "--arg", "0x1", "-o", str(out)]
    assert main([*COMMON, *arguments]) == 0
    assert np.load(out).shape == (1, 16384)


def test_counts_choices_and_open_questions_are_printed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    np.save(tmp_path / "x.npy", np.arange(128, dtype=np.float32))
    np.save(tmp_path / "i.npy", np.arange(128, dtype=np.uint32))
    files = ["--arg", str(tmp_path / "x.npy"), "--arg", str(tmp_path / "i.npy")]
    zeros = ["--arg", "out=zeros:256:f32", "--arg", "counts=zeros:4:i16"]
    kernel = str(EXAMPLES / "low_level.pto")
    choice = ["--choice", "pto.merge-tie=later-when-exhausted"]
    assert main(["pto", "run", kernel, "--engine", "reference", *files, *zeros, *choice]) == 0
    shown = capsys.readouterr().out
    assert "executed: 0 0 0 32" in shown
    assert "unpinned: pto.executed-unasked: " in shown


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--arg", "scores=none.npy"], "none.npy: no such file"),
        (
            ["--arg", "1", "--arg", "1", "--arg", "1", "--arg", "1"],
            "4 arguments without a name, and 3 left",
        ),
        (["--arg", "row=0"], "needs further arguments: scores: an array of f32; out: an array of f32"),
        (["--arg", "lines=0"], "has no argument lines; it takes scores, out, row"),
        (["--arg", "scores=zeros:4:f99"], "element type 'f99' is unknown"),
        (["--arg", "scores=zeros:99999999x99999999:f32"], "bytes; at most"),
        (["--arg", "seven"], "'seven' is neither a number nor a file nor zeros:SHAPE:TYPE"),
        (["--choice", "x"], "--choice is 'x'; it is ID=CHOICE"),
        (["--choice", "x=a", "--choice", "x=b"], "--choice x is given twice: a and b"),
        (["--arg", "row=0", "--arg", "%row=1"], "--arg row is given twice"),
        (["--block", "9/3"], "an index has to lie below its count"),
        (["--function", "f"], "there is no function @f; the text has @topk_8192_f32"),
        (["--target", "a9"], "target is 'a9'"),
        (
            ["--max-steps", "3", "--arg", SCORES, "--arg", "zeros:16384:f32", "--arg", "0"],
            "stopped after 3 steps",
        ),
        (
            ["--arg", SCORES, "--arg", "zeros:16384:f32", "--arg", "0", "-o", "in=x.npy"],
            "-o in=x.npy: no array 'in'",
        ),
    ],
)
def test_bad_input_is_one_message_and_exit_code_2(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*COMMON, *arguments]) == 2
    assert says in capsys.readouterr().err


def test_a_file_that_is_no_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.pto").write_bytes(b"\xff\xfe")
    assert main(["pto", "run", str(tmp_path / "x.pto")]) == 2
    assert main(["pto", "run", str(tmp_path / "y.pto")]) == 2
    shown = capsys.readouterr().err
    assert "not a text file (byte 0 is not UTF-8)" in shown
    assert "y.pto: no such file" in shown


def test_values_of_arguments() -> None:
    assert read_argument("-3") == -3
    assert read_argument("0x1F01") == 7937
    assert read_argument("1e-3") == 0.001
    assert read_argument("ones:2x3:f16").tolist() == [[1.0] * 3] * 2
    with pytest.raises(LanesortError):
        read_argument("")


def test_an_array_of_several_in_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    two = tmp_path / "two.npz"
    np.savez(two, a=np.arange(3), b=np.arange(4.0))
    assert read_argument(f"{two}:b").tolist() == [0, 1, 2, 3]
    assert main([*COMMON, "--arg", f"scores={two}"]) == 2
    assert f"two.npz: holds 2 arrays (a, b); say which by {two}:NAME" in capsys.readouterr().err
    assert main([*COMMON, "--arg", f"scores={two}:c"]) == 2
    assert "has no array 'c'; it holds a, b" in capsys.readouterr().err


def test_outputs_are_all_or_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace = ["--trace", str(tmp_path / "none" / "t.json")]
    assert main([*COMMON, *GIVEN, "-o", str(tmp_path / "out.npy"), *trace]) == 2
    assert list(tmp_path.iterdir()) == []
    assert "t.json: can't be written" in capsys.readouterr().err


def test_values_that_are_no_pairs_stay_values(capsys: pytest.CaptureFixture[str]) -> None:
    outputs = ["--arg", "values=zeros:1x1000:f32", "--arg", "indices=zeros:1x1000:i32"]
    kernel = str(EXAMPLES / "topk_1024_1000.pto")
    given = ["--arg", "scores=ones:1x1024:f32", *outputs]
    assert main(["pto", "run", kernel, "--engine", "reference", *given]) == 0
    shown = capsys.readouterr().out
    assert "values: 1 × 1000 float32: 1 1 1" in shown
    assert "@" not in shown


def test_rules_are_not_named_twice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (EXAMPLES / "topk_1024_1000.pto").read_text(encoding="utf-8")
    path = tmp_path / "k.pto"
    path.write_text(text.replace("arith.constant 256 : i32", "arith.constant 100 : i32"), encoding="utf-8")
    names = ("scores=ones:1x1024:f32", "values=zeros:1x1000:f32", "indices=zeros:1x1000:i32")
    given = [part for name in names for part in ("--arg", name)]
    assert main(["pto", "run", str(path), "--engine", "reference", *given]) == 2
    assert "error: pto.tmrgsort: 2 validity rules broken" in capsys.readouterr().err
