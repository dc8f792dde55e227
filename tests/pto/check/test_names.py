"""Operations that others have are no misspellings of ours."""

from __future__ import annotations

import pytest

from lanesort.pto.check.names import _OTHERS, misspelled
from lanesort.pto.operations import OPERATIONS
from lanesort.pto.text.parser import parse
from tests.pto.check.programs import ALLOC, FILL, USE, kernel


def _found(op: str) -> list[str]:
    program = kernel(ALLOC + FILL + USE.replace("tadds", op))
    return [finding.text for finding in misspelled(parse(program).functions[0])]


@pytest.mark.parametrize("op", sorted(_OTHERS.split()))
def test_an_operation_that_is_known_and_not_modelled_is_no_slip(op: str) -> None:
    assert op not in OPERATIONS
    assert _found(op) == []


@pytest.mark.parametrize("op", ["vadd", "vmax", "tmatmul.acc", "somethingelse"])
def test_operations_of_other_families_are_no_slips(op: str) -> None:
    assert _found(op) == []


@pytest.mark.parametrize(
    ("op", "meant"),
    [("tsort23", "tsort32"), ("tmrgsrt", "tmrgsort"), ("tload2", "tload"), ("tadss", "tadds")],
)
def test_a_slip_is_named(op: str, meant: str) -> None:
    (text,) = _found(op)
    assert f"pto.{op} is no operation that is known here; did you mean pto.{meant}?" in text
