"""Peers and probes in C++, compiled by the benchmark: plain stable sorts, vqsort, the floors."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.case import Case

__all__ = ["compiled", "cpp_job", "vqsort_job"]

HERE = Path(__file__).resolve().parent
FLAGS = ["-O3", "-march=native", "-std=c++20", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror"]
Array = npt.NDArray[Any]


@cache
def compiled(name: str, *libraries: str) -> ctypes.CDLL:
    """Compile ``bench/native/<name>.cpp`` if it changed, and load it.

    Raises
    ------
    OSError
        If it can't be compiled here, with the compiler's first complaint.
    """
    source, target = HERE / "native" / f"{name}.cpp", HERE / "out" / f"lib{name}.so"
    target.parent.mkdir(exist_ok=True)
    if not target.exists() or target.stat().st_mtime < source.stat().st_mtime:
        done = subprocess.run(
            ["g++", *FLAGS, str(source), "-o", str(target), *libraries], capture_output=True, text=True
        )
        if done.returncode:
            raise OSError(f"{source.name} can't be compiled here: {done.stderr.splitlines()[0]}")
    return ctypes.CDLL(str(target))


def _pointer(array: Array) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def cpp_job(case: Case, x: Array) -> Callable[[], Any]:
    """Do an instruction's work by std::stable_sort and a plain head-by-head merge."""
    library = compiled("plain")
    bits = x.view(np.uint16 if x.itemsize == 2 else np.uint32)
    out = np.empty(2 * x.size, np.uint32)
    width = x.itemsize * 8
    if case.op == "tsort32":
        sort = getattr(library, f"plain_tsort32_f{width}")
        return lambda: sort(_pointer(bits), ctypes.c_size_t(x.size // 32), _pointer(out))
    length, ways = (32, 4) if case.op == "tmrgsort" else (case.shape[1], case.shape[0])
    pairs = np.empty((x.size, 2), np.uint32)
    pairs[:, 0], pairs[:, 1] = bits.reshape(-1), np.arange(x.size)
    sizes = [ctypes.c_size_t(n) for n in (x.size // (ways * length), ways, length)]
    return lambda: library.plain_merge(_pointer(pairs), *sizes, _pointer(out))


def vqsort_job(case: Case, x: Array) -> Callable[[], Any]:
    """Sort rows of packed key and position by Highway's vqsort, packing and unpacking included."""
    library = compiled("vqsort", "-lhwy_contrib", "-lhwy")
    values, indices = np.empty(x.shape, np.uint32), np.empty(x.shape, np.uint32)
    bits = x.view(np.uint32)
    rows, width = case.shape
    return lambda: library.vqsort_pairs(
        _pointer(bits), ctypes.c_size_t(rows), ctypes.c_size_t(width), _pointer(values), _pointer(indices)
    )
