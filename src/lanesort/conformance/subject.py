"""What is examined: a sort, an argsort and a top-k of one library, as plain callables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from lanesort.errors import ArgumentValueError, MissingVerbError, RefusedError
from lanesort.order import unsigned_view
from lanesort.results import Pairs

__all__ = ["Subject", "Verb"]

Array = npt.NDArray[Any]
Verb = Literal["sort", "argsort", "top_k"]


@dataclass(frozen=True, slots=True)
class Subject:
    """Callables to examine; those that a library lacks are left out.

    Each takes a NumPy array and works along its last axis. Results are read by
    ``numpy.asarray``.

    Attributes
    ----------
    name
        What to call it.
    sort
        ``sort(x, descending)`` to values.
    argsort
        ``argsort(x, descending)`` to positions.
    top_k
        ``top_k(x, k, largest)`` to ``(values, positions)``.
    version
        Of the library, for the table's head.

    Notes
    -----
    A callable that can't do one direction raises `MissingVerbError` for it.

    Examples
    --------
    >>> mine = Subject("mine", argsort=lambda x, descending: np.argsort(-x if descending else x, axis=-1))
    >>> mine.ordered(np.array([3, 1, 2], np.int32), descending=True).tolist()
    [0, 2, 1]
    """

    name: str
    sort: Callable[[Array, bool], Any] | None = None
    argsort: Callable[[Array, bool], Any] | None = None
    top_k: Callable[[Array, int, bool], Any] | None = None
    version: str = ""

    def __post_init__(self) -> None:
        if self.sort is None and self.argsort is None and self.top_k is None:
            raise ArgumentValueError(f"subject {self.name!r} has none of sort, argsort, top_k; give one")

    @property
    def verbs(self) -> tuple[Verb, ...]:
        """The verbs that it has."""
        found: list[Verb] = []
        if self.sort is not None:
            found.append("sort")
        if self.argsort is not None:
            found.append("argsort")
        if self.top_k is not None:
            found.append("top_k")
        return tuple(found)

    def sorted(self, x: Array, descending: bool) -> Array:
        """Sort a copy of `x`; MissingVerbError or RefusedError where that can't be had."""
        return np.asarray(self._call(self.sort, x, descending))

    def ordered(self, x: Array, descending: bool) -> npt.NDArray[np.int64]:
        """Find the positions of `x` in order."""
        return np.asarray(self._call(self.argsort, x, descending)).astype(np.int64)

    def best(self, x: Array, k: int, largest: bool) -> Pairs:
        """Find the `k` best of each row, with their positions."""
        found = self._call(self.top_k, x, k, largest)
        try:
            values, indices = found
            return Pairs(np.asarray(values), np.asarray(indices).astype(np.int64))
        except (TypeError, ValueError) as error:
            raise RefusedError(error) from error

    def _call(self, verb: Callable[..., Any] | None, x: Array, *arguments: object) -> Any:
        if verb is None:
            raise MissingVerbError(f"{self.name} lacks this verb")
        kept = x.copy()
        try:
            found = verb(x, *arguments)
        except MissingVerbError:
            raise
        except Exception as error:  # whatever another library raises is an answer
            raise RefusedError(error) from error
        if not np.array_equal(unsigned_view(x), unsigned_view(kept)):
            raise RefusedError(ArgumentValueError(f"{self.name} has written its input"))
        return found
