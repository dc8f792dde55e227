"""``lanesort explain``: what is known of an instruction, or of an unpinned behaviour."""

from __future__ import annotations

import json as json_text
from dataclasses import asdict
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from lanesort.cli.options import Flag
from lanesort.errors import ArgumentValueError
from lanesort.evidence import unpinned_behaviours
from lanesort.report.explain import (
    EXPLAINED,
    Explanation,
    explain_unpinned,
    unpinned_by_id,
    word_as_text,
)
from lanesort.report.explain import explain as explanation_of

__all__ = ["explain"]


def explain(subject: str | None = None, /, *, json: Flag = False) -> int:
    """Explain an instruction (neuron.sort) or an unpinned behaviour (sort.nan-order).

    Parameters
    ----------
    subject
        What to explain; without it, what there is.
    json
        Print JSON.
    """
    console = Console(highlight=False, markup=False, soft_wrap=True)
    if subject is None:
        return _print_subjects(console)
    if subject in EXPLAINED:
        found = explanation_of(subject)
        if json:
            console.print(json_text.dumps(_plain(found), ensure_ascii=False, indent=2))
        else:
            _print(console, found)
        return 0
    entry = unpinned_by_id(subject)
    if entry is None:
        raise ArgumentValueError(
            f"nothing to explain about {subject!r}; known are {', '.join(EXPLAINED)}, and the ids of "
            "unpinned behaviours that `lanesort explain` lists"
        )
    text = json_text.dumps(asdict(entry), ensure_ascii=False, indent=2) if json else explain_unpinned(entry)
    console.print(text)
    return 0


def _print_subjects(console: Console) -> int:
    unpinned_by_id("")  # imports the instructions, and with them what they leave open
    console.print("Instructions:", *(f"  {subject}" for subject in EXPLAINED), sep="\n")
    console.print("Unpinned behaviours:", *(f"  {u.id}" for u in unpinned_behaviours()), sep="\n")
    return 0


def _print(console: Console, found: Explanation) -> None:
    console.print(found.about, found.summary, sep="\n\n")
    _heading(console, "Word")
    console.print(word_as_text(found))
    _heading(console, "Rules")
    console.print(_rules(found))
    if found.availability:
        _heading(console, "Where it exists")
        for name, has in found.availability.items():
            console.print(f"  {name:<14}{has}")
    _heading(console, "What no source fixes")
    for entry in found.unpinned:
        console.print(explain_unpinned(entry))
    _heading(console, "What it relies on")
    for fact in found.facts:
        console.print(f"  {fact.statement}\n    {fact.how}, {fact.surely}: {fact.source}")


def _heading(console: Console, text: str) -> None:
    console.print(f"\n{text}\n{'=' * len(text)}")


def _rules(found: Explanation) -> Table:
    # Name and statement share a column, so that both are there on a terminal of 80 columns.
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("rule, and what it requires", overflow="fold")
    for name in found.modes:
        table.add_column(name, no_wrap=True)
    for rule in found.rules:
        marks = ("tested" if rule.applies(mode) else "–" for mode in found.modes)
        basis = f" ({rule.unpinned})" if rule.unpinned else ""
        table.add_row(f"{rule.name}\n  {rule.statement}{basis}", *marks)
    return table


def _plain(found: Explanation) -> dict[str, Any]:
    cells = () if found.layout is None else found.layout.cells
    return {
        "about": found.about,
        "summary": found.summary,
        "word": [asdict(cell) for cell in cells],
        "modes": list(found.modes),
        "rules": [
            {
                "name": rule.name,
                "statement": rule.statement,
                "modes": [mode for mode in found.modes if rule.applies(mode)],
                "unpinned": rule.unpinned,
            }
            for rule in found.rules
        ],
        "availability": dict(found.availability),
        "unpinned": [asdict(entry) for entry in found.unpinned],
        "facts": [asdict(fact) for fact in found.facts],
    }
