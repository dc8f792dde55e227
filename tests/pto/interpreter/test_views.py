"""Tiles that are moved, read under another type, or made of an address."""

from __future__ import annotations

import numpy as np
import pytest

from lanesort.errors import ProgramError
from lanesort.pto.interpreter import run
from tests.pto.interpreter.programs import function, on_tiles, tile_type

F = tile_type("1x16xf32")
X = np.arange(16, dtype=np.float32)[None]


@pytest.mark.parametrize(
    "body",
    [
        f"""  %w = pto.alloc_tile : {F}
  pto.treshape ins(%t0 : {F}) outs(%w : {F})
  pto.tmov ins(%w : {F}) outs(%out : {F})""",
        f"""  %p = pto.tile_buf_addr %t0 : {F} -> !pto.ptr<f32, ub>
  %n = pto.castptr %p : !pto.ptr<f32, ub> -> i64
  %w = pto.alloc_tile addr = %n : {F}
  pto.tmov ins(%w : {F}) outs(%out : {F})""",
        f"""  %p = pto.tile_buf_addr %t0 : {F} -> !pto.ptr<f32, ub>
  %n = pto.castptr %p : !pto.ptr<f32, ub> -> i64
  %w = pto.alloc_tile : {F}
  pto.tassign %w, %n : {F}, i64
  pto.tmov ins(%w : {F}) outs(%out : {F})""",
    ],
    ids=["treshape", "address", "tassign"],
)
def test_ways_to_the_same_bytes(body: str) -> None:
    out, result = on_tiles([X], ["1x16xf32"], "1x16xf32", body)
    assert out.tolist() == X.tolist()
    assert result.warnings == ()


def test_aliases_at_given_addresses_share_bytes() -> None:
    body = f"""  %a = arith.constant 4096 : i64
  %u = pto.alloc_tile addr = %a : {F}
  %w = pto.alloc_tile addr = %a : {tile_type("1x16xi32")}
  pto.tmov ins(%t0 : {F}) outs(%u : {F})
  pto.tmov ins(%w : {tile_type("1x16xi32")}) outs(%out : {tile_type("1x16xi32")})"""
    out, _ = on_tiles([X], ["1x16xf32"], "1x16xi32", body)
    assert out.view(np.float32).tolist() == X.tolist()


def test_a_dynamic_valid_size_starts_as_given_and_changes() -> None:
    kind = tile_type("2x16xf32", "valid=?x?")
    body = f"""  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %one_f = arith.constant 1.0 : f32
  %two_f = arith.constant 2.0 : f32
  %c2 = arith.constant 2 : index
  pto.texpands ins(%one_f : f32) outs(%out : {kind})
  pto.set_validshape %out, %one, %c4 : {kind}
  pto.texpands ins(%two_f : f32) outs(%out : {kind})
  pto.set_validshape %out, %c2, %c5 : {kind}"""
    out, _ = on_tiles([], [], "2x16xf32", body, out_type=kind)
    assert out[:, :6].tolist() == [[2, 2, 2, 2, 1, 0], [1, 1, 1, 1, 1, 0]]


def test_a_valid_size_outside_the_tile_has_its_place() -> None:
    body = f"""  %c17 = arith.constant 17 : index
  %u = pto.alloc_tile valid_row = %one valid_col = %c17 : {tile_type("1x16xf32", "valid=?x?")}"""
    with pytest.raises(ProgramError, match=r"<text>:6:3: error: alloc_tile: valid size 1 × 17 is not inside"):
        run(function("", body))


def test_a_window_of_a_window() -> None:
    wide = tile_type("4x16xf32")
    body = f"""  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %u = pto.subview %t0[%one, %c4] sizes [3, 8] : {wide} -> {tile_type("3x8xf32")}
  %w = pto.subview %u[%one, %c2] sizes [2, 4] : {tile_type("3x8xf32")} -> {tile_type("2x4xf32")}
  pto.tmov ins(%w : {tile_type("2x4xf32")}) outs(%out : {tile_type("2x4xf32")})"""
    x = np.arange(64, dtype=np.float32).reshape(4, 16)
    out, _ = on_tiles([x], ["4x16xf32"], "2x4xf32", body)
    assert out.tolist() == x[2:4, 6:10].tolist()


def test_global_memory_has_no_addresses() -> None:
    body = "  %z = arith.constant 64 : i64\n  %p = pto.castptr %z : i64 -> !pto.ptr<f32, gm>"
    with pytest.raises(ProgramError, match="address 64 of global memory is not known"):
        run(function("", body))
