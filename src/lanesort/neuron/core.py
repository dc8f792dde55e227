"""A NeuronCore that runs Sort and NonzeroWithCount words on its SBUF."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from lanesort.engine.protocol import Engine, resolve
from lanesort.errors import (
    ArgumentValueError,
    DeadlockError,
    MachineError,
    RuleViolations,
    Violation,
)
from lanesort.evidence import Choices
from lanesort.neuron.descriptor import Address, Mark
from lanesort.neuron.dtype import NUMPY_DTYPES, Dtype
from lanesort.neuron.events import Bank, Signals
from lanesort.neuron.generation import MAVERICK_MAP, Generation, generation
from lanesort.neuron.immediate import ImmSource
from lanesort.neuron.instruction import Instruction, checked_mode
from lanesort.neuron.machine import Prepared, cores
from lanesort.neuron.memory import Access, Sbuf
from lanesort.neuron.nonzero_effect import prepare_nonzero
from lanesort.neuron.nonzero_with_count import NonzeroWithCount
from lanesort.neuron.opcodes import AnyWord, decode
from lanesort.neuron.program import Program, words_of
from lanesort.neuron.rule import Broken, broken_immediate
from lanesort.neuron.sort import Sort
from lanesort.neuron.sort_effect import prepare_sort
from lanesort.neuron.trace import Result

__all__ = ["BUILDS", "NeuronCore"]

Array = npt.NDArray[Any]

BUILDS = ("debug", "release")
REMEMBERED_WORDS = 1 << 12
OTHER_PSUM_BASE = 0x2000000
"""Where PSUM lies on every generation but maverick."""

_PREPARE: Mapping[type[Any], Callable[[Any, Generation], Prepared]] = {
    Sort: prepare_sort,
    NonzeroWithCount: prepare_nonzero,
}


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of a word before it runs; `prepared` is None while an address is open."""

    word: AnyWord
    violations: tuple[Violation, ...]
    prepared: Prepared | None
    unpinned: tuple[str, ...]
    warnings: tuple[str, ...]


class NeuronCore:
    r"""One NeuronCore: SBUF, address registers, semaphores and events.

    Parameters
    ----------
    on
        Generation by name: ``sunda``, ``cayman``, ``mariana``, ``mariana_plus``, ``maverick``.
    engine
        Who orders the pairs: ``native``, ``reference`` or ``datapath``.
    build
        ``debug`` prints log lines, ``release`` none; by default debug where it is known.
    choices
        What to do where no source says, by id; see `lanesort.evidence`.

    Attributes
    ----------
    sbuf
        The memory.
    registers, semaphores, events
        Banks of 64, 256 and 256 numbers, readable and settable by index.
    log
        Lines of the last run, also of one that was refused.

    Examples
    --------
    >>> import numpy as np
    >>> from lanesort import neuron
    >>> core = neuron.NeuronCore("cayman", engine="reference")
    >>> core.sbuf.write(0, 0, np.array([9, 3, 5, 1, 0, 0], np.int32))
    >>> word = neuron.Sort(src=neuron.Tensor.at(0, 0, 6), dst=neuron.Tensor.at(0, 64, (2, 6), (6, 1)),
    ...                    dtype="i32", index_offset=100, channels=1)
    >>> result = core.run([word])
    >>> core.sbuf.read(0, 64, 12, "i32").reshape(2, 6).tolist()
    [[0, 0, 1, 3, 5, 9], [104, 105, 103, 101, 102, 100]]
    >>> print(*result.log, sep="\n")
    P0: DECODE_SORT : num_items = 6, num_active_channels = 1, is_ascending = 1
    S: Sort
    >>> result.unpinned
    ()
    """

    def __init__(
        self,
        on: str | Generation = "cayman",
        *,
        engine: str | Engine = "native",
        build: str | None = None,
        choices: Mapping[str, str] | None = None,
    ) -> None:
        self.generation = generation(on)
        if not self.generation.instructions:
            raise ArgumentValueError(f"{self.generation.name} has neither Sort nor NonzeroWithCount")
        self.engine: Engine = resolve(engine)
        self.build = _build(build, self.generation)
        self.choices = Choices("neuron", choices)
        self.sbuf = Sbuf(self.generation)
        self.registers = Bank("register", self.generation.registers, 32)
        self._signals = Signals()
        self.log: tuple[str, ...] = ()
        self._known: dict[tuple[Instruction | bytes, str], _Known] = {}
        self._number = 0
        self._room: tuple[Array, Array] = np.empty((0, 0)), np.empty((0, 0))
        self._warnings: list[str] = []

    @property
    def semaphores(self) -> Bank:
        """The 256 semaphores."""
        return self._signals.semaphores

    @property
    def events(self) -> Bank:
        """The 256 events, 0 or 1 each."""
        return self._signals.events

    def run(self, program: Program, mode: str = "strict", *, first: int = 0) -> Result:
        """Run words in order.

        Parameters
        ----------
        program
            Instructions or 64-byte strings, the bytes of many words, or an (n, 64) u8 array.
        mode
            How to validate, see `lanesort.neuron.MODES`.
        first
            Number of the first instruction in messages, for a part of a longer program.

        Returns
        -------
        Result
            With log, trace, warnings and the unpinned behaviours that it depended on.

        Raises
        ------
        DecodeError
            For bytes that are no word.
        RuleViolations
            If words are not valid, with all violations of all words; nothing has run.
        DeadlockError
            For a wait that can never hold; the instructions before it have run.
        MachineError
            If an instruction can't run; those before it have, it has changed nothing.
        """
        checked_mode(mode)
        self.log, self._warnings = (), []
        self.choices.reset()
        known = [self._look_up(key, mode) for key in words_of(program)]
        log: list[str] = []
        ran: list[_Known] = []
        try:
            self._refuse_invalid(known, log, first)
            for self._number, entry in enumerate(known, first):
                ran.append(self._step(entry, mode, log))
        finally:
            self.log = tuple(log) if self.build == "debug" else ()
        return Result(
            tuple(k.word for k in ran),
            self.log,
            self.choices.depended,
            tuple(self._warnings),
            tuple(k.prepared for k in ran if k.prepared is not None),
            self.generation.name,
        )

    def _look_up(self, key: Instruction | bytes, mode: str) -> _Known:
        found = self._known.get((key, mode))
        if found is None:
            if len(self._known) >= REMEMBERED_WORDS:
                self._known.clear()
            found = self._known[key, mode] = self._inspect(key, mode)
        return found

    def _inspect(self, key: Instruction | bytes, mode: str) -> _Known:
        word: Any = key if isinstance(key, Instruction) else decode(key)
        g = self.generation
        violations = word.RULES.validate(word, g, mode)
        direct = all(Address.of(t.start).mark == Mark.DIRECT for t in (word.src, word.dst))
        if violations or not direct:
            return _Known(word, violations, None, (), ())
        prepared = _PREPARE[type(word)](word, g)
        # A clause that the mode leaves out, and that does not hold, is what the run stands on.
        skipped = [
            rule.unpinned
            for rule in word.RULES
            if rule.unpinned and not rule.applies(mode) and rule.check(word, g) is not None
        ]
        if g.name == "sunda":
            skipped.append("sort.sunda")
        if g.name == "maverick" and any(t.start >= OTHER_PSUM_BASE for t in (word.src, word.dst)):
            skipped.append(MAVERICK_MAP.id)
        return _Known(word, (), prepared, tuple(skipped), tuple(_overlaps(prepared)))

    def _refuse_invalid(self, known: list[_Known], log: list[str], first: int) -> None:
        broken = [(number, k) for number, k in enumerate(known, first) if k.violations]
        if not broken:
            return
        for _, k in broken:
            log.extend(_refusal_log(k, self.generation))
        if len(known) == 1:
            raise RuleViolations(str(known[0].word), known[0].violations)
        raise RuleViolations(
            f"{len(broken)} of {len(known)} instructions",
            [
                Violation(v.rule, v.field, v.value, v.limit, f"instruction {number}: {v.text}")
                for number, k in broken
                for v in k.violations
            ],
        )

    def _step(self, entry: _Known, mode: str, log: list[str]) -> _Known:
        events = entry.word.events
        waited = events.wait_mode or events.update_mode
        if waited:
            vain = self._signals.blocked(events)
            if vain is not None:
                raise DeadlockError(
                    f"instruction {self._number} ({entry.word}) waits for {vain}; "
                    "nothing that still runs can change it"
                )
        if entry.prepared is None:
            entry = self._resolve(entry.word, mode)
        prepared = entry.prepared
        assert prepared is not None
        for id in entry.unpinned:
            self.choices.depend(id)
        for text in entry.warnings:
            self._warn(text)
        effect = prepared.effect(self)
        log.extend(prepared.decode_log)
        log.extend(effect.log)
        if waited:
            self._signals.start(events)
            self._signals.signal(events, completed=False)
        for access, values in effect.writes:
            self.sbuf.put(access, values)
        if waited:
            self._signals.signal(events, completed=True)
        return entry

    def _resolve(self, word: AnyWord, mode: str) -> _Known:
        changes = {}
        for operand in ("src", "dst"):
            tensor = getattr(word, operand)
            start = self._direct(f"{operand}.start", tensor.start)
            changes[operand] = type(tensor)(start, tensor.steps, tensor.counts)
        found = self._look_up(word.replace(**changes), mode)
        if found.violations:
            raise RuleViolations(
                f"instruction {self._number} with its registers: {found.word}", found.violations
            )
        return found

    def _direct(self, field: str, raw: int) -> int:
        mark, low = Address.of(raw)
        if mark == Mark.DIRECT:
            return low
        if mark != Mark.REGISTER:
            what = "indirect addresses" if mark == Mark.INDIRECT else "shape registers"
            raise MachineError(f"instruction {self._number}: {field} is {raw:#010x}; {what} are not modelled")
        held: int = self.registers[low]
        if Address.of(held).mark != Mark.DIRECT:
            raise MachineError(
                f"instruction {self._number}: {field} is register {low}, which holds {held:#010x}: no address"
            )
        return held

    def _warn(self, text: str) -> None:
        self._warnings.append(f"instruction {self._number}: {text}")

    def _refuse(self, broken: Broken | None) -> None:
        """Refuse at run time what a mode did not test, or what only a register reveals."""
        if broken is not None:
            raise MachineError(f"instruction {self._number}: {broken[3]}")

    def load(self, access: Access) -> Array:
        """Return the elements of an access, partitions first; reports what was never written."""
        missing = self.sbuf.unwritten(access)
        if missing:
            were = "element was" if missing == 1 else "elements were"
            self._warn(f"{missing} {were} never written and read as 0 ({access})")
        return self.sbuf.view(access)

    def room(
        self, shape: tuple[int, ...], values: np.dtype[Any], indices: np.dtype[Any]
    ) -> tuple[Array, Array]:
        """Return arrays to order pairs into; one instruction runs at a time, so one pair will do."""
        if self._room[0].shape != shape or self._room[0].dtype != values:
            self._room = np.empty(shape, values), np.empty(shape, indices)
        return self._room

    def immediate(self, field: str, source: int, raw: int, channels: range) -> Array:
        """Return an immediate as one u32 for each of the partitions `channels`."""
        raw &= 0xFFFFFFFF
        if source == ImmSource.REGISTER:
            self._refuse(broken_immediate(field, source, raw, len(channels), self.generation))
            raw = self.registers[raw]
            if self.choices.depend("imm.register") == "value":
                source = ImmSource.INSTRUCTION
        if source == ImmSource.INSTRUCTION:
            return np.full(len(channels), raw, np.uint32)
        return self._pointed(field, raw, channels)

    def _pointed(self, field: str, raw: int, channels: range) -> Array:
        g = self.generation
        address = self._direct(field, raw)
        self._refuse(broken_immediate(field, ImmSource.POINTER, address, len(channels) * channels.step, g))
        first = g.partition_of(address)
        if first != channels.start:
            self.choices.depend("imm.pointer")
        dtype = NUMPY_DTYPES[Dtype.U32]
        each = range(first, first + channels[-1] - channels[0] + 1, channels.step)
        access = Access(field, each, g.offset_of(address), (1,), (1,), dtype)
        values = self.sbuf.view(access)[:, 0]
        if (values != values[0]).any():
            self.choices.depend("imm.pointer-values")
        if self.choices["imm.pointer-values"] == "first":
            self.load(access.sampled(g.partitions))
            return np.full(len(channels), values[0], np.uint32)
        return self.load(access)[:, 0].copy()


def _build(build: str | None, on: Generation) -> str:
    if build is None:
        return "debug" if on.debug_build else "release"
    if build not in BUILDS:
        raise ArgumentValueError(f"build is {build!r}; accepted are {', '.join(map(repr, BUILDS))}")
    if build == "debug" and not on.debug_build:
        raise ArgumentValueError(f"no DEBUG build is known for {on.name}; use build='release'")
    return build


def _overlaps(prepared: Prepared) -> Iterator[str]:
    for read in prepared.reads:
        for write in prepared.writes:
            if read.meets(write):
                yield f"src and dst overlap ({read}; {write})"
    for write in prepared.writes:
        if write.partitions and write.overlaps_itself:
            yield f"dst overlaps itself ({write})"


def _refusal_log(known: _Known, on: Generation) -> Iterator[str]:
    """Give the lines of a Sort that the device's own type gate turns away."""
    word = known.word
    if not isinstance(word, Sort) or "input_dtype_is_sortable" not in [v.rule for v in known.violations]:
        return
    _, low = Address.of(word.src.start)
    for core in cores(
        min(on.partition_of(low), on.partitions - 1), min(word.num_active_channels, on.partitions)
    ):
        yield f"P{core}: Error, unsupported data type for sort : {word.in_dtype:#x}"
