"""Every spelling of the sort instructions, and the instructions below the tile level."""

from __future__ import annotations

import numpy as np
import pytest

from lanesort import pto
from lanesort.errors import ProgramError, RuleViolations
from lanesort.pto.interpreter import run
from tests.pto.interpreter.programs import function, on_tiles, tile_type

T32, I32, T64 = tile_type("1x32xf32"), tile_type("1x32xi32"), tile_type("1x64xf32")
RNG = np.random.default_rng(7)
ROW = RNG.permutation(32).astype(np.float32)[None]
INDEX = np.arange(100, 132, dtype=np.int32)[None]


def expected(row: np.ndarray = ROW, index: np.ndarray = INDEX) -> np.ndarray:
    order = np.argsort(-row[0], kind="stable")
    return np.asarray(pto.tile(row[:, order], index[:, order].astype(np.uint32)))


@pytest.mark.parametrize(
    "body",
    [
        f"  pto.tsort32 ins(%t0, %t1 : {T32}, {I32}) outs(%out : {T64})",
        f"""  %m = pto.alloc_tile : {T32}
  pto.tsort32 ins(%t0, %t1, %m : {T32}, {I32}, {T32}) outs(%out : {T64})""",
        f"""  %d = pto.tsort32 %t0, %t1 : ({T32}, {I32}) -> {T64}
  pto.tmov ins(%d : {T64}) outs(%out : {T64})""",
        f"""  %p = pto.tile_buf_addr %out : {T64} -> !pto.ptr<f32, ub>
  %s = pto.tile_buf_addr %t0 : {T32} -> !pto.ptr<f32, ub>
  %i = pto.tile_buf_addr %t1 : {I32} -> !pto.ptr<ui32, ub>
  pto.vbitsort %p, %s, %i, %one : !pto.ptr<f32, ub>, !pto.ptr<f32, ub>, !pto.ptr<ui32, ub>, index""",
    ],
    ids=["three", "four", "value", "vbitsort"],
)
def test_spellings_of_tsort32(body: str) -> None:
    out, result = on_tiles([ROW, INDEX], ["1x32xf32", "1x32xi32"], "1x64xf32", body)
    assert out.tobytes() == expected().tobytes()
    assert [event.name.removeprefix("pto.") for event in result.trace] in (["tsort32"], ["vbitsort"])


def test_the_oldest_form_writes_indices_apart() -> None:
    body = f"""  %i = pto.alloc_tile : {I32}
  pto.tsort32 ins(%t0 : {T32}) outs(%v, %i : {T32}, {I32})
  pto.tmov ins(%i : {I32}) outs(%out : {I32})"""
    body = f"  %v = pto.alloc_tile : {T32}\n{body}"
    out, _ = on_tiles([ROW], ["1x32xf32"], "1x32xi32", body)
    assert out[0].tolist() == np.argsort(-ROW[0], kind="stable").tolist()


def _runs(count: int, pairs: int) -> np.ndarray:
    values = -np.sort(-RNG.normal(size=(count, pairs)).astype(np.float32), axis=1)
    indices = np.arange(count * pairs, dtype=np.uint32).reshape(count, pairs)
    return np.asarray(pto.tile(values, indices))


def _merged(runs: np.ndarray) -> np.ndarray:
    values, indices = pto.pairs(runs.reshape(1, -1))
    order = np.argsort(-values[0], kind="stable")
    return np.asarray(pto.tile(values[:, order], indices[:, order]))


BLOCKS = tile_type("1x256xf32")


@pytest.mark.parametrize(
    "body",
    [
        f"  %n = arith.constant 64 : i32\n  pto.tmrgsort ins(%t0, %n : {BLOCKS}, i32) outs(%out : {BLOCKS})",
        f"  pto.tmrgsort ins(%t0 {{blockLen = 64 : i32}} : {BLOCKS}) outs(%out : {BLOCKS})",
        f"""  %n = arith.constant 64 : i32
  %d = pto.tmrgsort %t0, %n : ({BLOCKS}, i32) -> {BLOCKS}
  pto.tmov ins(%d : {BLOCKS}) outs(%out : {BLOCKS})""",
    ],
    ids=["operand", "attribute", "value"],
)
def test_spellings_of_the_single_list(body: str) -> None:
    runs = _runs(4, 32)
    out, result = on_tiles([runs.reshape(1, -1)], ["1x256xf32"], "1x256xf32", body)
    assert out.tobytes() == _merged(runs).tobytes()
    assert result.executed == ()


LIST, ALL = tile_type("1x64xf32"), tile_type("1x128xf32")
COUNTS = "  %ex = arith.constant dense<0> : vector<4xi16>\n"
TMP = f"  %tmp = pto.alloc_tile : {ALL}\n"
TWO = f"{LIST}, {LIST}"


@pytest.mark.parametrize(
    "body",
    [
        f"""{COUNTS}{TMP}  pto.tmrgsort ins(%t0, %t1, %tmp {{exhausted = false}} : {TWO}, {ALL})
       outs(%out, %ex : {ALL}, vector<4xi16>)""",
        f"""{COUNTS}  pto.tmrgsort ins(%t0, %t1 no_tmp {{exhausted = false}} : {TWO})
       outs(%out, %ex : {ALL}, vector<4xi16>)""",
        f"""{COUNTS}{TMP}  pto.tmrgsort ins(%t0, %t1 {{exhausted = false}} : {TWO})
       outs(%out, %tmp, %ex : {ALL}, {ALL}, vector<4xi16>)""",
        f"""  %d, %ex = pto.tmrgsort %t0, %t1 {{exhausted = false}} : ({TWO}) -> ({ALL}, vector<4xi16>)
  pto.tmov ins(%d : {ALL}) outs(%out : {ALL})""",
    ],
    ids=["tmp", "no_tmp", "tmp in outs", "values"],
)
def test_spellings_of_two_lists(body: str) -> None:
    runs = _runs(2, 32)
    out, result = on_tiles([runs[:1], runs[1:]], ["1x64xf32"] * 2, "1x128xf32", body)
    assert out.tobytes() == _merged(runs).tobytes()
    assert result.unpinned == ("pto.executed-unasked",)
    _, cpu = on_tiles([runs[:1], runs[1:]], ["1x64xf32"] * 2, "1x128xf32", body, target="cpu")
    assert cpu.executed == ((32, 32, 0, 0),)


def test_a_tmp_smaller_than_dst_is_a_warning() -> None:
    wide = tile_type("1x160xf32")
    body = f"""{COUNTS}{TMP}  pto.tmrgsort ins(%t0, %t1, %tmp {{exhausted = false}} : {TWO}, {ALL})
       outs(%out, %ex : {wide}, vector<4xi16>)"""
    runs = _runs(2, 32)
    out, result = on_tiles([runs[:1], runs[1:]], ["1x64xf32"] * 2, "1x160xf32", body)
    assert out[0, :128].tobytes() == _merged(runs).tobytes()
    assert any("tmp has 128 columns and dst 160" in warning for warning in result.warnings)


def test_counts_reach_the_operand_and_the_register() -> None:
    first = np.asarray(pto.tile(np.arange(32, 0, -1, dtype=np.float32), np.arange(32)))
    second = np.asarray(pto.tile(np.arange(132, 100, -1, dtype=np.float32), np.arange(32)))
    body = f"""{COUNTS}{TMP}  %c3 = arith.constant 3 : index
  pto.tmrgsort ins(%t0, %t1, %tmp {{exhausted = true}} : {TWO}, {ALL}) outs(%d, %ex : {ALL}, vector<4xi16>)
  %e0, %e1, %e2, %e3 = pto.get_vms4_sr : i16, i16, i16, i16
  pto.tsetval ins(%zero, %e0 : index, i16) outs(%out : {tile_type("1x16xi16")})
  pto.tsetval ins(%one, %e1 : index, i16) outs(%out : {tile_type("1x16xi16")})"""
    body = f"  %d = pto.alloc_tile : {ALL}\n{body}"
    out, result = on_tiles([first, second], ["1x64xf32"] * 2, "1x16xi16", body)
    assert out[0, :2].tolist() == [0, 32]
    assert result.executed == ((0, 32, 0, 0),)
    assert result.trace[-1].detail["executed"] == (0, 32, 0, 0)


def _vmrgsort4(config: int, lengths: list[int], apart: int = 0) -> list[float]:
    packed = sum(n << 16 * i for i, n in enumerate(lengths))
    lines = [
        f"  %lengths = arith.constant {packed} : i64",
        f"  %config = arith.constant {config} : i64",
        f"  %q0 = pto.tile_buf_addr %t0 : {tile_type('1x1024xf32')} -> !pto.ptr<f32, ub>",
        f"  %d = pto.tile_buf_addr %out : {tile_type('1x1024xf32')} -> !pto.ptr<f32, ub>",
    ]
    for n in range(1, 4):
        lines.append(f"  %o{n} = arith.constant {n * (64 + apart)} : index")
        lines.append(f"  %q{n} = pto.addptr %q0, %o{n} : !pto.ptr<f32, ub> -> !pto.ptr<f32, ub>")
    types = ", ".join(["!pto.ptr<f32, ub>"] * 5)
    lines.append(f"  pto.vmrgsort4 %d, %q0, %q1, %q2, %q3, %lengths, %config : {types}, i64, i64")
    out, _ = on_tiles([_runs(16, 32).reshape(1, -1)], ["1x1024xf32"], "1x1024xf32", "\n".join(lines))
    return out[0, ::2].tolist()


def test_vmrgsort4_repeats_over_consecutive_groups() -> None:
    values = _vmrgsort4(0x0F04, [32] * 4)
    groups = np.reshape(values, (4, 128))
    assert (groups[:, :-1] >= groups[:, 1:]).all()
    assert len(set(values)) == 512


@pytest.mark.parametrize(
    ("config", "lengths", "apart", "says"),
    [
        (0x0F00, [32] * 4, 0, "repeat is 0 in the configuration word 0xf00"),
        (0x0501, [32] * 4, 0, "list mask is 0b0101; it is 0b0011, 0b0111 or 0b1111"),
        (0x1F02, [32] * 4, 0, "it needs four lists of one length and no exhausted suspension"),
        (0x0F02, [32, 32, 32, 16], 0, "it needs four lists of one length"),
        (0x0F02, [32] * 4, 64, "it needs lists that follow one another in UB"),
    ],
)
def test_configurations_that_are_refused(config: int, lengths: list[int], apart: int, says: str) -> None:
    with pytest.raises(ProgramError, match=says):
        _vmrgsort4(config, lengths, apart=apart)


def _vbitsort(repeat: int, address: int = 0) -> str:
    return f"""  %a = arith.constant {address} : i64
  %b = arith.constant 4096 : i64
  %n = arith.constant {repeat} : index
  %s = pto.castptr %a : i64 -> !pto.ptr<f32, ub>
  %i = pto.castptr %a : i64 -> !pto.ptr<ui32, ub>
  %d = pto.castptr %b : i64 -> !pto.ptr<f32, ub>
  pto.vbitsort %d, %s, %i, %n : !pto.ptr<f32, ub>, !pto.ptr<f32, ub>, !pto.ptr<ui32, ub>, index"""


@pytest.mark.parametrize("repeat", [0, 256])
def test_vbitsort_takes_1_to_255_blocks(repeat: int) -> None:
    with pytest.raises(ProgramError, match=f"repeat is {repeat}; one call sorts 1 to 255 blocks of 32"):
        run(function("", _vbitsort(repeat)), engine="reference")


def test_vbitsort_reads_uninitialised_bytes_and_says_so() -> None:
    result = run(function("", _vbitsort(1)), engine="reference")
    assert "never written" in result.warnings[0]


def test_rules_come_with_the_place_of_the_step() -> None:
    with pytest.raises(ProgramError) as caught:
        run(function("", _vbitsort(1, address=4)), engine="reference")
    assert "addresses_are_aligned" in str(caught.value)
    assert str(caught.value).startswith("<text>:11:3: error: vbitsort: pto.tsort32: 1 validity rule broken")
    assert isinstance(caught.value.__cause__, RuleViolations)


def test_unsorted_lists_are_named_unless_the_check_is_off() -> None:
    body = f"{COUNTS}{TMP}  pto.tmrgsort ins(%t0, %t1, %tmp {{exhausted = false}} : {TWO}, {ALL}) "
    body += f"outs(%out, %ex : {ALL}, vector<4xi16>)"
    rising = np.asarray(pto.tile(np.arange(32, dtype=np.float32), np.arange(32)))
    with pytest.raises(ProgramError, match=r"lists_are_sorted: src0: pair \d holds 1\.0"):
        on_tiles([rising, rising], ["1x64xf32"] * 2, "1x128xf32", body)
    _, result = on_tiles([rising, rising], ["1x64xf32"] * 2, "1x128xf32", body, check_sorted=False)
    assert len(result.trace) == 1


def test_choices_change_the_order_of_ties() -> None:
    body = f"  pto.tsort32 ins(%t0, %t1 : {T32}, {I32}) outs(%out : {T64})"
    ties, falling = np.zeros((1, 32), "f4"), np.arange(31, -1, -1, dtype=np.int32)[None]
    first, result = on_tiles([ties, falling], ["1x32xf32", "1x32xi32"], "1x64xf32", body)
    choices = {"pto.tie-order": "index-value"}
    second, _ = on_tiles([ties, falling], ["1x32xf32", "1x32xi32"], "1x64xf32", body, choices=choices)
    assert first.view(np.uint32)[0, 1::2].tolist() == list(range(31, -1, -1))
    assert second.view(np.uint32)[0, 1::2].tolist() == list(range(32))
    assert result.unpinned == ("pto.tie-order",)


def test_unknown_choices_are_refused_before_anything_runs() -> None:
    with pytest.raises(ValueError, match=r"no unpinned behaviour 'pto\.nothing'"):
        run(function("", ""), choices={"pto.nothing": "x"})


def test_the_target_of_the_text_counts() -> None:
    head = 'module attributes {pto.target_arch = "a5"} {'
    body = f"  %t = pto.alloc_tile : {tile_type('1x60000xf32')}\n  %x = arith.constant 1.0 : f32\n"
    body += f"  pto.texpands ins(%x : f32) outs(%t : {tile_type('1x60000xf32')})"
    text = function("", body, head) + "}\n"
    assert run(text).steps == 5
    with pytest.raises(ProgramError, match="it has 196608"):
        run(text, target="a2a3")
