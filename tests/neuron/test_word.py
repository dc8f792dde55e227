"""The layout: golden words, round trips, an outside packer, and every bit accounted for."""

from __future__ import annotations

import json
from pathlib import Path

import bitstruct
import pytest
from hypothesis import given

from lanesort import neuron
from lanesort.errors import ArgumentTypeError, ArgumentValueError
from lanesort.neuron.word import layout_of

from .words import a_nonzero, a_sort, random_words, raw_words, valid_words

# Written by hand from the documented tables, field by field in byte order: an independent oracle.
SORT_FORMAT = "u8u8u8u8 u8u8u8u8u32 u8u8 u8 u8 u32s16u16 u32s16s16u16u16 u32 u8 r184"
NONZERO_FORMAT = (
    "u8u8u8u8 u8u8u8u8u32 u8u8u8u8 u32s16s16s16u16u16u16 s32 u8 r24 s32 u32s16s16s16u16u16u16 r32"
)


def golden_words(golden: Path) -> dict[str, dict[str, object]]:
    cases = json.loads((golden / "neuron" / "words_derived.json").read_text())["cases"]
    return {c["id"]: c for c in cases}


def test_golden_nonzero(golden: Path) -> None:
    case = golden_words(golden)["nonzero_doc_example_fp32_128ch"]
    word = neuron.NonzeroWithCount(
        src=neuron.Tensor.at(0, 0, (8, 1, 1), (1, 1, 1)),
        dst=neuron.Tensor.at(0, 0x100, 9),
        in_dtype="fp32",
        index_offset=16,
        padding_val=-1,
        channels=128,
    )
    assert word.encode().hex() == case["hex"]
    assert neuron.decode(bytes.fromhex(str(case["hex"]))) == word
    assert word.validate("cayman") == ()


def test_golden_sort(golden: Path) -> None:
    case = golden_words(golden)["sort_header_example_i32_1ch"]
    word = neuron.Sort(
        src=neuron.Tensor.at(0, 0, 6),
        dst=neuron.Tensor.at(0, 0x100, (2, 6), (6, 1)),
        dtype="i32",
        index_offset=100,
        channels=1,
    )
    assert word.encode().hex() == case["hex"]
    assert neuron.decode(bytes.fromhex(str(case["hex"]))) == word
    assert all(word.validate(g) == () for g in ("sunda", "cayman", "mariana", "mariana_plus", "maverick"))


@given(raw_words())
def test_bytes_survive_the_word(data: bytes) -> None:
    word = neuron.decode(data)
    assert word.encode() == data
    assert type(word).raw(**word.fields()) == word


@given(raw_words())
def test_repr_evaluates_back(data: bytes) -> None:
    word = neuron.decode(data)
    assert eval(repr(word), vars(neuron)) == word


@pytest.mark.parametrize("kind", [neuron.Sort, neuron.NonzeroWithCount])
def test_every_bit_is_accounted_for(kind: type[neuron.Instruction]) -> None:
    layout = layout_of(kind)
    assert layout.size_bytes == 64
    covered = [bit for cell in layout.cells for bit in range(cell.bit, cell.bit + cell.bits)]
    assert covered == list(range(512))
    assert layout.dtype.itemsize == 64


def _by_bitstruct(word: neuron.Instruction) -> bytes:
    """Pack a word with bitstruct, whose byte order for little-endian fields is given by hand."""
    fields = word.fields()
    h, e = word.header, word.events
    front = [h.opcode, h.inst_word_len, h.debug_cmd, h.debug_hint]
    front += [e.wait_mode, e.wait_idx, e.update_mode, e.update_idx, e.semaphore_value]
    src, dst = fields["src"], fields["dst"]
    if isinstance(word, neuron.Sort):
        values = [
            *front,
            word.num_active_channels,
            word.index_offset_src,
            word.out_dtype << 4 | word.in_dtype,
            word.comparison,
            *(src.start, *src.steps, *src.counts),
            *(dst.start, *dst.steps, *dst.counts),
            word.index_offset,
            word.stable,
            word.reserved1,
        ]
        return bytes(_pack_little(SORT_FORMAT, values))
    assert isinstance(word, neuron.NonzeroWithCount)
    values = [
        *front,
        *(word.num_active_channels, word.in_dtype, word.out_dtype, word.index_offset_src),
        *(src.start, *src.steps, *src.counts),
        *(word.index_offset, word.padding_val_src, word.reserved0, word.padding_val),
        *(dst.start, *dst.steps, *dst.counts),
        word.reserved1,
    ]
    return bytes(_pack_little(NONZERO_FORMAT, values))


_COMPILED = {
    text: [
        bitstruct.compile(f)
        for f in text.replace(" ", "").replace("u", " u").replace("s", " s").replace("r", " r").split()
    ]
    for text in (SORT_FORMAT, NONZERO_FORMAT)
}


def _pack_little(text: str, values: list[object]) -> bytes:
    packed = b""
    for compiled, value in zip(_COMPILED[text], values, strict=True):
        piece = compiled.pack(value)
        packed += piece if isinstance(value, bytes) else piece[::-1]
    return packed


def test_an_outside_packer_agrees_on_random_words() -> None:
    for data in random_words(10_000, seed=296):
        assert _by_bitstruct(neuron.decode(data)) == data


@pytest.mark.parametrize(
    ("field", "value"),
    [("num_active_channels", 256), ("stable", -1), ("index_offset", 1 << 32), ("in_dtype", 16)],
)
def test_a_number_too_large_for_its_bits_is_refused(field: str, value: int) -> None:
    with pytest.raises(ArgumentValueError, match=f"{field} is {value}; its .* bits hold"):
        a_sort(**{field: value})


def test_wrong_kinds_are_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="not an integer"):
        a_sort(stable="yes")
    with pytest.raises(ArgumentTypeError, match="no field colour"):
        a_sort(colour=1)
    with pytest.raises(ArgumentTypeError, match="needs num_active_channels"):
        neuron.Sort.raw()
    with pytest.raises(ArgumentValueError, match="exactly 23"):
        a_sort(reserved1=b"")
    with pytest.raises(ArgumentTypeError, match="not bytes"):
        a_nonzero(reserved0=0)
    with pytest.raises(ArgumentTypeError, match="expected a Tensor"):
        neuron.Sort(src=5, dst=5)


def test_a_tensor_has_room_for_its_dimensions_only() -> None:
    with pytest.raises(ArgumentValueError, match="src has 2 dimensions; the word has room for 1"):
        neuron.Sort(src=neuron.Tensor.at(0, 0, (2, 2)), dst=neuron.Tensor.at(0, 64, (2, 4)))


def test_words_are_frozen_and_hashable() -> None:
    word = a_sort()
    assert len({word, a_sort()}) == 1
    with pytest.raises(AttributeError):
        word.stable = 0


def test_valid_words_are_valid() -> None:
    for word in valid_words(200, seed=5):
        assert word.validate("cayman") == (), str(word)


def test_validate_refuses_unknown_names() -> None:
    with pytest.raises(ArgumentValueError, match="generation is 'trn9'; known are tonga"):
        a_sort().validate("trn9")
    with pytest.raises(ArgumentValueError, match="mode is 'lax'; accepted are 'strict'"):
        a_sort().validate("cayman", mode="lax")
