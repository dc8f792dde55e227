"""What a run says beside its result: the findings about the program's text, looked for once."""

from __future__ import annotations

from lanesort.errors import LanesortError
from lanesort.pto.check.checker import check
from lanesort.pto.program import Function, Module
from lanesort.pto.target import Target

__all__ = ["advice"]

LEFT_TO_THE_RUN = ("read-before-written", "cannot-run", "rule-broken")
"""A run sees these itself, with the actual values."""

_MOST_KEPT = 32
_kept: dict[tuple[int, str, str], tuple[Module, tuple[str, ...]]] = {}


def advice(module: Module, function: Function, target: Target) -> tuple[str, ...]:
    """Return errors and warnings about a function, one line each.

    The program is followed without arguments and once for each module, so that running it
    again costs nothing.
    """
    key = (id(module), function.name, target.name)
    found = _kept.get(key)
    if found is None or found[0] is not module:
        while len(_kept) >= _MOST_KEPT:
            _kept.pop(next(iter(_kept)))
        found = _kept[key] = (module, _lines(module, function, target))
    return found[1]


def _lines(module: Module, function: Function, target: Target) -> tuple[str, ...]:
    try:
        report = check(module, target, function=function.name)
    except LanesortError:
        return ()
    return tuple(
        str(finding) for finding in (*report.errors, *report.warnings) if finding.id not in LEFT_TO_THE_RUN
    )
