"""``python -m fuzz``: run every target for a share of the time, from the kept corpus."""

from __future__ import annotations

import argparse
import inspect
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

HERE = Path(__file__).resolve().parent
LONGEST_INPUT = 4096
SECONDS_FOR_ONE_INPUT = 20
MEMORY_LIMIT_MB = 4096


def targets() -> Iterator[str]:
    """Yield ``module:function`` of every target."""
    for path in sorted(HERE.glob("target_*.py")):
        module = import_module(f"fuzz.{path.stem}")
        for name, _ in inspect.getmembers(module, inspect.isfunction):
            if name.startswith("fuzz_"):
                yield f"{path.stem}:{name}"


def run(target: str, seconds: int) -> int:
    """Fuzz one target in a process of its own and return its exit code."""
    folder = target.replace(":", "-")
    fresh, kept = HERE / "corpus-new" / folder, HERE / "corpus" / folder
    for corpus in (fresh, kept):
        corpus.mkdir(parents=True, exist_ok=True)
    command = [
        sys.executable,
        "-m",
        "fuzz.one",
        target,
        f"-max_total_time={seconds}",
        f"-max_len={LONGEST_INPUT}",
        f"-timeout={SECONDS_FOR_ONE_INPUT}",
        f"-rss_limit_mb={MEMORY_LIMIT_MB}",
        f"-artifact_prefix={fresh}/failure-",
        "-print_final_stats=1",
        str(fresh),
        str(kept),
    ]
    return subprocess.run(command, cwd=HERE.parent, check=False).returncode


def main() -> int:
    """Run all targets, or those asked for, and name the ones that failed."""
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0, help="time for all targets together")
    parser.add_argument("--only", default="", help="targets whose name contains this")
    options = parser.parse_args()
    chosen = [target for target in targets() if options.only in target]
    seconds = max(1, round(60 * options.minutes / max(1, len(chosen))))
    failed = []
    for target in chosen:
        sys.stdout.write(f"==> {target}, {seconds} s\n")
        sys.stdout.flush()
        if run(target, seconds):
            failed.append(target)
    sys.stdout.write(f"{len(chosen) - len(failed)} passed, {len(failed)} failed\n")
    for target in failed:
        sys.stdout.write(f"failed: {target}; the input lies in fuzz/corpus-new/{target.replace(':', '-')}\n")
    return 1 if failed or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
