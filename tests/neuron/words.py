"""Words for tests: valid ones to start from, and arbitrary ones."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from hypothesis import strategies as st

from lanesort import neuron
from lanesort.neuron import Instruction, NonzeroWithCount, Sort, Tensor

OPCODES = (0x96, 0xF2)


def a_sort(**changes: object) -> Sort:
    """A valid Sort of 16 fp32 values on 32 partitions, with some raw fields changed."""
    word = Sort(src=Tensor.at(0, 0, 16), dst=Tensor.at(0, 0x100, (2, 16), (16, 1)), dtype="fp32", channels=32)
    return word.replace(**changes) if changes else word


def a_nonzero(**changes: object) -> NonzeroWithCount:
    """A valid NonzeroWithCount of 8 fp32 values, with some raw fields changed."""
    word = NonzeroWithCount(src=Tensor.at(0, 0, 8), dst=Tensor.at(0, 0x100, 9), index_offset=16, channels=32)
    return word.replace(**changes) if changes else word


def raw_words() -> st.SearchStrategy[bytes]:
    """Any 64 bytes with a modelled opcode."""
    return st.tuples(st.sampled_from(OPCODES), st.binary(min_size=63, max_size=63)).map(
        lambda pair: bytes([pair[0]]) + pair[1]
    )


def random_words(count: int, seed: int) -> Iterator[bytes]:
    """The same, many at once."""
    rng = np.random.default_rng(seed)
    data = rng.integers(0, 256, (count, 64), dtype=np.uint8)
    data[:, 0] = rng.choice(np.array(OPCODES, np.uint8), count)
    return (row.tobytes() for row in data)


def valid_words(count: int, seed: int) -> list[Instruction]:
    """Valid words of both kinds, of many shapes, for cayman."""
    rng = np.random.default_rng(seed)
    return [_valid_sort(rng) if rng.random() < 0.6 else _valid_nonzero(rng) for _ in range(count)]


def _channels(rng: np.random.Generator) -> tuple[int, int]:
    channels = int(rng.integers(1, 129))
    starts = neuron.GENERATIONS["cayman"].start_partitions(channels)
    return channels, int(rng.choice(starts))


def _valid_sort(rng: np.random.Generator) -> Sort:
    dtype = str(rng.choice(["fp16", "bf16", "u16", "i16", "fp32", "u32", "i32"]))
    channels, start = _channels(rng)
    limit = (4096 if dtype.endswith("16") else 2048) // channels
    count = int(rng.integers(1, limit + 1))
    step = int(rng.choice([1, 1, 2, 3]))
    dense = bool(rng.integers(2))
    return Sort(
        src=Tensor.at(start, 0, count, step),
        dst=Tensor.at(start, 0x8000, (2, count), (count, 1) if dense else (1, 2)),
        dtype=dtype,
        descending=bool(rng.integers(2)),
        stable=bool(rng.integers(2)),
        index_offset=int(rng.integers(0, 1 << 16)),
        channels=channels,
    )


def _valid_nonzero(rng: np.random.Generator) -> NonzeroWithCount:
    channels, start = _channels(rng)
    counts = tuple(int(n) for n in rng.integers(1, 9, 3))
    return NonzeroWithCount(
        src=Tensor.at(start, 0, counts),
        dst=Tensor.at(start, 0x8000, int(np.prod(counts)) + 1),
        in_dtype=str(rng.choice(["fp32", "i32"])),
        index_offset=int(rng.integers(-(1 << 31), 1 << 31)),
        padding_val=int(rng.integers(-(1 << 31), 1 << 31)),
        channels=channels,
    )
