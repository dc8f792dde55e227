"""Probes from the command line: written, run by the model's own commands, and fitted."""

from __future__ import annotations

import numpy as np
import pytest
from rich.console import Console

from lanesort.cli.main import main
from lanesort.probe.probe import PROBES


def test_a_word_goes_from_probe_through_run_to_fit(tmp_path, capsys):
    assert main(["probe", "nonzero.partitions", "-o", str(tmp_path)]) == 0
    word, memory = tmp_path / "nonzero.partitions.bin", tmp_path / "nonzero.partitions.npz"
    after = tmp_path / "after.npz"
    run = ["neuron", "run", str(word), "--sbuf", str(memory), "--out", str(after), "--engine", "reference"]
    assert main(run) == 0
    assert "nonzero.partitions = every-16th" in capsys.readouterr().out
    with np.load(after) as state:
        result = np.ascontiguousarray(state["sbuf"][:2, 64:76]).view(np.uint32)
    np.savez(tmp_path / "results.npz", **{"nonzero.partitions": result})
    assert main(["fit", str(tmp_path / "results.npz")]) == 0
    assert capsys.readouterr().out == "nonzero.partitions: every-16th\n"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["probe", "imm.pointer"], "lanesort: imm.pointer has no probe: only the documented rule"),
        (["fit", "nowhere.npz"], "nowhere.npz: no such file"),
        (["probe", "-o", "nowhere"], "-o nowhere: of what? give ids, or --all"),
        (["neuron", "images", "pictures"], "no kind of record is called 'pictures'"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, says, capsys):
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert says in error
    assert error.count("\n") == 1


def test_the_catalogue_is_printed(capsys):
    assert main(["neuron", "images", "table", "--generation", "mariana"]) == 0
    assert "mariana MAIN" in capsys.readouterr().out


def test_every_file_is_there_before_the_first_is_listed(tmp_path, monkeypatch):
    there = []
    monkeypatch.setattr(
        Console, "print", lambda self, text: there.append((text, len(list(tmp_path.iterdir()))))
    )
    assert main(["probe", "--all", "-o", str(tmp_path)]) == 0
    assert there[0][1] == len(PROBES) * 3 == len(there[0][0].splitlines())


def test_results_that_are_none_are_refused(tmp_path, capsys):
    program, empty = tmp_path / "p.bin", tmp_path / "e.npz"
    program.write_bytes(b"\x96" * 64)
    np.savez(empty)
    for path, says in ((program, "p.bin: no .npz file; results are"), (empty, "e.npz: holds no array")):
        assert main(["fit", str(path)]) == 2
        error = capsys.readouterr().err
        assert says in error
        assert "pickle" not in error
