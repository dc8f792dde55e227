"""``lanesort probe``: a program whose result decides what no source fixes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from rich.console import Console
from rich.table import Table

from lanesort.cli.console import console as make_console
from lanesort.errors import ArgumentValueError
from lanesort.probe.probe import PROBES, UNDECIDED, describe, write_probe
from lanesort.probe.probe import probe as probe_of

__all__ = ["probe"]


def probe(
    *ids: str,
    output: Annotated[Path | None, Parameter(name=["-o", "--output"])] = None,
    all: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Print probes, or write what a device needs to run them.

    Parameters
    ----------
    ids
        Unpinned behaviours, for example sort.nan-order; without one they are listed.
    output
        Folder for programs, inputs and descriptions.
    all
        Every probe.
    """
    console = make_console()
    wanted = PROBES if all else ids
    if output is not None:
        if not wanted:
            raise ArgumentValueError(
                f"-o {output}: of what? give ids, or --all; lanesort probe alone lists them"
            )
        # All files are there before the first name is printed: a reader may stop listening.
        written = [path for id in wanted for path in write_probe(id, output)]
        console.print("\n".join(map(str, written)))
    elif wanted:
        for id in wanted:
            console.print(describe(id), end="\n\n" if len(wanted) > 1 else "\n")
    else:
        _print_list(console)
    return 0


def _print_list(console: Console) -> None:
    table = Table("id", "runs on", "choices", title="Unpinned behaviours that a result decides")
    for id in PROBES:
        made = probe_of(id)
        table.add_row(id, made.runs_on, ", ".join(o.choice for o in made.outcomes if o.on_offer))
    console.print(table)
    for id, reason in UNDECIDED.items():
        console.print(f"{id} has no probe: {reason}")
