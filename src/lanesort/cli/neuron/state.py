"""The state of a core in `.npz` files, and the options that make a core."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
from cyclopts import Parameter

from lanesort.errors import ArgumentValueError, FileError, LanesortError
from lanesort.files import read_array
from lanesort.neuron import NeuronCore, Result

__all__ = ["BANKS", "CoreOptions", "load_state", "state_arrays"]

Array = npt.NDArray[Any]

LARGEST_STATE_BYTES = 1 << 30
BANKS = ("registers", "semaphores", "events")
_PLACE = re.compile(r"p(\d{1,3})\+(0x[0-9a-fA-F]{1,8}|\d{1,8})")


@Parameter(name="*")
@dataclass(frozen=True)
class CoreOptions:
    """How the core is made.

    Attributes
    ----------
    generation
        sunda, cayman, mariana, mariana_plus or maverick.
    engine
        Who orders the pairs: native, reference or datapath.
    build
        debug prints log lines, release none.
    mode
        How words are validated.
    choice
        ID=CHOICE for an unpinned behaviour; may be given several times.
    """

    generation: str = "cayman"
    engine: str = "native"
    build: Literal["debug", "release"] | None = None
    mode: Literal["strict", "device", "literal"] = "strict"
    choice: Annotated[tuple[str, ...], Parameter(consume_multiple=False, negative="")] = ()

    def core(self) -> NeuronCore:
        """Make the core."""
        return NeuronCore(self.generation, engine=self.engine, build=self.build, choices=self.choices())

    def choices(self) -> dict[str, str]:
        """Return the choices by id."""
        made: dict[str, str] = {}
        for text in self.choice:
            id, equals, choice = text.partition("=")
            if not equals:
                raise ArgumentValueError(
                    f"--choice {text!r} is not ID=CHOICE, for example sort.nan-order=total"
                )
            if id in made:
                raise ArgumentValueError(f"--choice {id} is given twice: {made[id]} and {choice}")
            made[id] = choice
        return made


def load_state(core: NeuronCore, path: Path) -> None:
    """Put the arrays of an `.npz` file into a core.

    ``p3+0x40`` is an array for partition 3 from byte 0x40 on, its rows for the partitions that
    follow; ``sbuf`` holds bytes, partitions × bytes; ``registers``, ``semaphores`` and
    ``events`` hold numbers.

    Raises
    ------
    FileError
        For a file that can't be read, an array that does not fit, or an unknown name.
    """
    for name in _names(path):
        array = read_array(path, name)
        try:
            _load(core, name, array)
        except (LanesortError, IndexError) as error:
            raise FileError(f"{path}: array {name!r}: {error}") from error


def _names(path: Path) -> list[str]:
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
    except OSError as error:
        said = "no such file" if isinstance(error, FileNotFoundError) else error.strerror
        raise FileError(f"{path}: {said}") from error
    except zipfile.BadZipFile as error:
        raise FileError(f"{path}: no .npz file: {error}") from error
    size = sum(entry.file_size for entry in entries)
    if size > LARGEST_STATE_BYTES:
        raise FileError(f"{path}: holds {size} bytes; a core takes at most {LARGEST_STATE_BYTES}")
    return [entry.filename.removesuffix(".npy") for entry in entries]


def _load(core: NeuronCore, name: str, array: Array) -> None:
    if name in BANKS:
        bank = getattr(core, name)
        for index, value in enumerate(array.ravel()):
            bank[index] = value
        return
    if name == "sbuf":
        if array.dtype != np.uint8 or array.ndim != 2:
            raise ArgumentValueError(
                f"is {array.dtype} of shape {array.shape}; sbuf holds raw bytes, uint8, partitions × bytes "
                "(values of another dtype go to p<partition>+<byte>)"
            )
        core.sbuf.write(0, 0, array)
        return
    place = _PLACE.fullmatch(name)
    if place is not None:
        core.sbuf.write(int(place[1]), int(place[2], 0), array)
    elif not re.match(r"i\d+\.", name):
        # i<number>.<name> are results of an earlier run and part of its sbuf.
        raise ArgumentValueError("unknown name; expected p<partition>+<byte>, sbuf, " + ", ".join(BANKS))


def state_arrays(core: NeuronCore, result: Result) -> Mapping[str, Array]:
    """Return a core's state as arrays: what `load_state` reads, and ``i<number>.<name>`` for results."""
    arrays: dict[str, Array] = {
        f"i{number}.{name}": core.sbuf.view(access).copy()
        for number, prepared in enumerate(result.prepared)
        for name, access in prepared.outputs(core.choices).items()
    }
    arrays["sbuf"] = core.sbuf.snapshot()[:, : core.sbuf.used_bytes]
    arrays["registers"] = np.array(list(core.registers), np.uint32)
    arrays["semaphores"] = np.array(list(core.semaphores), np.uint32)
    arrays["events"] = np.array(list(core.events), np.uint8)
    return arrays
