"""The kept inputs: ``corpus/TARGET.zip`` is written by a run, ``corpus/TARGET/`` by people.

``python -m fuzz.corpus`` merges what fuzzing found in ``corpus-new`` into the archives, as few and
as small inputs as reach the same code.
"""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

__all__ = ["HERE", "folder_name", "kept", "pack", "unpack"]

HERE = Path(__file__).resolve().parent
_DATE = (1980, 1, 1, 0, 0, 0)


def folder_name(target: str) -> str:
    """Return the name that a target's files have."""
    return target.replace(":", "-")


def kept(target: str) -> list[bytes]:
    """Return the inputs kept for a target, those written by people first."""
    name = folder_name(target)
    inputs = [path.read_bytes() for path in sorted((HERE / "corpus" / name).glob("*"))]
    archive = HERE / "corpus" / f"{name}.zip"
    if archive.exists():
        with zipfile.ZipFile(archive) as packed:
            inputs += [packed.read(entry) for entry in sorted(packed.namelist())]
    return inputs


def pack(inputs: list[bytes], archive: Path) -> None:
    """Write inputs to an archive that depends on them alone."""
    by_name = {hashlib.blake2b(data, digest_size=8).hexdigest(): data for data in inputs}
    archive.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for name in sorted(by_name):
            packed.writestr(zipfile.ZipInfo(name, _DATE), by_name[name], zipfile.ZIP_DEFLATED, 9)


def unpack(target: str, folder: Path) -> None:
    """Write the inputs kept for a target to a folder, a file each."""
    folder.mkdir(parents=True, exist_ok=True)
    for data in kept(target):
        (folder / hashlib.blake2b(data, digest_size=8).hexdigest()).write_bytes(data)
