"""``lanesort neuron run``: run a program of words."""

from __future__ import annotations

import json as json_text
import sys
from pathlib import Path

from lanesort.cli.neuron.state import CoreOptions, load_state, state_arrays
from lanesort.cli.neuron.words import Source, print_json, read_words
from lanesort.cli.options import Flag
from lanesort.evidence import unpinned_behaviours
from lanesort.files import write_together
from lanesort.neuron import NeuronCore, Result, chrome_trace

__all__ = ["report", "run"]

USUAL = CoreOptions()


def run(
    program: Source,
    /,
    *,
    sbuf: Path | None = None,
    out: Path | None = None,
    trace: Path | None = None,
    json: Flag = False,
    options: CoreOptions = USUAL,
) -> int:
    """Run a program of 64-byte words on a NeuronCore.

    Parameters
    ----------
    program
        A file of words or of hexadecimal digits, the digits, or - for standard input.
    sbuf
        .npz with what lies in memory: p<partition>+<byte> arrays, sbuf, registers, semaphores, events.
    out
        .npz for the state afterwards, and i<number>.values, .indices or .dst of each instruction.
    trace
        Chrome trace-event JSON, for Perfetto.
    json
        Print JSON.
    """
    core = options.core()
    words = read_words(program)
    if sbuf is not None:
        load_state(core, sbuf)
    result = core.run(words, options.mode)
    write_together(
        {} if out is None else {out: state_arrays(core, result)},
        {} if trace is None else {trace: json_text.dumps(chrome_trace(result.trace))},
    )
    if json:
        print_json(
            {
                "instructions": [str(word) for word in result.instructions],
                "log": result.log,
                "warnings": result.warnings,
                "unpinned": result.unpinned,
            }
        )
    else:
        report(core, result)
    return 0


def report(core: NeuronCore, result: Result) -> None:
    """Print log, warnings, and a line for each unpinned behaviour that the result depended on."""
    lines = [*result.log, *(f"warning: {text}" for text in result.warnings)]
    known = {entry.id: entry for entry in unpinned_behaviours("neuron")}
    lines += [
        f"unpinned: {id} = {core.choices[id]}: {known[id].choices[core.choices[id]]}"
        for id in result.unpinned
    ]
    count = len(result.instructions)
    lines.append(f"{count} instruction{'' if count == 1 else 's'} on {core.generation.name}")
    sys.stdout.write("\n".join(lines) + "\n")
