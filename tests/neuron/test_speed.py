"""Small words at least twenty thousand a second, large ones within twice the bare kernel."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time

import numpy as np
import pytest

from lanesort.neuron import NeuronCore, Sort, Tensor
from lanesort.order import Order

pytestmark = pytest.mark.nightly

WORDS = 1000


def best_seconds(call: Callable[[], object]) -> float:
    """The least CPU time of seven calls."""
    times = []
    for _ in range(7):
        started = process_time()
        call()
        times.append(process_time() - started)
    return min(times)


def a_word(dtype: str, count: int, channels: int) -> Sort:
    dst = Tensor.at(0, 0x8000, (2, count), (count, 1))
    return Sort(src=Tensor.at(0, 0, count), dst=dst, dtype=dtype, channels=channels)


def a_core() -> NeuronCore:
    core = NeuronCore("cayman", engine="native")
    values = np.random.default_rng(1).standard_normal((128, 2048)).astype(np.float32)
    core.sbuf.write(0, 0, values)
    return core


def test_small_words() -> None:
    core = a_core()
    program = a_word("fp32", 16, 1).encode() * WORDS
    assert WORDS / best_seconds(lambda: core.run(program)) > 20_000


@pytest.mark.parametrize(
    ("dtype", "count", "channels"), [("fp32", 2048, 1), ("fp32", 16, 128), ("u16", 4096, 1)]
)
def test_large_words(dtype: str, count: int, channels: int) -> None:
    core, repeats = a_core(), 100
    program = a_word(dtype, count, channels).encode() * repeats
    values = np.stack([core.sbuf.read(p, 0, count, dtype) for p in range(channels)])
    positions = np.tile(np.arange(count, dtype=f"u{values.itemsize}"), (channels, 1))

    def bare() -> None:
        for _ in range(repeats):
            core.engine.order_pairs(values, positions, Order())

    assert best_seconds(lambda: core.run(program)) < 2 * best_seconds(bare)
