"""Drawings of instruction words: as text, and as SVG."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from lanesort.neuron.word import Cell, Layout

__all__ = ["svg_diagram", "text_diagram"]

TEXT_ROW_BYTES = 16
TEXT_BYTE = 5
SVG_ROW_BYTES = 8
BYTE_WIDTH = 104
ROW_HEIGHT = 54
ROW_GAP = 10
LEFT = 44
TOP = 30
FILLS = ("#dbeafe", "#dcfce7", "#fef3c7", "#ede9fe", "#ffe4e6", "#cffafe")
RESERVED = "#f1f5f9"
LETTER_WIDTH = 6.2


@dataclass(frozen=True, slots=True)
class _Span:
    """The part of a cell that stands in one row; bits count from the start of that row."""

    cell: Cell
    row: int
    first: int
    bits: int


def _spans(cells: tuple[Cell, ...], row_bytes: int) -> Iterator[_Span]:
    row_bits = 8 * row_bytes
    for cell in cells:
        at, end = cell.bit, cell.bit + cell.bits
        while at < end:
            row = at // row_bits
            stop = min(end, (row + 1) * row_bits)
            yield _Span(cell, row, at - row * row_bits, stop - at)
            at = stop


def _fields(layout: Layout) -> tuple[Cell, ...]:
    """Whole fields instead of the numbers inside them."""
    merged: list[Cell] = []
    for cell in layout.cells:
        name = cell.name.partition(".")[0]
        if merged and merged[-1].name == name:
            last = merged.pop()
            merged.append(Cell(name, last.bit, last.bits + cell.bits, cell.note))
        else:
            merged.append(Cell(name, cell.bit, cell.bits, cell.note))
    return tuple(merged)


def text_diagram(layout: Layout) -> str:
    """Draw a word as text: a map of sixteen bytes a row, then a line for each number.

    Examples
    --------
    >>> from lanesort.neuron.sort import LAYOUT
    >>> print(text_diagram(LAYOUT).splitlines()[2])
     16 |src                                    |dst                                    |
    """
    rows: dict[int, str] = {}
    for span in _spans(_fields(layout), TEXT_ROW_BYTES):
        end = TEXT_BYTE * (span.first + span.bits) // 8
        width = end - TEXT_BYTE * span.first // 8 - 1
        rows[span.row] = rows.get(span.row, "|") + f"{_shortened(span.cell.name, width):<{width}}|"
    head = "    " + "".join(f" {b:<{TEXT_BYTE - 1}}" for b in range(TEXT_ROW_BYTES))
    drawn = [f"{row * TEXT_ROW_BYTES:>3} {line}" for row, line in rows.items()]
    table = [f"{c.range:<9} {c.bits:>4} bits  {c.name:<24} {c.note}".rstrip() for c in layout.cells]
    return "\n".join([head.rstrip(), *drawn, "", *table])


def _shortened(name: str, width: int) -> str:
    if len(name) <= width:
        return name
    return name[: max(1, width - 2)] + ".." if width > 2 else name[0] + "." * (width - 1)


def svg_diagram(layout: Layout, title: str) -> str:
    """Draw a word as SVG, eight bytes a row; each box says its field and byte range when pointed at.

    Parameters
    ----------
    layout
        Of the word.
    title
        What readers of the image alone are told.

    Examples
    --------
    >>> from lanesort.neuron.sort import LAYOUT
    >>> svg_diagram(LAYOUT, "Sort").startswith("<svg")
    True
    """
    rows = layout.size_bytes // SVG_ROW_BYTES
    width = LEFT + SVG_ROW_BYTES * BYTE_WIDTH + 4
    height = TOP + rows * (ROW_HEIGHT + ROW_GAP)
    fields = list(dict.fromkeys(c.name.partition(".")[0] for c in layout.cells))
    style = 'role="img" font-family="system-ui, sans-serif" font-size="12"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" {style}>',
        f"<title>{escape(title)}</title>",
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    parts += [
        _text(LEFT + (byte + 0.5) * BYTE_WIDTH, TOP - 12, f"+{byte}", "#64748b")
        for byte in range(SVG_ROW_BYTES)
    ]
    parts += [
        _text(LEFT / 2, _top(row) + ROW_HEIGHT / 2 + 4, str(row * SVG_ROW_BYTES), "#64748b")
        for row in range(rows)
    ]
    for span in _spans(layout.cells, SVG_ROW_BYTES):
        field = span.cell.name.partition(".")[0]
        reserved = field.startswith("reserved")
        parts.append(_box(span, RESERVED if reserved else FILLS[fields.index(field) % len(FILLS)]))
    return "\n".join([*parts, "</svg>\n"])


def _top(row: int) -> float:
    return TOP + row * (ROW_HEIGHT + ROW_GAP)


def _text(x: float, y: float, content: str, fill: str = "#0f172a") -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="middle" fill="{fill}">{escape(content)}</text>'


def _box(span: _Span, fill: str) -> str:
    x, y = LEFT + span.first / 8 * BYTE_WIDTH, _top(span.row)
    width = span.bits / 8 * BYTE_WIDTH
    field, _, inner = span.cell.name.partition(".")
    lines = [field, inner] if inner else _wrapped(field, width)
    hint = f"{span.cell.name}, bytes {span.cell.range}: {span.cell.note}"
    labels = [
        _text(x + width / 2, y + ROW_HEIGHT / 2 + 4 + 15 * (i - (len(lines) - 1) / 2), _fitted(line, width))
        for i, line in enumerate(lines)
    ]
    rect = (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{ROW_HEIGHT}" fill="{fill}" stroke="#334155"/>'
    )
    return f"<g><title>{escape(hint)}</title>{rect}{''.join(labels)}</g>"


def _wrapped(name: str, width: float) -> list[str]:
    """Break a name at its underscores where it is too wide."""
    lines: list[str] = []
    for word in name.split("_"):
        joined = f"{lines[-1]}_{word}" if lines else word
        if lines and len(joined) * LETTER_WIDTH > width:
            lines.append(word)
        else:
            lines[-1:] = [joined]
    return lines


def _fitted(text: str, width: float) -> str:
    room = int(width / LETTER_WIDTH)
    return text if len(text) <= room else text[: room - 1] + "…"
