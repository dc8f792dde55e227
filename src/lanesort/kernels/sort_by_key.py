"""sort_by_key: payloads of any dtype in the order of their keys."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lanesort import _core
from lanesort.errors import ArgumentTypeError, ArgumentValueError
from lanesort.kernels.arrays import receive
from lanesort.kernels.control import current
from lanesort.kernels.rows import as_rows
from lanesort.kernels.sort import sort_pairs
from lanesort.kernels.threads import thread_count

__all__ = ["sort_by_key"]


def sort_by_key(
    keys: Any,
    /,
    *payloads: Any,
    axis: int = -1,
    descending: bool = False,
    nan: str | None = None,
    tie: str | None = None,
    compat: str | None = None,
    threads: int | None = None,
) -> tuple[Any, ...]:
    """Order keys and move any number of payloads along with them.

    Parameters
    ----------
    keys
        Array of any dtype in `lanesort.order.KEY_CLASSES`; never written.
    *payloads
        Arrays of the shape of `keys`, of any dtype.
    axis, descending, nan, tie, compat, threads
        As in `lanesort.argsort`.

    Returns
    -------
    tuple
        ``(keys, *payloads)``, each of the library that it came from.

    Examples
    --------
    >>> import numpy as np
    >>> import lanesort as ls
    >>> ls.sort_by_key(np.array([2, 1, 2]), np.array(["b", "a", "c"]))
    (array([1, 2, 2]), array(['a', 'b', 'c'], dtype='<U1'))
    """
    array, library = receive(keys, "keys")
    given = [receive(p, f"payloads[{i}]") for i, p in enumerate(payloads)]
    for i, payload in enumerate(given):
        if payload.array.shape != array.shape:
            raise ArgumentValueError(
                f"payloads[{i}] has shape {payload.array.shape}; it must be {array.shape}, as keys"
            )
        if payload.array.dtype.hasobject:
            raise ArgumentTypeError(f"payloads[{i}] has dtype {payload.array.dtype}; objects can't be moved")
    values, indices = sort_pairs(
        array,
        axis=axis,
        descending=descending,
        nan=nan,
        tie=tie,
        compat=compat,
        index_dtype=np.int64,
        threads=threads,
    )
    order = as_rows(indices, axis).array.view(np.uint64)
    workers = thread_count(threads, array.size)
    moved = []
    for payload in given:
        rows = as_rows(payload.array, axis)
        moved.append(payload.library.give(rows.restore_values(_moved(rows.array, order, workers))))
    return (library.give(values), *moved)


def _moved(rows: npt.NDArray[Any], order: npt.NDArray[Any], threads: int) -> npt.NDArray[Any]:
    out = np.empty_like(rows)
    item = f"V{rows.dtype.itemsize}"
    if rows.dtype.itemsize and rows.size:
        _core.gather(rows.view(item), order, out.view(item), threads=threads, control=current())
    return out
