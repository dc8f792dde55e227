"""Every exception class of lanesort.

Each derives from `LanesortError` and, where Python has a fitting built-in class, from
that one as well, so that ``except ValueError`` works as a NumPy user expects.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = [
    "ArgumentTypeError",
    "ArgumentValueError",
    "DeadlockError",
    "DecodeError",
    "FileError",
    "LanesortError",
    "MachineError",
    "MissingExtraError",
    "MissingVerbError",
    "Place",
    "ProgramError",
    "RefusedError",
    "RuleViolations",
    "UnsupportedPolicyError",
    "Violation",
]


class LanesortError(Exception):
    """Base of everything that lanesort raises on purpose."""


class ArgumentTypeError(LanesortError, TypeError):
    """An argument has a type or dtype that has no meaning here."""


class ArgumentValueError(LanesortError, ValueError):
    """An argument has a value outside what is accepted."""


class UnsupportedPolicyError(LanesortError, ValueError):
    """An engine was asked for a comparison policy that it does not have."""


class MissingExtraError(LanesortError, ImportError):
    """An optional dependency is not installed; the message names the extra."""


class FileError(LanesortError, OSError):
    """A file can't be read or written as asked."""


class DecodeError(LanesortError, ValueError):
    """Bytes are not an instruction word: wrong length or unknown opcode."""


class MachineError(LanesortError, RuntimeError):
    """A modelled machine can't go on: an access or a state that it refuses."""


class DeadlockError(MachineError):
    """A wait that can never hold."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken validity rule.

    Attributes
    ----------
    rule
        Name of the rule, the positive statement that does not hold.
    field
        Operand or field that breaks it.
    value
        The value found there.
    limit
        What the rule allows.
    text
        One line for a reader: what is wrong, with the values, and what to do.
    """

    rule: str
    field: str
    value: object
    limit: object
    text: str

    def __str__(self) -> str:
        return f"{self.rule}: {self.text}"


class RuleViolations(LanesortError, ValueError):
    """Validity rules do not hold; `violations` has all of them, in the source's order."""

    def __init__(self, subject: str, violations: Sequence[Violation]) -> None:
        self.subject = subject
        self.violations = tuple(violations)
        count = len(self.violations)
        head = f"{subject}: {count} validity rule{'' if count == 1 else 's'} broken"
        super().__init__("\n  ".join([head, *map(str, self.violations)]))


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a source text; line and column count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class ProgramError(LanesortError, ValueError):
    """A program text is wrong, or can't be run, at a place."""

    def __init__(
        self, text: str, place: Place | None = None, source: str | None = None, hint: str | None = None
    ) -> None:
        self.text = text
        self.place = place
        self.hint = hint
        lines = [f"{place}: error: {text}" if place else f"error: {text}"]
        if place and source is not None:
            lines += [f"  {source}", f"  {' ' * (place.column - 1)}^"]
        if hint:
            lines.append(f"  hint: {hint}")
        super().__init__("\n".join(lines))


class RefusedError(LanesortError):
    """A library under examination raised an error; `kind` is the name of its class."""

    def __init__(self, error: Exception) -> None:
        self.kind = type(error).__name__
        super().__init__(f"{self.kind}: {error}")


class MissingVerbError(LanesortError):
    """A library under examination has no such verb, or not in this direction."""


def counted(count: int, noun: str) -> str:
    """Return a number with its noun, for messages. Not interface: it writes ours.

    Examples
    --------
    >>> counted(1, "word"), counted(2, "word")
    ('1 word', '2 words')
    """
    return f"{count} {noun}{'' if count == 1 else 's'}"
