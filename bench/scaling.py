"""``python -m bench scaling``: more than memory, more than one process.

Time and peak memory of lanesort and its peers on one column of float32: in memory, on two Dask
workers, and from file to file under a memory limit. Every job has a process of its own, and its
result is checked. The report goes to bench/out/scaling.md and .json.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from bench.columns import disk_bytes_per_second, make
from bench.footprint import Footprint, run
from bench.report import cpu_name
from bench.scaling_jobs import JOBS

__all__ = ["main"]

FROM_FILE = "from file to file"
PEERS = ("lanesort", "dask", "distributed", "numpy", "polars", "duckdb")


@dataclass(frozen=True)
class Done:
    """A job that was run, or was not."""

    operation: str
    job: str
    n: int
    found: Footprint


def main(arguments: list[str]) -> int:
    """Run the jobs asked for and write the report."""
    parser = argparse.ArgumentParser(prog="bench scaling", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a million elements, a minute in all")
    parser.add_argument("--n", type=float, default=1e8, help="elements of the jobs in memory")
    parser.add_argument("--external", type=float, default=1e9, help="elements of the jobs from file to file")
    parser.add_argument("--memory", type=int, default=2 << 30, help="bytes that those may use")
    parser.add_argument("--limit", type=float, default=180, help="seconds that a job may take")
    parser.add_argument("--only", help="jobs whose operation or name contains this")
    parser.add_argument("--folder", type=Path, help="where the files lie; a temporary folder unless given")
    parser.add_argument("--out", type=Path, default=Path("bench/out"))
    options = parser.parse_args(arguments)
    if options.quick:
        options.n, options.external, options.memory, options.limit = 1e6, 4e6, 256 << 20, 30
    options.out.mkdir(parents=True, exist_ok=True)
    folder = options.folder or Path(tempfile.mkdtemp(prefix="lanesort-scaling-"))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        disk = disk_bytes_per_second(folder)
        done = _all(options, folder)
    finally:
        if options.folder is None:
            shutil.rmtree(folder, ignore_errors=True)
    table = _markdown(done, disk, options.memory)
    (options.out / "scaling.md").write_text(table, encoding="utf-8")
    content = {"cpu": cpu_name(), "disk_bytes_per_second": disk, "jobs": [asdict(d) for d in done]}
    (options.out / "scaling.json").write_text(json.dumps(content, indent=1), encoding="utf-8")
    sys.stdout.write(table)
    return 0


def _all(options: argparse.Namespace, folder: Path) -> list[Done]:
    done = []
    for operation, jobs in JOBS.items():
        n = int(options.external if operation.endswith(FROM_FILE) else options.n)
        for job, (module, _) in jobs.items():
            if options.only and options.only not in f"{operation} {job}":
                continue
            sys.stderr.write(f"{operation}, {n} elements: {job}\n")
            if find_spec(module) is None:
                done.append(Done(operation, job, n, Footprint(problem=f"{module} is not installed")))
                continue
            make(folder, n)
            os.sync()  # what one job wrote is not another's to wait for
            own = Path(tempfile.mkdtemp(dir=folder))
            for source in folder.glob(f"{n}.*"):
                (own / source.name).symlink_to(source)
            given = ["-m", "bench.scaling_jobs", operation, job, str(own), str(n), str(options.memory)]
            done.append(Done(operation, job, n, run(given, options.limit)))
            shutil.rmtree(own, ignore_errors=True)
    return done


def _markdown(done: list[Done], disk: float, memory_bytes: int) -> str:
    installed = ", ".join(f"{p} {_version(p)}" for p in PEERS if _version(p))
    lines = [
        f"CPU: {cpu_name()}, {len(os.sched_getaffinity(0))} cores; {installed}.",
        f"The disk writes {disk / 1e6:.0f} MB/s, synced.",
        f"From file to file {memory_bytes / 2**30:.3g} GiB of memory are allowed.",
        "",
        "| operation | elements | | seconds | peak memory | result |",
        "|---|--:|---|--:|--:|---|",
    ]
    for item in done:
        found = item.found
        seconds = f"{found.seconds:.3g}" if found.seconds is not None else "–"
        peak = f"{found.peak_bytes / 2**20:,.0f} MiB" if found.peak_bytes else "–"
        verdict = found.problem or _verdict(item, done)
        lines.append(f"| {item.operation} | {item.n:.0e} | {item.job} | {seconds} | {peak} | {verdict} |")
    return "\n".join(lines) + "\n"


def _verdict(item: Done, done: list[Done]) -> str:
    """Say whether a result is right: in order, and of the same values as lanesort's."""
    check = item.found.check
    if not check:
        return "not checked"
    first = next(d for d in done if (d.operation, d.n) == (item.operation, item.n) and d.found.check)
    if not check["sorted"] or check["values"] != first.found.check["values"]:
        return "wrong"
    return "right, ties in any order" if check.get("stable") is False else "right"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
