"""How one row that fits on chip is sorted: blocks, rounds of four, then lists.

A row of n pairs is cut into regions of 32·4^a pairs, the largest first, as the digits of n
to the base 4 say; what is left over is a tail of fewer than 32. Each round merges groups of
four equally long blocks from one buffer into the other. The sorted runs that remain are
merged as lists, each clipped to the pairs that are wanted. Runs and lists keep the order
of their positions, so that of equal values the lower position comes first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["BLOCK", "WAYS", "Copy", "ListMerge", "Round", "Run", "Tree", "merge_tree", "most_rounds"]

BLOCK = 32
WAYS = 4


class Run(NamedTuple):
    """Sorted pairs: in which of the two buffers, from which pair on, how many."""

    buffer: int
    start: int
    pairs: int


class Round(NamedTuple):
    """Groups of four blocks of `block` pairs, from a buffer into the other: the first `pairs`."""

    buffer: int
    block: int
    pairs: int


class Copy(NamedTuple):
    """Runs that move to the other buffer, where the rest is."""

    buffer: int
    start: int
    pairs: int


class ListMerge(NamedTuple):
    """Two to four lists into one of `pairs` pairs, which starts where the first of them does."""

    sources: tuple[Run, ...]
    pairs: int

    @property
    def total(self) -> int:
        """Pairs of all sources together."""
        return sum(run.pairs for run in self.sources)

    @property
    def target(self) -> Run:
        """The merged list."""
        first = self.sources[0]
        return Run(first.buffer, first.start, self.pairs)


@dataclass(frozen=True, slots=True)
class Tree:
    """The instructions that sort one row, after its values are loaded.

    Attributes
    ----------
    blocks, tail
        Whole blocks of 32, and elements behind them.
    rounds, copies, merges
        In the order in which they run.
    result
        Where the sorted row is.
    """

    blocks: int
    tail: int
    rounds: tuple[Round, ...]
    copies: tuple[Copy, ...]
    merges: tuple[ListMerge, ...]
    result: Run


def most_rounds(n: int, list_limit: int | None) -> int:
    """Return how many rounds of four a row of `n` allows.

    Examples
    --------
    >>> most_rounds(8192, 4095), most_rounds(8191, 4095), most_rounds(20, None)
    (4, 3, 0)
    """
    rounds, block = 0, BLOCK
    while WAYS * block <= n and (list_limit is None or block <= list_limit):
        rounds, block = rounds + 1, WAYS * block
    return rounds


def merge_tree(n: int, keep: int, rounds: int, list_limit: int | None = None) -> Tree | None:
    """Lay out how a row is sorted.

    Parameters
    ----------
    n
        Elements of the row, 1 or more.
    keep
        Pairs that are wanted, 1 … n.
    rounds
        Rounds of four before runs are merged as lists, 0 … `most_rounds`.
    list_limit
        Most pairs that one list of a merge may have.

    Returns
    -------
    Tree or None
        None if a list would be too long.

    Examples
    --------
    >>> tree = merge_tree(1024, 1000, 2)
    >>> len(tree.rounds), [(merge.total, merge.pairs) for merge in tree.merges]
    (2, [(1024, 1000)])
    """
    blocks, tail = divmod(n, BLOCK)
    counts = _digits(blocks, rounds)
    home = rounds % 2
    runs: list[Run] = []
    copies: list[Copy] = []
    start = 0
    for level in range(rounds, -1, -1):
        length = BLOCK * WAYS**level
        size = counts[level] * length + (tail if level == 0 else 0)
        if level % 2 != home and size:
            copies.append(Copy(level % 2, start, size))
        runs += [Run(home, start + i * length, min(length, keep)) for i in range(counts[level])]
        start += counts[level] * length
    if tail:
        runs.append(Run(home, start, min(tail, keep)))
    merges = _list_merges(runs, keep, list_limit)
    if merges is None:
        return None
    made = tuple(
        Round(
            (level - 1) % 2,
            BLOCK * WAYS ** (level - 1),
            sum(c * BLOCK * WAYS**a for a, c in counts.items() if a >= level),
        )
        for level in range(1, rounds + 1)
    )
    return Tree(blocks, tail, made, tuple(copies), merges, Run(home, 0, min(n, keep)))


def _digits(blocks: int, rounds: int) -> dict[int, int]:
    """Return how many runs of 4^a blocks there are for each a; the highest takes what is left."""
    counts = {}
    for level in range(rounds):
        blocks, counts[level] = divmod(blocks, WAYS)
    return counts | {rounds: blocks}


def _list_merges(runs: list[Run], keep: int, list_limit: int | None) -> tuple[ListMerge, ...] | None:
    """Merge neighbours until one run is left, the shortest first; None if a list gets too long."""
    merges: list[ListMerge] = []
    runs = list(runs)
    while len(runs) > 1:
        ways = (len(runs) - 2) % (WAYS - 1) + 2
        at = _shortest(runs, ways)
        sources = tuple(runs[at : at + ways])
        if list_limit is not None and max(run.pairs for run in sources) > list_limit:
            return None
        merge = ListMerge(sources, min(sum(run.pairs for run in sources), keep))
        merges.append(merge)
        runs[at : at + ways] = [merge.target]
    return tuple(merges)


def _shortest(runs: list[Run], ways: int) -> int:
    """Return where the neighbours with the fewest pairs begin; of equal ones the first."""
    sums = [0]
    for run in runs:
        sums.append(sums[-1] + run.pairs)
    totals = [high - low for low, high in zip(sums, sums[ways:], strict=False)]
    return totals.index(min(totals))
