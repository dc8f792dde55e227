"""What a Sort does: its semantics, and which unpinned behaviours an input touches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from lanesort.errors import MachineError
from lanesort.evidence import Choices, fact, unpinned
from lanesort.neuron.descriptor import Tensor
from lanesort.neuron.dtype import NUMPY_DTYPES, AluOp, Dtype
from lanesort.neuron.generation import Generation
from lanesort.neuron.immediate import ImmSource
from lanesort.neuron.machine import Effect, Machine, cores
from lanesort.neuron.memory import Access
from lanesort.neuron.sort import ABOUT, Sort
from lanesort.order import Order, key_class, keys

__all__ = ["PreparedSort", "prepare_sort"]

Array = npt.NDArray[Any]

LOG_LINE = "S: Sort"
FP16_INFINITY = np.uint16(0x7C00)
BF16_INFINITY = np.uint16(0x7F80)
MAGNITUDE_16 = np.uint16(0x7FFF)
NEGATIVE_ZERO: dict[int, Any] = {2: np.uint16(1 << 15), 4: np.uint32(1 << 31)}

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
    offset: Array
    positions_seed: Array
    infinity: Any
    decode_log: tuple[str, ...]

    @property
    def reads(self) -> tuple[Access, ...]:
        """What it reads."""
        return (self.source,)

    @property
    def writes(self) -> tuple[Access, ...]:
        """What it writes."""
        return (self.rows,)

    def outputs(self, choices: Choices) -> Mapping[str, Access]:
        """Return the two columns."""
        return {"values": self.values, "indices": self.positions}

    def effect(self, machine: Machine) -> Effect:
        """Order the values of each channel and pair them with position plus offset."""
        if not self.source.partitions:
            return Effect((), (LOG_LINE,))
        # What is read several times had better not lie on a page for each partition.
        loaded = np.ascontiguousarray(machine.load(self.source))
        offsets, positions = self._positions(machine)
        values, indices = self._ordered(machine, loaded, positions)
        kept = self.values.counts[0]
        if kept < self.iota.size:
            values, indices = values[:, :kept], indices[:, :kept]
        if self.iota.itemsize == 2 and _wraps(indices, offsets, self.iota.size):
            choice = machine.choices.depend("sort.index-wrap")
            if choice == "error":
                raise MachineError(
                    f"Sort: a position plus {int(offsets.max())} exceeds 65535 (sort.index-wrap = error)"
                )
        return Effect(self._columns(values, indices), (LOG_LINE,))

    def _positions(self, machine: Machine) -> tuple[Array, Array]:
        """Return the offset of each channel, a column, and 0, 1, 2 … plus it."""
        word = self.word
        if word.index_offset_src == ImmSource.INSTRUCTION:
            return self.offset, self.positions_seed
        found = machine.immediate(
            "index_offset", word.index_offset_src, word.index_offset, self.source.partitions
        )
        offsets = found[:, None]
        return offsets, self.iota + offsets.astype(self.iota.dtype)

    def _ordered(self, machine: Machine, loaded: Array, positions: Array) -> tuple[Array, Array]:
        word, choices = self.word, machine.choices
        as_fp16 = word.in_dtype == Dtype.BF16 and _touches_bf16_compare(loaded, choices)
        given = loaded.view(np.float16) if as_fp16 else loaded
        order = _order(word, choices)
        room = machine.room(given.shape, given.dtype, self.iota.dtype)
        values, indices, _ = machine.engine.order_pairs(given, positions, order, out=room)
        infinity = FP16_INFINITY if as_fp16 else self.infinity
        if infinity is not None:
            _depend_on_floats(given, infinity, choices)
        if not word.stable and _has_ties(values, order):
            choices.depend("sort.tie-order")
        return values.view(loaded.dtype) if as_fp16 else values, indices

    def _columns(self, values: Array, indices: Array) -> tuple[tuple[Access, Array], ...]:
        if not self.rows.overlaps_itself:
            return (self.values, values), (self.positions, indices)
        bits = values.view(indices.dtype)
        return ((self.rows, np.stack([bits, indices], axis=-1)),)


def _wraps(indices: Array, offsets: Array, count: int) -> bool:
    if offsets.size == 1 and int(offsets[0, 0]) + count <= 1 << 16:
        return False
    # An index below its offset, or any index under an offset of 2^16 or more, has wrapped.
    return bool((indices < offsets).any())


def _order(word: Sort, choices: Choices) -> Order:
    tie = "low" if word.stable else choices["sort.tie-order"]
    return _made_order(
        word.comparison == AluOp.IS_GT, choices["sort.nan-order"], choices["sort.zero-order"], tie
    )


@cache
def _made_order(descending: bool, nan: Any, zero: Any, tie: Any) -> Order:
    return Order(descending=descending, nan=nan, zero=zero, tie=tie)


def _touches_bf16_compare(values: Array, choices: Choices) -> bool:
    magnitude = values.view(np.uint16) & MAGNITUDE_16
    disputed = (magnitude > FP16_INFINITY) & (magnitude <= BF16_INFINITY)
    if np.count_nonzero(disputed):
        return choices.depend("sort.bf16-compare") == "as-fp16"
    return choices["sort.bf16-compare"] == "as-fp16"


# Typed constants, and np.count_nonzero for .any(), cost a fraction of the usual; on short rows
# that is what counts.
def _depend_on_floats(given: Array, infinity: Any, choices: Choices) -> None:
    sign = NEGATIVE_ZERO[given.itemsize]
    bits = given.view(sign.dtype)
    # fp32 is the one type whose isnan is vectorised and native.
    nan = np.isnan(given) if given.itemsize == 4 else (bits & MAGNITUDE_16) > infinity
    if np.count_nonzero(nan):
        choices.depend("sort.nan-order")
    if choices["sort.nan-order"] == "total":
        return  # totalOrder tells the zeros apart whatever was chosen for them.
    negative = bits == sign
    if np.count_nonzero(negative) and (negative.any(axis=1) & (bits == 0).any(axis=1)).any():
        choices.depend("sort.zero-order")


def _has_ties(ordered: Array, order: Order) -> bool:
    ranked = keys(ordered, order)
    return bool(np.count_nonzero(ranked[:, 1:] == ranked[:, :-1]))


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
    iota = np.arange(count, dtype=index)
    offset = np.array([[word.index_offset]], np.uint32)
    seed = np.broadcast_to(iota + offset.astype(index), (channels, count))
    ascending = int(word.comparison == AluOp.IS_LT)
    log = tuple(
        f"P{core}: DECODE_SORT : num_items = {count}, num_active_channels = {channels}, "
        f"is_ascending = {ascending}"
        for core in cores(first, channels)
    )
    source = Access.of("src", word.src, range(first, first + channels), dtype, on)
    cls = key_class(dtype)
    infinity = index.type(cls.infinity) if cls.kind == "float" else None
    return PreparedSort(word, source, rows, values, positions, iota, offset, seed, infinity, log)
