"""How a tile instruction asks an engine for an order, and what in a result was open.

An engine that lacks a comparison policy is replaced by the reference engine, and the
result says so. Whether a result depended on an unpinned behaviour is read off the sorted
pairs, where NaNs stand at the ends and equal values side by side.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lanesort.engine.protocol import Engine, Verb, resolve
from lanesort.evidence import unpinned
from lanesort.order import Order, key_class, keys, nan_mask

__all__ = [
    "Able",
    "Piece",
    "able_engine",
    "ascends_in_blocks",
    "descends_in_tie",
    "has_nan",
    "nan_decides",
    "row_pieces",
]

Array = npt.NDArray[Any]

unpinned(
    "pto.nan-order",
    ("pto.tsort32", "pto.tmrgsort"),
    "Where NaN goes.",
    "AscendC documentation: inf is the maximum, NaN first (TopK); PTO specification: numbers before NaN; the "
    "pad of a tail is a negative NaN that must sort last (seed 002)",
    {
        "sign-magnitude": "positive NaN above +inf, negative NaN below -inf",
        "last": "after every number",
        "largest": "before every number",
        "compare-false": "plain >, false for every NaN; a sort under it is not defined, only a merge",
    },
)


class Able(NamedTuple):
    """An engine that has the policy asked for, and the warning if it is not the one named."""

    engine: Engine
    warnings: tuple[str, ...]


@lru_cache(maxsize=512)
def able_engine(engine: Any, verb: Verb, order: Order) -> Able:
    """Return the engine, or the reference engine where the first refuses `verb` under `order`."""
    asked = resolve(engine)
    lacking = asked.refusal(verb, order)
    if lacking is None:
        return Able(asked, ())
    warning = f"engine {asked.name!r} has no {lacking}; the reference engine ran instead"
    return Able(resolve("reference"), (warning,))


def has_nan(values: Array) -> bool:
    """Say whether any of the values is a NaN."""
    if not values.size:
        return False
    if values.dtype == np.float32:
        with np.errstate(invalid="ignore"):  # a signalling NaN
            return bool(np.isnan(values.max()))
    test = _nan_test(values.dtype)
    if test is None:
        return False
    # Signed, NaNs without a sign lie above infinity; unsigned, those with one above all.
    return bool(
        values.view(test.signed).max() > test.infinity
        or values.view(test.unsigned).max() > test.negative_infinity
    )


class _NanTest(NamedTuple):
    signed: np.dtype[Any]
    unsigned: np.dtype[Any]
    infinity: int
    negative_infinity: int


@lru_cache(maxsize=16)
def _nan_test(dtype: np.dtype[Any]) -> _NanTest | None:
    cls = key_class(dtype)
    if cls.kind != "float":
        return None
    sign = 1 << (cls.bits - 1)
    return _NanTest(np.dtype(f"i{cls.bits // 8}"), cls.unsigned, cls.infinity, sign | cls.infinity)


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


def ascends_in_blocks(indices: Array, block: int) -> bool:
    """Say whether indices never fall inside a block, so that both tie rules agree."""
    falls = indices[:, 1:] < indices[:, :-1]
    if not falls.any():
        return True
    falls[:, block - 1 :: block] = False
    return not falls.any()


class Piece(NamedTuple):
    """Blocks to order: (N, n) values, indices that serve them by turns, and their (N, columns) of dst."""

    dst: Array
    values: Array
    indices: Array


def row_pieces(dst: Array, values: Array, indices: Array, block: int) -> Iterator[Piece]:
    """Cut rows into blocks, in as few pieces as their memory allows; a tail is the last piece.

    Parameters
    ----------
    dst
        Shape (R, columns of pairs or more).
    values
        Shape (R, columns).
    indices
        Shape (R, columns or more), or one row for all.
    block
        Elements of a block.
    """
    rows, columns = values.shape
    width = 8 // values.itemsize
    whole = columns // block * block
    adjacent = dst.flags.c_contiguous and values.flags.c_contiguous and dst.shape[1] == width * whole
    if whole and (rows == 1 or (adjacent and whole == columns)):
        into = dst[:, : width * whole].reshape(-1, width * block)
        payload = indices[:, :whole].reshape(-1, block)
        yield Piece(into, values[:, :whole].reshape(-1, block), payload)
    elif whole > block * rows:
        for row in range(rows):
            into = dst[row, : width * whole].reshape(-1, width * block)
            payload = indices[row % len(indices), :whole].reshape(-1, block)
            yield Piece(into, values[row, :whole].reshape(-1, block), payload)
    else:
        for first in range(0, whole, block):
            yield _columns(dst, values, indices, first, first + block)
    if whole < columns:
        yield _columns(dst, values, indices, whole, columns)


def _columns(dst: Array, values: Array, indices: Array, first: int, last: int) -> Piece:
    width = 8 // values.itemsize
    return Piece(dst[:, width * first : width * last], values[:, first:last], indices[:, first:last])
