"""TCVT: from one element type to another, with a rounding mode."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from lanesort.errors import MachineError
from lanesort.evidence import fact

__all__ = ["ROUNDING_MODES", "convert"]

Array = npt.NDArray[Any]

fact(
    "pto.tcvt",
    "Floats become integers by the rounding mode, saturate at the ends of the type, and NaN becomes 0.",
    "inferred",
    "medium",
    "AscendC, Cast: saturation is the default",
)


def _away(x: Array) -> Array:
    """Round halves away from zero; x ± 0.5 itself may round, so compare the distance instead."""
    below = np.trunc(x)
    return np.asarray(below + np.copysign(np.abs(x - below) >= 0.5, x))


def _odd(x: Array) -> Array:
    below = np.floor(x)
    inexact = below != x
    even = np.remainder(below, 2) == 0
    return np.asarray(np.where(inexact & even, below + 1, below))


ROUNDING_MODES: Mapping[str, Callable[[Array], Array]] = MappingProxyType(
    {
        "RINT": np.rint,
        "ROUND": _away,
        "FLOOR": np.floor,
        "CEIL": np.ceil,
        "TRUNC": np.trunc,
        "ODD": _odd,
    }
)
"""Rounding to whole numbers, by the mode's name without ``CAST_``."""


def convert(dst: Array, src: Array, mode: str | None = None) -> None:
    """Convert each element of `src` to the dtype of `dst`.

    Parameters
    ----------
    dst, src
        Arrays of one shape.
    mode
        ``RINT`` (to nearest even, also what ``NONE`` and no mode mean), ``ROUND``,
        ``FLOOR``, ``CEIL``, ``TRUNC`` or ``ODD``, with or without ``CAST_`` before it.

    Raises
    ------
    MachineError
        For an unknown mode, or one other than RINT where a float is narrowed to a float.

    Examples
    --------
    >>> out = np.zeros(3, np.int32)
    >>> convert(out, np.float32([1.5, 2.5, np.nan]), "CAST_RINT")
    >>> out.tolist()
    [2, 2, 0]
    """
    name = (mode or "NONE").upper().removeprefix("CAST_")
    name = "RINT" if name == "NONE" else name
    if name not in ROUNDING_MODES:
        raise MachineError(f"rounding mode {mode!r} is unknown; accepted are {', '.join(ROUNDING_MODES)}")
    from_float, to_float = (x.dtype.kind not in "iub" for x in (src, dst))
    if from_float and not to_float:
        _to_integers(dst, src, ROUNDING_MODES[name])
    elif from_float and to_float and dst.dtype == src.dtype:
        dst[...] = ROUNDING_MODES[name](src).astype(dst.dtype) if mode else src
    elif from_float and to_float and dst.itemsize <= src.itemsize and name != "RINT":
        raise MachineError(f"{src.dtype} to {dst.dtype} is modelled rounding to nearest even, not {name}")
    else:
        dst[...] = src.astype(dst.dtype)


def _to_integers(dst: Array, src: Array, rounded: Callable[[Array], Array]) -> None:
    limits = np.iinfo(dst.dtype)
    whole = rounded(src.astype(np.float64))
    nan = np.isnan(whole)
    # The float next to the largest int64 is 2^63 already, hence >= and not >.
    above, below = whole >= float(limits.max), whole <= float(limits.min)
    inside = np.where(nan | above | below, 0.0, whole).astype(dst.dtype)
    inside[above], inside[below] = limits.max, limits.min
    dst[...] = inside
