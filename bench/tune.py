"""``python -m bench.tune``: measure the thresholds between the kernels' algorithms.

Each threshold is a constant of the native sources, by which this CPU may or may not do best. The
table shows nanoseconds an element for each value tried, and marks the one in the sources.
"""

from __future__ import annotations

import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["THRESHOLDS", "Threshold", "main", "set_in_sources"]

ROOT = Path(__file__).resolve().parent.parent
FLAGS = ["-O3", "-march=native", "-std=c++20", "-DHWY_COMPILE_ONLY_STATIC", f"-I{ROOT}"]


@dataclass(frozen=True)
class Threshold:
    """A constant, where it is set, the macro that replaces it, and what to run with each value."""

    name: str
    source: str
    macro: str
    values: tuple[int, ...]
    runs: tuple[tuple[str, int], ...]


THRESHOLDS = (
    Threshold(
        "rows of a network's matrix, beyond which rows are partitioned",
        "native/sort_network.h",
        "LANESORT_NETWORK_ROWS",
        (128, 256, 512, 1024),
        (("single", 4096), ("single", 65536)),
    ),
    Threshold(
        "pairs of a round of a merge",
        "native/merge_span.h",
        "LANESORT_ROUND_PAIRS",
        (2048, 4096, 8192, 16384),
        (("merge", 2), ("merge", 16)),
    ),
    Threshold(
        "pairs of a group of runs, up to which networks merge it",
        "native/merge_batch.h",
        "LANESORT_BATCH_MERGE_ROWS",
        (32, 128, 256, 512),
        (("groups", 64), ("groups", 128), ("groups", 256), ("groups", 512)),
    ),
)
BATCH_COLUMNS = (8, 16, 32, 64, 96, 128)


def set_in_sources(threshold: Threshold) -> int:
    """Return the value that the sources have.

    Raises
    ------
    ValueError
        If the macro is not where it is said to be.
    """
    text = (ROOT / threshold.source).read_text(encoding="utf-8")
    found = re.search(rf"#define {threshold.macro} (\d+)", text)
    if found is None:
        raise ValueError(f"{threshold.source} does not define {threshold.macro}")
    return int(found[1])


def _built(folder: Path, defines: Sequence[str] = ()) -> Path:
    program = folder / ("tune" + "".join(defines).replace("=", "-"))
    source = ROOT / "bench/native/tune.cpp"
    subprocess.run(["g++", *FLAGS, *(f"-D{d}" for d in defines), str(source), "-o", str(program)], check=True)
    return program


def _timed(program: Path, what: str, size: int) -> float:
    done = subprocess.run([str(program), what, str(size)], check=True, capture_output=True, text=True)
    return float(done.stdout)


def _thresholds(folder: Path) -> Iterator[str]:
    for threshold in THRESHOLDS:
        present = set_in_sources(threshold)
        yield f"\n{threshold.name} ({threshold.source}, {threshold.macro})\n"
        heads = " | ".join(f"{what} {size}" for what, size in threshold.runs)
        yield f"| value | {heads} |\n|---|{'--:|' * len(threshold.runs)}\n"
        for value in threshold.values:
            program = _built(folder, [f"{threshold.macro}={value}"])
            times = " | ".join(f"{_timed(program, *run):.2f}" for run in threshold.runs)
            yield f"| {value}{' (set)' if value == present else ''} | {times} |\n"


def _batches(folder: Path) -> Iterator[str]:
    program = _built(folder)
    yield "\nrows sorted several at a time or one by one (native/sort_network.h, kBatchCount)\n"
    yield "| columns | batch | single |\n|---|--:|--:|\n"
    for columns in BATCH_COLUMNS:
        batch, single = (_timed(program, what, columns) for what in ("batch", "single"))
        yield f"| {columns} | {batch:.2f} | {single:.2f} |\n"


def main() -> int:
    """Print the tables, in nanoseconds an element."""
    sys.stdout.write(f"{platform.processor() or platform.machine()}, ns an element\n")
    with tempfile.TemporaryDirectory() as name:
        for line in (*_batches(Path(name)), *_thresholds(Path(name))):
            sys.stdout.write(line)
            sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
