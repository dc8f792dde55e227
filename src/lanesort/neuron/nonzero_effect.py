"""What a NonzeroWithCount does: its semantics, and which unpinned behaviours an input touches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from lanesort.engine.protocol import NonzeroRule
from lanesort.errors import MachineError
from lanesort.evidence import Choices, fact
from lanesort.neuron.dtype import NUMPY_DTYPES, Dtype
from lanesort.neuron.generation import Generation
from lanesort.neuron.machine import CORE_PARTITIONS, Effect, Machine, cores
from lanesort.neuron.memory import Access
from lanesort.neuron.nonzero_with_count import ABOUT, NonzeroWithCount

__all__ = ["PreparedNonzero", "prepare_nonzero"]

Array = npt.NDArray[Any]

RULES_OF_CHOICES: Mapping[str, NonzeroRule] = {"counted": "value", "ordered": "ordered", "bits": "bits"}

fact(
    ABOUT,
    "The result is the positions of the nonzeros in row-major order plus the offset, then padding, and the "
    "count in the last element.",
    "documented",
    "high",
    "NKI documentation of nonzero_with_count; the seed left the place of the count open",
)
fact(
    ABOUT,
    "Partitions start, start + 16, … are read and written, one for each GPSIMD core; others are untouched.",
    "documented",
    "high",
    "NKI documentation of nonzero_with_count",
)
fact(
    ABOUT,
    "The count is the write cursor's last value: there is no popcount and no reduction.",
    "observed",
    "high",
    "seed 003 §4.4",
)
fact(ABOUT, "Positions plus offset wrap as i32.", "inferred", "medium", "seed 003 §4.4: 32-bit adds")
fact(
    ABOUT,
    "All of src is read before dst is written where they overlap.",
    "assumed",
    "low",
    "no source; the same as Sort",
)


@dataclass(frozen=True, slots=True)
class PreparedNonzero:
    """A NonzeroWithCount word with its accesses worked out, for every active partition."""

    word: NonzeroWithCount
    source: Access
    target: Access
    sampled: tuple[Access, Access]
    decode_log: tuple[str, ...]

    @property
    def reads(self) -> tuple[Access, ...]:
        """What it may read."""
        return (self.source,)

    @property
    def writes(self) -> tuple[Access, ...]:
        """What it may write."""
        return (self.target,)

    def outputs(self, choices: Choices) -> Mapping[str, Access]:
        """Return positions, padding and count of each processed partition."""
        every_one = choices["nonzero.partitions"] == "all"
        return {"dst": self.target if every_one else self.sampled[1]}

    def effect(self, machine: Machine) -> Effect:
        """Compact the positions of each processed partition and append the count."""
        self._check_size(machine.generation)
        every_one = self._all_partitions(machine.choices)
        source, target = (self.source, self.target) if every_one else self.sampled
        rows = machine.load(source).reshape(len(source.partitions), -1)
        rule = self._rule(rows, machine.choices)
        offsets, paddings = self._immediates(machine, source.partitions)
        result = np.empty((rows.shape[0], rows.shape[1] + 1), np.uint32)
        for row, out, offset, padding in zip(rows, result, offsets, paddings, strict=True):
            positions = machine.engine.compact(row, rule)
            count = positions.size
            out[:count] = positions.astype(np.uint32) + offset
            out[count:-1] = padding
            out[-1] = count
        log = tuple(f"S: NonzeroWithCount: num_elements={count}" for count in result[:, -1])
        return Effect(((target, result.view(np.int32)),), log)

    def _all_partitions(self, choices: Choices) -> bool:
        if self.word.num_active_channels == 1:
            return False
        return choices.depend("nonzero.partitions") == "all"

    def _immediates(self, machine: Machine, partitions: range) -> tuple[Array, Array]:
        w = self.word
        return (
            machine.immediate("index_offset", w.index_offset_src, w.index_offset, partitions),
            machine.immediate("padding_val", w.padding_val_src, w.padding_val, partitions),
        )

    def _rule(self, rows: Array, choices: Choices) -> NonzeroRule:
        if self.word.in_dtype != Dtype.FP32:
            return "value"
        bits = rows.view(np.uint32)
        # Only a NaN or a -0.0 tells the choices apart.
        special = (bits << 1) > 0xFF000000
        special |= bits == 0x80000000
        choice = choices.depend("nonzero.nan") if np.count_nonzero(special) else choices["nonzero.nan"]
        return RULES_OF_CHOICES[choice]

    def _check_size(self, on: Generation) -> None:
        room = on.sbuf_bytes // self.target.dtype.itemsize
        if self.target.elements > room:
            raise MachineError(
                f"NonzeroWithCount: dst has {self.target.elements} elements; a partition holds {room}, "
                "so it would overwrite itself"
            )


def prepare_nonzero(word: NonzeroWithCount, on: Generation) -> PreparedNonzero:
    """Work out what a valid NonzeroWithCount word accesses."""
    channels = word.num_active_channels
    first, target = on.partition_of(word.src.start), on.partition_of(word.dst.start)
    log = tuple(f"P{core}: NonzeroWithCount : num_chans = {channels}" for core in cores(first, channels))
    source = Access.of(
        "src", word.src, range(first, first + channels), NUMPY_DTYPES[Dtype(word.in_dtype)], on
    )
    result = Access.of("dst", word.dst, range(target, target + channels), NUMPY_DTYPES[Dtype.I32], on)
    sampled = source.sampled(CORE_PARTITIONS), result.sampled(CORE_PARTITIONS)
    return PreparedNonzero(word, source, result, sampled, log)
