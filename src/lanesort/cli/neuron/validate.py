"""``lanesort neuron validate``: which rules words break."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import Literal

from lanesort.cli.neuron.words import Source, print_json, read_words
from lanesort.cli.options import Flag

__all__ = ["validate"]


def validate(
    source: Source,
    /,
    *,
    generation: str = "cayman",
    mode: Literal["strict", "device", "literal"] = "strict",
    json: Flag = False,
) -> int:
    """Print every rule that each word breaks; the exit code is 1 if there is one.

    Parameters
    ----------
    source
        A file of 64-byte words or of hexadecimal digits, the digits, or - for standard input.
    generation
        For which the words are to be valid.
    mode
        What to test: strict, what the device is said to honour besides, or the quoted predicate alone.
    json
        Print a line of JSON for each word.
    """
    broken = 0
    for number, word in enumerate(read_words(source)):
        violations = word.validate(generation, mode)
        broken += bool(violations)
        if json:
            found = [{k: _plain(v) for k, v in asdict(violation).items()} for violation in violations]
            print_json({"word": number, "text": word.assembly(generation), "violations": found})
            continue
        sys.stdout.write(
            f"{number}: {'valid' if not violations else 'INVALID'}  {word.assembly(generation)}\n"
        )
        sys.stdout.writelines(f"  {violation}\n" for violation in violations)
    return 1 if broken else 0


def _plain(value: object) -> object:
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, frozenset):
        return sorted(value)
    return value
