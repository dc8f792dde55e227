"""flatnonzero and nonzero: where the nonzeros are."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import numpy.typing as npt

from lanesort import _core
from lanesort.errors import ArgumentTypeError, ArgumentValueError
from lanesort.kernels.arrays import index_dtype_of, receive
from lanesort.kernels.control import current
from lanesort.kernels.indices import checked_offset, fill_index_of
from lanesort.kernels.native_order import bits_view, key_order
from lanesort.kernels.rows import as_rows
from lanesort.kernels.threads import thread_count
from lanesort.order import Order
from lanesort.results import Nonzero

__all__ = ["flatnonzero", "nonzero"]

Array = npt.NDArray[Any]


def flatnonzero(
    x: Any,
    /,
    *,
    axis: int | None = None,
    size: int | None = None,
    fill_index: int | None = None,
    index_offset: int = 0,
    index_dtype: Any = None,
    threads: int | None = None,
) -> Nonzero:
    """Return the positions of the nonzeros in ascending order, and how many there are.

    NaN counts as nonzero, −0.0 does not.

    Parameters
    ----------
    x
        Array of any dtype in `lanesort.order.KEY_CLASSES`; never written.
    axis
        None: positions in the flattened array, in C order. Else positions along the axis,
        one row each.
    size
        Length of the result; shorter results are filled up with `fill_index`, longer ones
        are cut. Default: as many as there are, or with an axis its length.
    fill_index
        −1, or the largest of an unsigned dtype, unless given.
    index_offset
        Added to every position.
    index_dtype, threads
        As in `lanesort.argsort`.

    Returns
    -------
    Nonzero
        ``(indices, total)``. total counts all nonzeros, also those that `size` cut off; it
        is an int, or with an axis an array of x's shape without it.

    Examples
    --------
    >>> import numpy as np
    >>> import lanesort as ls
    >>> ls.flatnonzero(np.array([0, 1, 0, 1]), size=3)
    Nonzero(indices=array([ 1,  3, -1]), total=2)
    """
    array, library = receive(x)
    key_order(array.dtype, Order())
    dtype = index_dtype_of(index_dtype, library)
    wanted = None if size is None else _checked_size(size)
    fill = fill_index_of(fill_index, dtype)
    workers = thread_count(threads, array.size)
    if axis is None:
        flat = np.ascontiguousarray(array).reshape(-1)
        offset = checked_offset(index_offset, flat.size, dtype)
        indices, total = _positions(_native(flat), wanted, fill, offset, dtype, workers)
        return Nonzero(library.give(indices), total)
    rows = as_rows(array, axis)
    offset = checked_offset(index_offset, rows.n, dtype)
    width = rows.n if wanted is None else wanted
    found = np.empty((rows.rows, width), dtype)
    totals = np.empty(rows.rows, np.int64)
    for r in range(rows.rows):
        found[r], totals[r] = _positions(rows.array[r], width, fill, offset, dtype, workers)
    return Nonzero(library.give(rows.restore(found)), library.give(rows.per_row(totals)))


def nonzero(x: Any, /) -> tuple[Any, ...]:
    """Return the indices of the nonzeros, one array a dimension, in C order.

    Parameters
    ----------
    x
        Array of at least one dimension, of any dtype in `lanesort.order.KEY_CLASSES`.

    Returns
    -------
    tuple of arrays
        One index array for each dimension of x.

    Examples
    --------
    >>> import numpy as np
    >>> import lanesort as ls
    >>> ls.nonzero(np.array([[0, 5], [7, 0]]))
    (array([0, 1]), array([1, 0]))
    """
    array, library = receive(x)
    if array.ndim == 0:
        raise ArgumentValueError("x has no dimension; nonzero needs at least one")
    flat, _ = flatnonzero(array, index_dtype=np.intp)
    axes = (flat,) if array.ndim == 1 else np.unravel_index(flat, array.shape)
    return tuple(library.give(a.astype(library.index_dtype, copy=False)) for a in axes)


def _positions(
    row: Array, size: int | None, fill: int, offset: int, dtype: np.dtype[Any], threads: int
) -> tuple[Array, int]:
    order, bits, control = key_order(row.dtype, Order()), bits_view(row), current()
    wide = dtype if dtype.itemsize >= 4 else np.dtype(np.int64)
    unsigned = f"u{wide.itemsize}"
    if size is None:
        nonzeros = _core.Nonzeros(bits, "value", order, threads, control)
        total = nonzeros.count
        made = np.empty(total, wide)
        nonzeros.positions(made.view(unsigned), offset, threads, control)
    else:
        made = np.empty(size, wide)
        total = _core.compact(bits, "value", order, made.view(unsigned), offset, threads, control)
        made[min(total, size) :] = fill
    return made.astype(dtype, copy=False), total


def _native(flat: Array) -> Array:
    return flat if flat.dtype.isnative else flat.astype(flat.dtype.newbyteorder("="))


def _checked_size(size: Any) -> int:
    try:
        count = operator.index(size)
    except TypeError:
        raise ArgumentTypeError(f"size is {size!r}; it must be an integer") from None
    if count < 0:
        raise ArgumentValueError(f"size is {count}; it must be at least 0")
    return count
