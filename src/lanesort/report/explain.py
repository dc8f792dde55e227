"""What is known of an instruction: its word, its rules by mode, where it exists, what is open, and why.

Everything is taken from the instruction's own module: docstring, ``RULES``, and, where it
has them, ``LAYOUT`` and ``AVAILABILITY``; facts and unpinned behaviours by its ``ABOUT``.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from lanesort.errors import ArgumentValueError, MissingExtraError
from lanesort.evidence import Fact, Unpinned, facts, unpinned_behaviours
from lanesort.neuron.word import Layout
from lanesort.report.word_diagram import svg_diagram, text_diagram
from lanesort.rule import Rule, RuleBook

__all__ = [
    "EXPLAINED",
    "Explanation",
    "explain",
    "explain_unpinned",
    "facts_about",
    "rule_table",
    "unpinned_by_id",
    "word_as_text",
    "write_pages",
]

EXPLAINED: Mapping[str, str] = {
    "neuron.sort": "lanesort.neuron.sort",
    "neuron.nonzero_with_count": "lanesort.neuron.nonzero_with_count",
    "pto.tsort32": "lanesort.pto.tsort32",
    "pto.tmrgsort": "lanesort.pto.tmrgsort",
}
"""Each instruction and the module that holds it; it is imported when it is explained."""

_BEHIND: Mapping[str, tuple[str, ...]] = {
    "neuron.sort": ("neuron.dispatch", "datapath.network", "datapath.primitives"),
    "neuron.nonzero_with_count": ("neuron.dispatch", "datapath.compactor"),
    "pto.tsort32": ("pto.calls", "pto.fault"),
    "pto.tmrgsort": ("pto.calls", "datapath.merger"),
}
"""Modules that hold facts of an instruction, besides what its own module imports."""

_KIN: Mapping[str, tuple[str, ...]] = {
    "neuron.sort": ("neuron.machine", "neuron.dispatch"),
    "neuron.nonzero_with_count": ("neuron.machine", "neuron.dispatch"),
    "pto.tsort32": ("pto.pair", "pto.vbitsort", "pto.fault", "pto.target"),
    "pto.tmrgsort": ("pto.pair", "pto.vmrgsort4", "pto.target"),
}
"""Subjects whose facts concern an instruction too: what its family shares, and the call below it."""

_REST = ("pto.convert", "pto.elementwise", "pto.gather", "pto.transfer", "pto.text.verify", "pto.check.pipes")
"""Modules with facts about anything else."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """All that is known of one instruction.

    Attributes
    ----------
    about
        Subject, for example ``neuron.sort``.
    summary
        The docstring of its module.
    layout
        Of its word, if it has one.
    rules
        In the source's order.
    modes
        Validation modes; empty where there is one way only.
    availability
        Generation or target, and what it has.
    unpinned, facts
        That concern it, or the machine of its family.
    """

    about: str
    summary: str
    layout: Layout | None
    rules: tuple[Rule[Any, Any], ...]
    modes: tuple[str, ...]
    availability: Mapping[str, str]
    unpinned: tuple[Unpinned, ...]
    facts: tuple[Fact, ...]


def explain(subject: str) -> Explanation:
    """Collect what is known of an instruction.

    Parameters
    ----------
    subject
        One of `EXPLAINED`.

    Raises
    ------
    ArgumentValueError
        For a subject that is not known.
    MissingExtraError
        If its module needs a package that is not installed.

    Examples
    --------
    >>> explain("neuron.sort").rules[0].name
    'word_length_is_sixteen_dwords'
    """
    if subject not in EXPLAINED:
        raise ArgumentValueError(f"nothing to explain about {subject!r}; known are {', '.join(EXPLAINED)}")
    module = _module(subject)
    if subject.startswith("pto."):
        _load_rest()
    book: RuleBook[Any, Any] = module.RULES
    rules = tuple(book)
    return Explanation(
        subject,
        inspect.cleandoc(module.__doc__ or ""),
        getattr(module, "LAYOUT", None),
        rules,
        _modes(rules, module),
        getattr(module, "AVAILABILITY", {}),
        unpinned_behaviours(subject),
        tuple(entry for about in (subject, *_KIN[subject]) for entry in facts(about)),
    )


def _module(subject: str) -> ModuleType:
    try:
        for name in _BEHIND[subject]:
            import_module(f"lanesort.{name}")
        return import_module(EXPLAINED[subject])
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("lanesort"):
            raise
        raise MissingExtraError(
            f"explaining {subject} needs {error.name}: pip install 'lanesort[{subject.partition('.')[0]}]'"
        ) from None


def _modes(rules: tuple[Rule[Any, Any], ...], module: ModuleType) -> tuple[str, ...]:
    given: tuple[str, ...] = getattr(module, "MODES", ())
    found = dict.fromkeys((*given, *(m for r in rules for m in sorted(r.modes))))
    return tuple(found)


def facts_about(subject: str) -> tuple[Fact, ...]:
    """Return what the ledger holds about any subject, for example ``pto.tgather``; maybe nothing."""
    _load_instructions()
    _load_rest()
    return facts(subject) if subject else ()


def _load_instructions() -> None:
    for subject in EXPLAINED:
        with suppress(MissingExtraError):
            _module(subject)


def _load_rest() -> None:
    for name in _REST:
        with suppress(
            ModuleNotFoundError, MissingExtraError
        ):  # where `.pto` text can't be read for lack of xDSL
            import_module(f"lanesort.{name}")


def unpinned_by_id(id: str) -> Unpinned | None:
    """Return the unpinned behaviour of that id, or None; imports every instruction that can be."""
    _load_instructions()
    return next((u for u in unpinned_behaviours() if u.id == id), None)


def rule_table(explanation: Explanation) -> str:
    """Return the rules by mode as a Markdown table."""
    modes = explanation.modes
    head = ["rule", "statement", *modes, "stands on"]
    lines = [f"| {' | '.join(head)} |", f"|{'|'.join(['---'] * len(head))}|"]
    for rule in explanation.rules:
        marks = ["tested" if rule.applies(mode) else "–" for mode in modes]
        stands_on = f"`{rule.unpinned}`" if rule.unpinned else "the source"
        lines.append(f"| `{rule.name}` | {' | '.join([rule.statement, *marks, stands_on])} |")
    return "\n".join(lines) + "\n"


def explain_unpinned(entry: Unpinned) -> str:
    """Return one unpinned behaviour as text."""
    lines = [
        entry.id,
        f"  concerns  {', '.join(entry.about)}",
        f"  open      {entry.question}",
        f"  sources   {entry.sources}",
        f"  default   {entry.default}",
    ]
    width = max((len(name) for name in entry.choices), default=0)
    lines += [f"  choice    {name:<{width}}  {meaning}" for name, meaning in entry.choices.items()]
    return "\n".join(lines)


def word_as_text(explanation: Explanation) -> str:
    """Return the diagram of the word, or say that there is none."""
    layout = explanation.layout
    return "no instruction word is public" if layout is None else text_diagram(layout)


def write_pages(folder: str | Path) -> tuple[Path, ...]:
    """Write the generated parts of the documentation: a word diagram and a rule table each.

    Parameters
    ----------
    folder
        Where to write ``<subject>-word.svg`` and ``<subject>-rules.txt``; made if it is missing.

    Returns
    -------
    tuple of Path
        The files.
    """
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    written = []
    for subject in EXPLAINED:
        found = explain(subject)
        name = subject.replace(".", "-").replace("_", "-")
        rules = target / f"{name}-rules.txt"
        rules.write_text(rule_table(found), encoding="utf-8")
        written.append(rules)
        if found.layout is not None:
            drawing = target / f"{name}-word.svg"
            drawing.write_text(svg_diagram(found.layout, f"The 64-byte word of {subject}"), encoding="utf-8")
            written.append(drawing)
    return tuple(written)
