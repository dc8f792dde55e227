"""The fuzz target itself, on the examples and on broken forms of them."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.pto.check.programs import PROGRAMS

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "examples" / "pto"


def _target() -> Callable[[bytes], None]:
    path = ROOT / "fuzz" / "target_pto_check.py"
    spec = importlib.util.spec_from_file_location("target_pto_check", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    check: Callable[[bytes], None] = module.fuzz_check
    return check


fuzz_check = _target()


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.glob("*.pto")))
def test_examples_pass(name: str) -> None:
    fuzz_check((EXAMPLES / name).read_bytes())


@pytest.mark.parametrize("text", [b"", b"\xff", b"module {}", b"func.func @f() { return }"])
def test_next_to_nothing(text: bytes) -> None:
    fuzz_check(text)


TEXTS = [pair.faulty.encode() for pair in PROGRAMS.values()]
TEXTS += [(EXAMPLES / name).read_bytes() for name in ("low_level.pto", "merge_exhausted.pto")]
PIECES = [b"%c0", b"%zero", b"%dst", b"%tmp", b"0", b"-1", b"999999999999", b"?", b"vec", b"3", b"true"]


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_mutations_never_crash(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(TEXTS))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        length = data.draw(st.integers(0, 6))
        piece = data.draw(st.sampled_from(PIECES) | st.binary(max_size=3))
        text = text[:at] + piece + text[at + length :]
    fuzz_check(text)


NUMBERS = st.sampled_from([-(2**63), -1, 0, 1, 3, 13, 32, 255, 4095, 65535, 2**31, 2**40, 2**63 - 1])


@given(st.sampled_from(TEXTS), st.lists(NUMBERS, min_size=3, max_size=3))
@settings(max_examples=60, deadline=None)
def test_any_constants(text: bytes, numbers: list[int]) -> None:
    lines = text.decode().split("\n")
    constants = [n for n, line in enumerate(lines) if " : index" in line and "arith.constant" in line]
    constants += [n for n, line in enumerate(lines) if " : i64" in line and "arith.constant" in line]
    for at, number in zip(constants, numbers * 9, strict=False):
        head, _, tail = lines[at].partition("arith.constant ")
        lines[at] = f"{head}arith.constant {number} : {tail.rpartition(' : ')[2]}"
    fuzz_check("\n".join(lines).encode())
