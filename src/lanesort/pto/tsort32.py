"""TSORT32: sort every block of 32 values of a row, with the indices that travel with them.

Each row of src is cut into blocks of 32; each block is sorted with the largest value first
and written to dst as pairs of value and index, block b from column coef·32·b on (coef is 2
for 32-bit values, 4 for 16-bit ones). With three operands the row must be whole blocks;
with a fourth, tmp, the last block is completed with a pad that sorts last.

The sort itself stands in `lanesort.pto.sorting`.

Source: PTO specification, TSORT32; seed 002. Targets: all of `lanesort.pto.target`; the
Kirin cores sort half only. Unpinned: the order of equal values, where NaN goes, the bits
of the pad, and the gap of 16 bits in a pair of half.
"""

from __future__ import annotations

from lanesort.errors import Violation
from lanesort.evidence import fact, unpinned
from lanesort.pto import rule as shared
from lanesort.pto.operand import Sort32Operands, round_up
from lanesort.pto.target import Target, availability
from lanesort.pto.tile import PAIR_BYTES
from lanesort.rule import RuleBook

__all__ = ["ABOUT", "AVAILABILITY", "BLOCK", "RULES", "lanes_of", "pair_width"]

ABOUT = "pto.tsort32"
AVAILABILITY = availability(lambda target: target.sort_dtypes)
BLOCK = 32
INDEX_DTYPES = ("uint32", "int32")

fact(
    ABOUT,
    "Every block of 32 is sorted on its own, largest value first, and the pairs of block b start at "
    "element coef·32·b of dst; coef is 2 for float and 4 for half.",
    "documented",
    "high",
    "seed 002, semantics and tile sizes",
)
fact(
    ABOUT,
    "idx is an input that is permuted along with the values; one row of it serves all rows.",
    "documented",
    "high",
    "seed 002, semantics and idx broadcast",
)
fact(
    ABOUT,
    "With three operands the columns are a multiple of 32: the hardware drops a tail without a word.",
    "documented",
    "high",
    "seed 002, constraints (validCol % 32 = 0); PTO specification",
)
fact(
    ABOUT,
    "With four operands tmp holds the row completed to 32 (path A) or the tail block alone (path B); where "
    "the columns are whole blocks it is not used.",
    "documented",
    "high",
    "seed 002, tail handling",
)
fact(
    ABOUT,
    "All 32 lanes of a tail block are read from idx and written to dst, so their physical columns must reach "
    "that far.",
    "inferred",
    "high",
    "pto-isa, A5 implementation of TSORT32: the tail is one more vbitsort",
)
fact(
    ABOUT,
    "On A5 the form with four operands takes each row length, rounded up to 32 bytes, as the row's stride.",
    "documented",
    "high",
    "seed 002, A5 implementation",
)
fact(
    ABOUT,
    "On A2/A3 a row costs about 6 + 2·repeat cycles (published cost model, not calibrated).",
    "documented",
    "low",
    "pto-isa, cost model of TSORT32",
)
unpinned(
    "pto.tie-order",
    ABOUT,
    "Order of equal values within a block.",
    "AscendC documentation of Sort32 and the golden data of the PTO assembler: by position; seed 002 and the "
    "CPU simulator: by index value",
    {
        "positional": "the lower position in the block first",
        "index-value": "the smaller index first",
    },
)
unpinned(
    "pto.pad-bits",
    ABOUT,
    "Bits of the value that completes a tail block.",
    "seed 002: -(0.0/0.0), said to equal lowest(), which it does not",
    {
        "negative-nan": "what compilers make of -(0.0/0.0): 0xFFC00000, half 0xFE00",
        "-inf": "negative infinity",
        "lowest": "the lowest finite value",
    },
)
RULES: RuleBook[Sort32Operands, Target] = RuleBook(ABOUT)
"""Validity rules of TSORT32."""


def pair_width(operands: Sort32Operands) -> int:
    """Return the tile elements of a pair: 2 for values of 32 bits, 4 for those of 16."""
    return max(PAIR_BYTES // max(operands.src.dtype.itemsize, 1), 1)


def lanes_of(operands: Sort32Operands, target: Target) -> int:
    """Return the columns that the sorter touches in a row: whole blocks on hardware."""
    columns = operands.src.valid_columns
    return columns if target.simulated else round_up(columns, BLOCK)


@RULES.rule()
def src_dtype_can_be_sorted(operands: Sort32Operands, target: Target) -> Violation | None:
    """`src` holds float or half (under cpu also int32, int16 and bfloat16)."""
    name = operands.src.dtype.name
    if name in target.sort_dtypes:
        return None
    accepted = ", ".join(target.sort_dtypes)
    text = f"src is {name}; {target.name} sorts {accepted}; convert it, for example with astype"
    return Violation("src_dtype_can_be_sorted", "src", name, target.sort_dtypes, text)


@RULES.rule()
def dst_and_tmp_have_dtype_of_src(operands: Sort32Operands, target: Target) -> Violation | None:
    """`dst` and tmp have the dtype of src."""
    return shared.any_tile(
        "dst_and_tmp_have_dtype_of_src",
        (tile for tile in (operands.dst, operands.tmp) if tile is not None),
        operands.src.dtype.name,
        lambda tile: tile.dtype.name,
        lambda tile: tile.dtype == operands.src.dtype,
        f"src is {operands.src.dtype.name}",
    )


@RULES.rule()
def idx_dtype_is_u32(operands: Sort32Operands, target: Target) -> Violation | None:
    """`idx` holds 32-bit integers."""
    name = operands.idx.dtype.name
    if name in INDEX_DTYPES:
        return None
    text = f"idx is {name}; the sorter moves indices of 32 bits: use uint32"
    return Violation("idx_dtype_is_u32", "idx", name, INDEX_DTYPES, text)


for _check in (shared.tiles_are_vec, shared.tiles_are_row_major, shared.tiles_are_none_box):
    RULES.rule()(_check)
for _check in (shared.valid_parts_lie_in_tiles, shared.addresses_are_aligned, shared.tiles_lie_in_ub):
    RULES.rule()(_check)


@RULES.rule()
def src_is_not_empty(operands: Sort32Operands, target: Target) -> Violation | None:
    """`src` has at least one row and one column."""
    rows, columns = operands.src.valid_rows, operands.src.valid_columns
    if rows >= 1 and columns >= 1:
        return None
    text = f"src has {rows} rows of {columns} columns; a call sorts 1 to 255 blocks, not none"
    return Violation("src_is_not_empty", "src", (rows, columns), ">= 1 x 1", text)


@RULES.rule()
def columns_are_whole_blocks(operands: Sort32Operands, target: Target) -> Violation | None:
    """Without tmp the columns are a multiple of 32."""
    columns = operands.src.valid_columns
    tail = columns % BLOCK
    if operands.tmp is not None or target.simulated or not tail:
        return None
    text = (
        f"src has {columns} columns, {tail} more than whole blocks of 32; with three operands the hardware "
        f"drops them: give tmp, or {round_up(columns, BLOCK)} columns"
    )
    return Violation("columns_are_whole_blocks", "src", columns, "multiple of 32", text)


@RULES.rule()
def idx_has_one_row_or_those_of_src(operands: Sort32Operands, target: Target) -> Violation | None:
    """`idx` has one row for all, or as many as src."""
    rows, wanted = operands.idx.valid_rows, operands.src.valid_rows
    if rows in (1, wanted):
        return None
    text = f"idx has {rows} rows, src has {wanted}; give one row for all or {wanted}"
    return Violation("idx_has_one_row_or_those_of_src", "idx", rows, (1, wanted), text)


@RULES.rule()
def idx_covers_src(operands: Sort32Operands, target: Target) -> Violation | None:
    """`idx` has a valid index for each column of src."""
    columns, wanted = operands.idx.valid_columns, operands.src.valid_columns
    if columns >= wanted:
        return None
    text = f"idx has {columns} valid columns, src has {wanted}; every value needs an index"
    return Violation("idx_covers_src", "idx", columns, wanted, text)


@RULES.rule()
def idx_reaches_every_lane(operands: Sort32Operands, target: Target) -> Violation | None:
    """`idx` has a physical column for each lane that is read."""
    columns, wanted = operands.idx.columns, lanes_of(operands, target)
    if columns >= wanted:
        return None
    text = (
        f"idx has {columns} physical columns; the tail block of {operands.src.valid_columns} columns reads "
        f"{wanted} of them: make the tile that wide"
    )
    return Violation("idx_reaches_every_lane", "idx", columns, wanted, text)


@RULES.rule()
def dst_reaches_every_lane(operands: Sort32Operands, target: Target) -> Violation | None:
    """`dst` has physical columns for the pair of each lane that is written."""
    width = pair_width(operands)
    columns, wanted = operands.dst.columns, width * lanes_of(operands, target)
    if columns >= wanted:
        return None
    text = (
        f"dst has {columns} physical columns; {wanted // width} pairs of {width} columns are written, "
        f"{wanted} in all: make the tile that wide"
    )
    return Violation("dst_reaches_every_lane", "dst", columns, wanted, text)


@RULES.rule()
def dst_has_rows_of_src(operands: Sort32Operands, target: Target) -> Violation | None:
    """`dst` has a row for each of src."""
    rows, wanted = operands.dst.valid_rows, operands.src.valid_rows
    if rows >= wanted:
        return None
    return Violation("dst_has_rows_of_src", "dst", rows, wanted, f"dst has {rows} rows, src has {wanted}")


@RULES.rule()
def tmp_holds_the_tail(operands: Sort32Operands, target: Target) -> Violation | None:
    """`tmp` has the columns that the tail needs."""
    if operands.tmp is None:
        return None
    columns = operands.src.valid_columns
    wanted = target.tmp_columns(columns, operands.src.dtype.itemsize)
    if not wanted or (operands.tmp.columns >= wanted and operands.tmp.rows >= 1):
        return None
    path = "the whole row" if wanted > BLOCK or columns < BLOCK else "its last block"
    text = (
        f"tmp has {operands.tmp.columns} columns; {target.name} copies {path} of {columns} columns into it, "
        f"which takes {wanted} ({wanted * operands.src.dtype.itemsize} bytes)"
    )
    return Violation("tmp_holds_the_tail", "tmp", operands.tmp.columns, wanted, text)


@RULES.rule()
def row_strides_are_whole_units(operands: Sort32Operands, target: Target) -> Violation | None:
    """With tmp, on targets that round row strides up, rows are multiples of 32 bytes apart."""
    if operands.tmp is None or not target.rounds_row_strides:
        return None
    several = (tile for tile in (operands.dst, operands.src, operands.idx) if tile.valid_rows > 1)
    return shared.any_tile(
        "row_strides_are_whole_units",
        several,
        "multiple of 32",
        lambda tile: f"{tile.step_bytes} bytes from row to row",
        lambda tile: tile.step_bytes % 32 == 0,
        f"{target.name} rounds the stride up to 32 bytes and would miss the second row: widen the tile",
    )


@RULES.rule()
def dst_overlaps_no_operand(operands: Sort32Operands, target: Target) -> Violation | None:
    """`dst` shares no byte with src, idx or tmp."""
    return shared.any_tile(
        "dst_overlaps_no_operand",
        operands.tiles[1:],
        "no shared byte",
        lambda tile: f"at 0x{tile.address_bytes or 0:x}",
        lambda tile: not operands.dst.overlaps(tile),
        f"dst at 0x{operands.dst.address_bytes or 0:x} overlaps it: pairs are written before all is read",
    )
