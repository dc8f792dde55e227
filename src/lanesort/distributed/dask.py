"""The library's verbs on Dask arrays, with its arguments and its results on the whole array.

Indices are global, ties and NaN follow the same rules, and nothing depends on chunks, workers
or scheduler. Along an axis that lies in several chunks a one-dimensional array is sorted by
sorting its chunks, cutting them by rank (see `split`), exchanging the pieces and merging them;
output chunks are equal in size and known. Wrong arguments, dtypes without an order and unknown
chunk sizes are refused before anything is computed. ``threads`` and ``out`` mean nothing for a
lazy array, and are refused with the reason.
"""

from __future__ import annotations

from typing import Any

from lanesort.errors import MissingExtraError
from lanesort.kernels import merge as _merge
from lanesort.kernels import nonzero as _nonzero
from lanesort.kernels import sort as _sort
from lanesort.kernels import top_k as _top_k
from lanesort.kernels.policy import order_of
from lanesort.results import Merged, Nonzero, Pairs

try:
    from lanesort.distributed.lazy import arguments_of
    from lanesort.distributed.lazy_merge import merged
    from lanesort.distributed.lazy_nonzero import positions
    from lanesort.distributed.lazy_sort import ordered
    from lanesort.distributed.lazy_top_k import best
except ImportError as error:
    raise MissingExtraError("Dask is not installed; pip install 'lanesort[dask]'") from error

__all__ = ["argsort", "flatnonzero", "merge", "sort", "sort_pairs", "top_k"]


@arguments_of(_sort.sort)
def sort(x: Any, o: Any) -> Any:
    """Return the values of each row of a Dask array in order, see `lanesort.sort`.

    `lengths` and `where` may be Dask arrays too. What a Dask array of lengths holds is checked
    when it is computed.

    Examples
    --------
    >>> import dask.array as da
    >>> import lanesort as ls
    >>> x = da.from_array([3.0, 1.0, 2.0], chunks=2)
    >>> ls.dask.sort(x, descending=True).compute()
    array([3., 2., 1.])
    """
    return ordered(x, o, order_of(o.descending, o.stable, o.nan, None, o.compat), "values").values


@arguments_of(_sort.argsort)
def argsort(x: Any, o: Any) -> Any:
    """Return the indices that put each row of a Dask array in order, see `lanesort.argsort`."""
    return ordered(x, o, order_of(o.descending, o.stable, o.nan, o.tie, o.compat), "indices").indices


@arguments_of(_sort.sort_pairs)
def sort_pairs(x: Any, o: Any) -> Pairs:
    """Return the values of each row of a Dask array in order, and where they came from.

    See `lanesort.sort_pairs`. ``.valid`` is a Dask array too.
    """
    return ordered(x, o, order_of(o.descending, o.stable, o.nan, o.tie, o.compat), "pairs")


@arguments_of(_top_k.top_k)
def top_k(x: Any, k: Any, o: Any) -> Pairs:
    """Return the k best of each row of a Dask array, see `lanesort.top_k`.

    A tree of merges: no task sees more than a chunk, or k × 8 candidates a row.
    """
    return best(x, k, o)


@arguments_of(_merge.merge)
def merge(runs: Any, o: Any) -> Merged:
    """Merge sorted Dask arrays into one, see `lanesort.merge`.

    A run that is not sorted fails when it is computed. ``.consumed`` holds Dask arrays where the
    numbers depend on the values. ``stop="first-exhausted"`` makes the length depend on them, so
    it is computed at once, as the sizes of the result's chunks.
    """
    return merged(runs, o)


@arguments_of(_nonzero.flatnonzero)
def flatnonzero(x: Any, o: Any) -> Nonzero:
    """Return the positions of the nonzeros of a Dask array, see `lanesort.flatnonzero`.

    Without `size` and `axis` the nonzeros are counted first, which computes the counts at once,
    so that the result has known chunks. total is then an int, else a Dask array.
    """
    return positions(x, o)
