"""top_k: the best k of each row."""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lanesort import _core
from lanesort.errors import ArgumentTypeError, ArgumentValueError
from lanesort.kernels.arrays import index_dtype_of, receive
from lanesort.kernels.control import current
from lanesort.kernels.indices import checked_offset, fill_index_of
from lanesort.kernels.native_order import bits_view, key_order
from lanesort.kernels.policy import order_of
from lanesort.kernels.quick import INTP, plain, plan
from lanesort.kernels.ragged import Ragged, fill_value_of, ragged_rows
from lanesort.kernels.rows import Rows, as_rows
from lanesort.kernels.threads import thread_count
from lanesort.order import Order
from lanesort.results import Pairs

__all__ = ["top_k"]

Array = npt.NDArray[Any]


MOST = np.iinfo(np.int32).max
"""Largest k: rows are filled up to it, so that a slip of the pen must not ask for all memory."""


class _Job(NamedTuple):
    rows: Rows
    order: Order
    k: int
    by: str
    ragged: Ragged | None
    threads: int
    dtype: np.dtype[Any]
    offset: int


def top_k(
    x: Any,
    k: int,
    /,
    *,
    axis: int = -1,
    mode: str = "largest",
    sorted: bool | str = True,
    nan: str | None = None,
    tie: str | None = None,
    compat: str | None = None,
    index_dtype: Any = None,
    index_offset: int = 0,
    lengths: Any = None,
    where: Any = None,
    fill_value: Any = None,
    fill_index: int | None = None,
    out: tuple[Any, Any] | None = None,
    threads: int | None = None,
) -> Pairs:
    """Return the k best values of each row, and where they are.

    The result is the first k of ``sort_pairs(x, descending=mode == "largest")`` under the
    same policy: exact and the same on every run, whatever the threads, tiling or CPU.

    Parameters
    ----------
    x
        Array of any dtype in `lanesort.order.KEY_CLASSES`; never written.
    k
        How many, 0 … n; with `lengths` or `where` more than n are filled up.
    axis
        Axis to choose along.
    mode
        ``largest`` or ``smallest``.
    sorted
        True or False: best first (False promises no order elsewhere; here it is the same).
        ``"index"``: the chosen set in ascending index order, fills last.
    nan, tie, compat, index_dtype, index_offset, lengths, where, fill_value, fill_index, threads
        As in `lanesort.sort_pairs`; ``compat="jax"`` has its own NaN policy for top-k.
    out
        ``(values, indices)`` NumPy arrays to write, of the result's shape and dtypes, that
        overlap no input. They stay as they are when the call fails before writing.

    Returns
    -------
    Pairs
        ``(values, indices)``, k along `axis`, with ``.valid`` under `lengths` or `where`.

    Raises
    ------
    TypeError
        For values without an order, or arguments of a wrong type.
    ValueError
        For k > n without `lengths` and `where`, and other values outside what is accepted.

    Examples
    --------
    >>> import numpy as np
    >>> import lanesort as ls
    >>> values, indices = ls.top_k(np.array([3, 2, 3, 2, 1, 1]), 2)
    >>> values, indices
    (array([3, 3]), array([0, 2]))
    """
    largest = _largest(mode)
    usual = sorted is True and out is index_dtype is fill_value is fill_index is None
    if usual and type(index_offset) is int and index_offset == 0 and type(k) is int:
        ragged = lengths is not None or where is not None
        if plain(x, axis, ragged, threads) and 0 <= k <= x.shape[-1]:
            quick = plan(x.dtype, largest, None, nan, tie, compat, "top_k")
            if quick is not None:
                return _quick(x, k, quick)
    array, library = receive(x)
    order = order_of(largest, None, nan, tie, compat, "top_k")
    key_order(array.dtype, order)
    rows = as_rows(array, axis)
    fronts = None if lengths is None and where is None else ragged_rows(rows, lengths, where)
    dtype = index_dtype_of(index_dtype, library)
    job = _Job(
        rows,
        order,
        _checked_k(k, rows.n, fronts is not None),
        _checked_sorted(sorted),
        fronts,
        thread_count(threads, array.size),
        dtype,
        checked_offset(index_offset, rows.n, dtype),
    )
    fills = None
    if fronts is not None:
        fills = fill_value_of(fill_value, rows.array.dtype), fill_index_of(fill_index, dtype)
    targets = None if out is None else _checked_out(out, job, (array, lengths, where))
    values, indices = _choose(job, fills)
    values, indices = rows.restore_values(values), rows.restore(indices)
    if targets is not None:
        targets[0][...], targets[1][...] = values, indices
        values, indices = targets
    valid = None if fronts is None else library.give(rows.per_row(np.minimum(fronts.lengths, job.k)))
    return Pairs(library.give(values), library.give(indices), valid)


def _quick(x: Array, k: int, order: _core.KeyOrder) -> Pairs:
    shape = (*x.shape[:-1], k)
    values, indices = np.empty(shape, x.dtype), np.empty(shape, INTP)
    _core.top_k(x, order, k, values, indices)
    return Pairs(values, indices)


def _choose(job: _Job, fills: tuple[Any, int] | None) -> tuple[Array, Array]:
    source = job.rows.array if job.ragged is None else job.ragged.array
    shape = (job.rows.rows, job.k)
    direct = job.ragged is None and job.dtype.itemsize > 1
    values = np.empty(shape, source.dtype)
    indices = np.empty(shape, job.dtype) if direct else np.zeros(shape, np.uint64)
    found = min(job.k, job.rows.n)
    _core.top_k(
        bits_view(source),
        key_order(source.dtype, job.order),
        found,
        bits_view(values)[:, :found],
        indices.view(f"u{indices.itemsize}")[:, :found],
        offset=job.offset if direct else 0,
        lengths=None if job.ragged is None else job.ragged.lengths,
        sort_by=job.by,
        threads=job.threads,
        control=current(),
    )
    if direct:
        return values, indices
    if job.ragged is None or fills is None:
        return values, (indices.astype(np.int64) + job.offset).astype(job.dtype)
    positions = (job.ragged.original(indices.astype(np.intp)) + job.offset).astype(job.dtype)
    behind = job.ragged.behind(job.k)
    values[behind], positions[behind] = fills
    return values, positions


def _largest(mode: str) -> bool:
    if mode not in ("largest", "smallest"):
        raise ArgumentValueError(f"mode is {mode!r}; accepted are 'largest', 'smallest'")
    return mode == "largest"


def _checked_k(k: Any, n: int, filled: bool) -> int:
    try:
        count = operator.index(k)
    except TypeError:
        raise ArgumentTypeError(f"k is {k!r}; it must be an integer") from None
    if count < 0:
        raise ArgumentValueError(f"k is {count}; it must be at least 0")
    if count > max(n, MOST):
        raise ArgumentValueError(f"k is {count}; rows of n = {n} are filled up to {MOST} at most")
    if count > n and not filled:
        raise ArgumentValueError(
            f"k is {count} but rows have n = {n} elements; ask for at most n, or give lengths "
            "to have rows filled up"
        )
    return count


def _checked_sorted(sorted: Any) -> str:
    if isinstance(sorted, str) and sorted == "index":
        return "index"
    if isinstance(sorted, (bool, np.bool_)):
        return "value"
    raise ArgumentValueError(f"sorted is {sorted!r}; accepted are True, False, 'index'")


def _checked_out(out: Any, job: _Job, inputs: tuple[Any, ...]) -> tuple[Array, Array]:
    if not (isinstance(out, tuple) and len(out) == 2 and all(isinstance(o, np.ndarray) for o in out)):
        raise ArgumentTypeError("out must be a tuple of two NumPy arrays: (values, indices)")
    shape = list(job.rows.shape[:-1])
    shape.insert(job.rows.axis, job.k)
    for name, target, dtype in (("values", out[0], job.rows.dtype), ("indices", out[1], job.dtype)):
        if target.shape != tuple(shape) or target.dtype != dtype:
            raise ArgumentValueError(
                f"out {name} is {target.dtype} of shape {target.shape}; "
                f"the result is {dtype} of shape {tuple(shape)}"
            )
        if not target.flags.writeable:
            raise ArgumentValueError(f"out {name} is read-only")
        if any(isinstance(i, np.ndarray) and np.may_share_memory(target, i) for i in inputs):
            raise ArgumentValueError(f"out {name} overlaps an input; give an array of its own")
    if np.may_share_memory(out[0], out[1]):
        raise ArgumentValueError("out values and out indices overlap; give two separate arrays")
    return out[0], out[1]
