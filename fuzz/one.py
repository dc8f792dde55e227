"""Runs one target under atheris: ``python -m fuzz.one module:function [libFuzzer options]``."""

from __future__ import annotations

import hashlib
import os
import sys
from importlib import import_module

import atheris

from .corpus import FRESH, folder_name

# The finder of an editable install loads modules in its own way, which leaves them without
# instruments: the usual ones, which are classes, come first.
sys.meta_path.sort(key=lambda finder: not isinstance(finder, type))

with atheris.instrument_imports(include=["lanesort"]):
    module, _, name = sys.argv[1].partition(":")
    target = getattr(import_module(f"fuzz.{module}"), name)

loader = type(sys.modules["lanesort"].__loader__).__name__
if "Atheris" not in loader:
    sys.exit(
        f"lanesort was imported by {loader}, which leaves it without instruments: fuzzing would be blind"
    )


def run(data: bytes) -> None:
    """Run the target; keep the input that it fails on, which libFuzzer does for crashes alone."""
    try:
        target(data)
    except BaseException:
        folder = FRESH / folder_name(sys.argv[1])
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"failure-{hashlib.blake2b(data, digest_size=8).hexdigest()}").write_bytes(data)
        raise


# To merge, libFuzzer starts its own first argument again.
atheris.Setup([os.environ.get("FUZZ_AGAIN", sys.argv[0]), *sys.argv[2:]], run)
atheris.Fuzz()
