"""What commands print is text: no markup, no emoji names, no lost placeholders in help."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import lanesort.cli
from lanesort.cli.main import CLOSED_PIPE, COMMANDS, app, main
from lanesort.cli.neuron import app as neuron
from lanesort.cli.plan import app as plan
from lanesort.cli.pto import app as pto
from tests.conftest import ROOT as CHECKOUT

ROOT = Path(lanesort.cli.__file__).parent


def test_only_one_place_makes_consoles() -> None:
    sources = {path.name: path.read_text(encoding="utf-8") for path in ROOT.rglob("*.py")}
    assert [name for name, text in sources.items() if "Console(stderr" in text] == ["console.py"]
    makers = [name for name, text in sources.items() if " Console(" in text or "=Console(" in text]
    assert makers == []


def test_labels_are_printed_as_they_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scores, labels = tmp_path / "s.npy", tmp_path / "labels.txt"
    np.save(scores, np.array([[1.0, 2.0]], np.float32))
    labels.write_text("[red]a\n:smile:\n", encoding="utf-8")
    assert main(["top-k", str(scores), "-k", "2", "--labels", str(labels)]) == 0
    shown = capsys.readouterr().out
    assert "[red]a" in shown
    assert ":smile:" in shown


def test_errors_are_printed_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sort", ":smile:[b].npy", "-o", "x.npy"]) == 2
    assert capsys.readouterr().err.strip() == "lanesort: :smile:[b].npy: no such file"


def test_help_shows_placeholders(capsys: pytest.CaptureFixture[str]) -> None:
    main(["neuron", "run", "--help"])
    shown = capsys.readouterr().out
    assert "p<partition>+<byte>" in shown
    assert "i<number>.values" in shown


def test_every_command_stands_in_the_documentation() -> None:
    page = (CHECKOUT / "docs" / "command-line.md").read_text(encoding="utf-8")
    table = "".join(line.split("|")[1] for line in page.splitlines() if line.startswith("| `"))
    for name in COMMANDS:
        assert f"`{name}" in table
    for group in (neuron, pto, plan):
        for name in group:
            if not name.startswith("-"):
                assert f"`{name}`" in table or f" {name}`" in table


def test_exit_codes_stand_in_the_documentation() -> None:
    page = (CHECKOUT / "docs" / "command-line.md").read_text(encoding="utf-8")
    assert f"| {CLOSED_PIPE} | the reader of the output had gone" in page


@pytest.mark.parametrize("group", [[], ["neuron"], ["pto"], ["plan"]], ids=str)
def test_a_list_of_commands_says_what_each_does(group: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    main([*group, "--help"])
    shown = capsys.readouterr().out
    lines = {line.split()[1]: line for line in shown.splitlines() if line.startswith("│ ")}
    for name in app[group[0]] if group else app:
        if not name.startswith("-"):
            assert len(lines[name].split()) > 4, f"{name} says nothing"


WITHOUT = """
import sys
sys.modules["xdsl"] = None
from lanesort.cli.main import main
print(main(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("arguments", "code"), [(["pto", "--help"], 0), (["pto", "check", "x.pto"], 2)], ids=str
)
def test_a_missing_extra_is_named_when_a_command_is_called(arguments: list[str], code: int) -> None:
    command = [sys.executable, "-c", WITHOUT, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == str(code)
    assert "Traceback" not in done.stderr
    assert ("pip install 'lanesort[pto]'" in done.stderr) is (code == 2)
