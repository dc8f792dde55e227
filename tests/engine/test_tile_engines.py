"""All engines agree on random tile instructions: NaN goes by its bits there, so with NaN as well."""

from __future__ import annotations

import numpy as np
import pytest

from lanesort import pto
from lanesort.engine.datapath import DatapathEngine

ENGINES = ("datapath", "native")


def scores(rng, shape, dtype):
    """Few different values, random bits, or specials of both signs."""
    bits = np.dtype(f"u{np.dtype(dtype).itemsize}")
    kind = rng.integers(3)
    if kind == 0:
        return rng.integers(-3, 4, shape).astype(dtype)
    if kind == 1:
        return rng.integers(0, 1 << 8 * bits.itemsize, shape, np.uint64).astype(bits).view(dtype)
    return rng.choice(np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 1.0], dtype), shape)


def sort_program(rng):
    """A TSORT32 of random shape; returns a function of the engine."""
    dtype = rng.choice([np.float32, np.float16])
    rows, columns = rng.integers(1, 4), rng.integers(1, 200)
    values = scores(rng, (rows, columns), dtype)
    indices = rng.integers(0, 50, (rng.choice([1, rows]), columns)).astype(np.uint32)
    target = rng.choice(["a2a3", "a5"])
    choices = {
        "pto.tie-order": str(rng.choice(["positional", "index-value"])),
        "pto.nan-order": "sign-magnitude",
        "pto.pad-bits": str(rng.choice(["negative-nan", "-inf", "lowest"])),
    }
    return lambda engine: pto.tsort32(values, indices, target=str(target), engine=engine, choices=choices)


def merge_program(rng):
    """A TMRGSORT of two to four sorted lists, perhaps suspended, perhaps cut."""
    dtype = rng.choice([np.float32, np.float16])
    lists = []
    for number in range(rng.integers(2, 5)):
        length = rng.integers(1, 70)
        values = scores(rng, (1, length), dtype)
        keys = np.argsort(-pto_rank(values[0]), kind="stable")
        lists.append(pto.tile(values[0][keys], 100 * number + np.arange(length), dtype))
    exhausted = bool(rng.integers(2))
    choices = {"pto.merge-tie": str(rng.choice(["lower-first", "later-when-exhausted"]))}
    return lambda engine: pto.tmrgsort_lists(lists, exhausted=exhausted, engine=engine, choices=choices)


def pto_rank(values):
    """Place of each value in the order of sign and magnitude, zeros equal, NaNs of a sign equal."""
    with np.errstate(invalid="ignore"):
        wide = values.astype(np.float64)
    finite = np.nan_to_num(wide, nan=0.0, posinf=1e300, neginf=-1e300)
    return np.where(np.isnan(values), np.where(np.signbit(values), -np.inf, np.inf), finite)


def bits(result):
    tile, executed = result if isinstance(result, tuple) else (result, None)
    return np.asarray(tile).tobytes(), executed, tile.unpinned


def agree(seed, programs, make, engine):
    print(f"seed {seed}")
    rng = np.random.default_rng(seed)
    for _ in range(programs):
        program = make(rng)
        assert bits(program(engine)) == bits(program("reference"))


@pytest.mark.parametrize("make", [sort_program, merge_program])
@pytest.mark.parametrize("engine", ENGINES)
def test_engines_agree(make, engine):
    agree(20261130, 60, make, engine)


@pytest.mark.parametrize("family", ["odd-even-merge", "merge-exchange"])
def test_the_network_does_not_matter_where_nan_goes_by_its_bits(family):
    agree(7, 30, sort_program, DatapathEngine(family))


@pytest.mark.nightly
@pytest.mark.parametrize("make", [sort_program, merge_program])
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("seed", range(10))
def test_engines_agree_on_ten_thousand_programs(make, engine, seed):
    agree(seed, 1000, make, engine)
