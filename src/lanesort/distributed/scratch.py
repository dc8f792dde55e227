"""Temporary folders for sorted runs, which a killed process can't leave behind for long.

A folder holds a lock for as long as its process lives. The next run in the same place removes
every folder whose lock is free.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lanesort.errors import FileError

__all__ = ["PREFIX", "remove_abandoned", "scratch_folder"]

PREFIX = ".lanesort-runs-"
_LOCK = "lock"


@contextmanager
def scratch_folder(parent: Path, bytes_needed: int) -> Iterator[Path]:
    """Make a folder for runs, and remove it at the end, however that comes.

    Parameters
    ----------
    parent
        Where to make it. Abandoned folders there are removed first.
    bytes_needed
        Space that the runs will take; less free space is an error before anything is written.

    Raises
    ------
    FileError
        If the folder can't be made or the space is not there.
    """
    remove_abandoned(parent)
    try:
        free = shutil.disk_usage(parent).free
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
    except OSError as error:
        raise FileError(f"{parent}: no temporary folder can be made there: {error.strerror}") from error
    lock = os.open(folder / _LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if free < bytes_needed:
            raise FileError(
                f"{parent}: sorted runs need {bytes_needed:,} bytes and {free:,} are free; "
                "choose another folder with temporary="
            )
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def remove_abandoned(parent: Path) -> list[Path]:
    """Remove the run folders in `parent` that no living process holds, and return them."""
    removed = []
    for folder in sorted(parent.glob(PREFIX + "*")):
        try:
            lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            continue
        else:
            shutil.rmtree(folder, ignore_errors=True)
            removed.append(folder)
        finally:
            os.close(lock)
    return removed
