"""Random jobs on every target: what a plan gives is what the reference and the library give."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from lanesort.neuron import decode
from lanesort.plan import make_plan
from lanesort.pto.check import check
from tests.plan.jobs import NEURON, PTO, Case, cases

QUICK = settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
THOUSAND = settings(max_examples=1000, deadline=None, suppress_health_check=list(HealthCheck))


def holds(case: Case) -> None:
    found = case.plan.check(case.x, case.engine)
    assert found.equal, f"{case.plan}\n{found}"
    # The simulator's own sorts follow no rule where there is a NaN, whatever was chosen: the model says so.
    simulated = case.plan.job.target == "cpu"
    assert not [text for text in found.warnings if not (simulated and "follows no rule" in text)]


def is_sound(case: Case) -> None:
    """The program is the same every time, can be read back, and has no hazard."""
    plan = case.plan
    again = make_plan(plan.job, plan.chosen.name)
    assert again.program == plan.program
    if plan.job.family == "pto":
        report = check(plan.chosen.module, plan.job.target, manual=True)
        assert not report.findings, "\n".join(map(str, report.findings))
    else:
        for word in plan.program:
            assert decode(word.encode()) == word
            assert not word.validate(plan.job.target)


def try_plans(target: str, effort: settings) -> None:
    """Let hypothesis look for a plan that is wrong."""

    @effort
    @given(cases((target,)))
    def run(case: Case) -> None:
        holds(case)
        is_sound(case)

    run()


@pytest.mark.parametrize("target", [*PTO[:4], *NEURON])
def test_random_plans_are_right(target: str) -> None:
    try_plans(target, QUICK)


@pytest.mark.nightly
@pytest.mark.parametrize("target", [*PTO, *NEURON])
def test_a_thousand_plans_a_target(target: str) -> None:
    try_plans(target, THOUSAND)
