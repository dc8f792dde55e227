"""A plan: a job as a program of instructions, with its alternatives and their cost."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from lanesort.engine.protocol import Engine
from lanesort.errors import ArgumentTypeError, ArgumentValueError, FileError
from lanesort.order import Order
from lanesort.plan.check import Check, compare
from lanesort.plan.cost import RATES, Estimate, Rate, estimate, measured_rates
from lanesort.plan.explain import explain
from lanesort.plan.job import Job
from lanesort.plan.levels import levels, levels_text
from lanesort.plan.neuron_nonzero import NonzeroProgram, nonzero_lowerings
from lanesort.plan.neuron_resort import ResortProgram, resort_lowerings
from lanesort.plan.neuron_sort import SortProgram
from lanesort.plan.outcome import Outcome
from lanesort.plan.pto import PtoProgram, lowerings
from lanesort.plan.schedule import busy_text, schedule
from lanesort.plan.step import Step
from lanesort.results import Nonzero, Pairs

__all__ = ["Comparison", "Plan", "Program", "make_plan"]

Array = npt.NDArray[Any]
Program = PtoProgram | SortProgram | ResortProgram | NonzeroProgram


@dataclass(frozen=True, slots=True)
class Comparison:
    """Alternatives side by side, the cheapest first; prints as a table."""

    rows: tuple[tuple[str, Estimate], ...]
    chosen: str

    def __str__(self) -> str:
        width = max(len(name) for name, _ in self.rows)
        lines = [f"  {'':{width}}  {'cycles':>12}  {'instructions':>12}  {'bytes moved':>12}"]
        for name, cost in self.rows:
            mark = "*" if name == self.chosen else " "
            lines.append(
                f"{mark} {name:{width}}  {cost.cycles:>12,.0f}  {cost.instructions:>12,}  {cost.bytes:>12,}"
            )
        return "\n".join(lines)


@dataclass(frozen=True, repr=False)
class Plan:
    """A job as a program of instructions.

    Attributes
    ----------
    job
        What it does.
    chosen
        The program, with name, steps and how it is run.
    alternatives
        Every program that does the job, the cheapest first.
    rates
        What operations cost.

    Examples
    --------
    >>> import numpy as np
    >>> import lanesort
    >>> plan = lanesort.plan.top_k(shape=(2, 5000), k=3, dtype="int32", target="cayman")
    >>> x = np.arange(10000, dtype=np.int32).reshape(2, 5000)
    >>> plan.run(x).indices.tolist(), bool(plan.check(x))
    ([[4999, 4998, 4997], [4999, 4998, 4997]], True)
    """

    job: Job
    chosen: Program
    alternatives: tuple[Program, ...]
    rates: Mapping[str, Rate]

    @property
    def policy(self) -> Order:
        """The order that the instructions have under the choices made."""
        return self.job.policy

    @property
    def steps(self) -> tuple[Step, ...]:
        """Instructions, transfers and the host's part, in order."""
        return self.chosen.steps

    @property
    def program(self) -> Any:
        """The text of the kernel for PTO, the words for NeuronCore."""
        return self.chosen.text if isinstance(self.chosen, PtoProgram) else self.chosen.words

    @property
    def cost(self) -> Estimate:
        """What the program costs."""
        return estimate(self.steps, self.rates)

    def __repr__(self) -> str:
        return f"<{self.job.call()}: {self.chosen.name}>"

    def using(self, name: str) -> Plan:
        """Return the plan with another of its alternatives.

        Raises
        ------
        ArgumentValueError
            For an unknown name.
        """
        return replace(self, chosen=self._named(name))

    def _named(self, name: str) -> Program:
        for program in self.alternatives:
            if program.name == name:
                return program
        known = ", ".join(repr(program.name) for program in self.alternatives)
        raise ArgumentValueError(f"alternative is {name!r}; this job has {known}")

    def run(self, x: Any, engine: str | Engine = "native") -> Pairs | Nonzero:
        """Run the program on the model.

        Parameters
        ----------
        x
            Array of the job's shape and dtype; never written.
        engine
            Who orders pairs: ``native``, ``reference`` or ``datapath``.

        Returns
        -------
        Pairs or Nonzero
            What the library gives under `policy`: values and int64 indices, shape
            (…, k); for ``nonzero`` the positions in the flattened array, and their number.

        Raises
        ------
        ArgumentTypeError, ArgumentValueError
            If the array does not fit the job.
        """
        outcome = self.outcome(x, engine)
        if outcome.values is None:
            return Nonzero(outcome.indices, int(outcome.indices.size))
        shape = self.job.result_shape
        return Pairs(outcome.values.reshape(shape), outcome.indices.reshape(shape))

    def outcome(self, x: Any, engine: str | Engine = "native") -> Outcome:
        """Run the program, and return also what is known of the run."""
        return self.chosen.run(self._input(x), engine)

    def check(self, x: Any, engine: str | Engine = "native") -> Check:
        """Run the program and compare with the reference and the library, bit by bit.

        Returns
        -------
        Check
            True if nothing differs; prints what was compared, and the first difference.
        """
        given = self._input(x)
        return compare(self.job, given, self.chosen.run(given, engine))

    def _input(self, x: Any) -> Array:
        array = np.asarray(x)
        native = np.ascontiguousarray(array.astype(array.dtype.newbyteorder("="), copy=False))
        if native.dtype != self.job.dtype:
            raise ArgumentTypeError(f"x has dtype {array.dtype}; the plan is for {self.job.dtype}")
        if array.shape != self.job.shape:
            raise ArgumentValueError(f"x has shape {array.shape}; the plan is for {self.job.shape}")
        return native.reshape(array.shape)

    def compare(self, names: Sequence[str | Plan] | None = None) -> Comparison:
        """Put alternatives side by side, with what they cost.

        Parameters
        ----------
        names
            Names of alternatives, or other plans; all alternatives of this one if not given.
        """
        if names is None:
            names = [program.name for program in self.alternatives]
        rows = []
        for one in names:
            if isinstance(one, Plan):
                rows.append((f"{one.job.call()}: {one.chosen.name}", one.cost))
            else:
                rows.append((one, estimate(self._named(one).steps, self.rates)))
        rows.sort(key=lambda row: row[1].cycles)
        return Comparison(tuple(rows), self.chosen.name)

    def explain(self) -> str:
        """Return what the plan does, step by step, and what it costs, as text."""
        program, others = self.chosen, len(self.alternatives)
        used = max((span.stop for step in self.steps for span in (*step.reads, *step.writes)), default=0)
        head = [
            ("program", f"{program.name} (of {others} alternative{'' if others == 1 else 's'})"),
            (program.memory, f"{used:,} of {program.memory_bytes:,} bytes"),
            ("merge tree", levels_text(levels(program))),
            ("timeline", busy_text(schedule(self.steps, self.rates))),
        ]
        return explain(self.job, head, self.steps, self.rates)

    def emit(self, path: str | Path) -> Path:
        """Write the program to a file: ``kernel.pto``, ``words.bin`` or ``plan.json``.

        Raises
        ------
        ArgumentValueError
            For a suffix that the target does not have.
        FileError
            If the file can't be written.
        """
        target = Path(path)
        if target.suffix == ".json":
            data = json.dumps(self.document(), indent=1).encode()
        elif target.suffix == self.chosen.suffix:
            data = self.chosen.encode()
        else:
            raise ArgumentValueError(
                f"can't emit {target.name}: a plan for {self.job.target} is written as "
                f"{self.chosen.suffix} or .json"
            )
        try:
            target.write_bytes(data)
        except OSError as error:
            raise FileError(f"can't write {target}: {error.strerror}") from error
        return target

    def document(self) -> dict[str, Any]:
        """Return the plan as plain data, for JSON."""
        job = self.job
        cost = self.cost
        pieces = [] if isinstance(self.chosen, PtoProgram) else [_piece(p) for p in self.chosen.pieces]
        return {
            "job": {
                "op": job.op,
                "shape": list(job.shape),
                "k": job.k,
                "dtype": job.dtype.name,
                "target": job.target,
                "descending": job.descending,
                "choices": job.given,
            },
            "policy": asdict(self.policy),
            "program": self.chosen.name,
            "cost": {"cycles": cost.cycles, "instructions": cost.instructions, "bytes": cost.bytes},
            "pieces": pieces,
            "steps": [asdict(step) for step in self.steps],
            "text": self.chosen.text if isinstance(self.chosen, PtoProgram) else None,
            "words": None
            if isinstance(self.chosen, PtoProgram)
            else [word.encode().hex() for word in self.chosen.words],
        }


def _piece(piece: Any) -> dict[str, Any]:
    return {**piece._asdict(), "place": piece.place._asdict()}


def make_plan(job: Job, alternative: str | None = None, measurements: str | Path | None = None) -> Plan:
    """Make the plan of a job: the cheapest program, or the one of a name.

    Raises
    ------
    ArgumentValueError
        For an unknown alternative.
    """
    rates = RATES if measurements is None else measured_rates(measurements)
    programs: list[Program]
    if job.family == "pto":
        programs = list(lowerings(job))
    elif job.op == "nonzero":
        programs = list(nonzero_lowerings(job))
    else:
        programs = list(resort_lowerings(job))
    # Of equally cheap ones the first stays first, so that a job always has the same plan.
    programs.sort(key=lambda program: estimate(program.steps, rates).cycles)
    plan = Plan(job, programs[0], tuple(programs), rates)
    return plan if alternative is None else plan.using(alternative)
