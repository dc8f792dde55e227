"""What there is to explain: instructions, their rules and unpinned behaviours, each in a line."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from contextlib import suppress

from lanesort.errors import MissingExtraError
from lanesort.evidence import unpinned_behaviours
from lanesort.pto.merging import SEEN_IN_A_RUN
from lanesort.report.explain import EXPLAINED, explain, unpinned_by_id

__all__ = ["explain_rule", "instructions", "nearest", "open_questions", "rule_names"]

_LONGEST = 64


def instructions() -> Iterator[tuple[str, str]]:
    """Yield the id of each instruction, and what it does in a line.

    Examples
    --------
    >>> dict(instructions())["neuron.sort"][:11]
    'Sort (0x96)'
    """
    for subject in EXPLAINED:
        with suppress(MissingExtraError):
            yield subject, explain(subject).summary.split("\n")[0]


def open_questions() -> Iterator[tuple[str, str]]:
    """Yield the id of each unpinned behaviour, and what is open."""
    unpinned_by_id("")  # imports the instructions, and with them what they leave open
    for entry in unpinned_behaviours():
        yield entry.id, entry.question


def _rules() -> Iterator[tuple[str, str, str]]:
    """Yield each rule: its name, and subject and text where it holds."""
    for subject in EXPLAINED:
        with suppress(MissingExtraError):
            found = explain(subject)
            for rule in found.rules:
                modes = [mode for mode in found.modes if rule.applies(mode)]
                tested = f" (modes: {', '.join(modes)})" if found.modes else ""
                basis = f"\n    stands on the unpinned behaviour {rule.unpinned}" if rule.unpinned else ""
                yield rule.name, subject, f"{rule.statement}{tested}{basis}"
    for name, statement in SEEN_IN_A_RUN.items():
        yield name, "pto.tmrgsort", statement


def rule_names() -> tuple[str, ...]:
    """Return the names of all rules, each once."""
    return tuple(dict.fromkeys(name for name, _, _ in _rules()))


def explain_rule(name: str) -> Mapping[str, str]:
    """Return what a rule requires, by the instruction that has it; empty for an unknown name.

    Examples
    --------
    >>> list(explain_rule("dst_has_two_columns"))
    ['neuron.sort']
    """
    return {subject: text for known, subject, text in _rules() if known == name}


def nearest(subject: str) -> str | None:
    """Return the id or name that is most like a text, if one is like it at all."""
    known = [*(id for id, _ in (*instructions(), *open_questions())), *rule_names()]
    near = difflib.get_close_matches(subject[:_LONGEST], known, n=1)
    return near[0] if near else None
