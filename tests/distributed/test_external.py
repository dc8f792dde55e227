"""Files larger than the memory given: results, kills, full disks."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import lanesort as ls
from lanesort.cli.main import main
from lanesort.distributed import external, scratch
from tests.patterns import DTYPES, PATTERNS, same_bits

SMALL = 1 << 20


@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", "uint8", "float64"])
@pytest.mark.parametrize("pattern", ["random", "small", "mostly_numbers", "ascending"])
@pytest.mark.parametrize("tie", ["low", "high"])
def test_sorting_in_pieces(tmp_path: Path, dtype: str, pattern: str, tie: Any) -> None:
    x = PATTERNS[pattern](np.random.default_rng(1), 90_001, DTYPES[dtype])
    source, target = tmp_path / "x.npy", tmp_path / "out.npy"
    np.save(source, x)
    expected = ls.sort_pairs(x, descending=True, tie=tie)
    external.argsort(source, target, descending=True, tie=tie, memory_bytes=SMALL)
    assert np.array_equal(np.load(target), expected.indices)
    external.sort(source, target, descending=True, memory_bytes=SMALL)
    assert same_bits(np.load(target), ls.sort(x, descending=True))
    best = external.top_k(source, 100, tie=tie, memory_bytes=SMALL)
    assert np.array_equal(best.indices, expected.indices[:100])
    assert external.nonzero(source, target, memory_bytes=SMALL) == np.count_nonzero(x)
    assert np.array_equal(np.load(target), np.flatnonzero(x))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out.npy", "x.npy"]


def test_files_of_lost_dtypes_and_of_nothing(tmp_path: Path) -> None:
    x = np.random.default_rng(2).standard_normal(50_000).astype(ml_dtypes.bfloat16)
    np.save(tmp_path / "x.npy", x.view("V2"))
    external.argsort(tmp_path / "x.npy", tmp_path / "o.npy", dtype="bfloat16", memory_bytes=SMALL)
    assert np.array_equal(np.load(tmp_path / "o.npy"), ls.argsort(x))
    np.save(tmp_path / "none.npy", np.empty(0, np.float32))
    external.sort(tmp_path / "none.npy", tmp_path / "o.npy")
    assert np.load(tmp_path / "o.npy").tolist() == []


def test_rows_are_sorted_a_block_at_a_time(tmp_path: Path) -> None:
    x = np.random.default_rng(8).integers(0, 9, (3, 700, 50)).astype(np.float32)
    np.save(tmp_path / "x.npy", x)
    external.argsort(tmp_path / "x.npy", tmp_path / "o.npy", tie="high", memory_bytes=SMALL)
    assert np.array_equal(np.load(tmp_path / "o.npy"), ls.argsort(x, tie="high"))
    external.sort(tmp_path / "x.npy", tmp_path / "o.npy", memory_bytes=SMALL)
    assert np.array_equal(np.load(tmp_path / "o.npy"), np.sort(x))
    np.save(tmp_path / "none.npy", np.empty((3, 0), np.float32))
    external.sort(tmp_path / "none.npy", tmp_path / "o.npy")
    assert np.load(tmp_path / "o.npy").shape == (3, 0)


def test_merging_files(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    runs = [np.sort(rng.integers(0, 50, n).astype(np.float32)) for n in (40_000, 0, 25_000, 7)]
    files = [tmp_path / f"{i}.npy" for i in range(len(runs))]
    for path, run in zip(files, runs, strict=True):
        np.save(path, run)
    external.merge(files, tmp_path / "o.npy", memory_bytes=SMALL)
    assert np.array_equal(np.load(tmp_path / "o.npy"), np.sort(np.concatenate(runs)))
    np.save(files[1], np.array([2.0, 1.0], np.float32))
    with pytest.raises(ValueError, match=r"1.npy is not sorted ascending .*: elements 0 and 1"):
        external.merge(files, tmp_path / "o.npy", memory_bytes=SMALL)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda d: external.sort(d / "none.npy", d / "o.npy"), "no such file"),
        (lambda d: external.sort(d / "x.npy", d / "o.npz"), "are written as .npy"),
        (lambda d: external.top_k(d / "m.npy", 1), "has shape .2, 2.; this is done along one dimension"),
        (lambda d: external.sort(d / "f.npy", d / "o.npy"), "lie in C order"),
        (lambda d: external.sort(d / "w.npy", d / "o.npy", memory_bytes=SMALL), "a row has 100,000 elements"),
        (
            lambda d: external.sort(d / "x.npy", d / "o.npy", memory_bytes=5),
            "memory given is 5 bytes; it must",
        ),
        (lambda d: external.sort(d / "x.npy", d / "no" / "o.npy"), "no temporary folder can be made there"),
        (lambda d: external.top_k(d / "x.npy", 11), "k is 11 but .* has n = 10"),
        (lambda d: external.merge([], d / "o.npy"), "sources is empty"),
    ],
)
def test_refusals(tmp_path: Path, call: Any, says: str) -> None:
    np.save(tmp_path / "x.npy", np.arange(10.0))
    np.save(tmp_path / "m.npy", np.zeros((2, 2)))
    np.save(tmp_path / "f.npy", np.asfortranarray(np.zeros((2, 3))))
    np.save(tmp_path / "w.npy", np.zeros((2, 100_000)))
    with pytest.raises((OSError, ValueError), match=says):
        call(tmp_path)
    assert not list(tmp_path.glob("o.*"))


def test_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    x = np.random.default_rng(4).integers(0, 9, 60_000).astype(np.int32)
    np.save("x.npy", x)
    for options in ([], ["--memory", "1MiB"]):
        assert main(["sort", "x.npy", "-o", "s.npy", "--descending", *options]) == 0
        assert np.array_equal(np.load("s.npy"), np.sort(x)[::-1])
        assert main(["argsort", "x.npy", "-o", "a.npy", *options]) == 0
        assert np.array_equal(np.load("a.npy"), np.argsort(x, kind="stable"))
        assert main(["nonzero", "x.npy", "-o", "n.npy", *options]) == 0
        assert np.array_equal(np.load("n.npy"), np.flatnonzero(x))
        assert main(["merge", "s.npy", "s.npy", "-o", "m.npy", "--descending", *options]) == 0
        assert np.array_equal(np.load("m.npy"), np.sort(np.concatenate([x, x]))[::-1])
    assert main(["sort", "x.npy", "-o", "s.npy", "--memory", "lots"]) == 2


ENDLESS = """
import sys
from pathlib import Path
from lanesort.distributed import external
def told(done, total):
    print("going", flush=True)
while True:
    external.sort(sys.argv[1], sys.argv[2], memory_bytes=1 << 20, progress=told)
"""


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_run_leaves_the_old_output(tmp_path: Path, sign: signal.Signals) -> None:
    np.save(tmp_path / "x.npy", np.random.default_rng(5).standard_normal(400_000))
    (tmp_path / "o.npy").write_bytes(b"old")
    process = subprocess.Popen(
        [sys.executable, "-c", ENDLESS, tmp_path / "x.npy", tmp_path / "o.npy"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(0.05)
    process.send_signal(sign)
    process.wait(30)
    process.stdout.close()
    content = (tmp_path / "o.npy").read_bytes()
    assert content == b"old" or np.array_equal(
        np.load(tmp_path / "o.npy"), np.sort(np.load(tmp_path / "x.npy"))
    )
    external.sort(tmp_path / "x.npy", tmp_path / "o.npy")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["o.npy", "x.npy"]


def test_a_living_run_is_not_cleaned_away(tmp_path: Path) -> None:
    with scratch.scratch_folder(tmp_path, 0) as folder:
        assert scratch.remove_abandoned(tmp_path) == []
        assert folder.is_dir()
    (tmp_path / f"{scratch.PREFIX}dead").mkdir()
    (tmp_path / f"{scratch.PREFIX}dead{scratch.LOCK}").touch()
    (tmp_path / f"{scratch.PREFIX}killed-early{scratch.LOCK}").touch()
    assert len(scratch.remove_abandoned(tmp_path)) == 2
    assert list(tmp_path.iterdir()) == []


FULL = """
import resource, signal, sys
from lanesort.distributed import external
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), int(sys.argv[3])))
try:
    external.sort(sys.argv[1], sys.argv[2], memory_bytes=1 << 20)
except OSError as error:
    print(error)
    sys.exit(7)
"""


@pytest.mark.parametrize("limit", [50_000, 1_000_000])
def test_a_full_disk_leaves_everything_as_it_was(tmp_path: Path, limit: int) -> None:
    np.save(tmp_path / "x.npy", np.random.default_rng(6).standard_normal(400_000))
    (tmp_path / "o.npy").write_bytes(b"old")
    done = subprocess.run(
        [sys.executable, "-c", FULL, tmp_path / "x.npy", tmp_path / "o.npy", str(limit)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 7, done.stderr
    assert "can't be written" in done.stdout
    assert (tmp_path / "o.npy").read_bytes() == b"old"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["o.npy", "x.npy"]


MEASURED = """
import sys
from lanesort.distributed import external
external.argsort(sys.argv[1], sys.argv[2], memory_bytes=32 << 20)
"""


def test_memory_stays_within_what_was_given(tmp_path: Path) -> None:
    """Peak memory grows by less than twice what was given, for a file ten times as large."""
    np.save(tmp_path / "x.npy", np.random.default_rng(7).standard_normal(20_000_000).astype(np.float32))
    peaks = []
    for name in ("small.npy", "x.npy"):
        np.save(tmp_path / "small.npy", np.zeros(10, np.float32))
        process = subprocess.Popen([sys.executable, "-c", MEASURED, tmp_path / name, tmp_path / "o.npy"])
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0
        peaks.append(usage.ru_maxrss * 1024)
    assert peaks[1] - peaks[0] < 2 * (32 << 20)
    assert resource.getpagesize()
