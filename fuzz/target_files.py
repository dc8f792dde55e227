"""Fuzz target of the file readers: an array, or a FileError."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from pathlib import Path

from lanesort.errors import FileError
from lanesort.files import FORMATS, read_array

_FOLDER = tempfile.TemporaryDirectory()


def fuzz_read(data: bytes) -> None:
    """A file of any bytes is read or refused."""
    if not data:
        return
    path = Path(_FOLDER.name) / f"input{FORMATS[data[0] % len(FORMATS)]}"
    path.write_bytes(data[1:])
    with suppress(FileError):
        assert read_array(path).nbytes <= 1 << 28
