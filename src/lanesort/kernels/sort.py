"""sort, argsort and sort_pairs: whole rows in order."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lanesort import _core
from lanesort.kernels.arrays import Library, index_dtype_of, receive
from lanesort.kernels.control import current
from lanesort.kernels.indices import allocate, checked_offset, fill_index_of, native_index
from lanesort.kernels.native_order import bits_view, key_order
from lanesort.kernels.policy import order_of
from lanesort.kernels.quick import INTP, plain, plan
from lanesort.kernels.ragged import Ragged, fill_value_of, ragged_rows
from lanesort.kernels.rows import Rows, as_rows
from lanesort.kernels.threads import thread_count
from lanesort.order import Order
from lanesort.results import Pairs

__all__ = ["argsort", "sort", "sort_pairs"]

Array = npt.NDArray[Any]


class _Input(NamedTuple):
    """What all three verbs make of their arguments before anything is ordered."""

    rows: Rows
    library: Library
    order: Order
    ragged: Ragged | None
    threads: int

    @property
    def shape(self) -> tuple[int, int]:
        return self.rows.array.shape


def sort(
    x: Any,
    /,
    *,
    axis: int = -1,
    descending: bool = False,
    stable: bool | None = None,
    nan: str | None = None,
    compat: str | None = None,
    lengths: Any = None,
    where: Any = None,
    fill_value: Any = None,
    threads: int | None = None,
) -> Any:
    """Return the values of each row in order.

    Parameters
    ----------
    x
        Array of any dtype in `lanesort.order.KEY_CLASSES`; never written.
    axis
        Axis to order along.
    descending
        Largest first. Equal values keep their order in both directions.
    stable
        Accepted for the Array API standard's sake; the result is stable either way.
    nan
        ``last`` (default), ``largest``, ``sign-magnitude`` or ``total``, see `lanesort.order`.
    compat
        ``numpy``, ``torch``, ``jax`` or ``onnx``: that library's NaN policy.
    lengths
        Integers of x's shape without the axis: how many elements of each row take part.
    where
        Mask that broadcasts to x: which elements take part.
    fill_value
        Fills rows up where elements were left out; NaN, NaT or 0 unless given.
    threads
        None: the process's CPU affinity, or LANESORT_NUM_THREADS. The result is the same.

    Returns
    -------
    array
        Shape and dtype of x, of the caller's library; bit for bit values of x.

    Raises
    ------
    TypeError
        For values that have no order here.
    ValueError
        For arguments outside what is accepted.

    Examples
    --------
    >>> import numpy as np
    >>> import lanesort as ls
    >>> ls.sort(np.array([2.0, np.nan, -1.0]), descending=True)
    array([ 2., -1., nan])
    """
    if plain(x, axis, lengths is not None or where is not None, threads):
        quick = plan(x.dtype, descending, stable, nan, None, compat)
        if quick is not None:
            values = np.empty(x.shape, x.dtype)
            _core.sort_pairs(x, quick, values, None)
            return values
    job = _read(x, axis, order_of(descending, stable, nan, None, compat), lengths, where, threads)
    values = np.empty(job.shape, job.rows.array.dtype)
    _run(job, values, None, 0)
    if job.ragged is not None:
        values[job.ragged.behind(job.rows.n)] = fill_value_of(fill_value, values.dtype)
    return job.library.give(job.rows.restore_values(values))


def argsort(
    x: Any,
    /,
    *,
    axis: int = -1,
    descending: bool = False,
    stable: bool | None = None,
    nan: str | None = None,
    tie: str | None = None,
    compat: str | None = None,
    lengths: Any = None,
    where: Any = None,
    fill_index: int | None = None,
    index_dtype: Any = None,
    index_offset: int = 0,
    threads: int | None = None,
) -> Any:
    """Return the indices that put each row in order.

    Parameters
    ----------
    x, axis, descending, stable, nan, compat, lengths, where, threads
        As in `sort`.
    tie
        ``low`` (default): of equal values the lower position first, in both directions.
        ``high``: the higher first.
    fill_index
        Fills rows up where elements were left out; −1, or the largest of an unsigned dtype.
    index_dtype
        Integer dtype of the indices; None: NumPy's intp, PyTorch's int64, JAX's default.
    index_offset
        Added to every index.

    Returns
    -------
    array
        Indices of x's shape.

    Examples
    --------
    >>> import numpy as np
    >>> import lanesort as ls
    >>> ls.argsort(np.array([0, 1, 0]), descending=True)
    array([1, 0, 2])
    """
    usual = index_dtype is None and fill_index is None and type(index_offset) is int and not index_offset
    if usual and plain(x, axis, lengths is not None or where is not None, threads):
        quick = plan(x.dtype, descending, stable, nan, tie, compat)
        if quick is not None:
            indices = np.empty(x.shape, INTP)
            _core.sort_pairs(x, quick, None, indices)
            return indices
    job = _read(x, axis, order_of(descending, stable, nan, tie, compat), lengths, where, threads)
    dtype = index_dtype_of(index_dtype, job.library)
    indices = _indices(job, None, dtype, index_offset, fill_index)
    return job.library.give(job.rows.restore(indices))


def sort_pairs(
    x: Any,
    /,
    *,
    axis: int = -1,
    descending: bool = False,
    stable: bool | None = None,
    nan: str | None = None,
    tie: str | None = None,
    compat: str | None = None,
    lengths: Any = None,
    where: Any = None,
    fill_value: Any = None,
    fill_index: int | None = None,
    index_dtype: Any = None,
    index_offset: int = 0,
    threads: int | None = None,
) -> Pairs:
    """Return the values of each row in order, and where they came from.

    Parameters
    ----------
    x, axis, descending, stable, nan, compat, lengths, where, fill_value, threads
        As in `sort`.
    tie, fill_index, index_dtype, index_offset
        As in `argsort`.

    Returns
    -------
    Pairs
        ``(values, indices)``, with ``.valid``, the real elements of each row where
        `lengths` or `where` left some out.

    Examples
    --------
    >>> import numpy as np
    >>> import lanesort as ls
    >>> values, indices = ls.sort_pairs(np.array([[3, 1, 2]], np.int16))
    >>> values, indices
    (array([[1, 2, 3]], dtype=int16), array([[1, 2, 0]]))
    """
    job = _read(x, axis, order_of(descending, stable, nan, tie, compat), lengths, where, threads)
    dtype = index_dtype_of(index_dtype, job.library)
    values = np.empty(job.shape, job.rows.array.dtype)
    indices = _indices(job, values, dtype, index_offset, fill_index)
    give, rows = job.library.give, job.rows
    if job.ragged is None:
        return Pairs(give(rows.restore_values(values)), give(rows.restore(indices)))
    values[job.ragged.behind(rows.n)] = fill_value_of(fill_value, values.dtype)
    valid = rows.per_row(job.ragged.lengths)
    return Pairs(give(rows.restore_values(values)), give(rows.restore(indices)), give(valid))


def _read(x: Any, axis: int, order: Order, lengths: Any, where: Any, threads: int | None) -> _Input:
    array, library = receive(x)
    key_order(array.dtype, order)
    rows = as_rows(array, axis)
    ragged = None if lengths is None and where is None else ragged_rows(rows, lengths, where)
    return _Input(rows, library, order, ragged, thread_count(threads, array.size))


def _indices(
    job: _Input, values: Array | None, dtype: np.dtype[Any], index_offset: int, fill_index: int | None
) -> Array:
    offset = checked_offset(index_offset, job.rows.n, dtype)
    if job.ragged is None:
        made, bits = allocate(job.shape, dtype)
        _run(job, values, bits, offset)
        return native_index(made, dtype)
    fill = fill_index_of(fill_index, dtype)
    positions = np.zeros(job.shape, np.uint64)
    _run(job, values, positions, 0)
    indices = (job.ragged.original(positions.astype(np.intp)) + offset).astype(dtype)
    indices[job.ragged.behind(job.rows.n)] = fill
    return indices


def _run(job: _Input, values: Array | None, indices: Array | None, offset: int) -> None:
    source = job.rows.array if job.ragged is None else job.ragged.array
    _core.sort_pairs(
        bits_view(source),
        key_order(source.dtype, job.order),
        None if values is None else bits_view(values),
        indices,
        offset=offset,
        lengths=None if job.ragged is None else job.ragged.lengths,
        threads=job.threads,
        control=current(),
    )
