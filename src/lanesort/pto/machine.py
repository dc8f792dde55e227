"""The state of one run: UB, registers of the core, what was reported, how far it may go."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

from lanesort.engine.protocol import Engine
from lanesort.errors import LanesortError, MachineError, Place, ProgramError, RuleViolations
from lanesort.pto.memory import Access, UnifiedBuffer
from lanesort.pto.program import Module, Step
from lanesort.pto.result import PlacedRange, TraceEvent
from lanesort.pto.target import Target
from lanesort.pto.view import PlacedTile

if TYPE_CHECKING:
    from lanesort.pto.steps.step import PreparedStep, Registers

__all__ = ["UNLIMITED_UB_BYTES", "BlockIndex", "Machine", "Trace"]

Made = TypeVar("Made")

UNLIMITED_UB_BYTES = 64 << 20
"""UB of a target without a limit, in the model."""

MOST_EVENTS = 200_000
MOST_WARNINGS = 100
MOST_INSTRUCTIONS = 4096
DEEPEST_CALL = 16


@dataclass(frozen=True, slots=True)
class BlockIndex:
    """Which of how many blocks the program runs as, and which sub-block of it.

    Examples
    --------
    >>> BlockIndex.parse("3/48")
    BlockIndex(index=3, count=48, sub_index=0, sub_count=1)
    """

    index: int = 0
    count: int = 1
    sub_index: int = 0
    sub_count: int = 1

    @classmethod
    def parse(cls, text: str) -> BlockIndex:
        """Read ``index/count``, optionally followed by ``:sub_index/sub_count``.

        Raises
        ------
        MachineError
            If it is not of that form, or an index is not below its count.
        """
        try:
            numbers = [int(n) for part in text.split(":") for n in part.split("/")]
        except ValueError:
            numbers = []
        if len(numbers) not in (2, 4):
            raise MachineError(f"block is {text!r}; it is index/count, for example 3/48")
        block = cls(*numbers)
        block.require_valid()
        return block

    def require_valid(self) -> None:
        """Raise `MachineError` unless each index lies below its count."""
        if not (0 <= self.index < self.count and 0 <= self.sub_index < self.sub_count):
            raise MachineError(
                f"block {self.index} of {self.count}, sub-block {self.sub_index} of {self.sub_count}: "
                "an index has to lie below its count"
            )


class Trace:
    """Executed steps; sorts and merges always, the others if `full`."""

    def __init__(self, full: bool) -> None:
        self.full = full
        self.events: list[TraceEvent] = []
        self.detail: Mapping[str, Any] = {}
        self.cut = False
        self._origin = perf_counter()

    def begin(self) -> None:
        """Count time from now on."""
        self._origin = perf_counter()

    def run(self, step: PreparedStep, registers: Registers) -> None:
        """Execute a step and record it."""
        if step.pipe is None:
            step.bare(registers)
            return
        if len(self.events) >= MOST_EVENTS:
            self.cut = True
            step.bare(registers)
            return
        registers[-1].place = step.place
        reads, writes = step.accesses(registers)
        self.detail = step.detail
        start = perf_counter()
        step.bare(registers)
        stop = perf_counter()
        start_us, duration_us = (start - self._origin) * 1e6, (stop - start) * 1e6
        self.events.append(
            TraceEvent(
                step.name,
                step.pipe,
                step.place,
                tuple(reads),
                tuple(writes),
                start_us,
                duration_us,
                self.detail,
            )
        )


class Machine:
    """One core while it runs one function.

    Parameters
    ----------
    module
        The text, for messages.
    target, engine, choices
        What to model, who orders the pairs, choices for unpinned behaviours.
    block
        Which block the program runs as.
    steps
        How many steps it may execute.
    trace
        Where executed steps go.
    """

    def __init__(
        self,
        module: Module,
        target: Target,
        engine: str | Engine,
        choices: Mapping[str, str],
        block: BlockIndex,
        steps: int,
        trace: Trace,
    ) -> None:
        self.module = module
        self.target = target
        self.engine = engine
        self.choices = choices
        self.block = block
        self.ub = UnifiedBuffer(target.ub_bytes or UNLIMITED_UB_BYTES, self._unwritten)
        self.trace = trace
        self.merge_counts = (0, 0, 0, 0)
        self.loops: dict[str, tuple[int, int]] = {}
        self.executed: list[tuple[int, int, int, int]] = []
        self.unpinned: set[str] = set()
        self.warnings: dict[str, None] = {}
        self.log: list[str] = []
        self.place: Place | None = None
        self.steps_limit = steps
        self.steps_left = steps
        self.depth = 0
        self.check_sorted = True
        self.tiles: Sequence[PlacedRange] = ()
        self._instructions: dict[tuple[Any, ...], Any] = {}

    def spend(self, steps: int) -> None:
        """Count steps that are about to be executed.

        Raises
        ------
        MachineError
            If there are more than the limit.
        """
        self.steps_left -= steps
        if self.steps_left < 0:
            raise MachineError(
                f"the program was stopped after {self.steps_limit} steps; if it is not endless, "
                "raise the limit (max_steps)"
            )

    def warn(self, text: str, place: Place | None = None) -> None:
        """Report something once."""
        line = f"{place}: {text}" if place else text
        if len(self.warnings) < MOST_WARNINGS:
            self.warnings[line] = None

    def checked(self, step: Step, tiles: Sequence[PlacedTile], make: Callable[[], Made], *more: Any) -> Made:
        """Return the instruction that `make` gives for these tiles, made and checked only once."""
        key = (id(step), *more, *[tile.key for tile in tiles])
        found = self._instructions.get(key)
        if found is None:
            if len(self._instructions) >= MOST_INSTRUCTIONS:
                self._instructions.clear()
            found = self._instructions[key] = make()
        made: Made = found
        return made

    def count(self, executed: tuple[int, int, int, int], suspended: bool) -> None:
        """Note the counts that a merge reports; those of a suspended one go to VMS4_SR."""
        if suspended:
            self.merge_counts = executed
        if len(self.executed) < MOST_EVENTS:
            self.executed.append(executed)

    def enter(self) -> None:
        """Count a call that begins; functions that call each other endlessly are refused."""
        self.depth += 1
        if self.depth > DEEPEST_CALL:
            raise MachineError(f"calls are nested more than {DEEPEST_CALL} deep")

    def leave(self) -> None:
        """Count a call that ends."""
        self.depth -= 1

    def located(self, error: LanesortError, step: PreparedStep | None) -> ProgramError:
        """Return the error with the place of the step that it happened in."""
        place = step.place if step else None
        source = self.module.line(place) if place else None
        named = step and isinstance(error, RuleViolations) and error.subject == f"pto.{step.name}"
        name = f"{step.name}: " if step and not named else ""
        return ProgramError(f"{name}{error}", place, source)

    def _named(self, access: Access) -> str:
        """Name the tiles that an access begins in; those of a function that was called are not known."""
        names = [] if self.depth else [t.name for t in self.tiles if t.start <= access.start < t.stop]
        return f" of {' or '.join(names)}" if names else ""

    def _unwritten(self, access: Access, first: int) -> None:
        size = access.row_bytes * access.rows
        self.warn(
            f"reads {size} bytes{self._named(access)} (UB from {access.start} on), of which byte {first} was "
            "never written",
            self.place,
        )
