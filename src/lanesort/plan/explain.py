"""A plan as text: what is done, in which order, at what cost, and what was chosen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from lanesort.evidence import unpinned_behaviours
from lanesort.plan.cost import Rate, estimate
from lanesort.plan.job import Job
from lanesort.plan.step import Step

__all__ = ["distinct_steps", "explain", "order_text"]

MOST_SHOWN = 40


def explain(
    job: Job, head: Sequence[tuple[str, str]], steps: Sequence[Step], rates: Mapping[str, Rate]
) -> str:
    """Return a plan as text.

    Parameters
    ----------
    job
        What it does.
    head
        What is said of its program beforehand: titles and texts.
    steps
        What it does, in order.
    rates
        What operations cost.
    """
    cost = estimate(steps, rates)
    total = f"{cost.cycles:,.0f} cycles, {cost.instructions:,} instructions, {cost.bytes:,} bytes moved"
    titled = [*head, ("order", order_text(job)), ("cost", total)]
    lines = [
        job.call(),
        *(f"{title}: {text}" for title, text in titled if text),
        "",
        *_step_lines(steps),
        "",
        "cycles by operation:",
    ]
    for operation, (times, cycles) in cost.by_operation.items():
        rate = rates[operation]
        formula = f"{rate.fixed:g} + {rate.each:.4g} · {rate.unit}"
        lines.append(f"  {cycles:>12,.0f}  {times:,} × {operation}: {formula} ({rate.how}: {rate.source})")
    return "\n".join([*lines, *_choices(job)])


def _step_lines(steps: Sequence[Step]) -> Iterator[str]:
    shown = distinct_steps(steps)
    phase = ""
    for step in shown[:MOST_SHOWN]:
        if step.phase != phase:
            phase = step.phase
            yield f"{phase}:"
        times = f"{step.times} × " if step.times > 1 else ""
        yield f"  {step.place:<7} {times}{step.op}: {step.what}"
    if len(shown) > MOST_SHOWN:
        yield f"  … and {len(shown) - MOST_SHOWN} more"


def distinct_steps(steps: Sequence[Step]) -> list[Step]:
    """Return steps that say different things; equal ones of a phase are counted together.

    Examples
    --------
    >>> step = Step("tload", "32 scores", "MTE2", 128)
    >>> [(one.what, one.times) for one in distinct_steps([step, step])]
    [('32 scores', 2)]
    """
    found: dict[tuple[str, str, str, str], Step] = {}
    for step in steps:
        key = (step.phase, step.place, step.op, step.what)
        seen = found.get(key)
        found[key] = step if seen is None else replace(seen, times=seen.times + step.times)
    return list(found.values())


def order_text(job: Job) -> str:
    """Return the order of the results in one line."""
    if job.op == "nonzero":
        return f"ascending positions; what counts as nonzero: {job.nonzero_rule}"
    policy = job.policy
    direction = "largest first" if policy.descending else "smallest first"
    return f"{direction}, nan={policy.nan!r}, of equal values the {policy.tie}er position first"


def _choices(job: Job) -> list[str]:
    known = {u.id: u for u in unpinned_behaviours(job.family)}
    found = [f"  {id}: {choice} ({known[id].question})" for id, choice in job.choices if id in known]
    return ["", "choices made where no source says:", *found] if found else []
