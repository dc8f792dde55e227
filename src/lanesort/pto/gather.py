"""TGATHER: by a mask pattern, which pulls values and indices of pairs apart, or by indices.

Both work row by row. The mask form copies bits: source and destination need elements of
the same width, not of the same type.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from lanesort.errors import MachineError
from lanesort.evidence import fact
from lanesort.pto.elementwise import same_width
from lanesort.pto.memory import Window
from lanesort.pto.view import PlacedTile

__all__ = ["MASK_PATTERNS", "gather_by_index", "gather_by_mask", "index_windows", "mask_windows"]

Array = npt.NDArray[Any]

fact(
    "pto.tgather",
    "Of each group of four elements a mask pattern keeps those whose bit is 1; the leftmost character "
    "stands for the last element, so P0101 keeps elements 0 and 2.",
    "documented",
    "high",
    "PTO specification, TGATHER; AscendC documentation of GatherMask",
)

MASK_PATTERNS: Mapping[str, tuple[int, int]] = MappingProxyType(
    {
        "P0101": (0, 2),
        "P1010": (1, 2),
        "P0001": (0, 4),
        "P0010": (1, 4),
        "P0100": (2, 4),
        "P1000": (3, 4),
        "P1111": (0, 1),
    }
)
"""Pattern by name: the first element that it keeps, and the distance to the next one."""


def _kept(columns: int, pattern: str) -> int:
    first, step = MASK_PATTERNS[pattern]
    return len(range(first, columns, step))


def mask_windows(pattern: str, by_columns: bool = False) -> Callable[..., tuple[Window, ...]]:
    """Return which parts of dst and src a gather by `pattern` works on.

    A destination with fewer valid elements than are kept takes the first of them; one with
    more is left as it was behind them.

    Raises
    ------
    MachineError
        For an unknown pattern.
    """
    if pattern not in MASK_PATTERNS:
        raise MachineError(f"mask pattern {pattern!r} is unknown; accepted are {', '.join(MASK_PATTERNS)}")

    def windows(dst: PlacedTile, src: PlacedTile) -> tuple[Window, ...]:
        rows, columns = src.valid_rows, src.valid_columns
        if by_columns:
            rows = min(_kept(rows, pattern), dst.valid_rows)
        else:
            columns = min(_kept(columns, pattern), dst.valid_columns)
        return (dst.part(rows, columns), src.window)

    return windows


def gather_by_mask(dst: Array, src: Array, pattern: str) -> None:
    """Keep the elements of each row that `pattern` names.

    Parameters
    ----------
    dst
        Shape (R, K), of a dtype as wide as that of `src`; takes the first K kept elements.
    src
        Shape (R, C).
    pattern
        A key of `MASK_PATTERNS`.

    Examples
    --------
    >>> out = np.zeros((1, 2), np.int32)
    >>> gather_by_mask(out, np.int32([[10, 11, 12, 13]]), "P1010")
    >>> out.tolist()
    [[11, 13]]
    """
    first, step = MASK_PATTERNS[pattern]
    dst[...] = same_width(src, dst.dtype)[:, first::step][:, : dst.shape[1]]


def index_windows(dst: PlacedTile, src: PlacedTile, idx: PlacedTile) -> tuple[Window, ...]:
    """Return which parts of dst, src and idx a gather by index works on."""
    return (dst.window, src.part(dst.valid_rows, src.valid_columns), idx.like(dst))


def gather_by_index(dst: Array, src: Array, idx: Array) -> None:
    """Take for each element of a row the element of `src`'s row that `idx` names.

    Raises
    ------
    MachineError
        If an index lies outside the row, or `idx` does not hold integers.

    Examples
    --------
    >>> out = np.zeros((1, 2), np.float32)
    >>> gather_by_index(out, np.float32([[10, 11, 12]]), np.uint32([[2, 0]]))
    >>> out.tolist()
    [[12.0, 10.0]]
    """
    if idx.dtype.kind not in "iu":
        raise MachineError(f"tgather takes integers as indices, and idx holds {idx.dtype}")
    # Read as unsigned, a negative index lies beyond the row as well.
    wanted, source = idx.view(f"u{idx.itemsize}"), same_width(src, dst.dtype)
    try:
        for into, row, columns in zip(dst, source, wanted, strict=True):
            into[...] = row[columns]
    except IndexError:
        outside = (idx < 0) | (idx >= src.shape[1])
        row, column = np.unravel_index(int(np.argmax(outside)), idx.shape)
        raise MachineError(
            f"tgather: idx[{row}, {column}] is {idx[row, column]}, and a row of src has {src.shape[1]}"
        ) from None
