"""Fuzz targets of the native core: every kernel against the reference, its arrays at guard pages.

A kernel that reads or writes beyond an array dies there; one that writes elsewhere changes a
fill byte; one that gives another result than the reference fails.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lanesort import _core, reference
from lanesort.engine.pairs import any_nan
from lanesort.order import Order, keys

from .guard import FILL, Fenced
from .head import Call, read_call

__all__ = ["fuzz_compact", "fuzz_gather", "fuzz_keys", "fuzz_sort", "fuzz_top_k"]

Array = npt.NDArray[Any]


def holds(found: Array, expected: Array, *outputs: Fenced) -> None:
    """Fail unless an output holds the expected bits and nothing beside it was written."""
    assert all(output.intact() for output in outputs), "bytes beside an output were written"
    assert found.shape == expected.shape, f"{found.shape} for {expected.shape}"
    bits = np.ascontiguousarray(expected).view(f"u{expected.dtype.itemsize}")
    assert np.array_equal(found, bits.astype(found.dtype)), f"{found} for {bits}"


def _lengths(call: Call) -> Array:
    """Return how much of each row counts: all of it, or what a free bit and the body say."""
    if not call.flag(4):
        return np.full(call.rows, call.columns, np.int64)
    return call.random().integers(0, call.columns, call.rows, np.int64, endpoint=True)


def fuzz_sort(data: bytes) -> None:
    """sort_pairs of rows, with values, indices or payload, as a list of pairs or not."""
    call = read_call(data)
    if call is None:
        return
    x, lengths = call.values(), _lengths(call)
    shape = x.shape
    payload = None
    if call.head.extra & 1:
        payload = call.random().integers(0, 1 << 32, (1 if call.flag(6) else call.rows, shape[1]), np.uint32)
    values, indices, outputs = _pair_outputs(call, shape)
    nan = _core.sort_pairs(
        call.given(x),
        call.native_order,
        values,
        indices,
        call.head.offset,
        None if payload is None or indices is None else call.given(payload.astype(indices.dtype)),
        call.given(lengths) if call.flag(4) else None,
        indices is not None,
        call.threads,
    )
    assert nan == (indices is not None and any(any_nan(x[row, :n]) for row, n in enumerate(lengths)))
    for row, n in enumerate(lengths):
        taken = None if payload is None else payload[row % len(payload)][None, :n]
        expected = reference.argsort(x[row : row + 1, :n], call.order)
        if values is not None:
            holds(values[row : row + 1, :n], np.take_along_axis(x[row : row + 1, :n], expected, 1), *outputs)
        if indices is not None:
            by = expected + call.head.offset if taken is None else np.take_along_axis(taken, expected, 1)
            holds(indices[row : row + 1, :n], by, *outputs)


def _pair_outputs(call: Call, shape: tuple[int, int]) -> tuple[Array | None, Array | None, list[Fenced]]:
    """Make the outputs of a sort: both, either, or one list of pairs of eight bytes."""
    size = call.dtype.itemsize
    if call.flag(5) and size <= 4:
        pair = np.dtype(
            {"names": ["v", "i"], "formats": [f"u{size}", "u4"], "offsets": [0, 4], "itemsize": 8}
        )
        both = call.output(shape, pair)
        return both.array["v"], both.array["i"], [both]
    wanted = ("both", "both", "values", "indices")[call.head.extra >> 1 & 3]
    index = np.dtype("u2") if call.head.extra >> 3 & 1 and shape[1] <= 1 << 15 else call.index_dtype
    values = call.output(shape, call.dtype) if wanted != "indices" else None
    indices = call.output(shape, index) if wanted != "values" else None
    made = [output for output in (values, indices) if output is not None]
    return _array(values), _array(indices), made


def _array(output: Fenced | None) -> Array | None:
    return None if output is None else output.array


def fuzz_top_k(data: bytes) -> None:
    """top_k of rows, by value or by index, of rows that may be shorter."""
    call = read_call(data)
    if call is None:
        return
    x, lengths = call.values(), _lengths(call)
    k = call.head.extra % (min(call.columns, 1 << 12) + 1)
    values, indices = call.output((call.rows, k), call.dtype), call.output((call.rows, k), call.index_dtype)
    by_index = call.flag(5)
    _core.top_k(
        call.given(x),
        call.native_order,
        k,
        values.array,
        indices.array,
        call.head.offset,
        call.given(lengths) if call.flag(4) else None,
        "index" if by_index else "value",
        call.threads,
    )
    for row, length in enumerate(lengths):
        n = min(k, int(length))
        best = reference.argsort(x[row : row + 1, :length], call.order)[:, :n]
        best = np.sort(best, axis=1) if by_index else best
        holds(values.array[row : row + 1, :n], x[row, best], values)
        holds(indices.array[row : row + 1, :n], best + call.head.offset, indices)
        assert (values.array[row, n:].view(np.uint8) == FILL).all(), "behind the last value was written"


def fuzz_compact(data: bytes) -> None:
    """compact and Nonzeros, for outputs that are too short as well."""
    call = read_call(data)
    if call is None:
        return
    x = call.values().reshape(-1)
    if call.flag(4):
        x = np.where(call.random().random(x.size) < call.head.gap / 255, x, np.zeros(1, x.dtype)).astype(
            x.dtype
        )
    rule: Any = ("value", "ordered", "bits")[call.head.extra % 3]
    expected = reference.nonzero(x, rule)
    # Without a gap: compact takes items that lie one after the other.
    bits = call._replace(head=call.head._replace(gap=0)).given(x)
    capacity = min(x.size, expected.size + 8) if call.flag(5) else call.head.extra % (expected.size + 9)
    found = call.output((capacity,), call.index_dtype)
    n = min(capacity, expected.size)
    total = _core.compact(bits, rule, call.native_order, found.array, call.head.offset, call.threads)
    assert total == expected.size, f"{total} for {expected.size}"
    holds(found.array[:n], expected[:n] + call.head.offset, found)
    marks = _core.Nonzeros(bits, rule, call.native_order, call.threads)
    assert marks.count == expected.size, f"{marks.count} for {expected.size}"
    again = call.output((expected.size,), call.index_dtype)
    marks.positions(again.array, call.head.offset, call.threads)
    holds(again.array, expected + call.head.offset, again)


def fuzz_gather(data: bytes) -> None:
    """Gather items of any size."""
    call = read_call(data)
    if call is None or call.columns == 0:
        return
    size = 1 + call.head.extra % 24
    columns = min(call.columns, 4096)
    source = np.resize(np.frombuffer(call.body or b"\0", np.uint8), call.rows * columns * size)
    items = source.view(f"V{size}").reshape(call.rows, columns)
    n = call.head.offset % 2048
    positions = (
        call.random().integers(0, columns, (call.rows, n)).astype("u2" if call.flag(4) else call.index_dtype)
    )
    out = call.output((call.rows, n), items.dtype)
    _core.gather(call.given(items), call.given(positions), out.array, call.threads)
    assert out.intact(), "bytes beside the output were written"
    assert out.array.tobytes() == np.take_along_axis(items, positions.astype(np.int64), 1).tobytes()


def fuzz_keys(data: bytes) -> None:
    """The map from bits to keys is that of `lanesort.order`, and keys order as the reference does."""
    call = read_call(data)
    if call is None:
        return
    x = call.values()[:1]
    out = call.output((call.columns,), call.dtype)
    _core.keys(call.given(x)[0], call.native_order, out.array)
    holds(out.array, keys(x[0], call.order), out)
    order = Order(call.order.descending, call.order.nan, "low", call.order.zero)
    by_keys = np.argsort(out.array, kind="stable")
    assert np.array_equal(by_keys, reference.argsort(x, order)[0])
