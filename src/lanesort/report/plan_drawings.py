"""Drawings of a plan, as SVG elements for a page: memory over time, merge tree, timeline.

They carry no style of their own: the page's style sheet colours the classes ``op-…``, and
each box has a title that a browser shows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from xml.sax.saxutils import escape

from lanesort.plan.levels import Level
from lanesort.plan.schedule import Life, Slot
from lanesort.plan.step import PLACES

__all__ = ["memory_svg", "timeline_svg", "tree_svg"]

_WIDTH, _LEFT, _RIGHT = 960, 110, 12
_PLOT = _WIDTH - _LEFT - _RIGHT
_ROW, _BOX = 34, 22
_HEIGHT = 300
_MOST_BOXES = 256


def _svg(height: float, title: str, parts: Iterator[str]) -> str:
    body = "\n".join(parts)
    return (
        f'<svg viewBox="0 0 {_WIDTH} {height:g}" role="img" class="drawing"><title>{escape(title)}</title>\n'
        f"{body}\n</svg>"
    )


def _box(x: float, y: float, width: float, height: float, kind: str, title: str) -> str:
    return (
        f'<rect x="{x:.2f}" y="{y:.2f}" width="{max(width, 0.6):.2f}" height="{max(height, 0.6):.2f}" '
        f'class="box {kind}"><title>{escape(title)}</title></rect>'
    )


def _text(x: float, y: float, content: str, kind: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}">{escape(content)}</text>'


def _axis(y: float, end: float, unit: str) -> Iterator[str]:
    for part in range(5):
        x = _LEFT + _PLOT * part / 4
        anchor = "start" if part == 0 else "end" if part == 4 else "middle"
        yield _text(x, y, f"{end * part / 4:,.0f}{f' {unit}' if part == 4 else ''}", f"axis {anchor}")


def timeline_svg(slots: Sequence[Slot]) -> str:
    """Draw when each step runs, a lane for each place.

    Examples
    --------
    >>> from lanesort.plan.step import Step
    >>> timeline_svg([Slot(Step("tsort32", "256 blocks", "V", 256), 0, 518)]).count("<rect")
    1
    """
    end = max((slot.stop for slot in slots), default=1)
    lanes = [place for place in PLACES if any(slot.step.place == place for slot in slots)]

    def parts() -> Iterator[str]:
        for number, lane in enumerate(lanes):
            yield _text(8, number * _ROW + 20, lane, "label")
        for slot in slots:
            y = lanes.index(slot.step.place) * _ROW + 4
            x = _LEFT + _PLOT * slot.start / end
            width = _PLOT * (slot.stop - slot.start) / end
            title = f"{slot.step.op}: {slot.step.what}, cycles {slot.start:,.0f} to {slot.stop:,.0f}"
            yield _box(x, y, width, _BOX, _class(slot.step.op), title)
        yield from _axis(len(lanes) * _ROW + 14, end, "cycles")

    return _svg(len(lanes) * _ROW + 24, "Timeline", parts())


def memory_svg(held: Sequence[Life], size_bytes: int, cycles: float, name: str) -> str:
    """Draw which bytes hold something over time: addresses go down, cycles to the right.

    Examples
    --------
    >>> from lanesort.plan.step import Span
    >>> memory_svg([Life(Span(0, 128), "tload", 0, 9)], 256, 9, "UB").count("<rect")
    2
    """
    end = max(cycles, 1.0)
    size = max(size_bytes, 1)

    def parts() -> Iterator[str]:
        yield _box(_LEFT, 4, _PLOT, _HEIGHT, "room", f"{name}, {size_bytes:,} bytes")
        for life in held:
            x = _LEFT + _PLOT * life.start / end
            y = 4 + _HEIGHT * life.span.start / size
            height = _HEIGHT * (life.span.stop - life.span.start) / size
            title = f"{life.op}: bytes {life.span.start:,} to {life.span.stop - 1:,}"
            yield _box(x, y, _PLOT * (life.stop - life.start) / end, height, _class(life.op), title)
        for part in range(5):
            yield _text(_LEFT - 6, 8 + _HEIGHT * part / 4, f"{size * part // 4:,}", "axis end")
        yield from _axis(_HEIGHT + 20, end, "cycles")

    return _svg(_HEIGHT + 30, f"{name} over time", parts())


def tree_svg(levels: Sequence[Level]) -> str:
    """Draw the sorted runs of a row after each step.

    Examples
    --------
    >>> tree_svg([Level("tsort32", ((0, 32), (32, 32))), Level("1 list merge", ((0, 64),))]).count("<rect")
    3
    """

    def parts() -> Iterator[str]:
        for number, level in enumerate(levels):
            y = number * _ROW + 4
            end = max(start + size for start, size in level.runs)
            count = len(level.runs)
            yield _text(8, y + 15, level.name, "label")
            shown = level.runs if count <= _MOST_BOXES else ((0, end),)
            for start, size in shown:
                title = f"{level.name}: {start:,} to {start + size - 1:,}, {size:,} in order"
                if shown is not level.runs:
                    title = f"{level.name}: {count:,} runs, too many to draw"
                x, width = _LEFT + _PLOT * start / end, _PLOT * size / end - 0.5
                yield _box(x, y, width, _BOX, f"level{number % 4}", title)
            yield _text(_LEFT + 6, y + 15, f"{count:,} run{'' if count == 1 else 's'}", "inbox")

    return _svg(len(levels) * _ROW + 4, "Merge tree", parts())


def _class(op: str) -> str:
    return f"op-{op.lower()}"
