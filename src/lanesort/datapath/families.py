"""Batcher's sorting networks, each as a generator of stages.

A stage is a list of (first, second) lanes: the value that comes first goes to ``first``.
"""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["bitonic", "merge_exchange", "odd_even_merge"]

Pairs = list[tuple[int, int]]


def bitonic(lanes: int) -> Iterator[Pairs]:
    """Yield the stages of the bitonic sorter; `lanes` is a power of two.

    Every partner is lane XOR a power of two, and blocks of each size are sorted in
    alternating directions, so that two neighbours form a bitonic sequence.

    Examples
    --------
    >>> list(bitonic(4))
    [[(0, 1), (3, 2)], [(0, 2), (1, 3)], [(0, 1), (2, 3)]]
    """
    block = 2
    while block <= lanes:
        distance = block // 2
        while distance:
            yield [
                (lane, lane + distance) if not lane & block else (lane + distance, lane)
                for lane in range(lanes)
                if not lane & distance
            ]
            distance //= 2
        block *= 2


def odd_even_merge(lanes: int) -> Iterator[Pairs]:
    """Yield the stages of odd-even merge sort, pruned to `lanes`.

    The network of the next power of two sends the first value always to the lower lane, so
    padding behind the last lane never moves and its comparators can be left out.

    Examples
    --------
    >>> list(odd_even_merge(4))
    [[(0, 1), (2, 3)], [(0, 2), (1, 3)], [(1, 2)]]
    """
    run = 1
    while run < lanes:
        distance = run
        while distance:
            yield [
                (lane, lane + distance)
                for start in range(distance % run, lanes - distance, 2 * distance)
                for lane in range(start, min(start + distance, lanes - distance))
                if lane // (2 * run) == (lane + distance) // (2 * run)
            ]
            distance //= 2
        run *= 2


def merge_exchange(lanes: int) -> Iterator[Pairs]:
    """Yield the stages of Batcher's merge exchange (Knuth, volume 3, algorithm 5.2.2 M).

    It takes any number of lanes without padding; distances are powers of two less the
    distance at which the current pass began.

    Examples
    --------
    >>> list(merge_exchange(3))
    [[(0, 2)], [(0, 1)], [(1, 2)]]
    """
    top = 1 << max((lanes - 1).bit_length() - 1, 0)
    pass_distance = top if lanes > 1 else 0
    while pass_distance:
        q, remainder, distance = top, 0, pass_distance
        while True:
            yield [
                (lane, lane + distance)
                for lane in range(lanes - distance)
                if lane & pass_distance == remainder
            ]
            if q == pass_distance:
                break
            distance, q, remainder = q - pass_distance, q // 2, pass_distance
        pass_distance //= 2
