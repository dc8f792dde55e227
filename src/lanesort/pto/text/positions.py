"""Which operand is which, when a spelling only gives their order."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lanesort.errors import counted
from lanesort.pto.operations import OPERATIONS
from lanesort.pto.program import Operand

__all__ = ["by_name", "by_sizes"]

_MOST_SHOWN = 16


def by_name(name: str, numbers: Sequence[int], refuse: Callable[[str], Exception]) -> tuple[Operand, ...]:
    """Return the operands of an operation, aligned with its signature.

    Operands that may be absent are taken to be there from left to right, as many as there
    are values more than the operation needs; a list takes what the others leave.

    Parameters
    ----------
    name
        Canonical name.
    numbers
        Value numbers in the order of the text.
    refuse
        Makes the exception to raise from a message.
    """
    marks = OPERATIONS[name].operands
    needed = sum(not mark.endswith(("?", "*")) for mark in marks)
    spare = len(numbers) - needed
    most = needed + sum(mark.endswith("?") for mark in marks)
    listed = any(mark.endswith("*") for mark in marks)
    if spare < 0 or (len(numbers) > most and not listed):
        shown = ", ".join(marks) or "none"
        raise refuse(f"{counted(len(numbers), 'operand')}; it takes {shown}")
    left = list(numbers)
    found: list[Operand] = []
    for mark in marks:
        if mark.endswith("*"):
            found.append(tuple(left[:spare]))
            del left[:spare]
            spare = 0
        elif not mark.endswith("?"):
            found.append(left.pop(0))
        elif spare:
            found.append(left.pop(0))
            spare -= 1
        else:
            found.append(None)
    return tuple(found)


def by_sizes(
    name: str, numbers: Sequence[int], sizes: Sequence[int], refuse: Callable[[str], Exception]
) -> tuple[Operand, ...]:
    """Return the operands of an operation whose generic form says how many belong to each name."""
    marks = OPERATIONS[name].operands
    if len(sizes) != len(marks) or sum(sizes) != len(numbers) or min(sizes, default=0) < 0:
        shown = ", ".join(map(str, sizes[:_MOST_SHOWN])) + (", …" if len(sizes) > _MOST_SHOWN else "")
        raise refuse(f"operandSegmentSizes [{shown}] do not fit {', '.join(marks)}")
    found: list[Operand] = []
    at = 0
    for mark, size in zip(marks, sizes, strict=True):
        values = tuple(numbers[at : at + size])
        at += size
        if mark.endswith("*"):
            found.append(values)
        elif size > 1 or (size == 0 and not mark.endswith("?")):
            raise refuse(f"operandSegmentSizes give {size} values to {mark}")
        else:
            found.append(values[0] if values else None)
    return tuple(found)
