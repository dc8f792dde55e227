"""The order that a call asks for: presets, NaN policy, ties, stability."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Literal

from lanesort.errors import ArgumentTypeError, ArgumentValueError
from lanesort.order import COMPAT, KEY_NAN_POLICIES, Order

__all__ = ["Verb", "order_of"]

Verb = Literal["sort", "top_k"]


@lru_cache(maxsize=256)
def order_of(
    descending: object = False,
    stable: bool | None = None,
    nan: str | None = None,
    tie: str | None = None,
    compat: str | None = None,
    verb: Verb = "sort",
    ties: tuple[str, ...] = ("low", "high"),
) -> Order:
    """Return the order that these arguments ask for.

    Parameters
    ----------
    descending, stable, nan, tie, compat
        As in the public functions; None means the preset's, then ``last`` and ``low``.
    verb
        ``top_k`` where a preset differs for it.
    ties
        The tie rules that the caller takes.

    Raises
    ------
    ArgumentValueError, ArgumentTypeError
        For a value that is not accepted, and for ``stable=True`` with ``tie="high"``.
    """
    if not hasattr(descending, "__bool__"):
        raise ArgumentTypeError(f"descending is {descending!r}; accepted are True and False")
    preset = COMPAT[_accepted("compat", compat, tuple(COMPAT))] if compat is not None else COMPAT["numpy"]
    nan = preset["top_k" if verb == "top_k" else "nan"] if nan is None else nan
    tie = "low" if tie is None else tie
    policy: Any = _accepted("nan", nan, KEY_NAN_POLICIES)
    rule: Any = _accepted("tie", tie, ties)
    if stable and rule == "high":
        raise ArgumentValueError(
            "stable is True and tie is 'high'; a stable sort keeps the lower position first: "
            "leave stable out, or use tie='low'"
        )
    return Order(bool(descending), policy, rule)


def _accepted(name: str, value: object, accepted: tuple[str, ...]) -> str:
    if not isinstance(value, str):
        raise ArgumentTypeError(f"{name} is {value!r}; accepted are {', '.join(map(repr, accepted))}")
    if value not in accepted:
        raise ArgumentValueError(f"{name} is {value!r}; accepted are {', '.join(map(repr, accepted))}")
    return value
