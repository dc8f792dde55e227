"""What a job takes: its time, as it says itself, and the peak memory of its tree of processes."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["Footprint", "run", "tree_bytes"]

SAMPLE_SECONDS = 0.02
PREPARING_SECONDS = 300.0
"""What a job may take before its clock starts, and for its check afterwards."""

MOST_BYTES = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") * 3 // 4
"""A job that takes more is ended, before the system ends whatever it chooses."""


@dataclass
class Footprint:
    """Seconds and peak bytes of a job, and what its check found; or why there are none."""

    seconds: float | None = None
    peak_bytes: int = 0
    check: dict[str, Any] = field(default_factory=dict)
    problem: str = ""


def run(arguments: list[str], limit_seconds: float) -> Footprint:
    """Run ``python arguments`` and measure it.

    The process prints a line of JSON each when its work begins, ``{"begun": true}``, when it is
    done, ``{"seconds": …}``, and when the result was checked, ``{"check": {…}}``. Memory is sampled
    between the first two. A process that works longer than `limit_seconds` is ended.
    """
    result = Footprint()
    process = subprocess.Popen(
        [sys.executable, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    try:
        _watch(process, result, limit_seconds)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        _, errors = process.communicate()
    if result.seconds is None and not result.problem:
        last = errors.decode(errors="replace").strip().splitlines()
        result.problem = last[-1] if last else f"ended with code {process.returncode}"
    return result


def _watch(process: subprocess.Popen[bytes], result: Footprint, limit_seconds: float) -> None:
    assert process.stdout is not None
    assert process.stderr is not None
    os.set_blocking(process.stdout.fileno(), False)
    selector = selectors.DefaultSelector()
    selector.register(process.stdout, selectors.EVENT_READ)
    deadline = time.monotonic() + PREPARING_SECONDS
    working = False
    text = b""
    while time.monotonic() < deadline:
        if working:
            result.peak_bytes = max(result.peak_bytes, tree_bytes(process.pid))
            if result.peak_bytes > MOST_BYTES:
                result.problem = f"ended: took more than {MOST_BYTES / 2**30:.0f} GiB of memory"
                return
        if not selector.select(SAMPLE_SECONDS):
            continue
        read = process.stdout.read()
        if not read:
            return
        *lines, text = (text + read).split(b"\n")
        for said in map(json.loads, lines):
            working = "begun" in said
            result.seconds = said.get("seconds", result.seconds)
            result.check = said.get("check", result.check)
            deadline = time.monotonic() + (limit_seconds if working else PREPARING_SECONDS)
    if working:
        result.problem = f"not finished in {limit_seconds:.0f} s"
    elif result.seconds is None:
        result.problem = f"not ready in {PREPARING_SECONDS:.0f} s"


def tree_bytes(root: int) -> int:
    """Return the memory that a process and its descendants hold of their own.

    Anonymous and shared memory; pages of files, which the system takes back at will, don't count.
    """
    total, waiting = 0, [root]
    while waiting:
        folder = Path(f"/proc/{waiting.pop()}")
        try:
            status = (folder / "status").read_text(encoding="utf-8")
            for children in folder.glob("task/*/children"):
                waiting.extend(int(pid) for pid in children.read_text(encoding="utf-8").split())
        except OSError:  # ended in the meantime
            continue
        for line in status.splitlines():
            name, _, value = line.partition(":")
            if name in ("RssAnon", "RssShmem"):
                total += int(value.split()[0]) << 10
    return total
