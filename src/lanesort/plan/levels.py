"""The merge tree of one row, level by level: which runs are sorted after which step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from lanesort.plan.neuron_nonzero import NonzeroProgram
from lanesort.plan.neuron_resort import ResortProgram
from lanesort.plan.neuron_sort import SortProgram
from lanesort.plan.pto import PtoProgram
from lanesort.plan.tree import BLOCK, WAYS, Tree

__all__ = ["Level", "levels", "levels_text"]


class Level(NamedTuple):
    """Sorted runs of a row after a step: first element and elements of each."""

    name: str
    runs: tuple[tuple[int, int], ...]


def levels(program: PtoProgram | SortProgram | ResortProgram | NonzeroProgram) -> tuple[Level, ...]:
    """Return the levels of a program's merge tree, the shortest runs first; none for ``nonzero``.

    Examples
    --------
    >>> from lanesort import plan
    >>> found = levels(plan.top_k(shape=8192, k=100, target="a5").chosen)
    >>> [(level.name, len(level.runs)) for level in found][:2]
    [('tsort32', 256), ('round 1', 64)]
    """
    if isinstance(program, ResortProgram):
        return tuple(_piece_levels(program.first, "second Sort"))
    if isinstance(program, SortProgram):
        return tuple(_piece_levels(program, "host merge"))
    if isinstance(program, NonzeroProgram) or program.tree is None:
        return ()
    return (*_tree_levels(program.tree), *_chunk_levels(program))


def levels_text(found: tuple[Level, ...]) -> str:
    """Return the merge tree in one line.

    Examples
    --------
    >>> levels_text((Level("tsort32", ((0, 32), (32, 32), (64, 5))), Level("1 list merge", ((0, 69),))))
    'tsort32: 3 runs of up to 32; 1 list merge: 69'
    """
    return "; ".join(f"{level.name}: {_runs_text(level.runs)}" for level in found)


def _runs_text(runs: tuple[tuple[int, int], ...]) -> str:
    sizes = {size for _, size in runs}
    if len(runs) == 1:
        return f"{max(sizes)}"
    return f"{len(runs)} runs of {'up to ' if len(sizes) > 1 else ''}{max(sizes)}"


def _piece_levels(program: SortProgram, last: str) -> Iterator[Level]:
    runs = tuple((piece.start, piece.length) for piece in program.pieces if piece.row == 0)
    if runs:
        yield Level("Sort", runs)
    if len(runs) > 1:
        yield Level(last, ((0, program.job.width),))


def _tree_levels(tree: Tree) -> Iterator[Level]:
    whole = tree.blocks * BLOCK
    runs = dict.fromkeys(range(0, whole, BLOCK), BLOCK)
    if tree.tail:
        runs[whole] = tree.tail
    yield Level("tsort32", tuple(runs.items()))
    for number, (_, block, pairs) in enumerate(tree.rounds, 1):
        for start in range(0, pairs, WAYS * block):
            _join(runs, [start + way * block for way in range(WAYS)])
        yield Level(f"round {number}", tuple(runs.items()))
    if tree.merges:
        for merge in tree.merges:
            _join(runs, [run.start for run in merge.sources])
        count = len(tree.merges)
        yield Level(f"{count} list merge{'' if count == 1 else 's'}", tuple(runs.items()))


def _join(runs: dict[int, int], starts: list[int]) -> None:
    first, *others = starts
    for start in others:
        runs[first] += runs.pop(start)


def _chunk_levels(program: PtoProgram) -> Iterator[Level]:
    width, chunk = program.job.width, program.chunk
    if chunk >= width:
        return
    yield Level("chunks", tuple((start, min(chunk, width - start)) for start in range(0, width, chunk)))
    if not program.work_elements:
        yield Level("best kept", ((0, width),))
        return
    number = 0
    while chunk < width:
        chunk, number = WAYS * chunk, number + 1
        runs = tuple((start, min(chunk, width - start)) for start in range(0, width, chunk))
        yield Level(f"pass {number}", runs)
