"""Costs: published formulas, measurements that replace them, and the cheapest alternative."""

from __future__ import annotations

from pathlib import Path

import pytest

from lanesort import plan
from lanesort.errors import ArgumentValueError, FileError
from lanesort.plan.cost import RATES, estimate, measured_rates, step_cycles
from lanesort.plan.schedule import schedule, trace_document
from lanesort.plan.step import Span, Step

SORT = Step("tsort32", "256 blocks", "V", 256, times=3)
LOAD = Step("tload", "8192 scores", "MTE2", 32768, bytes=32768)


def written(folder: Path, text: str) -> Path:
    path = folder / "measured.csv"
    path.write_text(text)
    return path


def test_published_formulas() -> None:
    assert step_cycles(SORT) == 6 + 2 * 256
    merge = Step("tmrgsort", "", "V", 128)
    assert step_cycles(merge) == 20 + 78
    assert RATES["tsort32"].how == "documented"
    assert {rate.how for rate in RATES.values()} == {"documented", "inferred", "assumed"}


def test_an_estimate_adds_up() -> None:
    found = estimate([SORT, LOAD])
    assert found.cycles == 3 * step_cycles(SORT) + step_cycles(LOAD)
    assert (found.instructions, found.bytes) == (3, 32768)
    assert found.by_operation["tsort32"] == (3, 3 * step_cycles(SORT))


def test_measurements_replace_formulas(tmp_path) -> None:
    path = written(
        tmp_path,
        "operation,units,cycles\ntsort32,100,1100\ntsort32,200,2100\ntmrgsort,1000,500\ntload,0,70\n",
    )
    rates = measured_rates(path)
    assert (rates["tsort32"].fixed, rates["tsort32"].each) == pytest.approx((100, 10))
    assert (rates["tmrgsort"].fixed, rates["tmrgsort"].each) == (0, 0.5)
    assert (rates["tload"].fixed, rates["tload"].each) == (70, 0)
    assert rates["tsort32"].how == "measured"
    assert rates["tstore"] == RATES["tstore"]


def test_measurements_never_give_negative_costs(tmp_path) -> None:
    path = written(tmp_path, "operation,units,cycles\nSort,10,100\nSort,20,50\n")
    rate = measured_rates(path)["Sort"]
    assert rate.fixed >= 0
    assert rate.each >= 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("operation,units\ntsort32,1\n", "no column cycles"),
        ("", "no column cycles, operation, units"),
        ("operation,units,cycles\nfft,1,2\n", "line 2: operation is 'fft'; known are tsort32"),
        ("operation,units,cycles\nSort,1,2\nSort,many,2\n", "line 3: units is 'many'"),
        ("operation,units,cycles\nSort,1,-2\n", "line 2: cycles is '-2'"),
        ("operation,units,cycles\nSort,1,nan\n", "cycles is 'nan'"),
        ("operation,units,cycles\nSort,1\n", "cycles is ''"),
    ],
)
def test_bad_measurements_are_named_by_line(tmp_path, text: str, message: str) -> None:
    with pytest.raises(ArgumentValueError, match=message):
        measured_rates(written(tmp_path, text))


def test_measurements_that_cant_be_read(tmp_path) -> None:
    with pytest.raises(FileError, match=r"none\.csv: no such file"):
        measured_rates(tmp_path / "none.csv")
    with pytest.raises(FileError, match="is a folder"):
        measured_rates(tmp_path)
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FileError, match=r"binary\.csv: can't be read as measurements"):
        measured_rates(tmp_path / "binary.csv")


def test_the_cheapest_is_the_default_and_measurements_may_change_it(tmp_path) -> None:
    given = {"shape": (16, 8192), "k": 16, "target": "a5"}
    usual = plan.top_k(**given)
    costs = [cost.cycles for _, cost in usual.compare().rows]
    assert costs == sorted(costs)
    assert usual.chosen is usual.alternatives[0]
    assert usual.cost.by_operation["tmrgsort"][0] > 64, "many short merges are cheaper for a small k"
    path = written(tmp_path, "operation,units,cycles\ntmrgsort,128,10000\ntmrgsort,8192,10001\n")
    assert plan.top_k(**given, measurements=path).cost.by_operation["tmrgsort"][0] == 64


def test_comparison_marks_the_chosen_and_takes_other_plans() -> None:
    planned = plan.top_k(shape=(4, 3000), k=5, target="a5")
    other = plan.top_k(shape=(4, 3000), k=5, target="cayman")
    table = str(planned.compare([planned.chosen.name, other]))
    assert f"* {planned.chosen.name}" in table
    assert "target='cayman'" in table
    with pytest.raises(ArgumentValueError, match="alternative is 'none'"):
        planned.compare(["none"])


def test_schedule_orders_what_depends_and_overlaps_what_does_not() -> None:
    tile, other = Span(0, 64), Span(64, 128)
    steps = [
        Step("tload", "", "MTE2", 64, writes=(tile,)),
        Step("tload", "", "MTE2", 64, writes=(other,)),
        Step("tsort32", "", "V", 1, reads=(tile,)),
        Step("tload", "", "MTE2", 64, writes=(tile,)),
        Step("tstore", "", "MTE3", 64, reads=(other,), phase="later"),
    ]
    first, second, sort, third, store = schedule(steps, RATES)
    assert second.start == first.stop
    assert sort.start == first.stop
    assert third.start == max(second.stop, sort.stop)
    assert store.start == max(third.stop, sort.stop)
    events = trace_document([first, sort])["traceEvents"]
    assert [event["ph"] for event in events] == ["M", "M", "X", "X"]
    assert {event["tid"] for event in events} == {1, 2}
