"""What is refused is said in options and names of files, and no option is passed over in silence."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from lanesort.cli.main import main

PYTHON = re.compile(r"\w=(True|False|'|\{|\()|runs\[|lanesort\.")


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("sorted.npy", np.arange(3.0))
    np.save("mixed.npy", np.array([3.0, 1.0, 2.0]))
    np.save("narrow.npy", np.arange(3, dtype=np.float32))
    np.save("scalar.npy", np.float32(3))
    np.save("nan.npy", np.array([[1, np.nan, 2]], np.float32))
    Path("dir.csv").mkdir()


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("top-k mixed.npy -k 9", "k is 9 but rows have n = 3 elements; ask for at most n\n"),
        ("top-k scalar.npy", "scalar.npy has no dimension; ordering needs at least one"),
        ("sort scalar.npy -o o.npy", "scalar.npy has no dimension"),
        ("argsort scalar.npy -o o.npy", "scalar.npy has no dimension"),
        ("merge -o o.npy", "no file is given; merge needs one or more sorted files"),
        (
            "merge sorted.npy mixed.npy -o o.npy",
            "mixed.npy is not sorted ascending with --nan last: element 0",
        ),
        ("merge sorted.npy mixed.npy -o o.npy", "sort it first, or give --no-check to leave out this look"),
        ("merge sorted.npy narrow.npy -o o.npy", "narrow.npy is float32, sorted.npy is float64"),
        (
            "merge sorted.npy mixed.npy -o o.npy --memory 8MB",
            "mixed.npy is not sorted ascending with --nan last",
        ),
        (
            "plan top-k --shape 2x8 -k 9 --target a5",
            "planned is lanesort plan top-k --shape 2x8 -k 8 --dtype float32 --target a5",
        ),
        ("plan sort --shape 8 --ascending --target a5", "--ascending is given; TSORT32 and TMRGSORT of a5"),
        (
            "plan sort --shape 8 --target cayman --ascending --choice sort.zero-order=signed",
            "--ascending --choice sort.nan-order=total",
        ),
        (
            "plan sort --shape 1x3 --target a5 --choice pto.nan-order=compare-false --run nan.npy --check",
            "nan.npy has a NaN",
        ),
        ("plan sort --shape 8 --measurements dir.csv", "dir.csv: is a folder"),
    ],
)
def test_advice_can_be_typed(line: str, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(line.split()) == 2
    told = capsys.readouterr().err
    assert says in told
    assert not PYTHON.search(told), "the words of Python"


@pytest.mark.usefixtures("files")
def test_what_is_advised_works(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["merge", "sorted.npy", "mixed.npy", "-o", "o.npy", "--no-check"]) == 0
    advice = "the nearest that can be planned is lanesort "
    assert main(["plan", "sort", "--shape", "2x70", "--dtype", "int64", "--target", "a5", "--ascending"]) == 2
    told = capsys.readouterr().err
    assert main(told[told.index(advice) + len(advice) :].split()) == 0


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("line", "says"),
    [
        (
            "merge sorted.npy -o o.npy --tie high",
            "--tie is high; of equal values the earlier file's come first",
        ),
        ("merge sorted.npy -o o.npy --memory 8MB --no-check", "--no-check has no meaning with --memory"),
        ("merge sorted.npy -o o.npy --memory 8MB --temporary .", "--temporary has no meaning with --memory"),
        (
            "nonzero sorted.npy -o o.npy --memory 8MB --temporary .",
            "--temporary has no meaning with --memory",
        ),
        ("sort sorted.npy -o o.npy --memory 8MB --tie high", "--tie high has no meaning with --memory"),
        ("sort sorted.npy -o o.npy --memory 8MB --axis 0", "--axis has no meaning with --memory"),
        ("sort sorted.npy -o o.npy --temporary .", "--temporary is a folder for the runs of --memory"),
        ("argsort sorted.npy -o o.npy --memory 8MB --index-dtype int32", "--index-dtype has no meaning"),
        ("argsort sorted.npy -o o.npy --memory 8MB --threads 2", "--threads has no meaning with --memory"),
        ("sort sorted.npy -o o.npy --memory 8MB --name x", "--name has no meaning with --memory"),
    ],
)
def test_no_option_is_passed_over(line: str, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(line.split()) == 2
    assert says in capsys.readouterr().err
    assert not Path("o.npy").exists()


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("verb", ["sort", "argsort", "nonzero"])
def test_pieces_give_what_memory_gives(verb: str) -> None:
    assert main([verb, "mixed.npy", "-o", "whole.npy"]) == 0
    assert main([verb, "mixed.npy", "-o", "pieces.npy", "--memory", "8MB"]) == 0
    assert np.array_equal(np.load("whole.npy"), np.load("pieces.npy"))
