"""The SSA form: which destinations become results, and where their tiles are allocated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lanesort.pto.program import Block, Function, Step, Type, VectorType
from lanesort.pto.text.statements import VALUE_FORM

__all__ = ["destinations_beside", "leading_placements", "sunk"]


def sunk(function: Function, *, placed: bool) -> Function:
    """Return the function with allocations moved to the operation that writes them first.

    Parameters
    ----------
    function
        Any function.
    placed
        Move tiles with a constant address as well.
    """
    if function.body is None:
        return function
    return replace(function, body=_sunk_block(function.body, function.types, placed))


def _sunk_block(block: Block, types: Sequence[Type], placed: bool) -> Block:
    steps = [
        replace(s, regions=tuple(_sunk_block(r, types, placed) for r in s.regions)) if s.regions else s
        for s in block.steps
    ]
    waiting: dict[int, Step] = {}
    made: list[Step] = []
    for step in steps:
        if _makes_destination(step, types, placed):
            waiting[step.results[0]] = step
        else:
            made += [waiting.pop(value) for value in _first_used(step, waiting)]
            made.append(step)
    return replace(block, steps=(*waiting.values(), *made) if waiting else tuple(made))


def _first_used(step: Step, waiting: dict[int, Step]) -> list[int]:
    """Return the waiting values that a step uses, destinations last and in order."""
    used = [value for value in _all_used(step) if value in waiting]
    written = [value for value in _written(step) if value in used] if step.op in VALUE_FORM else []
    return [value for value in dict.fromkeys(used) if value not in written] + written


def _all_used(step: Step) -> list[int]:
    found = list(step.used())
    for region in step.regions:
        for inner in region.steps:
            found += _all_used(inner)
    return found


def _written(step: Step) -> list[int]:
    names = step.signature.names
    found = [step.optional(name) for name in ("dst", "executed") if name in names]
    return [value for value in found if value is not None]


def _makes_destination(step: Step, types: Sequence[Type], placed: bool) -> bool:
    """Say whether a step only provides an empty destination."""
    if step.extra or not step.modelled:
        return False
    if step.op == "arith.constant":
        return types[step.results[0]] == VectorType(4, "i16") and step.attributes["value"] == (0, 0, 0, 0)
    empty = step.op == "alloc_tile" and not list(step.used())
    return empty and (placed or step.attributes["address"] is None)


def destinations_beside(block: Block, at: int, types: Sequence[Type], *, placed: bool) -> int:
    """Return how many steps from `at` on provide the destinations of the operation behind them.

    0 if what stands there is not an SSA form: the operation has none, a destination has
    another use in it, or they are not in order.
    """
    end = at
    while end < len(block.steps) and end - at < 2 and _makes_destination(block.steps[end], types, placed):
        end += 1
    if end == at or end == len(block.steps):
        return 0
    made = [step.results[0] for step in block.steps[at:end]]
    return end - at if _has_value_form(block.steps[end], made) else 0


def _has_value_form(step: Step, made: list[int]) -> bool:
    if not step.modelled or step.op not in VALUE_FORM or _written(step) != made:
        return False
    if step.op == "tmrgsort" and step.optional("tmp") is not None:
        return False
    if step.op == "tsort32" and step.optional("index_dst") is not None:
        return False
    inputs = [value for value in step.used() if value not in made]
    return bool(inputs) and len(inputs) + len(made) == len(list(step.used()))


def leading_placements(function: Function) -> int:
    """Return how many steps in front only place arguments, in the arguments' order."""
    count, last = 0, -1
    for step in function.body.steps if function.body is not None else ():
        address = step.attributes.get("address")
        tile = step.value("tile") if step.op == "tassign" and step.modelled else -1
        if not isinstance(address, int) or step.extra or not last < tile < len(function.arguments):
            break
        count, last = count + 1, tile
    return count
