"""The library's verbs on Dask arrays, with its results on the whole array.

Indices are global, ties and NaN follow the same rules, and nothing depends on chunks, workers
or scheduler. Along an axis that lies in several chunks a one-dimensional array is sorted by
sorting its chunks, cutting them by rank (see `split`), exchanging the pieces and merging them;
output chunks are equal in size and known.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from lanesort.distributed import chunk as task
from lanesort.errors import ArgumentTypeError, ArgumentValueError, MissingExtraError
from lanesort.kernels.indices import checked_offset, fill_index_of
from lanesort.kernels.policy import order_of
from lanesort.kernels.rows import normal_axis
from lanesort.kernels.sort import argsort as argsort_array
from lanesort.kernels.sort import sort as sort_array
from lanesort.kernels.sort import sort_pairs as pairs_array
from lanesort.order import Order, key_class
from lanesort.results import Merged, Nonzero, Pairs

try:
    import dask
    import dask.array as da
    from dask.base import tokenize
    from dask.highlevelgraph import HighLevelGraph

    from lanesort.distributed.exchange import Graph, Key, exchanged, part_array, tree
except ImportError as error:
    raise MissingExtraError("Dask is not installed; pip install 'lanesort[dask]'") from error

__all__ = ["argsort", "flatnonzero", "merge", "sort", "sort_pairs", "top_k"]


def sort(
    x: Any,
    /,
    *,
    axis: int = -1,
    descending: bool = False,
    stable: bool | None = None,
    nan: str | None = None,
    compat: str | None = None,
) -> Any:
    """Return the values of each row of a Dask array in order, see `lanesort.sort`.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        Before anything is computed: for unknown chunk sizes, dtypes without an order, and
        arguments outside what is accepted.
    """
    order = order_of(descending, stable, nan, None, compat)
    return _ordered(x, axis, order, np.dtype(np.int64), 0, want="values").values


def argsort(
    x: Any,
    /,
    *,
    axis: int = -1,
    descending: bool = False,
    stable: bool | None = None,
    nan: str | None = None,
    tie: str | None = None,
    compat: str | None = None,
    index_dtype: Any = np.int64,
    index_offset: int = 0,
) -> Any:
    """Return the indices that put each row of a Dask array in order, see `lanesort.argsort`."""
    order = order_of(descending, stable, nan, tie, compat)
    return _ordered(x, axis, order, np.dtype(index_dtype), index_offset, want="indices").indices


def sort_pairs(
    x: Any,
    /,
    *,
    axis: int = -1,
    descending: bool = False,
    stable: bool | None = None,
    nan: str | None = None,
    tie: str | None = None,
    compat: str | None = None,
    index_dtype: Any = np.int64,
    index_offset: int = 0,
) -> Pairs:
    """Return the values of each row of a Dask array in order, and where they came from."""
    order = order_of(descending, stable, nan, tie, compat)
    return _ordered(x, axis, order, np.dtype(index_dtype), index_offset, want="both")


def top_k(
    x: Any,
    k: int,
    /,
    *,
    axis: int = -1,
    mode: str = "largest",
    nan: str | None = None,
    tie: str | None = None,
    compat: str | None = None,
    index_dtype: Any = np.int64,
    index_offset: int = 0,
) -> Pairs:
    """Return the k best of each row of a Dask array, see `lanesort.top_k`.

    A tree of merges: no task sees more than a chunk, or k × 8 candidates a row.
    """
    if mode not in ("largest", "smallest"):
        raise ArgumentValueError(f"mode is {mode!r}; accepted are 'largest', 'smallest'")
    order = order_of(mode == "largest", None, nan, tie, compat, "top_k")
    place = _checked(x, axis)
    n = x.shape[place]
    count = operator.index(k)
    if not 0 <= count <= n:
        raise ArgumentValueError(f"k is {count} but rows have n = {n} elements; ask for 0 … n")
    dtype = np.dtype(index_dtype)
    offset = checked_offset(index_offset, n, dtype)
    token = tokenize(x.name, count, place, order, offset)
    graph: Graph = {}
    starts = _starts(x.chunks[place], offset)
    name = f"lanesort-top-k-{token}"
    for block in np.ndindex(x.numblocks):
        graph[(name, 0, *block)] = (
            task.top_of_chunk,
            (x.name, *block),
            count,
            place,
            starts[block[place]],
            order,
        )
    others = [b for b in np.ndindex(x.numblocks) if b[place] == 0]
    roots = {
        block: tree(
            graph,
            name,
            [(name, 0, *_with(block, place, i)) for i in range(x.numblocks[place])],
            block,
            lambda keys: (task.top_of_tops, list(keys), count, place, order),
        )
        for block in others
    }
    chunks = _with(x.chunks, place, (count,))
    return Pairs(
        *(part_array(graph, x, name, roots, which, chunks, d) for which, d in ((0, x.dtype), (1, dtype)))
    )


def merge(
    runs: Sequence[Any],
    /,
    *,
    descending: bool = False,
    nan: str | None = None,
    compat: str | None = None,
    check: bool = True,
) -> Merged:
    """Merge sorted one-dimensional Dask arrays into one, see `lanesort.merge`.

    Of equal values those of the earlier run come first; indices are positions in the
    concatenation of the runs. With `check` a run that is not sorted fails when computed.
    """
    if not runs:
        raise ArgumentValueError("runs is empty; merging needs at least one run")
    for i, run in enumerate(runs):
        _checked(run, 0)
        if run.ndim != 1 or run.dtype != runs[0].dtype:
            raise ArgumentValueError(f"runs[{i}] is {run.ndim}-D {run.dtype}; merge 1-D runs of one dtype")
    order = order_of(descending, None, nan, None, compat)
    token = tokenize([r.name for r in runs], order, check)
    graph: Graph = {}
    chunks: list[Key] = []
    offset = 0
    for number, run in enumerate(runs):
        for i, size in enumerate(run.chunks[0]):
            before = (run.name, i - 1) if check and i else None
            key = (f"lanesort-run-{token}", number, i)
            take = task.checked_run if check else _unchecked_run
            graph[key] = (take, (run.name, i), offset, order, before)
            chunks.append(key)
            offset += size
    pairs = exchanged(graph, list(runs), chunks, offset, order, token, runs[0].dtype, np.dtype(np.int64))
    return Merged(*pairs, consumed=tuple(run.shape[0] for run in runs))


def flatnonzero(
    x: Any, /, *, size: int | None = None, fill_index: int | None = None, index_dtype: Any = np.int64
) -> Nonzero:
    """Return the positions of the nonzeros of a Dask array, flattened in C order.

    Without `size` the nonzeros are counted first, which computes the counts at once, so that
    the result has known chunks. total is then an int, else a zero-dimensional Dask array.
    """
    _checked(x, 0)
    flat = _without_empty_chunks(x).reshape(-1)
    dtype = np.dtype(index_dtype)
    fill = fill_index_of(fill_index, dtype)
    token = tokenize(flat.name, size, fill, dtype)
    name = f"lanesort-nonzero-{token}"
    starts = _starts(flat.chunks[0], 0)
    graph: Graph = {
        (name, i): (task.nonzero_positions, (flat.name, i), start, size) for i, start in enumerate(starts)
    }
    found = [(name, i) for i in range(len(starts))]
    if size is None:
        return _counted(graph, flat, found, token, dtype)
    out = f"lanesort-nonzero-placed-{token}"
    graph[(out, 0)] = (task.placed, found, 0, size, fill, dtype)
    layer = HighLevelGraph.from_collections(out, graph, dependencies=[flat])
    total = f"lanesort-nonzero-total-{token}"
    sums = {(total,): (_total, found), **graph}
    totals = HighLevelGraph.from_collections(total, sums, dependencies=[flat])
    return Nonzero(da.Array(layer, out, ((size,),), dtype), da.Array(totals, total, (), np.dtype(np.int64)))


def _counted(graph: Graph, flat: Any, found: list[Key], token: str, dtype: np.dtype[Any]) -> Nonzero:
    counts = [
        int(c) for c in dask.compute(flat.map_blocks(_count, dtype=np.int64, chunks=((1,) * len(found),)))[0]
    ]
    out = f"lanesort-nonzero-placed-{token}"
    for i, count in enumerate(counts):
        graph[(out, i)] = (task.placed, [found[i]], 0, count, 0, dtype)
    layer = HighLevelGraph.from_collections(out, graph, dependencies=[flat])
    return Nonzero(da.Array(layer, out, (tuple(counts),), dtype), sum(counts))


def _count(values: Any) -> Any:
    return np.array([task.nonzero_positions(values, 0, 0)[1]])


def _total(found: Sequence[tuple[Any, int]]) -> Any:
    return np.asarray(sum(count for _, count in found), np.int64)


def _unchecked_run(values: Any, offset: int, order: Order, before: None) -> Pairs:
    return Pairs(values, np.arange(offset, offset + values.size, dtype=np.int64))


def _ordered(x: Any, axis: int, order: Order, dtype: np.dtype[Any], index_offset: int, want: str) -> Pairs:
    place = _checked(x, axis)
    offset = checked_offset(index_offset, x.shape[place], dtype)
    if x.ndim > 1 and x.numblocks[place] > 1:
        largest = math.prod(max(sizes) for sizes in x.chunks)
        if x.shape[place] > largest:
            return _row_by_row(x, place, order, dtype, offset, want)
        x = x.rechunk(_with(("auto",) * x.ndim, place, -1), block_size_limit=largest * x.dtype.itemsize)
    if x.numblocks[place] == 1:
        return _within_chunks(x, place, order, dtype, offset)
    token = tokenize(x.name, order, offset)
    name = f"lanesort-sort-chunk-{token}"
    graph: Graph = {
        (name, i): (task.sorted_chunk, (x.name, i), start, order)
        for i, start in enumerate(_starts(x.chunks[0], offset))
    }
    chunks = [(name, i) for i in range(x.numblocks[0])]
    # Of equal values the higher index first means the later chunk first.
    in_order = chunks[::-1] if order.tie == "high" else chunks
    return exchanged(graph, [x], in_order, x.shape[0], order, token, x.dtype, dtype)


def _within_chunks(x: Any, place: int, order: Order, dtype: np.dtype[Any], offset: int) -> Pairs:
    policy: dict[str, Any] = {"axis": place, "descending": order.descending, "nan": order.nan, "threads": 1}
    values = x.map_blocks(sort_array, dtype=x.dtype, name=None, **policy)
    indices = x.map_blocks(
        argsort_array, dtype=dtype, tie=order.tie, index_dtype=dtype, index_offset=offset, **policy
    )
    if order.tie == "high":
        values = x.map_blocks(_sorted_values, dtype=x.dtype, tie=order.tie, **policy)
    return Pairs(values, indices)


def _sorted_values(values: Any, **policy: Any) -> Any:
    return pairs_array(values, **policy).values


def _row_by_row(x: Any, place: int, order: Order, dtype: np.dtype[Any], offset: int, want: str) -> Pairs:
    """Order each row as an array of its own: a row is larger than a chunk, so there are few."""
    moved = da.moveaxis(x, place, -1)
    shape = moved.shape
    rows = moved.reshape(-1, shape[-1]) if moved.ndim > 2 else moved
    pairs = [_ordered(rows[r], -1, order, dtype, offset, want) for r in range(rows.shape[0])]
    back = [da.moveaxis(da.stack([p[w] for p in pairs]).reshape(shape), -1, place) for w in (0, 1)]
    return Pairs(*back)


def _checked(x: Any, axis: int) -> int:
    if not isinstance(x, da.Array):
        raise ArgumentTypeError(f"x is a {type(x).__name__}; these functions take Dask arrays")
    key_class(x.dtype)
    if x.ndim == 0:
        raise ArgumentValueError("x has no dimension; ordering needs at least one")
    if any(math.isnan(size) for sizes in x.chunks for size in sizes):
        raise ArgumentValueError("x has chunks of unknown size; call x.compute_chunk_sizes() first")
    return normal_axis(axis, x.ndim)


def _without_empty_chunks(x: Any) -> Any:
    # Dask's reshape fails where a chunk has no elements.
    return x.rechunk(tuple(tuple(size for size in sizes if size) or (0,) for sizes in x.chunks))


def _starts(sizes: Sequence[int], offset: int) -> list[int]:
    return [offset + int(s) for s in np.cumsum([0, *sizes[:-1]])]


def _with(items: Any, place: int, item: Any) -> Any:
    changed = list(items)
    changed[place] = item
    return tuple(changed)
