"""The table of everything that no source fixes, for the documentation."""

from __future__ import annotations

from pathlib import Path

from lanesort import neuron, pto
from lanesort.evidence import Unpinned, unpinned_behaviours

__all__ = ["unpinned_table", "write_unpinned_table"]

FAMILIES = {"neuron": neuron, "pto": pto}
"""Families of instructions; importing them declares what is open about them."""


def unpinned_table() -> str:
    """Return a Markdown table with a line for each unpinned behaviour, by family.

    Examples
    --------
    >>> unpinned_table().splitlines()[0]
    '| id | what is open | where | choices, the default first |'
    """
    lines = ["| id | what is open | where | choices, the default first |", "|---|---|---|---|"]
    lines += [_line(entry) for family in FAMILIES for entry in unpinned_behaviours(family)]
    return "\n".join(lines) + "\n"


def write_unpinned_table(folder: str | Path) -> Path:
    """Write the table as ``unpinned.txt`` into a folder, and return its path."""
    target = Path(folder) / "unpinned.txt"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(unpinned_table(), encoding="utf-8")
    return target


def _line(entry: Unpinned) -> str:
    choices = "<br>".join(f"`{name}`: {meaning}" for name, meaning in entry.choices.items())
    about = "<br>".join(entry.about)
    cells = (f"`{entry.id}`<br>{about}", entry.question, entry.sources, choices)
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
