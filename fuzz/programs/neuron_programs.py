"""Programs of one to three NeuronCore words: Sort and NonzeroWithCount, also on each other's results."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lanesort import neuron
from lanesort.engine.protocol import resolve
from lanesort.neuron.memory import Access

from .draws import Draws
from .outcome import Outcome, by_float

__all__ = ["NeuronProgram"]

Array = npt.NDArray[Any]
GENERATIONS = ("cayman", "cayman", "sunda", "mariana", "mariana_plus", "maverick")
CHOICES: tuple[Mapping[str, str], ...] = (
    {},
    {"sort.nan-order": "total", "sort.tie-order": "high", "nonzero.nan": "bits", "imm.register": "value"},
    {"sort.nan-order": "largest", "sort.zero-order": "signed", "nonzero.nan": "ordered"},
    {"sort.bf16-compare": "as-fp16", "sort.index-wrap": "error", "nonzero.partitions": "all"},
)
DTYPES_16, DTYPES_32 = ("fp16", "bf16", "u16", "i16"), ("fp32", "u32", "i32")
REGION_WORDS = 512
OUTPUT, ROOM = 0x280, 0x1C0
LONGEST = 48
REGISTER = 3


class NeuronProgram(NamedTuple):
    """Words, and the partitions that they read and write."""

    generation: str
    choices: int
    mode: str
    words: tuple[Any, ...]
    partitions: tuple[range, ...]
    register: int

    @classmethod
    def draw(cls, draws: Draws) -> NeuronProgram:
        """Make a program of the draws."""
        generation, choices = draws.choice(GENERATIONS), draws.below(2) and draws.below(len(CHOICES))
        mode = draws.choice(neuron.MODES)
        channels = draws.choice((1, 1, 2, 3, 4, 5)) if draws.below(16) else draws.choice((17, 33, 64, 128))
        starts = neuron.GENERATIONS[generation].start_partitions(channels)
        source, target = draws.choice(starts), draws.choice(starts)
        maker = _Maker(draws, generation, channels)
        words = [maker.word(source, target, 0, OUTPUT)]
        for number in range(1, draws.choice((1, 1, 2, 3))):
            # Half of the time on what the word before has written.
            src = (target, OUTPUT + (number - 1) * ROOM) if draws.below(2) else (source, 0)
            words.append(maker.word(src[0], target, src[1], OUTPUT + number * ROOM))
        register = neuron.Tensor.at(source, 4 * draws.below(8), 1, on=generation).start
        return cls(
            generation,
            choices,
            mode,
            tuple(words),
            tuple(range(start, start + channels) for start in sorted({source, target})),
            register,
        )

    def data(self, draws: Draws) -> Array:
        """Make the memory that the words find on each of their partitions."""
        base = np.tile(draws.words(509), 3)
        return np.lib.stride_tricks.as_strided(base, (len(self.partitions[0]), REGION_WORDS), (7 * 4, 4))

    def run(self, memory: Array, engine: str) -> Outcome:
        """Run on one engine."""
        core = _core(self.generation, self.choices)
        core.engine = resolve(engine)
        for partitions in self.partitions:
            core.sbuf.put(_region(partitions), memory)
        core.registers[REGISTER] = self.register
        result = core.run(self.words, self.mode)
        parts = [core.sbuf.view(_region(partitions)).tobytes() for partitions in self.partitions]
        return Outcome(
            b"".join([*parts, " ".join(result.unpinned).encode()]),
            "\n".join([*result.log, *result.warnings]),
            by_float=by_float(result.unpinned, "sort.nan-order", CHOICES[self.choices], "last"),
        )


class _Maker(NamedTuple):
    draws: Draws
    generation: str
    channels: int

    def word(self, source: int, target: int, src: int, dst: int) -> Any:
        sort = self.generation == "sunda" or self.draws.below(5) < 3
        return self._sort(source, target, src, dst) if sort else self._nonzero(source, target, src, dst)

    def _tensor(self, partition: int, offset: int, counts: Any, steps: Any = None) -> neuron.Tensor:
        return neuron.Tensor.at(partition, offset, counts, steps, on=self.generation)

    def _immediate(self, partition: int, number: int) -> Any:
        kind = self.draws.below(8)
        if kind == 0:
            return neuron.Register(REGISTER)
        if kind == 1:
            return neuron.Pointer.at(partition, 4 * self.draws.below(8), on=self.generation)
        return number

    def _sort(self, source: int, target: int, src: int, dst: int) -> Any:
        draws = self.draws
        dtype = draws.choice(DTYPES_16 if draws.below(2) else DTYPES_32)
        most = min(LONGEST, (4096 if dtype in DTYPES_16 else 2048) // self.channels)
        count = 1 + draws.below(most)
        return neuron.Sort(
            src=self._tensor(source, src, count, 1 + draws.below(3)),
            dst=self._tensor(target, dst, (2, count), draws.choice([(count, 1), (1, 2)])),
            dtype=dtype,
            descending=bool(draws.below(2)),
            stable=bool(draws.below(2)),
            index_offset=self._immediate(source, draws.below(1 << 17)),
            channels=self.channels,
        )

    def _nonzero(self, source: int, target: int, src: int, dst: int) -> Any:
        draws = self.draws
        counts = tuple(1 + draws.below(4) for _ in range(1 + draws.below(3)))
        steps = draws.choice([None, (counts[0] + 1, *(1 for _ in counts[1:]))])
        return neuron.NonzeroWithCount(
            src=self._tensor(source, src, counts, steps),
            dst=self._tensor(target, dst, int(np.prod(counts)) + 1),
            in_dtype=draws.choice(("fp32", "i32")),
            index_offset=self._immediate(source, draws.number() - (1 << 31)),
            padding_val=self._immediate(source, draws.number() - (1 << 31)),
            channels=self.channels,
        )


@cache
def _core(generation: str, choices: int) -> neuron.NeuronCore:
    """Make one core for all engines: what it knows of a word depends on none."""
    return neuron.NeuronCore(generation, choices=CHOICES[choices])


@cache
def _region(partitions: range) -> Access:
    return Access("region", partitions, 0, (1,), (REGION_WORDS,), np.dtype("<u4"))
