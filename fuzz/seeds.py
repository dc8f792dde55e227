"""Inputs that our own encoders make: where fuzzing begins that would never guess a word or a program."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from lanesort.files import FORMATS, write_arrays
from lanesort.neuron import GENERATIONS, Instruction

from .head import DTYPES, TARGETS, Head
from .programs.compare import instructions
from .programs.neuron_programs import NeuronProgram

__all__ = ["seeds"]

ROOT = Path(__file__).resolve().parent.parent
MOST_PROGRAMS = 60


def _programs() -> Iterator[tuple[Instruction, ...]]:
    for number in range(MOST_PROGRAMS):
        made = instructions(number)
        if isinstance(made, NeuronProgram):
            yield made.words


def _words() -> Iterator[bytes]:
    yield from (word.encode() for words in _programs() for word in words)


def _assembly() -> Iterator[bytes]:
    yield from ("\n".join(map(str, words)).encode() for words in _programs())


def _runs() -> Iterator[bytes]:
    for number, words in enumerate(_programs()):
        yield bytes([number % len(GENERATIONS)]) + b"".join(word.encode() for word in words)


def _texts() -> Iterator[bytes]:
    for folder in (ROOT / "examples" / "pto", ROOT / "fuzz" / "programs"):
        yield from (path.read_bytes() for path in sorted(folder.glob("*.pto")))


def _files() -> Iterator[bytes]:
    arrays = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.zeros(3, np.int64)}
    with TemporaryDirectory() as folder:
        for number, suffix in enumerate(FORMATS):
            path = Path(folder) / f"seed{suffix}"
            for names in (["a"], ["b"]):
                one = {name: arrays[name].reshape(-1) for name in names}
                write_arrays(path, one)
                yield bytes([number]) + path.read_bytes()
    stored = io.BytesIO()
    with zipfile.ZipFile(stored, "w") as archive:
        archive.writestr("a.npy", b"\x93NUMPY\x01\x00")
    yield bytes([FORMATS.index(".npz")]) + stored.getvalue()


def _calls() -> Iterator[bytes]:
    rng = np.random.default_rng(1)
    for n in range(4 * len(DTYPES)):
        fields = [int(field) for field in rng.integers(0, 256, 8)]
        fields[0], fields[2] = n, n % len(TARGETS)
        columns = int(rng.choice([1, 7, 33, 130, 1100]))
        yield Head(*fields, columns, *map(int, rng.integers(0, 1 << 16, 2))).pack(rng.bytes(40))


def _jobs() -> Iterator[bytes]:
    rng = np.random.default_rng(2)
    yield from (bytes([n]) + rng.bytes(7 + int(rng.integers(300))) for n in range(2 * len(DTYPES)))


_SEEDS: Mapping[str, Callable[[], Iterator[bytes]]] = {
    "target_neuron:fuzz_decode": _words,
    "target_neuron:fuzz_assemble": _assembly,
    "target_neuron:fuzz_run": _runs,
    "target_pto_text": _texts,
    "target_pto_check": _texts,
    "target_pto_run": _texts,
    "target_files": _files,
    "target_core": _calls,
    "target_merge": _calls,
    "target_kernels": _jobs,
}


def seeds(target: str) -> list[bytes]:
    """Return the inputs that a target begins with."""
    return list(_SEEDS.get(target, _SEEDS.get(target.partition(":")[0], lambda: iter(())))())
