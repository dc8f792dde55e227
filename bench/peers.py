"""The peers: for each a table of operations, every one a function of (case, input) to a call.

A peer does the whole job in its fastest documented way and returns arrays of its own kind.
Where it has no direct function, the nearest recipe that its users write stands here.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from bench import plain
from bench.case import Case

__all__ = ["PEERS", "job"]

Array = npt.NDArray[Any]
Call = Callable[[], Any]
Make = Callable[[Case, Array], Call]


def _lanesort(case: Case, x: Array) -> Call:
    ls = import_module("lanesort")
    threads = case.threads
    flat = x[0] if case.shape[0] == 1 else x
    jobs: dict[str, Call] = {
        "sort_pairs": lambda: ls.sort_pairs(x, index_dtype=_index(x), threads=threads),
        "sort": lambda: ls.sort(flat, threads=threads),
        "argsort": (lambda: ls.argsort(flat))
        if x.size <= 64
        else (lambda: ls.argsort(flat, threads=threads)),
        "top_k": lambda: ls.top_k(x, case.k, index_dtype=np.int32, threads=threads),
        "top_k_outer": lambda: ls.top_k(x, case.k, axis=0, threads=threads),
        "flatnonzero": lambda: ls.flatnonzero(flat, index_dtype=np.int32, threads=threads),
        "nonzero": lambda: ls.nonzero(x),
        "merge": lambda: ls.merge(
            list(x), descending=True, index_dtype=np.uint32, check=False, threads=threads
        ),
        "sort_by_key": lambda: ls.sort_by_key(flat, flat.astype(np.uint64), threads=threads),
    }
    return jobs[case.op] if case.op in jobs else _instruction(case, x)


def _instruction(case: Case, x: Array) -> Call:
    return import_module("bench.instructions").job(case, x)  # type: ignore[no-any-return]


def _index(x: Array) -> Any:
    return np.uint16 if x.itemsize == 2 else np.uint32


def _numpy(kind: str | None) -> Make:
    def make(case: Case, x: Array) -> Call:
        flat = x[0] if case.shape[0] == 1 else x
        if case.op == "merge":
            packed = _packed_runs(x)
            return lambda: np.sort(packed, kind="stable")
        jobs: dict[str, Call] = {
            "sort_pairs": lambda: _taken(x, np.argsort(x, axis=1, kind=kind)),
            "sort": lambda: np.sort(flat, kind=kind),
            "argsort": lambda: np.argsort(flat, kind=kind),
            "top_k": lambda: _numpy_top_k(x, case.k),
            "top_k_outer": lambda: _numpy_top_k(np.ascontiguousarray(x.T), case.k),
            "flatnonzero": lambda: np.flatnonzero(flat),
            "nonzero": lambda: np.nonzero(x),
            "sort_by_key": lambda: flat.astype(np.uint64)[np.argsort(flat, kind=kind)],
        }
        return jobs[case.op]

    return make


def _taken(x: Array, order: Array) -> tuple[Array, Array]:
    return np.take_along_axis(x, order, axis=1), order


def _numpy_top_k(x: Array, k: int) -> tuple[Array, Array]:
    chosen = np.argpartition(-x, k - 1, axis=1)[:, :k]
    values = np.take_along_axis(x, chosen, axis=1)
    order = np.argsort(-values, axis=1)
    return np.take_along_axis(values, order, axis=1), np.take_along_axis(chosen, order, axis=1)


def _packed_runs(x: Array) -> Array:
    """Keys and positions in one u64, so that NumPy's merging sort of it is a merge of pairs."""
    positions = np.arange(x.size, dtype=np.uint64).reshape(x.shape)
    return (_descending_keys(x).astype(np.uint64) << np.uint64(32) | positions).ravel()


def _descending_keys(x: Array) -> Array:
    bits = x.view(np.uint32)
    sign = np.uint32(0x80000000)
    return ~np.where(bits & sign, ~bits, bits | sign)


def _numpy_packed(case: Case, x: Array) -> Call:
    positions = np.arange(case.shape[1], dtype=np.uint64)

    def call() -> tuple[Array, Array]:
        bits = x.view(np.uint32)
        sign = np.uint32(0x80000000)
        keys = np.where(bits & sign, ~bits, bits | sign)
        packed = keys.astype(np.uint64) << np.uint64(32) | positions
        packed.sort(axis=1)
        ordered = (packed >> np.uint64(32)).astype(np.uint32)
        values = np.where(ordered & sign, ordered ^ sign, ~ordered).view(np.float32)
        return values, packed.astype(np.uint32)

    return call


def _torch(case: Case, x: Array) -> Call:
    torch = import_module("torch")
    torch.set_num_threads(case.threads)
    bits = x.view(np.int16) if x.dtype.name == "bfloat16" else x
    t = torch.from_numpy(bits)
    if x.dtype.name == "bfloat16":
        t = t.view(torch.bfloat16)
    flat = t[0] if case.shape[0] == 1 else t
    jobs: dict[str, Call] = {
        "sort_pairs": lambda: torch.sort(t, dim=1, stable=True),
        "sort": lambda: torch.sort(flat),
        "argsort": lambda: torch.argsort(flat, stable=True),
        "top_k": lambda: torch.topk(t, case.k, dim=1),
        "flatnonzero": lambda: torch.nonzero(flat),
        "nonzero": lambda: torch.nonzero(t, as_tuple=True),
    }
    return jobs[case.op]


def _jax(case: Case, x: Array) -> Call:
    jax = import_module("jax")
    t = jax.numpy.asarray(x)
    top = jax.jit(lambda v: jax.lax.top_k(v, case.k))
    jobs: dict[str, Call] = {"top_k": lambda: jax.block_until_ready(top(t))}
    return jobs[case.op]


def _polars(case: Case, x: Array) -> Call:
    polars = import_module("polars")
    column = polars.Series("x", x.reshape(-1))
    jobs: dict[str, Call] = {
        "argsort": column.arg_sort,
        "flatnonzero": lambda: (column != 0).arg_true(),
    }
    return jobs[case.op]


def _onnxruntime(case: Case, x: Array) -> Call:
    session = import_module("bench.onnx_top_k").session(case.threads)
    feed = {"x": x, "k": np.array([case.k], np.int64)}
    jobs: dict[str, Call] = {"top_k": lambda: session.run(None, feed)}
    return jobs[case.op]


PEERS: dict[str, tuple[str, Make]] = {
    "lanesort": ("lanesort", _lanesort),
    "numpy": ("numpy", _numpy(None)),
    "numpy-stable": ("numpy", _numpy("stable")),
    "numpy-packed": ("numpy", _numpy_packed),
    "torch": ("torch", _torch),
    "jax": ("jax", _jax),
    "polars": ("polars", _polars),
    "onnxruntime": ("onnxruntime", _onnxruntime),
    "vqsort": ("bench.plain", plain.vqsort_job),
    "plain-cpp": ("bench.plain", plain.cpp_job),
    "kernel": ("lanesort", lambda case, x: import_module("bench.instructions").bare_kernel(case, x)),
}
"""Each peer: the module that it needs, and how it does a case."""


def job(peer: str, case: Case, x: Array) -> Call:
    """Return a call that does the case once, as `peer` does it."""
    return PEERS[peer][1](case, x)
