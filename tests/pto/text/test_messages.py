"""Each message: its place, its words with the values, its hint."""

# ruff: noqa: E501 - statements are quoted whole

from __future__ import annotations

import pytest
from tests.pto.text.programs import F32_256, F32_512, text_of

from lanesort.errors import Place, ProgramError
from lanesort.pto.text.parser import parse

A = "!pto.tile_buf<vec, 1x32xf32>"
S = "!pto.tile_buf<vec, 1x64xf32>"

# statement -> column, message, hint; the statement stands in line 2 from column 3 on
MESSAGES: dict[str, tuple[int, str, str | None]] = {
    f"pto.tmov ins(%aa : {A}) outs(%d : {A})": (16, "%aa is used before it is defined", "did you mean %a?"),
    f"pto.tmov ins(%i#1 : {A}) outs(%d : {A})": (16, "%i has 1 value; there is no %i#1", None),
    f"pto.tmov ins(%x : i32) outs(%d : {A})": (21, "%x is written here as i32, but it was defined as f32", None),
    f"pto.tmov ins(%a, %b : {A}) outs(%d : {A})": (25, "2 operands with 1 type", "one type for each operand"),
    f"pto.tmov ins(%a, %b, %d : {A}, {A}, {A}) outs(%d : {A})": (3, "pto.tmov: 4 operands; it takes src, dst", None),
    f"pto.tmov ins(%a) outs(%d : {A})": (18, "the types of the operands are missing", "write them behind a colon"),
    f"pto.tmov ins(%x : f32) outs(%d : {A})": (3, "tmov: operand src, %x, is f32; it must be a tile", None),
    f"pto.tmrgsort ins(%l0 {{blockLen = 64 : i32}} : {F32_256}) outs(%two : {F32_512})": (
        3, "tmrgsort: src has 256 columns and dst 512; a single list keeps its columns", "allocate dst with 256 columns"),
    f"pto.tmrgsort ins(%l0 : {F32_256}) outs(%l1 : {F32_256})": (
        3, "tmrgsort: one list and no block length", "write ins(%src, %len : T, i32), or give two to four lists"),
    f"pto.tmrgsort ins(%l0, %l1, %w no_tmp : {F32_256}, {F32_256}, i32) outs(%two : {F32_512})": (
        3, "tmrgsort: a block length stands beside 2 lists", "it belongs to a single list"),
    f"%e = arith.constant dense<0> : vector<8xi16> pto.tmrgsort ins(%l0, %l1 : {F32_256}, {F32_256}) outs(%two, %e : {F32_512}, vector<8xi16>)": (
        48, "tmrgsort: executed, %e, is vector<8xi16>; four 16-bit counts are written to it",
        "declare it as vector<4xi16>"),
    f"pto.tsort32 ins(%a, %b : {A}, {A}) outs(%s : {S})": (
        3, "tsort32: idx, %b, holds f32; indices are 32-bit integers", "declare the tile with dtype=ui32"),
    f"pto.tsort32 ins(%a : {A}) outs(%s : {S})": (
        3, "pto.tsort32: 1 source and 1 destination",
        "write ins(%src, %idx) outs(%dst), or ins(%src, %idx, %tmp) outs(%dst)"),
    f"pto.tgather ins(%a : {A}) outs(%d : {A})": (
        3, "tgather: there are neither a mask pattern nor indices",
        "write {maskPattern = #pto.mask_pattern<P0101>} or an index tile"),
    f"pto.tgather ins(%a, {{maskPattern = #pto.mask_pattern<P0110>}} : {A}) outs(%d : {A})": (
        56, "'P0110' is not one of P0101, P1010, P0001, P0010, P0100, P1000, P1111", None),
    "pto.vlds %ub[%i] : f32": (
        7, "pto.vlds is not modelled, and its text has no form that can be read without knowing it",
        "operations that are not modelled are read as ins(… : types) outs(… : types)"),
    "ptoo.tmov %a": (3, "ptoo.tmov is no operation of a dialect that is read here", "did you mean tmov?"),
    f"pto.tmov ins(%a : !pto.tile_buf<vec, 1x32xf33>) outs(%d : {A})": (
        45, "'f33' is not an element type", "element types are f32, f16, i32, ui32, …"),
    f"pto.tmov ins(%a : !pto.tile_buf<vec, 1x32xf32, valid=1x33>) outs(%d : {A})": (
        35, "the valid part 1x33 is larger than the tile, 1x32", "valid rows and columns count elements inside rows and cols"),
    f"pto.tmov ins(%a : !pto.tile_buf<loc=vec, dtype=f32, row=1, cols=32>) outs(%d : {A})": (
        55, "a tile has no field 'row'", "did you mean rows?"),
    f"pto.tmov ins(%a : !pto.tile_buf<vec, ?x32xf32>) outs(%d : {A})": (
        40, "the physical size of a tile is ?", "only the valid size may be open: valid=?x?"),
    f"pto.tmov ins(%a : !pto.tile_buf<loc=vec, cols=32, cols=32>) outs(%d : {A})": (58, "the tile's cols is given twice", None),
    f"pto.tmov ins(%a : !pto.tile_buf<loc=vec, cols=32>) outs(%d : {A})": (35, "the tile type lacks dtype, rows", None),
    f"pto.tmov ins(%a : !pto.tile_buf<vec, 1x32xf32, pad=4>) outs(%d : {A})": (
        54, "pad=4 means nothing", "pad is 0 none, 1 zero, 2 max, 3 min"),
    "%v = pto.make_tensor_view %gm, shape = [1], strides = [1] : !pto.tensor_view<1x2x3x4x5x6xf32>": (
        80, "a view has 1 to 5 dimensions; '1x2x3x4x5x6xf32' has 6", "write the sizes before the element type: 1x8192xf32"),
    "%a = arith.constant 1 : i32": (3, "%a is already defined", None),
    "%z = arith.addi %i, %w : index": (23, "%w is written here as index, but it was defined as i32", None),
    "%z = arith.constant 300 : i8": (
        3, "integer value 300 is out of range for type i8 which supports values in the range [-128, 256)", None),
    "%z = arith.constant dense<0> : vector<5000xi16>": (41, "a constant of 5000 elements is too large", "at most 4096 elements"),
    'pto.set_flag["PIPE_V", "PIPE_S"]': (
        15, "2 names stand where a source pipe, a target pipe and an event belong", None),
    f"%k = arith.constant -8 : i64 %t = pto.alloc_tile addr = %k : {A}": (
        32, "alloc_tile: the address is -8; addresses count bytes from 0", None),
    f"pto.tmov ins(%a : {A} outs(%d : {A})": (50, "expected ')'", None),
    "%v = pto.load_scalar %gm[%i, %n] : !pto.ptr<f32> -> f32": (
        27, "2 subscripts stand where one offset in elements is expected", None),
    "%u, %v = pto.load_scalar %gm[%i] : !pto.ptr<f32> -> f32": (3, "operation has 1 results, but was given 2 to bind", None),
    "pto.vbitsort %ub, %ub, %uu : !pto.ptr<f32, ub>": (16, "3 operands where 4 are expected: dst, src, idx, repeat", None),
    "%z = scf.for %j = %i to %n step %i iter_args(%y = %x) -> (f32, f32) {}": (60, "2 types for 1 carried value", None),
    'func.call @g(%a) : (f32) -> ()': (16, "%a is written here as f32, but it was defined as " + S.replace("64", "32"), None),
}  # fmt: skip


@pytest.mark.parametrize("statement", MESSAGES, ids=lambda text: text[:50])
def test_message(statement: str) -> None:
    column, text, hint = MESSAGES[statement]
    source = text_of(statement).replace(
        "!pto.tile_buf<loc=vec, dtype=f32, rows=1, cols=32, v_row=1, v_col=32, blayout=row_major, slayout=none_box, fractal=512, pad=0>",
        A,
    )
    with pytest.raises(ProgramError) as caught:
        parse(source, "kernel.pto")
    error = caught.value
    shown = error.text.replace(
        "!pto.tile_buf<loc=vec, dtype=f32, rows=1, cols=32, v_row=1, v_col=32, blayout=row_major, slayout=none_box, fractal=512, pad=0>",
        A,
    )
    assert (error.place, shown, error.hint) == (Place("kernel.pto", 2, column), text, hint)
    lines = str(error).split("\n")
    assert lines[0] == f"kernel.pto:2:{column}: error: {error.text}"
    assert lines[1] == f"    {statement}"
    assert lines[2] == "  " + " " * (column - 1) + "^"


def test_two_functions_of_one_name() -> None:
    with pytest.raises(ProgramError, match="k:2:1: error: two functions are called @f"):
        parse("func.func @f() { return }\nfunc.func @f() { return }", "k")


def test_blocks_with_branches_are_refused() -> None:
    text = 'func.func @f() {\n  "scf.if"() ({\n  }) : () -> ()\n  return\n}'
    with pytest.raises(ProgramError) as caught:
        parse(text, "k")
    assert caught.value.place == Place("k", 2, 3)


def test_places_are_those_of_the_statements() -> None:
    module = parse(
        "module {\n  func.func @f(%i: index) {\n\n    %z = arith.addi %i, %i : index\n    return\n  }\n}", "k"
    )
    body = module.functions[0].body
    assert body is not None
    assert [step.place for step in body.steps] == [Place("k", 4, 5), Place("k", 5, 5)]
    assert module.functions[0].place == Place("k", 2, 3)
    assert module.line(Place("k", 5, 5)) == "    return"
