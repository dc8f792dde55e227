"""Each element-wise and row operation, through its text, against plain NumPy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanesort.errors import MachineError, ProgramError
from lanesort.pto.convert import convert
from lanesort.pto.elementwise import pad_value
from tests.pto.interpreter.programs import on_tiles, tile_type

F32, I32, F16 = "4x32xf32", "4x32xi32", "4x32xf16"
T = tile_type(F32)
RNG = np.random.default_rng(20261130)
A = RNG.normal(size=(4, 32)).astype(np.float32)
B = RNG.normal(size=(4, 32)).astype(np.float32)
NUMPY = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "max": np.maximum,
    "min": np.minimum,
}


@pytest.mark.parametrize("name", NUMPY)
@pytest.mark.parametrize("shape", [F32, F16, I32])
def test_two_tiles(name: str, shape: str) -> None:
    dtype = {"f32": "f4", "f16": "f2", "i32": "i4"}[shape.split("x")[2]]
    a, b = (np.asarray(x * 100).astype(dtype) for x in (A, B))
    if dtype == "i4":
        b[b == 0] = 3
    tile = tile_type(shape)
    out, _ = on_tiles(
        [a, b], [shape] * 2, shape, f"  pto.t{name} ins(%t0, %t1 : {tile}, {tile}) outs(%out : {tile})"
    )
    expected = np.trunc(a / b).astype(dtype) if (name, dtype) == ("div", "i4") else NUMPY[name](a, b)
    assert out.tobytes() == expected.astype(dtype).tobytes()


@pytest.mark.parametrize("name", NUMPY)
def test_a_tile_and_a_scalar(name: str) -> None:
    body = f"  %x = arith.constant 1.5 : f32\n  pto.t{name}s ins(%t0, %x : {T}, f32) outs(%out : {T})"
    out, _ = on_tiles([A], [F32], F32, body)
    assert out.tobytes() == NUMPY[name](A, np.float32(1.5)).tobytes()


def test_integer_scalars_wrap() -> None:
    tile = tile_type("1x32xi32")
    body = (
        f"  %x = arith.constant 2147483647 : i32\n  pto.tadds ins(%t0, %x : {tile}, i32) outs(%out : {tile})"
    )
    out, _ = on_tiles([np.ones((1, 32), "i4")], ["1x32xi32"], "1x32xi32", body)
    assert (out == np.iinfo(np.int32).min).all()


def test_in_place_is_normal() -> None:
    body = f"""  %x = arith.constant 2.0 : f32
  pto.tmuls ins(%t0, %x : {T}, f32) outs(%t0 : {T})
  pto.tadd ins(%t0, %t0 : {T}, {T}) outs(%t0 : {T})
  pto.tmov ins(%t0 : {T}) outs(%out : {T})"""
    out, result = on_tiles([A], [F32], F32, body)
    assert out.tobytes() == (A * 4).tobytes()
    assert not result.warnings


def test_partial_overlap_is_refused() -> None:
    wide = tile_type("1x64xf32")
    tile = tile_type("1x32xf32")
    body = f"""  %eight = arith.constant 8 : index
  %s = pto.subview %t0[%zero, %zero] sizes [1, 32] : {wide} -> {tile}
  %d = pto.subview %t0[%zero, %eight] sizes [1, 32] : {wide} -> {tile}
  pto.tmov ins(%s : {tile}) outs(%d : {tile})
  pto.tmov ins(%s : {tile}) outs(%out : {tile})"""
    with pytest.raises(
        ProgramError, match=r"dst \(bytes 32 … 159 of UB\) overlaps an input \(bytes 0 … 127\)"
    ):
        on_tiles([np.zeros((1, 64), "f4")], ["1x64xf32"], "1x32xf32", body)


def test_windows_side_by_side_do_not_overlap() -> None:
    wide, tile = tile_type("4x64xf32"), tile_type(F32)
    body = f"""  %c32 = arith.constant 32 : index
  %s = pto.subview %t0[%zero, %zero] sizes [4, 32] : {wide} -> {tile}
  %d = pto.subview %t0[%zero, %c32] sizes [4, 32] : {wide} -> {tile}
  pto.tmov ins(%s : {tile}) outs(%d : {tile})
  pto.tmov ins(%d : {tile}) outs(%out : {tile})"""
    x = RNG.normal(size=(4, 64)).astype(np.float32)
    out, _ = on_tiles([x], ["4x64xf32"], F32, body)
    assert out.tobytes() == x[:, :32].tobytes()


def test_texpands_keeps_the_bits_of_nan() -> None:
    tile = tile_type("1x32xf32")
    body = f"  %x = arith.constant 0xFFC00000 : f32\n  pto.texpands ins(%x : f32) outs(%out : {tile})"
    out, _ = on_tiles([], [], "1x32xf32", body)
    assert (out.view(np.uint32) == 0xFFC00000).all()


@pytest.mark.parametrize(("descending", "step"), [("false", 1), ("true", -1)])
def test_tci_counts_from_the_start(descending: str, step: int) -> None:
    tile = tile_type("1x32xi32")
    body = f"""  %s = arith.constant 7 : i32
  pto.tci ins(%s : i32) outs(%out : {tile}) {{descending = {descending}}}"""
    out, _ = on_tiles([], [], "1x32xi32", body)
    assert out[0].tolist() == [7 + step * i for i in range(32)]


def test_tci_from_an_unsigned_start() -> None:
    tile = tile_type("1x32xui32")
    body = f"""  %s = arith.constant -1 : i32
  %u = builtin.unrealized_conversion_cast %s : i32 to ui32
  pto.tci ins(%u : ui32) outs(%out : {tile}) {{descending = true}}"""
    out, _ = on_tiles([], [], "1x32xui32", body)
    assert out[0, :2].tolist() == [0xFFFFFFFF, 0xFFFFFFFE]


COMPARE = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


@pytest.mark.parametrize("name", COMPARE)
def test_compare_and_select(name: str) -> None:
    a, b = np.round(A), np.round(B)
    mask = tile_type("4x32xui8")
    body = f"""  %m = pto.alloc_tile : {mask}
  %tmp = pto.alloc_tile : {T}
  pto.tcmp ins(%t0, %t1 {{cmpMode = #pto<cmp {name}>}} : {T}, {T}) outs(%m : {mask})
  pto.tsel ins(%m, %t0, %t1, %tmp : {mask}, {T}, {T}, {T}) outs(%out : {T})"""
    out, _ = on_tiles([a, b], [F32] * 2, F32, body)
    assert out.tobytes() == np.where(COMPARE[name](a, b), a, b).tobytes()


@pytest.mark.parametrize("name", COMPARE)
def test_compare_and_select_with_scalars(name: str) -> None:
    a = np.round(A)
    mask = tile_type("4x32xui8")
    body = f"""  %m = pto.alloc_tile : {mask}
  %tmp = pto.alloc_tile : {T}
  %x = arith.constant 1.0 : f32
  %low = arith.constant 0xFF800000 : f32
  pto.tcmps ins(%t0, %x {{cmpMode = #pto<cmp {name}>}} : {T}, f32) outs(%m : {mask})
  pto.tsels ins(%m, %t0, %tmp, %low : {mask}, {T}, {T}, f32) outs(%out : {T})"""
    out, _ = on_tiles([a], [F32], F32, body)
    assert out.tobytes() == np.where(COMPARE[name](a, 1), a, np.float32(-np.inf)).tobytes()


def test_mask_bits_start_at_the_lowest() -> None:
    mask = tile_type("1x32xui8")
    body = f"""  %x = arith.constant 0.0 : f32
  pto.tcmps ins(%t0, %x {{cmpMode = #pto<cmp gt>}} : {tile_type("1x32xf32")}, f32) outs(%out : {mask})"""
    x = np.zeros((1, 32), np.float32)
    x[0, [0, 9]] = 1
    out, result = on_tiles([x], ["1x32xf32"], "1x32xui8", body)
    assert out[0, :4].tolist() == [1, 2, 0, 0]
    assert "bytes of %" in result.warnings[0]
    assert "never written" in result.warnings[0]


@pytest.mark.parametrize(("name", "function"), [("sum", np.sum), ("max", np.max), ("min", np.min)])
def test_rows_are_reduced(name: str, function: object) -> None:
    column = "!pto.tile_buf<vec, 4x8xf32, valid=4x1>"
    body = f"  %tmp = pto.alloc_tile : {T}\n  pto.trow{name} ins(%t0, %tmp : {T}, {T}) outs(%out : {column})"
    out, _ = on_tiles([A], [F32], "4x1xf32", body, out_type=column)
    np.testing.assert_allclose(out[:, 0], function(A, axis=1), rtol=1e-6)


@pytest.mark.parametrize(
    ("name", "function"), [("div", np.divide), ("mul", np.multiply), ("sub", np.subtract)]
)
def test_rows_are_combined_with_a_column(name: str, function: np.ufunc) -> None:
    column = tile_type("4x8xf32")
    body = f"  pto.trowexpand{name} ins(%t0, %t1 : {T}, {column}) outs(%out : {T})"
    divisor = RNG.uniform(1, 2, size=(4, 8)).astype(np.float32)
    out, _ = on_tiles([A, divisor], [F32, "4x8xf32"], F32, body)
    assert out.tobytes() == function(A, divisor[:, :1]).tobytes()


def test_ttrans() -> None:
    body = f"""  %tmp = pto.alloc_tile : {T}
  pto.ttrans ins(%t0, %tmp : {T}, {T}) outs(%out : {tile_type("32x4xf32")})"""
    out, _ = on_tiles([A], [F32], "32x4xf32", body)
    assert out.tobytes() == A.T.tobytes()


@pytest.mark.parametrize(("pad", "value"), [(1, 0.0), (2, np.inf), (3, -np.inf)])
def test_tfillpad_fills_what_is_not_valid(pad: int, value: float) -> None:
    part, full = tile_type(F32, "valid=?x?"), tile_type(F32, f"pad={pad}")
    body = f"""  %c3 = arith.constant 3 : index
  %c20 = arith.constant 20 : index
  %s = pto.alloc_tile valid_row = %c3 valid_col = %c20 : {part}
  pto.tmov ins(%t0 : {T}) outs(%s : {part})
  pto.tfillpad ins(%s : {part}) outs(%out : {full})"""
    out, result = on_tiles([A], [F32], F32, body, out_type=full)
    expected = np.full((4, 32), value, np.float32)
    expected[:3, :20] = A[:3, :20]
    assert out.tobytes() == expected.tobytes()
    assert not result.warnings


def test_tcvt_through_half_and_integers() -> None:
    half, whole = tile_type(F16), tile_type(I32)
    body = f"""  %h = pto.alloc_tile : {half}
  %w = pto.alloc_tile : {T}
  pto.tcvt ins(%t0 {{rmode = #pto<round_mode CAST_RINT>}} : {T}) outs(%h : {half})
  pto.tcvt ins(%h : {half}) outs(%w : {T})
  pto.tcvt ins(%w {{rmode = #pto.round_mode<FLOOR>}} : {T}) outs(%out : {whole})"""
    out, _ = on_tiles([A * 10], [F32], I32, body)
    assert out.tolist() == np.floor((A * 10).astype(np.float16)).astype(np.int32).tolist()


@given(
    st.lists(st.floats(width=32), min_size=1, max_size=20),
    st.sampled_from(["RINT", "ROUND", "FLOOR", "CEIL", "TRUNC"]),
)
def test_floats_become_integers(values: list[float], mode: str) -> None:
    x = np.array(values, np.float32)
    out = np.zeros(x.shape, np.int32)
    with np.errstate(all="ignore"):
        convert(out, x, mode)
    for value, found in zip(x.tolist(), out.tolist(), strict=True):
        assert found == _rounded(value, mode)


def _rounded(value: float, mode: str) -> int:
    if math.isnan(value):
        return 0
    if math.isinf(value):
        return 2**31 - 1 if value > 0 else -(2**31)
    below = math.floor(value)
    options = {
        "RINT": lambda: round(value),
        "ROUND": lambda: (
            int(math.copysign(math.floor(abs(value) + 0.5), value)) if abs(value) < 2**52 else int(value)
        ),
        "FLOOR": lambda: below,
        "CEIL": lambda: math.ceil(value),
        "TRUNC": lambda: int(value),
    }
    return max(-(2**31), min(2**31 - 1, options[mode]()))


def test_rounding_to_odd() -> None:
    out = np.zeros(4, np.int32)
    convert(out, np.array([1.2, 2.2, 2.0, -1.5], np.float32), "ODD")
    assert out.tolist() == [1, 3, 2, -1]


@pytest.mark.parametrize("mode", ["SIDEWAYS", "CAST_FLOOR"])
def test_modes_that_are_refused(mode: str) -> None:
    with pytest.raises(MachineError, match="rounding"):
        convert(np.zeros(1, np.float16), np.zeros(1, np.float32), mode)


def test_widths_must_agree_in_tmov() -> None:
    with pytest.raises(ProgramError, match="the widths differ; use tcvt"):
        on_tiles([A], [F32], F16, f"  pto.tmov ins(%t0 : {T}) outs(%out : {tile_type(F16)})")


def test_pads_of_integers() -> None:
    assert pad_value(np.dtype("u1"), 2) == 255
    assert pad_value(np.dtype("i1"), 3) == -128
    with pytest.raises(MachineError, match="pad=4 names no value"):
        pad_value(np.dtype("i1"), 4)
