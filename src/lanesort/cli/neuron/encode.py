"""``lanesort neuron encode``: assembly to bytes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from lanesort.errors import ArgumentValueError, FileError
from lanesort.files import written_aside
from lanesort.neuron import assemble_program

__all__ = ["encode"]

LARGEST_TEXT_BYTES = 64 << 20


def encode(
    source: str,
    /,
    *,
    generation: str = "cayman",
    output: Annotated[Path | None, Parameter(name=["-o", "--output"])] = None,
) -> int:
    """Assemble a line, or a file of lines, into 64-byte words.

    Parameters
    ----------
    source
        A file of assembly, or one line of it.
    generation
        Whose memory map turns partitions into addresses.
    output
        Write raw binary here instead of printing hexadecimal digits.
    """
    path = Path(source)
    is_file = len(source) < 4096 and "[" not in source and path.is_file()
    words = assemble_program(_text(path) if is_file else source, generation, source if is_file else "<text>")
    if not words:
        raise ArgumentValueError(f"{source}: no word; a line looks like sort.fp32.desc.stable ch=1 src=…")
    if output is None:
        for word in words:
            sys.stdout.write(word.encode().hex() + "\n")
        return 0
    with written_aside(output) as file:
        for word in words:
            file.write(word.encode())
    return 0


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > LARGEST_TEXT_BYTES:
            raise FileError(f"{path}: more than {LARGEST_TEXT_BYTES >> 20} MiB of assembly; split it")
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise FileError(f"{path}: not text; a file of raw words is for `decode`") from None
