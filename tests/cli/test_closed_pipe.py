"""A reader that has gone ends every command in the same way."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from lanesort.cli.main import CLOSED_PIPE
from tests.conftest import ROOT

SCORES = "examples/debian-search/scores.npy"
KERNEL = "examples/pto/topk_8192_f32.pto"


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["neuron", "--help"],
        ["top-k", SCORES],
        ["top-k", SCORES, "--json"],
        ["explain", "neuron.sort"],
        ["pto", "check", KERNEL],
        ["pto", "print", KERNEL],
        ["plan", "sort", "--shape", "2x100"],
        ["probe"],
    ],
    ids=" ".join,
)
def test_nobody_reads_the_output(arguments: list[str]) -> None:
    """By consoles or by plain writes, more than a buffer or less: one exit code, and no words."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        command = [sys.executable, "-m", "lanesort.cli.main", *arguments]
        done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, cwd=ROOT, check=False)
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (CLOSED_PIPE, b"")


def test_nobody_reads_the_error_either() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        command = [sys.executable, "-m", "lanesort.cli.main", "top-k", "none.npy"]
        done = subprocess.run(command, stdout=writing, stderr=writing, cwd=ROOT, check=False)
    finally:
        os.close(writing)
    assert done.returncode == CLOSED_PIPE
