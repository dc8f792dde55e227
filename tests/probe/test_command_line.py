"""Probes from the command line: written, run by the model's own commands, and fitted."""

from __future__ import annotations

import numpy as np
import pytest

from lanesort.cli.main import main


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
        (["fit", "nowhere.npz"], "nowhere.npz: can't be read as .npz"),
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
