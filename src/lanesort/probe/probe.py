"""All probes by id, and the files that one needs on a device."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from lanesort.errors import ArgumentValueError
from lanesort.probe.case import Probe
from lanesort.probe.neuron import NEURON_PROBES, neuron_probe
from lanesort.probe.pto import PTO_PROBES, pto_probe

__all__ = ["PROBES", "UNDECIDED", "describe", "probe", "write_probe"]

PROBES = (*NEURON_PROBES, *PTO_PROBES)
"""Ids of the unpinned behaviours that the result of a program decides."""

UNDECIDED: Mapping[str, str] = MappingProxyType(
    {
        "sort.zero-channels": "a Sort of no channel writes nothing, run or refused; only a log tells",
        "neuron.maverick-map": "no other memory map is on offer, and no device is known",
        "imm.pointer": "only the documented rule is on offer; the body of the other check is not public",
        "pto.half-pad-slot": "no other choice is on offer: what the gap holds is not promised",
        "pto.exhausted-tail": "no other choice is on offer: what follows the merged pairs is stale",
    }
)
"""Unpinned behaviours without a probe, and why."""


@cache
def probe(id: str) -> Probe:
    """Return the probe for an unpinned behaviour.

    Raises
    ------
    ArgumentValueError
        For an unknown id, or one that no result decides; says why.

    Examples
    --------
    >>> probe("sort.zero-order").tells_apart
    True
    """
    if id in NEURON_PROBES:
        return neuron_probe(id)
    if id in PTO_PROBES:
        return pto_probe(id)
    if id in UNDECIDED:
        raise ArgumentValueError(f"{id} has no probe: {UNDECIDED[id]}")
    raise ArgumentValueError(
        f"no unpinned behaviour {id!r} has a probe; probes exist for {', '.join(PROBES)}"
    )


def describe(id: str) -> str:
    """Return a text that says what to run, where to look, and what each choice gives.

    Examples
    --------
    >>> print(describe("sort.tie-order").splitlines()[0])
    sort.tie-order: the order of equal values with stable = 0
    """
    made = probe(id)
    width = max(len(outcome.choice) for outcome in made.outcomes)
    lines = [f"{made.id}: {made.question}", f"runs on: {made.runs_on}", "", made.listing.rstrip()]
    if isinstance(made.program, bytes):
        lines.append(made.program.hex(" ", 4))
    lines += ["", *(f"{name}: {array.shape} {array.dtype}" for name, array in made.inputs.items())]
    lines += ["", f"result: {made.readout}"]
    for outcome in made.outcomes:
        digits = outcome.result.itemsize * 2
        shown = " ".join(f"{value:0{digits}x}" for value in outcome.result.ravel().tolist())
        lines.append(f"  {outcome.choice:<{width}}  {shown}")
        lines.append(f"  {'':<{width}}  {outcome.meaning}")
    lines += ["", f"Store the result as array {made.id!r} of results.npz, and run: lanesort fit results.npz"]
    return "\n".join(lines)


def write_probe(id: str, folder: Path) -> list[Path]:
    """Write what a device needs: the word or kernel, its input, and the description.

    Parameters
    ----------
    id
        Of the unpinned behaviour.
    folder
        Made if it is missing.

    Returns
    -------
    list of Path
        ``ID.bin`` or ``ID.pto``, ``ID.npz`` with the inputs, ``ID.txt``.
    """
    made = probe(id)
    folder.mkdir(parents=True, exist_ok=True)
    word = isinstance(made.program, bytes)
    program = folder / f"{id}.{'bin' if word else 'pto'}"
    program.write_bytes(made.program if isinstance(made.program, bytes) else made.program.encode())
    inputs = folder / f"{id}.npz"
    arrays: dict[str, Any] = dict(made.inputs)
    np.savez(inputs, **arrays)
    text = folder / f"{id}.txt"
    text.write_text(describe(id) + "\n", "utf-8")
    return [program, inputs, text]
