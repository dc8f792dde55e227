"""Fuzz targets of the native merges, their arrays at guard pages, against the reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lanesort import _core, reference
from lanesort.engine.reference import ReferenceEngine
from lanesort.order import Order

from .guard import fenced_copy
from .head import Call, read_call
from .target_core import holds

__all__ = ["fuzz_merge", "fuzz_words"]

Array = npt.NDArray[Any]
MOST_PAIRS = 4096
ORACLE = ReferenceEngine()
TIES: tuple[Any, ...] = ("run", "low", "high")


def _sorted(x: Array, payload: Array, order: Order) -> tuple[Array, Array]:
    tie = {"low": payload, "high": ~payload}.get(order.tie, np.zeros(x.size))
    by = np.lexsort((tie, reference.ranks(x, order)))
    return x[by], payload[by]


def _strided(call: Call, x: Array) -> Array:
    """Put a run at the edge of a page, its items apart by the gap of the call."""
    bits = x.view(f"u{x.dtype.itemsize}")[:, None]
    return fenced_copy(bits, at_end=call.flag(0), shift=call.head.shift % 16, gap=call.head.gap % 32)[:, 0]


def fuzz_merge(data: bytes) -> None:
    """Merge runs of any lengths, to outputs that may be too short, and find where a run is unsorted."""
    call = read_call(data)
    if call is None:
        return
    order = call.order.replace(tie=TIES[call.head.extra % 3])
    call = call._replace(order=order)
    flat = call.values().reshape(-1)[:MOST_PAIRS]
    rng = call.random()
    cuts = np.sort(rng.integers(0, flat.size + 1, call.head.extra >> 2 & 15))
    most = 4 if call.flag(5) else 1 << 32
    payload = rng.integers(0, most, flat.size, np.uint64).astype(call.index_dtype)
    pieces = zip(np.split(flat, cuts), np.split(payload, cuts), strict=True)
    runs = [_sorted(x, p, order) for x, p in pieces]
    stop: Any = "first-exhausted" if call.flag(6) else "all"
    limit = call.head.offset % (flat.size + 1) if call.flag(4) else flat.size
    values, indices = call.output((limit,), call.dtype), call.output((limit,), call.index_dtype)
    consumed, are_sorted = _core.merge(
        [_strided(call, v) for v, _ in runs],
        [_strided(call, p) for _, p in runs],
        call.native_order,
        order.tie,
        values.array,
        indices.array,
        stop != "all",
        True,
        call.threads,
    )
    assert are_sorted
    expected = reference.merge(runs, order, stop=stop, limit=limit)
    n = len(expected.values)
    assert tuple(consumed) == expected.consumed
    holds(values.array[:n], expected.values, values)
    holds(indices.array[:n], expected.indices, indices)
    found = _core.first_unsorted(_strided(call, flat), _strided(call, payload), call.native_order, order.tie)
    assert found == reference.first_unsorted(flat, payload, order)


def fuzz_words(data: bytes) -> None:
    """Merge groups of runs of words of 8 bytes, sorted or not; of one group to a row that may be short."""
    call = read_call(data)
    if call is None or call.dtype.itemsize not in (2, 4):
        return
    order = call.order.replace(tie="later-run" if call.flag(5) else "run")
    call = call._replace(order=order.replace(tie="run"))
    ways = 1 + call.head.extra % 33
    length = min(call.columns // ways, MOST_PAIRS // (ways * call.rows))
    x = call.values()[:, : ways * length].reshape(call.rows, ways, length)
    if not call.flag(4):
        rank = reference.ranks(x, order)
        x = np.take_along_axis(x, np.argsort(rank, axis=-1, kind="stable"), axis=-1)
    width = 8 // call.dtype.itemsize
    words = np.frombuffer(call.random().bytes(x.size * 8), call.dtype).reshape(call.rows, ways, -1).copy()
    words[..., ::width] = x
    runs = [words[:, way] for way in range(ways)]
    one = call.rows == 1 and call.flag(6)
    limit = call.head.offset % (ways * length + 1) if one else None
    room = call.head.offset // 3 % (width * ways * length + 1) if one else width * ways * length
    out = call.output((call.rows, room), call.dtype)
    given = [call.given(run) for run in runs]
    tie, stop = order.tie == "later-run", one and bool(call.head.extra >> 6 & 1)
    consumed, unsorted, nan = _core.merge_words(
        given, call.native_order, out.array, tie, stop, limit, call.threads
    )
    expected = out.array.view(call.dtype).copy()
    seen = ORACLE.merge_runs(
        runs, order, out=expected, stop="first-exhausted" if stop else "all", limit=limit
    )
    assert (None if unsorted is None else tuple(unsorted), nan) == seen[1:]
    if unsorted is None:
        assert tuple(consumed) == seen.consumed
        holds(out.array, expected, out)
