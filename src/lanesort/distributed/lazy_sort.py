"""sort, argsort and sort_pairs of Dask arrays."""

from __future__ import annotations

from typing import Any, NamedTuple

import dask.array as da
import numpy as np
from dask.base import tokenize

from lanesort.distributed import chunk as task
from lanesort.distributed.exchange import Exchange, Graph, Key, Runs, rounds_of
from lanesort.distributed.lazy import (
    Taking,
    array_of,
    checked,
    layer_of,
    pairs_of,
    rows_of,
    starts_of,
    taking,
    whole_rows,
)
from lanesort.distributed.split import balanced_sizes
from lanesort.kernels.arrays import NUMPY, index_dtype_of
from lanesort.kernels.indices import checked_offset, fill_index_of
from lanesort.kernels.ragged import fill_value_of
from lanesort.order import Order, key_class
from lanesort.results import Pairs

__all__ = ["Finish", "narrow_index", "ordered"]


class Finish(NamedTuple):
    """How indices and what fills rows up are given to the caller.

    Attributes
    ----------
    index_dtype, offset
        Of the indices, and added to them.
    fill_value, fill_index
        For rows that elements were left out of, else None.
    """

    index_dtype: np.dtype[Any]
    offset: int
    fill_value: Any
    fill_index: int | None

    @classmethod
    def of(cls, o: Any, n: int, dtype: np.dtype[Any], ragged: bool) -> Finish:
        """Check the arguments of a verb, of which it may lack some."""
        index_dtype = index_dtype_of(getattr(o, "index_dtype", None), NUMPY)
        offset = checked_offset(getattr(o, "index_offset", 0), n, index_dtype)
        if not ragged:
            return cls(index_dtype, offset, None, None)
        value = fill_value_of(getattr(o, "fill_value", None), dtype)
        return cls(index_dtype, offset, value, fill_index_of(getattr(o, "fill_index", None), index_dtype))

    def part(self, root: Key, which: int, dtype: np.dtype[Any], size: int | None) -> tuple[Any, ...]:
        """Return the task that gives the values (0) or indices (1) of pairs."""
        fill = (self.fill_value, self.fill_index)[which]
        return (task.part, root, which, dtype, size, self.offset, fill)


def ordered(x: Any, o: Any, order: Order, want: str) -> Pairs:
    """Order the rows of a Dask array; `want` is ``values``, ``indices`` or ``pairs``."""
    place = checked(x, o.axis)
    whole = whole_rows(x, place)
    x = x if whole is None else whole
    takes = taking(x, place, getattr(o, "lengths", None), getattr(o, "where", None))
    finish = Finish.of(o, x.shape[place], x.dtype, bool(takes))
    if whole is not None:
        return _within_chunks(x, takes, order, finish, want)
    if x.ndim > 1:
        return _row_by_row(x, takes, order, finish, want)
    return _exchanged(x, takes, order, finish, want)


def narrow_index(n: int) -> np.dtype[Any]:
    """Return the narrowest dtype that positions below n travel in."""
    return np.dtype(np.uint32 if n <= 1 << 32 else np.int64)


def _exchanged(x: Any, takes: Taking, order: Order, finish: Finish, want: str) -> Pairs:
    token = tokenize(x.name, order, want, *(a.name for a in takes.inputs))
    c, n = x.numblocks[0], x.shape[0]
    carried = narrow_index(n) if want != "values" or _needs_indices(x.dtype, order, c) else None
    graph: Graph = {}
    values: list[Key] = [(f"lanesort-values-{token}", i) for i in range(c)]
    indices: list[Key | None] = [(f"lanesort-indices-{token}", i) if carried else None for i in range(c)]
    lengths: list[Any] = list(x.chunks[0])
    for i, start in enumerate(starts_of(x.chunks[0])):
        key = (f"lanesort-sort-chunk-{token}", i)
        graph[key] = (task.sorted_chunk, (x.name, i), start, order, carried, *takes.keys((i,)))
        graph[values[i]] = (task.run_part, key, 0)
        if indices[i] is not None:
            graph[indices[i] or ()] = (task.run_part, key, 1)
        if takes:
            lengths[i] = (f"lanesort-length-{token}", i)
            graph[lengths[i]] = (np.size, values[i])
    if order.tie == "high":  # of equal values the higher index first means the later chunk first
        values, indices, lengths = values[::-1], indices[::-1], lengths[::-1]
    runs = Runs(values, indices, lengths, max(x.chunks[0]), key_class(x.dtype).bits)
    sizes = balanced_sizes(n, c)
    roots, _ = Exchange(graph, token, order).merged(runs, sizes)
    base = layer_of(graph, f"lanesort-exchange-{token}", [x, *takes.inputs])
    dtypes = (x.dtype, finish.index_dtype)
    tasks = [
        {(i,): finish.part(root, which, dtypes[which], sizes[i]) for i, root in enumerate(roots)}
        if _wanted(want, which)
        else None
        for which in range(2)
    ]
    values_, indices_ = pairs_of(base, f"sorted-{tokenize(token, finish)}", tasks, (sizes,), dtypes)
    if not takes or want != "pairs":
        return Pairs(values_, indices_)
    name = f"lanesort-valid-{token}"
    counted: Graph = {(name,): (task.total, lengths)}
    return Pairs(values_, indices_, array_of(base, name, counted, (), np.dtype(np.int64)))


def _needs_indices(dtype: np.dtype[Any], order: Order, c: int) -> bool:
    """Whether values alone can't be told apart, and are exchanged in rounds that mix the chunks."""
    one_key_a_value = key_class(dtype).kind != "float" or order.nan == "total"
    return rounds_of(c, c) > 1 and not one_key_a_value


def _wanted(want: str, which: int) -> bool:
    return want in (("values", "indices")[which], "pairs")


def _within_chunks(x: Any, takes: Taking, order: Order, finish: Finish, want: str) -> Pairs:
    """Order arrays whose rows are not divided: every chunk is a call of the library."""
    token = tokenize(x.name, order, want, finish, *(a.name for a in takes.inputs))
    options: dict[str, Any] = {}
    if want != "values":
        options |= {"index_dtype": finish.index_dtype, "index_offset": finish.offset}
    if takes:
        options |= {"fill_value": finish.fill_value} if want != "indices" else {}
        options |= {"fill_index": finish.fill_index} if want != "values" else {}
    name = f"lanesort-sort-rows-{token}"
    graph: Graph = {
        (name, *block): (
            task.sorted_rows,
            (x.name, *block),
            want,
            takes.place,
            order,
            options,
            *takes.keys(block),
        )
        for block in np.ndindex(x.numblocks)
    }
    base = layer_of(graph, name, [x, *takes.inputs])
    tasks: list[Graph | None] = [
        {key[1:]: (task.run_part, key, which) for key in graph} if _wanted(want, which) else None
        for which in range(2)
    ]
    values, indices = pairs_of(base, f"sorted-{token}", tasks, x.chunks, (x.dtype, finish.index_dtype))
    if not takes or want != "pairs":
        return Pairs(values, indices)
    part, place = f"lanesort-valid-{token}", takes.place
    valid: Graph = {(part, *key[1 : place + 1], *key[place + 2 :]): (task.valid_of, key) for key in graph}
    across = (*x.chunks[:place], *x.chunks[place + 1 :])
    return Pairs(values, indices, array_of(base, part, valid, across, np.dtype(np.int64)))


def _row_by_row(x: Any, takes: Taking, order: Order, finish: Finish, want: str) -> Pairs:
    """Order each row as an array of its own: a row is larger than a chunk, so there are few."""
    place = takes.place
    rows = rows_of(x, place)
    lengths = None if takes.lengths is None else takes.lengths.reshape(-1)
    where = None if takes.where is None else rows_of(takes.where, place)
    own = Taking(1, lengths, where)
    pairs = [_exchanged(rows[r], own.row(r), order, finish, want) for r in range(rows.shape[0])]
    across = (*x.shape[:place], *x.shape[place + 1 :])
    found: list[Any] = []
    for which in range(2):
        if not _wanted(want, which):
            found.append(None)
            continue
        stacked = da.stack([p[which] for p in pairs]).reshape(*across, x.shape[place])
        found.append(da.moveaxis(stacked, -1, place))
    valid = da.stack([p.valid for p in pairs]).reshape(across) if takes and want == "pairs" else None
    return Pairs(found[0], found[1], valid)
