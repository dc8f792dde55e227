"""Graphs of tasks on sorted chunks: cut by rank, exchange the pieces, merge them.

How many tasks that takes, and why the pieces of a chunk are cut one after the other, is written
in `docs/scaling.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from lanesort.distributed import chunk as task
from lanesort.distributed import routes
from lanesort.distributed.routes import Grouping
from lanesort.distributed.split import digit_widths, narrowed, own_counts, search
from lanesort.order import Order

__all__ = ["AT_ONCE", "Exchange", "Graph", "Key", "Runs", "rounds_of", "tree"]

AT_ONCE = 1 << 14
"""Pieces up to which everything is exchanged at once; more are exchanged in three rounds."""

FAN_IN = 8
"""How many results of a tree meet in one task."""

INDEX_BITS = 64

Key = tuple[Any, ...]
Graph = dict[Key, Any]


class Runs(NamedTuple):
    """Sorted chunks, of equal values those of an earlier one first.

    Attributes
    ----------
    values, indices
        A task a chunk; None in place of indices that are not carried along.
    lengths
        Elements of each chunk: numbers, or tasks that give them.
    largest
        Elements of the largest chunk.
    bits
        Of a key.
    """

    values: list[Key]
    indices: list[Key | None]
    lengths: list[Any]
    largest: int
    bits: int


class Exchange(NamedTuple):
    """A graph that gets the tasks of an exchange.

    Attributes
    ----------
    graph
        Gets the tasks.
    token
        Ends their names.
    order
        How values compare; its tie rule says which index comes first where indices tell.
    ties
        ``run``: of equal values the earlier run's first; ``positions``: the same, and the
        indices tell it too; ``index``: by the runs' own indices.
    """

    graph: Graph
    token: str
    order: Order
    ties: str = "positions"

    def merged(self, runs: Runs, sizes: Sequence[int], limited: bool = False) -> tuple[list[Key], Key]:
        """Cut sorted chunks by rank, exchange the pieces, and merge them to outputs.

        Parameters
        ----------
        runs
            The sorted chunks.
        sizes
            Elements of each output.
        limited
            The outputs don't take everything: what lies behind the last is left out.

        Returns
        -------
        tuple
            The tasks that give each output's pairs, and the one that gives the table of ends.
        """
        ranks = np.cumsum(sizes)[: None if limited else -1].tolist()
        owns: list[Key] = []
        if ranks:
            count: list[Any] = [(task.counted, v) for v in runs.values]
            owns = self._found("key", runs.bits, runs.largest, ranks, count)
            if self.ties == "index":
                pairs = zip(runs.indices, owns, strict=True)
                count = [(task.counted_indices, i, own) for i, own in pairs]
                owns = self._found("index", INDEX_BITS, runs.largest, ranks, count)
        table = (f"lanesort-cuts-{self.token}",)
        self.graph[table] = (task.ends, ranks, owns, runs.lengths, len(sizes))
        sources = [[v, i] for v, i in zip(runs.values, runs.indices, strict=True)]
        return self.delivered(sources, table, len(sizes)), table

    def delivered(self, sources: list[Any], ends: Key, outputs: int) -> list[Key]:
        """Bring what the table of ends says from sources, values and indices each, to outputs."""
        found: list[Key] = [(f"lanesort-merge-{self.token}", o) for o in range(outputs)]
        if rounds_of(len(sources), outputs, self.ties) == 3:
            self._three_rounds(sources, ends, found)
            return found
        ranges = (f"lanesort-routes-{self.token}",)
        self.graph[ranges] = (routes.straight, ends)
        self._round((), sources, ranges, found, self.order.tie if self.ties == "index" else "run")
        return found

    def _round(self, label: Key, sources: list[Any], ranges: Key, targets: list[Key], tie: str) -> None:
        """Let each source give a piece to each target, which merges what it gets.

        Targets wait until all pieces are cut. Otherwise a scheduler finishes one target after
        the other, and reads every source back from disk for each of them.
        """
        cut, gone = f"lanesort-exchange-{self.token}", f"lanesort-drained-{self.token}"
        numbers = range(len(sources))
        for s in numbers:
            pieces = [(cut, *label, s, o) for o in range(len(targets))]
            for o, key in enumerate(pieces):
                self.graph[key] = (task.piece, sources[s], ranges, s, o)
            self.graph[(gone, *label, s)] = (task.drained, pieces)
        every = (f"lanesort-exchanged-{self.token}", *label)
        self.graph[every] = (task.drained, [(gone, *label, s) for s in numbers])
        for o, target in enumerate(targets):
            own = [(cut, *label, s, o) for s in numbers]
            self.graph[target] = (task.merged, own, self.order, tie, every)

    def _three_rounds(self, sources: list[Any], ends: Key, outputs: list[Key]) -> None:
        runs = Grouping.of(len(sources))
        targets = Grouping(len(outputs), runs.size)
        middles = range(runs.size)

        def middle(number: int, group: int, m: int) -> Key:
            return (f"lanesort-middle-{self.token}", number, group, m)

        def exchange(number: int, function: Any, which: int, own: list[Any], found: list[Key]) -> None:
            ranges = (f"lanesort-routes-{self.token}", number, which)
            self.graph[ranges] = (function, ends, runs, targets, which)
            self._round((number, which), own, ranges, found, self.order.tie)

        for g in range(runs.groups):
            own = [sources[i] for i in runs.members(g)]
            exchange(1, routes.shared_out, g, own, [middle(1, g, m) for m in middles])
        for m in middles:
            first = [middle(1, g, m) for g in range(runs.groups)]
            exchange(2, routes.swapped, m, first, [middle(2, g, m) for g in range(targets.groups)])
        for g in range(targets.groups):
            second = [middle(2, g, m) for m in middles]
            exchange(3, routes.gathered, g, second, [outputs[o] for o in targets.members(g)])

    def _found(self, what: str, bits: int, largest: int, ranks: list[int], count: list[Any]) -> list[Key]:
        """Add the search for the keys at the ranks; return what each chunk has below and at them."""
        graph, name = self.graph, f"lanesort-count-{self.token}"
        state: Key = (f"lanesort-search-{self.token}", what, 0)
        before = state
        graph[state] = (search, ranks, bits, what == "key")
        counts: list[Key] = []
        for level, width in enumerate(digit_widths(bits, len(ranks), largest)):
            counts = [(name, what, level, i) for i in range(len(count))]
            for key, (function, *arguments) in zip(counts, count, strict=True):
                graph[key] = (function, *arguments, state, width, self.order)
            every = tree(graph, name, counts, (what, level), lambda keys: (task.added, list(keys)))
            before, state = state, (f"lanesort-search-{self.token}", what, level + 1)
            graph[state] = (narrowed, before, every)
        owns: list[Key] = [(f"lanesort-own-count-{self.token}", what, i) for i in range(len(count))]
        for key, own in zip(owns, counts, strict=True):
            graph[key] = (own_counts, before, state, own)
        return owns


def rounds_of(runs: int, outputs: int, ties: str = "positions") -> int:
    """Return in how many rounds that many runs are exchanged to outputs.

    Indices that a caller gave may be equal, and then only the order of the runs tells which
    comes first, which the rounds don't keep: those are exchanged at once.
    """
    return 1 if ties != "positions" or runs * outputs <= AT_ONCE else 3


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
