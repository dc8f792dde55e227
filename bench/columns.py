"""The column that the scaling benchmark sorts, as files, and the checks of what was made of it."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["check_order", "check_sorted", "check_top", "disk_bytes_per_second", "make", "npy", "parquet"]

Array = npt.NDArray[Any]
BLOCK = 1 << 24
NAME = "x"


def npy(folder: Path, n: int) -> Path:
    """Return where the column of n elements lies as .npy."""
    return folder / f"{n}.npy"


def parquet(folder: Path, n: int) -> Path:
    """Return where it lies as Parquet."""
    return folder / f"{n}.parquet"


def make(folder: Path, n: int) -> None:
    """Write n float32 of a standard normal distribution in both formats, uncompressed."""
    import pyarrow as pa  # noqa: PLC0415 - an optional extra
    import pyarrow.parquet as pq  # noqa: PLC0415

    if npy(folder, n).exists() and parquet(folder, n).exists():
        return
    rng = np.random.default_rng(n)
    column = np.lib.format.open_memmap(npy(folder, n), mode="w+", dtype=np.float32, shape=(n,))
    schema = pa.schema([pa.field(NAME, pa.float32(), nullable=False)])
    options = {"compression": "none", "use_dictionary": False}
    with pq.ParquetWriter(parquet(folder, n), schema, **options) as writer:
        for start in range(0, n, BLOCK):
            block = rng.standard_normal(min(BLOCK, n - start), np.float32)
            column[start : start + block.size] = block
            writer.write_table(pa.table([block], schema=schema), row_group_size=1 << 20)
    column.flush()


def disk_bytes_per_second(folder: Path) -> float:
    """Measure how fast a gibibyte is written and synced."""
    path = folder / "disk"
    block = np.random.default_rng(0).bytes(1 << 24)
    start = time.perf_counter()
    with path.open("wb") as file:
        for _ in range(64):
            file.write(block)
        os.fsync(file.fileno())
    seconds = time.perf_counter() - start
    path.unlink()
    return float(64 * len(block) / seconds)


def check_sorted(blocks: Iterator[Array]) -> dict[str, Any]:
    """Check that values ascend, and return their checksum."""
    last, count, ascending, digest = -np.inf, 0, True, hashlib.blake2b(digest_size=8)
    for block in blocks:
        values = np.ascontiguousarray(block, np.float32)
        if values.size:
            ascending &= bool(values[0] >= last and (values[1:] >= values[:-1]).all())
            last = values[-1]
        count += values.size
        digest.update((values + np.float32(0)).data)  # of either zero the same
    return {"sorted": ascending, "count": count, "values": digest.hexdigest()}


def check_order(path: Path, blocks: Iterator[Array]) -> dict[str, Any]:
    """Check that positions sort the column, each once and equal values in order."""
    x = np.load(path)
    seen = np.zeros(x.size, bool)
    stable, before = True, np.empty(0, np.int64)

    def values() -> Iterator[Array]:
        nonlocal stable, before
        for block in blocks:
            positions = block.astype(np.int64)
            seen[positions] = True
            joined = np.concatenate([before, positions])
            ordered = x[joined]
            stable &= bool((joined[1:] > joined[:-1])[ordered[1:] == ordered[:-1]].all())
            yield ordered[before.size :]
            before = positions[-1:]

    found = check_sorted(values())
    return {**found, "sorted": found["sorted"] and bool(seen.all()), "stable": stable}


def check_top(path: Path, values: Array, positions: Array | None) -> dict[str, Any]:
    """Check the largest values, best first, and their positions."""
    x = np.load(path, mmap_mode="r")
    found = np.asarray(values, np.float32)
    right = positions is None or np.array_equal(x[np.asarray(positions, np.int64)], found)
    checked = check_sorted(iter([found[::-1]]))
    return {**checked, "sorted": checked["sorted"] and bool(right)}
