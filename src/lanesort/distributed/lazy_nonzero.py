"""flatnonzero of Dask arrays."""

from __future__ import annotations

import operator
from typing import Any

import dask
import dask.array as da
import numpy as np
from dask.base import tokenize

from lanesort.distributed import chunk as task
from lanesort.distributed import chunk_nonzero
from lanesort.distributed.exchange import Exchange, Graph, Key
from lanesort.distributed.lazy import (
    array_of,
    checked,
    flat_blocks,
    layer_of,
    rows_of,
    starts_of,
    whole_rows,
    with_item,
)
from lanesort.distributed.split import balanced_sizes
from lanesort.kernels.arrays import NUMPY, index_dtype_of
from lanesort.kernels.indices import checked_offset, fill_index_of
from lanesort.kernels.nonzero import flatnonzero as library
from lanesort.order import Order
from lanesort.results import Nonzero

__all__ = ["positions"]

TOTAL = np.dtype(np.int64)


def positions(x: Any, o: Any) -> Nonzero:
    """Return the positions of the nonzeros of a Dask array."""
    checked(x, 0)
    _refuse_size(o.size)
    dtype = index_dtype_of(o.index_dtype, NUMPY)
    fill = fill_index_of(o.fill_index, dtype)
    if o.axis is None:
        offset = checked_offset(o.index_offset, x.size, dtype)
        flat = flat_blocks(x)
        return _counted(flat, dtype, offset) if o.size is None else _placed(flat, o.size, dtype, offset, fill)
    place = checked(x, o.axis)
    offset = checked_offset(o.index_offset, x.shape[place], dtype)
    width = x.shape[place] if o.size is None else operator.index(o.size)
    whole = whole_rows(x, place)
    if whole is not None:
        return _within_chunks(whole, place, width, dtype, offset, fill)
    rows = rows_of(x, place) if x.ndim > 1 else x[None]
    found = [_placed(rows[r], width, dtype, offset, fill) for r in range(rows.shape[0])]
    across = (*x.shape[:place], *x.shape[place + 1 :])
    indices = da.stack([f.indices for f in found]).reshape(*across, width)
    return Nonzero(da.moveaxis(indices, -1, place), da.stack([f.total for f in found]).reshape(across))


def _refuse_size(size: Any) -> None:
    """Let the library refuse a size, without making an array of it."""
    library(np.zeros(0, bool), size=min(operator.index(size), 0) if hasattr(size, "__index__") else size)


def _within_chunks(x: Any, place: int, width: int, dtype: np.dtype[Any], offset: int, fill: int) -> Nonzero:
    """Find the nonzeros of rows that are not divided: every chunk is a call of the library."""
    token = tokenize(x.name, place, width, dtype, offset, fill)
    name = f"lanesort-nonzero-{token}"
    options = {"axis": place, "size": width, "index_dtype": dtype, "index_offset": offset, "fill_index": fill}
    graph: Graph = {
        (name, *block): (chunk_nonzero.nonzero_rows, (x.name, *block), options)
        for block in np.ndindex(x.numblocks)
    }
    base = layer_of(graph, name, [x])
    indices, totals = f"lanesort-nonzero-indices-{token}", f"lanesort-nonzero-total-{token}"
    ours = {(indices, *key[1:]): (task.run_part, key, 0) for key in graph}
    sums = {(totals, *key[1 : place + 1], *key[place + 2 :]): (task.run_part, key, 1) for key in graph}
    across = (*x.chunks[:place], *x.chunks[place + 1 :])
    return Nonzero(
        array_of(base, indices, ours, with_item(x.chunks, place, (width,)), dtype),
        array_of(base, totals, sums, across, TOTAL),
    )


def _found(flat: Any, token: str) -> tuple[Graph, list[Key]]:
    name = f"lanesort-nonzero-{token}"
    found: list[Key] = [(name, i) for i in range(flat.numblocks[0])]
    starts = starts_of(flat.chunks[0])
    return {
        key: (chunk_nonzero.nonzeros, (flat.name, i), start)
        for i, (key, start) in enumerate(zip(found, starts, strict=True))
    }, found


def _counted(flat: Any, dtype: np.dtype[Any], offset: int) -> Nonzero:
    """Count first, which computes the counts at once, so that the result has known chunks."""
    ones = ((1,) * flat.numblocks[0],)
    counts = [int(c) for c in dask.compute(flat.map_blocks(chunk_nonzero.count, dtype=TOTAL, chunks=ones))[0]]
    token = tokenize(flat.name, dtype, offset)
    graph, found = _found(flat, token)
    name = f"lanesort-nonzero-placed-{token}"
    tasks = {(name, i): (chunk_nonzero.placed, key, dtype, None, offset, 0) for i, key in enumerate(found)}
    base = layer_of(graph, f"lanesort-nonzero-{token}", [flat])
    return Nonzero(array_of(base, name, tasks, (tuple(counts),), dtype), sum(counts))


def _placed(flat: Any, size: int, dtype: np.dtype[Any], offset: int, fill: int) -> Nonzero:
    """Bring the nonzeros to the front of an array of a known size, in chunks as large as the input's."""
    token = tokenize(flat.name, size, dtype, offset, fill)
    graph, found = _found(flat, token)
    lengths: list[Key] = [(f"lanesort-length-{token}", i) for i in range(len(found))]
    for key, own in zip(lengths, found, strict=True):
        graph[key] = (np.size, own)
    sizes = balanced_sizes(size, max(1, -(-size // max(1, *flat.chunks[0]))))
    ends = (f"lanesort-cuts-{token}",)
    graph[ends] = (chunk_nonzero.ends, lengths, sizes)
    roots = Exchange(graph, token, Order()).delivered([[key, None] for key in found], ends, len(sizes))
    base = layer_of(graph, f"lanesort-nonzero-{token}", [flat])
    name, total = f"lanesort-nonzero-placed-{token}", f"lanesort-nonzero-total-{token}"
    tasks = {
        (name, i): (chunk_nonzero.placed_pairs, root, dtype, sizes[i], offset, fill)
        for i, root in enumerate(roots)
    }
    return Nonzero(
        array_of(base, name, tasks, (sizes,), dtype),
        array_of(base, total, {(total,): (task.total, lengths)}, (), TOTAL),
    )
