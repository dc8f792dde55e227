"""What a core takes as a program: instructions, their bytes, or many words in one array."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from lanesort.errors import ArgumentTypeError
from lanesort.neuron.instruction import Instruction
from lanesort.neuron.opcodes import Words, decode_many

__all__ = ["Program", "words_of"]

Program = Iterable[Instruction | bytes] | bytes | npt.NDArray[np.uint8] | Words


def words_of(program: Any) -> Iterator[Instruction | bytes]:
    """Yield the words of a program, decoded or not, as they were given.

    Raises
    ------
    ArgumentTypeError
        For what is no program, or holds what is no word.
    DecodeError
        For bytes that are no whole number of words.
    """
    if isinstance(program, Words):
        program = program.data
    if isinstance(program, bytes | bytearray | memoryview | np.ndarray):
        for row in decode_many(program).data:
            yield row.tobytes()
        return
    if isinstance(program, Instruction):
        yield program
        return
    if isinstance(program, str) or not isinstance(program, Iterable):
        raise ArgumentTypeError(
            f"program is {program!r:.60}; expected instructions, their bytes, or an (n, 64) u8 array"
        )
    for word in program:
        if isinstance(word, Instruction):
            yield word
        elif isinstance(word, bytes | bytearray | memoryview):
            yield bytes(word)
        elif isinstance(word, np.ndarray):
            yield word.tobytes()
        else:
            raise ArgumentTypeError(f"{word!r} is neither an instruction nor the 64 bytes of one")
