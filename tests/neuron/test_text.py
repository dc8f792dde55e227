"""Assembly text and dump: exact in both directions, and clear when wrong."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanesort import neuron
from lanesort.errors import ArgumentValueError, ProgramError
from lanesort.neuron.word import layout_of

from .words import a_nonzero, a_sort, raw_words

EXAMPLE = "sort.fp32.desc.stable ch=1 src=[p0+0x0, 2048:1] dst=[p0+0x2000, 2:2048 2048:1] off=4096"


def test_the_example_reads_and_prints_as_it_stands() -> None:
    word = neuron.assemble(EXAMPLE)
    assert str(word) == EXAMPLE
    assert word == neuron.Sort(
        src=neuron.Tensor.at(0, 0, 2048),
        dst=neuron.Tensor.at(0, 0x2000, (2, 2048), (2048, 1)),
        dtype="fp32",
        descending=True,
        stable=True,
        index_offset=4096,
        channels=1,
    )


@given(raw_words(), st.sampled_from(["cayman", "maverick"]))
def test_text_is_exact_for_any_word(data: bytes, on: str) -> None:
    word = neuron.decode(data)
    assert neuron.assemble(word.assembly(on), on) == word


@pytest.mark.parametrize(
    ("changes", "shown"),
    [
        ({"events": neuron.Events(5, 3, 20, 4, 7)}, "wait=sem_ge:3 update=sem_dec_done:4 sem=7"),
        ({"header": neuron.Header(0x96, 0x11)}, "hdr=0x96,0x11,0,0"),
        ({"comparison": 0xD4}, "sort.fp32.cmp0xd4.stable"),
        ({"stable": 3}, "sort.fp32.asc.stable0x3"),
        ({"out_dtype": 8}, "sort.fp32>i32.asc"),
        ({"index_offset_src": 1, "index_offset": 0x80040}, "off=*p2+0x40"),
        ({"index_offset_src": 2, "index_offset": 9}, "off=r9"),
        ({"index_offset_src": 7, "index_offset": 9}, "off=7:0x9"),
        ({"src": neuron.Tensor(0x80000005, (-1,), (16,))}, "src=[r5, 16:-1]"),
        ({"src": neuron.Tensor(0x2000000, (1,), (16,))}, "src=[0x2000000, 16:1]"),
        ({"reserved1": bytes([1]) + bytes(22)}, "reserved1=01" + "00" * 22),
    ],
)
def test_odd_fields_are_shown(changes: dict[str, object], shown: str) -> None:
    assert shown in str(a_sort(**changes))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no instruction ''"),
        ("sorted.fp32", "no instruction 'sorted'; known are sort, nonzero"),
        ("sort", "the element type is missing"),
        ("sort.fp99 ch=1", "'fp99' is none of"),
        ("sort.fp32.up ch=1", "no suffix .up; accepted are .asc, .desc, .stable"),
        ("sort.fp32.asc.desc ch=1", "exclude one another"),
        ("sort.fp32 ch=1 ch=2", "operand ch= is given twice"),
        ("sort.fp32 ch=1 !", "expected operand=value"),
        ("sort.fp32", "operand ch= is missing"),
        ("sort.fp32 ch=one src=[p0+0x0, 8:1] dst=[p0+0x0, 8:1]", "'one' is not a number"),
        ("sort.fp32 ch=999 src=[p0+0x0, 8:1] dst=[p0+0x0, 8:1]", "its 8 bits hold 0 to 255"),
        ("sort.fp32 ch=1 src=[p0+0x0 8:1] dst=[p0+0x0, 8:1]", "expected \\[address, count:step"),
        ("sort.fp32 ch=1 src=[p128+0x0, 8:1] dst=[p0+0x0, 8:1]", "outside 128 partitions"),
        ("sort.fp32 ch=1 src=[p0+0x0, 8:1 8:1] dst=[p0+0x0, 8:1]", "room for 1"),
        ("sort.fp32 ch=1 src=[p0+0x0, 8:1] dst=[p0+0x0, 8:1] pad=3", "no operand pad"),
        ("sort.fp32 ch=1 src=[p0+0x0, 8:1] dst=[p0+0x0, 8:1] reserved1=xy", "not hexadecimal"),
        ("sort.fp32 " + "x" * 5000, "the line has 5010 characters"),
    ],
)
def test_bad_text_is_refused_with_its_place(text: str, says: str) -> None:
    with pytest.raises(ProgramError, match=says) as caught:
        neuron.assemble(text)
    assert "<text>:1:" in str(caught.value)


@given(st.text(max_size=80))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        neuron.assemble("sort" + text)
    except ProgramError:
        return


def test_programs_have_lines_and_comments() -> None:
    text = f"# two words\n{a_sort()}  # first\n\n   {a_nonzero()}\n"
    assert neuron.assemble_program(text) == (a_sort(), a_nonzero())
    with pytest.raises(ProgramError, match=r"prog\.s:2:3: error: no instruction 'nope'"):
        neuron.assemble_program("\n  nope", file="prog.s")


def test_the_dump_labels_every_field() -> None:
    lines = neuron.dump(a_sort()).splitlines()
    labels = [line.split()[-2] for line in lines if "comparison" in line or "in_dtype" in line]
    assert labels == ["0x0a", "0x16"]
    assert any(line.startswith("14 [7:4]") and "out_dtype" in line and "FP32" in line for line in lines)
    assert any(line.startswith("41–63") and line.endswith("zero") for line in lines)
    assert len(neuron.dump(a_nonzero()).splitlines()) == len(layout_of(neuron.NonzeroWithCount).cells)


def test_register_addresses() -> None:
    assert neuron.register_address(63) == 0x8000003F
    with pytest.raises(ArgumentValueError, match="register number is 256"):
        neuron.register_address(256)
