"""top_k of Dask arrays: a tree."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from dask.base import tokenize

from lanesort.distributed import chunk as task
from lanesort.distributed import chunk_top
from lanesort.distributed.exchange import Graph, Key, tree
from lanesort.distributed.lazy import (
    array_of,
    checked,
    layer_of,
    pairs_of,
    starts_of,
    taking,
    with_item,
)
from lanesort.distributed.lazy_sort import Finish
from lanesort.errors import ArgumentValueError
from lanesort.kernels.policy import order_of
from lanesort.kernels.top_k import top_k as library
from lanesort.results import Pairs

__all__ = ["best"]


def best(x: Any, k: Any, o: Any) -> Pairs:
    """Return the k best of each row of a Dask array."""
    place = checked(x, o.axis)
    _refuse_what_the_library_refuses(x.dtype, k, o)
    order = order_of(o.mode == "largest", None, o.nan, o.tie, o.compat, "top_k")
    takes = taking(x, place, o.lengths, o.where)
    n, count = x.shape[place], operator.index(k)
    if count > n and not takes:
        raise ArgumentValueError(
            f"k is {count} but rows have n = {n} elements; ask for at most n, or give lengths "
            "to have rows filled up"
        )
    finish = Finish.of(o, n, x.dtype, bool(takes))
    by_index = isinstance(o.sorted, str)
    token = tokenize(x.name, count, order, by_index, finish, place, *(a.name for a in takes.inputs))
    graph: Graph = {}
    name = f"lanesort-top-k-{token}"
    starts = starts_of(x.chunks[place])
    for block in np.ndindex(x.numblocks):
        graph[(name, 0, *block)] = (
            chunk_top.top_of_chunk,
            (x.name, *block),
            count,
            place,
            starts[block[place]],
            order,
            *takes.keys(block),
        )
    roots: dict[Key, Key] = {}
    for block in (b for b in np.ndindex(x.numblocks) if b[place] == 0):
        leaves = [(name, 0, *with_item(block, place, i)) for i in range(x.numblocks[place])]
        root = tree(
            graph, name, leaves, block, lambda keys: (chunk_top.top_of_tops, list(keys), count, place, order)
        )
        roots[block] = (f"lanesort-top-k-finished-{token}", *block)
        fills = [finish.fill_value, finish.fill_index]
        graph[roots[block]] = (
            chunk_top.finished_top,
            root,
            count,
            place,
            by_index,
            [x.dtype, finish.index_dtype],
            finish.offset,
            fills,
        )
    base = layer_of(graph, name, [x, *takes.inputs])
    chunks = with_item(x.chunks, place, (count,))
    tasks: list[Graph | None] = [
        {block: (task.run_part, root, which) for block, root in roots.items()} for which in range(2)
    ]
    values, indices = pairs_of(base, f"top-k-{token}", tasks, chunks, (x.dtype, finish.index_dtype))
    if not takes:
        return Pairs(values, indices)
    part = f"lanesort-top-k-valid-{token}"
    valid: Graph = {(part, *b[:place], *b[place + 1 :]): (task.valid_of, root) for b, root in roots.items()}
    across = (*x.chunks[:place], *x.chunks[place + 1 :])
    return Pairs(values, indices, array_of(base, part, valid, across, np.dtype(np.int64)))


def _refuse_what_the_library_refuses(dtype: np.dtype[Any], k: Any, o: Any) -> None:
    """Let the library itself look at what it accepts of whatever array, k beyond n left aside."""
    none = np.zeros(0, dtype)
    policy = {"nan": o.nan, "tie": o.tie, "compat": o.compat}
    library(none, k, mode=o.mode, sorted=o.sorted, lengths=np.array(0), **policy)
