"""What differs for a program between A2/A3 and A5."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from lanesort.pto.check.event import Event
from lanesort.pto.check.finding import Finding
from lanesort.pto.check.state import Walk
from lanesort.pto.target import Target

__all__ = ["portability"]


def portability(walks: Sequence[Walk], found: Mapping[str, Sequence[Finding]]) -> Iterator[Finding]:
    """Compare what a program meets on several targets.

    Parameters
    ----------
    walks
        One for each target, of the same function.
    found
        The findings by name of the target.
    """
    targets = [walk.target for walk in walks]
    yield from _room(walks)
    for event in walks[0].events:
        yield from _paths(event, targets)
    yield from _barriers(found)


def _room(walks: Sequence[Walk]) -> Iterator[Finding]:
    ends = [max((one.stop for one in walk.placements.values()), default=0) for walk in walks]
    fits = [
        walk.target.name
        for walk, end in zip(walks, ends, strict=True)
        if walk.target.ub_bytes is None or end <= walk.target.ub_bytes
    ]
    if not fits or len(fits) == len(walks):
        return
    first = walks[0]
    last = max(first.placements.values(), key=lambda one: one.stop)
    others = ", ".join(
        f"{walk.target.name} ({walk.target.ub_bytes} bytes)" for walk in walks if walk.target.name not in fits
    )
    text = (
        f"the tiles take {max(ends)} bytes: they fit the unified buffer of {', '.join(fits)}, not of {others}"
    )
    yield Finding("portability-ub", text, last.step.place, last.function.name)


def _paths(event: Event, targets: Sequence[Target]) -> Iterator[Finding]:
    src = event.role("src")
    if event.step.op != "tsort32" or src is None or event.assumed or event.role("tmp") is None:
        return
    columns, itemsize = src.operand.valid_columns, src.operand.dtype.itemsize
    needed = {target.name: target.tmp_columns(columns, itemsize) for target in targets}
    if len(set(needed.values())) > 1:
        listed = ", ".join(f"{name} {width}" for name, width in needed.items())
        text = f"tsort32: the tail of {columns} columns takes another path; columns needed in tmp: {listed}"
        yield Finding("portability-path", text, event.step.place, event.function.name)


def _barriers(found: Mapping[str, Sequence[Finding]]) -> Iterator[Finding]:
    missing = {name: [f for f in listed if f.id == "missing-barrier"] for name, listed in found.items()}
    without = [name for name, listed in missing.items() if not listed]
    for name, listed in missing.items():
        for finding in listed if without else ():
            text = f"a barrier of pipe V is missing on {name}; {', '.join(without)} does not need it"
            yield Finding("portability-barrier", text, finding.place, finding.function, other=finding.other)
