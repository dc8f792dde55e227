"""How many threads a call uses."""

from __future__ import annotations

import operator
import os
from functools import lru_cache

from lanesort.errors import ArgumentTypeError, ArgumentValueError

__all__ = ["thread_count"]

ELEMENTS_PER_THREAD = 1 << 16
"""Below this many elements a second thread costs more than it brings."""


def thread_count(threads: int | None, elements: int) -> int:
    """Return the threads for a job of `elements` elements.

    Parameters
    ----------
    threads
        What the caller asked for; None means the CPU affinity of the process, or
        LANESORT_NUM_THREADS where that is set.
    elements
        Size of the job; small jobs use one thread.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If `threads`, or the environment variable, is no integer of at least 1.
    """
    if elements < 2 * ELEMENTS_PER_THREAD:
        if threads is not None:
            _positive("threads", threads)
        return 1
    wanted = _default(os.environ.get("LANESORT_NUM_THREADS")) if threads is None else threads
    return min(_positive("threads", wanted), elements // ELEMENTS_PER_THREAD)


@lru_cache(maxsize=4)
def _default(variable: str | None) -> int:
    if variable is None or not variable.strip():
        return len(os.sched_getaffinity(0))
    try:
        return _positive("LANESORT_NUM_THREADS", int(variable))
    except ValueError as error:
        raise ArgumentValueError(
            f"LANESORT_NUM_THREADS is {variable!r}; it must be an integer of at least 1"
        ) from error


def _positive(name: str, value: int) -> int:
    try:
        count = operator.index(value)
    except TypeError:
        raise ArgumentTypeError(f"{name} is {value!r}; it must be an integer of at least 1") from None
    if count < 1:
        raise ArgumentValueError(f"{name} is {count}; it must be at least 1")
    return count
