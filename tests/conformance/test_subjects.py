"""The suite finds what a subject does, wrong subjects above all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lanesort.conformance import (
    KNOWN,
    QUESTIONS,
    MissingVerbError,
    Report,
    Subject,
    as_markdown,
    installed,
    known,
    run,
)
from lanesort.conformance.question import ABSENT, ask
from lanesort.errors import ArgumentValueError
from lanesort.order import Order
from lanesort.reference import sort_pairs

Array = np.ndarray[Any, Any]


@pytest.fixture(scope="module")
def numpy_report() -> Report:
    return run("numpy")


def oracle(nan: Any, tie: Any = "low") -> Subject:
    """A subject that follows a policy because it is the reference."""

    def pairs(x: Array, descending: bool) -> Any:
        found = sort_pairs(np.atleast_2d(x), Order(descending, nan, tie))
        return found.values.reshape(x.shape), found.indices.reshape(x.shape)

    def top_k(x: Array, k: int, largest: bool) -> Any:
        if not 0 <= k <= x.shape[-1]:
            raise ValueError(f"k is {k}")
        values, indices = pairs(x, largest)
        return values[..., :k], indices[..., :k]

    return Subject("oracle", lambda x, d: pairs(x, d)[0], lambda x, d: pairs(x, d)[1], top_k)


@pytest.mark.parametrize("nan", ["last", "largest", "sign-magnitude", "total"])
@pytest.mark.parametrize("tie", ["low", "high"])
def test_each_policy_is_told_from_the_others(nan: str, tie: str) -> None:
    report = run(oracle(nan, tie))
    policies = {a.found for a in report.answers if a.question.text.startswith("policy")}
    assert policies == {nan}
    assert {a.found for a in report.answers if a.question.id.startswith("ties/argsort")} == {tie}
    assert report["±0/argsort/order of zeros"].found == (
        "−0 below +0" if nan == "total" else "equal" if tie == "low" else "mixed"
    )
    departures = {a.question.topic for a in report.departures}
    assert departures <= ({"±0"} if tie == "high" else set())


def test_lanesort_departs_from_no_policy() -> None:
    report = run("lanesort")
    assert report.departures == ()
    assert all(answer.conforms for answer in report.answers)


def test_numpy_is_described_as_its_documentation_does(numpy_report: Report) -> None:
    found = {a.question.id: a.found for a in numpy_report.answers}
    assert found["ties/argsort/ascending"] == "low"
    assert found["ties/argsort/descending"] == "high", "a stable sort read backwards"
    assert found["NaN/argsort/policy, float32"] == "largest"
    assert found["sizes/top_k/k > n"].startswith("refused")


def _forgets_a_value(x: Array, k: int, largest: bool) -> Any:
    """Give up where the row starts with NaN: the fault of a heap seeded with the first k."""
    order = np.argsort(-x if largest else x, axis=-1, kind="stable")[..., :k]
    if x.size and x.ndim == 1 and np.isnan(x[0]):
        order = np.arange(k)
    return np.take_along_axis(x, order, axis=-1), order


def _wrong_subjects() -> dict[str, tuple[Subject, str]]:
    def zeros_without_sign(x: Array, descending: bool) -> Array:
        ordered = np.sort(x + 0 if x.dtype.kind == "f" else x, axis=-1)
        return ordered[..., ::-1] if descending else ordered

    def narrow(x: Array, descending: bool) -> Array:
        return np.argsort(-x if descending else x, axis=-1, kind="stable")

    def written(x: Array, descending: bool) -> Array:
        x.sort(axis=-1)
        return x

    def twice(x: Array, k: int, largest: bool) -> Any:
        indices = np.zeros((*x.shape[:-1], k), np.int64)
        return np.take_along_axis(x, indices, axis=-1), indices

    def more(x: Array, k: int, largest: bool) -> Any:
        order = np.argsort(-x, axis=-1, kind="stable")[..., :k]
        return np.take_along_axis(x, order, axis=-1), order

    return {
        "sign of zero lost": (Subject("s", sort=zeros_without_sign), "bits/sort/of zeros and NaNs"),
        "negated unsigned": (Subject("s", argsort=narrow), "dtypes/all/uint8"),
        "input written": (Subject("s", sort=written), "bits/sort/of zeros and NaNs"),
        "one index always": (Subject("s", top_k=twice), "bits/top_k/values are x[indices]"),
        "fewer than k": (Subject("s", top_k=more), "sizes/top_k/k > n"),
        "value forgotten": (Subject("s", top_k=_forgets_a_value), "NaN/top_k/wherever NaN stands"),
    }


@pytest.mark.parametrize("fault", _wrong_subjects())
def test_a_fault_is_found(fault: str) -> None:
    subject, question = _wrong_subjects()[fault]
    assert run(subject)[question].conforms is False


def test_what_a_subject_lacks_is_no_departure() -> None:
    def one_way(x: Array, descending: bool) -> Array:
        if descending:
            raise MissingVerbError("ascending only")
        return np.argsort(x, kind="stable")

    report = run(Subject("half", argsort=one_way))
    assert report["ties/argsort/descending"].found == ABSENT
    assert report["ties/argsort/ascending"].found == "low"
    assert report["NaN/argsort/policy, float32"].found == "largest", "ascending alone leaves both"
    assert report["sizes/top_k/k > n"].conforms is None


def test_the_table_has_a_line_a_question_and_a_column_a_subject(numpy_report: Report) -> None:
    lines = as_markdown([numpy_report, numpy_report]).splitlines()
    assert len(lines) == 2 + len(QUESTIONS)
    assert {line.count("|") for line in lines} == {6}
    with pytest.raises(KeyError):
        numpy_report["no/such/question"]


def test_unknown_names_and_empty_subjects_are_refused() -> None:
    with pytest.raises(ArgumentValueError, match="no adapter for 'lisp'"):
        known("lisp")
    with pytest.raises(ArgumentValueError, match="none of sort, argsort, top_k"):
        Subject("empty")
    assert {"lanesort", "numpy"} <= set(installed()) <= set(KNOWN)


@pytest.mark.parametrize("name", ["torch", "jax"])
def test_other_libraries_give_what_they_are_known_for(name: str) -> None:
    pytest.importorskip(name)
    expected = {
        "ties/argsort/descending": "low",
        "NaN/sort/policy, float32": "largest",
        "bits/top_k/values are x[indices]": "yes",
        "sizes/top_k/k = 0": "shape (2, 0)",
        "sizes/top_k/k > n": {"torch": "refused: RuntimeError", "jax": "refused: ValueError"}[name],
    }
    subject = known(name)
    found = {q.id: ask(q, subject).found for q in QUESTIONS if q.id in expected}
    assert found == expected
