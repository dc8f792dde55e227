"""The report of a plan: one page that needs nothing else, and no error in a browser."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from lanesort import plan
from lanesort.errors import FileError
from lanesort.report.html import plan_page, plan_trace, write_plan_report, write_plan_trace
from tests.conftest import ROOT

PLANS = {
    "whole": plan.top_k(shape=(4, 2048), k=100, target="a5"),
    "spill": plan.sort(shape=(1, 20000), target="a2a3"),
    "keep-best": plan.top_k(shape=(2, 20000), k=50, target="a2a3"),
    "words": plan.top_k(shape=(3, 5000), k=7, target="cayman"),
    "nonzero": plan.nonzero(shape=5000),
    "nothing": plan.sort(shape=(0, 5), target="a5"),
    "one": plan.sort(shape=(1, 1), target="a5"),
}


class Balance(HTMLParser):
    """Finds tags that are not closed, and everything that a page loads."""

    VOID = ("meta", "link", "img", "br", "rect")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.loaded: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.loaded += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag not in self.VOID or tag == "rect":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("name", PLANS)
def test_pages_are_whole_and_load_nothing(name: str) -> None:
    page = plan_page(PLANS[name])
    parser = Balance()
    parser.feed(page)
    assert parser.open == []
    assert all(url.startswith("data:") for url in parser.loaded)
    assert "<script" not in page
    assert page == plan_page(PLANS[name])


@pytest.mark.parametrize(
    ("name", "headings"),
    [
        ("whole", ["UB over time", "Merge tree", "Timeline", "A block of 32"]),
        ("spill", ["UB over time", "pass 1", "chunks", "Timeline"]),
        ("words", ["SBUF, partition 0, over time", "host merge", "A vector through a bitonic"]),
        ("nonzero", ["SBUF, partition 0, over time", "A vector through the compactor"]),
    ],
)
def test_pages_show_what_belongs_to_the_plan(name: str, headings: list[str]) -> None:
    page = plan_page(PLANS[name])
    assert all(heading in page for heading in headings)


def test_a_check_is_shown_with_its_input() -> None:
    x = np.random.default_rng(0).standard_normal((4, 2048)).astype(np.float32)
    planned = PLANS["whole"]
    page = plan_page(planned, planned.check(x), x)
    assert '<p class="good">equal</p>' in page
    assert "400 compared" in page


def test_the_trace_in_the_page_is_the_trace_that_is_written(tmp_path: Path) -> None:
    planned = PLANS["words"]
    found = re.search(r'href="data:application/json;base64,([^"]+)"', plan_page(planned))
    assert found is not None
    write_plan_trace(tmp_path / "trace.json", planned)
    written = json.loads((tmp_path / "trace.json").read_text())
    assert json.loads(base64.b64decode(found[1])) == written == plan_trace(planned)
    events = [event for event in written["traceEvents"] if event["ph"] == "X"]
    assert len(events) == len(planned.steps)
    assert all(event["dur"] > 0 for event in events)


def test_the_page_in_the_documentation_is_fresh() -> None:
    scores = np.load(ROOT / "examples" / "debian-search" / "scores.npy")
    planned = plan.top_k(shape=scores.shape, k=2048, target="a5")
    page = plan_page(planned, planned.check(scores), scores)
    assert page == (ROOT / "docs" / "plan-report.html").read_text(encoding="utf-8"), (
        "write it anew: lanesort plan top-k --shape 16x8192 -k 2048 --target a5 "
        "--run examples/debian-search/scores.npy --check --report docs/plan-report.html"
    )


def test_a_page_that_cant_be_written(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="can't write"):
        write_plan_report(tmp_path / "no" / "out.html", PLANS["one"])


def test_a_browser_shows_the_page_without_an_error(tmp_path: Path) -> None:
    """In headless Chromium; LANESORT_ARTIFACTS names a folder that keeps the screenshot."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no Chromium")
    page, folder = tmp_path / "plan.html", Path(os.environ.get("LANESORT_ARTIFACTS", tmp_path))
    write_plan_report(page, PLANS["whole"])
    picture = folder / "plan-report.png"
    options = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--enable-logging=stderr",
        "--window-size=1100,3200",
    ]
    home = {**os.environ, "HOME": str(tmp_path)}
    done = subprocess.run(
        [
            browser,
            *options,
            f"--user-data-dir={tmp_path / 'profile'}",
            f"--screenshot={picture}",
            page.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        env=home,
        check=True,
    )
    assert "CONSOLE" not in done.stderr
    assert picture.stat().st_size > 20000
