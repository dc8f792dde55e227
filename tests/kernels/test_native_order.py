"""The key map of the native core against lanesort.order: every 16-bit pattern, edges of the others."""

from __future__ import annotations

import itertools
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from lanesort import _core
from lanesort.order import KEY_CLASSES, NanPolicy, Order, ZeroRule, keys

DTYPES = [name for name in KEY_CLASSES if name not in ("bfloat16", "datetime64", "timedelta64")]
NAN_POLICIES: tuple[NanPolicy, ...] = ("last", "largest", "sign-magnitude", "total")
ZERO_RULES: tuple[ZeroRule, ...] = ("equal", "signed")
ORDERS = [
    Order(descending=descending, nan=nan, zero=zero)
    for descending, nan, zero in itertools.product((False, True), NAN_POLICIES, ZERO_RULES)
]


def native_order(dtype: np.dtype[Any], order: Order) -> _core.KeyOrder:
    name = dtype.type.__name__ if dtype.kind in "mM" else dtype.name
    cls = KEY_CLASSES[name]
    return _core.KeyOrder(
        cls.bits,
        cls.kind,
        cls.infinity,
        order.nan,
        order.descending,
        order.zero == "equal",
        order.tie == "high",
    )


def patterns(bits: int, infinity: int) -> np.ndarray[Any, Any]:
    """Every pattern up to 16 bits; beyond, edges with their neighbours, and random ones."""
    unsigned = np.dtype(f"u{bits // 8}")
    if bits <= 16:
        return np.arange(1 << bits, dtype=unsigned)
    top = 1 << bits
    edges = {
        (edge + step) % top
        for edge in (0, top >> 1, infinity, infinity | top >> 1)
        for step in (-2, -1, 0, 1, 2)
    }
    random = np.random.default_rng(bits).integers(0, 256, 4000 * (bits // 8), dtype=np.uint8).view(unsigned)
    return np.concatenate([np.array(sorted(edges), dtype=unsigned), random])


def typed(bits: np.ndarray[Any, Any], name: str) -> np.ndarray[Any, Any]:
    return bits.view(getattr(ml_dtypes, name, None) or np.dtype(name))


@pytest.mark.parametrize("order", ORDERS, ids=str)
@pytest.mark.parametrize("name", [*DTYPES, "bfloat16", "datetime64[ns]", "timedelta64[s]"])
def test_keys_are_those_of_order(name: str, order: Order) -> None:
    cls = KEY_CLASSES[name.partition("[")[0]]
    bits = patterns(cls.bits, cls.infinity)
    x = typed(bits, name)
    out = np.empty_like(bits)
    _core.keys(bits, native_order(x.dtype, order), out)
    np.testing.assert_array_equal(out, keys(x, order))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"bits": 12}, "accepted are 8, 16, 32, 64"),
        ({"kind": "complex"}, "accepted are unsigned"),
        ({"nan": "first"}, "accepted are last"),
    ],
)
def test_unknown_order_is_refused(change: dict[str, Any], message: str) -> None:
    good = {"bits": 32, "kind": "float", "infinity": 0x7F800000, "nan": "last", "descending": False}
    with pytest.raises(ValueError, match=message):
        _core.KeyOrder(**{**good, "zero_equal": True, "tie_high": False, **change})


def test_keys_check_their_arrays() -> None:
    order = _core.KeyOrder(32, "unsigned", 0, "last", False, True, False)
    with pytest.raises(ValueError, match="items of 8 bytes; they must have 4"):
        _core.keys(np.zeros(3, np.uint64), order, np.zeros(3, np.uint32))
    with pytest.raises(ValueError, match="length 2 along axis 0; it must have 3"):
        _core.keys(np.zeros(3, np.uint32), order, np.zeros(2, np.uint32))
