"""merge: sorted runs into one."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lanesort import _core
from lanesort.errors import ArgumentTypeError, ArgumentValueError
from lanesort.kernels.arrays import NUMPY, Library, Received, index_dtype_of, receive
from lanesort.kernels.control import current
from lanesort.kernels.native_order import bits_view, key_order
from lanesort.kernels.policy import order_of
from lanesort.kernels.quick import INTP, plan_of
from lanesort.kernels.rows import Rows, as_rows
from lanesort.kernels.threads import thread_count
from lanesort.order import Order
from lanesort.results import Merged

__all__ = ["merge"]

Array = npt.NDArray[Any]


MOST_POSITIONS = np.iinfo(np.int32).max
"""Up to here positions fit every index dtype of 4 bytes and more."""


class _Job(NamedTuple):
    runs: list[Rows]
    indices: list[Rows] | None
    order: Order
    dtype: np.dtype[Any]
    emitted: int
    first_exhausted: bool
    threads: int


def merge(
    runs: Sequence[Any],
    /,
    *,
    indices: Sequence[Any] | None = None,
    axis: int = -1,
    descending: bool = False,
    k: int | None = None,
    nan: str | None = None,
    tie: str | None = None,
    compat: str | None = None,
    stop: str = "all",
    check: bool = True,
    index_dtype: Any = None,
    threads: int | None = None,
) -> Merged:
    """Merge sorted runs into one.

    Parameters
    ----------
    runs
        Any number of sorted arrays of one dtype, empty ones included: 1-D, or N-D of one
        shape but for `axis`, merged row by row along it.
    indices
        One integer array a run, of its shape, that travels with the values. Default: the
        positions in the concatenation of the runs.
    axis
        Axis to merge along.
    descending
        The runs are largest first.
    k
        Stop after k elements a row.
    nan, compat, threads
        As in `lanesort.sort`.
    tie
        ``run``: of equal values the one from the earlier run first (default without
        `indices`, where it is the same as ``low``). ``low`` (default with `indices`) or
        ``high``: by index.
    stop
        ``all``, or ``first-exhausted``: as soon as one run has given its last element; a
        run that is empty from the start stops it before anything. 1-D runs only.
    check
        Refuse a run that is not sorted in the order that `tie` needs. Without it such runs
        give no merge: elements may be out of order, missing, or there twice.
    index_dtype
        Integer dtype of the indices; None: that of `indices`, else as in `lanesort.argsort`.

    Returns
    -------
    Merged
        ``(values, indices)``, with ``.consumed``, the elements taken from each run; for N-D
        runs an array a run, one number for each row.

    Raises
    ------
    TypeError
        For values without an order, or runs of different dtypes.
    ValueError
        For a run that is not sorted, shapes that do not fit, other values not accepted.

    Examples
    --------
    >>> import numpy as np
    >>> import lanesort as ls
    >>> values, indices = ls.merge([np.array([1, 3, 3]), np.array([3, 4])])
    >>> values, indices
    (array([1, 3, 3, 3, 4]), array([0, 1, 2, 3, 4]))
    """
    if indices is None and tie in (None, "run", "low") and stop == "all" and axis == -1 and k is None:
        quick = _quick(runs, plan_of(runs, descending, nan, compat), check, index_dtype, threads)
        if quick is not None:
            return quick
    try:
        received = [receive(run, f"runs[{i}]") for i, run in enumerate(runs)]
    except TypeError as error:
        if isinstance(error, ArgumentTypeError):
            raise
        raise ArgumentTypeError(f"runs is {runs!r}; it must be a sequence of arrays") from None
    if not received:
        raise ArgumentValueError("runs is empty; merging needs at least one run, which may have no elements")
    default_tie = "run" if indices is None else "low"
    order = order_of(descending, None, nan, tie or default_tie, compat, ties=("run", "low", "high"))
    job = _read(received, indices, axis, order, k, stop, index_dtype, threads)
    if check:
        _refuse_unsorted(job)
    return _merged(job, received[0].library)


def _quick(
    runs: Sequence[Any], order: _core.KeyOrder | None, check: bool, index_dtype: Any, threads: int | None
) -> Merged | None:
    """Merge plain 1-D arrays of one dtype, or return None where the full way is needed."""
    if order is None:
        return None
    dtype = INTP if index_dtype is None else index_dtype_of(index_dtype, NUMPY)
    total = sum(run.size for run in runs)
    if dtype.itemsize < 4 or total > MOST_POSITIONS:
        return None
    values, indices = np.empty(total, runs[0].dtype), np.empty(total, dtype)
    workers = thread_count(threads, total)
    consumed, are_sorted = _core.merge(
        list(runs), None, order, "run", values, indices, look=check, threads=workers, control=current()
    )
    return Merged(values, indices, tuple(consumed)) if are_sorted else None


def _read(
    received: list[Received],
    indices: Sequence[Any] | None,
    axis: int,
    order: Order,
    k: int | None,
    stop: str,
    index_dtype: Any,
    threads: int | None,
) -> _Job:
    library = received[0].library
    rows = [as_rows(run.array, axis) for run in received]
    key_order(received[0].array.dtype, _key_tie(order))
    _same_kind(rows)
    travelling = None if indices is None else _indices(indices, rows, axis)
    if index_dtype is None and travelling is not None:
        dtype = np.result_type(*(run.array.dtype for run in travelling))
    else:
        dtype = index_dtype_of(index_dtype, library)
    total = sum(run.n for run in rows)
    if stop not in ("all", "first-exhausted"):
        raise ArgumentValueError(f"stop is {stop!r}; accepted are 'all', 'first-exhausted'")
    if stop == "first-exhausted" and received[0].array.ndim > 1:
        raise ArgumentValueError(
            f"stop is 'first-exhausted' and runs have {received[0].array.ndim} dimensions; rows would "
            "end at different lengths: merge 1-D runs one by one"
        )
    if travelling is None and total - 1 > np.iinfo(dtype).max:
        raise ArgumentValueError(f"{total} positions do not fit index_dtype {dtype}; choose a wider one")
    emitted = total if k is None else min(_checked_k(k), total)
    workers = thread_count(threads, total * rows[0].rows)
    return _Job(rows, travelling, order, dtype, emitted, stop == "first-exhausted", workers)


def _key_tie(order: Order) -> Order:
    return order.replace(tie="high" if order.tie == "high" else "low")


def _checked_k(k: Any) -> int:
    try:
        count = operator.index(k)
    except TypeError:
        raise ArgumentTypeError(f"k is {k!r}; it must be an integer") from None
    if count < 0:
        raise ArgumentValueError(f"k is {count}; it must be at least 0")
    return count


def _same_kind(rows: list[Rows]) -> None:
    first = rows[0]
    for i, run in enumerate(rows):
        if run.array.dtype != first.array.dtype:
            raise ArgumentTypeError(f"runs[{i}] is {run.dtype}, runs[0] is {first.dtype}; merge one dtype")
        if run.shape[:-1] != first.shape[:-1] or run.axis != first.axis:
            raise ArgumentValueError(
                f"runs[{i}] has shape {run.shape} (axis last), runs[0] {first.shape}; "
                "they may differ along axis alone"
            )


def _indices(indices: Sequence[Any], rows: list[Rows], axis: int) -> list[Rows]:
    if len(indices) != len(rows):
        raise ArgumentValueError(f"indices has {len(indices)} arrays for {len(rows)} runs; give one a run")
    found = []
    for i, (given, run) in enumerate(zip(indices, rows, strict=True)):
        array = receive(given, f"indices[{i}]").array
        if array.dtype.kind not in "iu" and array.size:
            raise ArgumentTypeError(f"indices[{i}] has dtype {array.dtype}; indices are integers")
        own = as_rows(array if array.dtype.kind in "iu" else array.astype(np.int64), axis)
        if own.shape != run.shape:
            raise ArgumentValueError(f"indices[{i}] does not have the shape of runs[{i}]")
        if own.array.size and own.array.min() < 0:
            raise ArgumentValueError(f"indices[{i}] holds {own.array.min()}; indices are not negative")
        found.append(own)
    return found


def _refuse_unsorted(job: _Job) -> None:
    order = key_order(job.runs[0].array.dtype, _key_tie(job.order))
    by_index = job.indices is not None and job.order.tie != "run"
    for i, run in enumerate(job.runs):
        for r in range(run.rows):
            row = run.array[r]
            travelling = job.indices[i].array[r].astype(np.uint64) if by_index and job.indices else None
            if travelling is None and job.order.tie == "high":
                travelling = np.arange(row.size, dtype=np.uint64)
            at = _core.first_unsorted(bits_view(row), travelling, order, job.order.tie)
            if at >= 0:
                raise ArgumentValueError(_unsorted_message(job, i, r, at, row, travelling))


def _unsorted_message(job: _Job, run: int, row: int, at: int, values: Array, travelling: Array | None) -> str:
    where = f"runs[{run}]" + (f" (row {row})" if job.runs[run].rows > 1 else "")
    direction = "descending" if job.order.descending else "ascending"
    ties = "" if travelling is None else f", index {travelling[at - 1]} then {travelling[at]}"
    return (
        f"{where} is not sorted {direction} with nan={job.order.nan!r}, tie={job.order.tie!r}: element "
        f"{at - 1} is {values[at - 1]}, element {at} is {values[at]}{ties}; sort it first, or pass "
        "check=False to leave out this look"
    )


def _merged(job: _Job, library: Library) -> Merged:
    first = job.runs[0]
    values = np.empty((first.rows, job.emitted), first.array.dtype)
    width = _index_width(job)
    direct = job.dtype.itemsize == width
    indices = np.empty((first.rows, job.emitted), job.dtype if direct else f"u{width}")
    bits = indices.view(f"u{width}")
    travelling = None
    if job.indices is not None:
        travelling = [_widened(run.array, width) for run in job.indices]
    order = key_order(values.dtype, _key_tie(job.order))
    consumed = [
        _core.merge(
            [bits_view(run.array[r]) for run in job.runs],
            None if travelling is None else [indices[r] for indices in travelling],
            order,
            job.order.tie,
            bits_view(values[r]),
            bits[r],
            first_exhausted=job.first_exhausted,
            threads=job.threads,
            control=current(),
        )[0]
        for r in range(first.rows)
    ]
    if job.first_exhausted:
        taken = sum(consumed[0])
        values, indices = values[:, :taken], indices[:, :taken]
    return Merged(
        library.give(first.restore_values(values)),
        library.give(first.restore(indices if direct else indices.astype(job.dtype))),
        _counts(job, consumed, library),
    )


def _index_width(job: _Job) -> int:
    """Bytes of an index inside the kernel: 4 where everything is, else 8."""
    widths = {job.dtype.itemsize, *(run.array.dtype.itemsize for run in job.indices or ())}
    return 4 if widths == {4} else 8


def _widened(indices: Array, width: int) -> Array:
    same = indices.dtype.itemsize == width
    return indices.view(f"u{width}") if same else indices.astype(f"u{width}")


def _counts(job: _Job, consumed: list[list[int]], library: Library) -> tuple[Any, ...]:
    first = job.runs[0]
    if len(first.shape) == 1:
        return tuple(consumed[0])
    table = np.array(consumed, np.int64).reshape(first.rows, len(job.runs))
    return tuple(library.give(first.per_row(counts.copy())) for counts in table.T)
