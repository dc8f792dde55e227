"""The trace of a run: what each step read and wrote, on which pipe, and as a document."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from lanesort.errors import FileError
from lanesort.pto import machine
from lanesort.pto.interpreter import run
from lanesort.pto.memory import Access
from lanesort.pto.result import PIPES, RunResult, trace_document, write_trace


@pytest.fixture(scope="module")
def traced(example, scores) -> RunResult:
    arguments = [scores[2, :128], np.arange(128, dtype=np.uint32), np.zeros(256, "f4"), np.zeros(4, "i2")]
    return run(example("low_level.pto"), arguments, engine="reference", trace=True)


def test_steps_are_on_their_pipes(traced: RunResult) -> None:
    pipes = {event.name: event.pipe for event in traced.trace}
    assert pipes["mte_gm_ub"] == "MTE2"
    assert pipes["vbitsort"] == pipes["vmrgsort4"] == "V"
    assert pipes["mte_ub_gm"] == "MTE3"
    assert pipes["store_scalar"] == pipes["arith.constant"] == "S"


def test_byte_ranges_of_operands(traced: RunResult) -> None:
    events = {event.name: event for event in traced.trace}
    assert events["mte_ub_gm"].reads == (Access("ub", 2048, 1024, 1, 1024),)
    assert events["mte_ub_gm"].writes == (Access("gm:out", 0, 1024, 1, 1024),)
    sort = events["vbitsort"]
    assert [(a.start, a.stop) for a in sort.reads] == [(0, 512), (512, 1024)]
    assert [(a.start, a.stop) for a in sort.writes] == [(1024, 2048)]
    merge = events["vmrgsort4"]
    assert [(a.start, a.stop) for a in merge.reads] == [(1024 + 256 * n, 1280 + 256 * n) for n in range(4)]


def test_synchronisation_is_kept_in_order(traced: RunResult) -> None:
    flags = [(e.name, e.pipe, e.detail) for e in traced.trace if e.name.endswith("flag")]
    load = {"src": "PIPE_MTE2", "dst": "PIPE_V", "event": "EVENT_ID0"}
    assert flags[:2] == [("set_flag", "MTE2", load), ("wait_flag", "V", load)]
    names = [event.name for event in traced.trace]
    assert names.index("wait_flag") < names.index("vbitsort")


def test_time_goes_forward(traced: RunResult) -> None:
    starts = [event.start_us for event in traced.trace]
    assert starts == sorted(starts)
    assert all(event.duration_us >= 0 for event in traced.trace)


def test_without_asking_only_sorts_and_merges_are_kept(example, scores) -> None:
    arguments = [scores[2, :128], np.arange(128, dtype=np.uint32), np.zeros(256, "f4"), np.zeros(4, "i2")]
    result = run(example("low_level.pto"), arguments, engine="reference")
    assert [event.name for event in result.trace] == ["vbitsort", "vmrgsort4", "vmrgsort4"]
    assert result.trace[0].place is not None
    assert result.trace[0].reads


def test_the_document_is_chrome_trace_event_json(traced: RunResult, tmp_path: Path) -> None:
    write_trace(tmp_path / "t.json", traced.trace)
    document = json.loads((tmp_path / "t.json").read_text())
    assert document == json.loads(json.dumps(trace_document(traced.trace)))
    steps = [event for event in document["traceEvents"] if event["ph"] == "X"]
    assert len(steps) == len(traced.trace)
    assert {event["tid"] for event in steps} == set(range(1, len(PIPES) + 1))
    assert steps[-1]["args"]["place"].startswith("low_level.pto:")


def test_a_trace_that_can_not_be_written(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="can't write the trace"):
        write_trace(tmp_path / "none" / "t.json", [])


def test_long_traces_are_cut(example, scores, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "MOST_EVENTS", 5)
    arguments = [scores[2, :128], np.arange(128, dtype=np.uint32), np.zeros(256, "f4"), np.zeros(4, "i2")]
    result = run(example("low_level.pto"), arguments, engine="reference", trace=True)
    assert len(result.trace) == 5
    assert "the trace ends after 5 events" in result.warnings
    assert result.outputs["counts"].any()
