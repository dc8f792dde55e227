"""The oracle: sort, merge, top-k and nonzero in obvious NumPy and Python.

Nothing here is shared with the key maps of `lanesort.order` or with a kernel: the order is
derived from the values themselves, as a rank for each of them. NumPy's comparisons of
numbers do the ordering, NaNs and the sign of a zero are told apart by their bits.

The processor must be in its normal floating-point mode: with flush-to-zero switched on,
NumPy itself takes denormals for zeros.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from lanesort.errors import ArgumentValueError, UnsupportedPolicyError
from lanesort.order import Order
from lanesort.results import Merged, Pairs

__all__ = [
    "argsort",
    "first_unsorted",
    "inspect_runs",
    "merge",
    "nonzero",
    "ranks",
    "sort_pairs",
    "top_k",
]

Array = npt.NDArray[Any]
Rule = Literal["value", "ordered", "bits"]
Stop = Literal["all", "first-exhausted"]
SORT_TIES = ("low", "high", "payload")
MERGE_TIES = ("run", "later-run", "low", "high")


class _Parts(NamedTuple):
    """What decides the place of a value, the most significant part first."""

    nan_side: Array
    number: Array
    zero_sign: Array
    nan_bits: Array


def ranks(x: Array, order: Order) -> npt.NDArray[np.int64]:
    """Give every value of `x` a number that grows along `order`.

    Parameters
    ----------
    x
        Values of any shape and of any dtype in `lanesort.order.KEY_CLASSES`.
    order
        Direction, NaN policy and zero rule; the tie rule is not looked at.

    Returns
    -------
    numpy.ndarray
        int64, shaped as `x`; equal values have the same rank, earlier ones a smaller rank.

    Raises
    ------
    UnsupportedPolicyError
        For ``compare-false``, under which values have no rank.

    Examples
    --------
    >>> ranks(np.array([2.5, np.nan, -0.0, 0.0]), Order(descending=True)).tolist()
    [1, 3, 2, 2]
    """
    if order.nan == "compare-false":
        raise UnsupportedPolicyError(
            "values have no rank under NaN policy 'compare-false', only a comparison"
        )
    flat = np.ravel(x).astype(x.dtype.newbyteorder("="))
    nan, negative = _is_nan(flat), _is_negative(flat)
    parts = _parts(flat, nan, negative, order)
    sequence = np.lexsort(parts[::-1])
    steps = np.zeros(flat.size, np.int64)
    for part in parts:
        ordered = part[sequence]
        steps[1:] |= ordered[1:] != ordered[:-1]
    rank = np.empty(flat.size, np.int64)
    rank[sequence] = np.cumsum(steps)
    if order.descending:
        rank = rank.max(initial=0) - rank
    if order.nan == "last":
        rank[nan] = rank.max(initial=0) + 1
    return rank.reshape(x.shape)


def _parts(flat: Array, nan: Array, negative: Array, order: Order) -> _Parts:
    signed_nans = order.nan in ("sign-magnitude", "total")
    nan_side = np.where(nan, np.where(negative & signed_nans, -1, 1), 0)
    number = flat.copy()
    number[nan] = np.zeros(1, flat.dtype)[0]
    if flat.dtype.kind in "mM":
        number = number.view(np.int64)
    elif _is_float(flat):
        number = number.astype(np.float64)
    signed_zeros = order.nan == "total" or order.zero == "signed"
    zero_sign = np.where(signed_zeros & (number == 0) & ~nan & negative, -1, 0)
    nan_bits = np.zeros(flat.size, np.int64)
    if order.nan == "total" and nan.any():
        magnitude = _bits(flat) & _bits(flat).dtype.type(2 ** (8 * flat.itemsize - 1) - 1)
        nan_bits = np.where(nan, np.where(negative, -1, 1) * magnitude.astype(np.int64), 0)
    return _Parts(nan_side, number, zero_sign, nan_bits)


def _is_float(x: Array) -> bool:
    # The float types of ml_dtypes have kind "V" or "f", none of the other types here has.
    return x.dtype.kind in "fV"


def _is_nan(x: Array) -> npt.NDArray[np.bool_]:
    if x.dtype.kind in "mM":
        return np.asarray(np.isnat(x))
    if not _is_float(x):
        return np.zeros(x.shape, np.bool_)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.isnan(x))


def _bits(x: Array) -> Array:
    return x.view(f"u{x.itemsize}")


def _is_negative(x: Array) -> npt.NDArray[np.bool_]:
    """Say where the sign bit of a float is set; integers and NaT have none."""
    if not _is_float(x):
        return np.zeros(x.shape, np.bool_)
    return np.asarray(_bits(x) >> _bits(x).dtype.type(8 * x.itemsize - 1) == 1)


def argsort(x: Array, order: Order, payload: Array | None = None) -> npt.NDArray[np.int64]:
    """Return the positions that sort each row.

    Parameters
    ----------
    x
        Values, shape (R, N).
    order
        How values compare; ``tie`` is ``low``, ``high`` or ``payload``.
    payload
        Integers, shape (R, N) or (1, N), for ``tie="payload"``.

    Raises
    ------
    UnsupportedPolicyError
        For ``compare-false`` and for the tie rules of merges, which order no row.

    Examples
    --------
    >>> argsort(np.array([[3, 1, 3, 2]]), Order(descending=True, tie="high")).tolist()
    [[2, 0, 3, 1]]
    """
    if order.tie not in SORT_TIES:
        raise UnsupportedPolicyError(f"tie {order.tie!r} orders runs, not rows; accepted are {SORT_TIES}")
    rank = ranks(x, order)
    position = np.broadcast_to(np.arange(x.shape[-1]), x.shape)
    if order.tie == "payload":
        if payload is None:
            raise ArgumentValueError("payload is None, but tie='payload' orders equal values by it")
        tie = np.broadcast_to(payload, x.shape)
    else:
        tie = -position if order.tie == "high" else position
    return np.lexsort((position, tie, rank), axis=-1).astype(np.int64)


def sort_pairs(x: Array, order: Order, payload: Array | None = None) -> Pairs:
    """Sort each row and take the payload, by default the position, along.

    Parameters
    ----------
    x
        Values, shape (R, N).
    order
        How values compare; ``tie`` is ``low``, ``high`` or ``payload``.
    payload
        Integers, shape (R, N) or (1, N).

    Examples
    --------
    >>> values, indices = sort_pairs(np.array([[2.0, 1.0]]), Order())
    >>> values.tolist(), indices.tolist()
    ([[1.0, 2.0]], [[1, 0]])
    """
    positions = argsort(x, order, payload)
    values = np.take_along_axis(x, positions, axis=-1)
    if payload is None:
        return Pairs(values, positions)
    return Pairs(values, np.take_along_axis(np.broadcast_to(payload, x.shape), positions, axis=-1))


def top_k(x: Array, k: int, order: Order) -> Pairs:
    """Return the first `k` pairs of each sorted row of (R, N) values, with positions.

    Examples
    --------
    >>> top_k(np.array([[5, 9, 7]]), 2, Order(descending=True)).indices.tolist()
    [[1, 2]]
    """
    values, indices = sort_pairs(x, order)
    return Pairs(values[:, :k], indices[:, :k])


def merge(
    runs: Sequence[tuple[Array, Array]],
    order: Order,
    *,
    stop: Stop = "all",
    limit: int | None = None,
) -> Merged:
    """Merge sorted runs of pairs by comparing their heads, one pair at a time.

    Parameters
    ----------
    runs
        Each a 1-D (values, payload); all of one dtype.
    order
        How values compare. ``tie``: ``run`` or ``later-run``, or ``low`` or ``high`` by
        payload and then by run. Under ``compare-false`` the scan keeps a head unless one
        that it comes to later is strictly better by plain ``>`` (``<`` ascending).
    stop
        ``first-exhausted`` ends the merge as soon as a run has given its last pair, and
        before anything if a run is empty.
    limit
        Most pairs to emit.

    Returns
    -------
    Merged
        Values and payload as `indices`, and how many came from each run.

    Raises
    ------
    ArgumentValueError
        If there is no run.
    UnsupportedPolicyError
        For other tie rules.

    Examples
    --------
    >>> a = np.array([9, 4]), np.array([0, 1])
    >>> b = np.array([7, 4, 1]), np.array([2, 3, 4])
    >>> merged = merge([a, b], Order(descending=True, tie="run"), stop="first-exhausted")
    >>> merged.values.tolist(), merged.indices.tolist(), merged.consumed
    ([9, 7, 4], [0, 2, 1], (2, 1))
    """
    if not runs:
        raise ArgumentValueError("runs is empty; a merge needs at least one run to know its dtype")
    values = np.concatenate([v for v, _ in runs])
    payload = np.concatenate([p for _, p in runs])
    lengths = [len(v) for v, _ in runs]
    most = len(values) if limit is None else min(limit, len(values))
    heads, better = _comparables(values, payload, order)
    taken, consumed = _merge_heads(heads, better, lengths, order.tie == "later-run", stop, most)
    return Merged(values[taken], payload[taken], consumed)


def _comparables(values: Array, payload: Array, order: Order) -> tuple[list[Any], Callable[[Any, Any], bool]]:
    """Return one object for each pair, and the comparison that tells the better of two."""
    if order.tie not in MERGE_TIES:
        raise UnsupportedPolicyError(f"tie {order.tie!r} orders rows, not runs; accepted are {MERGE_TIES}")
    if order.nan == "compare-false":
        if order.tie in ("low", "high") or order.zero == "signed":
            raise UnsupportedPolicyError(
                "NaN policy 'compare-false' is a plain comparison of values: "
                f"tie {order.tie!r} with zero {order.zero!r} has no meaning under it"
            )
        numbers = values.view(np.int64) if values.dtype.kind in "mM" else values
        if _is_float(values):
            with np.errstate(invalid="ignore"):
                numbers = values.astype(np.float64)
        return numbers.tolist(), operator.gt if order.descending else operator.lt
    rank = ranks(values, order).tolist()
    if order.tie in ("low", "high"):
        sign = -1 if order.tie == "high" else 1
        return list(zip(rank, (sign * p for p in payload.tolist()), strict=True)), operator.lt
    return rank, operator.lt


def _merge_heads(
    heads: list[Any],
    better: Callable[[Any, Any], bool],
    lengths: Sequence[int],
    later_first: bool,
    stop: Stop,
    most: int,
) -> tuple[list[int], tuple[int, ...]]:
    """Return the positions in the order in which a merge takes them, and the count by run."""
    ends = np.cumsum(lengths).tolist()
    starts = [end - length for end, length in zip(ends, lengths, strict=True)]
    cursors = list(starts)
    scan = range(len(lengths))[::-1] if later_first else range(len(lengths))
    taken: list[int] = []
    suspended = stop == "first-exhausted" and 0 in lengths
    while len(taken) < most and not suspended:
        best = -1
        for run in scan:
            if cursors[run] == ends[run]:
                continue
            if best < 0 or better(heads[cursors[run]], heads[cursors[best]]):
                best = run
        taken.append(cursors[best])
        cursors[best] += 1
        suspended = stop == "first-exhausted" and cursors[best] == ends[best]
    return taken, tuple(cursor - start for cursor, start in zip(cursors, starts, strict=True))


def first_unsorted(values: Array, payload: Array, order: Order) -> int:
    """Return the position of the first pair that is better than its predecessor, or -1.

    Examples
    --------
    >>> first_unsorted(np.array([1, 3, 2]), np.arange(3), Order(tie="run"))
    2
    """
    heads, better = _comparables(values, payload, order)
    wrong = (i for i in range(1, len(heads)) if better(heads[i], heads[i - 1]))
    return next(wrong, -1)


def inspect_runs(rows: Array, order: Order) -> tuple[int, bool]:
    """Return where the first value better than its predecessor in its row is, or -1, and if there is a NaN.

    Places are counted over all rows.

    Examples
    --------
    >>> inspect_runs(np.array([[1, 2], [4, 3]]), Order(tie="run"))
    (3, False)
    """
    wrong = np.zeros(rows.shape, np.bool_)
    if order.nan == "compare-false":
        better = np.greater if order.descending else np.less
        with np.errstate(invalid="ignore"):  # a signalling NaN
            wrong[:, 1:] = better(rows[:, 1:], rows[:, :-1])
    else:
        rank = ranks(rows, order)
        wrong[:, 1:] = rank[:, 1:] < rank[:, :-1]
    return int(wrong.argmax()) if wrong.any() else -1, _is_float(rows) and bool(_is_nan(rows).any())


def nonzero(x: Array, rule: Rule = "value") -> npt.NDArray[np.int64]:
    """Return the positions of the nonzeros of a 1-D array.

    Parameters
    ----------
    x
        Values.
    rule
        ``value``: NaN counts, -0.0 does not. ``ordered``: neither counts. ``bits``: both do.

    Examples
    --------
    >>> nonzero(np.array([0.0, -0.0, np.nan, 2.0]), "bits").tolist()
    [1, 2, 3]
    """
    native = np.ascontiguousarray(x.astype(x.dtype.newbyteorder("=")))
    if rule == "bits":
        return np.flatnonzero(_bits(native))
    if rule not in ("value", "ordered"):
        raise ArgumentValueError(f"rule is {rule!r}; accepted are 'value', 'ordered', 'bits'")
    # NaT is not a zero: its bits are the smallest integer's.
    numbers = native.view(np.int64) if native.dtype.kind in "mM" else native
    with np.errstate(invalid="ignore"):
        counts = numbers != np.zeros(1, numbers.dtype)[0]
    if rule == "ordered":
        counts &= ~_is_nan(native)
    return np.flatnonzero(counts)
