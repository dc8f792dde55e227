"""``python -m fuzz.drive TARGET``: kept inputs through a target, then changed ones, without atheris.

For builds and platforms that atheris does not run on. Inputs are not guided by what code they
reach; they depend on the seed alone. Given files, it runs these and nothing else.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from pathlib import Path

import numpy as np

from .corpus import FRESH, LONGEST_INPUT, folder_name, kept

__all__ = ["changed", "feed", "load"]


def load(target: str) -> Callable[[bytes], None]:
    """Return the function of ``module:function``."""
    module, _, name = target.partition(":")
    function: Callable[[bytes], None] = getattr(import_module(f"fuzz.{module}"), name)
    return function


def changed(inputs: list[bytes], rng: np.random.Generator) -> Iterator[bytes]:
    """Yield inputs without end: parts of two of them with some bytes changed, or random bytes."""
    while True:
        if not inputs or rng.random() < 0.1:
            yield rng.bytes(int(rng.integers(1, 1 << int(rng.integers(1, 12)))))
            continue
        a, b = (inputs[int(n)] for n in rng.integers(len(inputs), size=2))
        cut = int(rng.integers(len(a) + 1))
        data = bytearray(a if rng.random() < 0.7 else a[:cut] + b[cut:])
        for _ in range(int(rng.integers(1, 9)) if data else 0):
            data[int(rng.integers(min(len(data), 32 if rng.random() < 0.5 else len(data))))] = int(
                rng.integers(256)
            )
        yield bytes(data[:LONGEST_INPUT])


def feed(function: Callable[[bytes], None], inputs: Iterable[bytes], current: Path) -> int:
    """Run a target on inputs and return how many there were.

    Each input stands in the file `current` while it runs, so that it is still there when the
    process dies of it. The file is removed when all held.
    """
    count = 0
    file = os.open(current, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        for data in inputs:
            os.ftruncate(file, 0)
            os.pwrite(file, data, 0)
            function(data)
            count += 1
    finally:
        os.close(file)
    current.unlink()
    return count


def _for(seconds: float, inputs: Iterator[bytes]) -> Iterator[bytes]:
    end = time.monotonic() + seconds
    for data in inputs:
        if time.monotonic() > end:
            return
        yield data


def main() -> int:
    """Run the kept inputs, then changed ones for some seconds."""
    parser = argparse.ArgumentParser(prog="fuzz.drive", description=__doc__)
    parser.add_argument("target", help="module:function")
    parser.add_argument("files", nargs="*", type=Path, help="inputs to run instead")
    parser.add_argument("--seconds", type=float, default=0.0, help="time for changed inputs")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--failure", type=Path, help="where an input that fails is put")
    options = parser.parse_args()
    function, inputs = load(options.target), kept(options.target)
    for file in options.files:
        function(file.read_bytes())
    if options.files:
        return 0
    options.failure = options.failure or FRESH / folder_name(options.target) / "failure-unguided"
    options.failure.parent.mkdir(parents=True, exist_ok=True)
    replayed = feed(function, inputs, options.failure)
    rng = np.random.default_rng(options.seed)
    made = feed(function, _for(options.seconds, changed(inputs, rng)), options.failure)
    sys.stdout.write(f"{replayed} kept inputs and {made} changed ones (seed {options.seed}) hold\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
