"""Engines agree on random programs: types, sizes up to the limit, strides, offsets, special values."""

from __future__ import annotations

import numpy as np
import pytest

from lanesort.neuron import NeuronCore, Result

from .words import valid_words

FILLED_BYTES = 0x8000


# Clears one exponent bit of every float in a word, whichever type it is read as: no NaN is left.
NO_NAN = np.uint32(0xFBFFFBFF)


def fill(core: NeuronCore, rng: np.random.Generator, mask: np.uint32) -> None:
    """Put random bits, few different values, and specials into the low bytes of every partition."""
    kind = rng.integers(3)
    shape = (128, FILLED_BYTES // 4)
    if kind == 0:
        words = rng.integers(0, 1 << 32, shape, dtype=np.uint32)
    elif kind == 1:
        words = rng.integers(0, 4, shape, dtype=np.uint32)
    else:
        specials = np.array(
            [
                0,
                0x80000000,
                0x7F800000,
                0xFF800000,
                0x7FC00000,
                0xFFC00001,
                0x3F803F80,
                0x80008000,
                0x7C017C01,
            ],
            np.uint32,
        )
        words = rng.choice(specials, shape)
    core.sbuf.write(0, 0, words & mask)


def touched(core: NeuronCore, result: Result) -> list[bytes]:
    """The bytes that a run may have written."""
    return [
        core.sbuf.read(p, access.span[0], access.span[1] - access.span[0], np.uint8).tobytes()
        for prepared in result.prepared
        for access in prepared.writes
        for p in access.partitions
    ]


def compare(engine: str, seed: int, programs: int) -> None:
    """Run the same programs on two cores; where a NaN lands is the datapath's own affair."""
    mask = NO_NAN if engine == "datapath" else np.uint32(0xFFFFFFFF)
    print(f"seed {seed}")
    rng = np.random.default_rng(seed)
    cores = [NeuronCore("cayman", engine=name) for name in ("reference", engine)]
    words = valid_words(programs, seed)
    for at in range(0, programs, 2):
        if at % 100 == 0:
            state = rng.bit_generator.state
            for core in cores:
                rng.bit_generator.state = state
                fill(core, rng, mask)
        expected, found = (core.run(words[at : at + 2]) for core in cores)
        assert expected.unpinned == found.unpinned
        assert expected.log == found.log
        assert touched(cores[0], expected) == touched(cores[1], found), [str(w) for w in words[at : at + 2]]


@pytest.mark.parametrize(("engine", "programs"), [("native", 400), ("datapath", 100)])
def test_engines_agree(engine: str, programs: int) -> None:
    compare(engine, seed=20261130, programs=programs)


@pytest.mark.nightly
@pytest.mark.parametrize(("engine", "seed"), [(e, s) for e in ("native", "datapath") for s in range(20)])
def test_engines_agree_on_ten_thousand_programs(engine: str, seed: int) -> None:
    compare(engine, seed, programs=1000)
