"""Semaphores and events in program order, deadlocks, and the log lines of each build."""

from __future__ import annotations

import numpy as np
import pytest

from lanesort.errors import ArgumentTypeError, ArgumentValueError, DeadlockError, RuleViolations
from lanesort.neuron import Events, NeuronCore, UpdateMode, WaitMode

from .words import a_nonzero, a_sort


def a_core(on: str = "cayman", build: str | None = None) -> NeuronCore:
    return NeuronCore(on, engine="reference", build=build)


@pytest.mark.parametrize(
    ("mode", "value", "after"),
    [
        (UpdateMode.SEM_INC, 9, 6),
        (UpdateMode.SEM_DEC, 9, 4),
        (UpdateMode.SEM_ADD, 9, 14),
        (UpdateMode.SEM_SUB, 9, 2**32 - 4),
        (UpdateMode.SEM_WRITE, 9, 9),
    ],
)
@pytest.mark.parametrize("done", [0, 16])
def test_semaphores_are_updated(mode: UpdateMode, value: int, after: int, done: int) -> None:
    core = a_core()
    core.semaphores[3] = 5
    core.run([a_sort(events=Events(0, 0, mode + done, 3, value))])
    assert core.semaphores[3] == after


@pytest.mark.parametrize("done", [0, 16])
def test_events_are_set_and_cleared(done: int) -> None:
    core = a_core()
    core.run([a_sort(events=Events(0, 0, UpdateMode.EVENT_SET + done, 200))])
    assert core.events[200] == 1
    core.run([a_sort(events=Events(0, 0, UpdateMode.EVENT_CLEAR + done, 200))])
    assert core.events[200] == 0


@pytest.mark.parametrize(
    ("mode", "held", "starts"),
    [
        *[(WaitMode.SEM_EQ, v, v == 5) for v in (4, 5, 6)],
        *[(WaitMode.SEM_LT, v, v < 5) for v in (4, 5, 6)],
        *[(WaitMode.SEM_LE, v, v <= 5) for v in (4, 5, 6)],
        *[(WaitMode.SEM_GT, v, v > 5) for v in (4, 5, 6)],
        *[(WaitMode.SEM_GE, v, v >= 5) for v in (4, 5, 6)],
    ],
)
def test_waiting_for_a_semaphore(mode: WaitMode, held: int, starts: bool) -> None:
    core = a_core()
    core.semaphores[7] = held
    program = [a_nonzero(), a_sort(events=Events(mode, 7, 0, 0, 5))]
    if starts:
        assert len(core.run(program).instructions) == 2
        return
    with pytest.raises(DeadlockError, match=f"instruction 1 .* waits for semaphore 7 . 5, and it is {held}"):
        core.run(program)
    assert core.log[0].startswith("P0: NonzeroWithCount")


@pytest.mark.parametrize(
    ("mode", "wanted", "after"),
    [
        (WaitMode.EVENT_SET, 1, 1),
        (WaitMode.EVENT_SET_THEN_CLEAR, 1, 0),
        (WaitMode.EVENT_CLEAR, 0, 0),
        (WaitMode.EVENT_CLEAR_THEN_SET, 0, 1),
    ],
)
def test_waiting_for_an_event(mode: WaitMode, wanted: int, after: int) -> None:
    core = a_core()
    core.events[9] = wanted
    core.run([a_sort(events=Events(mode, 9))])
    assert core.events[9] == after
    core.events[9] = 1 - wanted
    with pytest.raises(DeadlockError, match="waits for event 9"):
        core.run([a_sort(events=Events(mode, 9))])
    assert core.events[9] == 1 - wanted


def test_one_instruction_signals_the_next() -> None:
    first = a_sort(events=Events(update_mode=UpdateMode.SEM_INC_DONE, update_idx=1))
    second = a_nonzero(events=Events(WaitMode.SEM_GE, 1, UpdateMode.EVENT_SET, 2, 1))
    core = a_core()
    core.run([first, second])
    assert (core.semaphores[1], core.events[2]) == (1, 1)
    with pytest.raises(DeadlockError, match="instruction 0"):
        a_core().run([second, first])


def test_banks_have_a_length_and_a_width() -> None:
    core = a_core()
    assert (len(core.registers), len(core.semaphores), len(core.events)) == (64, 256, 256)
    with pytest.raises(IndexError, match="register 64; there are 0 to 63"):
        core.registers[64] = 0
    with pytest.raises(ArgumentValueError, match="event 0 takes 0 to 1; got 2"):
        core.events[0] = 2
    with pytest.raises(ArgumentTypeError, match="not an integer"):
        core.semaphores[0] = "x"
    core.semaphores[4] = np.uint8(3)
    assert repr(core.semaphores) == "<256 semaphores, {4: 3}>"
    assert core.semaphores[3:6] == [0, 3, 0]


def test_log_lines_of_a_sort() -> None:
    word = a_sort(num_active_channels=20, comparison=0x13)
    lines = (
        "P0: DECODE_SORT : num_items = 16, num_active_channels = 20, is_ascending = 0",
        "P1: DECODE_SORT : num_items = 16, num_active_channels = 20, is_ascending = 0",
        "S: Sort",
    )
    assert a_core().run([word]).log == lines
    assert a_core(build="release").run([word]).log == ()
    assert a_core("sunda").run([word]).log == ()


def test_log_lines_of_a_nonzero() -> None:
    assert a_core().run([a_nonzero()]).log == (
        "P0: NonzeroWithCount : num_chans = 32",
        "P1: NonzeroWithCount : num_chans = 32",
        "S: NonzeroWithCount: num_elements=0",
        "S: NonzeroWithCount: num_elements=0",
    )


def test_log_line_of_a_type_that_sort_turns_away() -> None:
    core = a_core()
    with pytest.raises(RuleViolations):
        core.run([a_sort(in_dtype=11, out_dtype=11)])
    assert core.log[-1] == "P1: Error, unsupported data type for sort : 0xb"
