"""``lanesort top-k`` as a user calls it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from lanesort.cli.main import main
from tests.conftest import ROOT

SCORES = ROOT / "examples" / "debian-search"


def test_real_scores_are_ranked(capsys: pytest.CaptureFixture[str]) -> None:
    labels, rows = str(SCORES / "names.txt"), str(SCORES / "queries.txt")
    assert main(["top-k", str(SCORES / "scores.npy"), "-k", "5", "--labels", labels, "--rows", rows]) == 0
    shown = capsys.readouterr().out
    assert "game with chess board" in shown
    assert "gnome-chess" in shown
    assert "openssh-server" in shown


def test_json_and_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(tmp_path / "x.npy", np.array([1.0, np.nan, 3.0], np.float32))
    assert main(["top-k", str(tmp_path / "x.npy"), "-k", "2", "--json", "--nan", "largest"]) == 0
    assert json.loads(capsys.readouterr().out)["indices"] == [1, 2]
    assert (
        main(["top-k", str(tmp_path / "x.npy"), "-k", "2", "--smallest", "-o", str(tmp_path / "o.npz")]) == 0
    )
    assert np.load(tmp_path / "o.npz")["indices"].tolist() == [0, 2]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["none.npy"], "none.npy: no such file"),
        (["x.npy", "-k", "9"], "k is 9 but rows have n = 3"),
        (["x.npy", "-k", "two"], "two"),
        (["x.npy", "--nan", "first"], "first"),
        (["x.npy", "--colour"], "--colour"),
        (["x.npy", "-k", "1", "-o", "o.txt"], "unknown format '.txt'"),
        (["x.npy", "--labels", "x.npy"], "can't be read as text"),
    ],
)
def test_what_is_wrong_is_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    says: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", np.array([1.0, 2.0, 3.0]))
    assert main(["top-k", *arguments]) == 2
    told = capsys.readouterr().err
    assert says in told
    assert told.startswith("lanesort: ")
    assert "Traceback" not in told
    assert told.count("\n") == 1
