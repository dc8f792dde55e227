"""Temporary folders for sorted runs, which a killed process can't leave behind for long.

Beside a folder lies a lock file that its process holds for as long as it lives. The next run in
the same place removes every folder whose lock is free. The lock is made first and removed last,
so that a kill at any moment leaves a lock to find the folder by.
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
LOCK = ".lock"


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
        lock, path = _new_lock(parent)
    except OSError as error:
        raise FileError(f"{parent}: no temporary folder can be made there: {error.strerror}") from error
    folder = path.with_suffix("")
    try:
        if free < bytes_needed:
            raise FileError(
                f"{parent}: sorted runs need {bytes_needed:,} bytes and {free:,} are free; "
                "choose another folder with temporary="
            )
        folder.mkdir(0o700)
        yield folder
    finally:
        _remove(folder, path)
        os.close(lock)


def _new_lock(parent: Path) -> tuple[int, Path]:
    """Make a lock file and hold it; return its descriptor and its path."""
    while True:
        lock, name = tempfile.mkstemp(prefix=PREFIX, suffix=LOCK, dir=parent)
        fcntl.flock(lock, fcntl.LOCK_EX)
        # Another run may have found the file before it was held, and taken it for abandoned.
        if os.path.exists(name) and os.path.samestat(os.fstat(lock), os.stat(name)):
            return lock, Path(name)
        os.close(lock)


def remove_abandoned(parent: Path) -> list[Path]:
    """Remove the run folders in `parent` that no living process holds, and return them."""
    removed = []
    for path in sorted(parent.glob(f"{PREFIX}*{LOCK}")):
        try:
            lock = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            continue
        else:
            folder = path.with_suffix("")
            _remove(folder, path)
            removed.append(folder)
        finally:
            os.close(lock)
    return removed


def _remove(folder: Path, lock: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    lock.unlink(missing_ok=True)
