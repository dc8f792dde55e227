"""Every kept input still holds, and what fails is kept and named."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import fuzz.__main__ as command
import numpy as np
import pytest
from fuzz.corpus import KEPT, folder_name, kept, pack, unpack
from fuzz.drive import changed, feed
from fuzz.seeds import seeds

from tests.conftest import ROOT

TARGETS = list(command.targets())
MOST_BYTES = 300_000


@pytest.mark.parametrize("target", TARGETS)
def test_kept_inputs_hold(target: str, tmp_path: Path) -> None:
    """In a process of its own, because a kernel that reads beyond its array ends it."""
    failure = tmp_path / "failure"
    arguments = ["-m", "fuzz.drive", target, f"--failure={failure}"]
    done = subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{target}({failure.read_bytes()!r})\n{done.stderr[-3000:]}"
    assert done.stdout.startswith(f"{len(kept(target))} kept inputs and 0 changed ones")


@pytest.mark.parametrize("target", TARGETS)
def test_every_target_has_seeds_and_kept_inputs(target: str) -> None:
    assert seeds(target)
    assert kept(target)


def test_the_corpus_is_small_and_every_archive_belongs_to_a_target() -> None:
    files = [path for path in KEPT.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < MOST_BYTES
    known = {folder_name(target) for target in TARGETS}
    assert {path.relative_to(KEPT).parts[0].removesuffix(".zip") for path in files} <= known


def test_archives_depend_on_their_inputs_alone(tmp_path: Path) -> None:
    pack([b"b", b"a", b"b"], tmp_path / "one.zip")
    pack([b"a", b"b"], tmp_path / "other.zip")
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "other.zip").read_bytes()
    unpack([b"a", b"b", b"a"], tmp_path / "folder")
    assert sorted(path.read_bytes() for path in (tmp_path / "folder").iterdir()) == [b"a", b"b"]


def test_an_input_that_fails_stays(tmp_path: Path) -> None:
    def target(data: bytes) -> None:
        assert data != b"bad", "found"

    current = tmp_path / "input"
    assert feed(target, [b"fine", b""], current) == 2
    assert not current.exists()
    with pytest.raises(AssertionError, match="found"):
        feed(target, [b"a longer one", b"bad", b"fine"], current)
    assert current.read_bytes() == b"bad"


def test_changed_inputs_depend_on_the_seed() -> None:
    first, again = (changed([b"abcdef", b"123"], np.random.default_rng(5)) for _ in range(2))
    made = [next(first) for _ in range(50)]
    assert made == [next(again) for _ in range(50)]
    assert len(set(made)) > 40


def test_without_atheris_the_kept_inputs_are_run_and_that_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran = []
    monkeypatch.setattr(command, "find_spec", lambda name: None)
    monkeypatch.setattr(command, "unguided", lambda *arguments: ran.append(arguments) or 0)
    monkeypatch.setattr(sys, "argv", ["fuzz", "--only", "decode,files", "--minutes", "0.1", "--seed", "3"])
    assert command.main() == 0
    assert ran == [("target_files:fuzz_read", 3, 3), ("target_neuron:fuzz_decode", 3, 3)]
    assert "the kept inputs and changes of them are run, not guided by coverage" in capsys.readouterr().out


def test_a_target_that_fails_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "unguided", lambda target, *_: int("decode" in target))
    monkeypatch.setattr(sys, "argv", ["fuzz", "--unguided", "--only", "neuron"])
    assert command.main() == 1
    assert "failed: target_neuron:fuzz_decode; the input lies in" in capsys.readouterr().out


def test_atheris_sees_what_code_an_input_reaches() -> None:
    pytest.importorskip("atheris", reason="atheris is not installed")
    arguments = ["-m", "fuzz.one", "target_neuron:fuzz_decode", "-runs=300"]
    done = subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert " cov: " in done.stderr
