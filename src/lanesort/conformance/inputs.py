"""What the subjects are given: few values with many ties, special values, every dtype."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

from lanesort.order import KEY_CLASSES, key_class, unsigned_view

__all__ = ["DTYPES", "LENGTHS", "denormals", "extremes", "few_values", "special_rows", "zeros"]

Array = npt.NDArray[Any]

DTYPES = {
    name: np.dtype(getattr(ml_dtypes, name, name)) for name, cls in KEY_CLASSES.items() if cls.kind != "time"
}
"""Every dtype with an order, but the times, which other libraries do not share."""

NAN_BITS = (0x7FC00000, 0xFFC00000, 0x7FC00123, 0xFFC00123)
"""float32 NaNs of both signs, two payloads each."""

# Below and above the sizes at which libraries change their algorithm.
LENGTHS = (5, 16, 17, 40, 300, 5000)
SEED = 20261130
_LIMITS: Any = ml_dtypes.finfo


def few_values(length: int, dtype: str = "float32") -> Array:
    """Make a row of three different values in no order."""
    rng = np.random.default_rng([SEED, length])
    return rng.integers(1, 4, length).astype(DTYPES[dtype])


def zeros(length: int) -> Array:
    """Make a row of zeros whose signs alternate, +0.0 first."""
    row = np.zeros(length, np.float32)
    row[1::2] = -0.0
    return row


def denormals(length: int) -> Array:
    """Make a row of different positive float32 denormals in no order."""
    magnitudes = np.random.default_rng([SEED, length, 2]).permutation(length) + 1
    return magnitudes.astype(np.uint32).view(np.float32)


def special_rows(dtype: str = "float32") -> Iterator[Array]:
    """Make rows with NaNs of every kind among numbers, infinities and zeros."""
    nans = np.array(NAN_BITS, np.uint32).view(np.float32)
    inf = np.float32(np.inf)
    few = np.concatenate([nans, np.array([inf, -inf, 0.0, -0.0, 1.0, -1.0, 5.0], np.float32)])
    for length in (3, 6, *LENGTHS):
        rng = np.random.default_rng([SEED, length, 1])
        row = rng.standard_normal(length).astype(np.float32)
        chosen = rng.random(length) < 0.4
        row[chosen] = rng.choice(few, int(chosen.sum()))
        row[rng.integers(length)] = nans[0]
        yield row.astype(DTYPES[dtype])


def extremes(dtype: np.dtype[Any], length: int) -> Array:
    """Make random values of a dtype, no NaN or denormal, among them its smallest and largest."""
    cls = key_class(dtype)
    rng = np.random.default_rng([SEED, length, cls.bits])
    bits = rng.integers(0, 2**64, length, np.uint64).astype(cls.unsigned)
    if dtype.kind == "b":
        return (bits & 1).astype(np.bool_)
    row = bits.view(dtype)
    if cls.kind == "float":
        magnitude = bits & ~cls.unsigned.type(1 << (cls.bits - 1))
        smallest = unsigned_view(np.array([_LIMITS(dtype).tiny], dtype))[0]
        usual = (magnitude <= cls.infinity) & (magnitude >= smallest)
        return np.where(usual, row, row.dtype.type(1))
    sign = 1 << (cls.bits - 1)
    ends = [0, 1, sign - 1, sign, 2 * sign - 1]
    row[: len(ends)] = np.array(ends, np.uint64).astype(cls.unsigned).view(dtype)
    return row
