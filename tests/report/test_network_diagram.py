"""Drawings of networks: well-formed, complete, and true to the run that they show."""

from __future__ import annotations

from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest

from lanesort.datapath.nan_order import NAN_EXAMPLE
from lanesort.datapath.network import FAMILIES, network
from lanesort.errors import ArgumentValueError
from lanesort.report.network_diagram import MOST_DRAWN, network_diagram, write_network_diagrams

SVG = "{http://www.w3.org/2000/svg}"


def texts(drawing, x=None):
    found = ElementTree.fromstring(drawing).iter(f"{SVG}text")
    return [t.text for t in found if x is None or t.get("x") == x]


@pytest.mark.parametrize("family", FAMILIES)
def test_every_comparator_and_lane_is_drawn(family):
    drawn = network(family, 8)
    tree = ElementTree.fromstring(network_diagram(drawn))
    assert len(tree.findall(f"{SVG}g")) == drawn.comparators
    assert len(tree.findall(f"{SVG}line")) == drawn.lanes
    assert tree.find(f"{SVG}title").text == f"{drawn}, ascending"


def test_the_last_column_shows_the_result_and_the_index():
    row = np.array([9, 3, 5, 1, 0, 0], np.int16)
    for family in ("bitonic", "merge-exchange"):
        for descending in (False, True):
            drawing = network_diagram(network(family, 6), row, descending=descending)
            shown = [t for t in texts(drawing) if t.lstrip("-").isdigit()]
            order = np.argsort(-row if descending else row, kind="stable")
            assert shown[-6:] == [str(i) for i in order]


def test_padding_is_drawn_where_it_moves():
    shown = texts(network_diagram(network("bitonic", 6), np.arange(6)))
    assert shown.count("·") == 2 * (network("bitonic", 6).depth + 1)
    assert [text for text in shown if text != "·"].count("5") >= 7


def test_moves_are_coloured_only_with_an_input():
    drawn = network("bitonic", 4)
    assert 'class="moved"' not in network_diagram(drawn)
    assert 'class="moved"' in network_diagram(drawn, np.array([3, 2, 1, 0]))
    still = network_diagram(network("odd-even-merge", 4), np.array([0, 1, 2, 3]))
    assert 'class="moved"' not in still


def test_comparators_of_a_stage_do_not_cover_one_another():
    tree = ElementTree.fromstring(network_diagram(network("bitonic", 16)))
    spans = {}
    for group in tree.findall(f"{SVG}g"):
        line = group.find(f"{SVG}line")
        ends = sorted((float(line.get("y1")), float(line.get("y2"))))
        spans.setdefault(line.get("x1"), []).append(ends)
    for column in spans.values():
        column.sort()
        assert all(upper[1] < lower[0] for upper, lower in pairwise(column))


def test_nan_is_marked():
    drawing = network_diagram(network("bitonic", 8), NAN_EXAMPLE)
    marked = [t for t in ElementTree.fromstring(drawing).iter(f"{SVG}text") if t.get("class") == "nan"]
    assert len(marked) == 2 * 7


def test_the_drawings_of_the_documentation_are_written_the_same_each_time(tmp_path):
    first = [path.read_text("utf-8") for path in write_network_diagrams(tmp_path / "new")]
    assert [path.read_text("utf-8") for path in write_network_diagrams(tmp_path / "new")] == first
    for drawing in first:
        assert ElementTree.fromstring(drawing).tag == f"{SVG}svg"


def test_what_can_not_be_drawn_is_refused():
    with pytest.raises(ArgumentValueError, match=f"at most {MOST_DRAWN}"):
        network_diagram(network("bitonic", 65))
    with pytest.raises(ArgumentValueError, match=r"shape \(3,\)"):
        network_diagram(network("bitonic", 4), np.arange(3))
    assert network_diagram(network("bitonic", 0)).startswith("<svg")
