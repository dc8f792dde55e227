"""Comparing what a plan gives with the reference and with the library, bit by bit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from lanesort import reference
from lanesort.errors import ArgumentValueError
from lanesort.kernels.nonzero import flatnonzero
from lanesort.kernels.top_k import top_k
from lanesort.order import Order, key_class, nan_mask, unsigned_view
from lanesort.plan.job import Job
from lanesort.plan.outcome import Outcome

__all__ = ["Check", "Difference", "compare"]

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Difference:
    """The first place where two results differ.

    Attributes
    ----------
    row, rank
        Where: rank counts from the best pair on.
    found, expected
        The pair there as text, value with its bits and index; or nothing where one is shorter.
    """

    row: int
    rank: int
    found: str
    expected: str

    def __str__(self) -> str:
        return f"row {self.row}, rank {self.rank}: the plan gives {self.found}, expected is {self.expected}"


@dataclass(frozen=True, slots=True)
class Check:
    """Whether a plan's result is what the reference and the library give.

    Attributes
    ----------
    differences
        For each oracle the first difference, None where there is none.
    compared
        Pairs, or positions, that were compared.
    counts
        Instructions that ran, by name.
    unpinned
        Ids of the unpinned behaviours that the run depended on.
    warnings
        What the models reported.
    left_out
        Oracles that were not asked, and why.
    """

    differences: Mapping[str, Difference | None]
    compared: int
    counts: Mapping[str, int]
    unpinned: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    left_out: Mapping[str, str] | None = None

    @property
    def equal(self) -> bool:
        """Whether no oracle differs."""
        return all(difference is None for difference in self.differences.values())

    def __bool__(self) -> bool:
        return self.equal

    def __str__(self) -> str:
        ran = ", ".join(f"{count} {name}" for name, count in self.counts.items()) or "no instruction"
        lines = [f"{self.compared} compared; {ran}"]
        for oracle, difference in self.differences.items():
            lines.append(f"{oracle}: {'equal' if difference is None else difference}")
        lines += [f"{oracle}: not asked, {reason}" for oracle, reason in (self.left_out or {}).items()]
        if self.unpinned:
            lines.append(f"depended on unpinned behaviour: {', '.join(self.unpinned)}")
        return "\n".join([*lines, *(f"warning: {text}" for text in self.warnings)])


def compare(job: Job, x: Array, outcome: Outcome) -> Check:
    """Compare an outcome with both oracles.

    Raises
    ------
    ArgumentValueError
        If the input has a NaN, and the instructions follow no order for it.
    """
    differences: dict[str, Difference | None] = {}
    left_out: dict[str, str] = {}
    if job.op == "nonzero":
        differences["reference"] = _first_index(
            outcome.indices, reference.nonzero(x.reshape(-1), job.nonzero_rule)
        )
        if job.nonzero_rule == "value":
            differences["library"] = _first_index(outcome.indices, flatnonzero(x).indices)
        else:
            left_out["library"] = f"it has no rule {job.nonzero_rule!r}"
    else:
        for oracle, (values, indices) in _expected(job, x):
            differences[oracle] = _first_pair(outcome, values, indices)
    compared = int(outcome.indices.size)
    return Check(differences, compared, outcome.counts, outcome.unpinned, outcome.warnings, left_out)


def _expected(job: Job, x: Array) -> Iterator[tuple[str, tuple[Array, Array]]]:
    rows = x.reshape(job.rows, job.width)
    policy = _comparable(job, rows)
    yield "reference", tuple(reference.top_k(rows, job.k, policy))
    mode = "largest" if policy.descending else "smallest"
    yield "library", tuple(top_k(rows, job.k, mode=mode, nan=policy.nan, tie=policy.tie))


def _comparable(job: Job, rows: Array) -> Order:
    policy = job.policy
    if policy.nan != "compare-false":
        return policy
    if nan_mask(rows).any():
        raise ArgumentValueError(
            f"x has a NaN, and under pto.nan-order = 'compare-false' ({job.target}) its place follows no "
            "order: check an input without NaN, or plan with choices={'pto.nan-order': 'sign-magnitude'}"
        )
    return policy.replace(nan="last")


def _first_index(found: Array, expected: Array) -> Difference | None:
    if np.array_equal(found, expected):
        return None
    length = min(found.size, expected.size)
    unequal = np.flatnonzero(found[:length] != expected[:length])
    rank = int(unequal[0]) if unequal.size else length
    return Difference(0, rank, _at(found, rank), _at(expected, rank))


def _at(indices: Array, rank: int) -> str:
    return f"position {indices[rank]}" if rank < indices.size else "nothing"


def _first_pair(outcome: Outcome, values: Array, indices: Array) -> Difference | None:
    assert outcome.values is not None
    unequal = unsigned_view(outcome.values) != unsigned_view(np.ascontiguousarray(values))
    unequal |= outcome.indices != indices
    if not unequal.any():
        return None
    row, rank = np.unravel_index(int(np.argmax(unequal)), unequal.shape)
    found = _pair(outcome.values[row, rank], outcome.indices[row, rank])
    return Difference(int(row), int(rank), found, _pair(values[row, rank], indices[row, rank]))


def _pair(value: Any, index: Any) -> str:
    bits = np.asarray(value)
    number = int(unsigned_view(bits.reshape(1))[0])
    return f"{value} (0x{number:0{key_class(bits.dtype).bits // 4}x}) at {index}"
