"""What a plan costs: instructions, bytes moved, and cycles by formulas that say how they are known.

Every operation costs a fixed part and a part that grows with its units. Published formulas
are uncalibrated; where nothing is published the number is inferred or assumed, and says so.
Measurements of one's own replace them. Cycles are added up: pipes that work at the same
time are not subtracted, so that the sum serves to compare alternatives, not to promise a time.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

import numpy as np

from lanesort.errors import ArgumentValueError, FileError
from lanesort.evidence import How, fact
from lanesort.files import file_at
from lanesort.plan.step import Step

__all__ = ["RATES", "Estimate", "Rate", "estimate", "measured_rates", "step_cycles"]

ABOUT = "plan.cost"
TRANSFERS = ("MTE2", "MTE3", "DMA in", "DMA out")


@dataclass(frozen=True, slots=True)
class Rate:
    """Cycles of one operation: `fixed` + `each` · units.

    Attributes
    ----------
    fixed, each
        Cycles.
    unit
        What is counted; see `lanesort.plan.step.Step.units`.
    how
        How it is known, as for a `lanesort.evidence.Fact`, or ``measured``.
    source
        Where it comes from.
    """

    fixed: float
    each: float
    unit: str
    how: How | str
    source: str


RATES: Mapping[str, Rate] = MappingProxyType(
    {
        "tsort32": Rate(6, 2, "blocks", "documented", "pto-isa cost model: 6 + 2·repeat (A2/A3)"),
        "tmrgsort": Rate(
            20,
            78 / 128,
            "pairs",
            "inferred",
            "pto-isa cost model: 20 + 78·repeat for four blocks of 32 (A2/A3)",
        ),
        **{
            op: Rate(10, 1 / 256, "bytes", "assumed", "256 bytes a cycle on the vector pipe")
            for op in ("tci", "tmov", "tgather")
        },
        **{
            op: Rate(100, 1 / 64, "bytes", "assumed", "64 bytes a cycle to and from global memory")
            for op in ("tload", "tstore")
        },
        "Sort": Rate(
            100, 4, "vector steps", "inferred", "permute, compare and two selects a step (seed 000 §4)"
        ),
        "NonzeroWithCount": Rate(
            100,
            7,
            "vectors of 16",
            "inferred",
            "load, detect, iota, compact, pack, cursor, store (seed 003 §4)",
        ),
        **{
            op: Rate(1000, 1 / 64, "bytes", "assumed", "a DMA of 1000 cycles, 64 bytes a cycle")
            for op in ("load", "read")
        },
        "merge": Rate(500, 4, "elements · levels", "assumed", "four cycles a comparison on the host"),
        "concatenate": Rate(500, 1, "elements", "assumed", "a cycle an element on the host"),
    }
)
"""Cost of every operation of a plan by name."""

fact(
    ABOUT,
    "A merge of longer blocks is taken to cost as many cycles a pair as one of blocks of 32, 78/128.",
    "inferred",
    "low",
    "pto-isa, cost model of TMRGSORT: published for blocks of 32 pairs",
)
fact(
    ABOUT,
    "A Sort is taken to be a bitonic network over 512-bit vectors, four operations a step.",
    "inferred",
    "low",
    "seed 000 §4: the operations of a stage; the network itself is not known",
)
fact(
    ABOUT,
    "Transfers, vector copies and the host have assumed rates; measurements replace them.",
    "assumed",
    "low",
    "no source",
)


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a plan costs.

    Attributes
    ----------
    cycles
        Sum over all steps.
    instructions
        Instructions of the accelerator, transfers aside.
    bytes
        Bytes moved between memories.
    by_operation
        How often each operation runs, and its cycles in all.
    """

    cycles: float
    instructions: int
    bytes: int
    by_operation: Mapping[str, tuple[int, float]] = field(default_factory=dict)


def step_cycles(step: Step, rates: Mapping[str, Rate] = RATES) -> float:
    """Return the cycles that a step takes once."""
    rate = rates[step.op]
    return rate.fixed + rate.each * step.units


def estimate(steps: Iterable[Step], rates: Mapping[str, Rate] = RATES) -> Estimate:
    """Add up the cost of steps.

    Examples
    --------
    >>> sort = Step("tsort32", "256 blocks", "V", 256)
    >>> estimate([sort]).cycles
    518.0
    """
    cycles, instructions, moved = 0.0, 0, 0
    by_operation: dict[str, tuple[int, float]] = {}
    for step in steps:
        own = step.times * step_cycles(step, rates)
        cycles += own
        moved += step.times * step.bytes
        if step.place not in (*TRANSFERS, "host"):
            instructions += step.times
        times, before = by_operation.get(step.op, (0, 0.0))
        by_operation[step.op] = times + step.times, before + own
    return Estimate(float(cycles), instructions, moved, by_operation)


def measured_rates(path: str | Path) -> Mapping[str, Rate]:
    """Read measurements and put the lines that fit them in the place of the published formulas.

    Parameters
    ----------
    path
        CSV with the columns ``operation``, ``units`` and ``cycles``, a measurement a row. An
        operation with one size gets a cost in proportion to its units, one with several the
        line of least squares.

    Raises
    ------
    FileError
        If the file can't be read.
    ArgumentValueError
        For a column that is missing, an unknown operation or a number that is none.
    """
    points: dict[str, list[tuple[float, float]]] = {}
    for number, row in enumerate(_rows(path), 2):
        where = f"{path}, line {number}"
        operation = (row.get("operation") or "").strip()
        if operation not in RATES:
            raise ArgumentValueError(f"{where}: operation is {operation!r}; known are {', '.join(RATES)}")
        points.setdefault(operation, []).append((_number(row, "units", where), _number(row, "cycles", where)))
    found = dict(RATES)
    for operation, sizes in points.items():
        fixed, each = _line(sizes)
        found[operation] = Rate(fixed, each, RATES[operation].unit, "measured", f"{Path(path).name}")
    return MappingProxyType(found)


def _rows(path: str | Path) -> list[dict[str, str]]:
    file_at(path)
    try:
        with open(path, newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            missing = {"operation", "units", "cycles"} - set(reader.fieldnames or ())
            if missing:
                raise ArgumentValueError(f"{path}: no column {', '.join(sorted(missing))}")
            return list(reader)
    except OSError as error:
        raise FileError(f"{path}: can't be read as measurements: {error.strerror}") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise FileError(f"{path}: can't be read as measurements: {error}") from error


def _number(row: Mapping[str, str], column: str, where: str) -> float:
    text = row.get(column) or ""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise ArgumentValueError(f"{where}: {column} is {text!r}; it is a number, 0 or more")
    return value


def _line(points: list[tuple[float, float]]) -> tuple[float, float]:
    """Return the fixed part and the part for each unit; neither is negative."""
    units, cycles = np.array(points, np.float64).T
    mean_units, mean_cycles = units.mean(), cycles.mean()
    spread = ((units - mean_units) ** 2).sum()
    if spread == 0:
        return (float(mean_cycles), 0.0) if mean_units == 0 else (0.0, float(mean_cycles / mean_units))
    each = max(float(((units - mean_units) * (cycles - mean_cycles)).sum() / spread), 0.0)
    return max(float(mean_cycles - each * mean_units), 0.0), each
