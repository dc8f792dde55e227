"""Each validity rule of the PTO instructions with one witness that it accepts and one that it rejects."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from lanesort.errors import RuleViolations
from lanesort.pto import (
    TARGETS,
    Merge,
    MergeOperands,
    Sort32,
    Sort32Operands,
    TileOperand,
    VBitSort,
    VMrgSort4,
    merge_operands,
    sort32_operands,
)
from lanesort.pto.calls import VBITSORT_RULES, VMRGSORT4_RULES
from lanesort.pto.tmrgsort import RULES as MERGE_RULES
from lanesort.pto.tmrgsort import violations as merge_violations
from lanesort.pto.tsort32 import RULES as SORT_RULES
from lanesort.rule import RuleBook

KIB = 1024
A2A3, A5, CPU = TARGETS["a2a3"], TARGETS["a5"], TARGETS["cpu"]


def change(operands: Any, role: str, **changes: Any) -> Any:
    """Change one tile of the operands, by the name of its attribute."""
    return replace(operands, **{role: replace(getattr(operands, role), **changes)})


def placed(operands: Any, start: int = 0) -> Any:
    """Give every tile an address, one behind the other."""
    new = []
    for tile in operands.tiles:
        new.append(replace(tile, address_bytes=start))
        start += -(-tile.extent_bytes // 32) * 32
    if isinstance(operands, Sort32Operands):
        return Sort32Operands(*new)
    dst, *rest = new
    tmp = rest.pop() if operands.tmp is not None else None
    return replace(operands, dst=dst, sources=tuple(rest), tmp=tmp)


def source(operands: MergeOperands, **changes: Any) -> MergeOperands:
    first, *rest = operands.sources
    return replace(operands, sources=(replace(first, **changes), *rest))


WHOLE = sort32_operands(2, 64, "float32", tmp=None)
TAIL = sort32_operands(2, 100, "float16")
PLACED = placed(WHOLE)
SINGLE = merge_operands([256], "float32", block_len=64)
LISTS = merge_operands([128, 64], "float32")
PLACED_SINGLE = placed(SINGLE)
PLACED_LISTS = placed(LISTS)
CALL = VBitSort(0, 255, "src", 0, 0, 0, True)
MERGE_CALL = VMrgSort4(1, (4095, 1), (0, 32), False)

Witness = tuple[Any, Any, Any]
"""Accepted operands, rejected operands, target of the rejected ones."""

SORT: dict[str, Witness] = {
    "src_dtype_can_be_sorted": (WHOLE, change(WHOLE, "src", dtype=np.dtype("float64")), A2A3),
    "dst_and_tmp_have_dtype_of_src": (TAIL, change(TAIL, "tmp", dtype=np.dtype("float32")), A2A3),
    "idx_dtype_is_u32": (
        change(WHOLE, "idx", dtype=np.dtype("int32")),
        change(WHOLE, "idx", dtype=np.dtype("int64")),
        A2A3,
    ),
    "tiles_are_vec": (change(WHOLE, "src", location="ub"), change(WHOLE, "src", location="mat"), A2A3),
    "tiles_are_row_major": (WHOLE, change(WHOLE, "dst", block_layout="col_major"), A2A3),
    "tiles_are_none_box": (WHOLE, change(WHOLE, "idx", box_layout="row_major"), A2A3),
    "valid_parts_lie_in_tiles": (WHOLE, change(WHOLE, "src", valid_columns=96), A2A3),
    "addresses_are_aligned": (PLACED, change(PLACED, "src", address_bytes=16), A2A3),
    "tiles_lie_in_ub": (PLACED, change(PLACED, "dst", address_bytes=192 * KIB - 32), A2A3),
    "src_is_not_empty": (WHOLE, change(WHOLE, "src", valid_columns=0), A2A3),
    "columns_are_whole_blocks": (WHOLE, replace(TAIL, tmp=None), A2A3),
    "idx_has_one_row_or_those_of_src": (
        sort32_operands(3, 64, "float32", idx_rows=3),
        sort32_operands(3, 64, "float32", idx_rows=2),
        A2A3,
    ),
    "idx_covers_src": (WHOLE, change(WHOLE, "idx", valid_columns=63), A2A3),
    "idx_reaches_every_lane": (TAIL, change(TAIL, "idx", columns=127), A2A3),
    "dst_reaches_every_lane": (TAIL, change(TAIL, "dst", columns=511, valid_columns=400), A2A3),
    "dst_has_rows_of_src": (WHOLE, change(WHOLE, "dst", valid_rows=1), A2A3),
    "tmp_holds_the_tail": (TAIL, change(TAIL, "tmp", columns=127, valid_columns=127), A2A3),
    "row_strides_are_whole_units": (TAIL, change(TAIL, "src", stride_bytes=200), A5),
    "dst_overlaps_no_operand": (PLACED, change(PLACED, "dst", address_bytes=PLACED.src.address_bytes), A2A3),
}

MERGE: dict[str, Witness] = {
    "dtype_can_be_merged": (SINGLE, source(SINGLE, dtype=np.dtype("int32")), A2A3),
    "tiles_have_one_dtype": (LISTS, change(LISTS, "tmp", dtype=np.dtype("float16")), A2A3),
    "tiles_are_vec": (SINGLE, change(SINGLE, "dst", location="acc"), A2A3),
    "tiles_are_row_major": (SINGLE, source(SINGLE, block_layout="col_major"), A2A3),
    "tiles_are_none_box": (SINGLE, source(SINGLE, box_layout="col_major"), A2A3),
    "valid_parts_lie_in_tiles": (LISTS, change(LISTS, "dst", valid_columns=193), A2A3),
    "addresses_are_aligned": (PLACED_LISTS, change(PLACED_LISTS, "tmp", address_bytes=8), A2A3),
    "tiles_lie_in_ub": (PLACED_LISTS, change(PLACED_LISTS, "dst", address_bytes=256 * KIB), A5),
    "tiles_have_one_row": (LISTS, source(LISTS, rows=2), A2A3),
    "block_len_is_multiple_of_64": (SINGLE, replace(SINGLE, block_len=32), A2A3),
    "columns_are_whole_groups": (SINGLE, replace(SINGLE, block_len=128), A2A3),
    "groups_fit_one_call": (
        merge_operands([255 * 256], "float32", block_len=64),
        merge_operands([256 * 256], "float32", block_len=64),
        A2A3,
    ),
    "src_and_dst_have_equal_columns": (SINGLE, change(SINGLE, "dst", valid_columns=128), A2A3),
    "dst_does_not_overlap_src": (
        PLACED_SINGLE,
        change(PLACED_SINGLE, "dst", address_bytes=PLACED_SINGLE.sources[0].address_bytes),
        A2A3,
    ),
    "sources_are_two_to_four": (
        merge_operands([64, 64, 64, 64], "float32"),
        merge_operands([64, 64, 64, 64, 64], "float32"),
        A2A3,
    ),
    "tmp_holds_all_sources": (LISTS, change(LISTS, "tmp", columns=191, valid_columns=191), A2A3),
    "dst_holds_whole_copies": (
        merge_operands([64, 64], "float32", columns=10),
        change(merge_operands([64, 64], "float32", columns=10), "dst", columns=10),
        A2A3,
    ),
    "tmp_overlaps_no_operand": (
        change(PLACED_LISTS, "dst", address_bytes=PLACED_LISTS.sources[0].address_bytes),
        change(PLACED_LISTS, "tmp", address_bytes=PLACED_LISTS.sources[0].address_bytes),
        A2A3,
    ),
    "lists_fit_the_length_field": (
        merge_operands([8190, 2], "float32"),
        merge_operands([8192, 2], "float32"),
        A2A3,
    ),
    "sources_and_target_fit_ub": (
        placed(merge_operands([24 * KIB - 256], "float32", block_len=64)),
        placed(merge_operands([24 * KIB], "float32", block_len=64)),
        A2A3,
    ),
    "first_source_and_tmp_fit_ub": (
        PLACED_LISTS,
        change(PLACED_LISTS, "tmp", columns=48 * KIB, valid_columns=48 * KIB),
        A2A3,
    ),
}

CALLS: dict[str, Witness] = {
    "repeat_fits_the_field": (CALL, replace(CALL, repeat=0), A2A3),
}

MERGE_CALLS: dict[str, Witness] = {
    "repeat_fits_the_field": (MERGE_CALL, replace(MERGE_CALL, repeat=256), A2A3),
    "lengths_fit_the_field": (MERGE_CALL, replace(MERGE_CALL, lengths=(4096, 1)), A2A3),
}


BOOKS: list[tuple[RuleBook[Any, Any], dict[str, Witness], Callable[[Any, Any], Any]]] = [
    (SORT_RULES, SORT, SORT_RULES.validate),
    (MERGE_RULES, MERGE, merge_violations),
    (VBITSORT_RULES, CALLS, VBITSORT_RULES.validate),
    (VMRGSORT4_RULES, MERGE_CALLS, VMRGSORT4_RULES.validate),
]
WITNESSES = [
    pytest.param(name, witness, validate, id=f"{book.about}-{name}")
    for book, witnesses, validate in BOOKS
    for name, witness in witnesses.items()
]


@pytest.mark.parametrize(("book", "witnesses"), [(book, witnesses) for book, witnesses, _ in BOOKS])
def test_every_rule_has_both_witnesses(book: RuleBook[Any, Any], witnesses: dict[str, Witness]) -> None:
    assert [rule.name for rule in book] == list(witnesses)
    assert all(rule.statement for rule in book)


@pytest.mark.parametrize(("name", "witness", "validate"), WITNESSES)
def test_rule_accepts_its_witness(name: str, witness: Witness, validate: Callable[[Any, Any], Any]) -> None:
    accepted, _, target = witness
    assert validate(accepted, target) == ()


@pytest.mark.parametrize(("name", "witness", "validate"), WITNESSES)
def test_rule_rejects_its_witness(name: str, witness: Witness, validate: Callable[[Any, Any], Any]) -> None:
    _, rejected, target = witness
    found = {violation.rule: violation for violation in validate(rejected, target)}
    assert name in found
    assert str(found[name].value) in found[name].text or isinstance(found[name].value, tuple)


def test_all_violations_come_at_once_in_the_order_of_the_rules() -> None:
    broken = change(change(WHOLE, "idx", valid_rows=5, rows=5), "src", dtype=np.dtype("float64"))
    broken = change(broken, "dst", location="mat")
    with pytest.raises(RuleViolations) as error:
        Sort32(broken)
    names = [violation.rule for violation in error.value.violations]
    assert names == [
        "src_dtype_can_be_sorted",
        "dst_and_tmp_have_dtype_of_src",
        "tiles_are_vec",
        "idx_has_one_row_or_those_of_src",
    ]


def test_a_message_names_every_offending_tile_with_its_value() -> None:
    broken = change(change(PLACED_LISTS, "tmp", address_bytes=8), "dst", address_bytes=24)
    (violation, *_) = merge_violations(broken, A2A3)
    assert violation.rule == "addresses_are_aligned"
    assert "dst: 0x18" in violation.text
    assert "tmp: 0x8" in violation.text


def test_limits_come_from_the_target() -> None:
    big = placed(merge_operands([24 * KIB], "float32", block_len=64))
    assert [v.limit for v in merge_violations(big, A2A3)] == [192 * KIB - 1, 4095][:1]
    assert merge_violations(big, A5) == ()


def test_the_simulator_has_no_limits_of_the_hardware() -> None:
    tail = replace(
        TAIL,
        tmp=None,
        idx=replace(TAIL.idx, columns=100),
        dst=replace(TAIL.dst, columns=400, valid_columns=400),
    )
    assert SORT_RULES.validate(tail, CPU) == ()
    Merge(merge_operands([10000, 2], "float32"), "cpu", "reference")


def test_windows_side_by_side_do_not_overlap() -> None:
    left = TileOperand("dst", np.dtype("float32"), 4, 8, 4, 8, 0, stride_bytes=64)
    right = replace(left, role="src", address_bytes=32)
    assert not left.overlaps(right)
    assert not right.overlaps(left)
    assert left.overlaps(replace(right, address_bytes=64))
    assert right.overlaps(replace(left, address_bytes=0, columns=9))
