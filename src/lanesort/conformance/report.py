"""The report about one subject, and the table of several."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lanesort.conformance.question import Answer

__all__ = ["Report", "Row", "as_markdown", "rows"]


@dataclass(frozen=True, slots=True)
class Report:
    """What one subject does.

    Attributes
    ----------
    name, version
        Of the subject.
    answers
        One for each question, in the order of the table.
    """

    name: str
    version: str
    answers: tuple[Answer, ...]

    @property
    def departures(self) -> tuple[Answer, ...]:
        """The answers that no policy of `lanesort.order` has."""
        return tuple(answer for answer in self.answers if answer.conforms is False)

    @property
    def title(self) -> str:
        """Name and version."""
        return f"{self.name} {self.version}".rstrip()

    def __getitem__(self, id: str) -> Answer:
        """Return the answer to the question with this id, for example ``ties/top_k/largest``."""
        for answer in self.answers:
            if answer.question.id == id:
                return answer
        raise KeyError(id)

    def __str__(self) -> str:
        return as_markdown([self])


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: a question and the answer of each subject."""

    topic: str
    verb: str
    text: str
    answers: tuple[Answer, ...]


def rows(reports: Sequence[Report]) -> Iterator[Row]:
    """Yield the lines of the table of several reports."""
    for answers in zip(*(report.answers for report in reports), strict=True):
        question = answers[0].question
        yield Row(question.topic, question.verb, question.text, answers)


def as_markdown(reports: Sequence[Report]) -> str:
    """Write the table of several reports; departures from every policy are bold."""
    head = ["", "verb", "question", *(report.title for report in reports)]
    lines = [_line(head), _line(["---"] * len(head))]
    topic = ""
    for row in rows(reports):
        cells = [f"**{a.found}**" if a.conforms is False else a.found for a in row.answers]
        lines.append(_line([row.topic if row.topic != topic else "", row.verb, row.text, *cells]))
        topic = row.topic
    return "\n".join(lines) + "\n"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
