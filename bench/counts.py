"""``python -m bench.counts``: how many instructions fixed cases take, against a stored baseline.

Times differ from machine to machine and from minute to minute; counts do not, given the compiler
and the SIMD target. callgrind runs the process on a CPU of its own, which has AVX2 and not AVX-512.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from bench.case import Case
from bench.plain import compiled
from lanesort import _core

__all__ = ["CASES", "Counted", "compare", "count"]

HERE = Path(__file__).resolve().parent
TOLERANCE = 0.02
"""Share by which a count may differ: where memory happens to lie decides a few instructions."""

CASES = (
    Case("sort_pairs", "float32", "random", (256, 32)),
    Case("sort_pairs", "float16", "random", (8, 2048)),
    Case("sort", "float64", "random", (1, 32768)),
    Case("top_k", "float32", "random", (4, 16384), k=50),
    Case("flatnonzero", "float32", "density50%", (1, 65536)),
    Case("merge", "float32", "sorted", (4, 2048)),
)


class Counted(NamedTuple):
    """Instructions of one call by case, and the SIMD target that was counted."""

    instructions: dict[str, int]
    target: str

    @property
    def baseline(self) -> Path:
        """Where the counts of this target, as built by the compiler of the core, are stored."""
        return (
            HERE
            / "baselines"
            / (re.sub(r"[^a-z0-9.]+", "-", f"{_core.build} {self.target}".lower()) + ".json")
        )


def count() -> Counted:
    """Run every case under callgrind.

    Raises
    ------
    RuntimeError
        If valgrind is not installed or the run fails.
    """
    if shutil.which("valgrind") is None:
        raise RuntimeError("valgrind is not installed; apt-get install valgrind")
    compiled("callgrind")
    with tempfile.TemporaryDirectory() as folder:
        command = [
            *("valgrind", "--tool=callgrind", "--instr-atstart=no"),
            f"--callgrind-out-file={folder}/counts",
            *(sys.executable, "-m", "bench.counts", "--child"),
        ]
        environment = {
            **os.environ,
            "PYTHONHASHSEED": "0",
            "OPENBLAS_NUM_THREADS": "1",
            "LANESORT_TARGETS": "",
        }
        done = subprocess.run(command, cwd=HERE.parent, env=environment, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"callgrind failed: {done.stderr[-2000:]}")
        dumps = filter(None, map(_dump, sorted(Path(folder).iterdir())))
        return Counted(dict(dumps), done.stdout.strip())


def _dump(path: Path) -> tuple[str, int] | None:
    text = path.read_text(encoding="utf-8")
    name = re.search(r"^desc: Trigger: Client Request: (.+)$", text, re.MULTILINE)
    total = re.search(r"^totals: (\d+)$", text, re.MULTILINE)
    return (name[1], int(total[1])) if name and total else None


def compare(found: dict[str, int], stored: dict[str, int]) -> list[str]:
    """Return a line for each case whose count is off, or that only one side has."""
    complaints = [f"{case} is only in one of run and baseline" for case in found.keys() ^ stored.keys()]
    for case in found.keys() & stored.keys():
        ratio = found[case] / stored[case]
        if abs(ratio - 1) > TOLERANCE:
            complaints.append(
                f"{case} takes {found[case]} instructions, {ratio:.3f} × the {stored[case]} stored"
            )
    return sorted(complaints)


def _child() -> None:
    library = compiled("callgrind")
    peers, inputs = import_module("bench.peers"), import_module("bench.inputs")
    gc.disable()
    for case in CASES:
        call = peers.job("lanesort", case, inputs.make(case))
        call()
        call()
        library.counting_begins()
        call()
        library.counting_ends(case.id.encode())
    sys.stdout.write(_core.targets()[0])


def main() -> int:
    """Count, then compare with the baseline or write it."""
    parser = argparse.ArgumentParser(prog="bench.counts", description=__doc__)
    parser.add_argument(
        "--write", action="store_true", help="store the counts as the baseline of this compiler"
    )
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        _child()
        return 0
    found = count()
    path = found.baseline
    if options.write:
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(found.instructions, indent=2) + "\n", encoding="utf-8")
    for case, instructions in found.instructions.items():
        sys.stdout.write(f"{case}: {instructions} instructions\n")
    if not path.exists():
        sys.stdout.write(f"{path.name} is not stored; --write stores it\n")
        return 0
    complaints = compare(found.instructions, json.loads(path.read_text(encoding="utf-8")))
    sys.stdout.writelines(f"{complaint}\n" for complaint in complaints)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
