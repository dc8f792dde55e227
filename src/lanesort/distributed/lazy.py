"""Dask arrays in and out: the library's arguments, checks before anything is computed, results."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from types import SimpleNamespace
from typing import Any, NamedTuple, ParamSpec

import dask.array as da
import numpy as np
from dask.highlevelgraph import HighLevelGraph

from lanesort.distributed import chunk as task
from lanesort.distributed.exchange import Graph, Key
from lanesort.errors import ArgumentTypeError, ArgumentValueError
from lanesort.kernels.rows import normal_axis
from lanesort.order import key_class

__all__ = [
    "NOT_LAZY",
    "Taking",
    "arguments_of",
    "array_of",
    "checked",
    "flat_blocks",
    "layer_of",
    "rows_of",
    "pairs_of",
    "starts_of",
    "taking",
    "whole_rows",
    "with_item",
]

P = ParamSpec("P")

NOT_LAZY: Mapping[str, str] = {
    "threads": "a task uses one thread, and the scheduler decides how many run: leave it out",
    "out": "a lazy result has no memory yet: leave it out, and store the result with dask.array.store",
}
"""Arguments of the library that mean nothing here, and why."""


def arguments_of(verb: Callable[P, Any]) -> Callable[[Callable[..., Any]], Callable[P, Any]]:
    """Give a function the arguments of a verb of the library, but for those in `NOT_LAZY`.

    The function gets the verb's positional arguments, and one object with all others as
    attributes, defaults included.
    """
    signature = inspect.signature(verb)
    kept = [p for name, p in signature.parameters.items() if name not in NOT_LAZY]
    lazy = signature.replace(parameters=kept, return_annotation=inspect.Signature.empty)
    positional = [p.name for p in kept if p.kind is not inspect.Parameter.KEYWORD_ONLY]

    def decorate(function: Callable[..., Any]) -> Callable[P, Any]:
        @wraps(function)
        def call(*args: P.args, **given: P.kwargs) -> Any:
            for name, reason in NOT_LAZY.items():
                if name in signature.parameters and given.get(name) is not None:
                    raise ArgumentTypeError(f"{name} is {given[name]!r}; {reason}")
            wanted = {name: value for name, value in given.items() if name not in NOT_LAZY}
            bound = lazy.bind(*args, **wanted)
            bound.apply_defaults()
            front = [bound.arguments.pop(name) for name in positional]
            return function(*front, SimpleNamespace(**bound.arguments))

        call.__signature__ = lazy  # type: ignore[attr-defined]  # functions take attributes
        del call.__wrapped__
        return call

    return decorate


def checked(x: Any, axis: Any, name: str = "x") -> int:
    """Return the axis counted from the front, of a Dask array that can be ordered along it.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If it is none, its values have no order, or its chunks have unknown sizes.
    """
    if not isinstance(x, da.Array):
        raise ArgumentTypeError(f"{name} is a {type(x).__name__}; these functions take Dask arrays")
    key_class(x.dtype)
    if x.ndim == 0:
        raise ArgumentValueError(f"{name} has no dimension; ordering needs at least one")
    if any(math.isnan(size) for sizes in x.chunks for size in sizes):
        raise ArgumentValueError(
            f"{name} has chunks of unknown size; call {name}.compute_chunk_sizes() first"
        )
    return normal_axis(axis, x.ndim)


class Taking(NamedTuple):
    """Which elements of an array take part, chunked as it is.

    Attributes
    ----------
    place
        The axis.
    lengths, where
        Dask arrays, or None.
    """

    place: int
    lengths: Any
    where: Any

    def keys(self, block: Key) -> tuple[Key | None, Key | None]:
        """Return the tasks that give lengths and mask of a block."""
        across = (*block[: self.place], *block[self.place + 1 :])
        return (
            None if self.lengths is None else (self.lengths.name, *across),
            None if self.where is None else (self.where.name, *block),
        )

    @property
    def inputs(self) -> list[Any]:
        """The arrays that are there."""
        return [a for a in (self.lengths, self.where) if a is not None]

    def __bool__(self) -> bool:
        """Whether some elements may take no part."""
        return bool(self.inputs)

    def row(self, row: int) -> Taking:
        """Return the same for one row of a two-dimensional array whose axis is the last."""
        return Taking(
            0,
            None if self.lengths is None else self.lengths[row],
            None if self.where is None else self.where[row],
        )


def taking(x: Any, place: int, lengths: Any, where: Any) -> Taking:
    """Check `lengths` and `where`, NumPy or Dask arrays, and chunk them as x.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        For wrong dtypes and shapes, and for lengths outside 0 … n; those of a Dask array are
        looked at when they are computed.
    """
    across = (*x.chunks[:place], *x.chunks[place + 1 :])
    if lengths is not None:
        if not isinstance(lengths, da.Array):
            lengths = np.asarray(lengths)
        shape = (*x.shape[:place], *x.shape[place + 1 :])
        if lengths.dtype.kind not in "iu":
            raise ArgumentTypeError(f"lengths has dtype {lengths.dtype}; it must be of integers")
        if lengths.shape != shape:
            raise ArgumentValueError(
                f"lengths has shape {lengths.shape}; it must be {shape}, the shape of x without the axis"
            )
        if isinstance(lengths, da.Array):
            lengths = lengths.map_blocks(task.checked_lengths, x.shape[place], dtype=lengths.dtype)
            lengths = lengths.rechunk(across) if across else lengths
        else:
            lengths = da.from_array(task.checked_lengths(lengths, x.shape[place]), chunks=across)
    if where is not None:
        if not isinstance(where, da.Array):
            where = np.asarray(where)
        if where.dtype.kind != "b":
            raise ArgumentTypeError(f"where has dtype {where.dtype}; it must be of booleans")
        try:
            where = da.broadcast_to(where, x.shape).rechunk(x.chunks)
        except ValueError:
            raise ArgumentValueError(
                f"where has shape {where.shape}, which does not broadcast to x's {x.shape}"
            ) from None
    return Taking(place, lengths, where)


def whole_rows(x: Any, place: int) -> Any:
    """Rechunk an array so that no row is divided, its chunks as large as they were.

    Returns
    -------
    dask.array.Array or None
        None where a row is larger than the largest chunk.
    """
    if x.numblocks[place] == 1:
        return x
    if x.size == 0:
        return x.rechunk({place: -1})
    largest = math.prod(max(sizes) for sizes in x.chunks)
    if x.ndim == 1 or x.shape[place] > largest:
        return None
    limit = largest * x.dtype.itemsize
    return x.rechunk(with_item(("auto",) * x.ndim, place, -1), block_size_limit=limit)


def rows_of(x: Any, place: int) -> Any:
    """Return an array as (rows, n), its axis the last."""
    moved = da.moveaxis(x, place, -1)
    return moved.reshape(-1, moved.shape[-1]) if moved.ndim > 2 else moved


def flat_blocks(x: Any) -> Any:
    """Flatten an array in C order, without chunks that have no elements."""
    # Dask's reshape fails where a chunk has no elements.
    full = x.rechunk(tuple(tuple(size for size in sizes if size) or (0,) for sizes in x.chunks))
    return full.reshape(-1)


def layer_of(graph: Graph, name: str, inputs: Sequence[Any]) -> HighLevelGraph:
    """Return tasks as one layer that stands on the layers of the arrays it reads."""
    return HighLevelGraph.from_collections(name, graph, dependencies=inputs)


def array_of(base: HighLevelGraph, name: str, tasks: Graph, chunks: Any, dtype: np.dtype[Any]) -> Any:
    """Return the Dask array whose chunks are made by `tasks`, which read those of `base`."""
    below = next(layer for layer in base.layers if not any(layer in d for d in base.dependencies.values()))
    layers = {**base.layers, name: tasks}
    return da.Array(HighLevelGraph(layers, {**base.dependencies, name: {below}}), name, chunks, dtype)


def pairs_of(
    base: HighLevelGraph,
    name: str,
    parts: Sequence[Graph | None],
    chunks: Any,
    dtypes: Sequence[np.dtype[Any]],
) -> list[Any]:
    """Return the Dask arrays of values and indices, None for those without tasks.

    `parts` maps the numbers of a chunk to the task that gives it.
    """
    found = []
    for kind, tasks, dtype in zip(("values", "indices"), parts, dtypes, strict=True):
        own = f"lanesort-{kind}-of-{name}"
        named = None if tasks is None else {(own, *block): value for block, value in tasks.items()}
        found.append(None if named is None else array_of(base, own, named, chunks, dtype))
    return found


def starts_of(sizes: Sequence[int], offset: int = 0) -> list[int]:
    """Return where chunks of these sizes begin."""
    return [offset + int(s) for s in np.cumsum([0, *sizes[:-1]])]


def with_item(items: Any, place: int, item: Any) -> Any:
    """Return a tuple with one item changed."""
    changed = list(items)
    changed[place] = item
    return tuple(changed)
