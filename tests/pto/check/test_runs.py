"""How far sorted runs reach is followed through sorts, merges, windows, loops and conditions."""

from __future__ import annotations

import pytest

from lanesort.errors import ArgumentValueError
from lanesort.pto.check import check
from lanesort.pto.interpreter import run
from lanesort.pto.text.parser import parse
from tests.pto.check.programs import kernel

SORTED = """
  %len64 = arith.constant 64 : i32
  %len256 = arith.constant 256 : i32
  %c512 = arith.constant 512 : index
  %ping = pto.alloc_tile : T(1x1024xf32)
  %pong = pto.alloc_tile : T(1x1024xf32)
  pto.tsort32 ins(%src, %idx : T(1x512xf32), T(1x512xi32)) outs(%ping : T(1x1024xf32))
"""
ARGUMENTS = "%src: T(1x512xf32), %idx: T(1x512xi32), %n: index"
HALVES = """
  %a = pto.subview {tile}[%c0, %c0] sizes [1, 512] : T(1x1024xf32) -> T(1x512xf32)
  %b = pto.subview {tile}[%c0, %c512] sizes [1, 512] : T(1x1024xf32) -> T(1x512xf32)
  %tmp = pto.alloc_tile : T(1x1024xf32)
  %all = pto.alloc_tile : T(1x1024xf32)
  pto.tmrgsort ins(%a, %b, %tmp {{exhausted = false}} : T(1x512xf32), T(1x512xf32), T(1x1024xf32))
      outs(%all, %counts : T(1x1024xf32), vector<4xi16>)
"""


def merge(source: str, length: str, target: str) -> str:
    return f"  pto.tmrgsort ins({source}, {length} : T(1x1024xf32), i32) outs({target} : T(1x1024xf32))\n"


ROUND = merge("%ping", "%len64", "%pong")
COPY = "  pto.tmov ins(%ping : T(1x1024xf32)) outs(%pong : T(1x1024xf32))\n"


def found(body: str) -> list[str]:
    report = check(parse(kernel(SORTED + body, ARGUMENTS)))
    return [finding.text for finding in report.findings if finding.id == "unsorted-run"]


def test_lists_have_to_be_runs() -> None:
    assert found(HALVES.format(tile="%ping")) == [
        "tmrgsort takes 256 pairs after one another in %ping to be sorted; line 13 left runs of 32"
    ]
    second = ROUND + merge("%pong", "%len256", "%ping")
    assert found(second + HALVES.format(tile="%ping")) == []


def test_runs_of_two_writers_are_not_one() -> None:
    body = ROUND + HALVES.format(tile="%pong")
    assert found(body) == [
        "tmrgsort takes 256 pairs after one another in %pong to be sorted; line 14 left runs of 128"
    ]


def test_shorter_blocks_than_the_runs_are_no_fault() -> None:
    assert found(ROUND + merge("%pong", "%len64", "%ping")) == []


def test_what_something_else_wrote_is_not_judged() -> None:
    assert found(COPY + merge("%pong", "%len256", "%ping")) == []


def test_a_loop_of_unknown_length_leaves_nothing_known() -> None:
    loop = f"  scf.for %i = %c0 to %n step %c1 {{\n{ROUND}{merge('%pong', '%len64', '%ping')}  }}\n"
    assert found(loop + merge("%ping", "%len256", "%pong")) == []


def test_an_arm_that_may_not_be_taken_leaves_nothing_known() -> None:
    arms = f"""
  %less = arith.cmpi slt, %n, %c1 : index
  scf.if %less {{
{ROUND}  }} else {{
{ROUND}{merge("%pong", "%len256", "%ping")}  }}
"""
    assert found(arms + merge("%pong", "%len256", "%ping")) == []
    inside = arms.replace(ROUND, ROUND + HALVES.format(tile="%pong"), 1)
    assert len(found(inside)) == 1


def test_a_constant_block_length_that_breaks_a_rule_is_a_finding_among_others() -> None:
    text = kernel(SORTED + merge("%ping", "%len48", "%pong"), ARGUMENTS)
    text = text.replace("%len64 = arith.constant 64", "%len48 = arith.constant 48")
    report = check(parse(text))
    assert "block_len is 48; blocks are 64, 128, …" in report.errors[0].text
    assert len(report.findings) > 1


@pytest.mark.parametrize("use", [check, run])
def test_an_unknown_target_of_a_program_is_refused_by_name(use: object) -> None:
    module = parse('module attributes {pto.target_arch = "a9"} { func.func @f() { return } }', "k.pto")
    with pytest.raises(ArgumentValueError, match=r"k\.pto: pto\.target_arch is 'a9'; known are 'a2a3', 'a5'"):
        use(module)
    assert check(module, "a5").clean
