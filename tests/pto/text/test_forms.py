"""The three forms, the seeds' examples, bodies, whole modules, and what is kept unread."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.pto.text.programs import F32_32, F32_64, F32_256, PV, U32_32, body_of, steps_of, text_of

from lanesort import pto
from lanesort.cli.main import main
from lanesort.errors import ArgumentValueError, ProgramError
from lanesort.pto.program import Module, TileType
from lanesort.pto.text.parser import parse
from lanesort.pto.text.printer import print_module
from lanesort.pto.text.values import sunk

SEED_SSA = """
# AS Level 1 (SSA)
func.func @sort(%src: !pto.tile<1x32xf32>, %idx: !pto.tile<1x32xui32>) {
  %dst = pto.tsort32 %src, %idx : (!pto.tile<1x32xf32>, !pto.tile<1x32xui32>) -> !pto.tile<1x64xf32>
  return
}
func.func @merge(%s0: !pto.tile<1x64xf32>, %s1: !pto.tile<1x64xf32>) {
  %dst, %executed = tmrgsort %s0, %s1 {exhausted = false}
      : !pto.tile<1x64xf32>, !pto.tile<1x64xf32> -> (!pto.tile<1x128xf32>, vector<4xi16>)
  return
}
"""

SEED_MANUAL = """
func.func @merge(%src: !pto.tile<1x256xf32>, %blockLen: i32) {
  # Manual mode: resources must be bound explicitly before issuing the instruction.
  # pto.tassign %arg0, @tile(0x1000)
  # pto.tassign %dst, tile(8192)
  %dst = pto.tmrgsort %src, %blockLen : (!pto.tile<1x256xf32>, i32) -> !pto.tile<1x256xf32>
  return
}
"""


def test_seed_ssa_form_comes_back_as_it_was() -> None:
    module = parse(SEED_SSA)
    printed = print_module(module, "ssa")
    assert "%dst = pto.tsort32 %src, %idx : (!pto.tile<1x32xf32>, !pto.tile<1x32xui32>) -> " in printed
    assert "%dst, %executed = pto.tmrgsort %s0, %s1 {exhausted = false} : (!pto.tile<1x64xf32>" in printed
    assert parse(printed) == module


def test_seed_manual_form_places_tiles_when_asked() -> None:
    asked = parse(SEED_MANUAL, manual=True)
    steps = body_of(asked).steps
    assert [(step.op, step.attributes.get("address")) for step in steps[:2]] == [
        ("tassign", 0x1000),
        ("alloc_tile", 0x2000),
    ]
    printed = print_module(asked, "manual")
    assert "    # pto.tassign %src, @tile(0x1000)\n    # pto.tassign %dst, @tile(0x2000)\n" in printed
    assert parse(printed, manual=True) == asked
    assert parse(print_module(asked)) == asked


def test_placement_comments_are_comments_otherwise() -> None:
    assert [step.op for step in body_of(parse(SEED_MANUAL)).steps] == [
        "alloc_tile",
        "tmrgsort",
        "func.return",
    ]


def test_placement_of_an_unknown_name_is_refused_at_the_comment() -> None:
    with pytest.raises(ProgramError, match=r"k:3:5: error: %sr is no tile of @f") as caught:
        parse(
            "func.func @f(%src: !pto.tile<1x8xf32>) {\n\n    # pto.tassign %sr, @tile(0x0)\n return }",
            "k",
            manual=True,
        )
    assert caught.value.hint == "did you mean %src?"


def test_allocations_move_to_the_first_write_in_the_ssa_form() -> None:
    module = parse(
        text_of(
            f"%t = pto.alloc_tile : {F32_64}",
            "%z = arith.addi %i, %n : index",
            f"pto.tsort32 ins(%a, %idx : {F32_32}, {U32_32}) outs(%t : {F32_64})",
        )
    )
    printed = print_module(module, "ssa")
    assert "%t = pto.tsort32 %a, %idx" in printed
    assert parse(printed) == parse(print_module(parse(printed)))
    moved = [step.op for step in (sunk(module.functions[0], placed=False).body or body_of(module)).steps]
    assert moved == ["arith.addi", "alloc_tile", "tsort32", "func.return"]


def test_an_unknown_form_is_refused() -> None:
    with pytest.raises(ArgumentValueError, match="form is 'llvm'; on offer are dps, ssa, manual"):
        print_module(Module(None, ()), "llvm")


def test_constant_address_becomes_an_attribute_and_its_constant_goes() -> None:
    steps = steps_of("%k = arith.constant 4096 : i64", f"%t = pto.alloc_tile addr = %k : {F32_32}")
    assert [(step.op, step.attributes) for step in steps] == [("alloc_tile", {"address": 4096})]


def test_constant_with_another_use_stays() -> None:
    steps = steps_of(
        "%k = arith.constant 4096 : i64",
        f"%t = pto.alloc_tile addr = %k : {F32_32}",
        "%z = arith.addi %k, %q : i64",
    )
    assert [step.op for step in steps] == ["arith.constant", "alloc_tile", "arith.addi"]


BODIES = (
    """
module attributes {pto.kernel_kind = #pto.kernel_kind<vector>, pto.target_arch = "a5"} {
  func.func private @helper(f32) -> i32 attributes {pto.aicore}
  func.func @k(%x: f32, %n: index, %c: i1, %t: T) attributes {pto.kernel} {
    %zero = arith.constant 0 : index
    %z = scf.for %i = %zero to %n step %n iter_args(%y = %x) -> f32 {
      %m = scf.if %c -> (f32) { scf.yield %y : f32 } else { scf.yield %x : f32 }
      scf.yield %m : f32
    }
    scf.for %i = %zero to %n step %n { scf.if %c { pto.tmov ins(%t : T) outs(%t : T) } else { } }
    %w:2 = scf.while (%a = %n, %b = %x) : (index, f32) -> (index, f32) {
      scf.condition(%c) %a, %b : index, f32
    } do {
    ^bb0(%a: index, %b: f32):
      scf.yield %a, %b : index, f32
    }
    %v = func.call @helper(%w#1) : (f32) -> i32
    pto.section.vector { pto.tmov ins(%t : T) outs(%t : T) }
    %f = pto.fusion_region {
      pto.yield (%t) : (T) -> ()
    } {pto.fusion.group_id = 0 : i64} : T
    pto.tmatmul ins(%t, %f : T, T) outs(%t : T) {deep = {deeper = [1, "two", unit]}, flag}
    return
  }
}
""".replace("T)", f"{F32_32})")
    .replace(": T", f": {F32_32}")
    .replace(", T)", f", {F32_32})")
)
BODIES = BODIES.replace(" T,", f" {F32_32},").replace("(T)", f"({F32_32})")


def test_attributes_of_arguments_survive_printing() -> None:
    module = parse('func.func @f(%a: i1 {pto.role = "in", pto.slot = 1 : i32}, %b: i32) { return }')
    assert module.functions[0].argument_extra == ({"pto.role": '"in"', "pto.slot": "1 : i32"}, {})
    assert parse(print_module(module)) == module
    assert parse("func.func @f(%a: i1) { return }").functions[0].argument_extra == ()


def test_while_without_carried_values_needs_no_parentheses() -> None:
    body = "{ scf.condition(%c) } do { scf.yield } attributes {note = 1 : i8}"
    bare, usual = (
        parse(f"func.func @f(%c: i1) {{ scf.while {p}: () -> () {body} return }}") for p in ("", "() ")
    )
    assert bare == usual
    assert parse(print_module(bare)) == bare
    with pytest.raises(ProgramError, match="1 type for 0 carried values"):
        parse(f"func.func @f(%c: i1) {{ scf.while : (i1) -> () {body} return }}")


def test_bodies_and_module_survive_printing() -> None:
    module = parse(BODIES)
    assert module.target_arch == "a5"
    assert module.extra == {"pto.kernel_kind": "#pto.kernel_kind<vector>"}
    assert [(f.name, f.private, f.body is None) for f in module.functions] == [
        ("helper", True, True),
        ("k", False, False),
    ]
    for form in ("dps", "ssa", "manual"):
        assert parse(print_module(module, form)) == module


def test_unmodelled_operation_keeps_operands_attributes_and_place() -> None:
    step = next(step for step in body_of(parse(BODIES)).steps if not step.modelled)
    assert (step.op, len(step.values("ins")), len(step.values("outs"))) == ("tmatmul", 2, 1)
    assert step.extra == {"deep": '{deeper = [1 : i64, "two", unit]}', "flag": "unit"}
    assert step.place is not None


def test_quoted_forms_mean_the_same() -> None:
    spelled = steps_of(f"pto.tsort32 ins(%a, %idx : {F32_32}, {U32_32}) outs(%s : {F32_64})")
    plain = steps_of(f'"pto.tsort32"(%a, %idx, %s) : ({F32_32}, {U32_32}, {F32_64}) -> ()')
    assert plain == spelled
    alloc = steps_of(
        f'%t = "pto.alloc_tile"(%n) {{operandSegmentSizes = array<i32: 0, 0, 1>}} : (index) -> {F32_32}'
    )
    assert alloc == steps_of(f"%t = pto.alloc_tile valid_col = %n : {F32_32}")
    merge = steps_of(f'"pto.tmrgsort"(%l0, %l1) {{blockLen = 64 : i32}} : ({F32_256}, {F32_256}) -> ()')
    assert merge == steps_of(
        f"pto.tmrgsort ins(%l0 {{blockLen = 64 : i32}} : {F32_256}) outs(%l1 : {F32_256})"
    )


def test_both_tile_spellings_are_one_type() -> None:
    long, short = (
        body_of(parse(f"func.func @f(%a: {type_}) {{ return }}"))
        and parse(f"func.func @f(%a: {type_}) {{ return }}")
        for type_ in (F32_32, "!pto.tile_buf<vec, 1x32xf32>")
    )
    assert long == short
    assert long.functions[0].types == (TileType(1, 32, "f32", 1, 32),)


def test_result_beside_outs_is_the_destination() -> None:
    steps = steps_of(
        f"%t = pto.tload ins(%part : {PV}) outs(%a : {F32_32}) -> {F32_32}",
        f"pto.tmov ins(%t : {F32_32}) outs(%d : {F32_32})",
    )
    assert steps[1].value("src") == steps[0].value("dst")


def test_hundred_lines_are_parsed_and_verified_in_time() -> None:
    """The bench holds 60 ms; here twice that, for machines that do other things as well."""
    line = f"pto.tsort32 ins(%a, %idx : {F32_32}, {U32_32}) outs(%s : {F32_64})"
    text = text_of(*[line] * 100)
    parse(text)
    seconds = []
    for _ in range(5):
        start = time.process_time()
        parse(text)
        seconds.append(time.process_time() - start)
    assert min(seconds) < 0.12


def test_public_names() -> None:
    assert pto.parse is parse
    assert pto.print_module is print_module


def test_command_prints_in_every_form(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "merge.pto"
    file.write_text(SEED_MANUAL)
    assert main(["pto", "print", str(file), "--form", "manual", "--placements"]) == 0
    assert "# pto.tassign %dst, @tile(0x2000)" in capsys.readouterr().out
    assert main(["pto", "print", str(file)]) == 0
    assert "pto.tmrgsort ins(%src, %blockLen" in capsys.readouterr().out


def test_command_refuses_with_the_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "bad.pto"
    file.write_text("func.func @f() {\n  pto.tmov\n}")
    assert main(["pto", "print", str(file)]) == 2
    assert "bad.pto:3:1: error: expected 'outs'" in capsys.readouterr().err
    file.write_bytes(b"\xff")
    assert main(["pto", "print", str(file)]) == 2
    assert "byte 0 is not UTF-8" in capsys.readouterr().err
    assert main(["pto", "print", str(tmp_path / "none.pto")]) == 2


def test_missing_xdsl_names_the_extra() -> None:
    code = (
        "import importlib.util as u; real = u.find_spec\n"
        "u.find_spec = lambda name, *rest: None if name == 'xdsl' else real(name, *rest)\n"
        "import lanesort.pto.text.parser\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "MissingExtraError" in run.stderr
    assert "pip install 'lanesort[pto]'" in run.stderr
