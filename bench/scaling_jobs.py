"""The jobs of the scaling benchmark, each a process of its own: ``python -m bench.scaling_jobs``.

A job is a generator: what comes before its first ``yield`` is prepared outside the clock, what
comes before the second is timed, and what it yields then is the check's result, made outside the
clock again.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from bench.columns import BLOCK, check_order, check_sorted, check_top, npy, parquet

__all__ = ["JOBS", "Task"]

K = 100
WORKERS = 2
CHUNKS = 16


@dataclass(frozen=True)
class Task:
    """What a job is given."""

    folder: Path
    n: int
    memory_bytes: int

    @property
    def npy(self) -> Path:
        return npy(self.folder, self.n)

    @property
    def parquet(self) -> Path:
        return parquet(self.folder, self.n)


def _blocks(array: Any) -> Iterator[Any]:
    for start in range(0, len(array), BLOCK):
        yield np.asarray(array[start : start + BLOCK])


def lanesort_argsort(t: Task) -> Iterator[Any]:
    ls = import_module("lanesort")
    x, argsort = np.load(t.npy), ls.argsort
    yield
    order = argsort(x)
    yield
    yield check_order(t.npy, _blocks(order))


def lanesort_top(t: Task) -> Iterator[Any]:
    ls = import_module("lanesort")
    x, top_k = np.load(t.npy), ls.top_k
    yield
    best = top_k(x, K)
    yield
    yield check_top(t.npy, best.values, best.indices)


@contextmanager
def _dask(t: Task) -> Iterator[Any]:
    """Give the column in the memory of a cluster's workers."""
    da = import_module("dask.array")
    distributed = import_module("distributed")
    chunk = -(-t.n // CHUNKS)
    sizes = tuple(min(chunk, t.n - start) for start in range(0, t.n, chunk))
    with (
        distributed.LocalCluster(
            n_workers=WORKERS, threads_per_worker=1, dashboard_address=None, local_directory=str(t.folder)
        ) as cluster,
        distributed.Client(cluster),
    ):
        x = da.map_blocks(_read_block, str(t.npy), dtype=np.float32, chunks=(sizes,), meta=np.empty(0, "f4"))
        x = x.persist()
        distributed.wait(x)
        yield x


def _read_block(path: str, block_info: Any = None) -> Any:
    ((start, stop),) = block_info[None]["array-location"]
    return np.array(np.load(path, mmap_mode="r")[start:stop])


def _in_cluster(t: Task, call: Callable[[Any], Any], check: Callable[[Any], Any]) -> Iterator[Any]:
    distributed = import_module("distributed")
    with _dask(t) as x:
        small = x[: 10 * K].rechunk(2 * K)
        distributed.wait([r.persist() for r in call(small)])  # workers import what they need
        yield
        results = [r.persist() for r in call(x)]
        distributed.wait(results)
        yield
        yield check(results)


def _chunks(order: Any) -> Iterator[Any]:
    return (order.blocks[i].compute() for i in range(order.numblocks[0]))


def lanesort_dask_argsort(t: Task) -> Iterator[Any]:
    ls = import_module("lanesort")
    return _in_cluster(t, lambda x: [ls.dask.argsort(x)], lambda r: check_order(t.npy, _chunks(r[0])))


def dask_one_chunk(t: Task) -> Iterator[Any]:
    def call(x: Any) -> Any:
        return [x.rechunk(-1).map_blocks(np.argsort, kind="stable", dtype=np.int64)]

    return _in_cluster(t, call, lambda r: check_order(t.npy, _chunks(r[0])))


def lanesort_dask_top(t: Task) -> Iterator[Any]:
    ls = import_module("lanesort")
    return _in_cluster(
        t, lambda x: ls.dask.top_k(x, K), lambda r: check_top(t.npy, r[0].compute(), r[1].compute())
    )


def dask_topk(t: Task) -> Iterator[Any]:
    da = import_module("dask.array")
    return _in_cluster(t, lambda x: [da.topk(x, K)], lambda r: check_top(t.npy, r[0].compute(), None))


def dask_argtopk(t: Task) -> Iterator[Any]:
    da = import_module("dask.array")

    def check(results: Any) -> Any:
        positions = results[0].compute()
        return check_top(t.npy, np.load(t.npy, mmap_mode="r")[positions], positions)

    return _in_cluster(t, lambda x: [da.argtopk(x, K)], check)


def polars_argsort(t: Task) -> Iterator[Any]:
    pl = import_module("polars")
    column = pl.Series("x", np.load(t.npy))
    yield
    order = column.arg_sort()
    yield
    yield check_order(t.npy, _blocks(order.to_numpy()))


def polars_top(t: Task) -> Iterator[Any]:
    pl = import_module("polars")
    frame = pl.DataFrame({"x": np.load(t.npy)})
    yield
    best = frame.with_row_index().top_k(K, by="x").sort("x", descending=True)
    yield
    yield check_top(t.npy, best["x"].to_numpy(), best["index"].to_numpy())


def _duckdb_table(t: Task) -> Any:
    duckdb = import_module("duckdb")
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t AS SELECT x FROM read_parquet(?)", [str(t.parquet)])
    return connection


def duckdb_argsort(t: Task) -> Iterator[Any]:
    connection = _duckdb_table(t)
    yield
    connection.execute("CREATE TABLE r AS SELECT rowid AS i FROM t ORDER BY x, rowid")
    yield
    yield check_order(t.npy, _blocks(connection.execute("SELECT i FROM r").fetchnumpy()["i"]))


def duckdb_top(t: Task) -> Iterator[Any]:
    connection = _duckdb_table(t)
    yield
    best = connection.execute(f"SELECT x, rowid AS i FROM t ORDER BY x DESC, rowid LIMIT {K}").fetchnumpy()
    yield
    yield check_top(t.npy, best["x"], best["i"])


def external_sort(t: Task) -> Iterator[Any]:
    ls = import_module("lanesort")
    target = t.folder / "sorted.npy"
    sort = ls.external.sort
    yield
    sort(t.npy, target, memory_bytes=t.memory_bytes)
    yield
    yield check_sorted(_blocks(np.load(target, mmap_mode="r")))


def external_argsort(t: Task) -> Iterator[Any]:
    ls = import_module("lanesort")
    target = t.folder / "order.npy"
    argsort = ls.external.argsort
    yield
    argsort(t.npy, target, memory_bytes=t.memory_bytes)
    yield
    yield check_order(t.npy, _blocks(np.load(target, mmap_mode="r")))


def _columns(path: Path) -> Iterator[Any]:
    pq = import_module("pyarrow.parquet")
    for batch in pq.ParquetFile(path).iter_batches(BLOCK):
        yield batch.column(0).to_numpy()


def _duckdb_copy(t: Task, query: str, check: Callable[[Iterator[Any]], Any]) -> Iterator[Any]:
    duckdb = import_module("duckdb")
    target = t.folder / "duckdb-out.parquet"
    connection = duckdb.connect()
    connection.execute(f"SET memory_limit = '{t.memory_bytes} B'")
    connection.execute(f"SET temp_directory = '{t.folder / 'duckdb-runs'}'")
    yield
    connection.execute(f"COPY ({query}) TO '{target}' (FORMAT parquet, COMPRESSION uncompressed)")
    yield
    yield check(_columns(target))


def duckdb_external_sort(t: Task) -> Iterator[Any]:
    return _duckdb_copy(t, f"SELECT x FROM read_parquet('{t.parquet}') ORDER BY x", check_sorted)


def duckdb_external_argsort(t: Task) -> Iterator[Any]:
    source = f"read_parquet('{t.parquet}', file_row_number = true)"
    query = f"SELECT file_row_number FROM {source} ORDER BY x, file_row_number"
    return _duckdb_copy(t, query, lambda blocks: check_order(t.npy, blocks))


def polars_external_sort(t: Task) -> Iterator[Any]:
    pl = import_module("polars")
    target = t.folder / "polars-out.parquet"
    yield
    pl.scan_parquet(t.parquet).sort("x").sink_parquet(target, compression="uncompressed")
    yield
    yield check_sorted(_columns(target))


JOBS: dict[str, dict[str, tuple[str, Callable[[Task], Iterator[Any]]]]] = {
    "argsort": {
        "lanesort": ("lanesort", lanesort_argsort),
        "lanesort.dask, two workers": ("dask", lanesort_dask_argsort),
        "Dask, one chunk of np.argsort": ("dask", dask_one_chunk),
        "Polars arg_sort": ("polars", polars_argsort),
        "DuckDB ORDER BY x, rowid": ("duckdb", duckdb_argsort),
    },
    f"top {K}": {
        "lanesort": ("lanesort", lanesort_top),
        "lanesort.dask, two workers": ("dask", lanesort_dask_top),
        "dask.array.topk, values alone": ("dask", dask_topk),
        "dask.array.argtopk": ("dask", dask_argtopk),
        "Polars top_k": ("polars", polars_top),
        f"DuckDB ORDER BY x DESC LIMIT {K}": ("duckdb", duckdb_top),
    },
    "sort from file to file": {
        "lanesort.external": ("lanesort", external_sort),
        "DuckDB ORDER BY x": ("duckdb", duckdb_external_sort),
        "Polars sink_parquet, no limit to its memory": ("polars", polars_external_sort),
    },
    "argsort from file to file": {
        "lanesort.external": ("lanesort", external_argsort),
        "DuckDB ORDER BY x, file_row_number": ("duckdb", duckdb_external_argsort),
    },
}
"""For each operation its jobs: the module that a job needs, and the job."""


def main() -> None:
    """Do one job: operation, name, folder, elements and bytes of memory stand in the arguments."""
    operation, name, folder, n, memory_bytes = sys.argv[1:]
    job = JOBS[operation][name][1](Task(Path(folder), int(n), int(memory_bytes)))
    next(job)
    _say({"begun": True})
    start = time.perf_counter()
    next(job)
    _say({"seconds": time.perf_counter() - start})
    _say({"check": next(job)})
    sys.stdout.flush()
    os._exit(0)  # no cluster is taken down in order


def _say(what: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
