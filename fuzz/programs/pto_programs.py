"""Programs of Ascend PTO: blocks sorted by TSORT32 and merged by TMRGSORT, called or written as text."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lanesort import pto
from lanesort.pto.interpreter import run
from lanesort.pto.program import Module
from lanesort.pto.text.parser import parse

from .draws import Draws
from .outcome import Outcome, by_float

__all__ = ["PtoCalls", "PtoText"]

Array = npt.NDArray[Any]
TARGETS = ("a2a3", "a2a3", "a5", "cpu")
SORT_CHOICES: tuple[Mapping[str, str], ...] = (
    {},
    {"pto.tie-order": "index-value", "pto.pad-bits": "-inf"},
    {"pto.nan-order": "largest", "pto.pad-bits": "lowest"},
)
MERGE_CHOICES: tuple[Mapping[str, str], ...] = (
    {},
    {"pto.merge-tie": "later-when-exhausted", "pto.executed-unasked": "taken"},
    {"pto.nan-order": "largest", "pto.exhausted-empty": "cpu-sim"},
)
BLOCK = 32


class PtoCalls(NamedTuple):
    """TSORT32 of some rows, then a merge of four blocks or of two to four lists."""

    target: str
    choices: int
    dtype: str
    rows: int
    columns: int
    index_rows: int | None
    merge: str
    exhausted: bool
    lengths: tuple[int, ...]

    @classmethod
    def draw(cls, draws: Draws) -> PtoCalls:
        """Make a program of the draws."""
        merge = draws.choice(("none", "blocks", "lists"))
        rows = 1 + draws.below(2) if merge == "none" else 1
        columns = draws.choice((1, 17, 32, 40, 64, 96)) if merge == "none" else 4 * BLOCK
        return cls(
            draws.choice(TARGETS),
            draws.below(2) and draws.below(len(SORT_CHOICES)),
            draws.choice(("f4", "f2")),
            rows,
            columns,
            draws.choice((None, 1, rows)),
            merge,
            bool(draws.below(2)),
            tuple(1 + draws.below(BLOCK) for _ in range(2 + draws.below(3))),
        )

    def data(self, draws: Draws) -> tuple[Array, Array | None]:
        """Make values and indices."""
        count = self.rows * self.columns
        values = draws.words(count).view(self.dtype)[:count].reshape(self.rows, self.columns)
        if self.index_rows is None:
            return values, None
        indices = draws.words(self.index_rows * self.columns) % np.uint32(1 << 20)
        return values, indices.reshape(self.index_rows, self.columns)

    def run(self, data: tuple[Array, Array | None], engine: str) -> Outcome:
        """Run on one engine."""
        sort, merge = SORT_CHOICES[self.choices], MERGE_CHOICES[self.choices]
        sorted_tile = pto.tsort32(*data, target=self.target, engine=engine, choices=sort)
        tiles, counts = [sorted_tile], ""
        if self.merge == "blocks":
            length = sorted_tile.shape[1] // 4
            tiles.append(pto.tmrgsort(sorted_tile, length, target=self.target, engine=engine, choices=merge))
        elif self.merge == "lists":
            row, width = np.asarray(sorted_tile), sorted_tile.shape[1] // 4
            lists = [row[:, n * width :][:, : width // BLOCK * size] for n, size in enumerate(self.lengths)]
            merged, executed = pto.tmrgsort_lists(
                lists, exhausted=self.exhausted, target=self.target, engine=engine, choices=merge
            )
            tiles.append(merged)
            counts = str(executed)
        unpinned = tuple(id for tile in tiles for id in tile.unpinned)
        parts = [tile.array.tobytes() + str(tile.produced_columns).encode() for tile in tiles]
        return Outcome(
            b"".join([*parts, counts.encode(), " ".join(unpinned).encode()]),
            "\n".join(line for tile in tiles for line in tile.warnings),
            by_float=by_float(unpinned, "pto.nan-order", sort, "sign-magnitude"),
        )


class PtoText(NamedTuple):
    """One of the texts beside this file, on random scores and indices."""

    name: str
    choices: int

    @classmethod
    def draw(cls, draws: Draws) -> PtoText:
        """Make a program of the draws."""
        name = draws.choice(("blocks.pto", "exhausted.pto"))
        return cls(name, draws.below(2) and draws.below(len(MERGE_CHOICES)))

    def data(self, draws: Draws) -> tuple[Array, ...]:
        """Make the arguments: scores, indices, and room for pairs and counts."""
        scores = draws.words(128).view(np.float32)
        return scores, draws.words(128), np.zeros(256, np.float32), np.zeros(4, np.int16)

    def run(self, arguments: tuple[Array, ...], engine: str) -> Outcome:
        """Run on one engine."""
        choices = MERGE_CHOICES[self.choices]
        result = run(_module(self.name), arguments, engine=engine, choices=choices)
        outputs = [array.tobytes() for array in result.outputs.values()]
        said = f"{result.executed} {result.unpinned} {result.changed} {result.steps}"
        return Outcome(
            b"".join([*outputs, said.encode()]),
            "\n".join([*result.log, *result.warnings]),
            by_float=by_float(result.unpinned, "pto.nan-order", choices, "sign-magnitude"),
        )


@cache
def _module(name: str) -> Module:
    return parse((Path(__file__).parent / name).read_text(encoding="utf-8"), name)
