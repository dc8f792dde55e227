"""Inputs by pattern, the same in every process."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

from bench.case import Case

__all__ = ["make"]

SEED = 20261130
Array = npt.NDArray[Any]


def make(case: Case) -> Array:
    """Return the input of a case: shape rows × width, for merge one sorted run a row."""
    rng = np.random.default_rng(SEED)
    dtype = np.dtype(getattr(ml_dtypes, case.dtype, case.dtype))
    values = _pattern(rng, case.pattern, case.shape, dtype)
    return np.ascontiguousarray(values.astype(dtype, copy=False))


def _pattern(rng: np.random.Generator, pattern: str, shape: tuple[int, int], dtype: np.dtype[Any]) -> Array:
    if pattern.startswith("density"):
        return (rng.random(shape, np.float32) < float(pattern[7:-1]) / 100).astype(np.float32)
    if pattern.startswith("levels"):
        return rng.integers(0, int(pattern[6:]), shape).astype(np.float32)
    if pattern in ("equal", "three"):
        return rng.integers(0, 3 if pattern == "three" else 1, shape).astype(np.float32)
    if pattern == "onebin":
        return (1.0 + rng.random(shape, np.float32) * 1e-5).astype(np.float32)
    if dtype.kind in "iu" and pattern == "random":
        limits = np.iinfo(dtype)
        return rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)
    values = rng.standard_normal(shape, np.float64 if dtype == np.float64 else np.float32)
    return _arranged(rng, pattern, values)


def _arranged(rng: np.random.Generator, pattern: str, values: Array) -> Array:
    if pattern == "ascending":
        return np.sort(values, axis=1)
    if pattern == "sorted":
        return np.sort(values, axis=1)[:, ::-1]
    if pattern.startswith("blocks"):
        width = int(pattern[6:])
        blocks = values.reshape(values.shape[0], -1, width)
        return np.sort(blocks, axis=2)[:, :, ::-1].reshape(values.shape)
    if pattern.startswith(("nan", "zeros")):
        share = float(pattern.removeprefix("nan").removeprefix("zeros").rstrip("%")) / 100
        special = np.where(rng.random(values.shape) < 0.5, -1.0, 1.0) * (
            np.nan if pattern.startswith("nan") else 0.0
        )
        return np.where(rng.random(values.shape) < share, special, values)
    return values
