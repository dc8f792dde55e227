"""The list of cases in README.md: complete, and every test and benchmark row that it names is there."""

from __future__ import annotations

import fnmatch
import re
from pathlib import Path

import pytest
from bench.case import CASES

from tests.conftest import ROOT

HERE = Path(__file__).parent
ROWS = [
    [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
    for line in (HERE / "README.md").read_text(encoding="utf-8").splitlines()
    if re.match(r"\| \d", line)
]
NOT_MODELLED = {"57"}


def _numbers(cell: str) -> list[str]:
    return re.findall(r"\d+", cell)


def _tests_of(path: Path) -> list[str]:
    return re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)


def _file(named: str) -> Path:
    return ROOT / named if "/" in named else HERE / named


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_what_a_row_names_is_there(row: list[str]) -> None:
    where, last = row[2], None
    names = re.findall(r"`([^`]+)`", where)
    for name in names:
        file, _, test = name.rpartition("::")
        if name.endswith(".py"):
            assert _tests_of(_file(name))
        elif test.startswith("test_"):
            last = _file(file) if file else last
            assert last is not None
            assert fnmatch.filter(_tests_of(last), test.replace("…", "*")), f"no {test} in {last}"
        else:
            assert name in {case.id for case in CASES}, f"no row {name} in the benchmark"
    assert names or set(_numbers(row[0])) <= NOT_MODELLED
    assert names or where.startswith("not modelled: ")


@pytest.mark.parametrize("row", [row for row in ROWS if "test_case_" in row[2]], ids=lambda row: row[0])
def test_tests_bear_the_numbers_of_their_cases(row: list[str]) -> None:
    """A number without a test of its own is in a benchmark row, or in a file that the row names whole."""
    borne = set(_numbers(" ".join(re.findall(r"test_cases?_(?:\d+_)+", row[2]))))
    assert set(_numbers(row[0])) == borne


def test_no_case_is_left_out() -> None:
    """The numbers are those of the collection that the cases were taken from."""
    numbers = [number for row in ROWS for number in _numbers(row[0])]
    assert len(numbers) == len(set(numbers)) == 59
    collection = ROOT.parent / "shared" / "cases" / "cases.md"
    if collection.is_file():
        assert set(numbers) == set(re.findall(r"^(\d+)\. ", collection.read_text("utf-8"), re.MULTILINE))
