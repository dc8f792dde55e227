"""What a program does when it is followed without data: one event for each step that touches memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lanesort.pto.check.edit import Spot
from lanesort.pto.memory import Access
from lanesort.pto.operand import TileOperand
from lanesort.pto.program import Function, Step

__all__ = ["Branch", "Event", "Placement", "Role", "exclusive", "share"]

Branch = tuple[tuple[int, int], ...]
"""Conditions of unknown outcome on the way: which one, and which arm was taken."""


@dataclass(frozen=True, slots=True)
class Role:
    """A tile as an operand of a step.

    Attributes
    ----------
    name
        What the signature calls it: ``dst``, ``src``, ``sources`` …
    operand
        Size, place and layout.
    root
        Value number of the allocation that its bytes belong to; None for those of an argument.
    assumed
        Whether its valid size is not known, so that its whole size stands for it.
    written
        Whether the step writes it.
    """

    name: str
    operand: TileOperand
    root: int | None
    assumed: bool
    written: bool = False


@dataclass(frozen=True, slots=True)
class Event:
    """One step, followed once.

    Attributes
    ----------
    step, function
        What it is, and where it belongs.
    pipe
        Pipe that executes it.
    reads, writes
        Bytes that it touches.
    path
        Where it stands: the chain of blocks from the function that was entered, calls included.
    branch
        Which arms of unknown conditions led to it.
    roles
        Its tiles.
    numbers
        Scalars that rules depend on, by operand name; None where the value is not known.
    somewhere
        Whether it also writes where the check can't tell.
    """

    step: Step
    function: Function
    pipe: str
    reads: tuple[Access, ...]
    writes: tuple[Access, ...]
    path: tuple[Spot, ...]
    branch: Branch = ()
    roles: tuple[Role, ...] = ()
    numbers: Mapping[str, Any] = field(default_factory=dict)
    somewhere: bool = False

    @property
    def assumed(self) -> bool:
        """Whether the valid size of one of its tiles is not known."""
        return any(role.assumed for role in self.roles)

    def role(self, name: str) -> Role | None:
        """Return the tile that plays a role, if one does."""
        return next((role for role in self.roles if role.name == name), None)


@dataclass(frozen=True, slots=True)
class Placement:
    """A tile's place in UB, as an allocation gives it: bytes `start` up to `stop`."""

    value: int
    start: int
    stop: int
    given: bool
    step: Step
    function: Function

    @property
    def name(self) -> str:
        """The tile's name in the text."""
        return self.function.name_of(self.value)


def share(one: Access, other: Access) -> bool:
    """Say whether two accesses have a byte in common; rows of different strides count as having one.

    Examples
    --------
    >>> share(Access("ub", 0, 32), Access("ub", 31, 1)), share(Access("ub", 0, 32), Access("ub", 32, 1))
    (True, False)
    >>> share(Access("ub", 0, 32, 4, 64), Access("ub", 32, 32, 4, 64))
    False
    """
    if one.space != other.space or one.start >= other.stop or other.start >= one.stop:
        return False
    stride = one.stride_bytes
    if one.rows == other.rows == 1 or stride != other.stride_bytes or stride <= 0:
        return True
    offset = (other.start - one.start) % stride
    return offset < one.row_bytes or offset + other.row_bytes > stride


def exclusive(one: Branch, other: Branch) -> bool:
    """Say whether two events can't both happen, because they lie in different arms of a condition.

    Examples
    --------
    >>> exclusive(((1, 0),), ((1, 1), (2, 0))), exclusive(((1, 0),), ((2, 1),))
    (True, False)
    """
    arms = dict(one)
    return any(arms.get(condition, arm) != arm for condition, arm in other)
