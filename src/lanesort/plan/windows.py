"""Merging runs that lie in global memory, four at a time, through windows in UB.

A window holds the next pairs of each list. The merge stops when one window has given its
last pair; the executed counts say how far each list has come, and all windows are filled
again from there. When a list has ended, the merge goes on with one list fewer, until the
last one is copied. Lists are registered in the order of their positions, or in reverse
where a stopped merge prefers the later list, so that equal values keep their order.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from lanesort.plan.job import Job
from lanesort.plan.kernel import Kernel, Tile
from lanesort.plan.tree import WAYS
from lanesort.pto.operand import BLOCK_BYTES, round_up
from lanesort.pto.target import Target
from lanesort.pto.tile import PAIR_BYTES

__all__ = ["merge_runs", "window_pairs"]

MOST_WINDOW = 2048
EVENT = 2
"""Flags 0 and 1 belong to the double buffers of the loads."""


class _List(NamedTuple):
    """A sorted list in global memory: its next pair, and the end."""

    next: str
    end: str


class _Pass(NamedTuple):
    """One pass over the runs: where they are read, how long they are, where merged ones go."""

    work: str
    source: str
    target: str
    length: int
    window: int
    reverse: bool
    last: bool
    iterations: int


def window_pairs(target: Target) -> int:
    """Return how many pairs a window holds: four of them, their merge and its copy fill UB.

    Examples
    --------
    >>> from lanesort.pto.target import find_target
    >>> window_pairs(find_target("a5")), window_pairs(find_target("kirin9030"))
    (2048, 1024)
    """
    room = target.ub_bytes
    window = MOST_WINDOW
    while room is not None and 3 * WAYS * window * PAIR_BYTES > room:
        window //= 2
    return window


def merge_runs(
    kernel: Kernel, job: Job, length: int, work: str, halves: tuple[str, str], window: int
) -> None:
    """Write the passes that merge runs of `length` pairs, the last one into values and indices.

    Parameters
    ----------
    kernel
        Where to write; the sorted runs are in the first of `halves`, and all pipes are done.
    job
        Says how wide a row is, and how many pairs are wanted.
    length
        Elements of one chunk.
    work
        Type of the view ``%runs``.
    halves
        Rows of ``%runs`` that are read and written in turn.
    window
        Pairs of one window.
    """
    reverse = job.given.get("pto.merge-tie") == "later-when-exhausted"
    source, target = halves
    number = 0
    kernel.wait_flag("MTE3", "V", 0)
    while True:
        number += 1
        last = WAYS * length >= job.width
        kernel.phase = f"pass {number}"
        iterations = WAYS * -(-min(length, job.k) // window)
        this = _Pass(work, source, target, length, window, reverse, last, iterations)
        kernel.note(f"pass {number}: runs of {length}, four at a time")
        groups = -(-job.width // (WAYS * length))
        group = kernel.fresh("group")
        opening = f"scf.for {group} = {kernel.index(0)} to {kernel.index(groups)} step {kernel.index(1)} {{"
        with kernel.inside(opening), kernel.repeated(groups):
            _merge_group(kernel, job, this, group)
        kernel.barrier()
        if last:
            break
        length, source, target = WAYS * length, target, source
    kernel.set_flag("MTE3", "V", 0)


def _merge_group(k: Kernel, job: Job, this: _Pass, group: str) -> None:
    """Write the merge of one group of up to four runs."""
    width = k.index(job.width)
    first = k.compute("muli", group, k.index(WAYS * this.length), prefix="run")
    lists, total = [], k.index(0)
    for way in range(WAYS):
        at = k.compute("addi", first, k.index(way * this.length), prefix="at")
        start = k.compute("minsi", at, width, prefix="start")
        stop = k.compute("addi", start, k.index(min(this.length, job.k)), prefix="stop")
        end = k.compute("minsi", stop, width, prefix="end")
        size = k.compute("subi", end, start, prefix="size")
        total = k.compute("addi", total, size, prefix="total")
        lists.append(_List(start, end))
    kept = k.compute("minsi", total, k.index(job.k), prefix="kept")
    base = k.index(0) if this.last else first
    out_end = k.compute("addi", base, kept, prefix="out_end")
    out = base
    for ways in range(WAYS, 1, -1):
        # What the loops of fewer lists take, the first loop has left over.
        with k.repeated(this.iterations if ways == WAYS else 1):
            moved, out = _merge_while(k, job, this, lists, out, out_end)
        lists = _without_first_ended(k, moved)
    _copy_rest(k, job, this, lists[0], out, out_end)


def _merge_while(
    k: Kernel, job: Job, this: _Pass, lists: Sequence[_List], out: str, out_end: str
) -> tuple[list[_List], str]:
    """Write the loop that merges while every list has pairs; return the lists and where out has come."""
    ways = len(lists)
    results = [k.fresh("next") for _ in range(ways + 1)]
    tested = [k.fresh("next") for _ in range(ways + 1)]
    types = ", ".join(["index"] * (ways + 1))
    initial = ", ".join(
        f"{t} = {v}" for t, v in zip(tested, [*(part.next for part in lists), out], strict=True)
    )
    with k.inside(f"{', '.join(results)} = scf.while ({initial}) : ({types}) -> ({types}) {{", "} do {"):
        going = k.compute("cmpi slt,", tested[-1], out_end, prefix="going")
        for at, part in zip(tested, lists, strict=False):
            more = k.compute("cmpi slt,", at, part.end, prefix="more")
            going = k.compute("andi", going, more, kind="i1", prefix="going")
        k.line(f"scf.condition({going}) {', '.join(tested)} : {types}")
    names = [k.fresh("next") for _ in range(ways + 1)]
    with k.inside(f"^bb0({', '.join(f'{name}: index' for name in names)}):"):
        here = [_List(name, part.end) for name, part in zip(names, lists, strict=False)]
        ahead = _merge_windows(k, job, this, here, names[-1], out_end)
        k.line(f"scf.yield {', '.join(ahead)} : {types}")
    moved = [_List(result, part.end) for result, part in zip(results, lists, strict=False)]
    return moved, results[-1]


def _merge_windows(
    k: Kernel, job: Job, this: _Pass, lists: Sequence[_List], out: str, out_end: str
) -> list[str]:
    """Write one merge of windows; return where each list, and out, have come."""
    width, ways = k.index(k.pair_width), len(lists)
    sources, columns = [], k.index(0)
    for number, part in enumerate(lists):
        tile, size = _load_window(k, this, number, part)
        columns = k.compute("addi", columns, size, prefix="columns")
        sources.append(tile)
    k.hand_over("MTE2", "V", EVENT)
    merged = k.pairs(2 * WAYS * this.window * PAIR_BYTES, ways * this.window, varies=True)
    tmp = WAYS * this.window * PAIR_BYTES
    _set_valid(k, merged, columns)
    k.merge_lists(sources[::-1] if this.reverse else sources, tmp, merged, exhausted=True)
    k.hand_over("V", "S", EVENT)
    k.hand_over("V", "MTE2", EVENT)
    counts = [k.fresh("count") for _ in range(WAYS)]
    k.line(f"{', '.join(counts)} = pto.get_vms4_sr : i16, i16, i16, i16")
    used = counts[:ways][::-1] if this.reverse else counts[:ways]
    ahead, emitted = [], k.index(0)
    for part, count in zip(lists, used, strict=True):
        taken = k.fresh("taken")
        k.line(f"{taken} = arith.index_cast {count} : i16 to index")
        emitted = k.compute("addi", emitted, taken, prefix="emitted")
        ahead.append(k.compute("addi", part.next, taken, prefix="ahead"))
    room = k.compute("subi", out_end, out, prefix="room")
    count = k.compute("minsi", emitted, room, prefix="kept")
    _set_valid(k, merged, k.compute("muli", count, width, prefix="columns"))
    _give(k, job, this, merged, out, count)
    return [*ahead, k.compute("addi", out, count, prefix="ahead")]


def _load_window(k: Kernel, this: _Pass, number: int, part: _List) -> tuple[Tile, str]:
    """Write the load of the next pairs of a list; return the tile and its columns."""
    width = k.index(k.pair_width)
    left = k.compute("subi", part.end, part.next, prefix="left")
    take = k.compute("minsi", left, k.index(this.window), prefix="take")
    columns = k.compute("muli", take, width, prefix="columns")
    at = k.compute("muli", part.next, width, prefix="from")
    tile = k.pairs(number * this.window * PAIR_BYTES, this.window, varies=True)
    view, kind = k.part("%runs", this.work, this.source, at, columns)
    _set_valid(k, tile, columns)
    k.load(view, kind, tile, f"up to {this.window} pairs of list {number}")
    return tile, columns


def _set_valid(k: Kernel, tile: Tile, columns: str) -> None:
    k.line(f"pto.set_validshape {tile.name}, {k.index(1)}, {columns} : {tile.type}")


def _give(k: Kernel, job: Job, this: _Pass, pairs: Tile, out: str, count: str) -> None:
    """Write the store of `count` pairs: as pairs, or pulled apart in the last pass."""
    if this.last:
        stores = _pull_apart(k, pairs, count, this)
    else:
        columns = k.compute("muli", count, k.index(k.pair_width), prefix="columns")
        column = k.compute("muli", out, k.index(k.pair_width), prefix="to")
        part, kind = k.part("%runs", this.work, this.target, column, columns)
        stores = [(pairs, part, kind, "merged pairs")]
    if stores[0][0] is not pairs:
        finished = []
        for tile, view, kind, what in stores:
            part, part_kind = k.part(view, kind, "%row", out, count)
            finished.append((tile, part, part_kind, what))
        stores = finished
    k.hand_over("V", "MTE3", EVENT)
    for tile, part, kind, what in stores:
        k.store(tile, part, kind, what)
    k.hand_over("MTE3", "V", EVENT)


def _pull_apart(k: Kernel, pairs: Tile, count: str, this: _Pass) -> list[tuple[Tile, str, str, str]]:
    """Write the gathers of values and indices into tmp's place."""
    most = pairs.bytes // PAIR_BYTES
    room = WAYS * this.window * PAIR_BYTES
    words = k.tile("words", pairs.address, 2 * most, "i32", varies=True)
    values = k.tile("best_values", room, most, varies=True)
    indices = k.tile("best_indices", room + round_up(values.bytes, BLOCK_BYTES), most, "i32", varies=True)
    _set_valid(k, words, k.compute("muli", count, k.index(2), prefix="columns"))
    for tile in (values, indices):
        _set_valid(k, tile, count)
    k.gather(pairs, k.value_pattern, values)
    k.gather(words, k.index_pattern, indices)
    element = k.element
    return [
        (values, "%values_view", f"!pto.tensor_view<?x?x{element}>", "values"),
        (indices, "%indices_view", "!pto.tensor_view<?x?xi32>", "indices"),
    ]


def _without_first_ended(k: Kernel, lists: Sequence[_List]) -> list[_List]:
    """Write the selection that leaves out the first list that has ended, or else the last one."""
    left = []
    ended = ""
    for part, following in pairwise(lists):
        over = k.compute("cmpi sge,", part.next, part.end, prefix="over")
        ended = k.compute("ori", ended, over, kind="i1", prefix="over") if ended else over
        left.append(
            _List(
                k.compute("select", ended, following.next, part.next, prefix="next"),
                k.compute("select", ended, following.end, part.end, prefix="end"),
            )
        )
    return left


def _copy_rest(k: Kernel, job: Job, this: _Pass, part: _List, out: str, out_end: str) -> None:
    """Write the loop that copies what the last list still has."""
    width = k.index(k.pair_width)
    left = k.compute("subi", part.end, part.next, prefix="left")
    room = k.compute("subi", out_end, out, prefix="room")
    rest = k.compute("minsi", left, room, prefix="rest")
    done = k.fresh("done")
    with k.inside(f"scf.for {done} = {k.index(0)} to {rest} step {k.index(this.window)} {{"):
        start = k.compute("addi", part.next, done, prefix="at")
        stop = k.compute("addi", part.next, rest, prefix="stop")
        tile, columns = _load_window(k, this, 0, _List(start, stop))
        k.hand_over("MTE2", "V", EVENT)
        k.hand_over("V", "MTE3", EVENT)
        count = k.compute("divsi", columns, width, prefix="count")
        _give(k, job, this, tile, k.compute("addi", out, done, prefix="to"), count)
        k.hand_over("V", "MTE2", EVENT)
