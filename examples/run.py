"""What `make run` shows: real scores ranked, and the models at work on them."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.console import Console

import lanesort as ls

HERE = Path(__file__).resolve().parent
SCORES = HERE / "debian-search"
console = Console(highlight=False, markup=False, soft_wrap=True)

Array = npt.NDArray[Any]


def main() -> None:
    """Run every part in turn."""
    scores = np.load(SCORES / "scores.npy")
    names = (SCORES / "names.txt").read_text(encoding="utf-8").splitlines()
    queries = (SCORES / "queries.txt").read_text(encoding="utf-8").splitlines()
    rank(scores, names, queries)


def heading(text: str) -> None:
    """Print a heading."""
    console.print(f"\n── {text} " + "─" * max(0, 90 - len(text)))


def rank(scores: Array, names: list[str], queries: list[str]) -> None:
    """Print the five best packages of each query, and the time beside NumPy's."""
    heading(f"top 5 of {scores.shape[1]} packages for {scores.shape[0]} queries")
    values, indices = ls.top_k(scores, 5)
    for query, row, columns in zip(queries, values, indices, strict=True):
        found = (f"{names[c]} {v:.4f} @{c}" for v, c in zip(row, columns, strict=True))
        console.print(f"{query}\n    {', '.join(found)}")
    ours = best_milliseconds(lambda: ls.top_k(scores, 5))
    theirs = best_milliseconds(lambda: numpy_top_k(scores, 5))
    console.print(f"lanesort.top_k {ours:.3f} ms; NumPy argpartition and argsort {theirs:.3f} ms")


def numpy_top_k(scores: Array, k: int) -> tuple[Array, Array]:
    """Do the same job in NumPy, as fast as it goes there; ties come out in any order."""
    chosen = np.argpartition(-scores, k, axis=1)[:, :k]
    values = np.take_along_axis(scores, chosen, axis=1)
    order = np.argsort(-values, axis=1)
    return np.take_along_axis(values, order, axis=1), np.take_along_axis(chosen, order, axis=1)


def best_milliseconds(job: Any, repeats: int = 7) -> float:
    """Return the best of some runs."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        job()
        times.append(time.perf_counter() - start)
    return 1e3 * min(times)


if __name__ == "__main__":
    main()
