"""How a tile instruction asks an engine for an order, and what in a result was open.

An engine that lacks a comparison policy is replaced by the reference engine, and the
result says so. Whether a result depended on an unpinned behaviour is read off the sorted
pairs, where NaNs stand at the ends and equal values side by side.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lanesort.engine.protocol import Engine, Verb, resolve
from lanesort.order import Order, key_class, keys, nan_mask

__all__ = ["Able", "able_engine", "descends_in_tie", "has_nan", "nan_decides"]

Array = npt.NDArray[Any]


class Able(NamedTuple):
    """An engine that has the policy asked for, and the warning if it is not the one named."""

    engine: Engine
    warnings: tuple[str, ...]


def able_engine(engine: str | Engine, verb: Verb, order: Order) -> Able:
    """Return the engine, or the reference engine where the first refuses `verb` under `order`."""
    asked = resolve(engine)
    lacking = asked.refusal(verb, order)
    if lacking is None:
        return Able(asked, ())
    warning = f"engine {asked.name!r} has no {lacking}; the reference engine ran instead"
    return Able(resolve("reference"), (warning,))


def has_nan(values: Array) -> bool:
    """Say whether any of the values is a NaN, by their bits."""
    cls = key_class(values.dtype)
    if cls.kind != "float" or not values.size:
        return False
    magnitude = values.view(cls.unsigned) & cls.unsigned.type((1 << (cls.bits - 1)) - 1)
    return bool(magnitude.max() > cls.infinity)


def nan_decides(blocks: Array) -> bool:
    """Say whether the order of sorted blocks, one a row, depended on where NaNs go.

    It does in a block that has NaNs and numbers, or NaNs of both signs.
    """
    if blocks.shape[1] < 2 or not has_nan(blocks[:, :: blocks.shape[1] - 1]):
        return False
    nan = nan_mask(blocks)
    some = nan.any(axis=1)
    mixed = some & ~nan.all(axis=1)
    if mixed.any():
        return True
    signs = np.signbit(blocks[some])
    return bool((signs.any(axis=1) & ~signs.all(axis=1)).any())


def descends_in_tie(values: Array, indices: Array, order: Order) -> bool:
    """Say whether in sorted rows an index falls between two neighbours of equal value.

    That is where ties by position and ties by index value part.
    """
    falls = indices[:, 1:] < indices[:, :-1]
    if not falls.any():
        return False
    key = keys(values, order)
    return bool((falls & (key[:, 1:] == key[:, :-1])).any())
