"""Decoding by opcode: what is refused, and how; many words at once."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from time import process_time

import numpy as np
import pytest

from lanesort import neuron
from lanesort.errors import ArgumentTypeError, DecodeError

from .words import a_nonzero, a_sort, random_words, valid_words


@pytest.mark.parametrize("length", [0, 1, 63, 65, 128])
def test_a_wrong_length_is_named(length: int) -> None:
    with pytest.raises(DecodeError, match=f"a word has 64 bytes; got {length}"):
        neuron.decode(bytes([0x96]) * length)


@pytest.mark.parametrize(
    ("opcode", "says"),
    [
        (0x97, "SortMerge was a work in progress and never shipped.*Sort \\(0x96\\).*merge"),
        (0x98, "TensorScalarSelect, which is known but not modelled"),
        (0xBE, "GetSequenceBounds"),
        (0x7B, "TensorDequantize"),
        (0xE0, "SparsityCompress"),
        (0xE1, "SparsityCompressTag"),
        (0x00, "opcode 0x00 is unknown; modelled are 0x96 Sort, 0xf2 NonzeroWithCount"),
    ],
)
def test_an_opcode_that_is_not_modelled_is_explained(opcode: int, says: str) -> None:
    with pytest.raises(DecodeError, match=says):
        neuron.decode(bytes([opcode]) + bytes(63))


def test_opcodes_do_not_overlap() -> None:
    opcodes = [cls.OPCODE for cls in neuron.INSTRUCTIONS.values()]
    assert len(set(opcodes)) == len(opcodes)
    assert not set(opcodes) & set(neuron.KNOWN_OPCODES)
    assert len({cls.MNEMONIC for cls in neuron.INSTRUCTIONS.values()}) == len(opcodes)


def test_single_bit_flips_decode_or_err_by_name() -> None:
    for word in valid_words(200, seed=41):
        data = word.encode()
        for bit in range(512):
            flipped = bytearray(data)
            flipped[bit // 8] ^= 1 << bit % 8
            if flipped[0] not in neuron.INSTRUCTIONS:
                with pytest.raises(DecodeError, match="opcode 0x"):
                    neuron.decode(flipped)
                continue
            neuron.decode(flipped).validate("cayman")


def test_many_words_are_the_words_one_by_one() -> None:
    data = list(random_words(300, seed=7))
    words = neuron.decode_many(b"".join(data))
    assert len(words) == 300
    assert list(words) == [neuron.decode(d) for d in data]
    assert words[-1] == neuron.decode(data[-1])
    assert list(words[10:12]) == [neuron.decode(d) for d in data[10:12]]


def test_columns_have_the_fields() -> None:
    words = neuron.decode_many([a_sort(), a_nonzero(), a_sort(stable=0)][0].encode() + a_nonzero().encode())
    assert words.columns(neuron.Sort)["comparison"].tolist() == [0x16]
    assert words.columns(neuron.NonzeroWithCount)["padding_val"].tolist() == [-1]
    assert words.positions(neuron.NonzeroWithCount).tolist() == [1]


@pytest.mark.parametrize("shape", [(-1,), (-1, 64)])
def test_arrays_of_bytes_are_accepted(shape: tuple[int, ...]) -> None:
    data = np.frombuffer(a_sort().encode() * 2, np.uint8).reshape(shape)
    assert len(neuron.decode_many(data)) == 2


def test_truncated_and_foreign_data_are_refused() -> None:
    with pytest.raises(DecodeError, match="100 bytes are 1 word of 64 bytes and 36 more"):
        neuron.decode_many(a_sort().encode() + bytes(36))
    with pytest.raises(DecodeError, match="word 1: opcode 0x00"):
        neuron.decode_many(a_sort().encode() + bytes(64))
    with pytest.raises(DecodeError, match="rows of 32"):
        neuron.decode_many(np.zeros((2, 32), np.uint8))
    with pytest.raises(ArgumentTypeError, match="float64"):
        neuron.decode_many(np.zeros(64))
    assert len(neuron.decode_many(b"")) == 0


def test_a_huge_file_is_refused_in_bounded_memory(tmp_path: Path) -> None:
    path = tmp_path / "huge.bin"
    with path.open("wb") as file:
        file.truncate(1 << 33)
    tracemalloc.start()
    mapped = np.memmap(path, np.uint8, "r", shape=((1 << 20) + 1,))
    with pytest.raises(DecodeError, match="16384 words of 64 bytes and 1 more"):
        neuron.decode_many(mapped)
    assert tracemalloc.get_traced_memory()[1] < 10 << 20
    tracemalloc.stop()


def test_a_million_words_a_minute() -> None:
    data = np.frombuffer(b"".join(random_words(2000, seed=3)), np.uint8)
    started = process_time()
    count = sum(1 for _ in neuron.decode_many(data))
    assert count / (process_time() - started) > 1e6 / 60
