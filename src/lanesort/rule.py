"""Validity rules: small named checks, collected in the source's order.

A rule is a function of a subject (a word, the operands of a tile instruction) and a
context (a generation, a target) that returns None or a `Violation`. A `RuleBook` holds
the rules of one instruction and validates a subject against all of them at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from lanesort.errors import Violation

__all__ = ["Rule", "RuleBook"]

Subject = TypeVar("Subject")
Context = TypeVar("Context")


@dataclass(frozen=True, slots=True)
class Rule(Generic[Subject, Context]):
    """A named validity rule.

    Attributes
    ----------
    name
        The positive statement, for example ``dst_has_two_columns``.
    statement
        The rule in one line.
    check
        Returns the violation, or None when the rule holds. Never raises.
    modes
        Validation modes under which the rule is tested; empty means all.
    unpinned
        Id of the unpinned behaviour that the rule stands on, if any.
    """

    name: str
    statement: str
    check: Callable[[Subject, Context], Violation | None]
    modes: frozenset[str] = frozenset()
    unpinned: str | None = None

    def applies(self, mode: str) -> bool:
        """Say whether the rule is tested under `mode`."""
        return not self.modes or mode in self.modes


class RuleBook(Generic[Subject, Context]):
    """The validity rules of one instruction, in the source's order."""

    def __init__(self, about: str) -> None:
        self.about = about
        self._rules: dict[str, Rule[Subject, Context]] = {}

    def __iter__(self) -> Iterator[Rule[Subject, Context]]:
        return iter(self._rules.values())

    def __len__(self) -> int:
        return len(self._rules)

    def __getitem__(self, name: str) -> Rule[Subject, Context]:
        return self._rules[name]

    def add(self, rule: Rule[Subject, Context]) -> None:
        """Append a rule; its name must be new."""
        if rule.name in self._rules:
            raise ValueError(f"{self.about}: rule {rule.name} is declared twice")
        self._rules[rule.name] = rule

    def rule(
        self, *, modes: tuple[str, ...] = (), unpinned: str | None = None
    ) -> Callable[
        [Callable[[Subject, Context], Violation | None]], Callable[[Subject, Context], Violation | None]
    ]:
        """Decorate a check: its name and docstring become the rule's name and statement."""

        def register(
            check: Callable[[Subject, Context], Violation | None],
        ) -> Callable[[Subject, Context], Violation | None]:
            statement = (check.__doc__ or "").strip().split("\n")[0]
            self.add(Rule(check.__name__, statement, check, frozenset(modes), unpinned))
            return check

        return register

    def validate(self, subject: Subject, context: Context, mode: str = "strict") -> tuple[Violation, ...]:
        """Return all violations, in the order of the rules."""
        found = (rule.check(subject, context) for rule in self if rule.applies(mode))
        return tuple(v for v in found if v is not None)
