"""What a tile instruction is given: descriptions of tiles, and what it reports back.

A `TileOperand` describes a tile without holding its bytes, so that rules can be checked
before anything runs, on tiles of a program (with an address in the unified buffer, UB) and
on those of a functional call (without). The bytes come as NumPy views when it is executed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

__all__ = [
    "BLOCK_BYTES",
    "Executed",
    "MergeOperands",
    "Outcome",
    "Sort32Operands",
    "TileOperand",
    "round_up",
]

BLOCK_BYTES = 32
"""Unit of addresses and copies in the unified buffer."""

Executed = tuple[int, int, int, int]
"""Pairs taken from each of four lists; 0 for absent ones."""


def round_up(number: int, unit: int) -> int:
    """Return the smallest multiple of `unit` that is not below `number`.

    Examples
    --------
    >>> round_up(33, 32)
    64
    """
    return -(-number // unit) * unit


@dataclass(frozen=True, slots=True)
class TileOperand:
    """A tile as an instruction sees it.

    Attributes
    ----------
    role
        What the instruction calls it: ``dst``, ``src``, ``idx``, ``tmp``, ``src0`` …
    dtype
        Element type. Signed 32-bit indices count as unsigned ones.
    rows, columns
        Physical size in elements.
    valid_rows, valid_columns
        The part that holds data, from the first element on.
    address_bytes
        Offset in the unified buffer; None for a tile of a functional call, whose memory is
        not counted.
    stride_bytes
        Bytes from one row to the next; 0 stands for rows that follow one another.
    location, block_layout, box_layout
        Memory and layout in the words of the `.pto` text.

    Examples
    --------
    >>> tile = TileOperand.of("src", "float32", 2, 100)
    >>> tile.columns, tile.row_bytes, tile.extent_bytes
    (100, 400, 800)
    """

    role: str
    dtype: np.dtype[Any]
    rows: int
    columns: int
    valid_rows: int
    valid_columns: int
    address_bytes: int | None = None
    stride_bytes: int = 0
    location: str = "vec"
    block_layout: str = "row_major"
    box_layout: str = "none_box"

    @classmethod
    def of(
        cls,
        role: str,
        dtype: Any,
        rows: int,
        columns: int,
        *,
        valid: tuple[int, int] | None = None,
        address_bytes: int | None = None,
    ) -> TileOperand:
        """Describe a row-major tile, wholly valid unless `valid` (rows, columns) is given."""
        valid_rows, valid_columns = valid if valid is not None else (rows, columns)
        return cls(role, np.dtype(dtype), rows, columns, valid_rows, valid_columns, address_bytes)

    @property
    def row_bytes(self) -> int:
        """Bytes of one physical row."""
        return self.columns * self.dtype.itemsize

    @property
    def step_bytes(self) -> int:
        """Bytes from one row to the next."""
        return self.stride_bytes or self.row_bytes

    @property
    def extent_bytes(self) -> int:
        """Bytes from the tile's first to behind its last."""
        return (self.rows - 1) * self.step_bytes + self.row_bytes if self.rows > 0 else 0

    def overlaps(self, other: TileOperand) -> bool:
        """Say whether the two tiles share a byte; False where an address is not known.

        Windows of one tile that lie side by side do not overlap, though their extents do.
        """
        if self.address_bytes is None or other.address_bytes is None:
            return False
        ahead = other.address_bytes - self.address_bytes
        if ahead >= self.extent_bytes or -ahead >= other.extent_bytes:
            return False
        step = self.step_bytes
        if step != other.step_bytes or self.rows == 1 or other.rows == 1:
            return True
        column = ahead % step
        return column < self.row_bytes or column + other.row_bytes > step


@dataclass(frozen=True, slots=True)
class Sort32Operands:
    """Operands of TSORT32; `tmp` is None in the form with three operands."""

    dst: TileOperand
    src: TileOperand
    idx: TileOperand
    tmp: TileOperand | None = None

    @property
    def tiles(self) -> tuple[TileOperand, ...]:
        """Every tile, dst first."""
        tiles = (self.dst, self.src, self.idx)
        return tiles if self.tmp is None else (*tiles, self.tmp)


@dataclass(frozen=True, slots=True)
class MergeOperands:
    """Operands of TMRGSORT.

    Attributes
    ----------
    dst
        Where the merged pairs go.
    sources
        One tile of consecutive blocks if `block_len` is given, else two to four lists.
    tmp
        The tile that a merge of lists passes through. None where the text gives none and
        leaves it to the assembler: a hidden one of the right size is assumed.
    block_len
        Elements of one sorted block of the single source.
    exhausted
        Whether a merge of lists stops as soon as one of them has given its last pair.
    """

    dst: TileOperand
    sources: tuple[TileOperand, ...]
    tmp: TileOperand | None = None
    block_len: int | None = None
    exhausted: bool = False

    @property
    def single(self) -> bool:
        """Whether this is the variant with one source of consecutive blocks."""
        return self.block_len is not None

    @property
    def tiles(self) -> tuple[TileOperand, ...]:
        """Every tile, dst first."""
        tiles = (self.dst, *self.sources)
        return tiles if self.tmp is None else (*tiles, self.tmp)


class Outcome(NamedTuple):
    """What an executed instruction reports.

    Attributes
    ----------
    produced_columns
        Leading elements of every row of dst that hold a result. What stands behind them is
        what was there before, or what a temporary tile held.
    executed
        Pairs taken from each list, or None where the instruction writes no counts.
    unpinned
        Ids of the unpinned behaviours that the result depended on, sorted.
    warnings
        What a user should know beside the result, one line each.
    """

    produced_columns: int
    executed: Executed | None
    unpinned: tuple[str, ...]
    warnings: tuple[str, ...]
