"""The hardware calls behind a tile instruction, and their words."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanesort import pto
from lanesort.errors import ArgumentValueError, RuleViolations
from lanesort.pto import VMrgSort4, merge_operands, sort32_operands
from lanesort.pto.calls import COUNTS, VBITSORT_CONFIG, VMRGSORT4_CONFIG, decode, encode


def sorts(
    rows: int, columns: int, dtype: str = "float32", target: str = "a2a3", **options: object
) -> list[pto.VBitSort]:
    operands = sort32_operands(rows, columns, dtype, target=target, **options)
    return [call for call in pto.calls(operands, target) if isinstance(call, pto.VBitSort)]


def test_rows_of_more_than_255_blocks_take_several_calls() -> None:
    calls = sorts(2, 32 * 600)
    assert [(call.row, call.repeat) for call in calls] == [
        (0, 255),
        (0, 255),
        (0, 90),
        (1, 255),
        (1, 255),
        (1, 90),
    ]
    assert [call.values_bytes for call in calls[:3]] == [0, 255 * 128, 510 * 128]
    assert [call.dst_bytes for call in calls[:3]] == [0, 255 * 256, 510 * 256]
    assert calls[3].values_bytes == 32 * 600 * 4
    assert calls[3].idx_bytes == 0
    assert hex(calls[2].config) == "0x5a00000000000000"


def test_a_small_row_is_sorted_from_tmp_and_of_a_large_one_the_tail() -> None:
    (small,) = sorts(1, 2039, target="a5")
    assert (small.values_from, small.repeat, small.values_bytes, small.barrier) == ("tmp", 64, 0, False)
    whole, tail = sorts(1, 2041, target="a5")
    assert (whole.values_from, whole.repeat) == ("src", 63)
    assert (tail.values_from, tail.repeat, tail.values_bytes) == ("tmp", 1, 0)
    assert (tail.idx_bytes, tail.dst_bytes) == (63 * 128, 63 * 256)


@pytest.mark.parametrize("columns", [8129, 8159, 16289, 16319, 16320])
def test_the_model_does_right_where_released_code_does_not(columns: int) -> None:
    calls = sorts(1, columns, target="a5")
    assert sum(call.repeat for call in calls) == -(-columns // 32)
    assert all(1 <= call.repeat <= 255 for call in calls)


def test_rows_of_idx_are_followed_and_barriers_belong_to_a2a3() -> None:
    first, second = sorts(2, 64, "float16", idx_rows=2)
    assert (first.idx_bytes, second.idx_bytes) == (0, 256)
    assert (second.values_bytes, second.dst_bytes) == (128, 512)
    assert first.barrier
    assert first.published_cycles == 10


@given(rows=st.integers(1, 3), columns=st.integers(1, 20000), target=st.sampled_from(["a2a3", "a5"]))
def test_calls_cover_each_block_once(rows: int, columns: int, target: str) -> None:
    blocks = -(-columns // 32)
    for row in range(rows):
        covered = [
            call.dst_bytes % (blocks * 256) // 256 + n
            for call in sorts(rows, columns, "float16", target)
            if call.row == row
            for n in range(call.repeat)
        ]
        assert covered == list(range(blocks))


def test_words_of_merges() -> None:
    operands = merge_operands([128, 64, 2], "float32", exhausted=True)
    placed = replace(
        operands,
        sources=tuple(
            replace(tile, address_bytes=at)
            for tile, at in zip(operands.sources, (0x100, 0x800, 0x40), strict=True)
        ),
    )
    (call,) = pto.calls(placed)
    assert isinstance(call, VMrgSort4)
    assert hex(call.config) == "0x1701"
    assert hex(call.lengths_word) == "0x100200040"
    assert hex(call.addresses_word) == "0x801000020"
    assert VMrgSort4.from_words(call.config, call.lengths_word, (0x100, 0x800, 0x40, 0)) == replace(
        call, barrier=False
    )
    (single,) = pto.calls(merge_operands([1024], "float16", block_len=128))
    assert isinstance(single, VMrgSort4)
    assert hex(single.config) == "0xf02"
    assert hex(single.lengths_word) == "0x20002000200020"
    assert hex(single.addresses_word) == "0x60004000200000"
    assert single.published_cycles == 176


def test_status_packs_the_counts() -> None:
    assert hex(VMrgSort4.status((1, 2, 0, 4095))) == "0xfff000000020001"


@given(st.data())
def test_encode_and_decode_are_inverse(data: st.DataObject) -> None:
    for fields in (VBITSORT_CONFIG, VMRGSORT4_CONFIG, COUNTS):
        values = {field.name: data.draw(st.integers(0, (1 << field.width) - 1)) for field in fields}
        assert decode(fields, encode(fields, values)) == values


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ArgumentValueError, match="repeat is 256"):
        encode(VBITSORT_CONFIG, {"repeat": 256})
    with pytest.raises(ArgumentValueError, match="0b0101"):
        VMrgSort4.from_words(0x0501, 0, (0, 0, 0, 0))
    with pytest.raises(RuleViolations, match="columns_are_whole_blocks"):
        pto.calls(sort32_operands(1, 33, "float32", tmp=None))
    with pytest.raises(RuleViolations, match="sources_are_two_to_four"):
        pto.calls(merge_operands([64], "float32"))
