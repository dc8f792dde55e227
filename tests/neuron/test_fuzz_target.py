"""The fuzz targets hold on random and on mutated input."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from .words import random_words, valid_words

TARGET = Path(__file__).resolve().parents[2] / "fuzz" / "target_neuron.py"


@pytest.fixture(scope="module")
def target() -> ModuleType:
    spec = importlib.util.spec_from_file_location("target_neuron", TARGET)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_decode(target: ModuleType) -> None:
    for data in [b"", b"\x97" * 64, bytes(64), *random_words(100, seed=1)]:
        target.fuzz_decode(data)


def test_assemble(target: ModuleType) -> None:
    rng = np.random.default_rng(2)
    for word in valid_words(100, seed=2):
        text = bytearray(str(word).encode())
        target.fuzz_assemble(bytes(text))
        text[rng.integers(len(text))] = rng.integers(32, 127)
        target.fuzz_assemble(bytes(text))


def test_run(target: ModuleType) -> None:
    rng = np.random.default_rng(3)
    for word in valid_words(300, seed=3):
        data = bytearray(rng.bytes(1) + word.encode())
        target.fuzz_run(bytes(data))
        bit = int(rng.integers(8 * 12, 8 * len(data)))
        data[bit // 8] ^= 1 << bit % 8
        target.fuzz_run(bytes(data))
    for data in random_words(100, seed=4):
        target.fuzz_run(b"\0" + data)
