"""What goes wrong is named with its place, its values and what to do; nothing is half done."""

from __future__ import annotations

import numpy as np
import pytest

from lanesort.errors import ArgumentTypeError, ArgumentValueError, MachineError, ProgramError
from lanesort.pto.interpreter import run
from lanesort.pto.machine import BlockIndex
from tests.pto.interpreter.programs import function, tile_type

F32 = "%x: !pto.ptr<f32>"


def test_an_operation_that_is_not_modelled_is_named_where_it_would_run() -> None:
    tile = tile_type("1x32xf32")
    body = f"  %t = pto.alloc_tile : {tile}\n  pto.texotic ins(%t : {tile}) outs(%t : {tile})"
    with pytest.raises(ProgramError) as caught:
        run(function("", body))
    lines = str(caught.value).split("\n")
    assert lines[0].startswith("<text>:6:3: error: texotic: the operation pto.texotic is not modelled")
    assert lines[1] == f"    pto.texotic ins(%t : {tile}) outs(%t : {tile})"
    assert lines[2] == "    ^"


def test_it_is_no_error_where_it_does_not_run() -> None:
    tile = tile_type("1x32xf32")
    body = f"""  %no = arith.constant false
  %t = pto.alloc_tile : {tile}
  scf.if %no {{
    pto.texotic ins(%t : {tile}) outs(%t : {tile})
  }}"""
    assert run(function("", body)).warnings == ()


@pytest.mark.parametrize(
    "body",
    [
        """  %z = arith.constant 0 : i64
  %p = pto.castptr %z : i64 -> !pto.ptr<f8E4M3, ub>
  %v = pto.load_scalar %p[%zero] : !pto.ptr<f8E4M3, ub> -> f32""",
        "  %t = pto.alloc_tile : !pto.tile_buf<vec, 1x32xf8E4M3>",
    ],
)
def test_elements_that_are_not_modelled(body: str) -> None:
    with pytest.raises(ProgramError, match="elements of type f8E4M3 are not modelled"):
        run(function("", body))


def test_calls_and_regions_nested_too_deeply() -> None:
    opened = "".join(f"  scf.for %i{n} = %z to %o step %o {{\n" for n in range(55))
    text = f"""func.func @f() {{
  %z = arith.constant 0 : index
  %o = arith.constant 1 : index
{opened}    func.call @f() : () -> ()
{"}" * 55}
  return
}}
"""
    with pytest.raises(ProgramError, match="nested"):
        run(text)


def test_other_memories_are_refused_where_they_are_used() -> None:
    matrix = "!pto.tile_buf<mat, 16x16xf32>"
    with pytest.raises(ProgramError, match="%t is a tile with loc=mat, slayout=none_box"):
        run(function("", f"  %t = pto.alloc_tile : {matrix}"))


def test_an_error_leaves_the_arguments_alone() -> None:
    body = """  %c9 = arith.constant 9 : index
  %v = arith.constant 7.0 : f32
  pto.store_scalar %v, %x[%zero] : !pto.ptr<f32>, f32
  pto.store_scalar %v, %x[%c9] : !pto.ptr<f32>, f32"""
    mine = np.zeros(4, np.float32)
    with pytest.raises(ProgramError, match="bytes 36 … 39 of argument x are needed, and it has 16"):
        run(function(F32, body), [mine])
    assert mine.tolist() == [0, 0, 0, 0]


def test_success_leaves_the_arguments_alone_too() -> None:
    body = "  %v = arith.constant 7.0 : f32\n  pto.store_scalar %v, %x[%one] : !pto.ptr<f32>, f32"
    mine = np.zeros(2, np.float32)
    result = run(function(F32, body), {"%x": mine})
    assert result.outputs["x"].tolist() == [0, 7]
    assert mine.tolist() == [0, 0]


def test_an_array_given_twice_is_one_memory() -> None:
    body = """  %v = pto.load_scalar %x[%zero] : !pto.ptr<f32> -> f32
  pto.store_scalar %v, %y[%one] : !pto.ptr<f32>, f32
  %w = pto.load_scalar %x[%one] : !pto.ptr<f32> -> f32
  pto.store_scalar %w, %y[%zero] : !pto.ptr<f32>, f32"""
    mine = np.array([3, 4], np.float32)
    arguments = f"{F32}, %y: !pto.ptr<f32>"
    assert run(function(arguments, body), [mine, mine]).outputs["y"].tolist() == [3, 3]
    assert run(function(arguments, body), [mine, mine.copy()]).outputs["y"].tolist() == [4, 3]


@pytest.mark.parametrize(
    ("arguments", "given", "says"),
    [
        (F32, [], "@kernel needs further arguments: x: an array of f32"),
        (F32, [1, 2], r"@kernel takes 1 argument \(x\); got 2"),
        (F32, {"y": 1}, "@kernel has no argument y; it takes x"),
        ("%n: i8", [200.5], "argument n is 200.5, which i8 does not hold"),
        ("%n: i8", [300], "argument n is 300, which i8 does not hold"),
        ("%n: ui8", [-1], "argument n is -1, which ui8 does not hold"),
        ("%e: vector<4xi16>", [[1, 2]], "argument e has 2 numbers, and 4 are needed"),
        ("%v: !pto.tensor_view<2x?xf32>", [np.zeros((3, 4), "f4")], r"has the shape \(3, 4\), and 2 × \? is"),
        (f"%t: {tile_type('2x8xf32')}", [np.zeros((3, 8), "f4")], "a tile of 2 × 8 is needed"),
    ],
)
def test_arguments_that_do_not_fit(arguments: str, given: object, says: str) -> None:
    with pytest.raises(ArgumentValueError, match=says):
        run(function(arguments, ""), given)


@pytest.mark.parametrize(
    ("arguments", "given", "says"),
    [
        (
            F32,
            np.zeros(2),
            r"an array of float64, and float32 \(f32\) is needed; .* astype\('float32'\)",
        ),
        ("%x: !pto.ptr<i32>", np.zeros(2, "i8"), r"an array of int64, and int32 \(i32\) is needed"),
        ("%n: i32", np.zeros(2, "i4"), r"a number \(i32\) is needed"),
        ("%n: f32", "seven", r"argument n is 'seven'; a number \(f32\) is needed"),
    ],
)
def test_arguments_of_the_wrong_type(arguments: str, given: object, says: str) -> None:
    with pytest.raises(ArgumentTypeError, match=says):
        run(function(arguments, ""), [given])


def test_signed_and_unsigned_of_one_width_are_taken_as_each_other() -> None:
    body = "  %v = pto.load_scalar %x[%zero] : !pto.ptr<ui32> -> i32\n"
    body += "  pto.store_scalar %v, %x[%one] : !pto.ptr<ui32>, i32"
    result = run(function("%x: !pto.ptr<ui32>", body), [np.array([-5, 0], np.int32)])
    assert result.outputs["x"].tolist() == [-5, -5]
    assert result.outputs["x"].dtype == np.int32


def test_arrays_of_the_other_byte_order() -> None:
    body = "  %v = pto.load_scalar %x[%zero] : !pto.ptr<f32> -> f32\n"
    body += "  pto.store_scalar %v, %x[%one] : !pto.ptr<f32>, f32"
    assert run(function(F32, body), [np.array([1.5, 0], ">f4")]).outputs["x"].tolist() == [1.5, 1.5]


def test_block_arguments_may_be_left_out() -> None:
    body = """  pto.store_scalar %__pypto_spmd_block_idx, %x[%zero] : !pto.ptr<i32>, i32
  pto.store_scalar %__pypto_spmd_block_num, %x[%one] : !pto.ptr<i32>, i32"""
    arguments = "%x: !pto.ptr<i32>, %__pypto_spmd_block_idx: i32, %__pypto_spmd_block_num: i32"
    out = np.zeros(2, np.int32)
    assert run(function(arguments, body), [out], block="3/48").outputs["x"].tolist() == [3, 48]
    assert run(function(arguments, body), [out, 7]).outputs["x"].tolist() == [7, 1]


@pytest.mark.parametrize("text", ["3", "x/y", "1/2/3", "48/48", "-1/4", "0/0", "0/1:2/2"])
def test_blocks_that_make_no_sense(text: str) -> None:
    with pytest.raises(MachineError, match=r"block|index"):
        BlockIndex.parse(text)


def test_tiles_views_and_ub_pointers_as_arguments() -> None:
    tile, view = tile_type("2x8xf32"), "!pto.tensor_view<2x8xf32>"
    body = f"""  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %p = pto.partition_view %v, offsets = [%zero, %zero], sizes = [%c2, %c8]
     : {view} -> !pto.partition_tensor_view<2x8xf32>
  pto.tadd ins(%t, %t : {tile}, {tile}) outs(%t : {tile})
  pto.tstore ins(%t : {tile}) outs(%p : !pto.partition_tensor_view<2x8xf32>)
  %w = pto.load_scalar %u[%one] : !pto.ptr<f32, ub> -> f32
  pto.store_scalar %w, %u[%zero] : !pto.ptr<f32, ub>, f32"""
    x = np.arange(16, dtype=np.float32).reshape(2, 8)
    arguments = f"%t: {tile}, %v: {view}, %u: !pto.ptr<f32, ub>"
    result = run(function(arguments, body), [x, np.zeros((2, 8), "f4"), np.array([1, 2], "f4")])
    assert result.outputs["v"].tolist() == (2 * x).tolist()
    assert result.outputs["t"].tolist() == (2 * x).tolist()
    assert result.outputs["u"].tolist() == [2, 2]
    assert result.changed == ("t", "v", "u")


def test_what_a_function_returns() -> None:
    tile = tile_type("1x32xf32")
    text = f"""
func.func @kernel(%s: {tile}, %i: {tile_type("1x32xi32")}) -> {tile_type("1x64xf32")} {{
  %d = pto.tsort32 %s, %i : ({tile}, {tile_type("1x32xi32")}) -> {tile_type("1x64xf32")}
  return %d : {tile_type("1x64xf32")}
}}
"""
    given = [np.arange(32, dtype=np.float32), np.arange(32, dtype=np.int32)]
    (returned,) = run(text, given, engine="reference").returned
    assert returned[0, ::2].tolist() == list(range(31, -1, -1))


def test_bad_options() -> None:
    with pytest.raises(ArgumentValueError, match="max_steps is -1"):
        run(function("", ""), max_steps=-1)
    with pytest.raises(ArgumentValueError, match="target is 'a9'"):
        run(function("", ""), target="a9")
