"""The table of unpinned behaviours has all of them, in cells that stay cells."""

from __future__ import annotations

import re
from pathlib import Path

from lanesort.evidence import unpinned_behaviours
from lanesort.report.unpinned_table import unpinned_table, write_unpinned_table


def test_each_behaviour_has_a_line_with_its_choices(tmp_path: Path) -> None:
    lines = unpinned_table().splitlines()
    by_id = {re.match(r"\| `([^`]+)`", line)[1]: line for line in lines[2:]}
    assert set(by_id) == {entry.id for entry in unpinned_behaviours()}
    for entry in unpinned_behaviours():
        cells = re.split(r"(?<!\\)\|", by_id[entry.id])
        assert len(cells) == 6
        assert re.findall(r"(?:^ |<br>)`([^`]+)`: ", cells[4]) == list(entry.choices)
    assert write_unpinned_table(tmp_path).read_text(encoding="utf-8") == unpinned_table()
