"""``lanesort explain``: what is known of an instruction, or of an unpinned behaviour."""

from __future__ import annotations

import json as json_text
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from lanesort.cli.console import console as make_console
from lanesort.cli.options import Flag
from lanesort.datapath.lanes import EXCHANGES
from lanesort.datapath.nan_order import demonstrate
from lanesort.errors import ArgumentValueError
from lanesort.evidence import Fact, Unpinned
from lanesort.report.explain import (
    EXPLAINED,
    Explanation,
    explain_unpinned,
    facts_about,
    unpinned_by_id,
    word_as_text,
)
from lanesort.report.explain import explain as explanation_of
from lanesort.report.subjects import explain_rule, instructions, nearest, open_questions, rule_names

__all__ = ["explain"]


def _networks() -> Iterator[str]:
    yield from demonstrate()
    for name, meaning in EXCHANGES.items():
        yield f"{name}: {meaning}"
    yield "stable: the index is the second key"


DEMONSTRATIONS: Mapping[str, Callable[[], Iterable[str]]] = {"sort.nan-order": _networks}
"""Unpinned behaviours that the datapath can show, a line a result."""


def explain(subject: str | None = None, /, *, json: Flag = False) -> int:
    """Explain an instruction (neuron.sort), an unpinned behaviour (sort.nan-order), a rule or facts.

    Parameters
    ----------
    subject
        What to explain; without it, what there is.
    json
        Print JSON.
    """
    console = make_console()
    if subject is None:
        return _print_subjects(console)
    if subject in EXPLAINED:
        found = explanation_of(subject)
        if json:
            _print_json(console, _plain(found))
        else:
            _print(console, found)
    elif (entry := unpinned_by_id(subject)) is not None:
        _print_unpinned(console, entry, json)
    elif known := facts_about(subject):
        if json:
            _print_json(console, [asdict(one) for one in known])
        else:
            _print_facts(console, known)
    elif rules := explain_rule(subject):
        _print_rule(console, subject, rules, json)
    else:
        near = nearest(subject)
        raise ArgumentValueError(
            f"nothing to explain about {subject!r}; "
            + (f"did you mean {near}? " if near else "")
            + "`lanesort explain` lists what there is"
        )
    return 0


def _print_rule(console: Console, name: str, rules: Mapping[str, str], json: bool) -> None:
    if json:
        _print_json(console, {"rule": name, "statements": dict(rules)})
        return
    console.print(name, *(f"  {subject}: {text}" for subject, text in rules.items()), sep="\n")


def _print_json(console: Console, plain: Any) -> None:
    console.print(json_text.dumps(plain, ensure_ascii=False, indent=2))


def _print_unpinned(console: Console, entry: Unpinned, json: bool) -> None:
    shown = tuple(DEMONSTRATIONS.get(entry.id, tuple)())
    if json:
        _print_json(console, asdict(entry) | ({"demonstration": shown} if shown else {}))
        return
    console.print(explain_unpinned(entry))
    if shown:
        console.print(
            "\nWhat networks of compare-exchanges do, values and then positions:", *shown, sep="\n  "
        )


def _print_facts(console: Console, known: Iterable[Fact]) -> None:
    for one in known:
        console.print(f"  {one.statement}\n    {one.how}, {one.surely}: {one.source}")


def _print_subjects(console: Console) -> int:
    for heading, listed in (("Instructions", instructions()), ("Unpinned behaviours", open_questions())):
        entries = dict(listed)
        width = max(map(len, entries), default=0)
        lines = (f"  {id:<{width}}  {text}" for id, text in entries.items())
        console.print(f"{heading}:", *lines, sep="\n")
    console.print(
        "Rules, by the names that messages give:", *(f"  {name}" for name in rule_names()), sep="\n"
    )
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
    _print_facts(console, found.facts)


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
