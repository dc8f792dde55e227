"""``lanesort neuron encode``: assembly to bytes."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from lanesort.cli.neuron.words import LONGEST_NAME, Source, looks_like_path
from lanesort.errors import ArgumentValueError, FileError
from lanesort.files import written_aside
from lanesort.neuron import assemble_program

__all__ = ["encode"]

LARGEST_TEXT_BYTES = 64 << 20


def encode(
    source: Source,
    /,
    *,
    generation: str = "cayman",
    output: Annotated[Path | None, Parameter(name=["-o", "--output"])] = None,
) -> int:
    """Assemble a line, or a file of lines, into 64-byte words.

    Parameters
    ----------
    source
        A file of assembly, one line of it, or - for standard input.
    generation
        Whose memory map turns partitions into addresses.
    output
        Write raw binary here instead of printing hexadecimal digits.
    """
    text, name = _given(source)
    words = assemble_program(text, generation, name)
    if not words:
        what = source if source.strip() else "the argument is empty"
        raise ArgumentValueError(f"{what}: no word; a line looks like sort.fp32.desc.stable ch=1 src=…")
    if output is None:
        for word in words:
            sys.stdout.write(word.encode().hex() + "\n")
        return 0
    with written_aside(output) as file:
        for word in words:
            file.write(word.encode())
    return 0


def _given(source: str) -> tuple[str, str]:
    """Return the assembly and what it is called in messages."""
    if source == "-":
        return sys.stdin.read(), "<stdin>"
    path = Path(source)
    if len(source) <= LONGEST_NAME and "[" not in source and os.path.isfile(path):
        return _text(path), source
    if looks_like_path(source):
        raise FileError(f"{source}: {'is a folder' if os.path.isdir(path) else 'no such file'}")
    return source, "<text>"


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > LARGEST_TEXT_BYTES:
            raise FileError(f"{path}: more than {LARGEST_TEXT_BYTES >> 20} MiB of assembly; split it")
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise FileError(f"{path}: not text; a file of raw words is for `decode`") from None
