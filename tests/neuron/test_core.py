"""Running words: worked examples, golden data, immediates, addresses, refusals."""

from __future__ import annotations

import json
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from lanesort import neuron
from lanesort.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    DecodeError,
    MachineError,
    RuleViolations,
)
from lanesort.neuron import NeuronCore, NonzeroWithCount, Pointer, Register, Sort, Tensor, register_address

from .words import a_nonzero, a_sort

HEADER_EXAMPLE = np.array([9, 3, 5, 1, 0, 0])


def a_core(on: str = "cayman", **options: object) -> NeuronCore:
    return NeuronCore(on, **{"engine": "reference", **options})


def sort_once(values: np.ndarray, **options: object) -> tuple[np.ndarray, np.ndarray]:
    """Sort 1-D values on partition 0; value and index columns."""
    core = a_core()
    dtype = str(options.pop("dtype"))
    core.sbuf.write(0, 0, values)
    n, k = len(values), int(options.pop("rows", len(values)))
    mode = str(options.pop("mode", "strict"))
    word = Sort(
        src=Tensor.at(0, 0, n), dst=Tensor.at(0, 0x8000, (2, k), (k, 1)), dtype=dtype, channels=1, **options
    )
    core.run([word], mode=mode)
    index = "u16" if values.dtype.itemsize == 2 else "u32"
    return core.sbuf.read(0, 0x8000, k, values.dtype), core.sbuf.read(
        0, 0x8000 + k * values.dtype.itemsize, k, index
    )


@pytest.mark.parametrize("dtype", ["fp16", "bf16", "u16", "i16", "fp32", "u32", "i32"])
def test_the_example_of_the_header_in_every_dtype(dtype: str, golden: Path) -> None:
    case = json.loads((golden / "neuron" / "sort.json").read_text())["cases"][0]
    given = np.array(case["src"]).astype(neuron.dtype.numpy_dtype(dtype))
    values, indices = sort_once(given, dtype=dtype, index_offset=case["index_offset"])
    assert values.astype(int).tolist() == case["values"]
    assert indices.tolist() == case["indices"]


def test_derived_examples(golden: Path) -> None:
    full, short = json.loads((golden / "neuron" / "sort.json").read_text())["derived"]
    given = np.array(full["src"], np.float32)
    values, indices = sort_once(given, dtype="fp32", descending=True, index_offset=full["index_offset"])
    assert (values.tolist(), indices.tolist()) == (full["values"], full["indices"])
    values, indices = sort_once(given, dtype="fp32", descending=True, rows=short["K"], mode="device")
    assert (values.tolist(), indices.tolist()) == (short["values"], short["indices"])


def nonzero_once(values: np.ndarray, offset: int, padding: int, core: NeuronCore) -> np.ndarray:
    core.sbuf.write(0, 0, values)
    n = len(values)
    word = NonzeroWithCount(
        src=Tensor.at(0, 0, n),
        dst=Tensor.at(0, 0x10000, n + 1),
        in_dtype="fp32" if values.dtype == np.float32 else "i32",
        index_offset=offset,
        padding_val=padding,
        channels=1,
    )
    core.run([word])
    return core.sbuf.read(0, 0x10000, n + 1, "i32")


def test_golden_nonzero(golden: Path) -> None:
    cases = json.loads((golden / "neuron" / "nonzero_with_count.json").read_text())["cases"]
    for case in cases:
        given = np.array(case["input"], case["in_dtype"])
        found = nonzero_once(given, case["index_offset"], case["padding_val"], a_core())
        assert found.tolist() == case["output"], case["id"]


def test_golden_partitions(golden: Path) -> None:
    case = json.loads((golden / "neuron" / "nonzero_partition_rule.json").read_text())
    core = a_core()
    core.sbuf.write(0, 0, np.array(case["src"], np.int32))
    core.sbuf.write(0, 64, np.full((128, 9), case["dst_prefill"], np.int32))
    word = NonzeroWithCount(
        src=Tensor.at(0, 0, 8),
        dst=Tensor.at(0, 64, 9),
        in_dtype="i32",
        index_offset=case["index_offset"],
        padding_val=case["padding_val"],
    )
    result = core.run([word])
    for partition in range(128):
        expected = case["dst"].get(str(partition), case["all_other_rows"][:9])
        assert core.sbuf.read(partition, 64, 9, "i32").tolist() == expected
    assert result.log[:8] == tuple(f"P{core}: NonzeroWithCount : num_chans = 128" for core in range(8))
    assert result.log[8:] == ("S: NonzeroWithCount: num_elements=1",) * 8


def test_positions_are_row_major_over_three_dimensions() -> None:
    core = a_core()
    block = np.zeros((2, 3, 4), np.int32)
    block[0, 1, 2] = block[1, 2, 0] = 7
    core.sbuf.write(0, 0, block.ravel())
    word = NonzeroWithCount(
        src=Tensor.at(0, 0, (4, 3, 2)), dst=Tensor.at(0, 512, 25), in_dtype="i32", channels=1
    )
    core.run([word])
    expected = [*np.flatnonzero(block), *[-1] * 22, 2]
    assert core.sbuf.read(0, 512, 25, "i32").tolist() == expected


def test_positions_wrap_as_i32() -> None:
    found = nonzero_once(np.array([0, 1, 1], np.int32), 2**31 - 2, 0, a_core())
    assert found.tolist() == [2**31 - 1, -(2**31), 0, 2]


@pytest.mark.parametrize("channels", [1, 5, 16, 32])
def test_each_channel_is_sorted_on_its_own(channels: int) -> None:
    rng = np.random.default_rng(channels)
    given = rng.standard_normal((channels, 16)).astype(np.float32)
    core = a_core()
    core.sbuf.write(32, 0, given)
    word = Sort(
        src=Tensor.at(32, 0, 16),
        dst=Tensor.at(32, 256, (2, 16)),
        dtype="fp32",
        descending=True,
        channels=channels,
    )
    result = core.run([word])
    for channel in range(channels):
        pairs = core.sbuf.read(32 + channel, 256, 32, "u32").reshape(16, 2)
        order = np.argsort(-given[channel], kind="stable")
        assert pairs[:, 1].tolist() == order.tolist()
        assert pairs[:, 0].view(np.float32).tolist() == given[channel][order].tolist()
    assert result.warnings == ()


def test_steps_of_either_sign() -> None:
    core = a_core()
    core.sbuf.write(0, 0, np.arange(12, dtype=np.int32))
    word = Sort(src=Tensor(44, (-3,), (4,)), dst=Tensor(1024 + 12, (-1, 2), (2, 4)), dtype="i32", channels=1)
    core.run([word])
    # src reads 11, 8, 5, 2; a row's position stands one element before its value.
    assert core.sbuf.read(0, 1032, 8, "i32").tolist() == [3, 2, 2, 5, 1, 8, 0, 11]


def test_immediates_behind_pointers_and_registers() -> None:
    core = a_core(choices={"imm.register": "pointer"})
    core.sbuf.write(0, 0, np.array([[1, 0], [0, 1]], np.int32))
    core.sbuf.write(0, 64, np.array([[100], [200]], np.uint32))
    core.registers[7] = 64
    for offset in (Pointer.at(0, 64), Register(7)):
        word = Sort(
            src=Tensor.at(0, 0, 2),
            dst=Tensor.at(0, 128, (2, 2)),
            dtype="i32",
            channels=2,
            index_offset=offset,
        )
        result = core.run([word])
        assert core.sbuf.read(0, 128, 4, "i32").tolist() == [0, 101, 1, 100]
        assert core.sbuf.read(1, 128, 4, "i32").tolist() == [0, 200, 1, 201]
        assert "imm.pointer-values" in result.unpinned


def test_nonzero_takes_both_immediates_from_elsewhere() -> None:
    core = a_core(choices={"imm.register": "value"})
    core.sbuf.write(0, 0, np.array([0, 5], np.int32))
    core.sbuf.write(0, 64, np.array([-9], np.int32))
    core.registers[1] = 1000
    word = NonzeroWithCount(
        src=Tensor.at(0, 0, 2),
        dst=Tensor.at(0, 128, 3),
        in_dtype="i32",
        index_offset=Register(1),
        padding_val=Pointer.at(0, 64),
        channels=1,
    )
    core.run([word])
    assert core.sbuf.read(0, 128, 3, "i32").tolist() == [1001, -9, 1]


@pytest.mark.parametrize(
    ("source", "raw", "says"),
    [
        (2, 6008, "index_offset names register 0x1778"),
        (1, 2, "index_offset starts at 0x2, which is no multiple of 4"),
        (1, 0x40000, "index_offset lies on partition 1"),
        (1, 0x20000040, "indirect addresses are not modelled"),
        (1, 0x2000000, "in PSUM"),
    ],
)
def test_immediates_that_literal_does_not_test_are_refused_when_they_run(
    source: int, raw: int, says: str
) -> None:
    word = a_sort(index_offset_src=source, index_offset=raw)
    assert word.validate("cayman", "literal") == ()
    with pytest.raises(MachineError, match=f"instruction 0: .*{says}"):
        a_core().run([word], mode="literal")


def test_addresses_in_registers() -> None:
    core = a_core()
    core.sbuf.write(0, 0x40, np.array([2, 1], np.uint32))
    core.registers[3], core.registers[4] = 0x40, 0x80
    word = a_sort(
        num_active_channels=1,
        in_dtype=9,
        out_dtype=9,
        src=Tensor(register_address(3), (1,), (2,)),
        dst=Tensor(register_address(4), (2, 1), (2, 2)),
    )
    result = core.run([word])
    assert core.sbuf.read(0, 0x80, 4, "u32").tolist() == [1, 2, 1, 0]
    assert result.instructions[0].src.start == 0x40
    core.registers[4] = 0x2000000
    with pytest.raises(
        RuleViolations, match=r"instruction 0 with its registers.*\n.*dst_lies_in_sbuf.*in PSUM"
    ):
        core.run([word])
    core.registers[4] = 0x80000004
    with pytest.raises(MachineError, match="register 4, which holds 0x80000004: no address"):
        core.run([word])


@pytest.mark.parametrize(
    ("raw", "what"), [(0x20000040, "indirect addresses"), (0x40000001, "shape registers")]
)
def test_addresses_that_are_not_modelled_are_refused_by_name(raw: int, what: str) -> None:
    word = a_sort(src=Tensor(raw, (1,), (16,)))
    assert word.validate("cayman") == ()
    with pytest.raises(MachineError, match=f"src.start is 0x.*{what} are not modelled"):
        a_core().run([word])


def test_invalid_words_are_refused_with_all_violations_and_nothing_runs() -> None:
    core = a_core()
    core.sbuf.write(0, 0, np.ones(16, np.float32))
    before = core.sbuf.snapshot()
    bad = a_sort(stable=2, comparison=0xD1, reserved1=b"\1" * 23)
    with pytest.raises(RuleViolations) as caught:
        core.run([a_sort(), bad, a_nonzero(in_dtype=3)])
    assert [v.rule for v in caught.value.violations] == [
        "comparison_is_less_or_greater",
        "stable_is_zero_or_one",
        "reserved1_is_zero",
        "dtypes_are_supported",
    ]
    assert "instruction 1: stable is 2" in str(caught.value)
    assert "sort.reserved" in str(caught.value)
    assert (core.sbuf.snapshot() == before).all()


def test_an_instruction_happens_whole_or_not_at_all() -> None:
    core = a_core(choices={"sort.index-wrap": "error"})
    core.sbuf.write(0, 0, np.array([3, 1, 2], np.uint16))
    core.events[5] = 1
    word = Sort(
        src=Tensor.at(0, 0, 3),
        dst=Tensor.at(0, 64, (2, 3)),
        dtype="u16",
        channels=1,
        index_offset=65534,
        events=neuron.Events(7, 5, 3, 9),
    )
    before = core.sbuf.snapshot()
    with pytest.raises(MachineError, match=r"sort\.index-wrap = error"):
        core.run([word])
    assert (core.sbuf.snapshot() == before).all()
    assert core.events[5] == 1
    assert core.semaphores[9] == 0


def test_programs_come_in_many_forms() -> None:
    word = a_sort()
    array = np.frombuffer(word.encode() * 2, np.uint8).reshape(2, 64)
    for program in ([word, word.encode()], array, bytes(array), neuron.decode_many(array), list(array), word):
        assert set(a_core().run(program).instructions) == {word}
    with pytest.raises(ArgumentTypeError, match="neither an instruction nor the 64 bytes"):
        a_core().run([5])
    with pytest.raises(DecodeError, match="got 3"):
        a_core().run([b"abc"])
    assert a_core().run([]).instructions == ()


def test_overlaps_and_reads_of_nothing_are_reported() -> None:
    core = a_core()
    result = core.run([a_sort(dst=Tensor(32, (16, 1), (2, 16)))])
    assert result.warnings == (
        (
            "instruction 0: src and dst overlap (src: partitions 0–31, bytes 0–63; dst: partitions 0–31, "
            "bytes 32–159)"
        ),
        "instruction 0: 512 elements were never written and read as 0 (src: partitions 0–31, bytes 0–63)",
    )
    assert core.run([a_sort(src=Tensor(32, (1,), (16,)))]).warnings == ()


def test_a_pointer_to_nothing_is_reported_once() -> None:
    core = a_core()
    core.sbuf.write(0, 0, np.array([2, 1], np.uint16))
    word = Sort(
        src=Tensor.at(0, 0, 2),
        dst=Tensor.at(0, 64, (2, 2)),
        dtype="u16",
        channels=1,
        index_offset=Pointer(128),
    )
    (warning,) = core.run([word]).warnings
    assert "1 element was never written" in warning


def test_sorting_in_place_reads_everything_first() -> None:
    core = a_core()
    core.sbuf.write(0, 0, np.array([3, 1, 2], np.uint32))
    core.run([Sort(src=Tensor.at(0, 0, 3), dst=Tensor.at(0, 0, (2, 3)), dtype="u32", channels=1)])
    assert core.sbuf.read(0, 0, 6, "u32").tolist() == [1, 1, 2, 2, 3, 0]


def test_a_dst_that_overlaps_itself_is_written_in_order_and_reported() -> None:
    core = a_core()
    core.sbuf.write(0, 0, np.array([3, 1, 2], np.uint32))
    word = Sort(src=Tensor.at(0, 0, 3), dst=Tensor(64, (1, 1), (2, 3)), dtype="u32", channels=1)
    result = core.run([word])
    assert core.sbuf.read(0, 64, 4, "u32").tolist() == [1, 2, 3, 0]
    assert "dst overlaps itself" in result.warnings[0]


def test_a_dst_larger_than_a_partition_is_refused() -> None:
    word = a_nonzero(src=Tensor(0, (0, 0, 0), (1000, 1000, 1)), dst=Tensor(0, (0, 0, 0), (101, 9901, 1)))
    assert word.validate("cayman") == ()
    with pytest.raises(MachineError, match="dst has 1000001 elements; a partition holds 57344"):
        a_core().run([word])


def test_a_core_refuses_what_it_does_not_know() -> None:
    with pytest.raises(ArgumentValueError, match="tonga has neither"):
        a_core("tonga")
    with pytest.raises(ArgumentValueError, match="no DEBUG build is known for sunda"):
        a_core("sunda", build="debug")
    with pytest.raises(ArgumentValueError, match="build is 'fast'"):
        a_core(build="fast")
    with pytest.raises(ArgumentValueError, match="engine is 'abacus'"):
        a_core(engine="abacus")
    with pytest.raises(ArgumentValueError, match=r"choices\['sort.nan-order'\] is 'first'"):
        a_core(choices={"sort.nan-order": "first"})


def test_bf16_is_sorted_as_bf16() -> None:
    given = np.array([1.5, -2, 3e38, 2.5e-3], ml_dtypes.bfloat16)
    values, indices = sort_once(given, dtype="bf16", descending=True)
    assert indices.tolist() == [2, 0, 3, 1]
    assert values.view(np.uint16).tolist() == given[[2, 0, 3, 1]].view(np.uint16).tolist()


def test_the_trace_has_every_instruction() -> None:
    result = a_core().run([a_sort(), a_nonzero()])
    first, second = result.trace
    assert (first.number, first.name, second.name) == (0, "Sort", "NonzeroWithCount")
    assert first.reads == ("src: partitions 0–31, bytes 0–63",)
    assert first.dispatch[1].startswith("not pinned: no kernel table has a row for Sort")
    assert second.dispatch[:2] == (
        "cayman MAIN: key 0xf2000000, 16 rows scanned: row 15",
        "trampoline 0x0100484c",
    )
    chrome = neuron.chrome_trace(result.trace)
    assert json.loads(json.dumps(chrome))["traceEvents"][1]["args"]["text"] == str(a_nonzero())
