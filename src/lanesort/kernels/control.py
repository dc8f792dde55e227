"""Progress and cancellation of long calls.

A kernel polls one small struct. Whoever wants to show progress puts one in place for the
calls made inside a context.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from lanesort._core import Control

__all__ = ["current", "watched"]

_current: ContextVar[Control | None] = ContextVar("lanesort_control", default=None)


def current() -> Control | None:
    """Return the control of the calls made here, if one was put in place."""
    return _current.get()


@contextmanager
def watched(control: Control) -> Iterator[Control]:
    """Let the calls made inside report to `control`, and stop when it is cancelled."""
    token = _current.set(control)
    try:
        yield control
    finally:
        _current.reset(token)
