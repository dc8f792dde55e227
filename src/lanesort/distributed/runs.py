"""Sorted runs on disk: written once, read forward in blocks, merged block by block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from lanesort.files import write_elements
from lanesort.kernels.merge import merge
from lanesort.order import Order, keys

__all__ = ["Run", "Source", "merged_blocks", "write_run"]

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Source:
    """Elements of one dtype in a file, from an offset on."""

    path: Path
    dtype: np.dtype[Any]
    offset_bytes: int
    length: int

    def block(self, start: int, stop: int) -> Array:
        """Read elements start … stop − 1 into memory."""
        if stop <= start:
            return np.empty(0, self.dtype)
        where = self.offset_bytes + start * self.dtype.itemsize
        return np.fromfile(self.path, self.dtype, stop - start, offset=where)


@dataclass(frozen=True)
class Run:
    """A sorted run: its values, and the indices that travel with them, if any do."""

    values: Source
    indices: Source | None = None

    def block(self, start: int, stop: int) -> tuple[Array, Array | None]:
        """Read pairs start … stop − 1 into memory."""
        indices = None if self.indices is None else self.indices.block(start, stop)
        return self.values.block(start, stop), indices


def write_run(folder: Path, number: int, values: Array, indices: Array | None) -> Run:
    """Write a sorted run to `folder` and return it."""
    sources = []
    for kind, array in (("values", values), ("indices", indices)):
        if array is not None:
            path = folder / f"{number:06d}.{kind}"
            with path.open("wb") as file:
                write_elements(file, array)
            sources.append(Source(path, array.dtype, 0, array.size))
    return Run(*sources)


class _Cursor:
    """A run read forward: the block in memory, and how much of it was merged."""

    def __init__(self, run: Run, block: int) -> None:
        self._run = run
        self._block = block
        self._next = 0
        self.values: Array = np.empty(0, run.values.dtype)
        self.indices: Array | None = None if run.indices is None else np.empty(0, run.indices.dtype)

    @property
    def last_block(self) -> bool:
        return self._next == self._run.values.length

    def refill(self) -> None:
        """Top the block up to its size."""
        stop = min(self._next + self._block - self.values.size, self._run.values.length)
        values, indices = self._run.block(self._next, stop)
        self._next = stop
        self.values = np.concatenate([self.values, values])
        if self.indices is not None and indices is not None:
            self.indices = np.concatenate([self.indices, indices])

    def take(self, count: int) -> tuple[Array, Array | None]:
        """Remove the first `count` pairs of the block and return them."""
        values, self.values = self.values[:count], self.values[count:]
        if self.indices is None:
            return values, None
        indices, self.indices = self.indices[:count], self.indices[count:]
        return values, indices


def merged_blocks(runs: Sequence[Run], order: Order, elements: int) -> Iterator[tuple[Array, Array | None]]:
    """Merge runs and give the result in blocks, in order.

    Parameters
    ----------
    runs
        Sorted under `order`; of equal values those of an earlier run come first.
    order
        How values compare.
    elements
        Elements to hold in memory, over all runs; a block has at most that many.

    Yields
    ------
    tuple
        (values, indices) of the next block; indices is None where runs have none.
    """
    cursors = [_Cursor(run, max(1, elements // len(runs))) for run in runs if run.values.length]
    while cursors:
        for cursor in cursors:
            cursor.refill()
        taken = [c.take(n) for c, n in zip(cursors, _safe_counts(cursors, order), strict=True)]
        cursors = [c for c in cursors if c.values.size or not c.last_block]
        yield _merge(taken, order)


def _safe_counts(cursors: list[_Cursor], order: Order) -> list[int]:
    """How many pairs of each block come before everything that is not in memory yet.

    What follows a block is at least as large as its last element, so all that lies before
    the smallest of these last elements can be merged; equal ones only up to its run.
    """
    unread = [(int(keys(c.values[-1:], order)[0]), i) for i, c in enumerate(cursors) if not c.last_block]
    if not unread:
        return [c.values.size for c in cursors]
    bound, owner = min(unread)
    return [_count_below(c.values, bound, i <= owner, order) for i, c in enumerate(cursors)]


def _count_below(values: Array, bound: int, inclusive: bool, order: Order) -> int:
    """Count the sorted values whose key lies below `bound`, or equals it, by bisection."""
    low, high = 0, values.size
    while low < high:
        middle = (low + high) // 2
        key = int(keys(values[middle : middle + 1], order)[0])
        if key < bound or (inclusive and key == bound):
            low = middle + 1
        else:
            high = middle
    return low


def _merge(taken: list[tuple[Array, Array | None]], order: Order) -> tuple[Array, Array | None]:
    pieces = [(v, i) for v, i in taken if v.size]
    values = [v for v, _ in pieces]
    indices = [i for _, i in pieces if i is not None]
    merged = merge(
        values,
        indices=indices or None,
        descending=order.descending,
        nan=order.nan,
        tie="run",
        check=False,
    )
    return merged.values, merged.indices if indices else None
