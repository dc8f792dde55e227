"""The instruction models as benchmark jobs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

import lanesort as ls
from bench.case import Case
from lanesort import neuron, pto

__all__ = ["bare_kernel", "job"]

Array = npt.NDArray[Any]
Call = Callable[[], Any]


def job(case: Case, x: Array) -> Call:
    """Return a call that runs the case's instruction once."""
    if case.op.startswith("neuron"):
        return _neuron(case, x)
    if case.op == "tsort32":
        return lambda: pto.tsort32(x, target="a5")
    pairs = pto.tile(x.reshape(1, -1), np.arange(x.size, dtype=np.uint32).reshape(1, -1), x.dtype)
    if case.op == "tmrgsort":
        return lambda: pto.tmrgsort(pairs, 64, target="a5")
    lists = [pto.tile(row[None], np.arange(row.size, dtype=np.uint32)[None], x.dtype) for row in x]
    return lambda: pto.tmrgsort_lists(lists, target="a5")


def _neuron(case: Case, x: Array) -> Call:
    n = case.shape[1] if case.op == "neuron_large" else 8
    core = neuron.NeuronCore("cayman", build="release")
    core.sbuf.write(0, 0, x[0, : max(n, 8)])
    word = neuron.Sort(
        src=neuron.Tensor.at(0, 0, n),
        dst=neuron.Tensor.at(0, 0x4000, (2, n)),
        dtype="fp32",
        descending=True,
        stable=True,
        channels=1,
    )
    words = [word] * (1 if case.op == "neuron_large" else 256)
    return lambda: core.run(words)


def bare_kernel(case: Case, x: Array) -> Call:
    """Return the library call that the case's instruction comes down to."""
    row = np.ascontiguousarray(x[:1])
    return lambda: ls.sort_pairs(row, descending=True, index_dtype=np.uint32)
