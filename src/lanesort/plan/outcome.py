"""What running a plan's program gives, before it takes the shape of the library's results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy.typing as npt

__all__ = ["Outcome"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """Values and positions, and what else is known of the run.

    Attributes
    ----------
    values
        Shape (rows, k); None for ``nonzero``.
    indices
        int64: shape (rows, k), or the positions of all nonzeros.
    unpinned
        Ids of the unpinned behaviours that the run depended on.
    warnings
        What the models reported.
    counts
        Instructions that ran, by name.
    """

    values: npt.NDArray[Any] | None
    indices: npt.NDArray[Any]
    unpinned: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
