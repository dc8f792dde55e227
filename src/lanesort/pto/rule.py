"""Checks that the rules of several tile instructions share.

Each is a validity rule in itself: it takes the operands and the target and returns a
`Violation` or None. An instruction puts those that it has into its own `RuleBook`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from lanesort.errors import Violation
from lanesort.pto.operand import BLOCK_BYTES, TileOperand
from lanesort.pto.target import Target

__all__ = [
    "HasTiles",
    "addresses_are_aligned",
    "any_tile",
    "tiles_are_none_box",
    "tiles_are_row_major",
    "tiles_are_vec",
    "tiles_lie_in_ub",
    "valid_parts_lie_in_tiles",
]

VECTOR_MEMORY = ("vec", "ub")


class HasTiles(Protocol):
    """Operands of an instruction, as far as the shared checks look at them."""

    @property
    def tiles(self) -> tuple[TileOperand, ...]:
        """Every tile, dst first."""


def any_tile(
    rule: str,
    tiles: Iterable[TileOperand],
    limit: object,
    value: Callable[[TileOperand], object],
    holds: Callable[[TileOperand], bool],
    advice: str,
) -> Violation | None:
    """Return a violation that names every tile for which `holds` is false, with its value."""
    broken = [tile for tile in tiles if not holds(tile)]
    if not broken:
        return None
    listed = ", ".join(f"{tile.role}: {value(tile)}" for tile in broken)
    return Violation(rule, broken[0].role, value(broken[0]), limit, f"{listed}; {advice}")


def tiles_are_vec(operands: HasTiles, target: Target) -> Violation | None:
    """All tiles lie in vector memory."""
    return any_tile(
        "tiles_are_vec",
        operands.tiles,
        "vec",
        lambda tile: tile.location,
        lambda tile: tile.location in VECTOR_MEMORY,
        "the sorter reads and writes tiles with loc=vec only",
    )


def tiles_are_row_major(operands: HasTiles, target: Target) -> Violation | None:
    """All tiles are row-major."""
    return any_tile(
        "tiles_are_row_major",
        operands.tiles,
        "row_major",
        lambda tile: tile.block_layout,
        lambda tile: tile.block_layout == "row_major",
        "rows must be laid out one behind the other: blayout=row_major",
    )


def tiles_are_none_box(operands: HasTiles, target: Target) -> Violation | None:
    """No tile is divided into boxes."""
    return any_tile(
        "tiles_are_none_box",
        operands.tiles,
        "none_box",
        lambda tile: tile.box_layout,
        lambda tile: tile.box_layout == "none_box",
        "elements of a row must be neighbours: slayout=none_box",
    )


def valid_parts_lie_in_tiles(operands: HasTiles, target: Target) -> Violation | None:
    """Every tile contains its valid part."""
    return any_tile(
        "valid_parts_lie_in_tiles",
        operands.tiles,
        "0 … physical size",
        lambda tile: f"{tile.valid_rows}x{tile.valid_columns} valid of {tile.rows}x{tile.columns}",
        lambda tile: 0 <= tile.valid_rows <= tile.rows and 0 <= tile.valid_columns <= tile.columns,
        "the valid size can't exceed the tile's own",
    )


def addresses_are_aligned(operands: HasTiles, target: Target) -> Violation | None:
    """Every address is a multiple of 32 bytes."""
    return any_tile(
        "addresses_are_aligned",
        (tile for tile in operands.tiles if tile.address_bytes is not None),
        f"multiple of {BLOCK_BYTES}",
        lambda tile: f"0x{tile.address_bytes or 0:x}",
        lambda tile: (tile.address_bytes or 0) % BLOCK_BYTES == 0,
        f"the unified buffer is addressed in units of {BLOCK_BYTES} bytes",
    )


def tiles_lie_in_ub(operands: HasTiles, target: Target) -> Violation | None:
    """Every tile of a program lies inside the unified buffer."""
    size = target.ub_bytes
    if size is None:
        return None
    return any_tile(
        "tiles_lie_in_ub",
        (tile for tile in operands.tiles if tile.address_bytes is not None),
        size,
        lambda tile: f"bytes {tile.address_bytes} … {(tile.address_bytes or 0) + tile.extent_bytes}",
        lambda tile: (tile.address_bytes or 0) >= 0 and (tile.address_bytes or 0) + tile.extent_bytes <= size,
        f"the unified buffer of {target.name} ends at {size}",
    )
