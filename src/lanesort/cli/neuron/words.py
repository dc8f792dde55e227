"""Words on the command line: a file of raw binary, or hexadecimal digits."""

from __future__ import annotations

import json
import os
import re
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from cyclopts import Parameter

from lanesort.errors import ArgumentValueError, FileError
from lanesort.neuron import Instruction, Words, decode_many
from lanesort.neuron.word import WORD_BYTES

__all__ = ["Source", "as_json", "looks_like_path", "print_json", "read_words"]

Source = Annotated[str, Parameter(allow_leading_hyphen=True)]
"""An argument that may be ``-``, for standard input."""

LONGEST_NAME = 4096
_DIGITS = re.compile(rb"[0-9a-fA-F\s]*")
_PATH = re.compile(r"[^\s=\[]*(?:/[^=\[]*|\.(?:asm|s|txt|hex|bin|words|npz|npy|json))")


def read_words(source: str) -> Words:
    """Return words: of a file, mapped into memory, of hexadecimal digits, or of standard input.

    Parameters
    ----------
    source
        A file of raw words or of hexadecimal digits, the digits themselves, or ``-``.

    Raises
    ------
    FileError, ArgumentValueError, DecodeError
        If there is no such file and the text is not hexadecimal, or the bytes are no words.
    """
    if source == "-":
        return decode_many(_digits(sys.stdin.buffer.read(), "standard input"))
    path = Path(source)
    if len(source) <= LONGEST_NAME and os.path.isfile(path):
        mapped = _mapped(path)
        # No opcode is a hexadecimal digit, so that the first bytes tell text from raw words.
        if _DIGITS.fullmatch(mapped[:WORD_BYTES].tobytes()):
            return decode_many(_digits(mapped.tobytes(), source))
        return decode_many(mapped)
    if looks_like_path(source):
        raise FileError(f"{source}: {'is a folder' if os.path.isdir(path) else 'no such file'}")
    shown = source if len(source) <= 80 else f"{source[:80]}…"
    if not _DIGITS.fullmatch(source.encode()):
        raise ArgumentValueError(f"{shown!r} is no file, and not hexadecimal digits")
    return decode_many(_digits(source.encode(), "the argument"))


def looks_like_path(source: str) -> bool:
    """Say whether an argument that is no file was meant to be one.

    Examples
    --------
    >>> looks_like_path("missing/p.asm"), looks_like_path("sort.fp32 ch=1"), looks_like_path("96")
    (True, False, False)
    """
    return len(source) <= LONGEST_NAME and _PATH.fullmatch(source) is not None


def _digits(data: bytes, where: str) -> bytes:
    """Return the bytes that hexadecimal digits spell; what is no text of digits stays as it is."""
    if not data.strip():
        raise ArgumentValueError(f"no words: {where} is empty")
    if not _DIGITS.fullmatch(data):
        return data
    digits = b"".join(data.split())
    if len(digits) % 2:
        raise ArgumentValueError(f"{where} has {len(digits)} hexadecimal digits; a byte has two")
    return bytes.fromhex(digits.decode())


def _mapped(path: Path) -> np.ndarray[Any, np.dtype[np.uint8]]:
    try:
        if path.stat().st_size == 0:
            raise FileError(f"{path}: the file is empty; it should hold words of 64 bytes")
        return np.memmap(path, np.uint8, "r")
    except (OSError, ValueError) as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"{path}: can't be read: {error}") from error


def as_json(word: Instruction) -> dict[str, Any]:
    """Return a word as plain data: name, text, bytes and raw fields."""
    fields = {
        name: value.hex() if isinstance(value, bytes) else value if isinstance(value, int) else asdict(value)
        for name, value in word.fields().items()
    }
    return {"name": type(word).__name__, "text": str(word), "hex": word.encode().hex(), "fields": fields}


def print_json(data: Any) -> None:
    """Print plain data as one line of JSON."""
    sys.stdout.write(json.dumps(data, ensure_ascii=False) + "\n")
