"""``lanesort plan``: plan a job as a program of instructions, price it, run it, check it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from cyclopts import App, Parameter

from lanesort.cli.console import console as make_console
from lanesort.cli.options import Flag
from lanesort.cli.wording import in_options
from lanesort.errors import ArgumentValueError
from lanesort.files import read_array, write_arrays
from lanesort.plan import Check, Plan
from lanesort.plan import nonzero as plan_nonzero
from lanesort.plan import sort as plan_sort
from lanesort.plan import top_k as plan_top_k
from lanesort.report.html import write_plan_report, write_plan_trace

__all__ = ["app"]

Array = npt.NDArray[Any]

app = App(name="plan", help="Plan a job as a program of instructions, price it, run it, check it.")


@Parameter(name="*")
@dataclass(frozen=True)
class Asked:
    """What to do with a plan.

    Attributes
    ----------
    alternative
        Name of the program to use; the cheapest if not given.
    measurements
        CSV file of measured costs: operation, units, cycles.
    choice
        ID=CHOICE for a behaviour that no source fixes.
    emit
        Write the program: kernel.pto, words.bin or plan.json.
    run
        Run it on an array file.
    check
        Compare what it gives with the reference and the library; exit code 1 if they differ.
    engine
        Who orders pairs: native, reference or datapath.
    output
        Write what a run gives to this file.
    report
        Write the plan as an HTML page.
    trace
        Write its timeline as trace-event JSON, for Perfetto.
    """

    alternative: str | None = None
    measurements: Path | None = None
    choice: Annotated[tuple[str, ...], Parameter(consume_multiple=False, negative="")] = ()
    emit: Path | None = None
    run: Path | None = None
    check: Flag = False
    engine: str = "native"
    output: Annotated[Path | None, Parameter(name=["-o", "--output"])] = None
    report: Path | None = None
    trace: Path | None = None

    @property
    def making(self) -> dict[str, Any]:
        """What the functions that make plans take."""
        pairs = [text.partition("=") for text in self.choice]
        wrong = next((text for text, pair in zip(self.choice, pairs, strict=True) if not all(pair)), None)
        if wrong is not None:
            raise ArgumentValueError(f"--choice is {wrong!r}; it is ID=CHOICE")
        ids = [id for id, _, _ in pairs]
        twice = next((id for id in ids if ids.count(id) > 1), None)
        if twice is not None:
            raise ArgumentValueError(f"--choice {twice} is given twice")
        return {
            "choices": {id: made for id, _, made in pairs},
            "alternative": self.alternative,
            "measurements": self.measurements,
        }


@app.command(name="top-k")
def top_k(
    *,
    shape: str,
    k: Annotated[int, Parameter(name=["-k", "--k"])],
    dtype: str = "float32",
    target: str = "a5",
    asked: Asked | None = None,
) -> int:
    """Plan the k largest of each row.

    Parameters
    ----------
    shape
        Shape of the input, for example 16x8192.
    k
        How many of each row.
    dtype
        Dtype of the input.
    target
        a2a3, a5, …, cayman, mariana, …
    """
    asked = asked or Asked()
    with in_options():
        plan = plan_top_k(_sizes(shape), k, dtype, target, **asked.making)
    return _show(plan, asked)


@app.command
def sort(
    *,
    shape: str,
    dtype: str = "float32",
    target: str = "a5",
    ascending: Flag = False,
    asked: Asked | None = None,
) -> int:
    """Plan the sort of each row.

    Parameters
    ----------
    shape
        Shape of the input, for example 16x8192.
    dtype
        Dtype of the input.
    target
        a2a3, a5, …, cayman, mariana, …
    ascending
        Smallest first.
    """
    asked = asked or Asked()
    with in_options(("descending is False", "--ascending is given")):
        plan = plan_sort(_sizes(shape), dtype, target, descending=not ascending, **asked.making)
    return _show(plan, asked)


@app.command
def nonzero(*, shape: str, dtype: str = "float32", target: str = "cayman", asked: Asked | None = None) -> int:
    """Plan the positions of the nonzeros, and their number.

    Parameters
    ----------
    shape
        Shape of the input, for example 16x8192.
    dtype
        float32 or int32.
    target
        cayman, mariana, …
    """
    asked = asked or Asked()
    with in_options():
        plan = plan_nonzero(_sizes(shape), dtype, target, **asked.making)
    return _show(plan, asked)


def _sizes(shape: str) -> tuple[int, ...]:
    parts = shape.split("x")
    if not all(part.isascii() and part.isdigit() for part in parts):
        raise ArgumentValueError(f"--shape is {shape!r}; it is sizes joined by x, as 16x8192")
    return tuple(map(int, parts))


def _show(plan: Plan, asked: Asked) -> int:
    # NumPy loses the dtypes of ml_dtypes in a file, whose kind is V.
    lost = plan.job.dtype.name if plan.job.dtype.kind == "V" else None
    x = None if asked.run is None else read_array(asked.run, None, lost)
    for name in ("check", "output"):
        if getattr(asked, name) and x is None:
            raise ArgumentValueError(f"--{name} needs an input: give --run FILE")
    found: Check | None = None
    console = make_console()
    console.print(plan.explain())
    console.print(f"\nalternatives:\n{plan.compare()}")
    if x is not None and asked.check:
        with in_options(("x has", f"{asked.run} has")):
            found = plan.check(x, asked.engine)
        console.print(f"\ncheck: {'equal' if found else 'not equal'}\n{found}")
    if x is not None and (asked.output or not asked.check):
        for line in _run(plan, x, asked):
            console.print(line)
    for path in _files(plan, asked, found, x):
        console.print(f"wrote {path}")
    return 0 if found is None or found.equal else 1


def _run(plan: Plan, x: Array, asked: Asked) -> Iterator[str]:
    with in_options(("x has", f"{asked.run} has")):
        result = plan.run(x, asked.engine)
    for name, array in result._asdict().items():
        flat = np.asarray(array).reshape(-1)
        yield f"{name}: {' '.join(map(str, flat[:8].tolist()))}{' …' if flat.size > 8 else ''}"
    if asked.output is not None:
        write_arrays(asked.output, {name: np.asarray(array) for name, array in result._asdict().items()})


def _files(plan: Plan, asked: Asked, found: Check | None, x: Array | None) -> Iterator[Path]:
    if asked.emit is not None:
        yield plan.emit(asked.emit)
    if asked.report is not None:
        write_plan_report(asked.report, plan, found, x)
        yield asked.report
    if asked.trace is not None:
        write_plan_trace(asked.trace, plan)
        yield asked.trace
