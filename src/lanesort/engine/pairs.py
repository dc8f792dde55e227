"""Pairs of 8 bytes as rows of tiles hold them, and merges that find the places of pairs.

A pair begins with its value; what follows it up to 8 bytes, such as an index, travels along.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from lanesort.engine.protocol import STOPS, MergedRuns, Place, Stop
from lanesort.errors import ArgumentTypeError, ArgumentValueError
from lanesort.order import key_class, nan_mask

__all__ = ["PAIR_BYTES", "any_nan", "merged_by_places", "pair_values", "pair_words", "refuse_misfits"]

Array = npt.NDArray[Any]

PAIR_BYTES = 8


def refuse_misfits(runs: Sequence[Array], out: Array, stop: Stop, limit: int | None) -> None:
    """Refuse what is not as `Engine.merge_runs` takes it.

    Raises
    ------
    ArgumentTypeError
        For runs of other dtypes than `out`, or one that pairs do not hold.
    ArgumentValueError
        For no runs, shapes that do not fit, an unknown `stop`, a negative limit, and ends or
        too little room for other than one group.
    """
    if not runs:
        raise ArgumentValueError("runs is empty; a merge needs at least one")
    for number, run in enumerate(runs):
        if run.dtype != out.dtype or not run.dtype.isnative or run.itemsize not in (2, 4):
            raise ArgumentTypeError(
                f"runs[{number}] has dtype {run.dtype}, out {out.dtype}; both hold values of one dtype of 16 "
                "or 32 bits in native byte order"
            )
        if run.ndim != 2 or out.ndim != 2 or len(run) != len(out):
            raise ArgumentValueError(
                f"runs[{number}] has shape {run.shape}, out {out.shape}; both have a row for each group"
            )
    if stop not in STOPS or (limit is not None and limit < 0):
        raise ArgumentValueError(
            f"stop is {stop!r}, limit {limit}; stop is one of {STOPS}, no limit is negative"
        )
    room, most = pair_words(out).shape[1], sum(pair_words(run).shape[1] for run in runs)
    if len(out) != 1 and (room < most or stop != "all" or limit is not None):
        raise ArgumentValueError(
            f"out has {len(out)} groups with room for {room} of {most} pairs, stop is {stop!r}, limit "
            f"{limit}; a merge that ends early is one of one group"
        )


def pair_values(rows: Array) -> Array:
    """View the values of the whole pairs in rows of tile elements, shape (R, columns).

    Examples
    --------
    >>> pair_values(np.array([[7.0, 0.0, 5.0, 0.0]], np.float32)).tolist()
    [[7.0, 5.0]]
    """
    width = PAIR_BYTES // rows.itemsize
    return rows[:, : rows.shape[1] // width * width : width]


def pair_words(rows: Array) -> Array:
    """View the whole pairs in rows of tile elements as 64-bit words."""
    width = PAIR_BYTES // rows.itemsize
    return rows[:, : rows.shape[1] // width * width].view(np.uint64)


def any_nan(values: Array) -> bool:
    """Say whether there is a NaN.

    Examples
    --------
    >>> any_nan(np.array([1.0, np.nan])), any_nan(np.array([1]))
    (True, False)
    """
    return key_class(values.dtype).kind == "float" and bool(nan_mask(values).any())


def merged_by_places(
    runs: Sequence[Array],
    out: Array,
    merge: Callable[[list[Array]], tuple[Array, tuple[int, ...]]],
    inspect: Callable[[Array], tuple[int, bool]],
) -> MergedRuns:
    """Do what `Engine.merge_runs` says, given who merges values and who looks at them.

    Parameters
    ----------
    runs, out
        As the engine gets them.
    merge
        Takes the values of the runs of one group; returns the places of the merged ones in
        their concatenation, and how many came from each run.
    inspect
        Takes the values of a run, a group in each row; returns the place, counted over all
        rows, of the first one that belongs before its predecessor, or -1, and whether there
        is a NaN.

    """
    values = [pair_values(run) for run in runs]
    unsorted: list[Place] = []
    nan = False
    for number, run in enumerate(values):
        place, has_nan = inspect(run)
        nan |= has_nan
        if place >= 0:
            group, position = divmod(place, run.shape[1])
            unsorted.append(Place(group, number, position))
    consumed = tuple(run.shape[1] for run in values)
    all_words = np.concatenate([pair_words(run) for run in runs], axis=1)
    all_places = []
    for group in range(len(out)):
        places, consumed = merge([run[group] for run in values])
        all_places.append(places)
    for row, words, places in zip(pair_words(out), all_words, all_places, strict=True):
        fitting = places[: len(row)]
        row[: len(fitting)] = words[fitting]
    return MergedRuns(consumed, min(unsorted, default=None), nan)
