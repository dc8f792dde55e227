"""Element-wise and row operations that top-k and routing kernels use around sorting.

Each operation is a function on NumPy views, destination first, and a row of
`TILE_OPERATIONS` that says which part of each tile it works on. The iteration domain is
the destination's valid part, as the PTO specification has it. Arithmetic is that of the
destination's dtype, rounded to nearest even; integers wrap.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from lanesort.errors import MachineError
from lanesort.evidence import fact
from lanesort.pto.convert import convert
from lanesort.pto.memory import Window
from lanesort.pto.view import PlacedTile

__all__ = [
    "TILE_OPERATIONS",
    "Domain",
    "TileOperation",
    "packed_bits",
    "pad_value",
    "same_width",
    "unpack_bits",
]

Array = npt.NDArray[Any]

fact(
    "pto.tci",
    "TCI writes the first row only, over the valid columns.",
    "documented",
    "high",
    "pto-isa, CPU implementation of TCI",
)
fact(
    "pto.tcmp",
    "A comparison writes one bit an element, the first element in the lowest bit.",
    "documented",
    "medium",
    "PTO specification, TCMPS: packed predicate masks of uint8 (A2/A3) or uint32 (A5)",
)
fact(
    "pto.tfillpad",
    "TFILLPAD copies the valid part of its source and fills the rest of dst with the pad of dst's type.",
    "documented",
    "high",
    "PTO specification, TFILLPAD",
)


def pad_value(dtype: np.dtype[Any], pad: int) -> Any:
    """Return what a tile type's pad kind stands for: 1 zero, 2 maximum, 3 minimum of the dtype.

    Examples
    --------
    >>> pad_value(np.dtype("f4"), 3), pad_value(np.dtype("i2"), 2)
    (-inf, 32767)
    """
    if pad not in (1, 2, 3):
        raise MachineError(f"pad={pad} names no value; 1 is zero, 2 the maximum, 3 the minimum")
    if pad == 1:
        return 0
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return limits.max if pad == 2 else limits.min
    return np.inf if pad == 2 else -np.inf


def packed_bits(condition: Array) -> Array:
    """Pack each row of booleans into bytes, the first in the lowest bit."""
    return np.packbits(condition, axis=1, bitorder="little")


def unpack_bits(mask: Array, columns: int) -> Array:
    """Return the first `columns` bits of each row of bytes as booleans."""
    return np.unpackbits(mask, axis=1, count=columns, bitorder="little").view(np.bool_)


def same_width(x: Array, dtype: np.dtype[Any]) -> Array:
    """View the bits of `x` as `dtype`, which must be as wide."""
    if x.dtype == dtype:
        return x
    if x.itemsize != dtype.itemsize:
        raise MachineError(f"elements of {x.dtype} can't be copied as {dtype}: the widths differ; use tcvt")
    return x.view(dtype)


Shapes = Callable[..., tuple[Window, ...]]
"""Takes the tiles, dst first; returns a window of each."""


@dataclass(frozen=True, slots=True)
class Domain:
    """Which part of each tile an operation works on."""

    name: str
    windows: Shapes


def _same(dst: PlacedTile, *sources: PlacedTile) -> tuple[Window, ...]:
    return (dst.window, *[source.like(dst) for source in sources])


def _one_tile(dst: PlacedTile) -> tuple[Window, ...]:
    return (dst.window,)


def _rows(dst: PlacedTile, src: PlacedTile) -> tuple[Window, ...]:
    return (dst.part(src.valid_rows, 1), src.window)


def _expand(dst: PlacedTile, src0: PlacedTile, src1: PlacedTile) -> tuple[Window, ...]:
    return (dst.window, src0.like(dst), src1.part(dst.valid_rows, 1))


def _transposed(dst: PlacedTile, src: PlacedTile) -> tuple[Window, ...]:
    return (dst.window, src.part(dst.valid_columns, dst.valid_rows))


def _filled(dst: PlacedTile, src: PlacedTile) -> tuple[Window, ...]:
    if dst.type.pad:
        return (dst.whole, src.window)
    return (dst.part(src.valid_rows, src.valid_columns), src.window)


def _first_row(dst: PlacedTile) -> tuple[Window, ...]:
    return (dst.part(min(1, dst.valid_rows), dst.valid_columns),)


def _mask(tile: PlacedTile, like: PlacedTile) -> Window:
    """Return the bytes that hold a bit for each valid element of `like`."""
    itemsize = tile.whole.view.itemsize
    needed = -(-like.valid_columns // 8)
    if needed > tile.columns * itemsize:
        raise MachineError(
            f"a mask of {like.valid_columns} elements needs {needed} bytes a row, "
            f"and its tile has {tile.columns * itemsize}"
        )
    return tile.memory.window(tile.address, "ui8", like.valid_rows, needed, tile.row_stride, 1)


def _compared(dst: PlacedTile, src0: PlacedTile, *src1: PlacedTile) -> tuple[Window, ...]:
    return (_mask(dst, src0), src0.window, *(tile.like(src0) for tile in src1))


def _selected(dst: PlacedTile, mask: PlacedTile, *sources: PlacedTile) -> tuple[Window, ...]:
    return (dst.window, _mask(mask, dst), *(source.like(dst) for source in sources))


SAME = Domain("every tile at dst's valid size", _same)
ONE_TILE = Domain("dst's valid part", _one_tile)
ROWS = Domain("a row of src to an element of dst", _rows)
EXPAND = Domain("dst and src0 alike; of src1 a column", _expand)
TRANSPOSED = Domain("src with rows and columns exchanged", _transposed)
FILLED = Domain("all of dst; src's valid part", _filled)
FIRST_ROW = Domain("the first row of dst", _first_row)
COMPARED = Domain("a bit of dst for each valid element of src", _compared)
SELECTED = Domain("a bit of mask for each valid element of dst", _selected)


@dataclass(frozen=True, slots=True)
class TileOperation:
    """An operation on tiles.

    Attributes
    ----------
    operands
        Names of the operands that are passed on behind dst, tiles and scalars, in order.
    domain
        Which part of each tile it works on.
    make
        Takes the step's attributes, and ``dst_pad``, the pad kind of dst's type; returns
        ``run(dst, *operands)``, to which tiles come as views.
    in_place
        Whether dst may be exactly where an input is.
    ufunc
        What does the same where all elements are of one float type.
    """

    operands: tuple[str, ...]
    domain: Domain
    make: Callable[[Mapping[str, Any]], Callable[..., None]]
    in_place: bool = True
    ufunc: np.ufunc | None = None


def _cast(value: Any, dtype: np.dtype[Any]) -> Any:
    """Bring a scalar to the tile's dtype: integers wrap, floats round."""
    if dtype.kind not in "iu":
        return dtype.type(value)
    if isinstance(value, float):
        raise MachineError(f"the scalar {value} is a float and the tile's elements are {dtype}")
    bits = 8 * dtype.itemsize
    wrapped = value & ((1 << bits) - 1)
    return dtype.type(wrapped - (1 << bits) if dtype.kind == "i" and wrapped >> (bits - 1) else wrapped)


def _binary(function: Callable[..., Any]) -> Callable[[Mapping[str, Any]], Callable[..., None]]:
    def run(dst: Array, src0: Array, src1: Array) -> None:
        function(src0, src1, out=dst, casting="unsafe", dtype=dst.dtype)

    return lambda attributes: run


def _scalar(function: Callable[..., Any]) -> Callable[[Mapping[str, Any]], Callable[..., None]]:
    def run(dst: Array, src: Array, scalar: Any) -> None:
        function(src, _cast(scalar, dst.dtype), out=dst, casting="unsafe", dtype=dst.dtype)

    return lambda attributes: run


def _divide(a: Array, b: Array, *, out: Array, **options: Any) -> None:
    if out.dtype.kind in "iu":
        # Division truncates; a zero divisor gives zero, as NumPy's does.
        dividend, divisor = a.astype(np.int64), np.asarray(b).astype(np.int64)
        quotient = np.floor_divide(np.abs(dividend), np.abs(divisor))
        out[...] = (quotient * np.sign(dividend) * np.sign(divisor)).astype(out.dtype)
        return
    np.divide(a, b, out=out, **options)


def _fill(attributes: Mapping[str, Any]) -> Callable[..., None]:
    def run(dst: Array, scalar: Any) -> None:
        dst[...] = _cast(scalar, dst.dtype)

    return run


def _count(attributes: Mapping[str, Any]) -> Callable[..., None]:
    sign = -1 if attributes.get("descending") else 1

    def run(dst: Array, start: Any) -> None:
        if dst.dtype.kind not in "iu":
            raise MachineError(f"tci counts in integers, and its tile has elements of {dst.dtype}")
        unsigned = np.dtype(f"u{dst.itemsize}")
        steps = np.arange(dst.shape[1], dtype=np.int64) * sign + (int(start) & 0xFFFFFFFF)
        dst[...] = steps.astype(unsigned).view(dst.dtype)

    return run


def _move(attributes: Mapping[str, Any]) -> Callable[..., None]:
    def run(dst: Array, src: Array) -> None:
        dst[...] = same_width(src, dst.dtype)

    return run


def _fill_behind(attributes: Mapping[str, Any]) -> Callable[..., None]:
    pad = int(attributes["dst_pad"])

    def run(dst: Array, src: Array) -> None:
        rows, columns = src.shape
        dst[:rows, :columns] = same_width(src, dst.dtype)
        if pad:
            dst[rows:] = dst[:rows, columns:] = pad_value(dst.dtype, pad)

    return run


_COMPARISONS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        "eq": np.equal,
        "ne": np.not_equal,
        "lt": np.less,
        "le": np.less_equal,
        "gt": np.greater,
        "ge": np.greater_equal,
    }
)


def _compare(attributes: Mapping[str, Any]) -> Callable[..., None]:
    name = str(attributes.get("cmp") or "eq").lower()
    if name not in _COMPARISONS:
        raise MachineError(f"comparison {name!r} is unknown; accepted are {', '.join(_COMPARISONS)}")
    function = _COMPARISONS[name]

    def run(dst: Array, src0: Array, src1: Any) -> None:
        other = src1 if isinstance(src1, np.ndarray) else _cast(src1, src0.dtype)
        dst[...] = packed_bits(function(src0, other))

    return run


def _select(attributes: Mapping[str, Any]) -> Callable[..., None]:
    def run(dst: Array, mask: Array, src0: Array, src1: Any) -> None:
        other = src1 if isinstance(src1, np.ndarray) else _cast(src1, dst.dtype)
        dst[...] = np.where(unpack_bits(mask, dst.shape[1]), src0, other)

    return run


def _reduce(function: Callable[..., Any]) -> Callable[[Mapping[str, Any]], Callable[..., None]]:
    def run(dst: Array, src: Array) -> None:
        if src.shape[1] == 0:
            raise MachineError(
                "src has 0 valid columns, and a row of none has no sum or maximum; see set_validshape"
            )
        wide = src.astype(np.float32) if src.dtype.itemsize == 2 and src.dtype.kind not in "iu" else src
        dst[...] = function(wide, axis=1, keepdims=True).astype(dst.dtype)

    return lambda attributes: run


def _transpose(attributes: Mapping[str, Any]) -> Callable[..., None]:
    def run(dst: Array, src: Array) -> None:
        dst[...] = src.T

    return run


_ARITHMETIC: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        "add": np.add,
        "sub": np.subtract,
        "mul": np.multiply,
        "div": _divide,
        "max": np.maximum,
        "min": np.minimum,
    }
)


def _ufunc(function: Callable[..., Any]) -> np.ufunc | None:
    return np.divide if function is _divide else function if isinstance(function, np.ufunc) else None


def _convert(attributes: Mapping[str, Any]) -> Callable[..., None]:
    return partial(convert, mode=attributes.get("rmode"))


TILE_OPERATIONS: Mapping[str, TileOperation] = MappingProxyType(
    {
        "tmov": TileOperation(("src",), SAME, _move),
        "tcvt": TileOperation(("src",), SAME, _convert),
        "tfillpad": TileOperation(("src",), FILLED, _fill_behind),
        "texpands": TileOperation(("scalar",), ONE_TILE, _fill),
        "tci": TileOperation(("start",), FIRST_ROW, _count),
        **{
            f"t{name}": TileOperation(("src0", "src1"), SAME, _binary(function), ufunc=_ufunc(function))
            for name, function in _ARITHMETIC.items()
        },
        **{
            f"t{name}s": TileOperation(("src", "scalar"), SAME, _scalar(function), ufunc=_ufunc(function))
            for name, function in _ARITHMETIC.items()
        },
        "tcmp": TileOperation(("src0", "src1"), COMPARED, _compare),
        "tcmps": TileOperation(("src", "scalar"), COMPARED, _compare),
        "tsel": TileOperation(("mask", "src0", "src1"), SELECTED, _select),
        "tsels": TileOperation(("mask", "src", "scalar"), SELECTED, _select),
        "trowsum": TileOperation(("src",), ROWS, _reduce(np.sum)),
        "trowmax": TileOperation(("src",), ROWS, _reduce(np.max)),
        "trowmin": TileOperation(("src",), ROWS, _reduce(np.min)),
        **{
            f"trowexpand{name}": TileOperation(("src0", "src1"), EXPAND, _binary(_ARITHMETIC[name]))
            for name in ("div", "mul", "sub")
        },
        "ttrans": TileOperation(("src",), TRANSPOSED, _transpose, in_place=False),
    }
)
"""Operation by name; operands called tmp are scratch that nothing here needs."""
