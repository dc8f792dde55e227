"""The drawing of a block shows every kept lane in every row, and where it goes."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest

from lanesort.errors import ArgumentValueError
from lanesort.report.compaction_diagram import compaction_diagram, write_compaction_diagram

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("seed", range(5))
def test_kept_lanes_end_at_the_front_in_order(seed):
    values = np.random.default_rng(seed).integers(0, 2, 16).astype(np.int32)
    tree = ElementTree.fromstring(compaction_diagram(values, offset=100))
    kept = [r for r in tree.iter(f"{SVG}rect") if r.get("class") == "kept"]
    count = int(values.sum())
    assert len(kept) == 5 * count
    last = max(float(r.get("y")) for r in kept) if kept else 0
    ends = sorted(float(r.get("x")) for r in kept if float(r.get("y")) == last)
    assert [(x - ends[0]) / 40 for x in ends] == list(range(count))
    shown = [t.text for t in tree.iter(f"{SVG}text")][-count:] if count else []
    assert shown == [str(100 + place) for place in np.flatnonzero(values)]
    assert len(tree.findall(f"{SVG}line")) == 4 * count


def test_positions_stand_in_the_cells_that_are_kept():
    tree = ElementTree.fromstring(compaction_diagram(np.array([0, 0, 9], np.int32)))
    assert [t.text for t in tree.iter(f"{SVG}text")].count("2") == 5
    assert "nonzeros: 1 of 3" in tree.find(f"{SVG}title").text


def test_the_drawing_of_the_documentation_is_written(tmp_path):
    (path,) = write_compaction_diagram(tmp_path / "new")
    assert ElementTree.parse(path).getroot().tag == f"{SVG}svg"


@pytest.mark.parametrize("shape", [(0,), (17,), (2, 2)])
def test_other_than_one_block_is_refused(shape):
    with pytest.raises(ArgumentValueError, match="1 to 16 lanes"):
        compaction_diagram(np.zeros(shape, np.int32))
