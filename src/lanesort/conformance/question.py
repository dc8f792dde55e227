"""What a question is, and how its answer is found whatever the subject does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from lanesort.conformance.subject import Subject, Verb
from lanesort.errors import MissingVerbError, RefusedError

__all__ = ["ABSENT", "Answer", "Question", "ask"]

ABSENT = "–"
"""The answer where a subject lacks the verb."""


@dataclass(frozen=True, slots=True)
class Question:
    """One thing that libraries do differently.

    Attributes
    ----------
    topic
        Heading of its group.
    verb
        Whose behaviour it is; ``all``: of every verb that the subject has.
    text
        The question in a few words.
    find
        Finds the answer. What it raises as RefusedError is an answer, too.
    promised
        Answers that agree with a policy of `lanesort.order`; empty: any does.
    """

    topic: str
    verb: Verb | Literal["all"]
    text: str
    find: Callable[[Subject], str]
    promised: tuple[str, ...]

    @property
    def id(self) -> str:
        """Name of the question, for example ``ties/argsort/ascending``."""
        return f"{self.topic}/{self.verb}/{self.text}"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a subject does.

    Attributes
    ----------
    question
        That was asked.
    found
        The behaviour in a few words, or `ABSENT`.
    conforms
        Whether order.md's policies have it; None where the subject lacks the verb.
    """

    question: Question
    found: str
    conforms: bool | None


def ask(question: Question, subject: Subject) -> Answer:
    """Ask one question."""
    try:
        found = question.find(subject)
    except MissingVerbError:
        return Answer(question, ABSENT, None)
    except RefusedError as error:
        found = f"refused: {error.kind}"
    kind = found.partition(":")[0]
    conforms = not question.promised or bool({found, kind} & set(question.promised))
    return Answer(question, found, conforms)
