"""Loads, stores and copies in bursts; gathers; views and pointers through their text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lanesort.errors import ProgramError
from lanesort.pto.interpreter import run
from tests.pto.interpreter.programs import function, on_tiles, tile_type, view

PTRS = "!pto.ptr<f32, gm>, !pto.ptr<f32, ub>"
PADDED = f" : {PTRS}, i64, i64, i64, i64, i64, pad i64, i64, i64"
BACK = "!pto.ptr<f32, ub>, !pto.ptr<f32, gm>"


def constants(**values: int) -> str:
    return "\n".join(f"  %{name} = arith.constant {value} : i64" for name, value in values.items())


def test_five_dimensions_are_folded_into_rows() -> None:
    body = f"""  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c9 = arith.constant 9 : index
  %c36 = arith.constant 36 : index
  %c72 = arith.constant 72 : index
  %v = pto.make_tensor_view %x, shape = [%one, %c2, %c2, %c4, %c9], strides = [%c72, %c72, %c36, %c9, %one]
     : !pto.tensor_view<1x2x2x4x9xf32>
  %p = pto.partition_view %v, offsets = [%zero, %zero, %zero, %one, %one], sizes = [%one, %c2, %c2, %c3, %c8]
     : !pto.tensor_view<1x2x2x4x9xf32> -> !pto.partition_tensor_view<1x2x2x3x8xf32>
  %t = pto.alloc_tile : {tile_type("12x8xf32")}
  pto.tload ins(%p : !pto.partition_tensor_view<1x2x2x3x8xf32>) outs(%t : {tile_type("12x8xf32")})
{view("o", "y", "12x8xf32")}
  pto.tstore ins(%t : {tile_type("12x8xf32")}) outs(%o : !pto.partition_tensor_view<12x8xf32>)
  pto.tstore ins(%t : {tile_type("12x8xf32")}) outs(%p : !pto.partition_tensor_view<1x2x2x3x8xf32>)"""
    x = np.arange(144, dtype=np.float32).reshape(2, 2, 4, 9)
    result = run(function("%x: !pto.ptr<f32>, %y: !pto.ptr<f32>", body), [x, np.zeros((12, 8), "f4")])
    assert result.outputs["y"].tolist() == x[:, :, 1:, 1:].reshape(12, 8).tolist()
    assert result.outputs["x"].tolist() == x.tolist()
    assert result.changed == ("x", "y")


@pytest.mark.parametrize(("pad", "rest"), [(0, 5.0), (1, 0.0), (3, -np.inf)])
def test_a_partial_load_keeps_or_fills_the_rest(pad: int, rest: float) -> None:
    kind = tile_type("2x8xf32", f"pad={pad}") if pad else tile_type("2x8xf32")
    body = f"""  %five = arith.constant 5.0 : f32
  %c3 = arith.constant 3 : index
  pto.texpands ins(%five : f32) outs(%out : {kind})
  %small = pto.partition_view %p0_v, offsets = [%zero, %zero], sizes = [%one, %c3]
     : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<1x3xf32>
  pto.tload ins(%small : !pto.partition_tensor_view<1x3xf32>) outs(%out : {kind})"""
    x = np.arange(16, dtype=np.float32).reshape(2, 8)
    out, _ = on_tiles([x], ["2x8xf32"], "2x8xf32", body, out_type=kind)
    expected = np.full((2, 8), rest, np.float32)
    expected[0, :3] = [0, 1, 2]
    assert out.tolist() == expected.tolist()


def test_a_store_takes_the_valid_part() -> None:
    body = f"  pto.set_validshape %out, %one, %c3 : {tile_type('2x8xf32', 'valid=?x?')}"
    body = f"""  %c3 = arith.constant 3 : index
  pto.tmov ins(%t0 : {tile_type("2x8xf32")}) outs(%out : {tile_type("2x8xf32", "valid=?x?")})
{body}"""
    x = np.arange(16, dtype=np.float32).reshape(2, 8)
    kind = tile_type("2x8xf32", "valid=?x?")
    out, _ = on_tiles([x], ["2x8xf32"], "2x8xf32", body, out_type=kind, out=np.full((2, 8), 9, "f4"))
    assert out.tolist() == [[0, 1, 2, *[9] * 5], [9] * 8]


def test_bytes_are_copied_between_types_of_one_width_only() -> None:
    x = np.arange(8, dtype=np.float32)[None]
    words = tile_type("1x8xi32")
    body = f"""  %w = pto.alloc_tile : {words}
  pto.tload ins(%p0 : !pto.partition_tensor_view<1x8xf32>) outs(%w : {words})
  pto.tmov ins(%w : {words}) outs(%out : {tile_type("1x8xf32")})"""
    out, _ = on_tiles([x], ["1x8xf32"], "1x8xf32", body)
    assert out.tolist() == x.tolist()
    half = tile_type("1x16xf16")
    body = f"""  %h = pto.alloc_tile : {half}
  pto.tload ins(%p0 : !pto.partition_tensor_view<1x8xf32>) outs(%h : {half})"""
    with pytest.raises(ProgramError, match="the widths differ"):
        on_tiles([x], ["1x8xf32"], "1x8xf32", body)


def _copied(body: str, x: np.ndarray, size: int = 64) -> list[Any]:
    arguments = "%x: !pto.ptr<f32, gm>, %y: !pto.ptr<f32, gm>"
    result = run(function(arguments, body), [x, np.zeros(size, np.float32)])
    return result.outputs["y"].tolist()


def test_bursts_with_strides_and_loops() -> None:
    body = f"""{constants(z=0, len=8, n=3, src=16, dst=8, m=2, far=48, near=24, rows=6, row=8)}
  %u = pto.castptr %z : i64 -> !pto.ptr<f32, ub>
  pto.mte_gm_ub %x, %u, %z, %len nburst(%n, %src, %dst) loop(%m, %far, %near)
     : {PTRS}, i64, i64, i64, i64, i64, loop i64, i64, i64
  pto.mte_ub_gm %u, %y, %len nburst(%rows, %row, %row) : {BACK}, i64, i64, i64, i64"""
    x = np.arange(24, dtype=np.float32)
    assert _copied(body, x)[:13] == [*x.reshape(6, 4)[:, :2].reshape(-1).tolist(), 0.0]


def test_the_older_copies_with_their_loop_registers() -> None:
    body = f"""{constants(z=0, one64=1, two=2, len=8, n=3, src=16, dst=8, far=48, near=24, rows=6, row=8)}
  %no = arith.constant false
  %u = pto.castptr %z : i64 -> !pto.ptr<f32, ub>
  pto.set_loop_size_outtoub %two, %one64 : i64, i64
  pto.set_loop1_stride_outtoub %far, %near : i64, i64
  pto.copy_gm_to_ubuf %x, %u, %z, %n, %len, %z, %z, %no, %z, %src, %dst
     : {PTRS}, i64, i64, i64, i64, i64, i1, i64, i64, i64
  pto.copy_ubuf_to_gm %u, %y, %z, %rows, %len, %z, %row, %row : {BACK}, i64, i64, i64, i64, i64, i64"""
    x = np.arange(24, dtype=np.float32)
    assert _copied(body, x)[:13] == [*x.reshape(6, 4)[:, :2].reshape(-1).tolist(), 0.0]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (
            f"pto.mte_ub_gm %x, %u, %len nburst(%n, %len, %len) : {PTRS}, i64, i64, i64, i64",
            "copies from ub to gm, and here from gm to ub",
        ),
        (
            f"pto.mte_gm_ub %x, %u, %z, %len nburst(%minus, %len, %len) : {PTRS}, i64, i64, i64, i64, i64",
            "no negative length, count or stride",
        ),
        (
            f"pto.mte_gm_ub %x, %u, %z, %len nburst(%huge, %z, %z) : {PTRS}, i64, i64, i64, i64, i64",
            "a copy of 1099511627776 bursts",
        ),
        (
            f"pto.mte_gm_ub %x, %u, %z, %far nburst(%n, %len, %len) : {PTRS}, i64, i64, i64, i64, i64",
            "of argument x are needed, and it has 96",
        ),
        (
            f"pto.mte_gm_ub %x, %w, %z, %len nburst(%n, %len, %len) : {PTRS}, i64, i64, i64, i64, i64",
            "of UB are needed, and it has 196608",
        ),
        (
            "pto.mte_gm_ub %x, %u, %z, %len nburst(%n, %len, %len) pad(%far, %z, %z)" + PADDED,
            r"pads its bursts with \(993, 0, 0\), which is not modelled: fill the tile first",
        ),
    ],
)
def test_copies_that_are_refused(line: str, says: str) -> None:
    body = f"""{constants(z=0, len=8, n=3, minus=-1, huge=1 << 40, far=993, end=196604)}
  %u = pto.castptr %z : i64 -> !pto.ptr<f32, ub>
  %w = pto.castptr %end : i64 -> !pto.ptr<f32, ub>
  {line}"""
    with pytest.raises(ProgramError, match=says):
        _copied(body, np.arange(24, dtype=np.float32))


MASKS = {
    "P0101": [0, 2],
    "P1010": [1, 3],
    "P0001": [0],
    "P0010": [1],
    "P0100": [2],
    "P1000": [3],
    "P1111": [0, 1, 2, 3],
}


@pytest.mark.parametrize("pattern", MASKS)
def test_gather_by_mask(pattern: str) -> None:
    kept = MASKS[pattern]
    width = 4 * len(kept)
    source, target = tile_type("2x16xf32"), tile_type(f"2x{width}xf32")
    body = f"""  pto.tgather ins(%t0, {{maskPattern = #pto.mask_pattern<{pattern}>}} : {source})
       outs(%out : {target})"""
    x = np.arange(32, dtype=np.float32).reshape(2, 16)
    out, _ = on_tiles([x], ["2x16xf32"], f"2x{width}xf32", body)
    assert out.tolist() == x.reshape(2, 4, 4)[:, :, kept].reshape(2, -1).tolist()


def test_gather_by_mask_with_a_direction_and_bits_of_another_type() -> None:
    row = tile_type("1x32xf32")
    body = f"""  pto.tgather ins(%t0, {{maskPattern = #pto.mask_pattern<P1010>}} : {row}, "row")
       outs(%out : {tile_type("1x16xi32")})"""
    x = np.arange(32, dtype=np.int32)[None].view(np.float32)
    out, _ = on_tiles([x], ["1x32xf32"], "1x16xi32", body)
    assert out[0].tolist() == list(range(1, 32, 2))


@pytest.mark.parametrize("more", ["", "%tmp"])
def test_gather_by_index(more: str) -> None:
    source, index = tile_type("2x16xf32"), tile_type("2x8xi32")
    operands = "%t0, %t1, %tmp" if more else "%t0, %t1"
    types = f"{source}, {index}, {index}" if more else f"{source}, {index}"
    body = f"""  %tmp = pto.alloc_tile : {index}
  pto.tgather ins({operands} : {types}) outs(%out : {tile_type("2x8xf32")})"""
    x = np.arange(32, dtype=np.float32).reshape(2, 16)
    idx = np.random.default_rng(1).integers(0, 16, (2, 8)).astype(np.int32)
    out, _ = on_tiles([x, idx], ["2x16xf32", "2x8xi32"], "2x8xf32", body)
    assert out.tolist() == np.take_along_axis(x, idx, 1).tolist()
    idx[1, 3] = 16
    with pytest.raises(ProgramError, match=r"idx\[1, 3\] is 16, and a row of src has 16"):
        on_tiles([x, idx], ["2x16xf32", "2x8xi32"], "2x8xf32", body)


def test_gather_does_not_work_in_place() -> None:
    wide, half = tile_type("1x16xf32"), tile_type("1x8xf32")
    body = f"""  %h = pto.subview %t0[%zero, %zero] sizes [1, 8] : {wide} -> {half}
  pto.tgather ins(%t0, {{maskPattern = #pto.mask_pattern<P0101>}} : {wide}) outs(%h : {half})"""
    with pytest.raises(ProgramError, match="they have to be apart"):
        on_tiles([np.zeros((1, 16), "f4")], ["1x16xf32"], "1x16xf32", body)


def test_treshape_reads_the_same_bytes() -> None:
    body = f"""  %w = pto.treshape %t0 : {tile_type("2x8xf32")} -> {tile_type("1x16xi32")}
  pto.tmov ins(%w : {tile_type("1x16xi32")}) outs(%out : {tile_type("1x16xi32")})"""
    x = np.arange(16, dtype=np.float32).reshape(2, 8)
    out, _ = on_tiles([x], ["2x8xf32"], "1x16xi32", body)
    assert out.tobytes() == x.tobytes()
    body = body.replace("1x16xi32", "1x32xi32")
    with pytest.raises(ProgramError, match="the tile has 64 bytes, and the type that it is read as 128"):
        on_tiles([x], ["2x8xf32"], "1x32xi32", body)


def test_a_window_outside_its_tile() -> None:
    body = f"""  %c9 = arith.constant 9 : index
  %w = pto.subview %t0[%zero, %c9] sizes [1, 8] : {tile_type("2x16xf32")} -> {tile_type("1x8xf32")}"""
    with pytest.raises(ProgramError, match=r"window of 1 × 8 elements at \(0, 9\) is not inside the tile"):
        on_tiles([np.zeros((2, 16), "f4")], ["2x16xf32"], "1x16xf32", body)


def test_scalars_of_tiles_and_pointers() -> None:
    tile = tile_type("2x8xf32")
    body = f"""  %c9 = arith.constant 9 : index
  %v = pto.tgetval ins(%t0, %c9 : {tile}, index) outs : f32
  pto.tmov ins(%t0 : {tile}) outs(%out : {tile})
  pto.tsetval ins(%zero, %v : index, f32) outs(%out : {tile})
  %w = pto.load_scalar %a0[%c9] : !pto.ptr<f32> -> f32
  %s = arith.addf %v, %w : f32
  pto.tsetval ins(%one, %s : index, f32) outs(%out : {tile})
  pto.tprint ins(%out : {tile})"""
    x = np.arange(16, dtype=np.float32).reshape(2, 8)
    out, result = on_tiles([x], ["2x8xf32"], "2x8xf32", body)
    assert out[0, :3].tolist() == [9, 18, 2]
    assert result.log[0].startswith("%out = [[ 9. 18.  2.")
    with pytest.raises(ProgramError, match="element 99 of a tile of 2 × 8 elements"):
        on_tiles([x], ["2x8xf32"], "2x8xf32", body.replace("constant 9", "constant 99"))


def test_scalars_outside_an_argument() -> None:
    body = "  %v = pto.load_scalar %x[%one] : !pto.ptr<f32> -> f32"
    with pytest.raises(ProgramError, match="bytes 4 … 7 of argument x are needed, and it has 4"):
        run(function("%x: !pto.ptr<f32>", body), [np.zeros(1, "f4")])
