"""Fuzz targets of the library: every verb against the reference, whatever the bits."""

from __future__ import annotations

from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import numpy.typing as npt

import lanesort as ls
from lanesort import _core, reference
from lanesort.order import KEY_CLASSES, KEY_NAN_POLICIES, Order

DTYPES = [np.dtype(getattr(ml_dtypes, name, name)) for name, cls in KEY_CLASSES.items() if cls.kind != "time"]
TARGETS = _core.targets()


class _Job(NamedTuple):
    x: npt.NDArray[Any]
    order: Order
    k: int
    policy: dict[str, Any]


def _job(data: bytes) -> _Job | None:
    """Read a job: dtype, order, k, a SIMD target, a misalignment, then the values."""
    if len(data) < 8:
        return None
    dtype = DTYPES[data[0] % len(DTYPES)]
    nan: Any = KEY_NAN_POLICIES[data[1] % 4]
    tie: Any = ("low", "high")[data[1] >> 2 & 1]
    descending = bool(data[1] >> 3 & 1)
    _core.set_targets([TARGETS[data[2] % len(TARGETS)]])
    shift = data[3] % 8
    body = np.frombuffer(b"\0" * shift + data[8:], np.uint8)[shift:]
    x = body[: body.size // dtype.itemsize * dtype.itemsize]
    values = (x & 1).view(bool) if dtype.kind == "b" else x.view(dtype)
    policy = {"nan": nan, "tie": tie, "descending": descending}
    return _Job(values[None], Order(descending, nan, tie), data[4] * data[5] % (values.size + 1), policy)


def _same(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> None:
    assert a.shape == b.shape
    assert a.tobytes() == b.astype(a.dtype, copy=False).tobytes()


def fuzz_sort(data: bytes) -> None:
    """sort_pairs, sort and top_k give what the reference gives."""
    job = _job(data)
    if job is None:
        return
    expected = reference.sort_pairs(job.x, job.order)
    pairs = ls.sort_pairs(job.x, **job.policy)
    _same(pairs.values, expected.values)
    _same(pairs.indices, expected.indices)
    mode = "largest" if job.order.descending else "smallest"
    best = ls.top_k(job.x, job.k, mode=mode, nan=job.order.nan, tie=job.order.tie)
    _same(best.values, expected.values[:, : job.k])
    _same(best.indices, expected.indices[:, : job.k])


def fuzz_merge(data: bytes) -> None:
    """Any split merges to the sort of the whole."""
    job = _job(data)
    if job is None:
        return
    flat = job.x[0]
    cuts = sorted(b * flat.size // 256 for b in data[4:8])
    starts = [0, *cuts]
    runs = [
        ls.sort_pairs(piece, index_offset=start, **job.policy)
        for piece, start in zip(np.split(flat, cuts), starts, strict=True)
    ]
    merged = ls.merge([r.values for r in runs], indices=[r.indices for r in runs], **job.policy)
    expected = reference.sort_pairs(job.x, job.order)
    _same(merged.values, expected.values[0])
    _same(merged.indices, expected.indices[0])


def fuzz_nonzero(data: bytes) -> None:
    """flatnonzero gives what the reference gives."""
    job = _job(data)
    if job is None:
        return
    found = ls.flatnonzero(job.x)
    _same(found.indices, reference.nonzero(job.x[0], "value"))
    assert found.total == found.indices.size
