"""Reading what a device gave: which choices agree with it, and a profile made of them."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from lanesort.errors import ArgumentValueError, FileError
from lanesort.files import file_at
from lanesort.probe.case import Outcome
from lanesort.probe.probe import probe

__all__ = ["Fit", "fit", "fit_file", "read_profile", "write_profile"]

Array = npt.NDArray[Any]

FAMILIES = ("neuron", "pto")
MOST_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Fit:
    """What a device's result says about one unpinned behaviour.

    Attributes
    ----------
    id
        Of the behaviour.
    consistent
        Outcomes that agree bit for bit; empty if the device does something else.
    result
        What the device gave.
    """

    id: str
    consistent: tuple[Outcome, ...]
    result: Array

    @property
    def family(self) -> str:
        """``neuron`` or ``pto``: whose ``choices=`` takes the choice."""
        return "pto" if self.id.startswith("pto.") else "neuron"

    @property
    def choice(self) -> str | None:
        """The only choice on offer that agrees, or None."""
        offered = [outcome.choice for outcome in self.consistent if outcome.on_offer]
        return offered[0] if len(offered) == 1 else None

    def __str__(self) -> str:
        if not self.consistent:
            return f"{self.id}: no choice gives this result; the device does something else"
        agree = ", ".join(
            outcome.choice if outcome.on_offer else f"{outcome.choice} (not a choice)"
            for outcome in self.consistent
        )
        return f"{self.id}: {agree}"


def fit(results: Mapping[str, Any]) -> tuple[Fit, ...]:
    """Compare a device's results with those of every choice.

    Parameters
    ----------
    results
        By id of the unpinned behaviour: an array of the bits that `Probe.readout` asks for,
        in any shape and dtype of the right number of bytes.

    Raises
    ------
    ArgumentValueError
        For an id without a probe, or an array of another size.

    Examples
    --------
    >>> print(fit({"sort.tie-order": np.array([5, 5, 1, 0], np.uint32)})[0])
    sort.tie-order: high
    """
    return tuple(_fit(id, np.asarray(result)) for id, result in results.items())


def _fit(id: str, result: Array) -> Fit:
    made = probe(id)
    expected = made.outcomes[0].result
    if result.nbytes != expected.nbytes:
        raise ArgumentValueError(
            f"{id}: the result has {result.nbytes} bytes ({result.dtype}, shape {result.shape}); "
            f"the probe gives {expected.nbytes} ({expected.dtype}, shape {expected.shape})"
        )
    return Fit(id, made.consistent(result), result)


def fit_file(path: Path) -> tuple[Fit, ...]:
    """Compare the results in an .npz file, whose arrays are named by id; see `fit`.

    Raises
    ------
    FileError
        If the file can't be read as .npz, or holds no array.
    """
    file_at(path)
    if not zipfile.is_zipfile(path):
        raise FileError(f"{path}: no .npz file; results are an .npz with an array named by each id")
    try:
        with path.open("rb") as stream:
            results = _arrays(path, np.load(stream, allow_pickle=False))
    except FileError:
        raise
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise FileError(f"{path}: can't be read as .npz: {error}") from error
    return fit(results)


def _arrays(path: Path, archive: Any) -> dict[str, Array]:
    with zipfile.ZipFile(path) as members:
        size = sum(member.file_size for member in members.infolist())
    if size > MOST_BYTES:
        raise FileError(f"{path}: {size} bytes of arrays; results of all probes are less than {MOST_BYTES}")
    if not archive.files:
        raise FileError(f"{path}: holds no array; results are arrays named by the ids of their probes")
    return {name: archive[name] for name in archive.files}


def write_profile(fits: tuple[Fit, ...], path: Path) -> Mapping[str, Mapping[str, str]]:
    """Write the choices that the results decide, as JSON, and return them by family.

    Behaviours that several choices fit, or none, are left out.
    """
    profile: dict[str, dict[str, str]] = {family: {} for family in FAMILIES}
    for found in fits:
        if found.choice is not None:
            profile[found.family][found.id] = found.choice
    path.write_text(json.dumps(profile, indent=2) + "\n", "utf-8")
    return profile


def read_profile(path: Path, family: str) -> dict[str, str]:
    """Read the choices of a family from a profile; ``choices=`` takes them.

    Parameters
    ----------
    path
        File that `write_profile` wrote.
    family
        ``neuron`` or ``pto``.

    Raises
    ------
    ArgumentValueError
        For another family.
    FileError
        If the file is no profile.
    """
    if family not in FAMILIES:
        raise ArgumentValueError(f"family is {family!r}; accepted are {', '.join(map(repr, FAMILIES))}")
    file_at(path)
    try:
        profile = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise FileError(f"{path}: can't be read as a profile: {error}") from error
    choices = profile.get(family) if isinstance(profile, dict) else None
    if not isinstance(choices, dict) or not all(isinstance(choice, str) for choice in choices.values()):
        raise FileError(f"{path}: no profile: it has no choices by id under {family!r}")
    return choices
