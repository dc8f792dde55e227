"""Questions about the order: ties, NaN, the sign of zero, and how the verbs agree."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import permutations
from typing import Any

import numpy as np
import numpy.typing as npt

from lanesort import reference
from lanesort.conformance.inputs import LENGTHS, denormals, few_values, special_rows, zeros
from lanesort.conformance.question import Question
from lanesort.conformance.subject import Subject, Verb
from lanesort.errors import MissingVerbError
from lanesort.order import NanPolicy, Order, TieRule, unsigned_view
from lanesort.reference import ranks

__all__ = ["ORDER_QUESTIONS"]

Array = npt.NDArray[Any]
Positions = Callable[[Array, bool], Array]

UNORDERED = "none: numbers out of order"
POLICIES: tuple[NanPolicy, ...] = ("last", "largest", "sign-magnitude", "total")
VERBS: tuple[Verb, ...] = ("sort", "argsort", "top_k")
MIXED = "mixed"
SIGNED = "−0 below +0"


def _positions(subject: Subject, verb: Verb) -> Positions:
    """Choose what gives positions in order: argsort, or a top-k of everything."""
    if verb == "argsort":
        return subject.ordered
    return lambda x, descending: subject.best(x, x.shape[-1], descending).indices


def _ties(subject: Subject, verb: Verb, descending: bool) -> str:
    find = _positions(subject, verb)
    agree: set[TieRule] = {"low", "high"}
    for length in LENGTHS:
        x = few_values(length)
        for tie in tuple(agree):
            expected = reference.argsort(x[None], Order(descending, tie=tie))[0]
            if not np.array_equal(find(x, descending), expected):
                agree.discard(tie)
    return agree.pop() if agree else MIXED


def _nan_policy(subject: Subject, verb: Verb, dtype: str) -> str:
    """Find the strictest NaN policy that all results agree with."""
    agree: set[NanPolicy] = set(POLICIES)
    asked = 0
    for x in special_rows(dtype):
        for descending in (True, False):
            try:
                agree &= _agreeing(subject, verb, x, descending)
            except MissingVerbError:
                continue
            asked += 1
    if not asked:
        raise MissingVerbError(f"{subject.name} lacks {verb}")
    return next((policy for policy in reversed(POLICIES) if policy in agree), UNORDERED)


def _agreeing(subject: Subject, verb: Verb, x: Array, descending: bool) -> set[NanPolicy]:
    """Find the NaN policies that the order of one special row agrees with."""
    if verb == "sort":
        values = subject.sorted(x, descending)
        if values.shape != x.shape or np.isnan(values).sum() != np.isnan(x).sum():
            return set()
        return {p for p in POLICIES if _ascends(ranks(values, Order(descending, p)))}
    if verb == "argsort":
        return _begins(x, subject.ordered(x, descending), x.size, descending)
    agree: set[NanPolicy] = set(POLICIES)
    for k in {1, 3, x.size // 2, x.size}:
        agree &= _begins(x, subject.best(x, k, descending).indices, k, descending)
    return agree


def _begins(x: Array, order: Array, k: int, descending: bool) -> set[NanPolicy]:
    """Find the NaN policies under which `order` are the first k positions of `x`."""
    if order.shape != (k,) or np.unique(order).size != k or not ((order >= 0) & (order < x.size)).all():
        return set()
    found: set[NanPolicy] = set()
    for policy in POLICIES:
        rank = ranks(x, Order(descending, policy))
        if np.array_equal(rank[order], np.sort(rank)[:k]):
            found.add(policy)
    return found


def _ascends(rank: Array) -> bool:
    return bool((np.diff(rank) >= 0).all())


def _zero_order(subject: Subject, verb: Verb) -> str:
    found = {_zero_order_at(subject, verb, length) for length in LENGTHS}
    return found.pop() if len(found) == 1 else MIXED


def _zero_order_at(subject: Subject, verb: Verb, length: int) -> str:
    x = zeros(length)
    if verb == "sort":
        negative = np.signbit(subject.sorted(x, False))
        equal = np.array_equal(negative, np.signbit(x))
        signed = bool(negative[: length // 2].all()) and not negative[length // 2 :].any()
    else:
        # A top-k that is had in one direction only is asked in that one.
        descending = verb == "top_k"
        order = _positions(subject, verb)(x, descending)
        equal = np.array_equal(order, np.arange(length))
        signed = _ascends(ranks(x, Order(descending, "total"))[order])
    return "equal" if equal else SIGNED if signed else MIXED


def _bits_survive_a_sort(subject: Subject) -> str:
    for x in special_rows():
        after = subject.sorted(x, False)
        if not np.array_equal(np.sort(unsigned_view(after)), np.sort(unsigned_view(x))):
            return "changed"
    return "kept"


def _denormals(subject: Subject, verb: Verb) -> str:
    for length in LENGTHS:
        x = denormals(length)
        if verb == "sort":
            right = np.array_equal(unsigned_view(subject.sorted(x, False)), np.sort(unsigned_view(x)))
        else:
            descending = verb == "top_k"
            order = _positions(subject, verb)(x, descending)
            right = _ascends(ranks(x, Order(descending))[order])
        if not right:
            return "as zeros"
    return "as numbers"


def _values_are_at_indices(subject: Subject) -> str:
    for x in special_rows():
        found = subject.best(x, 3, True)
        if not set(found.indices.tolist()) <= set(range(x.size)) or len(set(found.indices.tolist())) < 3:
            return "no: indices out of range or twice"
        if not np.array_equal(unsigned_view(found.values), unsigned_view(x[found.indices])):
            return "no: bits differ"
    return "yes"


def _is_prefix(subject: Subject) -> str:
    for x in _tied_rows():
        whole = subject.best(x, x.size, True).indices
        for k in range(1, x.size, max(1, x.size // 7)):
            if not np.array_equal(subject.best(x, k, True).indices, whole[:k]):
                return "no"
    return "yes"


def _starts_the_sort(subject: Subject) -> str:
    for x in _tied_rows():
        k = (x.size + 1) // 2
        if not np.array_equal(subject.best(x, k, True).indices, subject.ordered(x, True)[:k]):
            return "no"
    return "yes"


def _tied_rows() -> Iterator[Array]:
    return (few_values(length) for length in LENGTHS)


def _nan_may_stand_anywhere(subject: Subject) -> str:
    found = {
        unsigned_view(subject.best(np.array(row, np.float32), 3, True).values).tobytes()
        for row in permutations([np.nan, 1.0, 2.0, 3.0])
    }
    return "yes" if len(found) == 1 else "no"


def _same_again(subject: Subject) -> str:
    x = np.tile(few_values(300), (64, 1))
    first = subject.best(x, 20, True).indices
    again = (subject.best(x, 20, True).indices for _ in range(5))
    rows_agree = bool((first == first[0]).all())
    return "yes" if rows_agree and all(np.array_equal(first, other) for other in again) else "no"


def _questions() -> Iterator[Question]:
    for verb in VERBS[1:]:
        for descending in (False, True):
            names = ("smallest", "largest") if verb == "top_k" else ("ascending", "descending")
            find = partial(_ties, verb=verb, descending=descending)
            yield Question("ties", verb, names[descending], find, ("low", "high"))
    yield Question("ties", "top_k", "prefix of a larger k", _is_prefix, ("yes",))
    yield Question("ties", "top_k", "starts the descending argsort", _starts_the_sort, ("yes",))
    yield Question("ties", "top_k", "same on every row and run", _same_again, ("yes",))
    for dtype in ("float32", "float16", "bfloat16"):
        for verb in VERBS:
            find = partial(_nan_policy, verb=verb, dtype=dtype)
            yield Question("NaN", verb, f"policy, {dtype}", find, (*POLICIES, "refused"))
    yield Question("NaN", "top_k", "wherever NaN stands", _nan_may_stand_anywhere, ("yes",))
    for verb in VERBS:
        yield Question("±0", verb, "order of zeros", partial(_zero_order, verb=verb), ("equal", SIGNED))
    for verb in VERBS:
        yield Question("denormals", verb, "ordered", partial(_denormals, verb=verb), ("as numbers",))
    yield Question("bits", "sort", "of zeros and NaNs", _bits_survive_a_sort, ("kept",))
    yield Question("bits", "top_k", "values are x[indices]", _values_are_at_indices, ("yes",))


ORDER_QUESTIONS = tuple(_questions())
"""Every question about the order, in the order of the table."""
