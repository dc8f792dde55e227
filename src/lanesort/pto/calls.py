"""The hardware calls behind a tile instruction, with their configuration words.

TSORT32 becomes one or more ``vbitsort`` for each row, TMRGSORT one ``vmrgsort4``. Words are
declared as fields of a 64-bit register; encoding and decoding are derived from that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from lanesort.errors import ArgumentValueError, RuleViolations, Violation
from lanesort.evidence import fact
from lanesort.pto.operand import Executed, MergeOperands, Sort32Operands
from lanesort.pto.target import Target, find_target
from lanesort.pto.tile import PAIR_BYTES
from lanesort.pto.tmrgsort import RULES as MERGE_RULES
from lanesort.pto.tmrgsort import WAYS, pairs_in
from lanesort.pto.tmrgsort import violations as merge_violations
from lanesort.pto.tsort32 import BLOCK
from lanesort.pto.tsort32 import RULES as SORT_RULES
from lanesort.rule import Rule, RuleBook

__all__ = [
    "ADDRESSES",
    "COUNTS",
    "VBITSORT_CONFIG",
    "VBITSORT_RULES",
    "VMRGSORT4_CONFIG",
    "VMRGSORT4_RULES",
    "Field",
    "VBitSort",
    "VMrgSort4",
    "calls",
    "decode",
    "encode",
]

ADDRESS_SHIFT = 3
MASKS = {2: 0b0011, 3: 0b0111, 4: 0b1111}


class Field(NamedTuple):
    """Bits of a register: name, lowest bit, width."""

    name: str
    low: int
    width: int


VBITSORT_CONFIG = (Field("repeat", 56, 8),)
VMRGSORT4_CONFIG = (Field("repeat", 0, 8), Field("mask", 8, 4), Field("exhausted", 12, 1))
COUNTS = tuple(Field(f"list{number}", 16 * number, 16) for number in range(WAYS))
"""Lengths of the lists in pairs, and VMS4_SR, the pairs taken from each."""
ADDRESSES = COUNTS
"""Addresses of the lists in units of 8 bytes; 0 for absent lists."""

fact(
    "pto.vbitsort",
    "The configuration word is the number of blocks, 1 to 255, in bits 63:56.",
    "documented",
    "high",
    "seed 002, hardware basis",
)
fact(
    "pto.vmrgsort4",
    "The configuration word has repeat in bits 7:0, a mask of the lists in 11:8, exhausted in bit 12; "
    "lengths, addresses >> 3 and the counts of VMS4_SR are four 16-bit fields, list 0 lowest.",
    "documented",
    "high",
    "PTO specification, TMRGSORT registers; seed 004, mask table",
)


def encode(fields: Sequence[Field], values: Mapping[str, int]) -> int:
    """Pack values into a word.

    Raises
    ------
    ArgumentValueError
        If a value does not fit its field.

    Examples
    --------
    >>> hex(encode(VMRGSORT4_CONFIG, {"repeat": 1, "mask": 0b1111, "exhausted": 1}))
    '0x1f01'
    """
    word = 0
    for name, low, width in fields:
        value = values[name]
        if not 0 <= value < 1 << width:
            raise ArgumentValueError(f"{name} is {value}; its {width} bits hold 0 … {(1 << width) - 1}")
        word |= value << low
    return word


def decode(fields: Sequence[Field], word: int) -> dict[str, int]:
    """Unpack a word into the values of its fields; bits outside them are left aside.

    Examples
    --------
    >>> decode(VMRGSORT4_CONFIG, 0x0F01)
    {'repeat': 1, 'mask': 15, 'exhausted': 0}
    """
    return {name: word >> low & (1 << width) - 1 for name, low, width in fields}


def _four(values: Sequence[int]) -> dict[str, int]:
    padded = [*values, *[0] * WAYS][:WAYS]
    return {field.name: value for field, value in zip(COUNTS, padded, strict=True)}


@dataclass(frozen=True, slots=True)
class VBitSort:
    """One ``vbitsort``: `repeat` blocks of 32, laid end to end.

    Attributes
    ----------
    row
        Row of src that it sorts.
    repeat
        Blocks.
    values_from
        Tile that the values are read from: ``src``, or ``tmp`` for a completed tail.
    values_bytes, idx_bytes, dst_bytes
        Offset of the first byte in that tile, in idx and in dst.
    barrier
        Whether a barrier of pipe V must stand behind it.
    """

    row: int
    repeat: int
    values_from: Literal["src", "tmp"]
    values_bytes: int
    idx_bytes: int
    dst_bytes: int
    barrier: bool

    @property
    def config(self) -> int:
        """The configuration word."""
        return encode(VBITSORT_CONFIG, {"repeat": self.repeat})

    @property
    def published_cycles(self) -> int:
        """Cycles by the published model of A2/A3, which is not calibrated."""
        return 6 + 2 * self.repeat


@dataclass(frozen=True, slots=True)
class VMrgSort4:
    """One ``vmrgsort4``: `repeat` merges of up to four lists.

    Attributes
    ----------
    repeat
        Groups of four blocks that follow one another; 1 for a merge of lists.
    lengths
        Pairs of each list.
    addresses_bytes
        Address of each list; counted from the tile's start where it has no address.
    exhausted
        Whether the merge stops at the first exhausted list.
    barrier
        Whether a barrier of pipe V must stand behind it.
    """

    repeat: int
    lengths: tuple[int, ...]
    addresses_bytes: tuple[int, ...]
    exhausted: bool
    barrier: bool = False

    @property
    def mask(self) -> int:
        """One bit for each list that takes part."""
        return (1 << len(self.lengths)) - 1

    @property
    def config(self) -> int:
        """The configuration word."""
        values = {"repeat": self.repeat, "mask": self.mask, "exhausted": int(self.exhausted)}
        return encode(VMRGSORT4_CONFIG, values)

    @property
    def lengths_word(self) -> int:
        """The four lengths."""
        return encode(COUNTS, _four(self.lengths))

    @property
    def addresses_word(self) -> int:
        """The four addresses."""
        return encode(ADDRESSES, _four([address >> ADDRESS_SHIFT for address in self.addresses_bytes]))

    @property
    def published_cycles(self) -> int:
        """Cycles by the published model of A2/A3 for float blocks of 32 pairs, not calibrated."""
        return 20 + 78 * self.repeat

    @classmethod
    def from_words(cls, config: int, lengths: int, addresses_bytes: Sequence[int]) -> VMrgSort4:
        """Decode the words of a low-level call; `addresses_bytes` are those of its four operands.

        Raises
        ------
        ArgumentValueError
            If the mask is not that of two, three or four lists.
        """
        parts = decode(VMRGSORT4_CONFIG, config)
        count = next((n for n, mask in MASKS.items() if mask == parts["mask"]), None)
        if count is None:
            raise ArgumentValueError(
                f"the list mask is 0b{parts['mask']:04b}; two to four lists have 0b0011, 0b0111, 0b1111"
            )
        taken = tuple(decode(COUNTS, lengths).values())[:count]
        return cls(parts["repeat"], taken, tuple(addresses_bytes[:count]), bool(parts["exhausted"]))

    @staticmethod
    def status(executed: Executed) -> int:
        """Pack executed counts as VMS4_SR holds them."""
        return encode(COUNTS, _four(executed))


VBITSORT_RULES: RuleBook[VBitSort, Target] = RuleBook("pto.vbitsort")
"""Validity rules of one ``vbitsort``."""
VMRGSORT4_RULES: RuleBook[VMrgSort4, Target] = RuleBook("pto.vmrgsort4")
"""Validity rules of one ``vmrgsort4``."""


def _repeat(call: VBitSort | VMrgSort4, target: Target) -> Violation | None:
    limit = target.repeat_limit or call.repeat
    if 1 <= call.repeat <= limit:
        return None
    text = f"repeat is {call.repeat}; the field holds 1 … {limit}: split the call, or leave it out if it is 0"
    return Violation("repeat_fits_the_field", "repeat", call.repeat, f"1 … {limit}", text)


@VBITSORT_RULES.rule()
def repeat_fits_the_field(call: VBitSort, target: Target) -> Violation | None:
    """One call takes 1 to 255 repeats."""
    return _repeat(call, target)


VMRGSORT4_RULES.add(Rule("repeat_fits_the_field", "One call takes 1 to 255 repeats.", _repeat))


@VMRGSORT4_RULES.rule()
def lengths_fit_the_field(call: VMrgSort4, target: Target) -> Violation | None:
    """No list has more pairs than the hardware counts."""
    limit = target.list_pairs_limit
    if limit is None or max(call.lengths, default=0) <= limit:
        return None
    text = f"lengths are {call.lengths} pairs; {target.name} merges lists of up to {limit}"
    return Violation("lengths_fit_the_field", "lengths", call.lengths, limit, text)


def calls(
    operands: Sort32Operands | MergeOperands, target: str | Target = "a2a3"
) -> tuple[VBitSort, ...] | tuple[VMrgSort4, ...]:
    """Return the hardware calls of a tile instruction, in order.

    Parameters
    ----------
    operands
        The tiles of TSORT32 or TMRGSORT.
    target
        The target or its name.

    Raises
    ------
    RuleViolations
        If the operands break rules of the target.

    Examples
    --------
    >>> from lanesort import pto
    >>> operands = pto.sort32_operands(1, 8192, "float32")
    >>> [(call.repeat, hex(call.config)) for call in pto.calls(operands)]
    [(255, '0xff00000000000000'), (1, '0x100000000000000')]
    """
    target = find_target(target)
    if isinstance(operands, Sort32Operands):
        _refuse(SORT_RULES.about, SORT_RULES.validate(operands, target))
        return tuple(_sorts(operands, target))
    _refuse(MERGE_RULES.about, merge_violations(operands, target))
    return (_merge(operands, target),)


def _refuse(about: str, violations: tuple[Violation, ...]) -> None:
    if violations:
        raise RuleViolations(about, violations)


def _sorts(operands: Sort32Operands, target: Target) -> Iterator[VBitSort]:
    columns = operands.src.valid_columns
    tail = bool(columns % BLOCK) and not target.simulated
    blocks = -(-columns // BLOCK)
    small = target.small_row(columns, operands.src.dtype.itemsize)
    in_place = blocks - 1 if tail and not small else blocks
    source: Literal["src", "tmp"] = "tmp" if tail and small else "src"
    for row in range(operands.src.valid_rows):
        limit = target.repeat_limit or in_place
        for first in range(0, in_place, max(limit, 1)):
            yield _sort(operands, target, row, source, first, min(limit, in_place - first))
        if in_place < blocks:
            yield _sort(operands, target, row, "tmp", in_place, 1)


def _sort(
    operands: Sort32Operands, target: Target, row: int, source: Literal["src", "tmp"], first: int, repeat: int
) -> VBitSort:
    value_bytes = BLOCK * operands.src.dtype.itemsize
    if source == "src":
        values_bytes = row * operands.src.step_bytes + first * value_bytes
    else:
        # tmp holds one row, or, where only the tail is copied, the tail block alone.
        small = target.small_row(operands.src.valid_columns, operands.src.dtype.itemsize)
        values_bytes = first * value_bytes if small else 0
    idx_row = row if operands.idx.valid_rows > 1 else 0
    return VBitSort(
        row,
        repeat,
        source,
        values_bytes,
        idx_row * operands.idx.step_bytes + first * BLOCK * operands.idx.dtype.itemsize,
        row * operands.dst.step_bytes + first * BLOCK * PAIR_BYTES,
        target.needs_barrier,
    )


def _merge(operands: MergeOperands, target: Target) -> VMrgSort4:
    if operands.block_len is None:
        lengths = tuple(map(pairs_in, operands.sources))
        starts = tuple(tile.address_bytes or 0 for tile in operands.sources)
        return VMrgSort4(1, lengths, starts, operands.exhausted, target.needs_barrier)
    source = operands.sources[0]
    block_bytes = operands.block_len * source.dtype.itemsize
    start = source.address_bytes or 0
    return VMrgSort4(
        source.valid_columns // (WAYS * operands.block_len),
        (block_bytes // PAIR_BYTES,) * WAYS,
        tuple(start + way * block_bytes for way in range(WAYS)),
        False,
        target.needs_barrier,
    )
