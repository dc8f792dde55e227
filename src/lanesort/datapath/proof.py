"""Proof that a network sorts, by the 0-1 principle.

A network sorts every input exactly if it sorts every input of zeros and ones. Up to
`EXHAUSTIVE_WIDTH` values all of them are tried, 64 inputs in a machine word; above that a
sample is: every threshold input of the sorted, reversed and rotated rows, and random ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from lanesort.datapath.network import Network

__all__ = ["EXHAUSTIVE_WIDTH", "Proof", "prove"]

EXHAUSTIVE_WIDTH = 24
_BLOCK_BITS = 20
_WORD_PATTERNS = (
    0xAAAAAAAAAAAAAAAA,
    0xCCCCCCCCCCCCCCCC,
    0xF0F0F0F0F0F0F0F0,
    0xFF00FF00FF00FF00,
    0xFFFF0000FFFF0000,
    0xFFFFFFFF00000000,
)
Words = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Proof:
    """What the 0-1 inputs showed.

    Attributes
    ----------
    sorts
        No input came out unsorted.
    exhaustive
        All inputs were tried, so `sorts` is proved and not only likely.
    inputs
        Inputs tried.
    counterexample
        An input that came out unsorted, else None.
    """

    sorts: bool
    exhaustive: bool
    inputs: int
    counterexample: tuple[int, ...] | None


def prove(network: Network, *, samples: int = 4096, seed: int = 0) -> Proof:
    """Try the network on inputs of zeros and ones.

    Parameters
    ----------
    network
        Any network.
    samples
        Random inputs where not all can be tried.
    seed
        Of the random inputs.

    Examples
    --------
    >>> from lanesort.datapath.network import network
    >>> prove(network("merge-exchange", 10))
    Proof(sorts=True, exhaustive=True, inputs=1024, counterexample=None)
    """
    if network.width <= EXHAUSTIVE_WIDTH:
        return _prove_all(network)
    rows = _sample(network.width, samples, seed)
    wires = _pack(rows)
    return _judge(_unsorted(network, wires.copy()), wires, len(rows), len(rows), exhaustive=False)


def _prove_all(network: Network) -> Proof:
    width = network.width
    block_bits = min(width, _BLOCK_BITS)
    for block in range(1 << (width - block_bits)):
        wires = _all_inputs(width, block, block_bits)
        bad = _unsorted(network, wires.copy())
        if bad.any():
            return _judge(bad, wires, 1 << block_bits, (block + 1) << block_bits, exhaustive=True)
    return Proof(True, True, 1 << width, None)


def _all_inputs(width: int, block: int, block_bits: int) -> Words:
    """Return for each wire its bit of the inputs number block·2^block_bits and onwards."""
    words = max(1, (1 << block_bits) // 64)
    number = np.arange(words, dtype=np.uint64)
    wires = np.empty((width, words), np.uint64)
    ones = ~np.uint64(0)
    for wire in range(width):
        if wire < len(_WORD_PATTERNS):
            wires[wire] = _WORD_PATTERNS[wire]
        elif wire < block_bits:
            wires[wire] = np.where(number >> np.uint64(wire - 6) & np.uint64(1), ones, np.uint64(0))
        else:
            wires[wire] = ones if block >> (wire - block_bits) & 1 else 0
    return wires


def _unsorted(network: Network, wires: Words) -> Words:
    """Run the network over packed inputs; a set bit marks an input that came out unsorted."""
    padding = np.full((network.lanes - network.width, wires.shape[1]), ~np.uint64(0))
    lanes = np.concatenate([wires, padding])
    for stage in network.stages:
        first, second = lanes[stage.first], lanes[stage.second]
        lanes[stage.first] = first & second
        lanes[stage.second] = first | second
    bad = lanes[:-1] & ~lanes[1:]
    return np.bitwise_or.reduce(bad, axis=0) if len(bad) else np.zeros(wires.shape[1], np.uint64)


def _judge(bad: Words, wires: Words, meant: int, tried: int, *, exhaustive: bool) -> Proof:
    marked = np.unpackbits(bad.view(np.uint8), bitorder="little")[:meant]
    if not marked.any():
        return Proof(True, exhaustive, tried, None)
    word, bit = divmod(int(marked.argmax()), 64)
    values = (wires[:, word] >> np.uint64(bit)) & np.uint64(1)
    return Proof(False, exhaustive, tried, tuple(map(int, values)))


def _sample(width: int, samples: int, seed: int) -> npt.NDArray[np.bool_]:
    random = np.random.default_rng(seed)
    shares = random.random((samples, 1))
    lane = np.arange(width)
    thresholds = lane >= np.linspace(0, width, min(width + 1, 512), dtype=np.int64)[:, None]
    return np.concatenate(
        [
            random.random((samples, width)) < shares,
            thresholds,
            ~thresholds,
            np.roll(thresholds, width // 3, axis=1),
        ]
    )


def _pack(rows: npt.NDArray[Any]) -> Words:
    filled = np.zeros((rows.shape[1], -(-len(rows) // 64) * 64), np.bool_)
    filled[:, : len(rows)] = rows.T
    return np.packbits(filled, axis=1, bitorder="little").view(np.uint64)
