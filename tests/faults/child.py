"""Runs a piece of Python in a process of its own, where it may be starved, stopped or killed."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.conftest import ROOT

__all__ = ["run", "start"]


def _environment() -> dict[str, str]:
    paths = [str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "OPENBLAS_NUM_THREADS": "1",
        # Large blocks go back to the system at once, so that a limit and a leak are seen.
        "MALLOC_MMAP_THRESHOLD_": "65536",
    }


def start(code: str, *arguments: object) -> subprocess.Popen[str]:
    """Start `code` with arguments; what it prints can be read from both streams."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        env=_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(code: str, *arguments: object, seconds: float = 300) -> str:
    """Run `code` to its end and return what it printed; a crash or an error fails the test."""
    with start(code, *arguments) as process:
        try:
            printed, errors = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    assert process.returncode == 0, f"exit code {process.returncode}\n{printed[-2000:]}\n{errors[-4000:]}"
    return printed
