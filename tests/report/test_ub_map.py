"""The drawing of the unified buffer: well-formed, complete, and the same each time."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from lanesort.errors import FileError
from lanesort.pto.check import UbMap, check
from lanesort.pto.check.ub_map import Lane
from lanesort.pto.text.parser import parse
from lanesort.report.ub_map import ub_map_svg, write_ub_map

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples" / "pto").glob("*.pto"))
SVG = "{http://www.w3.org/2000/svg}"


def boxes(drawing: str) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(drawing).iter(f"{SVG}rect"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_tile_of_an_example_is_drawn(path: Path) -> None:
    (one,) = check(parse(path.read_text(encoding="utf-8")), "a2a3").maps
    drawing = ub_map_svg(one)
    titles = [box.find(f"{SVG}title").text for box in boxes(drawing)]
    assert len(titles) == len(one.lanes)
    for title, lane in zip(titles, one.lanes, strict=True):
        assert f"{title}".startswith(f"{lane.name} 0x{lane.start:x} … 0x{lane.stop:x}")
    assert drawing == ub_map_svg(one)


def test_boxes_lie_where_the_addresses_say() -> None:
    lanes = (Lane("%a", 0, 256, True, "WR "), Lane("%b", 256, 512, True, " WR"))
    first, second = boxes(ub_map_svg(UbMap("f", "a5", 262144, (("x", 1), ("y", 2), ("z", 3)), lanes)))
    assert float(first.attrib["height"]) == float(second.attrib["height"])
    assert float(first.attrib["y"]) + float(first.attrib["height"]) == float(second.attrib["y"])
    assert float(first.attrib["x"]) < float(second.attrib["x"])


def test_the_end_of_ub_is_marked_where_tiles_reach_beyond() -> None:
    lane = Lane("%a", 0, 300000, False, "W")
    assert "end of UB" in ub_map_svg(UbMap("f", "a5", 262144, (("x", 1),), (lane,)))
    assert "end of UB" not in ub_map_svg(UbMap("f", "cpu", None, (("x", 1),), (lane,)))


def test_names_are_escaped_and_long_programs_cut() -> None:
    steps = tuple(("<&>", n) for n in range(1000))
    lane = Lane("%<&>", 0, 32, False, "W" * 1000)
    drawing = ub_map_svg(UbMap("f<", "a5", 262144, steps, (lane,)))
    assert len(list(ElementTree.fromstring(drawing).iter(f"{SVG}circle"))) == 402


def test_an_empty_map_is_a_drawing_too() -> None:
    assert boxes(ub_map_svg(UbMap("f", "a5", 262144, (), ()))) == []


def test_a_file_that_can_not_be_written(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="can't write the map"):
        write_ub_map(tmp_path / "nowhere" / "map.svg", UbMap("f", "a5", 262144, (), ()))
