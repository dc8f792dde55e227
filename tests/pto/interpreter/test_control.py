"""Loops, conditions, regions and calls; and that nothing runs for ever."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lanesort.errors import ProgramError
from lanesort.pto.interpreter import choose_function, run
from lanesort.pto.text.parser import parse
from tests.pto.interpreter.programs import function

OUT = "%out: !pto.ptr<i32>"


def stored(body: str, *more: Any, arguments: str = "", size: int = 8, **options: Any) -> list[int]:
    """Run a body that stores into %out and return what it stored."""
    text = function(f"{OUT}{arguments}", body)
    return run(text, [np.zeros(size, np.int32), *more], **options).outputs["out"].tolist()


def test_for_carries_values() -> None:
    body = """  %c5 = arith.constant 5 : index
  %start = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %last = scf.for %i = %zero to %c5 step %one iter_args(%x = %start) -> (i32) {
    pto.store_scalar %x, %out[%i] : !pto.ptr<i32>, i32
    %y = arith.muli %x, %two : i32
    scf.yield %y : i32
  }
  pto.store_scalar %last, %out[%c5] : !pto.ptr<i32>, i32"""
    assert stored(body) == [1, 2, 4, 8, 16, 32, 0, 0]


def test_for_without_an_iteration_gives_the_first_values() -> None:
    body = """  %start = arith.constant 7 : i32
  %last = scf.for %i = %one to %one step %one iter_args(%x = %start) -> (i32) {
    %y = arith.addi %x, %x : i32
    scf.yield %y : i32
  }
  pto.store_scalar %last, %out[%zero] : !pto.ptr<i32>, i32"""
    assert stored(body, size=1) == [7]


def test_nested_loops_exchange_carried_values() -> None:
    body = """  %c3 = arith.constant 3 : index
  %a = arith.constant 1 : i32
  %b = arith.constant 2 : i32
  %x, %y = scf.for %i = %zero to %c3 step %one iter_args(%p = %a, %q = %b) -> (i32, i32) {
    %s, %t = scf.for %j = %zero to %i step %one iter_args(%u = %q, %v = %p) -> (i32, i32) {
      %w = arith.addi %u, %v : i32
      scf.yield %v, %w : i32, i32
    }
    scf.yield %t, %s : i32, i32
  }
  pto.store_scalar %x, %out[%zero] : !pto.ptr<i32>, i32
  pto.store_scalar %y, %out[%one] : !pto.ptr<i32>, i32"""
    p, q = 1, 2
    for i in range(3):
        u, v = q, p
        for _ in range(i):
            u, v = v, u + v
        p, q = v, u
    assert stored(body, size=2) == [p, q]


@pytest.mark.parametrize(("given", "expected"), [(3, 10), (4, 20)])
def test_if_gives_values(given: int, expected: int) -> None:
    body = """  %c4 = arith.constant 4 : i32
  %ten = arith.constant 10 : i32
  %less = arith.cmpi slt, %n, %c4 : i32
  %x = scf.if %less -> (i32) {
    scf.yield %ten : i32
  } else {
    %twenty = arith.addi %ten, %ten : i32
    scf.yield %twenty : i32
  }
  pto.store_scalar %x, %out[%zero] : !pto.ptr<i32>, i32"""
    assert stored(body, given, arguments=", %n: i32", size=1) == [expected]


def test_if_without_else() -> None:
    body = """  %no = arith.constant false
  %x = arith.constant 1 : i32
  scf.if %no {
    pto.store_scalar %x, %out[%zero] : !pto.ptr<i32>, i32
  }"""
    assert stored(body, size=1) == [0]


def test_while_counts_down() -> None:
    body = """  %start = arith.constant 5 : i32
  %none = arith.constant 0 : i32
  %minus = arith.constant -1 : i32
  %end, %steps = scf.while (%x = %start, %n = %none) : (i32, i32) -> (i32, i32) {
    %more = arith.cmpi sgt, %x, %none : i32
    scf.condition(%more) %x, %n : i32, i32
  } do {
  ^bb0(%x: i32, %n: i32):
    %y = arith.addi %x, %minus : i32
    %m = arith.subi %n, %minus : i32
    scf.yield %y, %m : i32, i32
  }
  pto.store_scalar %end, %out[%zero] : !pto.ptr<i32>, i32
  pto.store_scalar %steps, %out[%one] : !pto.ptr<i32>, i32"""
    assert stored(body, size=2) == [0, 5]


def test_calls_pass_values_and_give_results() -> None:
    text = """
func.func private @double(%x: i32) -> i32 {
  %y = arith.addi %x, %x : i32
  return %y : i32
}
func.func @kernel(%out: !pto.ptr<i32>, %x: i32) {
  %zero = arith.constant 0 : index
  %y = func.call @double(%x) : (i32) -> i32
  %z = func.call @double(%y) : (i32) -> i32
  pto.store_scalar %z, %out[%zero] : !pto.ptr<i32>, i32
  return
}
"""
    assert run(text, [np.zeros(1, np.int32), 5]).outputs["out"].tolist() == [20]


def test_calls_that_never_end_are_stopped() -> None:
    text = "func.func @f() {\n  func.call @f() : () -> ()\n  return\n}\n"
    with pytest.raises(ProgramError, match="calls are nested more than 16 deep"):
        run(text, function="f")


def test_sections_and_fusion_regions_run_their_body() -> None:
    body = """  %a = arith.constant 3 : i32
  pto.section.vector {
    pto.store_scalar %a, %out[%zero] : !pto.ptr<i32>, i32
  }
  %b = pto.fusion_region {
    %c = arith.addi %a, %a : i32
    pto.yield(%c) : (i32) -> ()
  } {pto.fusion.group = 1 : i64} : i32
  pto.store_scalar %b, %out[%one] : !pto.ptr<i32>, i32"""
    assert stored(body, size=2) == [3, 6]


ENDLESS = """  %yes = arith.constant true
  scf.while () : () -> () {
    scf.condition(%yes)
  } do {
    scf.yield
  }"""
LONG = """  %many = arith.constant 9000000000000000000 : index
  scf.for %i = %zero to %many step %one {
  }"""


@pytest.mark.parametrize("body", [ENDLESS, LONG])
def test_endless_loops_end_with_an_error(body: str) -> None:
    with pytest.raises(ProgramError, match="stopped after 1000 steps; if it is not endless") as caught:
        stored(body, max_steps=1000)
    assert str(caught.value.place) == "<text>:6:3"


def test_a_step_of_zero_is_refused() -> None:
    with pytest.raises(ProgramError, match="the loop's step is 0; it has to be positive"):
        stored("  scf.for %i = %zero to %one step %zero {\n  }")


def test_steps_are_counted() -> None:
    body = """  %c4 = arith.constant 4 : index
  scf.for %i = %zero to %c4 step %one {
    %x = arith.addi %i, %i : index
  }"""
    text = function(OUT, body)
    result = run(text, [np.zeros(1, np.int32)])
    assert result.steps == 4 + 4 * 2


@pytest.mark.parametrize(
    ("block", "expected"), [(None, [0, 1, 0, 1]), ("3/48", [3, 48, 0, 1]), ("3/48:1/2", [3, 48, 1, 2])]
)
def test_block_indices(block: str | None, expected: list[int]) -> None:
    lines = []
    for n, name in enumerate(("block_idx", "block_num", "subblock_idx", "subblock_num")):
        lines.append(f"  %c{n} = arith.constant {n} : index")
        lines.append(f"  %v{n} = pto.get_{name} : i64")
        lines.append(f"  %w{n} = arith.trunci %v{n} : i64 to i32")
        lines.append(f"  pto.store_scalar %w{n}, %out[%c{n}] : !pto.ptr<i32>, i32")
    assert stored("\n".join(lines), size=4, block=block) == expected


TWO = "func.func @a() {\n  return\n}\nfunc.func @b() {\n  return\n}\nfunc.func private @c()\n"


def test_one_function_has_to_be_meant() -> None:
    module = parse(TWO)
    assert choose_function(module, "@b").name == "b"
    with pytest.raises(ProgramError, match="say which function to run; the text has @a, @b, @c"):
        choose_function(module)
    with pytest.raises(ProgramError, match="there is no function @x; the text has @a, @b, @c"):
        run(module, function="x")
    with pytest.raises(ProgramError, match="function @c has no body"):
        run(module, function="c")
