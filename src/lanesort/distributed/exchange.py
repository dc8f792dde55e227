"""Graphs of tasks on sorted chunks: cut by rank, exchange the pieces, merge them.

For c chunks of keys of b bits the graph has c·b/8 counting tasks, a tree of c/7 additions for
each digit, c² pieces and c merges.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import dask.array as da
import numpy as np
from dask.highlevelgraph import HighLevelGraph

from lanesort.distributed import chunk as task
from lanesort.distributed.split import DIGIT_BITS, balanced_sizes, search
from lanesort.order import Order, key_class
from lanesort.results import Pairs

__all__ = ["Graph", "Key", "exchanged", "part_array", "tree"]

FAN_IN = 8
"""How many results of a tree meet in one task."""

Key = tuple[Any, ...]
Graph = dict[Key, Any]


def exchanged(
    graph: Graph,
    inputs: list[Any],
    chunks: list[Key],
    total: int,
    order: Order,
    token: str,
    dtype: np.dtype[Any],
    index_dtype: np.dtype[Any],
) -> Pairs:
    """Cut sorted chunks by rank, exchange the pieces, and merge them to equal output chunks."""
    sizes = balanced_sizes(total, len(chunks))
    table = _cut_tasks(graph, chunks, np.cumsum(sizes)[:-1].tolist(), order, token, dtype)
    name, pieces = f"lanesort-merge-{token}", f"lanesort-exchange-{token}"
    for output in range(len(chunks)):
        for run, key in enumerate(chunks):
            graph[(pieces, output, run)] = (task.piece, key, table, run, output)
        graph[(name, output)] = (
            task.merged,
            [(pieces, output, run) for run in range(len(chunks))],
            order,
        )
    roots = {(i,): (name, i) for i in range(len(chunks))}
    arrays = []
    for which, kind in ((0, dtype), (1, index_dtype)):
        arrays.append(part_array(graph, inputs, name, roots, which, (sizes,), kind))
    return Pairs(*arrays)


def _cut_tasks(
    graph: Graph, chunks: list[Key], ranks: list[int], order: Order, token: str, dtype: np.dtype[Any]
) -> Key:
    state: Any = (f"lanesort-search-{token}", 0)
    graph[state] = (search, ranks, dtype)
    for level in range(key_class(dtype).bits // DIGIT_BITS):
        counts = f"lanesort-count-{token}"
        for i, key in enumerate(chunks):
            graph[(counts, level, 0, i)] = (task.candidate_counts, key, state, order)
        leaves: list[Key] = [(counts, level, 0, i) for i in range(len(chunks))]
        total = tree(graph, f"{counts}-{level}", leaves, (), lambda keys: (task.added, list(keys)))
        following = (f"lanesort-search-{token}", level + 1)
        graph[following] = (task.next_search, state, total)
        state = following
    own = f"lanesort-own-count-{token}"
    for i, key in enumerate(chunks):
        graph[(own, i)] = (task.own_counts, key, state, order)
    table = (f"lanesort-cuts-{token}",)
    graph[table] = (task.cut_table, state, [(own, i) for i in range(len(chunks))])
    return table


def tree(
    graph: Graph, name: str, leaves: list[Key], block: Key, combine: Callable[[Sequence[Key]], Any]
) -> Key:
    """Add a tree that combines `FAN_IN` keys at a time to `graph`, and return its root."""
    level = 0
    while len(leaves) > 1:
        level += 1
        groups = [leaves[i : i + FAN_IN] for i in range(0, len(leaves), FAN_IN)]
        leaves = []
        for i, group in enumerate(groups):
            key = (f"{name}-combine", level, i, *block)
            graph[key] = combine(group)
            leaves.append(key)
    return leaves[0]


def part_array(
    graph: Graph, inputs: Any, name: str, roots: dict[Key, Key], which: int, chunks: Any, dtype: np.dtype[Any]
) -> Any:
    """Return the Dask array of one part, values (0) or indices (1), of the pairs at `roots`."""
    part = f"{name}-{('values', 'indices')[which]}"
    tasks = {(part, *block): (task.part, root, which, dtype) for block, root in roots.items()}
    dependencies = inputs if isinstance(inputs, list) else [inputs]
    layers = HighLevelGraph.from_collections(part, {**graph, **tasks}, dependencies=dependencies)
    return da.Array(layers, part, chunks, dtype)
