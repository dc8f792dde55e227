"""What the first bytes of an input say of a call of the native core."""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import numpy.typing as npt

from lanesort import _core
from lanesort.kernels.native_order import key_order
from lanesort.order import KEY_CLASSES, KEY_NAN_POLICIES, Order

from .guard import Fenced, fenced_copy

__all__ = ["DTYPES", "Call", "Head", "read_call"]

Array = npt.NDArray[Any]
UNITS = {"datetime64": "M8[us]", "timedelta64": "m8[us]"}
DTYPES = [np.dtype(getattr(ml_dtypes, name, UNITS.get(name, name))) for name in KEY_CLASSES]
TARGETS = _core.targets()
MOST_ELEMENTS = 1 << 15
_FORMAT = struct.Struct("<8B3H")


class Head(NamedTuple):
    """The fields of an input in their order; each is taken modulo what it chooses from.

    Attributes
    ----------
    order
        Bits: NaN policy (2), tie, direction, zero rule.
    layout
        Bits: inputs at the end, outputs at the end, wide indices, spread body, three free ones.
    shift
        Bytes between arrays and guard pages: low half for inputs, high half for outputs.
    extra, offset
        As the kernel wants them.
    """

    dtype: int = 0
    order: int = 0
    target: int = 0
    layout: int = 0
    shift: int = 0
    gap: int = 0
    rows: int = 0
    threads: int = 0
    columns: int = 0
    extra: int = 0
    offset: int = 0

    def pack(self, body: bytes) -> bytes:
        """Return the input that says this."""
        return _FORMAT.pack(*self) + body


class Call(NamedTuple):
    """A call of a kernel: what it gets, and how its arrays lie."""

    head: Head
    body: bytes
    dtype: np.dtype[Any]
    order: Order
    rows: int
    columns: int
    threads: int

    def flag(self, bit: int) -> bool:
        """Say whether a bit of the layout is set."""
        return bool(self.head.layout >> bit & 1)

    @property
    def index_dtype(self) -> np.dtype[Any]:
        """Four or eight bytes."""
        return np.dtype("u8" if self.flag(2) else "u4")

    @property
    def native_order(self) -> _core.KeyOrder:
        """The order as the core takes it."""
        return key_order(self.dtype, self.order if self.order.tie != "run" else self.order.replace(tie="low"))

    def random(self) -> np.random.Generator:
        """Return a generator that depends on the whole input."""
        return np.random.default_rng(list(self.body[:64] + bytes(self.head[:8])))

    def values(self) -> Array:
        """Return (rows, columns) values: the body over and over, spread by random bits if wanted."""
        size = self.rows * self.columns * self.dtype.itemsize
        raw = np.resize(np.frombuffer(self.body or b"\0", np.uint8), size)
        if self.flag(3):
            raw = raw ^ np.frombuffer(self.random().bytes(size), np.uint8)
        if self.dtype.kind == "b":
            raw = raw & 1
        return raw.view(self.dtype).reshape(self.rows, self.columns)

    def given(self, x: Array) -> Array:
        """Put bits that the kernel reads at the edge of a page."""
        bits = x if x.dtype.type is np.void else x.view(f"u{x.dtype.itemsize}")
        return fenced_copy(bits, at_end=self.flag(0), shift=self.head.shift % 16, gap=self.head.gap % 32)

    def output(self, shape: tuple[int, ...], dtype: Any) -> Fenced:
        """Make room that the kernel writes at the edge of a page."""
        written = np.dtype(dtype)
        return Fenced(
            shape,
            written if written.type is np.void else np.dtype(f"u{written.itemsize}"),
            at_end=self.flag(1),
            shift=self.head.shift // 16,
            gap=self.head.gap // 32 if len(shape) > 1 else 0,
        )


def read_call(data: bytes) -> Call | None:
    """Read a call and restrict the core to its SIMD target; None if the input is too short."""
    if len(data) < _FORMAT.size:
        return None
    head = Head(*_FORMAT.unpack_from(data))
    nan: Any = KEY_NAN_POLICIES[head.order % 4]
    tie: Any = ("low", "high")[head.order >> 2 & 1]
    zero: Any = ("equal", "signed")[head.order >> 4 & 1]
    _core.set_targets([TARGETS[head.target % len(TARGETS)]])
    rows = 1 + head.rows % 8
    return Call(
        head,
        data[_FORMAT.size :],
        DTYPES[head.dtype % len(DTYPES)],
        Order(bool(head.order >> 3 & 1), nan, tie, zero),
        rows,
        head.columns % (MOST_ELEMENTS // rows),
        1 + head.threads % 3,
    )
