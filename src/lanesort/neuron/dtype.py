"""Element types and comparison operations of NeuronCore words."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from types import MappingProxyType
from typing import Any

import ml_dtypes
import numpy as np

from lanesort.errors import ArgumentTypeError, ArgumentValueError
from lanesort.evidence import fact

__all__ = [
    "NUMPY_DTYPES",
    "AluOp",
    "Dtype",
    "dtype_code",
    "known",
    "numpy_dtype",
    "require_storable",
]


class Dtype(IntEnum):
    """DTYPE: the element type of a tensor, four bits."""

    INVALID = 0
    U64 = 1
    I8 = 2
    U8 = 3
    I16 = 4
    U16 = 5
    BF16 = 6
    FP16 = 7
    I32 = 8
    U32 = 9
    FP32 = 10
    FP32R = 11
    I64 = 12
    FP8E3 = 13
    FP8E4 = 14
    FP8E5 = 15

    @property
    def bytes(self) -> int:
        """Size of an element, which is also its alignment; 0 for the invalid type."""
        return _BYTES[self]


class AluOp(IntEnum):
    """ALU_OP: the comparisons."""

    IS_EQ = 0x12
    IS_GT = 0x13
    IS_GE = 0x14
    IS_LE = 0x15
    IS_LT = 0x16
    IS_NE = 0x18
    IS_GT_INT = 0xD1
    IS_LT_INT = 0xD4
    IS_GT_UINT = 0xD7
    IS_LT_UINT = 0xDA


_BYTES = {
    Dtype.INVALID: 0,
    **dict.fromkeys((Dtype.I8, Dtype.U8, Dtype.FP8E3, Dtype.FP8E4, Dtype.FP8E5), 1),
    **dict.fromkeys((Dtype.I16, Dtype.U16, Dtype.BF16, Dtype.FP16), 2),
    **dict.fromkeys((Dtype.I32, Dtype.U32, Dtype.FP32, Dtype.FP32R), 4),
    **dict.fromkeys((Dtype.U64, Dtype.I64), 8),
}

NUMPY_DTYPES: Mapping[Dtype, np.dtype[Any]] = MappingProxyType(
    {
        Dtype.U64: np.dtype("<u8"),
        Dtype.I8: np.dtype("i1"),
        Dtype.U8: np.dtype("u1"),
        Dtype.I16: np.dtype("<i2"),
        Dtype.U16: np.dtype("<u2"),
        Dtype.BF16: np.dtype(ml_dtypes.bfloat16),
        Dtype.FP16: np.dtype("<f2"),
        Dtype.I32: np.dtype("<i4"),
        Dtype.U32: np.dtype("<u4"),
        Dtype.FP32: np.dtype("<f4"),
        Dtype.FP32R: np.dtype("<f4"),
        Dtype.I64: np.dtype("<i8"),
        Dtype.FP8E3: np.dtype(ml_dtypes.float8_e3m4),
        Dtype.FP8E4: np.dtype(ml_dtypes.float8_e4m3),
        Dtype.FP8E5: np.dtype(ml_dtypes.float8_e5m2),
    }
)
"""The NumPy dtype of each element type."""

_OF_NUMPY = {dtype: code for code, dtype in NUMPY_DTYPES.items() if code != Dtype.FP32R}
_NAMES = ", ".join(name.lower() for name in Dtype.__members__ if name != "INVALID")


def known(code: int) -> Dtype | None:
    """Return the element type of a code, or None for the invalid and the unknown ones."""
    return Dtype(code) if 0 < code < len(Dtype) else None


def dtype_code(dtype: Any) -> int:
    """Return the code of an element type.

    Parameters
    ----------
    dtype
        Its name (``fp32``, ``bf16``, ``u16`` …), its code, or a NumPy dtype or the name of one.

    Raises
    ------
    ArgumentValueError
        For a name that the ISA does not have.
    ArgumentTypeError
        For what is neither a name, nor a number, nor a dtype.

    Examples
    --------
    >>> dtype_code("fp32"), dtype_code(np.float32), dtype_code("int16")
    (10, 10, 4)
    """
    if isinstance(dtype, int | np.integer) and not isinstance(dtype, bool):
        return int(dtype)
    named = Dtype.__members__.get(dtype.upper()) if isinstance(dtype, str) else None
    found = _OF_NUMPY.get(numpy_dtype(dtype).newbyteorder("<")) if named is None else named
    if found is None:
        raise ArgumentValueError(f"dtype is {dtype!r}; known are {_NAMES}")
    return int(found)


def numpy_dtype(dtype: Any) -> np.dtype[Any]:
    """Return the NumPy dtype of an ISA name such as ``fp32``, or of anything NumPy knows.

    Raises
    ------
    ArgumentValueError
        For a name that neither has, and for ``invalid``.
    ArgumentTypeError
        For what names no dtype.
    """
    code = Dtype.__members__.get(dtype.upper()) if isinstance(dtype, str) else None
    if code is not None and code in NUMPY_DTYPES:
        return NUMPY_DTYPES[code]
    try:
        if dtype is not None:  # NumPy takes None as float64
            found: np.dtype[Any] = np.dtype(dtype)
            return found
    except (TypeError, ValueError):
        pass
    kind = ArgumentValueError if isinstance(dtype, str) else ArgumentTypeError
    raise kind(f"dtype is {dtype!r}; known are {_NAMES}, and NumPy's own")


def require_storable(dtype: np.dtype[Any]) -> None:
    """Raise `ArgumentTypeError` for a dtype whose bytes no element type would read as its values."""
    if dtype == np.bool_ or dtype.newbyteorder("<") in _OF_NUMPY:
        return
    advice = {
        "f": "convert it with astype(np.float32), or give its raw bytes with view(np.uint64)",
        "V": "name the dtype that its raw values have",
    }.get(dtype.kind, "convert it to one of these")
    raise ArgumentTypeError(f"array has dtype {dtype}, which NeuronCore has not ({_NAMES}); {advice}")


fact(
    "neuron.machine",
    "DTYPE codes run from 0 (invalid) over u64, i8, u8, i16, u16, bf16, fp16, i32, u32, fp32, fp32r, i64 "
    "to the three fp8 types; addresses are aligned to the size of an element.",
    "observed",
    "high",
    "seed 000 §3, seed 003 §3; ISA header common.h",
)
fact(
    "neuron.machine",
    "The integer variants of the ordered comparisons have ALU_OP codes of their own, from 0xD1 on.",
    "observed",
    "high",
    "seed 000 §4.2",
)
