"""``lanesort plan``: options, files, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from lanesort.cli.main import main

X = np.random.default_rng(4).standard_normal((3, 400)).astype(np.float32)


@pytest.fixture
def scores(tmp_path: Path) -> str:
    np.save(tmp_path / "x.npy", X)
    return str(tmp_path / "x.npy")


def test_top_k_is_planned_run_checked_and_reported(scores: str, tmp_path: Path, capsys) -> None:
    files = {name: str(tmp_path / name) for name in ("out.html", "kernel.pto", "trace.json", "best.npz")}
    asked = ["--shape", "3x400", "-k", "9", "--target", "a5", "--run", scores, "--check"]
    written = ["--report", files["out.html"], "--emit", files["kernel.pto"], "--trace", files["trace.json"]]
    code = main(["plan", "top-k", *asked, *written, "-o", files["best.npz"]])
    shown = capsys.readouterr().out
    assert code == 0
    assert "check: equal" in shown
    assert "alternatives:" in shown
    assert all(Path(file).stat().st_size for file in files.values())
    best = np.load(files["best.npz"])
    assert np.array_equal(best["indices"], np.argsort(-X, axis=1, kind="stable")[:, :9])
    assert json.loads(Path(files["trace.json"]).read_text())["traceEvents"]


def test_sort_and_nonzero(scores: str, tmp_path: Path, capsys) -> None:
    assert (
        main(["plan", "sort", "--shape", "3x400", "--target", "cayman", "--ascending", "--run", scores]) == 0
    )
    assert f"values: {sorted(X[0].tolist())[0]}" in capsys.readouterr().out
    words = str(tmp_path / "words.bin")
    assert main(["plan", "nonzero", "--shape", "3x400", "--run", scores, "--emit", words]) == 0
    assert "total: 1200" in capsys.readouterr().out
    assert len(Path(words).read_bytes()) % 64 == 0


def test_choices_and_alternatives(capsys) -> None:
    given = ["plan", "sort", "--shape", "20000", "--target", "a2a3"]
    choice = ["--choice", "pto.merge-tie=later-when-exhausted", "--choice", "pto.nan-order=last"]
    assert main([*given, *choice, "--alternative", "spill, 2 rounds"]) == 0
    shown = capsys.readouterr().out
    assert "program: spill, 2 rounds" in shown
    assert "pto.merge-tie: later-when-exhausted" in shown


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["top-k", "--shape", "3xy", "-k", "2"], "--shape is '3xy'"),
        (["top-k", "--shape", "3x10", "-k", "20"], "the nearest that can be planned"),
        (["sort", "--shape", "10", "--choice", "nonsense"], "--choice is 'nonsense'"),
        (["sort", "--shape", "10", "--choice", "a=b", "--choice", "a=c"], "--choice a is given twice"),
        (["sort", "--shape", "10", "--check"], "--check needs an input"),
        (["sort", "--shape", "10", "-o", "x.npy"], "--output needs an input"),
        (["sort", "--shape", "10", "--run", "none.npy"], "no such file"),
        (["sort", "--shape", "10", "--target", "a9"], "target is 'a9'"),
        (["sort", "--shape", "10", "--emit", "x.bin"], "can't emit x.bin"),
        (["sort", "--shape", "10", "--measurements", "none.csv"], "lanesort: none.csv: no such file"),
    ],
)
def test_bad_input_is_one_line(given: list[str], message: str, capsys) -> None:
    assert main(["plan", *given]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
