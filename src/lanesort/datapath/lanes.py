"""Running a network over lanes of values, with the indices that travel with them.

One exchange compares the values of two lanes and, by the one vbool, moves values and tags.
A tag is the position, or whatever else is the second key; a stable result needs it in the
comparison, since a network does not keep equal values in place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from lanesort.datapath.network import Network, Stage
from lanesort.errors import ArgumentValueError
from lanesort.order import Order, key_class, keys

__all__ = ["EXCHANGES", "Exchange", "LaneState", "comparand", "run", "steps"]

Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]
Exchange = Literal["swap", "keep", "num"]

EXCHANGES: Mapping[Exchange, str] = {
    "swap": "the lanes change places when the later one is strictly better",
    "keep": "the lanes keep their places when the earlier one is strictly better, else they change",
    "num": "values go by minNum and maxNum, which drop a NaN and repeat the number; indices go as in swap",
}
"""How the vbool of an ordered compare may be used. They differ only where a NaN is met."""

_CELLS = 1 << 20


class LaneState(NamedTuple):
    """Lanes after a stage.

    Attributes
    ----------
    values, tags
        Shape (lanes, R); column r is row r of the input.
    padding
        Lanes that hold padding, whose content means nothing. It starts behind the network's
        width, moves about in a bitonic network, and ends there again.
    stage
        The comparators that led here, without those that only touch padding; None before
        the first stage.
    moved
        For each of them and each row, whether its lanes changed places.
    """

    values: Array
    tags: Array
    padding: Mask
    stage: Stage | None
    moved: Mask


def comparand(values: Array, order: Order) -> Array:
    """Return what the compare of the lanes sees.

    Floats are compared as floats, so a NaN is unordered. An order on bit patterns
    (``sign-magnitude``, ``total``, zeros by sign) is an integer compare of keys.

    Parameters
    ----------
    values
        Any shape, any dtype of `lanesort.order.KEY_CLASSES`.
    order
        Direction is not part of the comparand; NaN policy and zero rule are.

    Examples
    --------
    >>> import numpy as np
    >>> comparand(np.array([1.5, np.nan], np.float16), Order()).tolist()
    [1.5, nan]
    """
    kind = key_class(values.dtype).kind
    by_bits = order.nan in ("sign-magnitude", "total") or order.zero == "signed"
    if kind == "time" and order.nan == "compare-false":
        return values.astype(values.dtype.newbyteorder("="), copy=False).view(np.int64)
    if kind == "time" or (kind == "float" and by_bits):
        # Descending keys would be reversed twice; "last" has its own place for each direction.
        ascending = keys(values, order)
        return ~ascending if order.descending else ascending
    if kind == "float":
        wide = np.float64 if values.dtype.itemsize == 8 else np.float32
        with np.errstate(invalid="ignore"):
            return values.astype(wide)
    native = values.astype(values.dtype.newbyteorder("="), copy=False)
    return native.view(np.uint8) if native.dtype.kind == "b" else native


@lru_cache(maxsize=64)
def _schedule(network: Network) -> tuple[tuple[Stage, Mask, Mask], ...]:
    """Pair each stage with the comparators whose first lane holds padding, and the padding after it.

    Padding comes after everything, so it moves the same way whatever the values are: from
    ``first`` to ``second``, always.
    """
    padding = np.arange(network.lanes) >= network.width
    plan = []
    for stage in network.stages:
        forced = padding[stage.first] & ~padding[stage.second]
        useful = ~padding[stage.second] | forced
        kept = Stage(stage.first[useful], stage.second[useful])
        padding = padding.copy()
        padding[stage.first[forced]] = False
        padding[stage.second[forced]] = True
        plan.append((kept, forced[useful], padding))
    return tuple(plan)


def steps(
    network: Network,
    values: Array,
    tags: Array,
    *,
    descending: bool = False,
    tie_by_tag: bool = True,
    exchange: Exchange = "swap",
) -> Iterator[LaneState]:
    """Run a network and yield the lanes before the first and after every stage.

    Parameters
    ----------
    network
        Of the rows' width.
    values
        Shape (R, N): what the lanes compare.
    tags
        Shape (R, N): integers that travel along.
    descending
        Largest first.
    tie_by_tag
        Of two values neither of which is better, the one with the smaller tag comes first.
        Without it they stay where they are (``keep`` exchanges them).
    exchange
        One of `EXCHANGES`.

    Yields
    ------
    LaneState
        `network.depth` + 1 states; arrays are written again by the next step.

    Raises
    ------
    ArgumentValueError
        For shapes that do not fit the network, or an unknown exchange.
    """
    if values.ndim != 2 or values.shape != tags.shape or values.shape[1] != network.width:
        raise ArgumentValueError(
            f"values have shape {values.shape} and tags {tags.shape}; a network of {network.width} takes "
            f"(rows, {network.width}) of both"
        )
    if exchange not in EXCHANGES:
        raise ArgumentValueError(f"exchange is {exchange!r}; accepted are {', '.join(map(repr, EXCHANGES))}")
    lanes = np.zeros((network.lanes, len(values)), values.dtype)
    carried = np.zeros(lanes.shape, tags.dtype)
    lanes[: network.width], carried[: network.width] = values.T, tags.T
    padding = np.arange(network.lanes) >= network.width
    yield LaneState(lanes, carried, padding, None, np.zeros((0, len(values)), np.bool_))
    for stage, forced, padding in _schedule(network):
        moved = _exchange(lanes, carried, stage, forced, descending, tie_by_tag, exchange)
        yield LaneState(lanes, carried, padding, stage, moved)


def _exchange(
    lanes: Array,
    carried: Array,
    stage: Stage,
    forced: Mask,
    descending: bool,
    tie_by_tag: bool,
    exchange: Exchange,
) -> Mask:
    a, b = lanes[stage.first], lanes[stage.second]
    tag_a, tag_b = carried[stage.first], carried[stage.second]
    better_a, better_b = (a > b, b > a) if descending else (a < b, b < a)
    if tie_by_tag:
        moved = better_b | (~better_a & (tag_b < tag_a))
    else:
        moved = ~better_a if exchange == "keep" else better_b
    moved |= forced[:, None]
    carried[stage.first] = np.where(moved, tag_b, tag_a)
    carried[stage.second] = np.where(moved, tag_a, tag_b)
    if exchange == "num" and a.dtype.kind == "f":
        low, high = np.fmin(a, b), np.fmax(a, b)
        first, second = (high, low) if descending else (low, high)
        lanes[stage.first] = np.where(forced[:, None], b, first)
        lanes[stage.second] = np.where(forced[:, None], a, second)
    else:
        lanes[stage.first] = np.where(moved, b, a)
        lanes[stage.second] = np.where(moved, a, b)
    return moved


def run(
    network: Network,
    values: Array,
    tags: Array,
    *,
    descending: bool = False,
    tie_by_tag: bool = True,
    exchange: Exchange = "swap",
) -> tuple[Array, Array]:
    """Run a network over rows and return values and tags, shape (R, N) each.

    Parameters are those of `steps`. Rows are taken some at a time, so that memory beside
    the result stays bounded.

    Examples
    --------
    >>> import numpy as np
    >>> from lanesort.datapath.network import network
    >>> run(network("bitonic", 6), np.array([[9, 3, 5, 1, 0, 0]]), np.arange(6)[None])[1].tolist()
    [[4, 5, 3, 1, 2, 0]]
    """
    out_values, out_tags = np.empty_like(values), np.empty_like(tags)
    rows = max(1, _CELLS // max(1, network.lanes))
    for start in range(0, len(values), rows):
        part = slice(start, start + rows)
        for state in steps(
            network,
            values[part],
            tags[part],
            descending=descending,
            tie_by_tag=tie_by_tag,
            exchange=exchange,
        ):
            last = state
        out_values[part] = last.values[: network.width].T
        out_tags[part] = last.tags[: network.width].T
    return out_values, out_tags
