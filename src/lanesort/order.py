"""The one order that everything here uses: dtype, NaN policy, zeros and ties as key maps.

A value maps to an unsigned integer of its own width whose natural order is the order
asked for. Sorting those keys, together with the positions, is all that a kernel does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Literal

import ml_dtypes
import numpy as np
import numpy.typing as npt

from lanesort.errors import ArgumentTypeError, ArgumentValueError, UnsupportedPolicyError

__all__ = [
    "COMPAT",
    "KEY_CLASSES",
    "KEY_NAN_POLICIES",
    "NAN_POLICIES",
    "TIE_RULES",
    "KeyClass",
    "Order",
    "key_class",
    "keys",
    "nan_mask",
    "unsigned_view",
]

NanPolicy = Literal["last", "largest", "sign-magnitude", "total", "compare-false"]
TieRule = Literal["low", "high", "payload", "run", "later-run"]
ZeroRule = Literal["equal", "signed"]

KEY_NAN_POLICIES = ("last", "largest", "sign-magnitude", "total")
NAN_POLICIES = (*KEY_NAN_POLICIES, "compare-false")
TIE_RULES = ("low", "high", "payload", "run", "later-run")


@dataclass(frozen=True, slots=True)
class Order:
    """How values compare, and which of equal ones comes first.

    Attributes
    ----------
    descending
        Largest first.
    nan
        One of `NAN_POLICIES`. ``compare-false`` is the plain ``>`` of instruction models
        and has no key map.
    tie
        ``low`` or ``high``: by input position. ``payload``: by the index that travels with
        the value, smaller first. When runs are merged also ``run`` (earlier run first) and
        ``later-run``.
    zero
        ``equal``: -0.0 equals +0.0, except under ``total``. ``signed``: -0.0 lies below.
    """

    descending: bool = False
    nan: NanPolicy = "last"
    tie: TieRule = "low"
    zero: ZeroRule = "equal"

    def __post_init__(self) -> None:
        for name, value, accepted in (
            ("nan", self.nan, NAN_POLICIES),
            ("tie", self.tie, TIE_RULES),
            ("zero", self.zero, ("equal", "signed")),
        ):
            if value not in accepted:
                raise ArgumentValueError(
                    f"{name} is {value!r}; accepted are {', '.join(map(repr, accepted))}"
                )

    def replace(self, **changes: Any) -> Order:
        """Return a copy with some attributes changed."""
        return replace(self, **changes)


@dataclass(frozen=True, slots=True)
class KeyClass:
    """What the bits of a dtype mean to a key map.

    Attributes
    ----------
    bits
        Width of value and key.
    kind
        ``unsigned``, ``signed``, ``float`` (sign and magnitude) or ``time`` (signed, the
        smallest value being NaT).
    infinity
        For floats the largest magnitude that is not a NaN.
    """

    bits: int
    kind: Literal["unsigned", "signed", "float", "time"]
    infinity: int = 0

    @property
    def unsigned(self) -> np.dtype[Any]:
        """The unsigned dtype of the same width."""
        return np.dtype(f"u{self.bits // 8}")


KEY_CLASSES: Mapping[str, KeyClass] = MappingProxyType(
    {
        "float32": KeyClass(32, "float", 0x7F800000),
        "float16": KeyClass(16, "float", 0x7C00),
        "bfloat16": KeyClass(16, "float", 0x7F80),
        "int32": KeyClass(32, "signed"),
        "uint32": KeyClass(32, "unsigned"),
        "int16": KeyClass(16, "signed"),
        "uint16": KeyClass(16, "unsigned"),
        "float64": KeyClass(64, "float", 0x7FF0000000000000),
        "int64": KeyClass(64, "signed"),
        "uint64": KeyClass(64, "unsigned"),
        "int8": KeyClass(8, "signed"),
        "uint8": KeyClass(8, "unsigned"),
        "bool": KeyClass(8, "unsigned"),
        "float8_e4m3fn": KeyClass(8, "float", 0x7E),
        "float8_e5m2": KeyClass(8, "float", 0x7C),
        "datetime64": KeyClass(64, "time"),
        "timedelta64": KeyClass(64, "time"),
    }
)
"""Every dtype that has an order, by name; datetime64 and timedelta64 in any unit."""

COMPAT: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "numpy": MappingProxyType({"nan": "last", "top_k": "last"}),
        "torch": MappingProxyType({"nan": "largest", "top_k": "largest"}),
        "jax": MappingProxyType({"nan": "largest", "top_k": "total"}),
        "onnx": MappingProxyType({"nan": "largest", "top_k": "largest"}),
    }
)
"""NaN policy of other libraries: for sorting, and for their top-k. Ties are ``low`` in all."""

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)


def key_class(dtype: npt.DTypeLike) -> KeyClass:
    """Return the key class of a dtype.

    Raises
    ------
    ArgumentTypeError
        If values of the dtype have no order here (complex, object, strings, records).

    Examples
    --------
    >>> key_class("float16").bits
    16
    """
    actual = np.dtype(dtype)
    name = actual.type.__name__ if actual.kind in "mM" else actual.name
    if name == "longlong":
        name = "int64"
    if name == "ulonglong":
        name = "uint64"
    found = KEY_CLASSES.get(name)
    if found is None:
        raise ArgumentTypeError(
            f"values of dtype {actual} have no order here; accepted are {', '.join(KEY_CLASSES)}"
        )
    return found


def unsigned_view(x: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """View the bits of `x`, in native byte order, as unsigned integers of the same width."""
    native = x if x.dtype.isnative else x.astype(x.dtype.newbyteorder("="))
    return native.view(key_class(native.dtype).unsigned)


def nan_mask(x: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Say for each value whether it is a NaN or NaT, by its bits."""
    cls = key_class(x.dtype)
    bits = unsigned_view(x)
    sign = bits.dtype.type(1 << (cls.bits - 1))
    if cls.kind == "float":
        return np.asarray((bits & ~sign) > bits.dtype.type(cls.infinity))
    if cls.kind == "time":
        return np.asarray(bits == sign)
    return np.zeros(x.shape, dtype=np.bool_)


def keys(x: npt.NDArray[Any], order: Order) -> npt.NDArray[Any]:
    """Map values to unsigned keys whose ascending order is `order`.

    Parameters
    ----------
    x
        Values of any dtype in `KEY_CLASSES`.
    order
        Direction, NaN policy and zero rule; ties are not part of a key.

    Returns
    -------
    numpy.ndarray
        Unsigned keys of the same shape and width. Values that are equal under the order
        have the same key.

    Raises
    ------
    UnsupportedPolicyError
        For ``compare-false``, which is not a strict weak order and so has no key.

    Examples
    --------
    >>> import numpy as np
    >>> keys(np.array([1.0, -1.0, -0.0, 0.0], np.float16), Order()).argsort(kind="stable").tolist()
    [1, 2, 3, 0]
    """
    if order.nan not in KEY_NAN_POLICIES:
        raise UnsupportedPolicyError(f"NaN policy {order.nan!r} has no key map; it has only a comparison")
    cls = key_class(x.dtype)
    bits = unsigned_view(x)
    if cls.kind == "float":
        return _float_keys(bits, cls, order)
    sign = bits.dtype.type(1 << (cls.bits - 1))
    if cls.kind == "time":
        return _time_keys(bits, sign, order)
    ascending = bits ^ sign if cls.kind == "signed" else bits.copy()
    return np.asarray(~ascending if order.descending else ascending)


def _float_keys(bits: npt.NDArray[Any], cls: KeyClass, order: Order) -> npt.NDArray[Any]:
    sign = bits.dtype.type(1 << (cls.bits - 1))
    last = bits.dtype.type((1 << cls.bits) - 1)
    magnitude = bits & ~sign
    if order.nan != "total" and order.zero == "equal":
        bits = np.where(magnitude == 0, magnitude, bits)
    negative = (bits & sign) != 0
    ascending = np.where(negative, ~bits, bits | sign)
    nan = magnitude > bits.dtype.type(cls.infinity)
    if order.nan == "sign-magnitude":
        ascending = np.where(nan, np.where(negative, bits.dtype.type(0), last), ascending)
    elif order.nan == "largest":
        ascending = np.where(nan, last, ascending)
    key = ~ascending if order.descending else ascending
    return np.asarray(np.where(nan, last, key) if order.nan == "last" else key)


def _time_keys(bits: npt.NDArray[Any], sign: Any, order: Order) -> npt.NDArray[Any]:
    # NaT is the smallest int64; without it the other keys move down by one, which frees the last.
    ascending = np.where(bits == sign, ~bits.dtype.type(0), (bits ^ sign) - bits.dtype.type(1))
    if not order.descending:
        return np.asarray(ascending)
    if order.nan == "last":
        # The others occupy 0 … 2^64 - 2, so their mirror image leaves the last key free again.
        return np.asarray(np.where(bits == sign, ascending, ~ascending - bits.dtype.type(1)))
    return np.asarray(~ascending)
