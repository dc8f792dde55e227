"""Questions about sizes, layouts and dtypes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from lanesort.conformance.inputs import DTYPES, extremes
from lanesort.conformance.question import Question
from lanesort.conformance.subject import Subject, Verb
from lanesort.errors import MissingVerbError, RefusedError
from lanesort.order import Order, unsigned_view
from lanesort.reference import ranks

__all__ = ["SHAPE_QUESTIONS"]

Array = npt.NDArray[Any]

REFUSED = "refused"
RIGHT = "right"
WRONG = "wrong"


def _top_k_of(subject: Subject, shape: tuple[int, int], k: int) -> str:
    found = subject.best(np.ones(shape, np.float32), k, True)
    if found.values.shape != found.indices.shape:
        return f"values {found.values.shape}, indices {found.indices.shape}"
    return f"shape {found.values.shape}"


def _sort_of(subject: Subject, verb: Verb, shape: tuple[int, int]) -> str:
    x = np.ones(shape, np.float32)
    found = subject.sorted(x, False) if verb == "sort" else subject.ordered(x, False)
    return f"shape {found.shape}"


def _values(subject: Subject, verb: Verb, x: Array, descending: bool) -> Array:
    """Order the values of `x`."""
    if verb == "sort":
        return subject.sorted(x, descending)
    if verb == "argsort":
        return np.asarray(np.take_along_axis(x, subject.ordered(x, descending), axis=-1))
    return np.asarray(subject.best(x, x.shape[-1], descending).values)


def _layout(subject: Subject, verb: Verb, arrange: Callable[[Array], Array]) -> str:
    plain = np.random.default_rng(5).permutation(600).reshape(3, 200).astype(np.float32)
    arranged = arrange(plain)
    same = np.array_equal(
        _values(subject, verb, arranged, True).astype("=f4"), _values(subject, verb, plain, True)
    )
    return "same" if same else "differs"


def _reversed_twice(x: Array) -> Array:
    return np.ascontiguousarray(x[:, ::-1])[:, ::-1]


def _read_only(x: Array) -> Array:
    copy = x.copy()
    copy.flags.writeable = False
    return copy


LAYOUTS: dict[str, Callable[[Array], Array]] = {
    "negative strides": _reversed_twice,
    "column-major": np.asfortranarray,
    "other byte order": lambda x: x.astype(x.dtype.newbyteorder("S")),
    "read-only": _read_only,
}


def _dtype(subject: Subject, name: str) -> str:
    """Say whether the verbs order values of a dtype right; those that do not are named."""
    found: dict[Verb, str] = {}
    for verb in subject.verbs:
        try:
            found[verb] = _orders(subject, verb, DTYPES[name])
        except RefusedError:
            found[verb] = REFUSED
        except MissingVerbError:
            continue
    if not found:
        raise MissingVerbError(f"{subject.name} has no verb in the direction asked for")
    if len(set(found.values())) == 1:
        return next(iter(found.values()))
    parts = [
        f"{state}: {', '.join(v for v in found if found[v] == state)}"
        for state in (WRONG, REFUSED)
        if state in found.values()
    ]
    return "; ".join(parts)


def _orders(subject: Subject, verb: Verb, dtype: np.dtype[Any]) -> str:
    asked = 0
    for length, descending in product((7, 300, 3000), (True, False)):
        x = extremes(dtype, length)
        try:
            values = _values(subject, verb, x, descending)
        except MissingVerbError:
            continue
        asked += 1
        if values.dtype != dtype or values.shape != x.shape:
            return WRONG
        if not np.array_equal(np.sort(unsigned_view(values)), np.sort(unsigned_view(x))):
            return WRONG
        if (np.diff(ranks(values, Order(descending))) < 0).any():
            return WRONG
    if not asked:
        raise MissingVerbError(f"{subject.name} lacks {verb}")
    return RIGHT


def _questions() -> Iterator[Question]:
    top_k: Verb = "top_k"
    sizes = (
        ("k > n", (2, 3), 4, (REFUSED,)),
        ("k = 0", (2, 3), 0, ("shape (2, 0)",)),
        ("k < 0", (2, 3), -1, (REFUSED,)),
        ("k = 0 of empty rows", (2, 0), 0, ("shape (2, 0)",)),
        ("no rows", (0, 3), 2, ("shape (0, 2)",)),
    )
    for text, shape, k, promised in sizes:
        yield Question("sizes", top_k, text, partial(_top_k_of, shape=shape, k=k), promised)
    verbs: tuple[Verb, ...] = ("sort", "argsort")
    for verb in verbs:
        yield Question(
            "sizes", verb, "empty rows", partial(_sort_of, verb=verb, shape=(2, 0)), ("shape (2, 0)",)
        )
        yield Question(
            "sizes", verb, "no rows", partial(_sort_of, verb=verb, shape=(0, 3)), ("shape (0, 3)",)
        )
    for text, arrange in LAYOUTS.items():
        for verb in (*verbs, top_k):
            yield Question(
                "layouts", verb, text, partial(_layout, verb=verb, arrange=arrange), ("same", REFUSED)
            )
    for name in DTYPES:
        yield Question("dtypes", "all", name, partial(_dtype, name=name), (RIGHT, REFUSED))


SHAPE_QUESTIONS = tuple(_questions())
"""Every question about sizes, layouts and dtypes, in the order of the table."""
