"""The fuzz target itself, on the examples and on broken forms of them."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.pto.interpreter.conftest import EXAMPLES, ROOT

NAMES = sorted(path.name for path in EXAMPLES.glob("*.pto"))


def _target() -> Callable[[bytes], None]:
    path = ROOT / "fuzz" / "target_pto_run.py"
    spec = importlib.util.spec_from_file_location("target_pto_run", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    run: Callable[[bytes], None] = module.fuzz_run
    return run


fuzz_run = _target()


@pytest.mark.parametrize("name", NAMES)
def test_examples_pass(name: str) -> None:
    fuzz_run((EXAMPLES / name).read_bytes())


SMALL = (EXAMPLES / "low_level.pto").read_bytes()
PIECES = [b"%c0", b"0 : index", b"f32", b"ub", b"gm", b"i64", b"-1", b"9999999999", b"}", b"vec", b"32", b'"']


@given(st.data())
@settings(max_examples=30, deadline=None)
def test_mutations_end_in_a_clear_error_or_run(data: st.DataObject) -> None:
    text = SMALL
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        length = data.draw(st.integers(0, 6))
        piece = data.draw(st.sampled_from(PIECES) | st.binary(max_size=3))
        text = text[:at] + piece + text[at + length :]
    fuzz_run(text)


NUMBERS = st.sampled_from([-(2**63), -1, 0, 1, 3, 31, 64, 255, 4095, 65535, 2**31, 2**40, 2**63 - 1])


@given(st.lists(NUMBERS, min_size=4, max_size=4))
@settings(max_examples=30, deadline=None)
def test_any_constants(numbers: list[int]) -> None:
    text = SMALL.decode()
    for old, new in zip(("512 : i64", "1024 : i64", "3841 : i64", "64 : index"), numbers, strict=True):
        text = text.replace(f"constant {old}", f"constant {new} : {old.split()[-1]}")
    fuzz_run(text.encode())
