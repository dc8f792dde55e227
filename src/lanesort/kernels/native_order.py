"""What the native core needs to know of a dtype and an order."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from lanesort._core import KeyOrder
from lanesort.errors import UnsupportedPolicyError
from lanesort.order import KEY_NAN_POLICIES, Order, key_class

__all__ = ["bits_view", "key_order"]


_UNSIGNED = {size: np.dtype(f"u{size}") for size in (1, 2, 4, 8)}


@lru_cache(maxsize=512)
def key_order(dtype: np.dtype[Any], order: Order) -> KeyOrder:
    """Return the native key map of a dtype under an order.

    Parameters
    ----------
    dtype
        Dtype of the values, in native byte order or not.
    order
        Direction, NaN policy, zero rule, and a tie of ``low`` or ``high``.

    Raises
    ------
    ArgumentTypeError
        If values of the dtype have no order here.
    UnsupportedPolicyError
        For a policy that has no key map.
    """
    cls = key_class(dtype)
    if order.nan not in KEY_NAN_POLICIES:
        raise UnsupportedPolicyError(f"NaN policy {order.nan!r} has no key map; it has only a comparison")
    if order.tie not in ("low", "high"):
        raise UnsupportedPolicyError(f"tie rule {order.tie!r} is not one of positions ('low', 'high')")
    return KeyOrder(
        cls.bits,
        cls.kind,
        cls.infinity,
        order.nan,
        order.descending,
        order.zero == "equal",
        order.tie == "high",
    )


def bits_view(x: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """View values in native byte order as unsigned integers of their width."""
    dtype = x.dtype
    unsigned = _UNSIGNED[dtype.itemsize]
    return x if dtype is unsigned else x.view(unsigned)
