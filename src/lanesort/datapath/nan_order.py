"""What networks do with NaN: the demonstration behind the unpinned ``sort.nan-order``.

An ordered compare is false for a NaN, so an exchange that meets one does what it does
without a comparison: nothing, or always. Where the NaN ends then depends on which lanes
meet, that is on the network, and the numbers around it may come out unsorted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lanesort.datapath.lanes import EXCHANGES, Exchange, comparand, run
from lanesort.datapath.network import FAMILIES, network
from lanesort.errors import ArgumentValueError
from lanesort.order import Order

__all__ = ["NAN_EXAMPLE", "NanOutcome", "demonstrate", "nan_outcomes"]

Array = npt.NDArray[Any]

NAN_EXAMPLE = np.array([3, np.nan, 1, -np.nan, 2, np.inf, 0, 4], np.float32)
"""Numbers, two NaNs of different sign and an infinity."""


class NanOutcome(NamedTuple):
    """What one network gives.

    Attributes
    ----------
    family
        Of the network.
    exchange
        How the compare is used; one of `lanesort.datapath.lanes.EXCHANGES`.
    stable
        Whether the index is the second key.
    values, indices
        The result. Under ``num`` values are not those at the indices.
    """

    family: str
    exchange: Exchange
    stable: bool
    values: Array
    indices: Array


def nan_outcomes(
    values: Array = NAN_EXAMPLE, *, descending: bool = False, families: tuple[str, ...] = ()
) -> Iterator[NanOutcome]:
    """Run a row with NaN through every network and every use of the compare.

    Parameters
    ----------
    values
        One row of floats.
    descending
        Largest first.
    families
        Networks; all that are wide enough if none is given.

    Yields
    ------
    NanOutcome
        One for each network, exchange and stability.

    Examples
    --------
    >>> for outcome in nan_outcomes(np.array([2, np.nan, 1, 0], np.float32), families=("bitonic",)):
    ...     print(outcome.exchange, outcome.stable, outcome.values.tolist())
    swap False [1.0, nan, 0.0, 2.0]
    swap True [nan, 1.0, 0.0, 2.0]
    keep False [0.0, 1.0, 2.0, nan]
    keep True [nan, 1.0, 0.0, 2.0]
    num False [0.0, 1.0, 2.0, 2.0]
    num True [0.0, 1.0, 2.0, 2.0]
    """
    if values.ndim != 1:
        raise ArgumentValueError(f"one row of values is wanted; this array has shape {values.shape}")
    seen = comparand(values, Order(descending=descending))[None]
    tags = np.arange(len(values), dtype=np.int64)[None]
    chosen = families or tuple(name for name, kind in FAMILIES.items() if kind.most >= len(values))
    for family in chosen:
        for exchange in EXCHANGES:
            for stable in (False, True):
                moved, indices = run(
                    network(family, len(values)),
                    seen,
                    tags,
                    descending=descending,
                    tie_by_tag=stable,
                    exchange=exchange,
                )
                # Except under num the bits that come out are those that went in.
                out = moved[0] if exchange == "num" else values[indices[0]]
                yield NanOutcome(family, exchange, stable, out.astype(values.dtype), indices[0])


def demonstrate(values: Array = NAN_EXAMPLE, *, descending: bool = False) -> Iterator[str]:
    """Say what the networks do with a row: a line for each different result, after the input.

    Parameters are those of `nan_outcomes`.

    Examples
    --------
    >>> lines = list(demonstrate(np.array([2, np.nan, 1], np.float32)))
    >>> lines[0]
    '2 nan 1 (0 1 2): the input, ascending'
    >>> lines[1]
    '2 nan 1 (0 1 2): bitonic swap, bitonic swap stable, bitonic keep stable'
    """
    found: dict[str, list[str]] = {}
    for outcome in nan_outcomes(values, descending=descending):
        name = f"{outcome.family} {outcome.exchange}{' stable' if outcome.stable else ''}"
        found.setdefault(_shown(outcome.values, outcome.indices), []).append(name)
    direction = "descending" if descending else "ascending"
    yield f"{_shown(values, np.arange(len(values)))}: the input, {direction}"
    for shown, names in found.items():
        yield f"{shown}: {', '.join(names)}"


def _shown(values: Array, indices: Array) -> str:
    numbers = " ".join(f"{float(value):g}" for value in values)
    return f"{numbers} ({' '.join(map(str, indices.tolist()))})"
