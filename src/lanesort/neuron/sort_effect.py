"""What a Sort does: its semantics, and which unpinned behaviours an input touches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from lanesort.errors import MachineError
from lanesort.evidence import Choices, fact, unpinned
from lanesort.neuron.descriptor import Tensor
from lanesort.neuron.dtype import NUMPY_DTYPES, AluOp, Dtype
from lanesort.neuron.generation import Generation
from lanesort.neuron.machine import Effect, Machine, cores
from lanesort.neuron.memory import Access
from lanesort.neuron.sort import ABOUT, Sort
from lanesort.order import Order, key_class, keys

__all__ = ["PreparedSort", "prepare_sort"]

Array = npt.NDArray[Any]

fact(
    ABOUT,
    "The whole vector is read before anything is written, so src and dst may overlap.",
    "observed",
    "high",
    "seed 000, header note on Pool working RAM",
)
fact(
    ABOUT,
    "In P%i of the log lines, %i is the GPSIMD core.",
    "assumed",
    "low",
    "one seed reads it as the core, the other as the partition",
)
fact(
    ABOUT,
    "Where dst overlaps itself, rows are written in order, the value before its position.",
    "assumed",
    "low",
    "no source",
)

unpinned(
    "sort.nan-order",
    ABOUT,
    "where NaN lands: compares are ordered, min/max are minNum/maxNum, the network is not known",
    "seed 000 §4.4 (medium)",
    {
        "last": "after every number in both directions",
        "largest": "above every number",
        "total": "IEEE 754 totalOrder",
    },
)
unpinned(
    "sort.zero-order",
    ABOUT,
    "whether -0.0 and +0.0 are equal",
    "seed 000 §4.4: an ordered float compare suggests equal",
    {"equal": "zeros are equal", "signed": "-0.0 lies below +0.0"},
)
unpinned(
    "sort.tie-order",
    ABOUT,
    "the order of equal values with stable = 0",
    "seed 000 §4.3",
    {"low": "as if stable", "high": "the later one first"},
)
unpinned(
    "sort.index-wrap",
    ABOUT,
    "a 16-bit position plus offset above 65535",
    "seed 000 §5.4 casts to u16",
    {"wrap": "modulo 65536", "error": "the machine refuses"},
)
unpinned(
    "sort.bf16-compare",
    ABOUT,
    "the listed fp16 compare, read literally, takes bf16 patterns above 0x7C00 for NaN",
    "seed 000 §4.1, §5.6",
    {"bf16": "bf16 compares as bf16", "as-fp16": "bf16 patterns compare as fp16"},
)


@dataclass(frozen=True, slots=True)
class PreparedSort:
    """A Sort word with its accesses worked out; `rows` is dst as rows of (value, position)."""

    word: Sort
    source: Access
    rows: Access
    values: Access
    positions: Access
    iota: Array
    decode_log: tuple[str, ...]

    @property
    def reads(self) -> tuple[Access, ...]:
        """What it reads."""
        return (self.source,)

    @property
    def writes(self) -> tuple[Access, ...]:
        """What it writes."""
        return (self.rows,)

    def effect(self, machine: Machine) -> Effect:
        """Order the values of each channel and pair them with position plus offset."""
        if not self.source.partitions:
            return Effect((), ("S: Sort",))
        word, choices = self.word, machine.choices
        loaded = machine.load(self.source)
        positions = self._positions(machine, loaded.shape[0])
        as_fp16 = word.in_dtype == Dtype.BF16 and _touches_bf16_compare(loaded, choices)
        given = loaded.view(np.float16) if as_fp16 else loaded
        order = _order(word, choices)
        values, indices = machine.engine.order_pairs(given, positions, order)
        _depend(word, given, values, order, choices)
        kept = self.values.counts[0]
        values, indices = values[:, :kept].view(loaded.dtype), indices[:, :kept]
        if self.iota.itemsize == 2:
            self._check_wrap(machine, indices)
        return Effect(self._columns(values, indices), ("S: Sort",))

    def _positions(self, machine: Machine, channels: int) -> Array:
        word = self.word
        if word.index_offset_src == 0:
            return np.broadcast_to(self.iota, (channels, self.iota.size))
        offsets = _offsets(machine, word, self.source.partitions)
        positions: Array = self.iota + offsets.astype(self.iota.dtype)[:, None]
        return positions

    def _check_wrap(self, machine: Machine, indices: Array) -> None:
        word = self.word
        if word.index_offset_src == 0:
            if word.index_offset + self.iota.size <= 1 << 16:
                return
            offsets = np.array([[word.index_offset]], np.uint32)
        else:
            offsets = _offsets(machine, word, self.source.partitions)[:, None]
        # An index below its offset, or any index under an offset of 2^16 or more, has wrapped.
        if (indices < offsets).any() and machine.choices.depend("sort.index-wrap") == "error":
            raise MachineError(
                f"Sort: an index with offset {int(offsets.max())} exceeds 65535 (sort.index-wrap = error)"
            )

    def _columns(self, values: Array, indices: Array) -> tuple[tuple[Access, Array], ...]:
        if not self.rows.overlaps_itself:
            return (self.values, values), (self.positions, indices)
        bits = values.view(indices.dtype)
        return ((self.rows, np.stack([bits, indices], axis=-1)),)


def _offsets(machine: Machine, word: Sort, partitions: range) -> Array:
    return machine.immediate("index_offset", word.index_offset_src, word.index_offset, partitions)


def _order(word: Sort, choices: Choices) -> Order:
    nan: Any = choices["sort.nan-order"]
    zero: Any = choices["sort.zero-order"]
    tie: Any = "low" if word.stable else choices["sort.tie-order"]
    return Order(descending=word.comparison == AluOp.IS_GT, nan=nan, zero=zero, tie=tie)


def _touches_bf16_compare(values: Array, choices: Choices) -> bool:
    magnitude = values.view(np.uint16) & np.uint16(0x7FFF)
    if not ((magnitude > 0x7C00) & (magnitude <= 0x7F80)).any():
        return choices["sort.bf16-compare"] == "as-fp16"
    return choices.depend("sort.bf16-compare") == "as-fp16"


def _depend(word: Sort, given: Array, ordered: Array, order: Order, choices: Choices) -> None:
    cls = key_class(given.dtype)
    if cls.kind == "float":
        if _has_nan(ordered, cls.infinity):
            choices.depend("sort.nan-order")
        if _has_both_zeros(given):
            choices.depend("sort.zero-order")
    if not word.stable:
        ranked = keys(ordered, order)
        if (ranked[:, 1:] == ranked[:, :-1]).any():
            choices.depend("sort.tie-order")


def _has_nan(ordered: Array, infinity: int) -> bool:
    # Every NaN policy puts NaNs at the ends of a row.
    bits = ordered.view(f"u{ordered.itemsize}")[:, :: max(1, ordered.shape[1] - 1)]
    return bool(((bits & ((1 << (8 * ordered.itemsize - 1)) - 1)) > infinity).any())


def _has_both_zeros(values: Array) -> bool:
    bits = values.view(f"u{values.itemsize}")
    negative = bits == 1 << (8 * values.itemsize - 1)
    if not negative.any():
        return False
    return bool((negative.any(axis=1) & (bits == 0).any(axis=1)).any())


def prepare_sort(word: Sort, on: Generation) -> PreparedSort:
    """Work out what a valid Sort word accesses."""
    dtype = NUMPY_DTYPES[Dtype(word.in_dtype)]
    index = np.dtype(f"<u{dtype.itemsize}")
    channels, count = word.num_active_channels, word.src.counts[0]
    first = on.partition_of(word.src.start)
    target = on.partition_of(word.dst.start)
    rows = Access.of("dst", word.dst, range(target, target + channels), index, on)
    column = Tensor(word.dst.start, word.dst.steps[1:], word.dst.counts[1:])
    values = Access.of("dst", column, rows.partitions, dtype, on)
    positions = Access(
        "dst",
        rows.partitions,
        values.offset_bytes + word.dst.steps[0] * dtype.itemsize,
        column.steps,
        column.counts,
        index,
    )
    offset = word.index_offset if word.index_offset_src == 0 else 0
    iota = (np.arange(count, dtype=np.uint32) + np.uint32(offset)).astype(index)
    ascending = int(word.comparison == AluOp.IS_LT)
    log = tuple(
        f"P{core}: DECODE_SORT : num_items = {count}, num_active_channels = {channels}, "
        f"is_ascending = {ascending}"
        for core in cores(first, channels)
    )
    source = Access.of("src", word.src, range(first, first + channels), dtype, on)
    return PreparedSort(word, source, rows, values, positions, iota, log)
