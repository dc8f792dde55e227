"""Dask's distributed scheduler: real worker processes, one of them killed, and bounded memory."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lanesort as ls

distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")
DA = pytest.importorskip("lanesort.distributed.dask")

pytestmark = pytest.mark.filterwarnings("ignore")  # of Dask's own, about ports, memory and large graphs


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Any]:
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            memory_limit="1GiB",
            dashboard_address=None,
            local_directory=str(tmp_path),
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def test_two_workers_give_what_one_array_gives(client: Any) -> None:
    x = np.random.default_rng(1).integers(0, 1000, 400_000).astype(np.float32)
    lazy = da.from_array(x, chunks=70_000)
    assert np.array_equal(DA.argsort(lazy, descending=True).compute(), ls.argsort(x, descending=True))
    assert np.array_equal(DA.top_k(lazy, 50).indices.compute(), ls.top_k(x, 50).indices)


def test_a_killed_worker_changes_nothing(client: Any) -> None:
    x = np.random.default_rng(2).standard_normal(600_000)
    workers = client.run(os.getpid)
    future = client.compute(DA.argsort(da.from_array(x, chunks=30_000)))
    threading.Timer(0.3, os.kill, (next(iter(workers.values())), signal.SIGKILL)).start()
    assert np.array_equal(future.result(timeout=300), ls.argsort(x))


@pytest.mark.nightly
@pytest.mark.timeout(7200)
def test_four_gibibytes_on_two_workers_of_one(client: Any, tmp_path: Path) -> None:
    zarr = pytest.importorskip("zarr")
    n, chunk = 1 << 30, 1 << 24
    rng = np.random.default_rng(3)
    source = zarr.open(str(tmp_path / "x.zarr"), mode="w", shape=(n,), chunks=(chunk,), dtype="f4")
    for start in range(0, n, chunk):
        source[start : start + chunk] = rng.standard_normal(chunk, np.float32)
    lazy = da.from_zarr(str(tmp_path / "x.zarr"))
    DA.argsort(lazy).to_zarr(str(tmp_path / "order.zarr"))
    order = zarr.open(str(tmp_path / "order.zarr"), mode="r")
    last = -np.inf
    seen = np.zeros(n, bool)
    values = np.concatenate([source[s : s + chunk] for s in range(0, n, chunk)])
    for s in range(0, n, chunk):
        part = order[s : s + chunk]
        assert not seen[part].any()
        seen[part] = True
        ordered = values[part]
        assert ordered[0] >= last
        assert (np.diff(ordered) >= 0).all()
        last = ordered[-1]
