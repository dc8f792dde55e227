"""A drawing of one block on its way through the compactor, as SVG.

A row of sixteen lanes stands for the positions and for each of the selects by 1, 2, 4 and 8
lanes. Lanes that are kept are filled and show their position; a line joins a lane to where
the next select brings it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import numpy as np
import numpy.typing as npt

from lanesort.datapath.compactor import BLOCK_LANES, Detect, trace_blocks
from lanesort.errors import ArgumentValueError

__all__ = ["compaction_diagram", "write_compaction_diagram"]

Array = npt.NDArray[Any]

_CELL, _HEIGHT = 40, 24
_LEFT, _TOP, _ROW = 96, 60, 58
_STYLE = (
    "text{font:12px ui-monospace,Menlo,Consolas,monospace;fill:#1f2937;text-anchor:middle}"
    ".head{font:bold 13px system-ui,sans-serif;text-anchor:start}.row{text-anchor:start;fill:#6b7280}"
    ".kept{fill:#fed7aa;stroke:#c2410c}.dropped{fill:#fff;stroke:#e2e8f0}.way{stroke:#c2410c}"
)
_ROWS = ("positions", "select by 1", "select by 2", "select by 4", "select by 8")


def compaction_diagram(values: Array, rule: Detect = "value", offset: int = 0) -> str:
    """Draw how the nonzeros of one block are moved to its front.

    Parameters
    ----------
    values
        One-dimensional, 1 to 16 elements.
    rule, offset
        As `lanesort.datapath.compactor.compact` takes them.

    Returns
    -------
    str
        An SVG document, the same for the same arguments.

    Raises
    ------
    ArgumentValueError
        For more or fewer elements than one block holds.

    Examples
    --------
    >>> compaction_diagram(np.array([0, 7, 0, 5], np.int32)).count('class="way"')
    8
    """
    if values.ndim != 1 or not 1 <= len(values) <= BLOCK_LANES:
        raise ArgumentValueError(
            f"values have shape {values.shape}; a drawing shows 1 to {BLOCK_LANES} lanes"
        )
    block = trace_blocks(values, rule, offset)[0]
    heading = f"nonzeros: {block.kept} of {len(values)}; the cursor moves on by {block.kept}"
    width, height = _LEFT + BLOCK_LANES * _CELL + 16, _TOP + len(_ROWS) * _ROW - 20
    places = _places(block.mask)
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size}>',
        f"<title>{escape(heading)}</title>",
        f"<style>{_STYLE}</style>",
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        f'<text class="head" x="16" y="20">{escape(heading)}</text>',
    ]
    parts += [f'<text x="{_x(lane)}" y="{_TOP - 10}">{value}</text>' for lane, value in enumerate(values)]
    for row, name in enumerate(_ROWS):
        parts.append(f'<text class="row" x="8" y="{_y(row) + 16}">{name}</text>')
        parts += _cells(row, block.lanes[row], places[row])
        if row:
            parts += _ways(row, places[row - 1], places[row])
    return "\n".join([*parts, "</svg>\n"])


def _places(mask: npt.NDArray[np.bool_]) -> list[list[int]]:
    """Return where each kept lane stands at first and after each select."""
    kept = np.flatnonzero(mask)
    shift = kept - np.arange(len(kept))
    return [(kept - (shift & ((1 << step) - 1))).tolist() for step in range(len(_ROWS))]


def _x(lane: int) -> int:
    return _LEFT + lane * _CELL + _CELL // 2


def _y(row: int) -> int:
    return _TOP + row * _ROW


def _cells(row: int, lanes: Array, places: list[int]) -> Iterator[str]:
    for lane, position in enumerate(lanes.tolist()):
        kind = "kept" if lane in places else "dropped"
        yield (
            f'<rect class="{kind}" x="{_x(lane) - _CELL // 2 + 2}" y="{_y(row)}" width="{_CELL - 4}" '
            f'height="{_HEIGHT}" rx="3"/>'
        )
        if lane in places:
            yield f'<text x="{_x(lane)}" y="{_y(row) + 16}">{position}</text>'


def _ways(row: int, before: list[int], after: list[int]) -> Iterator[str]:
    for here, there in zip(before, after, strict=True):
        top, bottom = _y(row - 1) + _HEIGHT, _y(row)
        yield f'<line class="way" x1="{_x(here)}" y1="{top}" x2="{_x(there)}" y2="{bottom}"/>'


def write_compaction_diagram(folder: Path) -> list[Path]:
    """Write the drawing that the documentation shows, and return its path.

    Parameters
    ----------
    folder
        Where to write; made if it is missing.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "compaction-16.svg"
    row = np.array([0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 3, 0, 4, 0, 5], np.int32)
    path.write_text(compaction_diagram(row, offset=16), "utf-8")
    return [path]
