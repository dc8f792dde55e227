"""The order of the pipes: who waits for whom, over loops, conditions and calls."""

from __future__ import annotations

import pytest

from lanesort.pto.check import Finding, check, fix
from lanesort.pto.text.parser import parse
from tests.pto.check.programs import ALLOC, BARRIER, FLAG, LOAD, LOAD_ARGUMENTS, SET, USE, VIEW, WAIT, kernel

STORE = "  pto.tstore ins(%t : T(1x64xf32)) outs(%row : !pto.partition_tensor_view<1x64xf32>)\n"
EVERYTHING = "  pto.barrier #pto.pipe<PIPE_ALL>\n"


def flag(source: str, target: str, event: int = 0) -> str:
    words = f'["PIPE_{source}", "PIPE_{target}", "EVENT_ID{event}"]'
    return f"  pto.set_flag{words}\n  pto.wait_flag{words}\n"


def loop(body: str, upper: str = "%n") -> str:
    return f"  scf.for %i = %c0 to {upper} step %c1 {{\n{body}  }}\n"


def found(body: str, target: str = "a5", *, manual: bool = True, more: str = "") -> list[Finding]:
    module = parse(kernel(VIEW + body, LOAD_ARGUMENTS + more))
    return list(check(module, target, manual=manual).findings)


def ids(body: str, target: str = "a5", *, manual: bool = True, more: str = "") -> list[str]:
    return [finding.id for finding in found(body, target, manual=manual, more=more)]


N = ", %n: index"


@pytest.mark.parametrize(
    ("body", "word"),
    [
        (LOAD + USE, "reads bytes 0 … 255"),
        (LOAD + FLAG + USE + STORE, "reads bytes 0 … 255"),
        (LOAD + FLAG + USE + LOAD, "overwrites bytes 0 … 255 of UB that are read by tadds"),
        (
            LOAD + flag("MTE2", "MTE3") + STORE + LOAD,
            "overwrites bytes 0 … 255 of UB that are read by tstore",
        ),
    ],
)
def test_each_kind_of_hazard(body: str, word: str) -> None:
    (finding,) = found(body)
    assert finding.id == "missing-flag"
    assert word in finding.text
    assert [line.text.split("[")[0] for line in finding.add] == ["pto.set_flag", "pto.wait_flag"]
    assert finding.other is not None


@pytest.mark.parametrize(
    "body",
    [
        LOAD + FLAG + USE + flag("V", "MTE3") + STORE,
        LOAD + EVERYTHING + USE + EVERYTHING + STORE,
        # MTE3 knows of the load through V.
        LOAD + FLAG + USE + flag("V", "MTE3") + STORE + flag("MTE3", "MTE2") + LOAD,
        # The scalar pipe issues the steps: what it waited for is known to all behind it.
        LOAD + flag("MTE2", "S") + USE,
    ],
)
def test_ordered_pipes_are_clean(body: str) -> None:
    assert ids(body) == []


def test_a_barrier_of_one_pipe_does_not_order_the_others() -> None:
    assert ids(LOAD + BARRIER + USE) == ["missing-flag"]


def test_without_synchronisation_there_is_one_note() -> None:
    report = check(parse(kernel(VIEW + LOAD + USE, LOAD_ARGUMENTS)), "all")
    assert report.findings == ()
    assert len([note for note in report.notes if "automatic synchronisation" in note]) == 1


def test_one_flag_switches_the_check_on() -> None:
    assert ids(FLAG + LOAD + USE, manual=False) == ["missing-flag"]


@pytest.mark.parametrize("upper", ["%n", "%c64"])
def test_the_next_iteration_has_to_wait(upper: str) -> None:
    (finding,) = found(loop(LOAD + FLAG + USE, upper), more=N)
    assert finding.id == "missing-flag"
    assert "next iteration" in finding.text
    assert [line.where.split()[0] for line in finding.add] == ["behind", "behind"]


def test_a_loop_with_both_flags_is_clean() -> None:
    assert ids(loop(LOAD + FLAG + USE + flag("V", "MTE2")), more=N) == []


def double_buffered(waits: bool) -> str:
    """Load into one half while the other is worked on, with a flag for each half."""

    def half(name: str, event: int) -> str:
        words = f'["PIPE_V", "PIPE_MTE2", "EVENT_ID{event}"]'
        wait = f"  pto.wait_flag{words}\n" if waits else ""
        load, use = LOAD.replace("%t ", f"%{name} "), USE.replace("%t", f"%{name}")
        return (
            f"{wait}{load}{flag('MTE2', 'V', event)}{use}  pto.set_flag{words}\n"
            if waits
            else (f"{load}{flag('MTE2', 'V', event)}{use}")
        )

    def every(verb: str) -> str:
        return (
            "".join(f'  pto.{verb}["PIPE_V", "PIPE_MTE2", "EVENT_ID{n}"]\n' for n in (0, 1)) if waits else ""
        )

    allocs = ALLOC.replace("%t", "%ping") + ALLOC.replace("%t", "%pong")
    body = loop(half("ping", 0) + half("pong", 1))
    return allocs + every("set_flag") + body + every("wait_flag") + LOAD


def test_double_buffering_is_seen() -> None:
    assert ids(double_buffered(True), more=N) == []
    assert ids(double_buffered(False), more=N) == ["missing-flag", "missing-flag"]


def test_flags_come_in_pairs() -> None:
    assert ids(LOAD + SET) == ["flag-never-waited"]
    assert ids(LOAD + WAIT) == ["flag-never-set"]
    assert ids(LOAD + SET + SET + WAIT) == ["flag-never-waited"]


def test_arms_of_a_condition_are_not_one_behind_the_other() -> None:
    arms = f"  scf.if %yes {{\n{LOAD}{SET}  }} else {{\n{LOAD}{SET}  }}\n{WAIT}{USE}"
    assert ids(arms, more=", %yes: i1") == []
    apart = f"  scf.if %yes {{\n{LOAD}  }} else {{\n{USE}  }}\n"
    assert "missing-flag" not in ids(apart, more=", %yes: i1")


def test_a_condition_is_waited_for_as_a_whole() -> None:
    body = f"{LOAD}  scf.if %yes {{\n{USE}  }} else {{\n  }}\n"
    (finding,) = found(body, more=", %yes: i1")
    assert [line.where for line in finding.add] == ["behind line 12", "before the scf.if of line 13"]


def test_a_barrier_between_sorts_is_for_a2a3() -> None:
    body = """
  %idx = pto.alloc_tile : T(1x64xi32)
  %pairs = pto.alloc_tile : T(1x128xf32)
  %again = pto.alloc_tile : T(1x128xf32)
  pto.tci ins(%first : i32) outs(%idx : T(1x64xi32)) {descending = false}
  pto.texpands ins(%zero : f32) outs(%t : T(1x64xf32))
  pto.tsort32 ins(%t, %idx : T(1x64xf32), T(1x64xi32)) outs(%pairs : T(1x128xf32))
BETWEEN  pto.tsort32 ins(%t, %idx : T(1x64xf32), T(1x64xi32)) outs(%INTO : T(1x128xf32))
"""
    dependent, apart = body.replace("INTO", "pairs"), body.replace("INTO", "again")
    assert "missing-barrier" in ids(dependent.replace("BETWEEN", ""), "a2a3")
    assert "missing-barrier" not in ids(dependent.replace("BETWEEN", BARRIER), "a2a3")
    assert "missing-barrier" not in ids(dependent.replace("BETWEEN", ""), "a5")
    assert "missing-barrier" not in ids(apart.replace("BETWEEN", ""), "a2a3")


def test_a_hazard_across_a_call_is_found_and_mended() -> None:
    text = kernel(VIEW + LOAD + "  func.call @work(%t) : (T(1x64xf32)) -> ()\n", LOAD_ARGUMENTS)
    text += kernel(USE, "%t: T(1x64xf32)").replace("@kernel", "@work")
    text = text.replace("T(1x64xf32)", "!pto.tile_buf<vec, 1x64xf32>")
    module = parse(text)
    (finding,) = check(module, "a5", manual=True).findings
    assert finding.id == "missing-flag"
    assert finding.function == "work"
    assert fix(module, "a5").left == ()


def test_mended_loops_are_clean() -> None:
    for body in (
        loop(LOAD + USE + STORE),
        loop(loop(LOAD + USE, "%n").replace("%i", "%j")),
        LOAD + WAIT + USE,
    ):
        fixed = fix(parse(kernel(VIEW + body, LOAD_ARGUMENTS + N)), "all")
        assert fixed.left == ()
        assert fixed.mended
