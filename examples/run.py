"""What `make run` shows: real scores ranked, and the models at work on them."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.console import Console

import lanesort as ls
from lanesort import neuron, plan, pto

HERE = Path(__file__).resolve().parent
SCORES = HERE / "debian-search"
CHESS = 1
"""The row whose query is about chess."""

console = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)

Array = npt.NDArray[Any]


def main() -> None:
    """Run every part in turn."""
    scores = np.load(SCORES / "scores.npy")
    names = (SCORES / "names.txt").read_text(encoding="utf-8").splitlines()
    queries = (SCORES / "queries.txt").read_text(encoding="utf-8").splitlines()
    rank(scores, names, queries)
    words()
    run_words(scores[CHESS, :2048], names)
    run_tiles(scores[CHESS], names)
    run_kernel(scores, names)
    run_plans(scores)


def heading(text: str) -> None:
    """Print a heading."""
    console.print(f"\n── {text} " + "─" * max(0, 90 - len(text)))


def listed(values: Array, indices: Array, names: list[str]) -> str:
    """Return the ranking as one line."""
    return ", ".join(f"{names[i]} {v:.4f} @{i}" for v, i in zip(values, indices, strict=True))


def rank(scores: Array, names: list[str], queries: list[str]) -> None:
    """Print the five best packages of each query, and the time beside NumPy's."""
    heading(f"top 5 of {scores.shape[1]} packages for {scores.shape[0]} queries")
    values, indices = ls.top_k(scores, 5)
    for query, row, columns in zip(queries, values, indices, strict=True):
        console.print(f"{query}\n    {listed(row, columns, names)}")
    ours = best_milliseconds(lambda: ls.top_k(scores, 5))
    theirs = best_milliseconds(lambda: numpy_top_k(scores, 5))
    console.print(f"lanesort.top_k {ours:.3f} ms; NumPy argpartition and argsort {theirs:.3f} ms")


def numpy_top_k(scores: Array, k: int) -> tuple[Array, Array]:
    """Do the same job in NumPy, as fast as it goes there; ties come out in any order."""
    chosen = np.argpartition(-scores, k, axis=1)[:, :k]
    values = np.take_along_axis(scores, chosen, axis=1)
    order = np.argsort(-values, axis=1)
    return np.take_along_axis(values, order, axis=1), np.take_along_axis(chosen, order, axis=1)


def words() -> None:
    """Print one word of each NeuronCore instruction as assembly, bytes and fields."""
    texts = {
        "neuron.sort": "sort.fp32.desc.stable ch=1 src=[p0+0x0, 2048:1] dst=[p0+0x2000, 2:2048 2048:1]",
        "neuron.nonzero_with_count": str(
            neuron.NonzeroWithCount(
                src=neuron.Tensor(start=0, steps=(1, 1, 1), counts=(8, 1, 1)),
                dst=neuron.Tensor(start=0x1000, steps=(1, 1, 1), counts=(9, 1, 1)),
                in_dtype="fp32",
                index_offset=16,
                padding_val=-1,
                channels=128,
            )
        ),
    }
    for subject, text in texts.items():
        word = neuron.assemble(text)
        heading(f"a {type(word).__name__} word")
        console.print(text)
        console.print(word.encode().hex(" ", 4))
        console.print(neuron.dump(word))
        console.print(f"valid on cayman: {not word.validate('cayman')}; more: lanesort explain {subject}")


def run_words(row: Array, names: list[str]) -> None:
    """Sort 2048 scores by one word on cayman, and compare with the library."""
    heading("the first 2048 scores of the chess query, sorted by a Sort word on cayman")
    core = neuron.NeuronCore("cayman", build="debug")
    core.sbuf.write(0, 0, row)
    word = neuron.assemble("sort.fp32.desc.stable ch=1 src=[p0+0x0, 2048:1] dst=[p0+0x2000, 2:2048 2048:1]")
    result = core.run([word])
    values = core.sbuf.read(0, 0x2000, 2048, "fp32")
    indices = core.sbuf.read(0, 0x4000, 2048, "u32")
    console.print(listed(values[:5], indices[:5], names))
    best = ls.top_k(row, 5)
    same = np.array_equal(best.values, values[:5]) and np.array_equal(best.indices, indices[:5])
    console.print(f"equal to lanesort.top_k: {same}")
    for line in result.log:
        console.print(f"log: {line}")
    for event in result.trace:
        console.print(f"trace: {event}")
    console.print(f"depended on unpinned behaviour: {', '.join(result.unpinned) or 'none'}")


def run_tiles(row: Array, names: list[str]) -> None:
    """Sort 8192 scores by tsort32 and four rounds of tmrgsort, and compare with the library."""
    heading("8192 scores by tsort32 and four rounds of tmrgsort")
    tile = pto.tsort32(row[None], target="a2a3")
    for block_len in (64, 256, 1024, 4096):
        tile = pto.tmrgsort(tile, block_len, target="a2a3")
    values, indices = pto.pairs(tile)
    console.print(listed(values[0, :5], indices[0, :5], names))
    whole = ls.sort_pairs(row, descending=True)
    same = np.array_equal(whole.values, values[0]) and np.array_equal(whole.indices, indices[0])
    console.print(f"all 8192 pairs equal to lanesort.sort_pairs: {same}")


def run_kernel(scores: Array, names: list[str]) -> None:
    """Run the same job as a `.pto` kernel."""
    heading("the same as a kernel: examples/pto/topk_8192_f32.pto")
    text = (HERE / "pto" / "topk_8192_f32.pto").read_text(encoding="utf-8")
    out = np.zeros((1, 16384), np.float32)
    result = pto.run(text, {"scores": scores, "out": out, "row": CHESS})
    pairs = np.asarray(result.outputs["out"]).reshape(-1, 2)
    values, indices = pairs[:, 0], pairs[:, 1].copy().view(np.uint32)
    console.print(listed(values[:5], indices[:5], names))
    best = ls.top_k(scores[CHESS], 5)
    console.print(f"equal to lanesort.top_k: {np.array_equal(best.indices, indices[:5])}")
    for warning in result.warnings:
        console.print(f"warning: {warning}")


def run_plans(scores: Array) -> None:
    """Plan the top 2048 of every query for two accelerators, run the plans and compare them."""
    for target in ("a5", "cayman"):
        heading(f"top 2048 of {scores.shape[0]} × {scores.shape[1]} scores, planned for {target}")
        planned = plan.top_k(shape=scores.shape, k=2048, dtype=scores.dtype, target=target)
        cost = planned.cost
        console.print(f"{planned.chosen.name}: {cost.instructions} instructions, {cost.bytes:,} bytes moved")
        console.print(str(planned.compare()))
        console.print(str(planned.check(scores)))


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
