"""Opcodes: which word they belong to, and decoding by them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from lanesort.errors import ArgumentTypeError, DecodeError, counted
from lanesort.evidence import fact
from lanesort.neuron.nonzero_with_count import NonzeroWithCount
from lanesort.neuron.sort import Sort
from lanesort.neuron.word import WORD_BYTES, layout_of

__all__ = ["INSTRUCTIONS", "KNOWN_OPCODES", "AnyWord", "Words", "decode", "decode_many"]

AnyWord = Sort | NonzeroWithCount

INSTRUCTIONS: Mapping[int, type[Sort] | type[NonzeroWithCount]] = MappingProxyType(
    {cls.OPCODE: cls for cls in (Sort, NonzeroWithCount)}
)
"""The words that are modelled, by opcode."""

KNOWN_OPCODES: Mapping[int, str] = MappingProxyType(
    {
        0x7B: "TensorDequantize",
        0x98: "TensorScalarSelect",
        0xBE: "GetSequenceBounds",
        0xE0: "SparsityCompress",
        0xE1: "SparsityCompressTag",
    }
)
"""Sibling instructions: known, not modelled."""

SORT_MERGE = 0x97

fact(
    "neuron.sort",
    "0x97 is no instruction: it is a remark on a SortMerge in progress that never shipped; the next opcode, "
    "0x98, is TensorScalarSelect.",
    "observed",
    "high",
    "seed 000 §1 (correction), §6b",
)


def unknown(opcode: int) -> str:
    """Say what is known of an opcode that is not modelled."""
    if opcode == SORT_MERGE:
        return (
            "opcode 0x97 is no instruction: SortMerge was a work in progress and never shipped. "
            "Sort pieces with Sort (0x96) and an index_offset each, and merge them on the host, "
            "for example with lanesort.merge"
        )
    if opcode in KNOWN_OPCODES:
        return f"opcode {opcode:#04x} is {KNOWN_OPCODES[opcode]}, which is known but not modelled"
    modelled = ", ".join(f"{code:#04x} {cls.__name__}" for code, cls in INSTRUCTIONS.items())
    return f"opcode {opcode:#04x} is unknown; modelled are {modelled}"


def decode(data: bytes | bytearray | memoryview) -> AnyWord:
    """Decode one word.

    Parameters
    ----------
    data
        64 bytes. Every field but the opcode may hold anything; `validate` judges it.

    Raises
    ------
    DecodeError
        For a wrong length or an opcode that is not modelled, and says which.

    Examples
    --------
    >>> from lanesort import neuron
    >>> word = neuron.assemble("nonzero.i32 ch=16 src=[p0+0x0, 8:1] dst=[p0+0x40, 9:1]")
    >>> neuron.decode(word.encode()) == word
    True
    """
    if not isinstance(data, bytes | bytearray | memoryview):
        raise ArgumentTypeError(f"a word is {WORD_BYTES} bytes; got {type(data).__name__}")
    if len(data) != WORD_BYTES:
        raise DecodeError(f"a word has {WORD_BYTES} bytes; got {len(data)}")
    cls = INSTRUCTIONS.get(data[0])
    if cls is None:
        raise DecodeError(unknown(data[0]))
    return cls.decode(bytes(data))


class Words(Sequence[AnyWord]):
    """Many words, decoded when they are looked at.

    Parameters
    ----------
    data
        (n, 64) u8, every opcode one that is modelled.
    """

    def __init__(self, data: npt.NDArray[np.uint8]) -> None:
        self.data = data

    def __len__(self) -> int:
        return len(self.data)

    @overload
    def __getitem__(self, index: int) -> AnyWord: ...
    @overload
    def __getitem__(self, index: slice) -> Words: ...
    def __getitem__(self, index: int | slice) -> AnyWord | Words:
        if isinstance(index, slice):
            return Words(self.data[index])
        row = self.data[index]
        return INSTRUCTIONS[int(row[0])].decode(row.tobytes())

    def __iter__(self) -> Iterator[AnyWord]:
        for row in self.data:
            yield INSTRUCTIONS[int(row[0])].decode(row.tobytes())

    def positions(self, kind: type[Sort] | type[NonzeroWithCount]) -> npt.NDArray[np.intp]:
        """Return where the words of one instruction stand."""
        return np.flatnonzero(self.data[:, 0] == kind.OPCODE)

    def columns(self, kind: type[Sort] | type[NonzeroWithCount]) -> npt.NDArray[Any]:
        """Return the words of one instruction as a structured array: a column for each field.

        Examples
        --------
        >>> from lanesort import neuron
        >>> word = neuron.Sort(src=neuron.Tensor.at(0, 0, 8), dst=neuron.Tensor.at(0, 64, (2, 8)))
        >>> words = neuron.decode_many(word.encode() * 3)
        >>> words.columns(neuron.Sort)["dst"]["counts"].tolist()
        [[2, 8], [2, 8], [2, 8]]
        """
        rows = np.ascontiguousarray(self.data[self.positions(kind)])
        return rows.view(layout_of(kind).dtype)[:, 0]


def decode_many(data: bytes | bytearray | memoryview | npt.NDArray[np.uint8]) -> Words:
    """Decode many words at once.

    Parameters
    ----------
    data
        n × 64 bytes, or a u8 array of shape (n, 64) or (n · 64,); a memory map will do.

    Returns
    -------
    Words
        A sequence of words; `Words.columns` gives their fields as arrays.

    Raises
    ------
    DecodeError
        For bytes that are no whole number of words, or an opcode that is not modelled; says
        which word.
    """
    if isinstance(data, np.ndarray):
        if data.dtype != np.uint8:
            raise ArgumentTypeError(f"words are u8; got an array of {data.dtype}")
        if data.ndim == 2 and data.shape[1] != WORD_BYTES:
            raise DecodeError(f"a word has {WORD_BYTES} bytes; got rows of {data.shape[1]}")
        flat = data.reshape(-1)
    else:
        flat = np.frombuffer(data, np.uint8)
    if flat.size % WORD_BYTES:
        whole = flat.size // WORD_BYTES
        count = f"{flat.size} byte is" if flat.size == 1 else f"{flat.size} bytes are"
        raise DecodeError(
            f"{count} {counted(whole, 'word')} of {WORD_BYTES} bytes "
            f"and {flat.size % WORD_BYTES} more: truncated, or no words"
        )
    rows = flat.reshape(-1, WORD_BYTES)
    bad = np.flatnonzero(~np.isin(rows[:, 0], list(INSTRUCTIONS)))
    if bad.size:
        first = int(bad[0])
        raise DecodeError(f"word {first}: {unknown(int(rows[first, 0]))}")
    return Words(rows)
