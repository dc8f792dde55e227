"""Which arrays a program stores pairs into, so that what they hold can be shown as pairs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lanesort.errors import LanesortError
from lanesort.pto.check.event import Event
from lanesort.pto.check.state import Walk
from lanesort.pto.check.straight import SORTS, STORES
from lanesort.pto.check.walk import follow
from lanesort.pto.memory import Access
from lanesort.pto.program import Function, Module
from lanesort.pto.target import Target

__all__ = ["pair_arrays"]


def pair_arrays(
    module: Module, function: Function, target: Target, arguments: Mapping[str, Any]
) -> frozenset[str]:
    """Return the arguments whose every store comes from bytes that a sort or a merge wrote last.

    Parameters
    ----------
    module, function, target
        What runs, and on what.
    arguments
        As `lanesort.pto.run` takes them by name.
    """
    try:
        walk = follow(module, function, target, arguments)
    except LanesortError:
        return frozenset()
    return _arrays(walk)


def _arrays(walk: Walk) -> frozenset[str]:
    pairs: list[Access] = []
    found: dict[str, bool] = {}
    for event in walk.events:
        if event.step.op in STORES:
            held = all(any(_inside(read, one) for one in pairs) for read in event.reads if read.space == "ub")
            for access in event.writes:
                name = access.space.removeprefix("gm:")
                found[name] = found.get(name, True) and held
            continue
        written = [access for access in event.writes if access.space == "ub"]
        pairs = [one for one in pairs if not any(_meet(one, access) for access in written)]
        if event.step.op in SORTS and not _apart(event):
            pairs += written[:1]
    return frozenset(name for name, held in found.items() if held)


def _apart(event: Event) -> bool:
    """Say whether values and indices go to tiles of their own, as in the oldest form of TSORT32."""
    return event.step.op == "tsort32" and event.step.optional("idx") is None


def _inside(read: Access, one: Access) -> bool:
    return one.start <= read.start and read.stop <= one.stop


def _meet(one: Access, other: Access) -> bool:
    return one.start < other.stop and other.start < one.stop
