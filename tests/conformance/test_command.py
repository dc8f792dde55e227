"""``lanesort conformance`` and the page that it writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lanesort.cli.main import main
from lanesort.conformance import run
from tests.conftest import ROOT

PAGE = ROOT / "docs" / "conformance-table.md"


def test_a_subject_of_ones_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "my_sorts.py").write_text(
        "import numpy as np\n"
        "from lanesort.conformance import Subject\n"
        "mine = Subject('mine', sort=lambda x, descending: np.sort(x, axis=-1))\n"
        "number = 3\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert main(["conformance", "my_sorts:mine", "--json"]) == 0
    answers = json.loads(capsys.readouterr().out)["mine"]
    assert answers["dtypes/all/float32"] == {"found": "wrong", "conforms": False}, "it ignores descending"
    for name, reason in (
        ("my_sorts:number", "has to be a lanesort.conformance.Subject"),
        ("my_sorts:nothing", "no attribute"),
        ("no_such_module:mine", "can't be imported"),
        ("lisp", "no adapter"),
    ):
        assert main(["conformance", name]) == 2
        error = capsys.readouterr().err
        assert reason in error
        assert error.count("\n") == 1


def test_the_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conformance", "numpy", "-o", str(tmp_path / "t.md")]) == 0
    assert main(["conformance", "numpy", "--markdown"]) == 0
    assert capsys.readouterr().out == (tmp_path / "t.md").read_text()
    assert main(["conformance", "lanesort"]) == 0
    assert "0 answers that no policy of lanesort has" in capsys.readouterr().out


def _columns() -> dict[str, list[str]]:
    cells = [line.strip("| \n").split(" | ") for line in PAGE.read_text(encoding="utf-8").splitlines()]
    width = max(map(len, cells))
    padded = [[""] * (width - len(row)) + row for row in cells]
    return {row[0]: list(row[1:]) for row in zip(*padded, strict=True)}


def test_the_committed_table_says_what_lanesort_does() -> None:
    """Other libraries' columns are those of one day: they differ by version and by CPU."""
    report = run("lanesort")
    column = _columns()[report.title]
    found = ["---", *(answer.found for answer in report.answers)]
    assert column == found, "write the page anew: make conformance"
