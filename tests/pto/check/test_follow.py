"""What the check knows without data: sizes, loops, conditions, and what it leaves out."""

from __future__ import annotations

import numpy as np
import pytest

from lanesort.errors import ArgumentTypeError, ArgumentValueError, ProgramError
from lanesort.pto.check import Report, check
from lanesort.pto.text.parser import parse
from tests.pto.check.programs import ALLOC, FILL, LOAD_ARGUMENTS, USE, kernel
from tests.pto.check.test_pipes import loop


def report(body: str, arguments: str = "", target: str = "a2a3", **options: object) -> Report:
    return check(parse(kernel(body, arguments)), target, **options)


def ids(body: str, arguments: str = "", **options: object) -> list[str]:
    return [finding.id for finding in report(body, arguments, **options).findings]


PIECES = """
  %part = pto.subview %t[%c0, %i] sizes [1, 1] : T(1x64xf32) -> T(1x1xf32)
  pto.texpands ins(%zero : f32) outs(%part : T(1x1xf32))
"""


@pytest.mark.parametrize(("upper", "expected"), [("%c64", []), ("%n", []), ("%c8", ["read-before-written"])])
def test_a_tile_that_a_loop_fills(upper: str, expected: list[str]) -> None:
    body = "  %c8 = arith.constant 8 : index\n" + ALLOC + loop(PIECES, upper) + USE
    assert ids(body, "%n: index") == expected


def test_short_loops_are_followed_to_their_end() -> None:
    body = """
  %c4 = arith.constant 4 : index
  %end = scf.for %i = %c0 to %c4 step %c1 iter_args(%at = %c0) -> (index) {
    %next = arith.addi %at, %c64 : index
    scf.yield %next : index
  }
  %big = pto.alloc_tile valid_row = %c1 valid_col = %end : T(1x128xf32, valid=?x?)
"""
    (finding,) = [one for one in report(body).findings if one.id == "cannot-run"]
    assert "1 × 256 is not inside the tile" in finding.text


def test_long_loops_are_noted() -> None:
    (note, _) = report(ALLOC + loop(FILL, "%c64")).notes
    assert note == "@kernel: the loop in line 9 has 64 iterations; two were followed"


def test_both_arms_of_an_unknown_condition_count_as_written() -> None:
    arms = f"  scf.if %yes {{\n{FILL}  }} else {{\n  }}\n"
    assert ids(ALLOC + arms + USE, "%yes: i1") == []
    assert ids(ALLOC + arms + USE, "%yes: i1", args={"yes": 0}) == ["read-before-written"]
    assert ids(ALLOC + arms + USE, "%yes: i1", args={"%yes": 1}) == []


def test_while_loops_end() -> None:
    body = """
  %out = scf.while (%i = %c0) : (index) -> (index) {
    %more = arith.cmpi slt, %i, LIMIT : index
    scf.condition(%more) %i : index
  } do {
  ^bb0(%i: index):
    %next = arith.addi %i, %c1 : index
    scf.yield %next : index
  }
  %t = pto.alloc_tile valid_row = %c1 valid_col = %out : T(1x3xf32, valid=?x?)
"""
    assert "cannot-run" not in ids(body.replace("LIMIT", "%n"), "%n: index")
    assert "cannot-run" not in ids(body.replace("LIMIT", "%n"), "%n: index", args={"n": 3})
    assert "cannot-run" in ids(body.replace("LIMIT", "%n"), "%n: index", args={"n": 4})
    assert "cannot-run" not in ids(body.replace("LIMIT", "%n"), "%n: index", args={"n": 1000})


def test_scalars_of_given_arrays_are_loaded() -> None:
    body = """
  %n = pto.load_scalar %sizes[%c1] : !pto.ptr<i32> -> i32
  %columns = arith.index_cast %n : i32 to index
  %t = pto.alloc_tile valid_row = %c1 valid_col = %columns : T(1x64xf32, valid=?x?)
  pto.texpands ins(%zero : f32) outs(%t : T(1x64xf32, valid=?x?))
"""
    arguments = "%sizes: !pto.ptr<i32>"
    assert ids(body, arguments) == []
    assert ids(body, arguments, args={"sizes": np.array([0, 64], "i4")}) == []
    assert "cannot-run" in ids(body, arguments, args={"sizes": np.array([0, 65], "i4")})
    stored = body.replace("  %n =", "  pto.store_scalar %first, %sizes[%c0] : !pto.ptr<i32>, i32\n  %n =")
    assert ids(stored, arguments, args={"sizes": np.array([0, 65], "i4")}) == []


def test_a_write_to_an_unknown_place_is_noted() -> None:
    body = (
        ALLOC
        + """
  %part = pto.subview %t[%c0, %n] sizes [1, 32] : T(1x64xf32) -> T(1x32xf32)
  pto.texpands ins(%zero : f32) outs(%part : T(1x32xf32))
"""
        + USE
    )
    found = report(body, "%n: index")
    assert found.findings == ()
    assert "where texpands in line 11 writes is not known" in found.notes[0]


def test_a_size_that_stands_for_an_unknown_one_is_not_held_against_a_step() -> None:
    body = """
  %wide = pto.alloc_tile valid_row = %c1 valid_col = %n : T(1x128xf32, valid=?x?)
  %t = pto.alloc_tile : T(1x64xf32)
  pto.texpands ins(%zero : f32) outs(%wide : T(1x128xf32, valid=?x?))
  pto.tmov ins(%wide : T(1x128xf32, valid=?x?)) outs(%t : T(1x64xf32))
"""
    assert ids(body, "%n: index") == []
    assert ids(body, "%n: index", args={"n": 64}) == []


def test_what_is_not_modelled_is_noted() -> None:
    body = ALLOC + "  pto.texotic ins(%zero : f32) outs(%t : T(1x64xf32))\n" + USE
    found = report(body)
    assert found.findings == ()
    assert "pto.texotic is not modelled" in found.notes[0]


def test_other_ways_of_ordering_pipes_are_noted() -> None:
    found = report(ALLOC + FILL + "  pto.get_buf ins(%c0 : index) outs(%t : T(1x64xf32))\n", manual=True)
    assert any("pipes are ordered by pto.get_buf" in note for note in found.notes)


def test_recursion_and_missing_functions_are_findings() -> None:
    text = kernel("  func.call @nowhere() : () -> ()\n") + "func.func private @nowhere()\n"
    assert [finding.id for finding in check(parse(text)).findings] == ["cannot-run"]
    assert "cannot-run" in ids("  func.call @kernel() : () -> ()\n")


def test_arguments_and_targets_that_do_not_fit() -> None:
    module = parse(kernel(ALLOC + FILL, LOAD_ARGUMENTS))
    with pytest.raises(ArgumentValueError, match="no function has an argument other; there are in"):
        check(module, args={"other": 1})
    with pytest.raises(ArgumentTypeError, match="argument in is an array of float64"):
        check(module, args={"in": np.zeros(64)})
    with pytest.raises(ArgumentValueError, match="target is 'a9'"):
        check(module, "a9")
    with pytest.raises(ProgramError, match="no function @f with a body; the text has @kernel"):
        check(module, function="f")


def test_functions_that_others_call_are_checked_through_their_callers() -> None:
    text = kernel(ALLOC + FILL + "  func.call @work(%t) : (T(1x64xf32)) -> ()\n").replace(
        "T(1x64xf32)", "!pto.tile_buf<vec, 1x64xf32>"
    )
    text += kernel(USE, "%t: T(1x64xf32)").replace("@kernel", "@work")
    found = check(parse(text), "a5")
    assert [one.function for one in found.maps] == ["kernel"]
    assert [one.function for one in check(parse(text), "a5", function="@work").maps] == ["work"]


@pytest.mark.parametrize("target", ["cpu", "kirin9030"])
def test_other_targets_can_be_asked_for(target: str) -> None:
    assert report(ALLOC + FILL, target=target).findings == ()


def test_unused_names_for_bytes_of_others_are_left_alone() -> None:
    placed = "  %at = arith.constant 0 : i64\n" + ALLOC.replace("alloc_tile", "alloc_tile addr = %at")
    other = "  %u = pto.alloc_tile addr = %at : T(1x16xf32)\n"
    assert ids(placed + FILL + other) == []
    assert ids(placed + FILL + other.replace("%at", "%far").replace("  %u", FAR + "  %u")) == ["unused-tile"]


FAR = "  %far = arith.constant 4096 : i64\n"
