"""Where tiles go in UB to which the text gives no address.

Tiles are put one behind the other, each at a multiple of 32 bytes, behind those that the
text has placed. If they don't all fit, tiles whose uses don't overlap in time share bytes,
as the PTO assembler's memory planning does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lanesort.pto.memory import ALIGNMENT_BYTES, ELEMENTS
from lanesort.pto.operand import round_up
from lanesort.pto.program import Block, Function, Step, TileType
from lanesort.pto.result import PlacedRange

__all__ = ["Allocation", "allocate", "tile_bytes"]

MOST_SHARING = 500
"""With more tiles than this none share bytes: looking for places takes the square of their number."""

_ALIASES = {
    "subview": "src",
    "treshape": "src",
    "bind_tile": "src",
    "tile_buf_addr": "src",
    "castptr": "src",
    "addptr": "ptr",
}
"""Operations whose result means bytes of their operand."""


@dataclass(frozen=True, slots=True)
class Allocation:
    """Addresses of tiles.

    Attributes
    ----------
    addresses
        Byte address of each tile without one of its own, by value number.
    stop
        The first byte behind all tiles.
    shared
        Whether tiles share bytes because they did not fit one behind the other.
    tiles
        Where each tile is, those with an address in the text included.
    """

    addresses: Mapping[int, int]
    stop: int
    shared: bool = False
    tiles: tuple[PlacedRange, ...] = ()


def tile_bytes(type: TileType) -> int:
    """Return the bytes that a tile occupies, rounded up to the alignment.

    Examples
    --------
    >>> tile_bytes(TileType(1, 13, "f32", 1, 13))
    64
    """
    return round_up(type.rows * type.cols * ELEMENTS[type.element].itemsize, ALIGNMENT_BYTES)


@dataclass(slots=True)
class _Life:
    """A tile and the steps between which it is needed."""

    value: int
    size: int
    first: int
    last: int


def _walk(block: Block) -> Iterator[Step]:
    for step in block.steps:
        yield step
        for region in step.regions:
            yield from _walk(region)


def _tiles(function: Function) -> Iterator[tuple[Step, TileType]]:
    for step in _walk(function.body or Block()):
        type = function.types[step.results[0]] if step.op == "alloc_tile" else None
        if isinstance(type, TileType) and type.element in ELEMENTS:
            yield step, type


def allocate(function: Function, ub_bytes: int) -> Allocation:
    """Give an address to each tile that has none.

    Parameters
    ----------
    function
        The function whose tiles are placed.
    ub_bytes
        Size of UB. If the tiles don't fit even when they share bytes, they are placed
        beyond it; using them is an error then.
    """
    start, placed = 0, []
    sizes: dict[int, int] = {}
    for step, type in _tiles(function):
        given, size = step.attributes.get("address"), tile_bytes(type)
        if isinstance(given, int):
            start = max(start, round_up(given + size, ALIGNMENT_BYTES))
            placed.append(PlacedRange(function.name_of(step.results[0]), given, given + size, True))
        elif step.optional("addr") is None:
            sizes[step.results[0]] = size
    addresses, stop, shared = {}, start, False
    for value, size in sizes.items():
        addresses[value] = stop
        stop += size
    if stop > ub_bytes and len(sizes) <= MOST_SHARING:
        packed, packed_stop = _pack(_lives(function, sizes), start)
        if packed_stop <= ub_bytes:
            addresses, stop, shared = packed, packed_stop, True
    for value, at in addresses.items():
        placed.append(PlacedRange(function.name_of(value), at, at + sizes[value], False))
    return Allocation(addresses, stop, shared, tuple(sorted(placed, key=lambda one: (one.start, one.stop))))


def _lives(function: Function, sizes: Mapping[int, int]) -> list[_Life]:
    """Find from which to which step each tile is needed; loops count as one step outside them."""
    lives: dict[int, _Life] = {}
    roots: dict[int, int] = {value: value for value in sizes}
    position = 0

    def visit(block: Block) -> None:
        nonlocal position
        for step in block.steps:
            position += 1
            begin = position
            for region in step.regions:
                visit(region)
            _note(step, begin, position, sizes, roots, lives)

    visit(function.body or Block())
    return list(lives.values())


def _note(
    step: Step,
    begin: int,
    end: int,
    sizes: Mapping[int, int],
    roots: dict[int, int],
    lives: dict[int, _Life],
) -> None:
    if step.op == "alloc_tile" and step.results[0] in sizes:
        value = step.results[0]
        lives[value] = _Life(value, sizes[value], begin, begin)
    if step.op in _ALIASES and (root := roots.get(step.value(_ALIASES[step.op]))) is not None:
        roots[step.results[0]] = root
    used = {*step.used(), *(value for region in step.regions for value in _used_inside(region))}
    for value in used:
        life = lives.get(roots.get(value, -1))
        if life is not None:
            # What a step passes on under another name may be used anywhere behind it.
            passed_on = step.op in ("scf.yield", "yield", "func.call", "func.return", "arith.select")
            carried = step.op in ("scf.for", "scf.while")
            life.last = max(life.last, 1 << 62 if passed_on or _initial(step, value, carried) else end)


def _initial(step: Step, value: int, carried: bool) -> bool:
    return carried and value in step.values("initial")


def _used_inside(block: Block) -> Iterator[int]:
    for step in _walk(block):
        yield from step.used()


def _pack(lives: Sequence[_Life], start: int) -> tuple[dict[int, int], int]:
    """Place each tile, the largest first, at the lowest address that is free while it lives."""
    placed: list[tuple[_Life, int]] = []
    for life in sorted(lives, key=lambda one: (-one.size, one.first)):
        address = start
        for other, at in sorted(placed, key=lambda one: one[1]):
            together = life.first <= other.last and other.first <= life.last
            if together and at < address + life.size and address < at + other.size:
                address = at + other.size
        placed.append((life, address))
    stop = max((at + life.size for life, at in placed), default=start)
    return {life.value: at for life, at in placed}, stop
