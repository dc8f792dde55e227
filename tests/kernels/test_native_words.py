"""Merges of words of 8 bytes that begin with a value, on every SIMD target that runs here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

from lanesort import _core
from lanesort.engine.pairs import pair_words
from lanesort.engine.protocol import MergedRuns, Place
from lanesort.engine.reference import ReferenceEngine
from lanesort.kernels.native_order import bits_view
from lanesort.order import Order

from .guarded import Guarded, misaligned
from .test_native_merge import native_order, random_order, sorted_runs

Array = npt.NDArray[Any]
ORACLE = ReferenceEngine()
DTYPES = [*map(np.dtype, ["float32", "float16", "int32", "uint16"]), np.dtype(ml_dtypes.bfloat16)]
ORDER = Order(descending=True, nan="sign-magnitude", tie="run")
# Groups of up to 512 pairs are merged in lanes, the others block by block, those of more than 8192 in rounds.
SHAPES = [(4, 32), (4, 16), (1, 9), (3, 5), (5, 1), (2, 2), (7, 11), (16, 16), (2, 127), (3, 86), (4, 128)]
LONG = [(4, 129), (2, 6000)]


def words_of(
    rng: np.random.Generator, dtype: np.dtype[Any], groups: int, lengths: Sequence[int], order: Order = ORDER
) -> list[Array]:
    """One array for each run, a group in each row; what follows a value is random bits."""
    width = 8 // dtype.itemsize
    runs = []
    for length in lengths:
        rows = misaligned(rng.integers(0, 256, (groups, 8 * length), np.uint8), 2).view(dtype)
        values = sorted_runs(rng, dtype, [length] * groups, order, "u4", 2)
        rows[:, ::width] = np.array([v for v, _ in values]).reshape(groups, length)
        runs.append(rows)
    return runs


def merge(runs: Sequence[Array], out: Array, order: Order = ORDER, **options: Any) -> MergedRuns:
    key_order = native_order(runs[0].dtype, order)
    later = order.tie == "later-run"
    found = _core.merge_words([bits_view(r) for r in runs], key_order, bits_view(out), later, **options)
    consumed, unsorted, nan = found
    return MergedRuns(tuple(consumed), None if unsorted is None else Place(*unsorted), nan)


def check(
    runs: Sequence[Array], order: Order = ORDER, columns: int | None = None, **options: Any
) -> MergedRuns:
    """Merge to guarded rows and compare all with the reference."""
    groups, dtype = len(runs[0]), runs[0].dtype
    room = sum(run.shape[1] for run in runs) if columns is None else columns
    out = Guarded(groups, room, dtype, shift=3)
    expected = np.full((groups, room * dtype.itemsize), 0xA5, np.uint8).view(dtype)
    stop: Any = "first-exhausted" if options.get("first_exhausted") else "all"
    wanted = ORACLE.merge_runs(runs, order, out=expected, stop=stop, limit=options.get("limit"))
    assert merge(runs, out.array, order, **options) == wanted
    assert out.guards_hold()
    assert out.array.tobytes() == expected.tobytes()
    return wanted


@pytest.mark.parametrize(("ways", "length"), SHAPES + LONG)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_groups(target: str, dtype: np.dtype[Any], ways: int, length: int) -> None:
    rng = np.random.default_rng(ways * length)
    groups = 2 if length > 1000 else 9
    check(words_of(rng, dtype, groups, [length] * ways), threads=2)


@pytest.mark.parametrize("tie", ["run", "later-run"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_runs_of_any_lengths(target: str, dtype: np.dtype[Any], tie: Any) -> None:
    rng = np.random.default_rng(3)
    for lengths in (
        [5],
        [0, 0],
        [7, 0],
        [16, 16],
        [3, 40, 9],
        [33, 1, 64, 20],
        [300, 2, 500],
        [5000, 4000, 9],
    ):
        for groups in (1, 3):
            order = random_order(rng, tie)
            check(words_of(rng, dtype, groups, lengths, order), order)


@pytest.mark.parametrize("tie", ["run", "later-run"])
def test_ends_of_one_group(target: str, tie: Any) -> None:
    rng = np.random.default_rng(4)
    for dtype in DTYPES:
        for lengths in ([7, 0], [16, 16], [33, 1, 64, 20], [900, 5000]):
            order = random_order(rng, tie)
            runs, width = words_of(rng, dtype, 1, lengths, order), 8 // dtype.itemsize
            for limit in (None, 0, sum(lengths) // 2, sum(lengths) + 5):
                for columns in (0, width * (sum(lengths) // 3) + 1, width * (sum(lengths) + 2)):
                    for first_exhausted in (False, True):
                        check(runs, order, columns, limit=limit, first_exhausted=first_exhausted)


@pytest.mark.parametrize(("ways", "length"), [(4, 32), (3, 20), (4, 2048), (2, 5000)])
def test_rows_far_apart_and_tiles_of_blocks(target: str, ways: int, length: int) -> None:
    rng = np.random.default_rng(5)
    wide = words_of(rng, np.dtype(np.float32), 6, [length] * ways)
    check([run[::2] for run in wide])
    check([run[::-1] for run in wide])
    tile = np.concatenate([run[:, None] for run in wide], axis=1).reshape(1, -1)
    check(list(tile.reshape(-1, ways, 2 * length).swapaxes(0, 1)))
    backwards = [np.array(run[:1]) for run in wide[::-1]]  # later runs at lower addresses, or anywhere
    check(backwards)


def test_more_runs_than_places_tell_apart(target: str) -> None:
    rng = np.random.default_rng(8)
    short, long = words_of(rng, np.dtype(np.float32), 1, [3000, 5000])
    empty = np.empty((1, 0), np.float32)
    runs = [empty] * 70_000 + [short] + [empty] * 70_000 + [long]
    out, expected = (np.empty((1, 16_000), np.float32) for _ in range(2))
    assert sum(merge(runs, out).consumed) == 8000
    ORACLE.merge_runs([short, long], ORDER, out=expected)
    np.testing.assert_array_equal(pair_words(out), pair_words(expected))


@pytest.mark.parametrize(("ways", "length"), [(4, 32), (4, 2048), (2, 5000)])
def test_out_may_overlap_runs(target: str, ways: int, length: int) -> None:
    rng = np.random.default_rng(6)
    runs = words_of(rng, np.dtype(np.float32), 3, [length] * ways)
    tile = np.concatenate(runs, axis=1)
    expected = np.empty_like(tile)
    ORACLE.merge_runs(runs, ORDER, out=expected)
    inside = [tile[:, 2 * length * way : 2 * length * (way + 1)] for way in range(ways)]
    merge(inside, tile)
    np.testing.assert_array_equal(pair_words(tile), pair_words(expected))
    one = [run[:1].copy() for run in runs]
    ORACLE.merge_runs(one, ORDER, out=expected[:1, : 2 * length])
    merge(one, one[-1])
    np.testing.assert_array_equal(pair_words(one[-1]), pair_words(expected[:1, : 2 * length]))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("length", [1, 2, 7, 8, 9, 31, 33, 600, 3000])
def test_the_first_unsorted_value_is_named(target: str, dtype: np.dtype[Any], length: int) -> None:
    rng = np.random.default_rng(7)
    width = 8 // dtype.itemsize
    for tie in ("run", "later-run"):
        order = random_order(rng, tie)
        for group, run, at in ((0, 0, 1), (1, 2, length // 2), (1, 0, length - 1), (2, 1, length - 1)):
            runs = words_of(rng, dtype, 3, [length] * 3, order)
            if 0 < at < length:
                pairs = pair_words(runs[run])[group]
                pairs[[at - 1, at]] = pairs[[at, at - 1]]
            found = merge(runs, np.empty((3, 3 * length * width), dtype), order)
            oracle = ORACLE.merge_runs(runs, order, out=np.empty((3, 3 * length * width), dtype))
            assert found == oracle


def test_what_does_not_fit_is_refused() -> None:
    order = native_order(np.dtype(np.float32), ORDER)
    x = np.zeros((2, 8), np.float32)
    with pytest.raises(ValueError, match="runs is empty; a merge needs at least one"):
        _core.merge_words([], order, x)
    with pytest.raises(ValueError, match="runs has length 1 along axis 0; it must have 2"):
        _core.merge_words([x[:1]], order, x)
    with pytest.raises(ValueError, match="runs has items of 2 bytes; they must have 4"):
        _core.merge_words([x.astype(np.float16)], order, x)
    with pytest.raises(ValueError, match="runs has items 8 bytes apart along axis 1; they must be 4"):
        _core.merge_words([x[:, ::2]], order, x)
    with pytest.raises(ValueError, match="order is of values that do not have 16 or 32 bits"):
        _core.merge_words(
            [x.astype(np.float64)], native_order(np.dtype(np.float64), ORDER), x.astype(np.float64)
        )
    for options in ({"limit": 1}, {"first_exhausted": True}):
        with pytest.raises(ValueError, match="this is for one group"):
            _core.merge_words([x], order, x.copy(), **options)
    with pytest.raises(ValueError, match="out is too small for the runs"):
        _core.merge_words([x, x], order, x.copy())
