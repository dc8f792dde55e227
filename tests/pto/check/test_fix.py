"""A mended program checks clean, orders its pipes by hand, and computes the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lanesort import pto
from lanesort.pto.check import check, fix
from lanesort.pto.interpreter import run
from lanesort.pto.text.parser import parse
from lanesort.pto.text.printer import print_module
from tests.pto.check.programs import PROGRAMS

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = sorted((ROOT / "examples" / "pto").glob("*.pto"))


def _pairs(count: int, seed: int) -> np.ndarray:
    values = np.sort(np.random.default_rng(seed).normal(size=count).astype("f4"))[::-1]
    return np.asarray(pto.tile(values, np.arange(count)))


def _arguments(name: str) -> tuple[Any, ...]:
    draw = np.random.default_rng(7)
    scores = draw.normal(size=(16, 8192)).astype("f4")
    return {
        "expert_routing": (
            scores[:, :256].copy(),
            scores[0, :256],
            np.zeros((16, 8), "i4"),
            scores[:, :8].copy(),
            16,
        ),
        "indexer_topk": (
            scores[:, :4096].copy(),
            np.full(16, 3001, "i4"),
            np.zeros((16, 512), "i4"),
            np.zeros((16, 512), "f4"),
        ),
        "low_level": (scores[0, :128], np.arange(128, dtype="u4"), np.zeros(256, "f4"), np.zeros(4, "i2")),
        "merge_exhausted": (_pairs(300, 1), _pairs(170, 2), np.zeros(940, "f4"), 300, 170),
        "topk_1024_1000": (scores[0, :1024], np.zeros(1000, "f4"), np.zeros(1000, "i4")),
        "topk_8192_f32": (scores, np.zeros((1, 16384), "f4"), 3),
        "topk_half_2000": (scores[0, :2000].astype("f2"), np.zeros(2000, "f2"), np.zeros(2000, "i4")),
    }[name]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_are_clean_as_they_are(path: Path) -> None:
    report = check(parse(path.read_text(encoding="utf-8")), "all")
    assert report.findings == ()


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_mended_are_clean_and_compute_the_same(path: Path) -> None:
    module = parse(path.read_text(encoding="utf-8"))
    fixed = fix(module, "all")
    mended = parse(print_module(fixed.module))
    assert fixed.left == ()
    assert check(mended, "all", manual=True).clean
    arguments = _arguments(path.stem)
    before, after = (run(one, arguments, engine="reference") for one in (module, mended))
    assert before.changed == after.changed
    for name in before.changed:
        assert before.outputs[name].tobytes() == after.outputs[name].tobytes()


def test_a_program_in_order_is_left_alone() -> None:
    text = next(path for path in EXAMPLES if path.stem == "low_level").read_text(encoding="utf-8")
    module = parse(text)
    fixed = fix(module, "all")
    assert fixed.mended == ()
    assert fixed.module == module


@pytest.mark.parametrize("id", ["tmp-too-small", "tmp-narrower-than-dst", "tail-dropped"])
def test_mended_tmp_lets_the_program_run(id: str) -> None:
    pair = PROGRAMS[id]
    wanted, mended = parse(pair.sound), parse(print_module(fix(parse(pair.faulty), pair.target).module))
    first, second = wanted.functions[0].types[:2]
    assert first == mended.functions[0].types[0]
    source = np.sort(np.random.default_rng(3).normal(size=(1, 64)).astype("f4"))[:, ::-1]
    if id == "tail-dropped":
        arguments: list[Any] = [source[:, :13], np.arange(32, dtype="i4")[None]]
    else:
        arguments = [_pairs(32, 1), _pairs(32, 2)]
    assert second is not None
    results = [run(module, arguments, engine="reference", trace=True) for module in (wanted, mended)]
    counts = [[event.detail.get("produced_columns") for event in one.trace] for one in results]
    assert [n for n in counts[0] if n] == [n for n in counts[1] if n]


def test_a_tmp_with_an_address_moves_behind_the_others() -> None:
    text = PROGRAMS["tmp-too-small"].faulty.replace(
        "%tmp = pto.alloc_tile", "%at = arith.constant 1024 : i64\n  %tmp = pto.alloc_tile addr = %at"
    )
    fixed = fix(parse(text), "a2a3")
    assert fixed.left == ()
    (tmp,) = [one for one in check(fixed.module, "a2a3").maps[0].lanes if one.name == "%tmp"]
    assert tmp.stop - tmp.start >= 512
