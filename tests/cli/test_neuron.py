"""``lanesort neuron`` and ``lanesort explain``: what they print, write and refuse."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from lanesort import neuron
from lanesort.cli.main import main

SORT = "sort.u32.desc.stable ch=1 src=[p0+0x0, 4:1] dst=[p0+0x40, 2:4 4:1] off=10"
NONZERO = "nonzero.i32 ch=1 src=[p0+0x0, 4:1] dst=[p0+0x80, 5:1] pad=-1"
EVENTS = f"{NONZERO} update=sem_inc:3"


@pytest.fixture
def program(tmp_path: Path) -> str:
    path = tmp_path / "program.bin"
    path.write_bytes(b"".join(neuron.assemble(line).encode() for line in (SORT, EVENTS)))
    return str(path)


@pytest.fixture
def memory(tmp_path: Path) -> str:
    path = tmp_path / "init.npz"
    np.savez(path, **{"p0+0x0": np.array([5, 0, 7, 7], np.uint32), "semaphores": np.array([0, 2])})
    return str(path)


def ran(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    assert main(arguments) == code
    streams = capsys.readouterr()
    return streams.out if code < 2 else streams.err


def test_decode_prints_assembly(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(capsys, "neuron", "decode", program).splitlines() == [SORT, EVENTS]
    assert ran(capsys, "neuron", "decode", neuron.assemble(SORT).encode().hex()).strip() == SORT


def test_decode_prints_json(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = map(json.loads, ran(capsys, "neuron", "decode", program, "--json").splitlines())
    assert (first["name"], second["name"]) == ("Sort", "NonzeroWithCount")
    assert first["fields"]["src"] == {"start": 0, "steps": [1], "counts": [4]}
    assert bytes.fromhex(first["hex"]) == neuron.assemble(SORT).encode()


def test_encode_is_the_inverse(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, binary = tmp_path / "program.s", tmp_path / "program.bin"
    text.write_text(f"# two\n{SORT}\n{EVENTS}\n", encoding="utf-8")
    ran(capsys, "neuron", "encode", str(text), "-o", str(binary))
    assert ran(capsys, "neuron", "decode", str(binary)).splitlines() == [SORT, EVENTS]
    assert bytes.fromhex(ran(capsys, "neuron", "encode", SORT)) == neuron.assemble(SORT).encode()


def test_validate_prints_every_violation(capsys: pytest.CaptureFixture[str]) -> None:
    bad = neuron.assemble(SORT).replace(stable=3, comparison=0xD1).encode().hex()
    shown = ran(capsys, "neuron", "validate", bad, code=1)
    assert "INVALID" in shown
    assert "comparison_is_less_or_greater: comparison is 0xd1" in shown
    assert "stable_is_zero_or_one: stable is 3" in shown
    found = json.loads(ran(capsys, "neuron", "validate", bad, "--json", code=1))
    assert [v["rule"] for v in found["violations"]] == [
        "comparison_is_less_or_greater",
        "stable_is_zero_or_one",
    ]
    good = neuron.assemble(NONZERO).encode().hex()
    assert "0: valid" in ran(capsys, "neuron", "validate", good)
    assert "core_version" in ran(capsys, "neuron", "validate", good, "--generation", "sunda", code=1)


def test_dump_labels_fields(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    shown = ran(capsys, "neuron", "dump", program)
    assert f"word 0: {SORT}" in shown
    assert "comparison              0x13  IS_GT" in shown


def test_run_writes_state_and_trace(
    program: str, memory: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, trace = tmp_path / "result.npz", tmp_path / "trace.json"
    shown = ran(
        capsys,
        "neuron",
        "run",
        program,
        "--sbuf",
        memory,
        "--out",
        str(out),
        "--trace",
        str(trace),
        "--engine",
        "reference",
    )
    assert shown.splitlines() == [
        "P0: DECODE_SORT : num_items = 4, num_active_channels = 1, is_ascending = 0",
        "S: Sort",
        "P0: NonzeroWithCount : num_chans = 1",
        "S: NonzeroWithCount: num_elements=3",
        "2 instructions on cayman",
    ]
    with np.load(out) as found:
        assert found["i0.values"].tolist() == [[7, 7, 5, 0]]
        assert found["i0.indices"].tolist() == [[12, 13, 10, 11]]
        assert found["i1.dst"].tolist() == [[[[0, 2, 3, -1, 3]]]]
        assert found["semaphores"][:4].tolist() == [0, 2, 0, 1]
    sort, nonzero = json.loads(trace.read_text())["traceEvents"]
    assert sort["args"]["dispatch"][0] == "cayman MAIN: key 0x96000000, 17 rows scanned: no row"
    assert "in_dtype i32: body 0x01004b80" in nonzero["args"]["dispatch"]
    again = ran(capsys, "neuron", "run", program, "--sbuf", str(out), "--engine", "reference", "--json")
    assert json.loads(again)["warnings"] == []


def test_run_reports_unpinned_behaviour(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    memory = tmp_path / "nan.npz"
    np.savez(memory, **{"p0+0": np.array([np.nan, 1, 2, 3], np.float32)})
    word = neuron.assemble(SORT.replace("u32", "fp32")).encode().hex()
    shown = ran(
        capsys,
        "neuron",
        "run",
        word,
        "--sbuf",
        str(memory),
        "--engine",
        "reference",
        "--choice",
        "sort.nan-order=largest",
    )
    assert "unpinned: sort.nan-order = largest: above every number" in shown


def test_step_shows_what_changes(program: str, memory: str, capsys: pytest.CaptureFixture[str]) -> None:
    shown = ran(capsys, "neuron", "step", program, "--sbuf", memory, "--engine", "reference")
    assert f"0: {SORT}" in shown
    assert "  p0 values 7 7 5 0 (" in shown
    assert "  semaphore 3: 0 → 1" in shown


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("decode", "nosuch.bin"), "nosuch.bin: no such file"),
        (("decode", ""), "empty"),
        (("decode", "97" * 64), "SortMerge"),
        (("decode", "96"), "1 byte is 0 words"),
        (("encode", "sort.fp32 ch=x"), "<text>:1:11: error"),
        (("encode", "# nothing"), "no word"),
        (("validate", "96" * 64, "--generation", "trn9"), "generation is 'trn9'"),
        (("run", "96" * 64, "--engine", "reference"), "rules broken"),
        (("run", "96" * 64, "--engine", "reference", "--choice", "x"), "is not ID=CHOICE"),
    ],
)
def test_bad_input_is_one_clear_line(
    arguments: tuple[str, ...], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert says in ran(capsys, "neuron", *arguments, code=2)


def test_bad_files_are_refused(tmp_path: Path, program: str, capsys: pytest.CaptureFixture[str]) -> None:
    empty, odd, text = tmp_path / "empty.bin", tmp_path / "odd.npz", tmp_path / "text.bin"
    empty.write_bytes(b"")
    text.write_bytes(b"\xff" * 70)
    np.savez(odd, colour=np.zeros(3))
    assert "the file is empty" in ran(capsys, "neuron", "decode", str(empty), code=2)
    assert "70 bytes are 1 word of 64 bytes and 6 more" in ran(capsys, "neuron", "decode", str(text), code=2)
    assert "not text" in ran(capsys, "neuron", "encode", str(text), code=2)
    run = ("neuron", "run", program, "--engine", "reference", "--sbuf")
    assert "array 'colour': unknown name" in ran(capsys, *run, str(odd), code=2)
    assert "no .npz file" in ran(capsys, *run, str(text), code=2)
    np.savez(odd, **{"p127+0": np.zeros((2, 3), np.float32)})
    assert "partitions 127 to 128; SBUF has 0 to 127" in ran(capsys, *run, str(odd), code=2)


def test_explain_prints_all_parts(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = ran(capsys, "explain", "neuron.sort")
    for part in ("Word", "Rules", "Where it exists", "What no source fixes", "What it relies on"):
        assert f"\n{part}\n{'=' * len(part)}\n" in shown
    assert "dst_has_two_columns" in shown
    assert "Require dst.counts[0] to be 2: value and" in shown
    found = json.loads(ran(capsys, "explain", "neuron.nonzero_with_count", "--json"))
    assert found["word"][-1]["name"] == "reserved1"
    assert [r["modes"] for r in found["rules"]]


def test_explain_an_unpinned_id(capsys: pytest.CaptureFixture[str]) -> None:
    assert "default   last" in ran(capsys, "explain", "sort.nan-order")
    assert json.loads(ran(capsys, "explain", "nonzero.nan", "--json"))["default"] == "counted"
    assert "demonstration" not in json.loads(ran(capsys, "explain", "nonzero.nan", "--json"))
    listed = ran(capsys, "explain")
    assert "  neuron.sort                Sort (0x96): order the values" in listed
    assert "  nonzero.nan " in listed
    assert "  dst_has_two_columns\n" in listed
    assert "nothing to explain about 'sort.colour'" in ran(capsys, "explain", "sort.colour", code=2)
    assert "nothing to explain about ''" in ran(capsys, "explain", "", code=2)


def test_explain_a_rule(capsys: pytest.CaptureFixture[str]) -> None:
    assert "  pto.tmrgsort: Each list, or each block" in ran(capsys, "explain", "lists_are_sorted")
    assert "  neuron.sort: Require dst.counts[0] to be 2" in ran(capsys, "explain", "dst_has_two_columns")
    found = json.loads(ran(capsys, "explain", "tiles_are_vec", "--json"))
    assert list(found["statements"]) == ["pto.tsort32", "pto.tmrgsort"]
    near = ran(capsys, "explain", "list_are_sorted", code=2)
    assert "did you mean lists_are_sorted? `lanesort explain` lists" in near
    assert "did you mean neuron.sort?" in ran(capsys, "explain", "neuron.sorts", code=2)


def test_explain_demonstrates_the_order_of_nan(capsys: pytest.CaptureFixture[str]) -> None:
    shown = ran(capsys, "explain", "sort.nan-order")
    assert "  3 nan 1 nan 2 inf 0 4 (0 1 2 3 4 5 6 7): the input, ascending\n" in shown
    assert "(6 3 4 2 1 0 7 5): odd-even-merge keep\n" in shown
    assert "  swap: the lanes change places when the later one is strictly better\n" in shown
    lines = json.loads(ran(capsys, "explain", "sort.nan-order", "--json"))["demonstration"]
    assert len(lines) > 10


def test_explain_prints_facts_of_any_subject(capsys: pytest.CaptureFixture[str]) -> None:
    assert "so P0101 keeps elements 0 and 2" in ran(capsys, "explain", "pto.tgather")
    assert "documented, high: PTO specification, TGATHER" in ran(capsys, "explain", "pto.tgather")
    (one,) = json.loads(ran(capsys, "explain", "pto.tgather", "--json"))
    assert one["about"] == "pto.tgather"


@pytest.mark.parametrize(("choice", "partitions"), [("every-16th", 2), ("all", 17)])
def test_results_have_every_processed_partition(
    choice: str, partitions: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "result.npz"
    word = neuron.assemble("nonzero.i32 ch=17 src=[p0+0x0, 4:1] dst=[p0+0x80, 5:1] pad=-1").encode().hex()
    common = ("--engine", "reference", "--choice", f"nonzero.partitions={choice}")
    ran(capsys, "neuron", "run", word, "--out", str(out), *common)
    with np.load(out) as found:
        assert found["i0.dst"].shape == (partitions, 1, 1, 5)
    shown = ran(capsys, "neuron", "step", word, *common)
    assert ("  … 9 more partitions" in shown) == (choice == "all")
