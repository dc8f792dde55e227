"""``python -m fuzz``: run every target for a share of the time, from the kept inputs on."""

from __future__ import annotations

import argparse
import inspect
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from .corpus import FRESH, HERE, LONGEST_INPUT, folder_name, kept, unpack

SECONDS_FOR_ONE_INPUT = 20
MEMORY_LIMIT_MB = 4096


def targets() -> Iterator[str]:
    """Yield ``module:function`` of every target."""
    for path in sorted(HERE.glob("target_*.py")):
        module = import_module(f"fuzz.{path.stem}")
        for name, function in inspect.getmembers(module, inspect.isfunction):
            if name.startswith("fuzz_") and function.__module__ == module.__name__:
                yield f"{path.stem}:{name}"


def guided(target: str, seconds: int) -> int:
    """Fuzz one target under atheris in a process of its own and return its exit code."""
    fresh = FRESH / folder_name(target)
    fresh.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        unpack(kept(target), Path(folder))
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
            folder,
        ]
        return subprocess.run(command, cwd=HERE.parent, check=False).returncode


def unguided(target: str, seconds: int, seed: int) -> int:
    """Run the kept inputs of one target and changed ones, without atheris; return the exit code."""
    # Without site if this process is: a sanitizer's build has its packages in PYTHONPATH.
    python = [sys.executable, *(["-S"] if sys.flags.no_site else [])]
    command = [*python, "-m", "fuzz.drive", target, f"--seconds={seconds}", f"--seed={seed}"]
    return subprocess.run(command, cwd=HERE.parent, check=False).returncode


def main() -> int:
    """Run all targets, or those asked for, and name the ones that failed."""
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0, help="time for all targets together")
    parser.add_argument("--only", default="", help="targets whose name contains one of these, with commas")
    parser.add_argument("--unguided", action="store_true", help="without atheris")
    parser.add_argument("--seed", type=int, default=0, help="of inputs that are not guided")
    options = parser.parse_args()
    without = options.unguided or find_spec("atheris") is None
    if without and not options.unguided:
        sys.stdout.write(
            f"atheris is not installed (CPython {platform.python_version()}, {platform.machine()}): "
            "the kept inputs and changes of them are run, not guided by coverage\n"
        )
    chosen = [t for t in targets() if any(part in t for part in options.only.split(","))]
    seconds = max(1, round(60 * options.minutes / max(1, len(chosen))))
    failed = []
    for target in chosen:
        sys.stdout.write(f"==> {target}, {seconds} s\n")
        sys.stdout.flush()
        if unguided(target, seconds, options.seed) if without else guided(target, seconds):
            failed.append(target)
    sys.stdout.write(f"{len(chosen) - len(failed)} passed, {len(failed)} failed\n")
    for target in failed:
        sys.stdout.write(f"failed: {target}; the input lies in fuzz/corpus-new/{folder_name(target)}\n")
    return 1 if failed or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
