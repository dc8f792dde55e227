"""``lanesort neuron dump``: the bytes of words with a label for every field."""

from __future__ import annotations

import sys

from lanesort.cli.neuron.words import Source, read_words
from lanesort.neuron import dump as dump_of

__all__ = ["dump"]


def dump(source: Source, /, *, generation: str = "cayman") -> int:
    """Print a labelled hexadecimal dump of each word.

    Parameters
    ----------
    source
        A file of 64-byte words or of hexadecimal digits, the digits, or - for standard input.
    generation
        Whose memory map turns addresses into partitions.
    """
    for number, word in enumerate(read_words(source)):
        gap = "\n" if number else ""
        sys.stdout.write(f"{gap}word {number}: {word.assembly(generation)}\n{dump_of(word, generation)}\n")
    return 0
