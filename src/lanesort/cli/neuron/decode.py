"""``lanesort neuron decode``: bytes to assembly."""

from __future__ import annotations

import sys

from lanesort.cli.neuron.words import Source, as_json, print_json, read_words
from lanesort.cli.options import Flag

__all__ = ["decode"]


def decode(source: Source, /, *, generation: str = "cayman", json: Flag = False) -> int:
    """Print a line of assembly for each word.

    Parameters
    ----------
    source
        A file of 64-byte words or of hexadecimal digits, the digits, or - for standard input.
    generation
        Whose memory map turns addresses into partitions.
    json
        Print a line of JSON for each word instead.
    """
    for word in read_words(source):
        if json:
            print_json(as_json(word))
        else:
            sys.stdout.write(word.assembly(generation) + "\n")
    return 0
