"""The named tuples that functions return.

Each unpacks into what its function promises; a further attribute stands beside the
fields, so that unpacking stays short, and never hides a tuple method.
"""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["Merged", "Nonzero", "Pairs"]


class _PairsFields(NamedTuple):
    values: Any
    indices: Any


class Pairs(_PairsFields):
    """Values with their indices.

    Attributes
    ----------
    values, indices
        Arrays of one shape, of the caller's library.
    valid
        Real elements in each row where rows were filled up, else None.
    """

    valid: Any

    def __new__(cls, values: Any, indices: Any, valid: Any = None) -> Pairs:
        """Make a result; `valid` stands beside the two fields."""
        pairs = super().__new__(cls, values, indices)
        pairs.valid = valid
        return pairs

    def __repr__(self) -> str:
        beside = "" if self.valid is None else f", valid={self.valid!r}"
        return f"Pairs(values={self.values!r}, indices={self.indices!r}{beside})"


class Merged(_PairsFields):
    """Merged values with their indices.

    Attributes
    ----------
    values, indices
        Arrays of one shape, of the caller's library.
    consumed
        Elements taken from each run.
    """

    consumed: tuple[int, ...]

    def __new__(cls, values: Any, indices: Any, consumed: tuple[int, ...] = ()) -> Merged:
        """Make a result; `consumed` stands beside the two fields."""
        merged = super().__new__(cls, values, indices)
        merged.consumed = consumed
        return merged

    def __repr__(self) -> str:
        return f"Merged(values={self.values!r}, indices={self.indices!r}, consumed={self.consumed!r})"


class Nonzero(NamedTuple):
    """Positions of the nonzeros, and how many there are.

    Attributes
    ----------
    indices
        Positions in ascending order, filled up or cut to the size asked for.
    total
        Nonzeros in all, also those that the size cut off.
    """

    indices: Any
    total: Any
