"""The short way: plain NumPy arrays whose rows lie as the kernels want them.

Small arrays are sorted in less time than it takes to look at a dozen options, so those that
need no shaping, and calls that ask for nothing special, pass by everything else.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from lanesort._core import KeyOrder
from lanesort.kernels.native_order import key_order
from lanesort.kernels.policy import Verb, order_of
from lanesort.kernels.threads import ELEMENTS_PER_THREAD

__all__ = ["INTP", "LARGEST", "plain", "plan", "plan_of"]

LARGEST = 2 * ELEMENTS_PER_THREAD
"""Elements from which threads, and so the full way, are worth a look."""

INTP = np.dtype(np.intp)
"""NumPy's own index dtype; making it from its type takes longer than sorting ten elements."""

_PLAIN = frozenset(np.dtype(code) for code in "efdbhilqBHILQ")
"""Dtypes, in native byte order, whose arrays the native core reads without a view."""


def plain(x: Any, axis: int, ragged: bool, threads: int | None) -> bool:
    """Say whether `x` is one row or rows that the kernels take as they are, if `plan` knows its dtype."""
    return (
        type(x) is np.ndarray
        and axis == -1
        and not ragged
        and threads is None
        and 0 < x.ndim <= 2
        and x.size < LARGEST
        and x.flags.c_contiguous
    )


@lru_cache(maxsize=1024)
def plan(
    dtype: npt.DTypeLike,
    descending: object,
    stable: bool | None,
    nan: str | None,
    tie: str | None,
    compat: str | None,
    verb: Verb = "sort",
) -> KeyOrder | None:
    """Return the native key map of a sort's options, made once, or None for a dtype that needs a view."""
    if dtype not in _PLAIN:
        return None
    return key_order(np.dtype(dtype), order_of(descending, stable, nan, tie, compat, verb))


def plan_of(runs: Sequence[Any], descending: object, nan: str | None, compat: str | None) -> KeyOrder | None:
    """Return the key map for merging `runs`, or None unless they are plain rows of one dtype."""
    if not isinstance(runs, (list, tuple)) or not runs or type(runs[0]) is not np.ndarray:
        return None
    dtype = runs[0].dtype
    for run in runs:
        if type(run) is not np.ndarray or run.ndim != 1 or run.dtype != dtype or not run.flags.c_contiguous:
            return None
    return plan(dtype, descending, None, nan, None, compat)
