"""The example kernels on real scores, equal to the stable descending order."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

import numpy as np
import pytest

from lanesort import pto
from lanesort.engine.protocol import ENGINES as PLACES
from lanesort.pto.interpreter import run

ENGINES = [name for name, where in PLACES.items() if find_spec(where.partition(":")[0])]
Order = Callable[[np.ndarray], np.ndarray]


@pytest.mark.parametrize("engine", ENGINES)
def test_topk_8192_sorts_a_row_of_real_scores(example, scores, best: Order, engine: str) -> None:
    arguments = {"scores": scores, "out": np.zeros((1, 16384), np.float32), "row": 3}
    result = run(example("topk_8192_f32.pto"), arguments, engine=engine)
    values, indices = pto.pairs(result.outputs["out"])
    expected = best(scores[3])
    assert indices[0].tolist() == expected.tolist()
    assert values[0].tobytes() == scores[3][expected].tobytes()
    assert result.changed == ("out",)
    assert [event.name for event in result.trace] == ["tsort32", *["tmrgsort"] * 4]
    assert not result.warnings


@pytest.mark.parametrize("engine", ENGINES)
def test_topk_1000_of_1024_is_clipped(example, scores, best: Order, engine: str) -> None:
    row = scores[0, :1024]
    result = run(
        example("topk_1024_1000.pto"), [row, np.zeros(1000, "f4"), np.zeros(1000, "i4")], engine=engine
    )
    expected = best(row)[:1000]
    assert result.outputs["indices"].tolist() == expected.tolist()
    assert result.outputs["values"].tolist() == row[expected].tolist()


@pytest.mark.parametrize("engine", ENGINES)
def test_half_row_with_a_tail_block(example, scores, best: Order, engine: str) -> None:
    row = scores[5, :2000].astype(np.float16)
    result = run(
        example("topk_half_2000.pto"), [row, np.zeros(2000, "f2"), np.zeros(2000, "i4")], engine=engine
    )
    expected = best(row)
    assert result.outputs["indices"].tolist() == expected.tolist()
    assert result.outputs["values"].tobytes() == row[expected].tobytes()
    assert "pto.pad-bits" in result.unpinned


def _sorted_pairs(values: np.ndarray, first: int, best: Order) -> np.ndarray:
    order = best(values)
    return np.asarray(pto.tile(values[order], order + first))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("n0", "n1"), [(1000, 700), (64, 64), (1, 300), (0, 5), (5, 0)])
def test_merge_refills_by_executed_counts(
    example, scores, best: Order, n0: int, n1: int, engine: str
) -> None:
    first, second = scores[0, :n0], scores[1, :n1]
    lists = (_sorted_pairs(first, 0, best), _sorted_pairs(second, n0, best))
    arguments = {
        "list0": lists[0],
        "list1": lists[1],
        "out": np.zeros(2 * (n0 + n1), "f4"),
        "n0": n0,
        "n1": n1,
    }
    result = run(example("merge_exhausted.pto"), arguments, engine=engine)
    values, indices = pto.pairs(result.outputs["out"])
    together = np.concatenate([first, second])
    expected = best(together)
    assert indices[0].tolist() == expected.tolist()
    assert values[0].tolist() == together[expected].tolist()
    assert sum(map(sum, result.executed)) <= n0 + n1


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("length", [4096, 3001, 512, 40])
def test_indexer_masks_behind_the_length(example, scores, best: Order, length: int, engine: str) -> None:
    table = np.ascontiguousarray(scores[:, :4096])
    lengths = np.full(16, length, np.int32)
    arguments = [table, lengths, np.zeros((16, 512), "i4"), np.full((16, 512), 7, "f4")]
    result = run(example("indexer_topk.pto"), arguments, engine=engine, block=(3, 16))
    row = table[3].copy()
    row[length:] = -np.inf
    expected = best(row)[:512]
    assert result.outputs["positions"][3].tolist() == (expected + 3 * 4096).tolist()
    assert result.outputs["best"][3].tolist() == row[expected].tolist()
    assert (np.delete(result.outputs["best"], 3, axis=0) == 7).all()


@pytest.mark.parametrize("engine", ENGINES)
def test_expert_routing(example, scores, best: Order, engine: str) -> None:
    table = np.ascontiguousarray(scores[:, :256]) + np.float32(1)
    bias = scores[7, 1000:1256]
    arguments = [table, bias, np.zeros((16, 8), "i4"), np.zeros((16, 8), "f4"), 16]
    result = run(example("expert_routing.pto"), arguments, engine=engine)
    for row, experts, weights in zip(
        table, result.outputs["experts"], result.outputs["weights"], strict=True
    ):
        chosen = best(row + bias)[:8]
        assert experts.tolist() == chosen.tolist()
        np.testing.assert_allclose(weights, row[chosen] / row[chosen].sum(), rtol=1e-6)


@pytest.mark.parametrize("engine", ENGINES)
def test_low_level(example, scores, best: Order, engine: str) -> None:
    row = scores[2, :128]
    arguments = [row, np.arange(128, dtype=np.uint32), np.zeros(256, "f4"), np.zeros(4, "i2")]
    result = run(example("low_level.pto"), arguments, engine=engine)
    values, indices = pto.pairs(result.outputs["out"])
    assert indices[0].tolist() == best(row).tolist()
    assert values[0].tolist() == row[best(row)].tolist()
    counts = result.outputs["counts"].tolist()
    assert max(counts) == 32
    assert result.executed == (tuple(counts),)
    assert counts == _taken_until_one_ends(row, best)


def _taken_until_one_ends(row: np.ndarray, best: Order) -> list[int]:
    """Count by hand what each block gives until the first one is used up."""
    taken = [0, 0, 0, 0]
    for position in best(row):
        taken[position // 32] += 1
        if taken[position // 32] == 32:
            break
    return taken
