"""Input patterns that sorts have failed on, for every dtype that has an order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

from lanesort.order import KEY_CLASSES, key_class

Array = npt.NDArray[Any]

DTYPES = {
    name: np.dtype(getattr(ml_dtypes, name, {"datetime64": "M8[ns]", "timedelta64": "m8[s]"}.get(name, name)))
    for name in KEY_CLASSES
}
"""A NumPy dtype for each name in KEY_CLASSES."""

SMALL_DTYPES = ("float32", "float16", "bfloat16", "int32", "uint32", "int16", "uint16")
"""The dtypes of the instructions."""


def from_bits(bits: Array, dtype: np.dtype[Any]) -> Array:
    """Read random bits as values; booleans keep to 0 and 1."""
    unsigned = bits.astype(np.uint64).astype(key_class(dtype).unsigned)
    return (unsigned & 1).astype(bool) if dtype.kind == "b" else unsigned.view(dtype)


def random(rng: np.random.Generator, shape: Any, dtype: np.dtype[Any]) -> Array:
    """Random bits: for floats this holds NaNs, infinities and denormals."""
    return from_bits(rng.integers(0, 2**64, shape, np.uint64, endpoint=False), dtype)


def small(rng: np.random.Generator, shape: Any, dtype: np.dtype[Any]) -> Array:
    """Few different values, so many ties."""
    return _cast(rng.integers(0, 3, shape), dtype)


def specials(rng: np.random.Generator, shape: Any, dtype: np.dtype[Any]) -> Array:
    """The values that orders disagree about: NaNs of both signs, infinities, zeros, denormals."""
    cls = key_class(dtype)
    sign = 1 << (cls.bits - 1)
    inf = cls.infinity or sign - 1
    magnitudes = [0, 1, 2, inf - 1, inf, min(inf + 1, sign - 1), sign - 1]
    pool = np.array([m | s for m in magnitudes for s in (0, sign)], np.uint64)
    return from_bits(rng.choice(pool, shape), dtype)


def _cast(values: Array, dtype: np.dtype[Any]) -> Array:
    return values.astype(np.int64).view(dtype) if dtype.kind in "mM" else values.astype(dtype)


def _ramp(shape: Any, dtype: np.dtype[Any]) -> Array:
    n = int(np.prod(shape))
    return _cast((np.arange(n) % 120).reshape(shape), dtype)


def ascending(rng: np.random.Generator, shape: Any, dtype: np.dtype[Any]) -> Array:
    """Sorted, as far as the dtype goes."""
    return np.sort(_ramp(shape, dtype), axis=-1)


def descending(rng: np.random.Generator, shape: Any, dtype: np.dtype[Any]) -> Array:
    """Sorted the other way round."""
    return ascending(rng, shape, dtype)[..., ::-1]


def organ_pipe(rng: np.random.Generator, shape: Any, dtype: np.dtype[Any]) -> Array:
    """Up, then down."""
    up = ascending(rng, shape, dtype)
    return np.concatenate([up[..., ::2], up[..., 1::2][..., ::-1]], axis=-1)


def equal(rng: np.random.Generator, shape: Any, dtype: np.dtype[Any]) -> Array:
    """One value."""
    return _cast(np.ones(shape, np.int64), dtype)


def mostly_numbers(rng: np.random.Generator, shape: Any, dtype: np.dtype[Any]) -> Array:
    """Random numbers with a few specials among them."""
    numbers = _cast(rng.integers(0, 100, shape), dtype)
    return np.where(rng.random(shape) < 0.05, specials(rng, shape, dtype), numbers)


PATTERNS: dict[str, Callable[[np.random.Generator, Any, np.dtype[Any]], Array]] = {
    f.__name__: f for f in (random, small, specials, ascending, descending, organ_pipe, equal, mostly_numbers)
}


def same_bits(a: Array, b: Array) -> bool:
    """Say whether two arrays are equal bit for bit, dtype and shape included."""
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
