"""``lanesort neuron step``: walk through a program and show what each instruction changes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from lanesort.cli.neuron.state import BANKS, CoreOptions, load_state
from lanesort.cli.neuron.words import Source, read_words
from lanesort.neuron import NeuronCore, Result

__all__ = ["step"]

USUAL = CoreOptions()
MOST_SHOWN = 8


def step(program: Source, /, *, sbuf: Path | None = None, options: CoreOptions = USUAL) -> int:
    """Run a program one instruction at a time; at a terminal, Enter goes on and q ends.

    Parameters
    ----------
    program
        A file of words or of hexadecimal digits, the digits, or - for standard input.
    sbuf
        .npz with what lies in memory, as `lanesort neuron run` takes it.
    """
    core = options.core()
    words = read_words(program)
    if sbuf is not None:
        load_state(core, sbuf)
    for number, word in enumerate(words):
        before = _banks(core)
        memory = core.sbuf.snapshot()
        result = core.run([word], options.mode, first=number)
        lines = [f"{number}: {word.assembly(core.generation)}", *_changes(core, memory, before, result)]
        sys.stdout.write("\n".join(lines) + "\n")
        if _ended(number, len(words)):
            break
    return 0


def _ended(number: int, count: int) -> bool:
    if number + 1 == count or not sys.stdin.isatty():
        return False
    return input(f"[{number + 1} of {count}] ").strip().lower() == "q"


def _banks(core: NeuronCore) -> dict[str, list[int]]:
    return {name: list(getattr(core, name)) for name in BANKS}


def _changes(
    core: NeuronCore, memory: npt.NDArray[np.uint8], before: dict[str, list[int]], result: Result
) -> Iterator[str]:
    for line in result.log:
        yield f"  {line}"
    for text in result.warnings:
        yield f"  warning: {text}"
    for id in result.unpinned:
        yield f"  unpinned: {id} = {core.choices[id]}"
    changed = (core.sbuf.snapshot() != memory).sum(axis=1)
    for prepared in result.prepared:
        for name, access in prepared.outputs(core.choices).items():
            rows = core.sbuf.view(access)
            for partition, row in list(zip(access.partitions, rows, strict=True))[:MOST_SHOWN]:
                yield f"  p{partition} {name} {_shown(row.ravel())} ({changed[partition]} bytes changed)"
            if len(rows) > MOST_SHOWN:
                yield f"  … {len(rows) - MOST_SHOWN} more partitions"
    yield from _bank_changes(core, before)


def _bank_changes(core: NeuronCore, before: dict[str, list[int]]) -> Iterator[str]:
    for name, old in before.items():
        for index, (was, now) in enumerate(zip(old, getattr(core, name), strict=True)):
            if was != now:
                yield f"  {name[:-1]} {index}: {was} → {now}"


def _shown(row: npt.NDArray[Any]) -> str:
    text = " ".join(str(v) for v in row[:MOST_SHOWN])
    return f"{text} …" if row.size > MOST_SHOWN else text
