"""Random programs give the same bits on every engine, and those that are stored."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from fuzz.programs import __main__ as programs
from fuzz.programs import compare as comparison
from fuzz.programs.compare import compare, instructions
from fuzz.programs.draws import Draws
from fuzz.programs.neuron_programs import NeuronProgram

from lanesort.engine.native import NativeEngine

FEW = 3


def test_the_first_programs_give_what_is_stored() -> None:
    assert programs.differences(range(FEW)) == []


def test_blocks_are_stored_without_gaps() -> None:
    blocks = list(programs.stored())
    assert blocks == list(range(len(blocks)))
    assert len(blocks) >= 100


@pytest.mark.nightly
def test_all_stored_programs_give_what_is_stored() -> None:
    assert programs.differences(programs.stored(), processes=os.cpu_count() or 1) == []


def test_draws_are_the_same_for_ever() -> None:
    draws = Draws("data 7")
    assert [draws.below(1000), draws.choice("abc"), draws.number()] == [934, "a", 1546722266]
    assert draws.words(3).tolist() == [3, 2, 2]


def _compare_all(numbers: range) -> None:
    for number in numbers:
        compare(number)


def test_an_engine_that_differs_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    number = next(8 * n for n in range(100) if isinstance(instructions(n), NeuronProgram))
    order_pairs = NativeEngine.order_pairs

    def reversed_pairs(self, *args, **kwargs):
        pairs = order_pairs(self, *args, **kwargs)
        return pairs._replace(values=pairs.values[:, ::-1], payload=pairs.payload[:, ::-1])

    monkeypatch.setattr(NativeEngine, "order_pairs", reversed_pairs)
    with pytest.raises(AssertionError, match=r"program \d+: reference differs from native"):
        _compare_all(range(number, number + 64))


def test_a_changed_signature_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    known = programs.stored()
    results, messages = known[0]
    monkeypatch.setattr(programs, "block_signature", lambda block: known[1])
    (line,) = programs.differences([0])
    assert line.startswith("programs 0 to 999: results are ")
    assert results in line
    monkeypatch.setattr(programs, "block_signature", lambda block: comparison.Signature(results, "?"))
    assert programs.differences([0]) == [f"programs 0 to 999: messages alone are ?, stored {messages}"]


def test_writing_goes_on_where_it_was(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ran = []
    monkeypatch.setattr(programs, "STORED", tmp_path / "signatures.txt")
    monkeypatch.setattr(
        programs, "block_signature", lambda block: ran.append(block) or comparison.Signature(f"r{block}", "m")
    )
    programs.write(range(2), processes=1)
    programs.write(range(4), processes=1)
    assert ran == [0, 1, 2, 3]
    assert programs.stored() == {block: (f"r{block}", "m") for block in range(4)}
    assert programs.differences(range(5)) == ["programs 4000 to 4999: no signature is stored"]
