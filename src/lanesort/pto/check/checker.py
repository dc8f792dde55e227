"""`check`: every finding about a program, on one target or on several."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lanesort.errors import ArgumentValueError, ProgramError
from lanesort.pto.check.finding import KINDS, Finding
from lanesort.pto.check.memory import overlaps, placements, reads, unused
from lanesort.pto.check.names import misspelled
from lanesort.pto.check.pipes import UNMODELLED_ORDER, has_synchronisation, hazards
from lanesort.pto.check.portability import portability
from lanesort.pto.check.rules import faults, rules
from lanesort.pto.check.runs import unsorted_runs
from lanesort.pto.check.state import Walk
from lanesort.pto.check.ub_map import UbMap, ub_map
from lanesort.pto.check.walk import follow
from lanesort.pto.program import Block, Function, Module, Step
from lanesort.pto.target import Target, find_target, program_target

__all__ = ["ALL_TARGETS", "Report", "check"]

ALL_TARGETS = ("a2a3", "a5")
"""What ``all`` stands for: the targets that differ in what a kernel author has to write."""

MOST_FINDINGS = 500


@dataclass(frozen=True, slots=True)
class Report:
    """What a check found.

    Attributes
    ----------
    findings
        In the order of the text; those of several targets once.
    notes
        What was not checked, and why.
    maps
        The tiles in the unified buffer, one for each function and target.
    """

    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    maps: tuple[UbMap, ...]

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that are errors."""
        return tuple(finding for finding in self.findings if finding.severity == "error")

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The findings that are warnings."""
        return tuple(finding for finding in self.findings if finding.severity == "warning")

    @property
    def clean(self) -> bool:
        """Whether there is neither an error nor a warning."""
        return not self.errors and not self.warnings


def check(
    module: Module,
    target: str | Target | None = None,
    *,
    function: str | None = None,
    args: Mapping[str, Any] | None = None,
    manual: bool = False,
) -> Report:
    """Look for faults in a program without running it.

    Parameters
    ----------
    module
        A parsed program.
    target
        ``a2a3``, ``a5``, any other target, or ``all`` for a2a3 and a5; the module's own if not
        given, else a2a3.
    function
        Which function; every one that no other calls if not given.
    args
        Arguments that are known, as `lanesort.pto.run` takes them. Sizes that depend on others
        are not known, and checks that need them are left out and listed in ``notes``.
    manual
        Check the order of the pipes even in functions without synchronisation, as if nothing
        would add it.

    Returns
    -------
    Report
        Findings, notes and maps.

    Raises
    ------
    ProgramError
        If there is no such function, or none to check.
    ArgumentTypeError, ArgumentValueError
        If the target or an argument does not fit.

    Examples
    --------
    >>> from lanesort.pto.text.parser import parse
    >>> module = parse('''func.func @f() {
    ...   %t = pto.alloc_tile : !pto.tile_buf<vec, 1x64xf32>
    ...   return
    ... }''')
    >>> print(check(module, "a5").findings[0])
    <text>:2:3: warning[unused-tile]: %t is allocated and never used
    """
    targets = _targets(module, target)
    chosen = _functions(module, function)
    named = {name.removeprefix("%"): value for name, value in (args or {}).items()}
    _require_known(chosen, named)
    findings: list[Finding] = []
    notes: dict[str, None] = {} if chosen else {"the text has no function with a body": None}
    maps: list[UbMap] = []
    for one in chosen:
        walks = [follow(module, one, each, _own(one, named)) for each in targets]
        found = {walk.target.name: _found(module, one, walk, manual) for walk in walks}
        findings += _merged(found)
        if len(walks) > 1:
            findings += portability(walks, found)
        notes |= {note: None for walk in walks for note in walk.notes}
        notes |= dict.fromkeys(_pipe_notes(module, one, manual))
        maps += [ub_map(one, walk) for walk in walks]
    ordered = sorted(_distinct(findings), key=_position)
    if len(ordered) > MOST_FINDINGS:
        notes[f"{len(ordered)} findings; the first {MOST_FINDINGS} are given"] = None
    return Report(tuple(ordered[:MOST_FINDINGS]), tuple(notes), tuple(maps))


def _targets(module: Module, target: str | Target | None) -> list[Target]:
    if target == "all":
        return [find_target(name) for name in ALL_TARGETS]
    return [program_target(target, module.target_arch, module.file)]


def _functions(module: Module, name: str | None) -> list[Function]:
    bodies = [one for one in module.functions if one.body is not None]
    if name is not None:
        found = [one for one in bodies if one.name == name.removeprefix("@")]
    else:
        called = {callee for one in bodies for callee in _callees(one.body or Block())}
        found = [one for one in bodies if one.name not in called] or bodies
    if found or name is None:
        return found
    names = ", ".join(f"@{one.name}" for one in bodies) or "none"
    raise ProgramError(f"there is no function @{name.removeprefix('@')} with a body; the text has {names}")


def _steps(block: Block) -> list[Step]:
    return [step for own in block.steps for step in (own, *(s for r in own.regions for s in _steps(r)))]


def _callees(block: Block) -> set[str]:
    return {str(step.attributes["callee"]) for step in _steps(block) if step.op == "func.call"}


def _reached(module: Module, function: Function) -> list[Function]:
    """Return the function and those that it calls, directly or not."""
    by_name = {one.name: one for one in module.functions}
    reached: dict[str, Function] = {}
    waiting = [function.name]
    while waiting:
        name = waiting.pop()
        if name in by_name and name not in reached:
            reached[name] = by_name[name]
            waiting += _callees(by_name[name].body or Block())
    return list(reached.values())


def _require_known(functions: Sequence[Function], named: Mapping[str, Any]) -> None:
    names = {name for function in functions for name in function.arguments}
    unknown = [name for name in named if name not in names]
    if unknown:
        raise ArgumentValueError(
            f"no function has an argument {', '.join(unknown)}; "
            f"there are {', '.join(sorted(names)) or 'none'}"
        )


def _own(function: Function, named: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in named.items() if name in function.arguments}


def _found(module: Module, function: Function, walk: Walk, manual: bool) -> list[Finding]:
    reached = _reached(module, function)
    found = [*placements(walk), *overlaps(walk), *rules(walk), *faults(walk), *reads(walk)]
    found += unsorted_runs(walk)
    for one in reached:
        found += [*unused(one, walk), *misspelled(one)]
    if _order_is_checked(reached, manual):
        found += hazards(walk)
    known = {(finding.place, finding.function) for finding in found if finding.severity == "error"}
    beyond = any(finding.id == "ub-overflow" for finding in found)
    for step, where, text in walk.refused.values():
        if (step.place, where.name) not in known and not (beyond and "of UB are needed" in text):
            found.append(Finding("cannot-run", f"{step.op}: {text}", step.place, where.name))
    return found


def _order_is_checked(reached: Sequence[Function], manual: bool) -> bool:
    by_hand = manual or any(map(has_synchronisation, reached))
    return by_hand and not _unmodelled_order(reached)


def _unmodelled_order(reached: Sequence[Function]) -> set[str]:
    return {
        step.op
        for one in reached
        for step in _steps(one.body or Block())
        if not step.modelled and step.op in UNMODELLED_ORDER
    }


def _pipe_notes(module: Module, function: Function, manual: bool) -> Iterator[str]:
    """Say why the order of the pipes was not checked."""
    reached = _reached(module, function)
    unmodelled = ", ".join(sorted(f"pto.{op}" for op in _unmodelled_order(reached)))
    if unmodelled:
        yield f"@{function.name}: pipes are ordered by {unmodelled}, not modelled, and were not checked"
    elif not manual and not any(map(has_synchronisation, reached)):
        text = "no flags or barriers: taken to be written for automatic synchronisation"
        yield f"@{function.name}: {text}; pipes are checked with --manual"


def _merged(found: Mapping[str, Sequence[Finding]]) -> list[Finding]:
    """Return the findings of several targets, each once, with the targets that have it."""
    merged: dict[Finding, list[str]] = {}
    kept: dict[Finding, Finding] = {}
    for target, listed in found.items():
        for finding in listed:
            names = merged.setdefault(finding, [])
            kept.setdefault(finding, finding)
            if target not in names:
                names.append(target)
    return [replace(kept[finding], targets=tuple(names)) for finding, names in merged.items()]


def _distinct(findings: Sequence[Finding]) -> list[Finding]:
    """Return findings without those that say the same of the same place again."""
    seen: dict[tuple[Any, ...], Finding] = {}
    for finding in findings:
        seen.setdefault((finding.id, finding.place, finding.other, finding.text), finding)
    return list(seen.values())


def _position(finding: Finding) -> tuple[int, int, int]:
    line, column = (finding.place.line, finding.place.column) if finding.place else (0, 0)
    return line, column, list(KINDS).index(finding.id)
