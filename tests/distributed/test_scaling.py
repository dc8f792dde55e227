"""The formulas of docs/scaling.md against real graphs: tasks, and bytes that are exchanged."""

from __future__ import annotations

import re
from itertools import pairwise
from math import isqrt
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest
from dask.order import order

import lanesort as ls
from lanesort.distributed import chunk as tasks
from lanesort.distributed import exchange
from lanesort.distributed.split import digit_widths

PAGE = Path(__file__).parents[2] / "docs" / "scaling.md"
CHUNK = 1 << 24


def _sums(c: int) -> int:
    total = 0
    while c > 1:
        c = -(-c // 8)
        total += c
    return total


def _tasks(c: int, rounds: int, digits: int) -> int:
    both = 6 * c + digits * (c + _sums(c)) + digits + 2
    if rounds == 1:
        return both + c * c + c + 2
    m = isqrt(c - 1) + 1
    g = -(-c // m)
    return both + 2 * c * m + m * g * g + c + 2 * m * g + 2 * (2 * g + m) + 2 * m * g


def _graph_size(c: int) -> int:
    x = da.zeros(c * CHUNK, chunks=CHUNK, dtype=np.float32)
    return len(dict(ls.dask.argsort(x).dask)) - c


@pytest.mark.parametrize("c", [2, 8, 9, 64, 66, 128, 129, 150, 300])
def test_tasks_are_as_many_as_the_formula_says(c: int) -> None:
    digits = len(digit_widths(32, c - 1, CHUNK))
    assert digits == (2 if c <= 65 else 3)
    assert _graph_size(c) == _tasks(c, exchange.rounds_of(c, c), digits)


def test_a_thousand_chunks_are_what_the_page_says() -> None:
    assert len(digit_widths(32, 4096, CHUNK)) == 3
    assert len(digit_widths(32, 4097, CHUNK)) == 4
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    found = re.search(r"They take ([\d,]+) tasks in place of ([\d,]+) at once", text)
    assert found is not None
    stated = [int(number.replace(",", "")) for number in found.groups()]
    assert stated == [_graph_size(1000), _tasks(1000, 1, 3)]


@pytest.mark.parametrize("rounds", [1, 3])
def test_a_round_exchanges_every_pair_once(rounds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[int] = []
    cut = tasks.piece

    def watched(*arguments: Any) -> Any:
        part = cut(*arguments)
        sent.append(part.values.nbytes + part.indices.nbytes)
        return part

    monkeypatch.setattr(tasks, "piece", watched)
    monkeypatch.setattr(exchange, "AT_ONCE", 1 << 14 if rounds == 1 else 1)
    x = np.random.default_rng(1).integers(0, 50, 4_000).astype(np.float32)
    found = ls.dask.argsort(da.from_array(x, chunks=200)).compute(scheduler="synchronous")
    assert np.array_equal(found, ls.argsort(x))
    assert sum(sent) == rounds * x.size * (4 + 4)


@pytest.mark.parametrize("pattern", ["random", "sorted", "equal", "periodic"])
def test_no_task_holds_much_more_than_a_chunk(pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    held: list[int] = []
    merge = tasks.merged

    def watched(pieces: Any, *rest: Any) -> Any:
        held.append(sum(p.values.size for p in pieces))
        return merge(pieces, *rest)

    monkeypatch.setattr(tasks, "merged", watched)
    monkeypatch.setattr(exchange, "AT_ONCE", 1)
    x = np.random.default_rng(1).standard_normal(6_000).astype(np.float32)
    if pattern == "sorted":
        x.sort()
    elif pattern == "equal":
        x[:] = 1
    elif pattern == "periodic":
        x = np.sort(x).reshape(6, 5, 200).transpose(1, 0, 2).reshape(-1).copy()
    found = ls.dask.argsort(da.from_array(x, chunks=200)).compute(scheduler="synchronous")
    assert np.array_equal(found, ls.argsort(x))
    assert max(held) <= 200 + 6


def test_every_chunk_is_read_once_to_be_cut() -> None:
    x = da.zeros(24 * 1000, chunks=1000, dtype=np.float32)
    (lazy,) = dask.optimize(ls.dask.argsort(x))
    place = order(dict(lazy.dask))
    in_order = sorted(place, key=place.__getitem__)
    cut = [key[1] for key in in_order if isinstance(key, tuple) and key[0].startswith("lanesort-exchange-")]
    assert len(cut) == 24 * 24
    assert sum(a != b for a, b in pairwise(cut)) == 23
