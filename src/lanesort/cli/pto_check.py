"""``lanesort pto check``: look for faults in a `.pto` program without running it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from json import dumps
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from lanesort.cli.console import console as make_console
from lanesort.cli.pto_file import read_program
from lanesort.cli.pto_run import given_arguments
from lanesort.pto.check import Finding, Report, check, map_text
from lanesort.pto.check import fix as mend
from lanesort.pto.check.source import mended_text
from lanesort.pto.interpreter import choose_function
from lanesort.pto.program import Module
from lanesort.report.ub_map import write_ub_map

__all__ = ["pto_check", "shown"]


def pto_check(
    file: Path,
    /,
    *,
    target: str | None = None,
    function: str | None = None,
    arg: Annotated[tuple[str, ...], Parameter(name="--arg", consume_multiple=False, negative="")] = (),
    manual: Annotated[bool, Parameter(negative="")] = False,
    placements: Annotated[bool, Parameter(negative="")] = False,
    werror: Annotated[bool, Parameter(negative="")] = False,
    json: Annotated[bool, Parameter(negative="")] = False,
    fix: Annotated[bool, Parameter(negative="")] = False,
    map: Annotated[bool, Parameter(negative="")] = False,
    map_svg: Path | None = None,
) -> int:
    """Look for faults in a .pto program. Exit code 0: clean, 1: findings, 2: unreadable.

    Parameters
    ----------
    file
        The program.
    target
        a2a3, a5, all (both) or another target; the program's own if not given.
    function
        Which function; every one that no other calls if not given.
    arg
        A known argument, NAME=VALUE or VALUE in order, as pto run takes it.
    manual
        Check the pipes as if nothing would add flags, even where the program has none.
    placements
        Honour comment lines "# pto.tassign %name, @tile(0x1000)" of the program.
    werror
        Warnings count as findings for the exit code too.
    json
        Print findings as JSON.
    fix
        Print the program with flags, barriers and tmp columns added; what is left goes to
        standard error and decides the exit code.
    map
        Print where the tiles are in the unified buffer, and when they are used.
    map_svg
        Write that map as an SVG file: of the first function and target.
    """
    module = read_program(file, manual=placements)
    args = given_arguments(arg, lambda: choose_function(module, function).arguments)
    if fix:
        return _fix(module, target, function, args, werror)
    report = check(module, target, function=function, args=args, manual=manual)
    if map_svg is not None and report.maps:
        write_ub_map(map_svg, report.maps[0])
    if json:
        _print_json(report)
    else:
        _print(module, report, map)
    return _code(report.findings, werror)


def _code(findings: Sequence[Finding], werror: bool) -> int:
    counted = ("error", "warning") if werror else ("error",)
    return int(any(finding.severity in counted for finding in findings))


def _fix(
    module: Module, target: str | None, function: str | None, args: dict[str, object], werror: bool
) -> int:
    fixed = mend(module, target, function=function, args=args)
    sys.stdout.write(mended_text(module, fixed.module))
    console = make_console(errors=True)
    for finding in fixed.mended:
        console.print(f"mended: {finding}")
    for finding in fixed.left:
        console.print(f"left: {finding}")
    return _code(fixed.left, werror)


def _print_json(report: Report) -> None:
    document = {
        "findings": [finding.document() for finding in report.findings],
        "notes": list(report.notes),
    }
    sys.stdout.write(dumps(document, indent=2, ensure_ascii=False) + "\n")


def shown(module: Module, finding: Finding, several: bool) -> str:
    """Write a finding for a terminal: where, what, the line of the text, what to do."""
    targets = f" ({', '.join(finding.targets)})" if several and finding.targets else ""
    lines = [f"{finding}{targets}"]
    source = module.line(finding.place) if finding.place else None
    if source is not None and finding.place is not None:
        lines.append(f"  {source.strip()}")
    lines.append(f"  hint: {finding.kind.hint}")
    lines += [f"  add {line.where}: {line.text}" for line in finding.add]
    return "\n".join(lines)


def _print(module: Module, report: Report, with_maps: bool) -> None:
    console = make_console()
    several = len({name for finding in report.findings for name in finding.targets}) > 1
    for finding in report.findings:
        console.print(shown(module, finding, several))
    for note in report.notes:
        console.print(f"note: {note}")
    if with_maps:
        for one in report.maps:
            console.print(map_text(one))
    counts = ", ".join(
        f"{len(found)} {noun}{'' if len(found) == 1 else 's'}"
        for found, noun in ((report.errors, "error"), (report.warnings, "warning"))
        if found
    )
    console.print(counts or "clean")
