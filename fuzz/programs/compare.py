"""One block of programs on all engines: they agree, and what they agree on is folded."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import Any, NamedTuple

from .draws import Draws
from .neuron_programs import NeuronProgram
from .outcome import Outcome, outcome_of
from .pto_programs import PtoCalls, PtoText

__all__ = ["BLOCK", "DATAPATH_EVERY", "Signature", "block_signature", "compare", "instructions"]

BLOCK = 1000
DATAPATH_EVERY = 10
"""The datapath engine, which takes several times as long, runs one program in so many."""

MEMORIES = 8
"""Programs that follow one another have the same instructions, so many of them, on other data."""

FAMILIES: tuple[tuple[int, Any], ...] = ((40, NeuronProgram), (62, PtoCalls), (64, PtoText))


class Signature(NamedTuple):
    """What a block of programs gave: a hash of all results, and one of all messages."""

    results: str
    messages: str


@lru_cache(maxsize=4)
def instructions(number: int) -> Any:
    """Return the instructions of a list of programs, by the list's number."""
    draws = Draws(f"instructions {number}")
    family = draws.below(64)
    return next(made for below, made in FAMILIES if family < below).draw(draws)


def compare(number: int) -> Outcome:
    """Run a program on its engines and return what the native one gave.

    Raises
    ------
    AssertionError
        If another engine gave something else.
    """
    made = instructions(number // MEMORIES)
    data = made.data(Draws(f"data {number}"))
    native = outcome_of(lambda: made.run(data, "native"))
    others = ["reference"] if number % DATAPATH_EVERY else ["reference", "datapath"]
    for engine in others:
        other = outcome_of(lambda engine=engine: made.run(data, engine))
        own = engine == "datapath" and (native.by_float or other.by_float)
        if own or native.lacking or other.lacking:
            continue
        if other.results != native.results:
            raise AssertionError(f"program {number}: {engine} differs from native: {made}")
    return native


def block_signature(block: int) -> Signature:
    """Run the programs of a block and fold what they gave."""
    results, messages = hashlib.blake2b(digest_size=8), hashlib.blake2b(digest_size=8)
    for number in range(block * BLOCK, (block + 1) * BLOCK):
        outcome = compare(number)
        results.update(len(outcome.results).to_bytes(4, "little") + outcome.results)
        messages.update(outcome.messages.encode() + b"\n")
    return Signature(results.hexdigest(), messages.hexdigest())
