"""What a program gave on one engine, and how that is compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from lanesort.errors import LanesortError, UnsupportedPolicyError

__all__ = ["Outcome", "outcome_of"]


class Outcome(NamedTuple):
    """Bits and messages of one run.

    Attributes
    ----------
    results
        Outputs, counts, and the ids of the unpinned behaviours that they depend on; of a refused
        program the kind of refusal.
    messages
        Log lines, warnings, or the text of the refusal.
    lacking
        Whether the engine has not what the choices ask for.
    by_float
        Whether a NaN was ordered by comparing floats: the datapath has its own result then.
    """

    results: bytes
    messages: str
    lacking: bool = False
    by_float: bool = False


def outcome_of(run: Callable[[], Outcome]) -> Outcome:
    """Run a program; its refusal is an outcome too."""
    try:
        return run()
    except UnsupportedPolicyError as error:
        return Outcome(b"UnsupportedPolicyError", str(error), lacking=True)
    except LanesortError as error:
        return Outcome(type(error).__name__.encode(), str(error))


def by_float(unpinned: tuple[str, ...], id: str, choices: Mapping[str, str], default: str) -> bool:
    """Say whether a result hangs on where NaN goes, and that is not decided by its bits."""
    return id in unpinned and choices.get(id, default) not in ("total", "sign-magnitude")
