"""Every rule has a word that it accepts and one that it rejects; modes; what is rejected on purpose."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given

from lanesort import neuron
from lanesort.neuron import Events, Header, Instruction, Tensor
from lanesort.neuron.rule import INFERRED
from lanesort.rule import Rule

from .words import a_nonzero, a_sort, raw_words

PSUM = Tensor(0x2000000, (1,), (16,))
Witness = tuple[Instruction, str]

SHARED: dict[str, dict[str, object]] = {
    "word_length_is_sixteen_dwords": {"header": Header(0, 0x11)},
    "wait_mode_is_known": {"events": Events(wait_mode=8)},
    "update_mode_is_known": {"events": Events(update_mode=6)},
    "index_offset_src_is_known": {"index_offset_src": 3},
    "index_offset_fits_its_source": {"index_offset_src": 1, "index_offset": 2},
    "channels_are_1_to_128": {"num_active_channels": 129},
    "reserved1_is_zero": {"reserved1": b"\1"},
}


def tensors(
    operand: str, dimensions: int, counts: tuple[int, ...]
) -> Iterator[tuple[str, dict[str, object]]]:
    steps = tuple([1] * dimensions)

    def at(start: int) -> dict[str, object]:
        return {operand: Tensor(start, steps, counts)}

    yield f"{operand}_counts_are_positive", {operand: Tensor(0, steps, (0, *counts[1:]))}
    yield f"{operand}_address_is_of_a_known_kind", at(0xE0000000)
    yield f"{operand}_address_is_aligned", at(2)
    yield f"{operand}_lies_in_sbuf", at(0x2000000)
    yield f"{operand}_stays_in_partition", at(224 * 1024 - 4)
    yield f"{operand}_start_partition_fits_channels", at(256 * 1024)


SORT_REJECTED: dict[str, Witness] = {
    **{name: (a_sort(), "cayman") for name in SHARED},
    "opcode_is_sort": (a_sort(header=Header(0xF2)), "cayman"),
    "input_dtype_is_sortable": (a_sort(in_dtype=11, out_dtype=11), "cayman"),
    "output_dtype_equals_input_dtype": (a_sort(out_dtype=8), "cayman"),
    "comparison_is_less_or_greater": (a_sort(comparison=0xD4), "cayman"),
    "stable_is_zero_or_one": (a_sort(stable=2), "cayman"),
    "dst_has_a_row_for_every_value": (a_sort(src=Tensor(0, (1,), (17,))), "cayman"),
    "dst_has_no_more_rows_than_values": (a_sort(src=Tensor(0, (1,), (15,))), "cayman"),
    "dst_has_two_columns": (a_sort(dst=Tensor(256, (1, 3), (3, 16))), "cayman"),
    "values_fit_pool_ram": (a_sort(num_active_channels=128, src=Tensor(0, (1,), (17,))), "cayman"),
    "generation_has_sort": (a_sort(), "tonga"),
    **{n: (a_sort(**c), "cayman") for n, c in tensors("src", 1, (16,))},
    **{n: (a_sort(**c), "cayman") for n, c in tensors("dst", 2, (2, 16))},
}
NONZERO_REJECTED: dict[str, Witness] = {
    **{name: (a_nonzero(), "cayman") for name in SHARED},
    "opcode_is_nonzero_with_count": (a_nonzero(header=Header(0x96)), "cayman"),
    "core_version_is_3_or_newer": (a_nonzero(), "sunda"),
    "reserved0_is_zero": (a_nonzero(reserved0=b"\0\0\1"), "cayman"),
    "padding_val_src_is_known": (a_nonzero(padding_val_src=9), "cayman"),
    "padding_val_fits_its_source": (a_nonzero(padding_val_src=2, padding_val=64), "cayman"),
    "input_dtype_is_valid": (a_nonzero(in_dtype=0x1A), "cayman"),
    "output_dtype_is_valid": (a_nonzero(out_dtype=0), "cayman"),
    "dtypes_are_supported": (a_nonzero(in_dtype=9), "cayman"),
    "dst_has_one_element_more_than_src": (a_nonzero(dst=Tensor(256, (1, 1, 1), (8, 1, 1))), "cayman"),
    **{n: (a_nonzero(**c), "cayman") for n, c in tensors("src", 3, (8, 1, 1))},
    **{n: (a_nonzero(**c), "cayman") for n, c in tensors("dst", 3, (9, 1, 1))},
}
for _name, _changes in SHARED.items():
    for _table, _make, _opcode, _size in (
        (SORT_REJECTED, a_sort, 0x96, 23),
        (NONZERO_REJECTED, a_nonzero, 0xF2, 4),
    ):
        _own = dict(_changes)
        if "header" in _own:
            _own["header"] = Header(_opcode, 0x11)
        if "reserved1" in _own:
            _own["reserved1"] = bytes([1]).ljust(_size, b"\0")
        _table[_name] = (_make(**_own), "cayman")

BOOKS = ((neuron.Sort, a_sort, SORT_REJECTED), (neuron.NonzeroWithCount, a_nonzero, NONZERO_REJECTED))
RULES = [(kind, make, table, rule) for kind, make, table in BOOKS for rule in kind.RULES]


def _mode(rule: Rule[object, object]) -> str:
    return "strict" if rule.applies("strict") else next(iter(rule.modes))


@pytest.mark.parametrize(("kind", "make", "table", "rule"), RULES, ids=lambda v: getattr(v, "name", ""))
def test_a_rule_has_both_witnesses(kind, make, table, rule) -> None:
    mode = _mode(rule)
    assert make().validate("cayman", mode) == ()
    assert rule.name in table, f"{kind.__name__}: no word is rejected by {rule.name}"
    word, generation = table[rule.name]
    assert rule.name in [v.rule for v in word.validate(generation, mode)]


def test_no_witness_is_for_a_rule_that_is_gone() -> None:
    for kind, _, table in BOOKS:
        assert set(table) == {rule.name for rule in kind.RULES}


def test_a_violation_says_what_where_and_how_much() -> None:
    (found,) = a_sort(stable=2).validate("cayman")
    assert (found.rule, found.field, found.value, found.limit) == (
        "stable_is_zero_or_one",
        "stable",
        2,
        (0, 1),
    )
    assert "stable is 2; it is 0 or 1" in str(found)


def test_all_violations_come_in_the_order_of_the_source() -> None:
    word = a_sort(header=Header(0x96, 0), stable=9, comparison=0xD1, reserved1=b"\1" * 23)
    names = [v.rule for v in word.validate("cayman")]
    assert names == [
        "word_length_is_sixteen_dwords",
        "comparison_is_less_or_greater",
        "stable_is_zero_or_one",
        "reserved1_is_zero",
    ]


@pytest.mark.parametrize(
    "dtype", [d for d in neuron.Dtype if d.bytes in (1, 8) or d in (0, neuron.Dtype.FP32R)]
)
def test_types_that_sort_rejects_on_purpose(dtype: neuron.Dtype) -> None:
    found = a_sort(in_dtype=int(dtype), out_dtype=int(dtype)).validate("cayman")
    assert "input_dtype_is_sortable" in [v.rule for v in found]


@pytest.mark.parametrize("comparison", [c for c in neuron.AluOp if c.name not in ("IS_LT", "IS_GT")])
def test_comparisons_that_sort_rejects_on_purpose(comparison: neuron.AluOp) -> None:
    found = a_sort(comparison=int(comparison)).validate("cayman")
    assert [v.rule for v in found] == ["comparison_is_less_or_greater"]


def test_psum_is_refused_by_name() -> None:
    (found,) = a_sort(src=PSUM).validate("cayman")
    assert "in PSUM" in found.text
    (beyond,) = a_sort(src=Tensor(0x1F000000, (1,), (16,))).validate("cayman")
    assert "beyond PSUM" in beyond.text


def test_maverick_has_a_larger_sbuf() -> None:
    word = a_sort(src=Tensor(32 << 20, (1,), (16,)))
    assert word.validate("maverick") == ()
    (found,) = a_sort(src=Tensor(0x8000000, (1,), (16,))).validate("maverick")
    assert "neuron.maverick-map" in found.text


@pytest.mark.parametrize(
    ("changes", "unpinned"),
    [
        ({"num_active_channels": 0}, "sort.zero-channels"),
        ({"reserved1": b"\1" * 23}, "sort.reserved"),
        ({"src": Tensor(1 << 18, (1,), (16,))}, "sort.start-partition"),
    ],
)
def test_inferred_clauses_name_their_unpinned_behaviour(changes: dict[str, object], unpinned: str) -> None:
    word = a_sort(**changes)
    (found,) = word.validate("cayman")
    assert unpinned in found.text
    assert word.validate("cayman", "literal") == ()
    assert word.RULES[found.rule].unpinned == unpinned
    assert word.RULES[found.rule].modes == frozenset(INFERRED)


def test_a_short_dst_is_for_the_device_mode() -> None:
    word = a_sort(dst=Tensor(256, (16, 1), (2, 5)))
    for mode in ("strict", "literal"):
        (found,) = word.validate("cayman", mode)
        assert "sort.top-k-shape" in found.text
    assert word.validate("cayman", "device") == ()


def test_the_modes_of_each_rule() -> None:
    table = {r.name: tuple(r.applies(m) for m in neuron.MODES) for r in neuron.Sort.RULES}
    unusual = {name: row for name, row in table.items() if row != (True, True, True)}
    assert unusual == {
        "dst_has_a_row_for_every_value": (True, False, True),
        "dst_has_no_more_rows_than_values": (False, True, False),
        "reserved1_is_zero": (True, True, False),
        "channels_are_1_to_128": (True, True, False),
        "src_start_partition_fits_channels": (True, True, False),
        "dst_start_partition_fits_channels": (True, True, False),
        "index_offset_fits_its_source": (True, True, False),
        "generation_has_sort": (True, True, False),
    }
    assert all(r.applies(m) for r in neuron.NonzeroWithCount.RULES for m in neuron.MODES)


@given(raw_words())
def test_validate_never_raises(data: bytes) -> None:
    word = neuron.decode(data)
    for generation in neuron.GENERATIONS:
        for mode in neuron.MODES:
            for violation in word.validate(generation, mode):
                assert violation.rule in [r.name for r in word.RULES]
                assert violation.text


@pytest.mark.parametrize(
    ("raw", "fine"),
    [(0x80000000, True), (0x8000003F, True), (0x80000040, False), (0x80000100, False), (0x40000003, True),
     (0xC0000001, True), (0x20000100, True), (0xA0000000, False), (0x60000000, False)],
)  # fmt: skip
def test_marked_addresses(raw: int, fine: bool) -> None:
    found = [v.rule for v in a_sort(src=Tensor(raw, (1,), (16,))).validate("cayman")]
    assert found == ([] if fine else ["src_address_is_of_a_known_kind"])
