"""The kept inputs: ``corpus/TARGET.zip`` is written by a program, ``corpus/TARGET/`` by people.

``python -m fuzz.corpus`` writes the archives anew: of the seeds, of what was kept, and of what
fuzzing has found since (``corpus-new``), as few and as small inputs as reach the same code.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

__all__ = ["FRESH", "KEPT", "LONGEST_INPUT", "folder_name", "kept", "pack", "unpack"]

HERE = Path(__file__).resolve().parent
KEPT, FRESH = HERE / "corpus", HERE / "corpus-new"
LONGEST_INPUT = 8192
_DATE = (1980, 1, 1, 0, 0, 0)
NATIVE = ("target_core", "target_merge", "target_kernels")
"""Targets of the native core, which has no instruments: what its code reaches is not seen."""
MOST_BYTES = 32_000
"""Of an archive; where more would be kept, the longest inputs are left out."""


def folder_name(target: str) -> str:
    """Return the name that a target's files have."""
    return target.replace(":", "-")


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=8).hexdigest()


def kept(target: str) -> list[bytes]:
    """Return the inputs kept for a target, those written by people first."""
    name = folder_name(target)
    inputs = [path.read_bytes() for path in sorted((KEPT / name).glob("*"))]
    archive = KEPT / f"{name}.zip"
    if archive.exists():
        with zipfile.ZipFile(archive) as packed:
            inputs += [packed.read(entry) for entry in sorted(packed.namelist())]
    return inputs


def pack(inputs: Iterable[bytes], archive: Path) -> None:
    """Write inputs to an archive that depends on them alone."""
    by_name = {_digest(data): data for data in inputs}
    archive.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(archive, "w") as packed:
        for name in sorted(by_name):
            packed.writestr(zipfile.ZipInfo(name, _DATE), by_name[name], zipfile.ZIP_DEFLATED, 9)


def unpack(inputs: Iterable[bytes], folder: Path) -> None:
    """Write inputs to a folder, a file each."""
    folder.mkdir(parents=True, exist_ok=True)
    for data in inputs:
        (folder / _digest(data)).write_bytes(data)


def minimise(target: str, inputs: Iterable[bytes], always: Iterable[bytes]) -> None:
    """Keep the inputs of these that reach code which no shorter one of them reaches.

    Of targets of the native core the inputs `always` are kept as well.
    """
    with tempfile.TemporaryDirectory() as folder:
        every, few = Path(folder) / "every", Path(folder) / "few"
        unpack(inputs, every)
        few.mkdir()
        again = Path(folder) / "again"
        again.write_text(f'#!/bin/sh\nFUZZ_AGAIN="$0" exec {sys.executable} -m fuzz.one {target} "$@"\n')
        again.chmod(0o755)
        command = [again, "-merge=1", f"-max_len={LONGEST_INPUT}", few, every]
        subprocess.run(command, cwd=HERE.parent, check=True)
        reaching = {path.read_bytes() for path in few.iterdir()}
    if target.startswith(NATIVE):
        reaching.update(always)
    chosen = sorted(reaching, key=lambda data: (len(data), data))
    archive = KEPT / f"{folder_name(target)}.zip"
    pack(chosen, archive)
    while archive.stat().st_size > MOST_BYTES:
        chosen = chosen[: len(chosen) * 9 // 10]
        pack(chosen, archive)
    sys.stdout.write(f"{target}: {len(chosen)} inputs, {archive.stat().st_size} bytes\n")


def main() -> None:
    """Write the archives of all targets, or of those asked for."""
    from .__main__ import targets  # noqa: PLC0415 - which needs this module
    from .seeds import seeds  # noqa: PLC0415 - as do the programs

    parser = argparse.ArgumentParser(prog="fuzz.corpus", description=__doc__)
    parser.add_argument("--only", default="", help="targets whose name contains this")
    only = parser.parse_args().only
    for target in (t for t in targets() if only in t):
        fresh = [p.read_bytes() for p in (FRESH / folder_name(target)).glob("*") if p.is_file()]
        minimise(target, [*seeds(target), *kept(target), *fresh], seeds(target))


if __name__ == "__main__":
    main()
