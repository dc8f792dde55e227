"""Drawings of compare-exchange networks, with an input flowing through, as SVG.

Lanes run from left to right, a stage stands between two columns of values, and a vertical
line joins the two lanes of a comparator. The full dot is the lane that receives the value
that comes first. Comparators whose lanes changed places are drawn in colour.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import numpy as np
import numpy.typing as npt

from lanesort.datapath.lanes import Exchange, LaneState, comparand, steps
from lanesort.datapath.nan_order import NAN_EXAMPLE
from lanesort.datapath.network import Network, network
from lanesort.errors import ArgumentValueError
from lanesort.order import Order

__all__ = ["MOST_DRAWN", "network_diagram", "write_network_diagrams"]

Array = npt.NDArray[Any]

MOST_DRAWN = 64
"""Widest network that is still legible."""

_PITCH = 24
_TOP = 44
_LEFT = 16
_VALUE_WIDTH = 44
_LINE_GAP = 14
_STYLE = (
    "text{font:12px ui-monospace,Menlo,Consolas,monospace;fill:#1f2937;text-anchor:middle}"
    ".head{font:bold 13px system-ui,sans-serif;text-anchor:start}"
    ".small{font-size:10px;fill:#6b7280}"
    ".lane{stroke:#cbd5e1}.pad{stroke:#e2e8f0;stroke-dasharray:3 3}"
    ".still{stroke:#64748b;fill:#64748b}.moved{stroke:#c2410c;fill:#c2410c;stroke-width:2}"
    ".open{fill:#fff}.nan{fill:#7c3aed;font-weight:bold}"
)


class _Canvas:
    """Collects elements from left to right; x is where the next column begins."""

    def __init__(self) -> None:
        self.x = _LEFT
        self.parts: list[str] = []

    def add(self, element: str) -> None:
        self.parts.append(element)

    def text(self, x: float, y: float, content: str, kind: str = "") -> None:
        mark = f' class="{kind}"' if kind else ""
        self.add(f'<text x="{x:g}" y="{y:g}"{mark}>{escape(content)}</text>')


def network_diagram(
    network: Network,
    values: Array | None = None,
    *,
    descending: bool = False,
    tie_by_tag: bool = True,
    exchange: Exchange = "swap",
) -> str:
    """Draw a network as SVG.

    Parameters
    ----------
    network
        At most `MOST_DRAWN` lanes.
    values
        One row to flow through it: numbers of any dtype that lanes take, `network.width` of
        them. Without them the bare network is drawn.
    descending, tie_by_tag, exchange
        As `lanesort.datapath.lanes.steps` takes them.

    Returns
    -------
    str
        An SVG document, the same for the same arguments.

    Raises
    ------
    ArgumentValueError
        For a network that is too wide to read, or a row that does not fit it.

    Examples
    --------
    >>> from lanesort.datapath.network import network
    >>> network_diagram(network("bitonic", 4), np.array([3, 1, 2, 0])).startswith("<svg")
    True
    """
    if network.lanes > MOST_DRAWN:
        raise ArgumentValueError(
            f"the network has {network.lanes} lanes; a drawing shows at most {MOST_DRAWN}"
        )
    if values is not None and values.shape != (network.width,):
        raise ArgumentValueError(
            f"values have shape {values.shape}; the network takes one row of {network.width}"
        )
    canvas = _Canvas()
    row = np.zeros(network.width) if values is None else values
    seen = comparand(row, Order(descending=descending))[None]
    states = steps(
        network,
        seen,
        np.arange(network.width)[None],
        descending=descending,
        tie_by_tag=tie_by_tag,
        exchange=exchange,
    )
    for number, state in enumerate(states):
        if state.stage is not None:
            _draw_stage(canvas, state, number, shown=values is not None)
        if values is not None:
            _draw_values(canvas, state)
    if values is not None:
        _draw_indices(canvas, state)
    return _document(canvas, network, descending)


def _y(lane: int) -> int:
    return _TOP + lane * _PITCH


def _draw_stage(canvas: _Canvas, state: LaneState, number: int, *, shown: bool) -> None:
    assert state.stage is not None
    columns = _columns(list(state.stage))
    start = canvas.x
    canvas.x += _LINE_GAP * (len(columns) + 1)
    canvas.text((start + canvas.x) / 2, _TOP - 14, str(number), "small")
    moved = {pair: bool(mark) for pair, mark in zip(state.stage, state.moved[:, 0], strict=True)}
    for place, column in enumerate(columns, 1):
        for pair in column:
            _draw_comparator(canvas, start + place * _LINE_GAP, pair, shown and moved[pair])


def _columns(pairs: Sequence[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    """Spread comparators over as few lines as it takes for none to cross another."""
    columns: list[list[tuple[int, int]]] = []
    ends: list[int] = []
    for pair in sorted(pairs, key=min):
        for place, end in enumerate(ends):
            if end < min(pair):
                columns[place].append(pair)
                ends[place] = max(pair)
                break
        else:
            columns.append([pair])
            ends.append(max(pair))
    return columns


def _draw_comparator(canvas: _Canvas, x: int, pair: tuple[int, int], moved: bool) -> None:
    first, second = map(_y, pair)
    kind = "moved" if moved else "still"
    canvas.add(
        f'<g class="{kind}"><line x1="{x}" y1="{first}" x2="{x}" y2="{second}"/>'
        f'<circle cx="{x}" cy="{first}" r="3.5"/><circle cx="{x}" cy="{second}" r="3.5" class="open"/></g>'
    )


def _draw_values(canvas: _Canvas, state: LaneState) -> None:
    middle = canvas.x + _VALUE_WIDTH / 2
    canvas.x += _VALUE_WIDTH
    for lane, text in enumerate(_lane_texts(state)):
        kind = "nan" if text == "nan" else "small" if text == "·" else ""
        width = 7.4 * len(text) + 4
        canvas.add(
            f'<rect x="{middle - width / 2:g}" y="{_y(lane) - 8}" width="{width:g}" height="16" fill="#fff"/>'
        )
        canvas.text(middle, _y(lane) + 4, text, kind)


def _lane_texts(state: LaneState) -> Iterator[str]:
    for value, padding in zip(state.values[:, 0], state.padding, strict=True):
        yield "·" if padding else _number(value)


def _number(value: Any) -> str:
    return f"{float(value):.4g}" if isinstance(value, np.floating) else str(int(value))


def _draw_indices(canvas: _Canvas, state: LaneState) -> None:
    canvas.text(canvas.x + 12, _TOP - 14, "index", "small")
    for lane in np.flatnonzero(~state.padding).tolist():
        canvas.text(canvas.x + 12, _y(lane) + 4, str(int(state.tags[lane, 0])), "small")
    canvas.x += 24


def _document(canvas: _Canvas, network: Network, descending: bool) -> str:
    heading = f"{network}, {'descending' if descending else 'ascending'}"
    width = max(canvas.x + _LEFT, 8 * len(heading) + 2 * _LEFT)
    height = _TOP + max(network.lanes, 1) * _PITCH
    lanes = [
        f'<line class="{"lane" if lane < network.width else "pad"}" x1="{_LEFT}" y1="{_y(lane)}" '
        f'x2="{canvas.x}" y2="{_y(lane)}"/>'
        for lane in range(network.lanes)
    ]
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size}>',
            f"<title>{escape(heading)}</title>",
            f"<style>{_STYLE}</style>",
            f'<rect width="{width}" height="{height}" fill="#fff"/>',
            f'<text class="head" x="{_LEFT}" y="18">{escape(heading)}</text>',
            *lanes,
            *canvas.parts,
            "</svg>\n",
        ]
    )


def write_network_diagrams(folder: Path) -> list[Path]:
    """Write the drawings that the documentation shows, and return their paths.

    Parameters
    ----------
    folder
        Where to write; made if it is missing.
    """
    row = np.array([9, 3, 5, 1, 0, 0, 7, 2], np.float32)
    drawings = {
        "network-bitonic-8": network_diagram(network("bitonic", 8), row),
        "network-odd-even-merge-8": network_diagram(network("odd-even-merge", 8), row),
        "network-merge-exchange-6": network_diagram(network("merge-exchange", 6), row[:6]),
        "network-bitonic-6": network_diagram(network("bitonic", 6), row[:6], descending=True),
        "network-smallest-16": network_diagram(network("smallest", 16)),
        "network-nan-bitonic": network_diagram(network("bitonic", 8), NAN_EXAMPLE),
        "network-nan-odd-even-merge": network_diagram(network("odd-even-merge", 8), NAN_EXAMPLE),
    }
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, drawing in drawings.items():
        path = folder / f"{name}.svg"
        path.write_text(drawing, "utf-8")
        paths.append(path)
    return paths
