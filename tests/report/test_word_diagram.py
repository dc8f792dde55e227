"""Word diagrams: every field is drawn, in text and in SVG that parses."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from lanesort.neuron import NonzeroWithCount, Sort
from lanesort.neuron.word import layout_of
from lanesort.report.word_diagram import SVG_ROW_BYTES, svg_diagram, text_diagram

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("kind", [Sort, NonzeroWithCount])
def test_the_text_has_a_line_for_every_number(kind: type[Sort] | type[NonzeroWithCount]) -> None:
    layout = layout_of(kind)
    head, *lines = text_diagram(layout).splitlines()
    assert head.split() == [str(b) for b in range(16)]
    rows = lines[:4]
    assert len({len(row) for row in rows}) == 1
    assert [row[:3].strip() for row in rows] == ["0", "16", "32", "48"]
    assert [line.split()[-1] for line in lines[5:]] == [c.note.split()[-1] for c in layout.cells]


@pytest.mark.parametrize("kind", [Sort, NonzeroWithCount])
def test_the_drawing_covers_the_word(kind: type[Sort] | type[NonzeroWithCount]) -> None:
    layout = layout_of(kind)
    root = ElementTree.fromstring(svg_diagram(layout, "A <word>"))
    assert root.findtext(f"{SVG}title") == "A <word>"
    boxes = [group.find(f"{SVG}rect") for group in root.iter(f"{SVG}g")]
    byte = min(float(b.get("width", "0")) for b in boxes if b is not None)
    scale = byte * 2 if kind is Sort else byte
    covered = sum(float(b.get("width", "0")) for b in boxes if b is not None)
    assert round(covered / scale) == 64
    hints = {group.findtext(f"{SVG}title", "").split(",")[0] for group in root.iter(f"{SVG}g")}
    assert hints == {c.name for c in layout.cells}
    assert SVG_ROW_BYTES == 8
