"""The native engine: the SIMD kernels of the core behind the engine protocol."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from lanesort import _core
from lanesort.engine.pairs import refuse_misfits
from lanesort.engine.protocol import STOPS, MergedRuns, NonzeroRule, OrderedPairs, Place, Stop, Verb, written
from lanesort.errors import ArgumentValueError, UnsupportedPolicyError
from lanesort.kernels.native_order import bits_view, key_order
from lanesort.order import Order

__all__ = ["NativeEngine"]

Array = npt.NDArray[Any]
TIES: dict[Verb, tuple[str, ...]] = {
    "order_pairs": ("low", "high"),
    "merge_runs": ("run", "later-run"),
}
ANY = Order()


class NativeEngine:
    """`lanesort.engine.protocol.Engine` over `lanesort._core`."""

    name = "native"
    merges_unsorted = False

    def refusal(self, verb: Verb, order: Order) -> str | None:
        """Return None if the engine has `verb` under `order`, else which part it lacks."""
        if verb == "compact":
            return None
        if order.nan == "compare-false":
            return f"nan='compare-false' for {verb}: its kernels order keys, and that policy has none"
        return None if order.tie in TIES[verb] else f"tie={order.tie!r} for {verb}"

    def _require(self, verb: Verb, order: Order) -> None:
        lacking = self.refusal(verb, order)
        if lacking:
            raise UnsupportedPolicyError(f"engine {self.name!r} has no {lacking}")

    def order_pairs(
        self, values: Array, payload: Array, order: Order, *, out: tuple[Array, Array] | None = None
    ) -> OrderedPairs:
        """Order each row of (R, N) pairs; see the protocol."""
        self._require("order_pairs", order)
        values, payload = _native(values), _native(payload)
        turns = payload.ndim == 2 and len(payload) > 0 and len(values) % len(payload) == 0
        if values.ndim != 2 or values.shape[1:] != payload.shape[1:] or not (turns or len(values) == 0):
            raise ArgumentValueError(
                f"values have shape {values.shape}, payload {payload.shape}; they are (R, N) and (R, N) or "
                "fewer rows that divide R"
            )
        direct = out is not None and _direct(out, values, payload)
        to = out if out is not None and direct else _empty(values.shape, values, payload)
        nan = _core.sort_pairs(
            _adjacent(bits_view(values)),
            key_order(values.dtype, order),
            bits_view(to[0]),
            bits_view(to[1]),
            payload=_adjacent(bits_view(payload)),
            look_for_nan=True,
        )
        return written(out, *to, nan)

    def merge_runs(
        self, runs: Sequence[Array], order: Order, *, out: Array, stop: Stop = "all", limit: int | None = None
    ) -> MergedRuns:
        """Merge sorted runs of pairs of 8 bytes; see the protocol."""
        self._require("merge_runs", order)
        dtype = out.dtype
        if stop not in STOPS or not dtype.isnative or any(run.dtype != dtype for run in runs):
            refuse_misfits(runs, out, stop, limit)
        key_map = _run_order(dtype, order)
        if dtype.kind == "V":  # which the buffer protocol can't tell of
            runs, out = [bits_view(run) for run in runs], bits_view(out)
        try:
            consumed, unsorted, nan = _core.merge_words(
                runs, key_map, out, order.tie == "later-run", stop == "first-exhausted", limit
            )
        except (TypeError, ValueError):
            refuse_misfits(runs, out, stop, limit)
            raise
        return MergedRuns(tuple(consumed), None if unsorted is None else Place(*unsorted), nan)

    def compact(self, values: Array, rule: NonzeroRule) -> Array:
        """Return the int64 positions of the nonzeros of a 1-D array; see the protocol."""
        bits = _adjacent(bits_view(_native(values)))
        nonzeros = _core.Nonzeros(bits, rule, key_order(values.dtype, ANY))
        positions = np.empty(nonzeros.count, np.int64)
        nonzeros.positions(positions)
        return positions


@lru_cache(maxsize=256)
def _run_order(dtype: np.dtype[Any], order: Order) -> _core.KeyOrder:
    """Return the key map of a merge, whose ties go by run."""
    return key_order(dtype, order.replace(tie="low"))


def _empty(shape: tuple[int, ...], values: Array, payload: Array) -> tuple[Array, Array]:
    return np.empty(shape, values.dtype), np.empty(shape, payload.dtype)


def _native(x: Array) -> Array:
    """Return `x` in native byte order."""
    return x if x.dtype.isnative else x.astype(x.dtype.newbyteorder("="))


def _adjacent(x: Array) -> Array:
    """Return `x` with the items of a row one after the other."""
    return x if x.shape[-1] < 2 or x.strides[-1] == x.itemsize else np.ascontiguousarray(x)


def _direct(out: tuple[Array, Array], values: Array, payload: Array) -> bool:
    """Say whether the core can write to `out`: adjacent items, or pairs of 8 bytes in place."""
    if out[0].size == 0 or out[1].dtype != payload.dtype:
        return False
    steps = out[0].strides[-1], out[1].strides[-1]
    if steps == (values.itemsize, payload.itemsize):
        return out[0].dtype == values.dtype
    if steps != (8, 8) or payload.itemsize != 4:
        return False
    if values.itemsize == 4:
        return out[0].dtype == values.dtype
    widened = out[0].dtype == np.uint32 and values.itemsize == 2 and values.shape[-1] > 1
    return widened and bool(out[1].ctypes.data - out[0].ctypes.data == 4)
