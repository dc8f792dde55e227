"""TMRGSORT: merge sorted lists of pairs into one, the largest value first.

With one source, consecutive blocks of `block_len` elements, each group of four blocks is
merged on its own. With two to four sources these are merged into tmp, from where dst takes
as many pairs as it has room for. With `exhausted` a merge of lists stops as soon as one of
them has given its last pair, and the pairs taken from each are reported (VMS4_SR).

The merge itself stands in `lanesort.pto.merging`.

Source: PTO specification, TMRGSORT; seed 004. Targets: all of `lanesort.pto.target`; the
Kirin cores merge half only. Unpinned: equal values under `exhausted`, where NaN goes,
executed counts that nobody asked for, an empty list under `exhausted`, and what stands
behind the last pair of a stopped merge.
"""

from __future__ import annotations

from lanesort.errors import Violation, counted
from lanesort.evidence import fact, unpinned
from lanesort.pto import rule as shared
from lanesort.pto.operand import BLOCK_BYTES, MergeOperands, TileOperand, round_up
from lanesort.pto.target import Target, availability
from lanesort.pto.tile import PAIR_BYTES
from lanesort.rule import RuleBook

__all__ = ["ABOUT", "AVAILABILITY", "BLOCK_UNIT", "LISTS", "RULES", "WAYS", "pairs_in", "violations"]

ABOUT = "pto.tmrgsort"
AVAILABILITY = availability(lambda target: target.merge_dtypes)
BLOCK_UNIT = 64
"""Blocks of a single source are multiples of this many elements."""
WAYS = 4
LISTS = range(2, WAYS + 1)

fact(
    ABOUT,
    "Up to four sorted lists of 8-byte pairs are merged by value, largest first.",
    "documented",
    "high",
    "seed 004, introduction and data format",
)
fact(
    ABOUT,
    "With one source each group of four consecutive blocks is merged on its own: block_len is a multiple of "
    "64, columns a multiple of 4·block_len, and there are 1 to 255 groups.",
    "documented",
    "high",
    "seed 004, single-list constraints",
)
fact(
    ABOUT,
    "Lists are merged into tmp and copied to dst; tmp has at least as many columns as all sources together.",
    "documented",
    "high",
    "seed 004, temporary space",
)
fact(
    ABOUT,
    "A dst shorter than all sources together takes the best pairs. On hardware the merge into tmp is whole "
    "and executed counts all of it; the simulator stops where dst is full.",
    "observed",
    "high",
    "pto-isa, A2/A3 implementation of TMRGSORT; golden data of the CPU simulator",
)
fact(
    ABOUT,
    "The hardware does not check that its inputs are sorted.",
    "documented",
    "medium",
    "PTO specification, TMRGSORT",
)
fact(
    ABOUT,
    "On A2/A3 a float merge of blocks of 64 costs about 20 + 78·repeat cycles (published, not calibrated).",
    "documented",
    "low",
    "pto-isa, cost model of TMRGSORT",
)
unpinned(
    "pto.merge-tie",
    ABOUT,
    "Which of two lists gives its pair first where both offer the same value.",
    "PTO specification, AscendC documentation, CPU simulator: the lower list; a measured report on "
    "vllm-ascend: the later source, when a merge stops at an exhausted list",
    {
        "lower-first": "the lower list first",
        "later-when-exhausted": "the later list first under exhausted, else the lower",
    },
)
unpinned(
    "pto.executed-unasked",
    ABOUT,
    "Whether executed is written by a merge that does not stop early.",
    "A2/A3 source: only when exhausted; CPU simulator: always",
    {"untouched": "left as it was passed", "taken": "the pairs taken from each list"},
)
unpinned(
    "pto.exhausted-empty",
    ABOUT,
    "What a merge that stops at an exhausted list does with one that is empty from the start.",
    "the CPU simulator checks after it has emitted a pair; no document says",
    {"stop-first": "stops before any pair", "cpu-sim": "stops behind the first pair"},
)
unpinned(
    "pto.exhausted-tail",
    ABOUT,
    "What dst holds behind the last pair of a merge that stopped early.",
    "A2/A3 source: dst is copied from tmp, which still holds what it held before",
    {"stale": "what tmp held"},
)

RULES: RuleBook[MergeOperands, Target] = RuleBook(ABOUT)
"""Validity rules of TMRGSORT; mode ``single`` tests those of one source, ``lists`` those of several."""


def violations(operands: MergeOperands, target: Target) -> tuple[Violation, ...]:
    """Return all broken rules of the variant that the operands belong to."""
    return RULES.validate(operands, target, "single" if operands.single else "lists")


def pairs_in(tile: TileOperand) -> int:
    """Return how many whole pairs the valid part of a tile has."""
    return tile.valid_columns * tile.dtype.itemsize // PAIR_BYTES


@RULES.rule()
def dtype_can_be_merged(operands: MergeOperands, target: Target) -> Violation | None:
    """All tiles hold float or half."""
    return shared.any_tile(
        "dtype_can_be_merged",
        operands.tiles,
        target.merge_dtypes,
        lambda tile: tile.dtype.name,
        lambda tile: tile.dtype.name in target.merge_dtypes,
        f"{target.name} merges pairs of {', '.join(target.merge_dtypes)}",
    )


@RULES.rule()
def tiles_have_one_dtype(operands: MergeOperands, target: Target) -> Violation | None:
    """All tiles have one dtype."""
    name = operands.sources[0].dtype.name if operands.sources else operands.dst.dtype.name
    return shared.any_tile(
        "tiles_have_one_dtype",
        operands.tiles,
        name,
        lambda tile: tile.dtype.name,
        lambda tile: tile.dtype.name == name,
        f"the first source is {name}",
    )


for _check in (shared.tiles_are_vec, shared.tiles_are_row_major, shared.tiles_are_none_box):
    RULES.rule()(_check)
for _check in (shared.valid_parts_lie_in_tiles, shared.addresses_are_aligned, shared.tiles_lie_in_ub):
    RULES.rule()(_check)


@RULES.rule()
def tiles_have_one_row(operands: MergeOperands, target: Target) -> Violation | None:
    """All tiles have one row."""
    return shared.any_tile(
        "tiles_have_one_row",
        operands.tiles,
        1,
        lambda tile: tile.rows,
        lambda tile: tile.rows == 1,
        "a merge works on one row: take a window of one row",
    )


@RULES.rule(modes=("single",))
def block_len_is_multiple_of_64(operands: MergeOperands, target: Target) -> Violation | None:
    """`block_len` is a positive multiple of 64."""
    length = operands.block_len or 0
    if length > 0 and length % BLOCK_UNIT == 0:
        return None
    text = f"block_len is {length}; blocks are 64, 128, … tile elements long (elements, not pairs)"
    return Violation("block_len_is_multiple_of_64", "block_len", length, "multiple of 64", text)


@RULES.rule(modes=("single",))
def columns_are_whole_groups(operands: MergeOperands, target: Target) -> Violation | None:
    """`src` has a multiple of four blocks."""
    length, columns = operands.block_len or 0, operands.sources[0].valid_columns
    if length <= 0 or (columns > 0 and columns % (WAYS * length) == 0):
        return None
    text = (
        f"src has {columns} columns; four blocks of {length} take {WAYS * length}, and only whole groups are "
        "merged: use a smaller block_len, or merge the rest as lists"
    )
    return Violation("columns_are_whole_groups", "src", columns, f"multiple of {WAYS * length}", text)


@RULES.rule(modes=("single",))
def groups_fit_one_call(operands: MergeOperands, target: Target) -> Violation | None:
    """There are at most 255 groups of four blocks."""
    length, columns = operands.block_len or 0, operands.sources[0].valid_columns
    groups, limit = columns // (WAYS * length) if length > 0 else 0, target.repeat_limit
    if limit is None or groups <= limit:
        return None
    text = f"{columns} columns are {groups} groups of four blocks of {length}; one call merges {limit}"
    return Violation("groups_fit_one_call", "src", groups, limit, text)


@RULES.rule(modes=("single",))
def src_and_dst_have_equal_columns(operands: MergeOperands, target: Target) -> Violation | None:
    """`src` and dst have the same valid columns."""
    columns, wanted = operands.dst.valid_columns, operands.sources[0].valid_columns
    if columns == wanted:
        return None
    text = f"dst has {columns} valid columns, src has {wanted}; as many pairs come out as go in"
    return Violation("src_and_dst_have_equal_columns", "dst", columns, wanted, text)


@RULES.rule(modes=("single",))
def dst_does_not_overlap_src(operands: MergeOperands, target: Target) -> Violation | None:
    """`dst` shares no byte with src."""
    return shared.any_tile(
        "dst_does_not_overlap_src",
        operands.sources,
        "no shared byte",
        lambda tile: f"at 0x{tile.address_bytes or 0:x}",
        lambda tile: not operands.dst.overlaps(tile),
        f"dst at 0x{operands.dst.address_bytes or 0:x} overlaps it: merge from one buffer into another",
    )


@RULES.rule(modes=("lists",))
def sources_are_two_to_four(operands: MergeOperands, target: Target) -> Violation | None:
    """There are two to four lists."""
    count = len(operands.sources)
    if count in LISTS:
        return None
    text = f"{counted(count, 'list')}; the sorter has four ways and needs two"
    return Violation("sources_are_two_to_four", "sources", count, "2 … 4", text)


@RULES.rule(modes=("lists",))
def tmp_holds_all_sources(operands: MergeOperands, target: Target) -> Violation | None:
    """`tmp` has at least as many columns as all sources together."""
    wanted = sum(tile.columns for tile in operands.sources)
    if operands.tmp is None or target.simulated or operands.tmp.columns >= wanted:
        return None
    each = " + ".join(str(tile.columns) for tile in operands.sources)
    text = f"tmp has {operands.tmp.columns} columns; all lists pass through it: {each} = {wanted}"
    return Violation("tmp_holds_all_sources", "tmp", operands.tmp.columns, wanted, text)


@RULES.rule(modes=("lists",))
def dst_holds_whole_copies(operands: MergeOperands, target: Target) -> Violation | None:
    """`dst` has room for the copy from tmp, which is rounded up to 32 bytes."""
    tile = operands.dst
    wanted = round_up(tile.valid_columns * tile.dtype.itemsize, BLOCK_BYTES)
    if target.simulated or tile.row_bytes >= wanted:
        return None
    text = f"dst has {tile.row_bytes} bytes; the copy of its {tile.valid_columns} columns writes {wanted}"
    return Violation("dst_holds_whole_copies", "dst", tile.row_bytes, wanted, text)


@RULES.rule(modes=("lists",))
def tmp_overlaps_no_operand(operands: MergeOperands, target: Target) -> Violation | None:
    """`tmp` shares no byte with dst or a source; dst may be one of the sources."""
    tmp = operands.tmp
    if tmp is None or target.simulated:
        return None
    return shared.any_tile(
        "tmp_overlaps_no_operand",
        (operands.dst, *operands.sources),
        "no shared byte",
        lambda tile: f"at 0x{tile.address_bytes or 0:x}",
        lambda tile: not tmp.overlaps(tile),
        f"tmp at 0x{tmp.address_bytes or 0:x} overlaps it: the merge would read what it has written",
    )


@RULES.rule()
def lists_fit_the_length_field(operands: MergeOperands, target: Target) -> Violation | None:
    """No list has more pairs than the hardware counts."""
    limit = target.list_pairs_limit
    if limit is None:
        return None
    width = PAIR_BYTES // max(operands.dst.dtype.itemsize, 1)
    blocks = operands.block_len // max(width, 1) if operands.block_len is not None else None
    return shared.any_tile(
        "lists_fit_the_length_field",
        operands.sources,
        limit,
        lambda tile: f"{pairs_in(tile) if blocks is None else blocks} pairs a list",
        lambda tile: (pairs_in(tile) if blocks is None else blocks) <= limit,
        f"{target.name} merges lists of up to {limit} pairs",
    )


def _beyond_ub(rule: str, tiles: tuple[TileOperand, ...], allowed: int | None) -> Violation | None:
    total = sum(tile.row_bytes for tile in tiles)
    if allowed is None or total <= allowed or any(tile.address_bytes is None for tile in tiles):
        return None
    listed = " + ".join(f"{tile.role} {tile.row_bytes}" for tile in tiles)
    text = f"{listed} = {total} bytes together; at most {allowed} are allowed"
    return Violation(rule, tiles[0].role, total, allowed, text)


@RULES.rule()
def sources_and_target_fit_ub(operands: MergeOperands, target: Target) -> Violation | None:
    """All sources and tmp (with one source: src and dst) together are smaller than UB."""
    last = operands.dst if operands.single else operands.tmp
    allowed = None if target.ub_bytes is None else target.ub_bytes - 1
    tiles = operands.sources if last is None else (*operands.sources, last)
    return _beyond_ub("sources_and_target_fit_ub", tiles, allowed)


@RULES.rule(modes=("lists",))
def first_source_and_tmp_fit_ub(operands: MergeOperands, target: Target) -> Violation | None:
    """Of two lists the first fits the unified buffer together with tmp."""
    if operands.tmp is None or len(operands.sources) != LISTS[0]:
        return None
    tiles = (operands.sources[0], operands.tmp)
    return _beyond_ub("first_source_and_tmp_fit_ub", tiles, target.ub_bytes)
