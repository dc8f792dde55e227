"""Small words at least twenty thousand a second, large ones within twice the bare kernel."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time

import numpy as np
import pytest

from lanesort.neuron import NeuronCore, Sort, Tensor
from lanesort.order import Order

pytestmark = pytest.mark.nightly

WORDS = 500


def best_seconds(*calls: Callable[[], object]) -> list[float]:
    """The least CPU time of each call, taken in turns so that a busy machine is busy for all."""
    best = [float("inf")] * len(calls)
    for _ in range(20):
        for i, call in enumerate(calls):
            started = process_time()
            call()
            best[i] = min(best[i], process_time() - started)
    return best


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
    (seconds,) = best_seconds(lambda: core.run(program))
    assert WORDS / seconds > 20_000


@pytest.mark.parametrize(
    ("dtype", "count", "channels", "most"),
    # 128 short rows take the kernel far less time than one long row, and lie on as many pages.
    [("fp32", 2048, 1, 2), ("u16", 4096, 1, 2), ("fp32", 16, 128, 2.5)],
)
def test_large_words(dtype: str, count: int, channels: int, most: float) -> None:
    core, repeats = a_core(), 100
    program = a_word(dtype, count, channels).encode() * repeats
    values = np.stack([core.sbuf.read(p, 0, count, dtype) for p in range(channels)])
    positions = np.tile(np.arange(count, dtype=f"u{values.itemsize}"), (channels, 1))

    def bare() -> None:
        for _ in range(repeats):
            core.engine.order_pairs(values, positions, Order())

    run, kernel = best_seconds(lambda: core.run(program), bare)
    assert run < most * kernel
