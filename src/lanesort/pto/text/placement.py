"""Comment lines of the manual form: ``# pto.tassign %name, @tile(0x1000)``."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from lanesort.pto.program import Attribute, Block, Function, Step, TileType
from lanesort.pto.text.diagnostics import Fault, Source, closest

__all__ = ["Placement", "placed", "without_comments"]

_COMMENT = re.compile(r"^[ \t]*#(?=[ \t]).*$", re.MULTILINE)
_ASSIGN = re.compile(
    r"#[ \t]+pto\.tassign[ \t]+%([\w$.-]+)[ \t]*,[ \t]*@?tile\((0x[0-9a-fA-F]{1,8}|\d{1,10})\)"
)


@dataclass(frozen=True, slots=True)
class Placement:
    """One tile's address.

    Attributes
    ----------
    name
        Name of the tile without ``%``.
    address
        Address in bytes.
    offset
        Where the comment stands in the text.
    """

    name: str
    address: int
    offset: int


def without_comments(text: str) -> tuple[str, tuple[Placement, ...]]:
    """Return the text with its ``# …`` lines blanked, and the placements that they held.

    MLIR has no such comments (``#name = …`` without the blank is an alias), so offsets stay.
    """
    placements = []

    def blank(line: re.Match[str]) -> str:
        found = _ASSIGN.search(line.group())
        if found:
            placements.append(Placement(found[1], int(found[2], 0), line.start() + found.start()))
        return " " * len(line.group())

    return _COMMENT.sub(blank, text), tuple(placements)


def placed(
    functions: Sequence[Function], placements: Sequence[Placement], source: Source
) -> tuple[Function, ...]:
    """Return the functions with their tiles placed as the comments say.

    A name is looked up in the function that the comment stands in (the last one that starts
    before it, or the first). ``%argN`` that is no name there is the Nth tile of the
    function: arguments first, then allocations, as in the manual's examples.

    Raises
    ------
    Fault
        If a name is no tile of the function.
    """
    if not functions:
        return ()
    starts = [f.place.line if f.place else 0 for f in functions]
    tiles: dict[int, _Tiles] = {}
    found: dict[int, dict[int, int]] = {}
    for placement in placements:
        index = max(0, bisect_right(starts, source.place(placement.offset).line) - 1)
        within = tiles.get(index) or tiles.setdefault(index, _Tiles(functions[index]))
        found.setdefault(index, {})[within.find(placement)] = placement.address
    return tuple(_with_addresses(f, found[i]) if i in found else f for i, f in enumerate(functions))


class _Tiles:
    """The tiles of a function by name and by number."""

    def __init__(self, function: Function) -> None:
        self._function = function
        self._numbers = [v for v, type_ in enumerate(function.types) if isinstance(type_, TileType)]
        self._names = {function.names[v]: v for v in self._numbers}

    def find(self, placement: Placement) -> int:
        if placement.name in self._names:
            return self._names[placement.name]
        counted = re.fullmatch(r"arg(\d{1,4})", placement.name)
        if counted and int(counted[1]) < len(self._numbers):
            return self._numbers[int(counted[1])]
        raise Fault(
            placement.offset,
            f"%{placement.name} is no tile of @{self._function.name}",
            closest(placement.name, self._names, "%"),
        )


def _with_addresses(function: Function, addresses: dict[int, int]) -> Function:
    if function.body is None:
        return function
    arguments = [v for v in sorted(addresses) if v < len(function.arguments)]
    steps = [
        Step("tassign", (v, None), attributes={"address": addresses[v]}, place=function.place)
        for v in arguments
    ]
    body = _placed_block(function.body, addresses)
    return replace(function, body=replace(body, steps=(*steps, *body.steps)))


def _placed_block(block: Block, addresses: dict[int, int]) -> Block:
    return replace(block, steps=tuple(_placed_step(step, addresses) for step in block.steps))


def _placed_step(step: Step, addresses: dict[int, int]) -> Step:
    if step.op == "alloc_tile" and step.results[0] in addresses:
        attributes: dict[str, Attribute] = {**step.attributes, "address": addresses[step.results[0]]}
        return replace(step, attributes=attributes)
    if step.regions:
        return replace(step, regions=tuple(_placed_block(region, addresses) for region in step.regions))
    return step
