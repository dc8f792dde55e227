"""What an engine is: a few verbs on values and the indices that travel with them.

Models ask an engine for the order of pairs and know nothing of how it is found. Three
engines exist, independent of one another: ``reference`` (obvious NumPy), ``native`` (the
SIMD kernels) and ``datapath`` (compare-exchange networks and cursors, as the hardware).
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from lanesort.errors import ArgumentValueError
from lanesort.order import Order

__all__ = [
    "ENGINES",
    "STOPS",
    "Engine",
    "MergedRuns",
    "OrderedPairs",
    "Place",
    "Verb",
    "resolve",
    "serving_by_turns",
    "written",
]

Array = npt.NDArray[Any]
Verb = Literal["order_pairs", "merge_runs", "compact"]
NonzeroRule = Literal["value", "ordered", "bits"]
Stop = Literal["all", "first-exhausted"]
STOPS: tuple[Stop, ...] = ("all", "first-exhausted")


class OrderedPairs(NamedTuple):
    """What `Engine.order_pairs` gives: pairs in order, and whether there is a NaN among the values."""

    values: Array
    payload: Array
    nan: bool


class Place(NamedTuple):
    """Where a pair stands among the runs of a merge."""

    group: int
    run: int
    position: int


class MergedRuns(NamedTuple):
    """What `Engine.merge_runs` gives beside the pairs.

    Attributes
    ----------
    consumed
        Pairs taken from each run of a group.
    unsorted
        The first pair that belongs before its predecessor in its run, or None; ties are no
        fault.
    nan
        Whether there is a NaN among the values.
    """

    consumed: tuple[int, ...]
    unsorted: Place | None
    nan: bool


@runtime_checkable
class Engine(Protocol):
    """A way of ordering pairs.

    Values have any dtype of `lanesort.order.KEY_CLASSES`; payloads are unsigned integers of
    32 or 16 bits. Returned values are bitwise the given ones. Inputs are never written.
    """

    name: str
    merges_unsorted: bool
    """Whether a merge of runs that are not sorted compares their heads as they are; else it is no result."""

    def refusal(self, verb: Verb, order: Order) -> str | None:
        """Return None if the engine has `verb` under `order`, else which part it lacks."""

    def order_pairs(
        self, values: Array, payload: Array, order: Order, *, out: tuple[Array, Array] | None = None
    ) -> OrderedPairs:
        """Order each row of pairs.

        Parameters
        ----------
        values, payload
            Shape (R, N). The payload may have fewer rows, a divisor of R, which serve by
            turns. Ties go by position in the row (``low``, ``high``) or by payload.
        order
            How values compare.
        out
            Where to write values and payload, shape (R, N) each; any strides, so that
            interleaved pairs can be written in place. Must not overlap the inputs. Where
            values of 16 bits get items of uint32, their bits are widened by zeros.
        """

    def merge_runs(
        self, runs: Sequence[Array], order: Order, *, out: Array, stop: Stop = "all", limit: int | None = None
    ) -> MergedRuns:
        """Merge sorted runs of pairs of 8 bytes, which are moved as wholes, group by group.

        ``order.tie`` is ``run`` or ``later-run``. The merge ends when everything is merged,
        when `limit` pairs are emitted, or, under ``first-exhausted``, as soon as one run has
        given its last pair; a run that is empty from the start stops it before any.
        Under ``compare-false`` heads are compared by plain ``>`` (``<`` ascending), in the
        manner of a scan that keeps the earlier run unless a later one is strictly better.

        Parameters
        ----------
        runs
            One array for each run, shape (G, columns), a group in each row, items of a row
            adjacent. A pair takes 8 bytes of them and begins with its value, whose dtype is
            that of the array: 16 or 32 bits.
        order
            How values compare.
        out
            Where to write the pairs, shape (G, columns), the same dtype; may overlap the
            runs. Of one group as many leading pairs are written as there is room for; more
            groups need room for all. What stands behind them is left as it was.
        stop, limit
            Where the merge ends; for one group.

        Raises
        ------
        ArgumentTypeError, ArgumentValueError
            For arrays that do not fit each other, as `lanesort.engine.pairs.refuse_misfits` says.
        UnsupportedPolicyError
            For what `refusal` names.
        """

    def compact(self, values: Array, rule: NonzeroRule) -> Array:
        """Return the int64 positions of the nonzeros of a 1-D array.

        ``value``: NaN counts, -0.0 does not. ``ordered``: neither counts. ``bits``: both do.
        """


ENGINES: dict[str, str] = {
    "reference": "lanesort.engine.reference:ReferenceEngine",
    "native": "lanesort.engine.native:NativeEngine",
    "datapath": "lanesort.engine.datapath:DatapathEngine",
}
"""Where each engine lives; it is imported when it is first asked for."""

_made: dict[str, Engine] = {}


def written(out: tuple[Array, Array] | None, values: Array, payload: Array, nan: bool) -> OrderedPairs:
    """Write pairs to `out` as `Engine.order_pairs` says, and return it; without one, the pairs."""
    if out is None:
        return OrderedPairs(values, payload, nan)
    if out[0] is not values:
        out[0][...] = values if out[0].dtype == values.dtype else values.view(f"u{values.itemsize}")
    if out[1] is not payload:
        out[1][...] = payload
    return OrderedPairs(*out, nan)


def serving_by_turns(payload: Array, rows: int) -> Array:
    """Return `payload` with its rows repeated up to `rows`, a multiple of them."""
    return payload if len(payload) == rows else np.tile(payload, (rows // max(1, len(payload)), 1))


def resolve(engine: str | Engine) -> Engine:
    """Return the engine of that name, or the engine itself.

    Raises
    ------
    ArgumentValueError
        For an unknown name.
    """
    if not isinstance(engine, str):
        return engine
    if engine not in ENGINES:
        raise ArgumentValueError(f"engine is {engine!r}; accepted are {', '.join(map(repr, ENGINES))}")
    if engine not in _made:
        module, _, name = ENGINES[engine].partition(":")
        _made[engine] = getattr(import_module(module), name)()
    return _made[engine]
