"""NonzeroWithCount (0xF2): write the positions of the nonzeros of a partition, and how many there are.

Sources: seed 003, a reading of the shipped ISA headers and firmware, and the NKI documentation,
which wins where both speak. Generations: cayman and newer. Unpinned: which partitions take part
(documented: every sixteenth) and whether a NaN counts (documented: it does).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from lanesort.evidence import fact, unpinned
from lanesort.neuron.assembly import Syntax
from lanesort.neuron.descriptor import I32, U8, Events, Header, Tensor, padded, tensor_part
from lanesort.neuron.dtype import Dtype, dtype_code, known
from lanesort.neuron.generation import Generation, availability
from lanesort.neuron.immediate import ImmSource, Pointer, Register, immediate_fields
from lanesort.neuron.instruction import MODES, Instruction
from lanesort.neuron.operand import (
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

__all__ = ["ABOUT", "AVAILABILITY", "LAYOUT", "MODES", "RULES", "NonzeroWithCount"]

ABOUT = "neuron.nonzero_with_count"
OPCODE = 0xF2
RULES: Book = Book(ABOUT)
FIRST_VERSION = 3


@dataclass(frozen=True, slots=True, init=False, repr=False)
class NonzeroWithCount(Instruction):
    """A NonzeroWithCount word; the constructor takes friendly arguments, `raw` any raw number.

    Parameters
    ----------
    src
        TENSOR3D: what is scanned, dimension 2 outermost.
    dst
        TENSOR3D with one element more: positions, padding, and last the count.
    in_dtype
        ``fp32`` or ``i32``; dst is always ``i32``.
    index_offset
        Added to each position: a number, a `Pointer` or a `Register`.
    padding_val
        Fills what the positions leave over: a number, a `Pointer` or a `Register`.
    channels
        Active partitions.
    events
        What to wait for and signal.

    Examples
    --------
    >>> from lanesort import neuron
    >>> word = neuron.NonzeroWithCount(src=neuron.Tensor.at(0, 0, 8), dst=neuron.Tensor.at(0, 64, 9),
    ...                                index_offset=16)
    >>> print(word)
    nonzero.fp32 ch=128 src=[p0+0x0, 8:1] dst=[p0+0x40, 9:1] off=16 pad=-1
    >>> [v.rule for v in word.validate("sunda")]
    ['core_version_is_3_or_newer']
    """

    header: Header = part(Piece.of(Header), Header(OPCODE), note="opcode, length, debug")
    events: Events = part(Piece.of(Events), Events(), note="wait and update")
    num_active_channels: int = part(U8, note="active partitions")
    in_dtype: int = part(U8, note="DTYPE of src, a whole byte")
    out_dtype: int = part(U8, int(Dtype.I32), note="DTYPE of dst, a whole byte")
    index_offset_src: int = part(U8, int(ImmSource.INSTRUCTION), note="IMM_SRC")
    src: Tensor = part(tensor_part(3), note="what is scanned")
    index_offset: int = part(I32, 0, note="added to positions")
    padding_val_src: int = part(U8, int(ImmSource.INSTRUCTION), note="IMM_SRC")
    reserved0: bytes = part(Bytes(3), bytes(3), note="zero")
    padding_val: int = part(I32, -1, note="fills unused slots")
    dst: Tensor = part(tensor_part(3), note="positions, padding, count")
    reserved1: bytes = part(Bytes(4), bytes(4), note="zero")

    OPCODE: ClassVar[int] = OPCODE
    MNEMONIC: ClassVar[str] = "nonzero"
    ABOUT: ClassVar[str] = ABOUT
    RULES: ClassVar[Book] = RULES
    SYNTAX: ClassVar[Syntax] = Syntax(
        "nonzero",
        Dtypes("in_dtype", "out_dtype", Dtype.I32),
        (),
        (
            NumberOperand("ch", "num_active_channels"),
            TensorOperand("src", 3),
            TensorOperand("dst", 3),
            ImmediateOperand("off", "index_offset", "index_offset_src", signed=True),
            ImmediateOperand("pad", "padding_val", "padding_val_src", signed=True),
            EventsOperand(),
            HeaderOperand(OPCODE),
            ReservedOperand("reserved0", 3),
            ReservedOperand("reserved1", 4),
        ),
    )

    def __init__(
        self,
        *,
        src: Tensor,
        dst: Tensor,
        in_dtype: Any = "fp32",
        index_offset: int | Pointer | Register = 0,
        padding_val: int | Pointer | Register = -1,
        channels: int = 128,
        events: Events | None = None,
    ) -> None:
        offset_source, offset = immediate_fields("index_offset", index_offset, signed=True)
        padding_source, padding = immediate_fields("padding_val", padding_val, signed=True)
        fields = {
            "num_active_channels": channels,
            "in_dtype": dtype_code(in_dtype),
            "index_offset_src": offset_source,
            "index_offset": offset,
            "padding_val_src": padding_source,
            "padding_val": padding,
            "src": padded("src", src, 3),
            "dst": padded("dst", dst, 3),
            "events": Events() if events is None else events,
        }
        self._hold(layout_of(NonzeroWithCount).check(fields))


LAYOUT = layout_of(NonzeroWithCount)
AVAILABILITY = availability("nonzero_with_count")

fact(
    ABOUT,
    "Opcode 0xF2, struct S3D3_NONZERO_WITH_COUNT, 64 bytes; 0xF2 is neither GetSequenceBounds (0xBE) nor "
    "TensorDequantize (0x7B).",
    "observed",
    "high",
    "seed 003 §2, §3",
)
fact(
    ABOUT,
    "Input and output type are whole bytes, not a nibble pair as in Sort.",
    "observed",
    "high",
    "seed 003 §3.1",
)
fact(
    ABOUT,
    "The input is fp32 or i32 and the output i32; dst has one element more than src.",
    "observed",
    "high",
    "seed 003 §5 (header)",
)
fact(ABOUT, "NC-v3 and newer have the instruction.", "observed", "high", "seed 003 §8")

unpinned(
    "nonzero.partitions",
    ABOUT,
    "the seed has every active channel scan its own row; the documentation says partitions 0, 16, … 112 "
    "are read and written and others are untouched",
    "seed 003 §3.1; NKI documentation of nonzero_with_count",
    {"every-16th": "start, start + 16, … as documented", "all": "every active partition"},
)
unpinned(
    "nonzero.nan",
    ABOUT,
    "whether NaN counts: the seed infers an ordered compare, the documentation compares != 0, the observed "
    "opcode may compare bits",
    "seed 003 §4.2; NKI documentation",
    {
        "counted": "NaN counts, -0.0 does not",
        "ordered": "neither counts",
        "bits": "both count",
    },
)

add_header_clause(RULES)
add_events_clauses(RULES)
add_opcode_clause(RULES, "opcode_is_nonzero_with_count", OPCODE)


@clause(RULES)
def core_version_is_3_or_newer(word: NonzeroWithCount, g: Generation) -> Broken | None:
    """Require NC-v3 or newer."""
    if g.version >= FIRST_VERSION:
        return None
    text = f"{g.name} is NC-v{g.version}; NonzeroWithCount needs NC-v{FIRST_VERSION}"
    return "generation", g.version, FIRST_VERSION, text


add_channel_clause(RULES)
add_reserved_clause(RULES, "reserved0")
add_reserved_clause(RULES, "reserved1")
add_source_clause(RULES, "index_offset_src")
add_immediate_clause(RULES, "index_offset", "index_offset_src", unpinned="imm.pointer")
add_source_clause(RULES, "padding_val_src")
add_immediate_clause(RULES, "padding_val", "padding_val_src", unpinned="imm.pointer")


@clause(RULES)
def input_dtype_is_valid(word: NonzeroWithCount, g: Generation) -> Broken | None:
    """Require a known input type other than fp32r."""
    if known(word.in_dtype) not in (None, Dtype.FP32R):
        return None
    text = f"in_dtype is {word.in_dtype:#04x}, which is no type or fp32r"
    return "in_dtype", word.in_dtype, "1 to 15 without 11", text


@clause(RULES)
def output_dtype_is_valid(word: NonzeroWithCount, g: Generation) -> Broken | None:
    """Require a known output type."""
    if known(word.out_dtype) is not None:
        return None
    text = f"out_dtype is {word.out_dtype:#04x}, which is no type"
    return "out_dtype", word.out_dtype, "1 to 15", text


@clause(RULES)
def dtypes_are_supported(word: NonzeroWithCount, g: Generation) -> Broken | None:
    """Require fp32 or i32 in, i32 out."""
    if word.in_dtype in (Dtype.FP32, Dtype.I32) and word.out_dtype == Dtype.I32:
        return None
    found = (word.in_dtype, word.out_dtype)
    text = f"in_dtype is {found[0]} and out_dtype {found[1]}; supported are fp32 (10) or i32 (8) to i32 (8)"
    return "in_dtype, out_dtype", found, ((10, 8), (8, 8)), text


add_start_partition_clause(RULES, "src")
add_start_partition_clause(RULES, "dst")
add_tensor_clauses(RULES, "src", lambda w: int(w.in_dtype))
add_tensor_clauses(RULES, "dst", lambda w: int(w.out_dtype))


@clause(RULES)
def dst_has_one_element_more_than_src(word: NonzeroWithCount, g: Generation) -> Broken | None:
    """Require dst to have the elements of src and one more, for the count."""
    given, room = word.src.elements, word.dst.elements
    if given + 1 == room:
        return None
    text = f"src has {given} elements and dst {room}; dst needs {given + 1}, the last for the count"
    return "dst.counts", room, given + 1, text
