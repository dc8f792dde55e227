"""Examine how any library sorts: ties, NaN, zeros, sizes, layouts and dtypes.

A `Subject` is a sort, an argsort and a top-k as callables over NumPy arrays; `run` asks it
every question and says which answers agree with a policy of `lanesort.order`. NumPy,
PyTorch, JAX, ONNX Runtime and lanesort itself are known by name.

Examples
--------
>>> from lanesort.conformance import Subject, run
>>> import numpy as np
>>> mine = Subject("mine", argsort=lambda x, descending: np.argsort(-x if descending else x, kind="stable"))
>>> report = run(mine)
>>> report["ties/argsort/descending"].found, report["NaN/argsort/policy, float32"].found
('low', 'last')
>>> report["dtypes/all/uint8"].found
'wrong'
"""

from __future__ import annotations

from lanesort.conformance.installed import KNOWN, installed, known
from lanesort.conformance.order_questions import ORDER_QUESTIONS
from lanesort.conformance.question import Answer, Question, ask
from lanesort.conformance.report import Report, as_markdown, rows
from lanesort.conformance.shape_questions import SHAPE_QUESTIONS
from lanesort.conformance.subject import Subject
from lanesort.errors import MissingVerbError

__all__ = [
    "KNOWN",
    "QUESTIONS",
    "Answer",
    "MissingVerbError",
    "Question",
    "Report",
    "Subject",
    "as_markdown",
    "installed",
    "known",
    "rows",
    "run",
]

QUESTIONS: tuple[Question, ...] = (*ORDER_QUESTIONS, *SHAPE_QUESTIONS)
"""Everything that is asked, in the order of the table."""


def run(subject: Subject | str) -> Report:
    """Ask a subject every question.

    Parameters
    ----------
    subject
        A `Subject`, or the name of a library in `KNOWN`.

    Returns
    -------
    Report
        An answer to each of `QUESTIONS`; ``print(report)`` shows them as a table.

    Raises
    ------
    ArgumentValueError, MissingExtraError
        For a name that is not known, or whose library is not installed. What the subject
        itself raises is an answer.

    Examples
    --------
    >>> run("lanesort").departures
    ()
    """
    examined = known(subject) if isinstance(subject, str) else subject
    return Report(examined.name, examined.version, tuple(ask(q, examined) for q in QUESTIONS))
