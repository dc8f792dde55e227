"""Plans: jobs too large for one instruction, as programs of instructions.

A plan is run on the models, compared bit by bit with the reference and the library, and
priced by published formulas or by measurements of one's own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lanesort.plan.check import Check, Difference
from lanesort.plan.cost import RATES, Estimate, Rate, measured_rates
from lanesort.plan.job import Job, targets
from lanesort.plan.program import Comparison, Plan, make_plan
from lanesort.plan.step import Span, Step

__all__ = [
    # jobs
    "top_k",
    "sort",
    "nonzero",
    "targets",
    "Job",
    # plans
    "Plan",
    "Step",
    "Span",
    "Check",
    "Difference",
    # cost
    "Comparison",
    "Estimate",
    "Rate",
    "RATES",
    "measured_rates",
]


def top_k(
    shape: int | Sequence[int],
    k: int,
    dtype: Any = "float32",
    target: str = "a5",
    choices: Mapping[str, str] | None = None,
    *,
    alternative: str | None = None,
    measurements: str | Path | None = None,
) -> Plan:
    """Plan the k largest of each row.

    Parameters
    ----------
    shape
        Shape of the input; rows lie along the last axis.
    k
        How many of each row, 0 … n.
    dtype
        Dtype of the input, by NumPy or ISA name.
    target
        A PTO target (``a2a3``, ``a5``, ``cpu``, ``kirin…``) or a NeuronCore generation
        (``sunda``, ``cayman``, ``mariana``, ``mariana_plus``, ``maverick``).
    choices
        Choices for unpinned behaviours, by id.
    alternative
        Name of the program to use; the cheapest if not given.
    measurements
        CSV file of measured costs, see `measured_rates`.

    Returns
    -------
    Plan

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        For a job that can't be done, with the reason and the nearest one that can.

    Examples
    --------
    >>> plan = top_k(shape=(16, 8192), k=2048, target="a5")
    >>> print(plan.compare().rows[0][0], plan.cost.instructions)
    whole, 4 rounds 128
    """
    return make_plan(Job.of("top_k", shape, dtype, target, k=k, choices=choices), alternative, measurements)


def sort(
    shape: int | Sequence[int],
    dtype: Any = "float32",
    target: str = "a5",
    choices: Mapping[str, str] | None = None,
    *,
    descending: bool = True,
    alternative: str | None = None,
    measurements: str | Path | None = None,
) -> Plan:
    """Plan the sort of each row, with positions.

    Parameters
    ----------
    shape, dtype, target, choices, alternative, measurements
        As in `top_k`.
    descending
        Largest first. PTO has no other direction.

    Examples
    --------
    >>> sort(shape=(4, 3000), dtype="uint16", target="mariana", descending=False).chosen.name
    'pieces of 3000'
    """
    job = Job.of("sort", shape, dtype, target, descending=descending, choices=choices)
    return make_plan(job, alternative, measurements)


def nonzero(
    shape: int | Sequence[int],
    dtype: Any = "float32",
    target: str = "cayman",
    choices: Mapping[str, str] | None = None,
    *,
    alternative: str | None = None,
    measurements: str | Path | None = None,
) -> Plan:
    """Plan the positions of the nonzeros of the flattened input, and their number.

    Parameters
    ----------
    shape, choices, alternative, measurements
        As in `top_k`.
    dtype
        float32 or int32.
    target
        cayman or newer.

    Examples
    --------
    >>> nonzero(shape=100000).chosen.name
    '8 partitions a word'
    """
    return make_plan(Job.of("nonzero", shape, dtype, target, choices=choices), alternative, measurements)
