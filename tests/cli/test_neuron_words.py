"""Where the commands take words and assembly from, and what they say of what they can't take."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import numpy as np
import pytest

from lanesort import neuron
from lanesort.cli.main import main

SORT = "sort.u32.desc.stable ch=1 src=[p0+0x0, 4:1] dst=[p0+0x40, 2:4 4:1]"
RUN = ("neuron", "run", neuron.assemble(SORT).encode().hex(), "--engine", "reference")


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(arguments) == 2
    return capsys.readouterr().err


class _Stdin(io.TextIOWrapper):
    def __init__(self, text: str) -> None:
        super().__init__(io.BytesIO(text.encode()), encoding="utf-8")


def test_what_encode_prints_decode_reads(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["neuron", "encode", SORT]) == 0
    digits = capsys.readouterr().out
    path = tmp_path / "w.hex"
    path.write_text(digits * 2, encoding="utf-8")
    assert main(["neuron", "decode", str(path)]) == 0
    assert capsys.readouterr().out.splitlines() == [SORT, SORT]
    monkeypatch.setattr(sys, "stdin", _Stdin(digits))
    assert main(["neuron", "decode", "-"]) == 0
    assert capsys.readouterr().out.splitlines() == [SORT]
    monkeypatch.setattr(sys, "stdin", _Stdin(SORT))
    assert main(["neuron", "encode", "-"]) == 0
    assert capsys.readouterr().out == digits


@pytest.mark.parametrize(
    ("command", "source", "says"),
    [
        ("encode", "missing/p.asm", "missing/p.asm: no such file"),
        ("encode", "", "the argument is empty: no word; a line looks like sort.fp32"),
        ("decode", "missing.bin", "missing.bin: no such file"),
        ("decode", "123", "the argument has 3 hexadecimal digits; a byte has two"),
        ("decode", "", "no words: the argument is empty"),
    ],
)
def test_what_is_no_source(command: str, source: str, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert says in refused(capsys, "neuron", command, source)


@pytest.mark.parametrize(
    ("old", "new", "at"),
    [
        ("ch=1", "ch=999999", "ch="),
        ("u32", "u33", "u33"),
        ("stable", "blah", "blah"),
        ("src=[p0", "src=[p200", "src="),
        ("4:1]", "4:1] foo=3", "foo="),
        ("ch=1", "ch=1 ?", "?"),
    ],
)
def test_the_caret_points_at_the_fault(
    old: str, new: str, at: str, capsys: pytest.CaptureFixture[str]
) -> None:
    line = "  " + SORT.replace(old, new, 1)
    head, source, caret = refused(capsys, "neuron", "encode", line).splitlines()
    column = line.index(at) + 1
    assert head.startswith(f"lanesort: <text>:1:{column}: error: ")
    assert (source, caret) == (f"  {line}", "  " + " " * (column - 1) + "^")


@pytest.mark.parametrize("trace", ["nowhere/t.json", "."])
def test_outputs_are_all_or_none(trace: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "y.npz"
    text = refused(capsys, *RUN, "--out", str(out), "--trace", str(tmp_path / trace))
    assert text.count("can't be written") == 1
    assert list(tmp_path.iterdir()) == []


def test_sbuf_holds_bytes_of_every_partition(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    state = tmp_path / "s.npz"
    np.savez(state, sbuf=np.zeros((128, 4), np.float32))
    assert "float32 of shape (128, 4); sbuf holds raw bytes, uint8, partitions × bytes" in refused(
        capsys, *RUN, "--sbuf", str(state)
    )
    np.savez(state, **{"p0+0": np.ones(4)})
    assert "astype(np.float32)" in refused(capsys, *RUN, "--sbuf", str(state))
    assert "none.npz: no such file" in refused(capsys, *RUN, "--sbuf", "none.npz")
    assert "--choice a is given twice: b and c" in refused(capsys, *RUN, "--choice", "a=b", "--choice", "a=c")


def test_step_numbers_instructions_as_the_program_does(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["neuron", "step", RUN[2] * 2, "--engine", "reference"]) == 0
    warnings = [line for line in capsys.readouterr().out.splitlines() if "warning" in line]
    assert warnings
    later = neuron.assemble(SORT.replace("p0+0x0", "p0+0x800")).encode().hex()
    main(["neuron", "step", RUN[2] + later, "--engine", "reference"])
    assert "warning: instruction 1: 4 elements were never written" in capsys.readouterr().out
