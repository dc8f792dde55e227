"""Mends what can be mended: flags, barriers, temporary tiles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lanesort.pto.check.checker import ALL_TARGETS, check
from lanesort.pto.check.edit import apply
from lanesort.pto.check.finding import Finding
from lanesort.pto.program import Module
from lanesort.pto.target import Target

__all__ = ["Fixed", "fix"]

MOST_ROUNDS = 12


@dataclass(frozen=True, slots=True)
class Fixed:
    """A program that was mended.

    Attributes
    ----------
    module
        The program.
    mended
        What was found and is no longer there.
    left
        Errors and warnings that stay.
    """

    module: Module
    mended: tuple[Finding, ...]
    left: tuple[Finding, ...]


def fix(
    module: Module,
    target: str | Target | None = None,
    *,
    function: str | None = None,
    args: Mapping[str, Any] | None = None,
) -> Fixed:
    """Add the flags, barriers and temporary columns that a program lacks.

    Pipes are checked even where a function has no flags: the result orders them by hand.

    Parameters
    ----------
    module, target, function, args
        As `check` takes them.

    Returns
    -------
    Fixed
        The mended program computes the same: what is added makes a pipe wait, or makes room.
    """
    names: list[str | Target | None] = list(ALL_TARGETS) if target == "all" else [target]
    mended: list[Finding] = []
    for _ in range(MOST_ROUNDS):
        changed = False
        for name in names:
            report = check(module, name, function=function, args=args, manual=True)
            found = [finding for finding in report.findings if finding.edits]
            if found:
                module = apply(module, [edit for finding in found for edit in finding.edits])
                mended += found
                changed = True
        if not changed:
            break
    report = check(module, target, function=function, args=args, manual=True)
    left = tuple(finding for finding in report.findings if finding.severity != "note")
    return Fixed(module, tuple(mended), left)
