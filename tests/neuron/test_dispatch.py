"""Dispatch: the tables are scanned row by row; what is not known is said."""

from __future__ import annotations

import pytest

from lanesort import neuron
from lanesort.errors import ArgumentValueError
from lanesort.neuron.dispatch import KernelInfo, Table, dispatch, dispatch_word, tables
from lanesort.neuron.dtype import Dtype


def test_tables_are_those_of_the_sources():
    assert {table.name: (table.generation, len(table.kernels)) for table in tables()} == {
        "cayman MAIN": ("cayman", 17),
        "cayman CODEC": ("cayman", 9),
        "mariana MAIN": ("mariana", 17),
        "mariana_plus MAIN": ("mariana_plus", 17),
    }
    assert tables("sunda") == ()


@pytest.mark.parametrize(
    ("name", "dtype", "ways"),
    [
        ("cayman", Dtype.FP32, [(15, 0x0100484C, 0x01004940), (5, 0x010013F4, 0x010014E0)]),
        ("cayman", Dtype.I32, [(15, 0x0100484C, 0x01004B80), (5, 0x010013F4, 0x01001720)]),
        ("mariana", Dtype.FP32, [(15, 0x01004890, None)]),
        ("mariana_plus", Dtype.I32, [(15, 0x01004890, None)]),
    ],
)
def test_nonzero_with_count_is_followed_to_its_body(name, dtype, ways):
    found = dispatch(0xF2, name, in_dtype=dtype)
    assert [(way.row, way.trampoline, way.body) for way in found] == ways
    assert all(way.scanned == way.row + 1 and not way.log for way in found)
    assert "in_dtype" in " ".join(found[0].steps())


def test_the_neighbours_of_the_row_are_its_siblings():
    main = tables("cayman")[0]
    assert [main.kernels[row].opcode for row in (14, 15, 16)] == [0xBE, 0xF2, 0x7B]
    assert main.scan(0xF0) == 6


def test_an_unknown_opcode_prints_the_line_of_the_device():
    main, codec = dispatch(0x97, "cayman", core=3)
    assert main.log == codec.log == ("P3: UNKNOWN OPCODE=0x97",)
    assert (main.scanned, codec.scanned) == (17, 9)
    assert list(main.steps())[-1] == "P3: UNKNOWN OPCODE=0x97"
    # An opcode of the MAIN image alone is unknown to the other.
    assert [way.row for way in dispatch(0x51, "cayman")] == [4, None]


def test_sort_is_shown_as_not_pinned():
    for way in dispatch(0x96, "cayman"):
        assert way.row is None
        assert way.log == ()
        assert way.remark.startswith("not pinned")


def test_a_miss_in_a_table_that_is_not_wholly_known_says_so():
    (way,) = dispatch(0xBE, "mariana")
    assert way.log == ()
    assert way.remark.startswith("16 rows of this table are not known")


def test_without_a_dtype_the_way_ends_at_the_trampoline():
    way = dispatch(0xF2, "cayman")[0]
    assert (way.in_dtype, way.body) == (None, None)
    assert list(way.steps())[-1] == "trampoline 0x0100484c"
    assert "not known" in list(dispatch(0xBE, "cayman")[0].steps())[1]


def test_a_word_is_followed_by_its_opcode_and_dtype():
    word = neuron.assemble("nonzero.fp32 ch=16 src=[p0+0x0, 8:1] dst=[p0+0x40, 9:1]")
    assert dispatch_word(word, "cayman") == dispatch(0xF2, "cayman", in_dtype=Dtype.FP32)
    # Whatever is not fp32 takes the integer leg; an unknown code ends at the trampoline.
    assert dispatch_word(word.replace(in_dtype=2), "cayman")[0].body == 0x01004B80
    assert dispatch_word(word.replace(in_dtype=99), "cayman")[0].body is None
    sort = neuron.assemble("sort.i32.asc ch=1 src=[p0+0x0, 2:1] dst=[p0+0x40, 2:2 2:1]")
    assert "not pinned" in dispatch_word(sort, "cayman")[0].remark


def test_records_round_trip_and_their_spec_is_part_of_the_key():
    record = KernelInfo(0xF0, 0x01001234, 3)
    assert KernelInfo.decode(record.encode()) == record
    assert record.key == 0xF0030000
    table = Table("made up", "cayman", (KernelInfo(0xF0, 1, 2), record), {})
    assert (table.scan(0xF0, 3), table.scan(0xF0, 4)) == (1, None)


def test_bad_arguments_are_named():
    with pytest.raises(ArgumentValueError, match="opcode is 256"):
        dispatch(256, "cayman")
    with pytest.raises(ArgumentValueError, match="spec is -1"):
        dispatch(1, "cayman", spec=-1)
    with pytest.raises(ArgumentValueError, match="known are tonga"):
        dispatch(1, "trainium")
    with pytest.raises(ArgumentValueError, match="got 7"):
        KernelInfo.decode(bytes(7))
    with pytest.raises(ArgumentValueError, match="no known address"):
        KernelInfo(0xBE).encode()
