"""A plan as a program: what it is given, what it writes, what a check says."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import lanesort
from lanesort import plan, pto
from lanesort.errors import ArgumentTypeError, ArgumentValueError, FileError
from lanesort.plan.check import compare
from tests.patterns import Array

X = np.random.default_rng(2).standard_normal((3, 500)).astype(np.float32)


@pytest.fixture(params=["a5", "cayman"])
def planned(request: pytest.FixtureRequest) -> plan.Plan:
    return plan.top_k(shape=X.shape, k=20, target=request.param)


def test_run_gives_what_the_library_gives(planned: plan.Plan) -> None:
    values, indices = planned.run(X)
    best = lanesort.top_k(X, 20)
    assert values.tobytes() == best.values.tobytes()
    assert indices.dtype == best.indices.dtype
    assert np.array_equal(indices, best.indices)


def test_rows_keep_their_shape(planned: plan.Plan) -> None:
    deep = plan.top_k(shape=(3, 5, 100), k=4, target=planned.job.target)
    values, indices = deep.run(X.reshape(3, 5, 100))
    assert values.shape == indices.shape == (3, 5, 4)
    flat = plan.top_k(shape=500, k=4, target=planned.job.target)
    assert flat.run(X[0]).indices.tolist() == lanesort.top_k(X[0], 4).indices.tolist()


def test_inputs_of_any_layout_are_taken_and_never_written(planned: plan.Plan) -> None:
    expected = planned.run(X).indices
    for same in (X.astype(">f4"), np.asfortranarray(X), X[:, ::-1][:, ::-1]):
        same.flags.writeable = False
        assert np.array_equal(planned.run(same).indices, expected)


def test_inputs_that_do_not_fit_are_named(planned: plan.Plan) -> None:
    with pytest.raises(ArgumentTypeError, match="x has dtype float64; the plan is for float32"):
        planned.run(X.astype(np.float64))
    with pytest.raises(ArgumentValueError, match=r"x has shape \(500, 3\); the plan is for \(3, 500\)"):
        planned.run(X.T)


def test_the_same_job_gives_the_same_program(planned: plan.Plan) -> None:
    again = plan.top_k(shape=X.shape, k=20, target=planned.job.target)
    assert again.program == planned.program
    assert again.document() == planned.document()


@pytest.mark.parametrize("engine", ["reference", "native", "datapath"])
def test_every_engine_passes_the_check(planned: plan.Plan, engine: str) -> None:
    assert planned.check(X[:, :].copy(), engine)


def test_a_check_says_where_the_first_difference_is(planned: plan.Plan) -> None:
    outcome = planned.outcome(X)
    indices = outcome.indices.copy()
    indices[1, [4, 9]] = indices[1, [9, 4]]
    found = compare(planned.job, X, replace(outcome, indices=indices))
    assert not found
    assert {d and (d.row, d.rank) for d in found.differences.values()} == {(1, 4)}
    assert "row 1, rank 4: the plan gives" in str(found)
    assert f"at {outcome.indices[1, 4]}" in str(found)


def test_a_check_compares_bits() -> None:
    zeros = np.array([[0.0, -0.0, 1.0]], np.float32)
    planned = plan.sort(shape=zeros.shape, target="a5")
    outcome = planned.outcome(zeros)
    assert compare(planned.job, zeros, outcome)
    positive = np.abs(outcome.values)
    assert not compare(planned.job, zeros, replace(outcome, values=positive))


def test_nonzero_checks_find_a_missing_position() -> None:
    x = np.array([0, 5, 0, 7], np.int32)
    planned = plan.nonzero(shape=4, dtype="int32")
    outcome = planned.outcome(x)
    found = compare(planned.job, x, replace(outcome, indices=outcome.indices[:1]))
    assert "rank 1: the plan gives nothing, expected is position 3" in str(found)


def test_nan_under_plain_comparison_can_not_be_checked() -> None:
    x: Array = np.array([[1.0, np.nan, 2.0]], np.float32)
    with pytest.raises(ArgumentValueError, match="compare-false"):
        plan.sort(shape=x.shape, target="cpu").check(x)
    chosen = {"pto.nan-order": "sign-magnitude"}
    assert plan.sort(shape=x.shape, target="cpu", choices=chosen).check(x)


@pytest.mark.parametrize("shape", [(0, 5), (3, 0), (0,), (2, 0, 4)])
@pytest.mark.parametrize("target", ["a2a3", "cayman"])
def test_nothing_at_all(shape: tuple[int, ...], target: str) -> None:
    x = np.zeros(shape, np.float32)
    for planned in (plan.sort(shape=shape, target=target), plan.top_k(shape=shape, k=0, target=target)):
        values, indices = planned.run(x)
        assert values.shape == indices.shape == planned.job.result_shape
        assert planned.check(x)
        assert planned.cost.cycles == 0
        assert planned.explain()
    if target == "cayman":
        assert plan.nonzero(shape=shape).run(x) == (pytest.approx(np.zeros(0)), 0)


def test_k_none_one_and_all(planned: plan.Plan) -> None:
    for k in (0, 1, 500):
        assert plan.top_k(shape=X.shape, k=k, target=planned.job.target).check(X)


def test_emit_writes_what_can_be_read_back(planned: plan.Plan, tmp_path) -> None:
    document = json.loads(planned.emit(tmp_path / "plan.json").read_text())
    assert document["job"]["k"] == 20
    assert document["program"] == planned.chosen.name
    suffix = {"a5": ".pto", "cayman": ".bin"}[planned.job.target]
    data = planned.emit(tmp_path / f"program{suffix}").read_bytes()
    if suffix == ".pto":
        assert pto.parse(data.decode()).functions[0].name == "top_k"
        assert document["text"] == data.decode()
    else:
        assert document["words"] == [data[at : at + 64].hex() for at in range(0, len(data), 64)]
        assert len(document["pieces"]) == len(document["words"])
    other = {".pto": ".bin", ".bin": ".pto"}[suffix]
    with pytest.raises(ArgumentValueError, match=f"is written as {suffix} or .json"):
        planned.emit(tmp_path / f"program{other}")
    with pytest.raises(FileError, match="can't write"):
        planned.emit(tmp_path / "no" / "plan.json")


def test_explain_says_what_costs_what_and_what_was_chosen() -> None:
    text = plan.sort(shape=5000, target="cayman", choices={"sort.nan-order": "total"}).explain()
    for part in ("lanesort.plan.sort(shape=(5000,)", "nan='total'", "cycles by operation", "inferred"):
        assert part in text
    assert "sort.nan-order: total" in text
    assert "more" in plan.sort(shape=(16, 8192), target="cayman").explain()
