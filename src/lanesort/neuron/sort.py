"""Sort (0x96): order the values of each active partition and say where each came from.

Source: seed 000, a reading of the shipped ISA headers and firmware. Generations: sunda and
newer; maverick is known from its headers only. Unpinned: where NaN lands, whether zeros of
either sign are equal, the order of ties when not stable, the wrap of 16-bit indices, short
outputs, and the clauses that the field census has but the quoted predicate has not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from lanesort.evidence import fact, unpinned
from lanesort.neuron.assembly import Syntax
from lanesort.neuron.descriptor import NIBBLE, U8, U32, Events, Header, Tensor, padded, tensor_part
from lanesort.neuron.dtype import AluOp, Dtype, dtype_code
from lanesort.neuron.generation import Generation, availability
from lanesort.neuron.immediate import ImmSource, Pointer, Register, immediate_fields
from lanesort.neuron.instruction import MODES, Instruction
from lanesort.neuron.operand import (
    Choice,
    Dtypes,
    EventsOperand,
    HeaderOperand,
    ImmediateOperand,
    NumberOperand,
    ReservedOperand,
    TensorOperand,
)
from lanesort.neuron.part import Bytes, Piece
from lanesort.neuron.rule import (
    INFERRED,
    Book,
    Broken,
    add_channel_clause,
    add_events_clauses,
    add_header_clause,
    add_immediate_clause,
    add_opcode_clause,
    add_reserved_clause,
    add_source_clause,
    add_start_partition_clause,
    add_tensor_clauses,
    clause,
)
from lanesort.neuron.word import layout_of, part

__all__ = ["ABOUT", "AVAILABILITY", "LAYOUT", "MODES", "RULES", "Sort"]

ABOUT = "neuron.sort"
OPCODE = 0x96
RULES: Book = Book(ABOUT)
DTYPES_16 = frozenset({Dtype.FP16, Dtype.BF16, Dtype.U16, Dtype.I16})
DTYPES_32 = frozenset({Dtype.FP32, Dtype.U32, Dtype.I32})


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Sort(Instruction):
    """A Sort word; the constructor takes friendly arguments, `Sort.raw` any raw number.

    Parameters
    ----------
    src
        TENSOR1D: the N values.
    dst
        TENSOR2D of counts (2, N): column 0 the values in order, column 1 their positions.
    dtype
        ``fp16``, ``bf16``, ``u16``, ``i16`` (positions are u16) or ``fp32``, ``u32``, ``i32`` (u32); or
        the NumPy dtype of one.
    descending
        Largest first.
    stable
        Keep equal values in their order.
    index_offset
        Added to each position: a number, a `Pointer` or a `Register`.
    channels
        Partitions sorted, each on its own.
    events
        What to wait for and signal.

    Examples
    --------
    >>> from lanesort import neuron
    >>> word = neuron.Sort(src=neuron.Tensor.at(0, 0, 6), dst=neuron.Tensor.at(0, 64, (2, 6)), dtype="i32",
    ...                    index_offset=100, channels=1)
    >>> print(word)
    sort.i32.asc.stable ch=1 src=[p0+0x0, 6:1] dst=[p0+0x40, 2:1 6:2] off=100
    >>> word.validate("cayman")
    ()
    """

    header: Header = part(Piece.of(Header), Header(OPCODE), note="opcode, length, debug")
    events: Events = part(Piece.of(Events), Events(), note="wait and update")
    num_active_channels: int = part(U8, note="partitions sorted")
    index_offset_src: int = part(U8, int(ImmSource.INSTRUCTION), note="IMM_SRC")
    in_dtype: int = part(NIBBLE, note="DTYPE of src", shares="in_out_dtype")
    out_dtype: int = part(NIBBLE, note="DTYPE of dst", shares="in_out_dtype")
    comparison: int = part(U8, int(AluOp.IS_LT), note="ALU_OP: IS_LT or IS_GT")
    src: Tensor = part(tensor_part(1), note="N values")
    dst: Tensor = part(tensor_part(2), note="2 × N: values, positions")
    index_offset: int = part(U32, 0, note="added to positions")
    stable: int = part(U8, 1, note="keep the order of ties")
    reserved1: bytes = part(Bytes(23), bytes(23), note="zero")

    OPCODE: ClassVar[int] = OPCODE
    MNEMONIC: ClassVar[str] = "sort"
    ABOUT: ClassVar[str] = ABOUT
    RULES: ClassVar[Book] = RULES
    SYNTAX: ClassVar[Syntax] = Syntax(
        "sort",
        Dtypes("in_dtype", "out_dtype"),
        (
            Choice("comparison", {"asc": AluOp.IS_LT, "desc": AluOp.IS_GT}, "cmp", int(AluOp.IS_LT)),
            Choice("stable", {"stable": 1}, "stable", 0),
        ),
        (
            NumberOperand("ch", "num_active_channels"),
            TensorOperand("src", 1),
            TensorOperand("dst", 2),
            ImmediateOperand("off", "index_offset", "index_offset_src"),
            EventsOperand(),
            HeaderOperand(OPCODE),
            ReservedOperand("reserved1", 23),
        ),
    )

    def __init__(
        self,
        *,
        src: Tensor,
        dst: Tensor,
        dtype: Any = "fp32",
        descending: bool = False,
        stable: bool = True,
        index_offset: int | Pointer | Register = 0,
        channels: int = 128,
        events: Events | None = None,
    ) -> None:
        code = dtype_code(dtype)
        source, offset = immediate_fields("index_offset", index_offset, signed=False)
        fields = {
            "num_active_channels": channels,
            "index_offset_src": source,
            "in_dtype": code,
            "out_dtype": code,
            "comparison": AluOp.IS_GT if descending else AluOp.IS_LT,
            "src": padded("src", src, 1),
            "dst": padded("dst", dst, 2),
            "index_offset": offset,
            "stable": int(stable),
            "events": Events() if events is None else events,
        }
        self._hold(layout_of(Sort).check(fields))


LAYOUT = layout_of(Sort)
AVAILABILITY = availability(Sort.MNEMONIC)

fact(
    ABOUT,
    "Opcode 0x96, struct S1D2_SORT, 64 bytes on every generation.",
    "observed",
    "high",
    "seed 000 §2, §3",
)
fact(
    ABOUT,
    "The result has two columns: values in order, and original positions plus the offset, as u16 for 16-bit "
    "and u32 for 32-bit dtypes.",
    "observed",
    "high",
    "seed 000 §4.1, §5.1 (header, worked example)",
)
fact(ABOUT, "IS_LT (0x16) sorts ascending, IS_GT (0x13) descending.", "observed", "high", "seed 000 §4.2")
fact(
    ABOUT,
    "With stable = 1 equal values keep their order in both directions.",
    "observed",
    "high",
    "seed 000 §4.3",
)
fact(
    ABOUT,
    "Values × channels fit 8192 bytes of Pool working RAM in pairs: 4096 of 16 bits, 2048 of 32.",
    "observed",
    "high",
    "seed 000 §4.5",
)
fact(
    ABOUT,
    "No row of the POOL dispatch tables holds 0x96; the opcode switch of the sequencer reaches the handler, "
    "at an address that is not known.",
    "observed",
    "medium",
    "seed 000 §8",
)

unpinned(
    "sort.start-partition",
    ABOUT,
    "the quoted predicate has no start-partition clause, NonzeroWithCount's has",
    "seed 000 §4",
    {"inferred": "the rule of NonzeroWithCount; mode='literal' does not test it"},
)
unpinned(
    "sort.top-k-shape",
    ABOUT,
    "a dst with fewer rows than src has values: the header's note allows it, the predicate forbids it",
    "seed 000 §4.5",
    {"refused": "refused; mode='device' accepts it and writes the first rows"},
)
unpinned(
    "sort.zero-channels",
    ABOUT,
    "0 or more than 128 channels: no clause in the quoted predicate, the field census says 1 to 128",
    "seed 000 §3, field census",
    {"refused": "refused; mode='literal' does not test it"},
)
unpinned(
    "sort.reserved",
    ABOUT,
    "reserved bytes that are not zero: the census forbids them, the predicate does not test them",
    "seed 000 §3.1",
    {"refused": "refused; mode='literal' does not test it"},
)
unpinned(
    "sort.sunda",
    ABOUT,
    "whether NC-v2 has the instruction: present in header and firmware, absent on another page",
    "seed 000 §7",
    {"present": "sunda has it"},
)

add_header_clause(RULES)
add_events_clauses(RULES)
add_opcode_clause(RULES, "opcode_is_sort", OPCODE)


@clause(RULES)
def input_dtype_is_sortable(word: Sort, g: Generation) -> Broken | None:
    """Require an input type of fp16, bf16, u16, i16, fp32, u32 or i32."""
    if word.in_dtype in DTYPES_16 | DTYPES_32:
        return None
    accepted = ", ".join(d.name.lower() for d in sorted(DTYPES_16 | DTYPES_32))
    text = f"in_dtype is {word.in_dtype} ({Dtype(word.in_dtype).name.lower()}); sortable are {accepted}"
    return "in_dtype", word.in_dtype, accepted, text


@clause(RULES)
def output_dtype_equals_input_dtype(word: Sort, g: Generation) -> Broken | None:
    """Require the output type to be the input type: Sort does not convert."""
    if word.out_dtype == word.in_dtype:
        return None
    text = f"out_dtype is {word.out_dtype} and in_dtype {word.in_dtype}; Sort does not convert"
    return "out_dtype", word.out_dtype, word.in_dtype, text


add_source_clause(RULES, "index_offset_src")


@clause(RULES)
def comparison_is_less_or_greater(word: Sort, g: Generation) -> Broken | None:
    """Require IS_LT (ascending) or IS_GT (descending), not an INT or UINT variant."""
    if word.comparison in (AluOp.IS_LT, AluOp.IS_GT):
        return None
    text = f"comparison is {word.comparison:#04x}; Sort takes IS_LT (0x16) or IS_GT (0x13)"
    return "comparison", word.comparison, (0x16, 0x13), text


@clause(RULES)
def stable_is_zero_or_one(word: Sort, g: Generation) -> Broken | None:
    """Require a stable flag of 0 or 1."""
    if word.stable in (0, 1):
        return None
    return "stable", word.stable, (0, 1), f"stable is {word.stable}; it is 0 or 1"


add_tensor_clauses(RULES, "src", lambda w: int(w.in_dtype))
add_tensor_clauses(RULES, "dst", lambda w: int(w.out_dtype))


@clause(RULES, modes=("strict", "literal"), unpinned="sort.top-k-shape")
def dst_has_a_row_for_every_value(word: Sort, g: Generation) -> Broken | None:
    """Require dst.counts[1] to equal src.counts[0]."""
    values, rows = word.src.counts[0], word.dst.counts[1]
    if rows == values:
        return None
    text = (
        f"dst has {rows} rows and src {values} values; a shorter dst needs mode='device' (sort.top-k-shape)"
    )
    return "dst.counts[1]", rows, values, text


@clause(RULES, modes=("device",))
def dst_has_no_more_rows_than_values(word: Sort, g: Generation) -> Broken | None:
    """Require dst.counts[1] to be at most src.counts[0]."""
    values, rows = word.src.counts[0], word.dst.counts[1]
    if rows <= values:
        return None
    text = f"dst has {rows} rows and src only {values} values"
    return "dst.counts[1]", rows, values, text


@clause(RULES)
def dst_has_two_columns(word: Sort, g: Generation) -> Broken | None:
    """Require dst.counts[0] to be 2: value and position."""
    columns = word.dst.counts[0]
    if columns == 2:
        return None
    text = f"dst has {columns} columns; it needs 2, value and position"
    return "dst.counts[0]", columns, 2, text


@clause(RULES)
def values_fit_pool_ram(word: Sort, g: Generation) -> Broken | None:
    """Require values × channels of at most 4096 of 16 bits or 2048 of 32 bits."""
    if word.in_dtype not in DTYPES_16 | DTYPES_32:
        return None
    limit = g.sort_ram_bytes // Dtype(word.in_dtype).bytes
    total = word.src.counts[0] * word.num_active_channels
    if total <= limit:
        return None
    text = (
        f"{word.src.counts[0]} values × {word.num_active_channels} channels are {total}; "
        f"Pool RAM holds {limit}: sort pieces with index_offset and merge them on the host"
    )
    return "src.counts[0]", total, limit, text


add_reserved_clause(RULES, "reserved1", INFERRED, "sort.reserved")
add_channel_clause(RULES, INFERRED, "sort.zero-channels")
add_start_partition_clause(RULES, "src", INFERRED, "sort.start-partition")
add_start_partition_clause(RULES, "dst", INFERRED, "sort.start-partition")
add_immediate_clause(RULES, "index_offset", "index_offset_src", INFERRED, "imm.pointer")


@clause(RULES, modes=INFERRED)
def generation_has_sort(word: Sort, g: Generation) -> Broken | None:
    """Require a generation that has the instruction."""
    if "sort" in g.instructions:
        return None
    return "generation", g.name, "sunda or newer", f"{g.name} (NC-v{g.version}) has no Sort"
