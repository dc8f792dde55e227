"""A `.pto` program from a file."""

from __future__ import annotations

from pathlib import Path

from lanesort.errors import FileError
from lanesort.files import file_at
from lanesort.pto.program import Module
from lanesort.pto.text.parser import parse

__all__ = ["read_program"]


def read_program(file: Path, *, manual: bool = False) -> Module:
    """Read and parse a program.

    Parameters
    ----------
    file
        Where it is.
    manual
        Honour its placement comments.

    Raises
    ------
    FileError
        If the file can't be read as text.
    ProgramError
        If it is no program.
    """
    file_at(file)
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise FileError(f"{file}: not a text file (byte {error.start} is not UTF-8)") from error
    except OSError as error:
        raise FileError(f"{file}: {error.strerror}") from error
    return parse(text, str(file), manual=manual)
