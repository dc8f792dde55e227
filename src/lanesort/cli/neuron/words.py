"""Words on the command line: a file of raw binary, or hexadecimal digits."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from lanesort.errors import ArgumentValueError, FileError
from lanesort.neuron import Instruction, Words, decode_many

__all__ = ["as_json", "print_json", "read_words"]

LONGEST_NAME = 4096


def read_words(source: str) -> Words:
    """Return the words of a file, mapped into memory, or of hexadecimal digits.

    Raises
    ------
    FileError, ArgumentValueError, DecodeError
        If there is no such file and the text is not hexadecimal, or the bytes are no words.
    """
    path = Path(source)
    if len(source) <= LONGEST_NAME and path.is_file():
        return decode_many(_mapped(path))
    digits = "".join(source.split())
    try:
        data = bytes.fromhex(digits)
    except ValueError:
        shown = source if len(source) <= 80 else f"{source[:80]}…"
        raise ArgumentValueError(f"{shown!r} is no file, and not hexadecimal digits") from None
    if not data:
        raise ArgumentValueError("no words: the argument is empty")
    return decode_many(data)


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
