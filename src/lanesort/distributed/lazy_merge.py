"""merge of Dask arrays."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

import dask
import dask.array as da
import numpy as np
from dask.base import tokenize

from lanesort.distributed import chunk as task
from lanesort.distributed import chunk_merge
from lanesort.distributed.exchange import Exchange, Graph, Key, Runs
from lanesort.distributed.lazy import (
    array_of,
    checked,
    layer_of,
    pairs_of,
    rows_of,
    starts_of,
    whole_rows,
    with_item,
)
from lanesort.distributed.lazy_sort import Finish, narrow_index
from lanesort.distributed.split import balanced_sizes
from lanesort.errors import ArgumentTypeError, ArgumentValueError
from lanesort.kernels.arrays import NUMPY, index_dtype_of
from lanesort.kernels.merge import merge as library
from lanesort.kernels.policy import order_of
from lanesort.order import Order, key_class
from lanesort.results import Merged

__all__ = ["merged"]


class _Job(NamedTuple):
    runs: list[Any]
    indices: list[Any] | None
    place: int
    order: Order
    k: int | None
    check: bool
    index_dtype: np.dtype[Any]

    @property
    def length(self) -> int:
        return sum(run.shape[self.place] for run in self.runs)

    @property
    def emitted(self) -> int:
        return self.length if self.k is None else min(self.k, self.length)


def merged(runs: Sequence[Any], o: Any) -> Merged:
    """Merge sorted Dask arrays along an axis."""
    job = _read(list(runs), o)
    if job.runs[0].ndim > 1:
        return _rows(job)
    if o.stop == "first-exhausted":
        at = _first_exhausted(job)
        job = job._replace(k=at if job.k is None else min(at, job.k))
    return _one_dimension(job)


def _read(runs: list[Any], o: Any) -> _Job:
    if not runs:
        raise ArgumentValueError("runs is empty; merging needs at least one run, which may have no elements")
    places = [checked(run, o.axis, f"runs[{i}]") for i, run in enumerate(runs)]
    place = places[0]
    for i, run in enumerate(runs):
        if run.dtype != runs[0].dtype:
            raise ArgumentTypeError(f"runs[{i}] is {run.dtype}, runs[0] is {runs[0].dtype}; merge one dtype")
        if run.ndim != runs[0].ndim or with_item(run.shape, place, 0) != with_item(runs[0].shape, place, 0):
            raise ArgumentValueError(
                f"runs[{i}] has shape {run.shape}, runs[0] {runs[0].shape}; they may differ along axis alone"
            )
    indices = None if o.indices is None else _indices(list(o.indices), runs, place)
    default = "run" if indices is None else "low"
    order = order_of(o.descending, None, o.nan, o.tie or default, o.compat, ties=("run", "low", "high"))
    if indices is None and order.tie == "low":
        order = order.replace(tie="run")  # positions rise with the runs
    dtype = o.index_dtype
    if dtype is None and indices is not None:
        dtype = np.result_type(*(run.dtype for run in indices))
    # What the library refuses of whatever runs: k, stop, stop of several dimensions.
    none = np.zeros((0,) * runs[0].ndim, runs[0].dtype)
    library([none], k=o.k, stop=o.stop)
    job = _Job(
        runs,
        indices,
        place,
        order,
        None if o.k is None else operator.index(o.k),
        bool(o.check),
        index_dtype_of(dtype, NUMPY),
    )
    if indices is None and job.length - 1 > np.iinfo(job.index_dtype).max:
        raise ArgumentValueError(
            f"{job.length} positions do not fit index_dtype {job.index_dtype}; choose a wider one"
        )
    return job


def _indices(indices: list[Any], runs: list[Any], place: int) -> list[Any]:
    if len(indices) != len(runs):
        raise ArgumentValueError(f"indices has {len(indices)} arrays for {len(runs)} runs; give one a run")
    found = []
    for i, (given, run) in enumerate(zip(indices, runs, strict=True)):
        array = given if isinstance(given, da.Array) else np.asarray(given)
        if array.dtype.kind not in "iu" and array.size:
            raise ArgumentTypeError(f"indices[{i}] has dtype {array.dtype}; indices are integers")
        if array.shape != run.shape:
            raise ArgumentValueError(f"indices[{i}] does not have the shape of runs[{i}]")
        array = array if array.dtype.kind in "iu" else array.astype(np.int64)
        lazy = array.rechunk(run.chunks) if isinstance(array, da.Array) else da.from_array(array, run.chunks)
        found.append(lazy.map_blocks(chunk_merge.checked_indices, i, dtype=array.dtype))
    return found


class _Chunks(NamedTuple):
    """The chunks of all runs, one after the other."""

    values: list[Key]
    indices: list[Key | None]
    starts: list[int]
    sizes: list[int]
    run: list[int]
    first: list[int]


def _chunks(job: _Job) -> _Chunks:
    found = _Chunks([], [], [], [], [], [0])
    for number, run in enumerate(job.runs):
        for i, (start, size) in enumerate(zip(starts_of(run.chunks[0]), run.chunks[0], strict=True)):
            found.values.append((run.name, i))
            found.indices.append(None if job.indices is None else (job.indices[number].name, i))
            found.starts.append(start)
            found.sizes.append(size)
            found.run.append(number)
        found.first.append(len(found.values))
    return found


def _inputs(job: _Job) -> list[Any]:
    return [*job.runs, *(job.indices or [])]


def _token(job: _Job) -> str:
    names = [a.name for a in _inputs(job)]
    return str(tokenize(names, *job[2:]))


def _one_dimension(job: _Job) -> Merged:
    token, chunks, graph = _token(job), _chunks(job), {}  # type: tuple[str, _Chunks, Graph]
    values, indices = _checked_runs(graph, token, job, chunks)
    by_index = job.indices is not None and job.order.tie != "run"
    order, sources = job.order, list(range(len(values)))
    if job.indices is None:
        carried = narrow_index(job.length)
        for i, start in enumerate(starts_of(chunks.sizes)):
            indices[i] = (f"lanesort-positions-{token}", i)
            graph[indices[i] or ()] = (task.positions_of_run, values[i], start, carried)
        if order.tie == "high":  # positions fall, and of the later run come first
            sources.reverse()
        else:
            order = order.replace(tie="low")
    runs = Runs(
        [values[i] for i in sources],
        [indices[i] for i in sources],
        [chunks.sizes[i] for i in sources],
        max(chunks.sizes),
        key_class(job.runs[0].dtype).bits,
    )
    outputs = len(values) if job.emitted == job.length else -(-job.emitted // max(chunks.sizes))
    sizes = balanced_sizes(job.emitted, max(1, outputs))
    ties = "index" if by_index else "positions" if job.indices is None else "run"
    limited = job.emitted < job.length
    roots, ends = Exchange(graph, token, order, ties).merged(runs, sizes, limited)
    finish = Finish(job.index_dtype, 0, None, None)
    base = layer_of(graph, f"lanesort-exchange-{token}", _inputs(job))
    dtypes = (job.runs[0].dtype, job.index_dtype)
    tasks: list[Graph | None] = [
        {(i,): finish.part(root, which, dtypes[which], sizes[i]) for i, root in enumerate(roots)}
        for which in range(2)
    ]
    found = pairs_of(base, f"merged-{token}", tasks, (sizes,), dtypes)
    if not limited:
        return Merged(found[0], found[1], tuple(run.shape[0] for run in job.runs))
    return Merged(found[0], found[1], _consumed(base, token, chunks, ends, reverse=sources[0] > 0))


def _checked_runs(graph: Graph, token: str, job: _Job, chunks: _Chunks) -> tuple[list[Key], list[Key | None]]:
    """Let every chunk be checked when it is read, unless the caller vouches for the runs."""
    values, indices = list(chunks.values), list(chunks.indices)
    if not job.check:
        return values, indices
    lasts = _last_pairs(graph, token, chunks)
    for i, (source, index) in enumerate(zip(chunks.values, chunks.indices, strict=True)):
        before = lasts[i - 1] if i and chunks.run[i - 1] == chunks.run[i] else None
        values[i] = (f"lanesort-run-{token}", i)
        numbers = chunks.run[i], chunks.starts[i]
        graph[values[i]] = (chunk_merge.checked_run, source, index, before, job.order, *numbers)
    return values, indices


def _last_pairs(graph: Graph, token: str, chunks: _Chunks) -> list[Key]:
    lasts: list[Key] = [(f"lanesort-last-{token}", i) for i in range(len(chunks.values))]
    for i, key in enumerate(lasts):
        before = lasts[i - 1] if i and chunks.run[i - 1] == chunks.run[i] else None
        graph[key] = (chunk_merge.last_pair, chunks.values[i], chunks.indices[i], chunks.starts[i], before)
    return lasts


def _consumed(base: Any, token: str, chunks: _Chunks, ends: Key, reverse: bool) -> tuple[Any, ...]:
    """Return how much of each run the outputs hold, as zero-dimensional arrays."""
    found = []
    for number, (first, stop) in enumerate(zip(chunks.first[:-1], chunks.first[1:], strict=True)):
        name = f"lanesort-consumed-{number}-{token}"
        rows = (len(chunks.values) - stop, len(chunks.values) - first) if reverse else (first, stop)
        tasks: Graph = {(name,): (chunk_merge.taken_of, ends, *rows)}
        found.append(array_of(base, name, tasks, (), np.dtype(np.int64)))
    return tuple(found)


def _first_exhausted(job: _Job) -> int:
    """Compute after how many elements one run has given its last."""
    if any(run.shape[0] == 0 for run in job.runs):
        return 0
    token, chunks = _token(job), _chunks(job)
    graph: Graph = {}
    lasts = _last_pairs(graph, token, chunks)
    values, _ = _checked_runs(graph, token, job, chunks)
    reverse = job.indices is None and job.order.tie == "high"
    sums: list[Key] = []
    for number, stop in enumerate(chunks.first[1:]):
        counts: list[Key] = []
        for i, (value, index) in enumerate(zip(values, chunks.indices, strict=True)):
            relation = (chunks.run[i] > number) - (chunks.run[i] < number)
            counts.append((f"lanesort-before-{token}", number, i))
            graph[counts[-1]] = (
                chunk_merge.counted_before,
                value,
                index,
                lasts[stop - 1],
                job.order,
                -relation if reverse else relation,
                relation == 0,
            )
        sums.append((f"lanesort-before-sum-{token}", number))
        graph[sums[-1]] = (task.total, counts)
    name = f"lanesort-exhausted-{token}"
    base = layer_of(graph, f"lanesort-before-{token}", _inputs(job))
    return int(dask.compute(array_of(base, name, {(name,): (min, sums)}, (), np.dtype(np.int64)))[0])


def _rows(job: _Job) -> Merged:
    """Merge arrays of several dimensions row by row."""
    place = job.place
    arrays = _inputs(job)
    whole = [whole_rows(a, place) for a in arrays]
    if any(a is None for a in whole):
        return _row_by_row(job)
    # The finest chunks of all runs, so that a block of one is a block of each.
    smallest = min(whole, key=lambda a: max(a.chunksize[:place] + a.chunksize[place + 1 :], default=0))
    whole = [a.rechunk(with_item(smallest.chunks, place, a.shape[place])) for a in whole]
    count = len(job.runs)
    token = _token(job)
    name = f"lanesort-merge-rows-{token}"
    options = {"k": job.k, "check": job.check, "index_dtype": job.index_dtype}
    graph: Graph = {}
    for block in np.ndindex(whole[0].numblocks):
        keys = [(a.name, *block) for a in whole]
        indices = keys[count:] or None
        graph[(name, *block)] = (chunk_merge.merged_rows, keys[:count], indices, place, job.order, options)
    base = layer_of(graph, name, whole)
    chunks = with_item(whole[0].chunks, place, (job.emitted,))
    parts: list[Graph | None] = [
        {key[1:]: (task.run_part, key, which) for key in graph} for which in range(2)
    ]
    found = pairs_of(base, f"merged-{token}", parts, chunks, (job.runs[0].dtype, job.index_dtype))
    consumed = []
    left = (*chunks[:place], *chunks[place + 1 :])
    for run in range(count):
        part = f"lanesort-consumed-{run}-{token}"
        tasks: Graph = {
            (part, *key[1 : place + 1], *key[place + 2 :]): (chunk_merge.consumed_of, key, run)
            for key in graph
        }
        consumed.append(array_of(base, part, tasks, left, np.dtype(np.int64)))
    return Merged(found[0], found[1], tuple(consumed))


def _row_by_row(job: _Job) -> Merged:
    """Merge each row as one-dimensional runs: a row is larger than a chunk, so there are few."""
    place = job.place
    runs = [rows_of(run, place) for run in job.runs]
    indices = None if job.indices is None else [rows_of(own, place) for own in job.indices]
    found = []
    for r in range(runs[0].shape[0]):
        own = None if indices is None else [a[r] for a in indices]
        found.append(_one_dimension(job._replace(runs=[a[r] for a in runs], indices=own, place=0)))
    across = (*job.runs[0].shape[:place], *job.runs[0].shape[place + 1 :])
    parts = [
        da.moveaxis(da.stack([m[which] for m in found]).reshape(*across, job.emitted), -1, place)
        for which in range(2)
    ]
    consumed = [
        da.stack([da.asarray(m.consumed[run]) for m in found]).reshape(across) for run in range(len(runs))
    ]
    return Merged(parts[0], parts[1], tuple(consumed))
