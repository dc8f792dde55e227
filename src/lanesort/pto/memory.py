"""The memories that a `.pto` program works on: the unified buffer and global memory.

The unified buffer (UB) is bytes; a tile, or a part of one, is a `Window` of them. Bytes
that nothing has written are known, so that reading them can be reported. Global memory is
one `GlobalBuffer` for each pointer argument, a copy of the caller's array.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

from lanesort.errors import MachineError

__all__ = ["ALIGNMENT_BYTES", "ELEMENTS", "Access", "GlobalBuffer", "Pointer", "UnifiedBuffer", "Window"]

Array = npt.NDArray[Any]

ALIGNMENT_BYTES = 32
"""Every tile starts at a multiple of this."""


class _Elements(dict[str, np.dtype[Any]]):
    """Element types; asking for one that is not modelled is an error of the program."""

    def __missing__(self, name: str) -> np.dtype[Any]:
        raise MachineError(f"elements of type {name} are not modelled; known are {', '.join(self)}")


ELEMENTS: Mapping[str, np.dtype[Any]] = MappingProxyType(
    _Elements(
        {
            "f64": np.dtype("f8"),
            "f32": np.dtype("f4"),
            "f16": np.dtype("f2"),
            "bf16": np.dtype(ml_dtypes.bfloat16),
            "i1": np.dtype("?"),
            **{f"i{bits}": np.dtype(f"i{bits // 8}") for bits in (8, 16, 32, 64)},
            **{f"ui{bits}": np.dtype(f"u{bits // 8}") for bits in (8, 16, 32, 64)},
            **{f"si{bits}": np.dtype(f"i{bits // 8}") for bits in (8, 16, 32, 64)},
        }
    )
)
"""Element types of tiles, views and pointers by their name in the text."""

_MOST_WINDOWS = 4096


@dataclass(frozen=True, slots=True)
class Access:
    """Bytes that one step reads or writes: `rows` runs of `row_bytes`, `stride_bytes` apart.

    Attributes
    ----------
    space
        ``ub``, or ``gm:`` and the name of the argument.
    start
        First byte: an address in UB, an offset in the argument's array.
    """

    space: str
    start: int
    row_bytes: int
    rows: int = 1
    stride_bytes: int = 0

    @property
    def stop(self) -> int:
        """The byte behind the last one."""
        if not self.rows or not self.row_bytes:
            return self.start
        return self.start + (self.rows - 1) * self.stride_bytes + self.row_bytes


class Window:
    """A rectangle of UB elements: a view of their bytes, and whether all were written.

    Attributes
    ----------
    view
        Shape (rows, columns), of the element's dtype; writing it writes UB.
    written
        Once True it stays so: bytes never become unwritten.
    """

    __slots__ = ("access", "start", "stop", "view", "written")

    def __init__(self, view: Array, access: Access) -> None:
        self.view = view
        self.access = access
        self.start = access.start
        self.stop = access.stop
        self.written = False

    def overlaps(self, other: Window) -> bool:
        """Say whether the two share a byte; windows of different strides count as sharing."""
        if self.start >= other.stop or other.start >= self.stop:
            return False
        mine, theirs = self.access, other.access
        stride = mine.stride_bytes
        if mine.rows == theirs.rows == 1 or stride != theirs.stride_bytes or stride <= 0:
            return True
        offset = (theirs.start - mine.start) % stride
        return offset < mine.row_bytes or offset + theirs.row_bytes > stride


class UnifiedBuffer:
    """UB as bytes.

    Parameters
    ----------
    size_bytes
        How many there are.
    report
        Called with the access and the first byte of it that nothing wrote, at each read of
        such bytes.
    """

    space = "ub"

    def __init__(self, size_bytes: int, report: Callable[[Access, int], None]) -> None:
        self.size_bytes = size_bytes
        self.bytes = np.zeros(size_bytes, np.uint8)
        self.written = np.zeros(size_bytes, np.bool_)
        self._report = report
        self._windows: dict[tuple[int, str, int, int, int, int], Window] = {}

    def window(
        self, start: int, element: str, rows: int, columns: int, row_stride: int, column_stride: int
    ) -> Window:
        """Return the window at byte `start`; strides are in bytes. Equal windows are one object."""
        key = (start, element, rows, columns, row_stride, column_stride)
        found = self._windows.get(key)
        if found is None:
            found = self._make(*key)
            if len(self._windows) >= _MOST_WINDOWS:
                self._windows.clear()
            self._windows[key] = found
        return found

    def _make(
        self, start: int, element: str, rows: int, columns: int, row_stride: int, column_stride: int
    ) -> Window:
        dtype = ELEMENTS[element]
        lines, length, stride, gap = rows, columns, row_stride, column_stride
        if gap != dtype.itemsize:
            lines, length, stride, gap = columns, rows, column_stride, row_stride
        if gap != dtype.itemsize:
            lines, length, stride, gap = rows * columns, 1, row_stride, dtype.itemsize
        access = Access("ub", start, length * dtype.itemsize, lines, stride)
        self.require_inside(access)
        view: Array = np.ndarray(
            (rows, columns), dtype, self.bytes, offset=start, strides=(row_stride, column_stride)
        )
        return Window(view, access)

    def require_inside(self, access: Access) -> None:
        """Raise `MachineError` unless every byte of `access` is in UB."""
        if access.start < 0 or access.stop > self.size_bytes:
            raise MachineError(
                f"bytes {access.start} … {access.stop - 1} of UB are needed, and it has {self.size_bytes}"
            )

    def read(self, window: Window) -> Array:
        """Return the view of a window that is about to be read; unwritten bytes are reported."""
        if not window.written:
            window.written = self.check(window.access)
        return window.view

    def wrote(self, window: Window) -> None:
        """Note that all of a window was written."""
        if not window.written:
            self.mark(window.access)
            window.written = True

    def check(self, access: Access) -> bool:
        """Say whether all bytes were written, and report the first that was not."""
        mask = self._lines(access)
        if mask.all():
            return True
        line, offset = np.unravel_index(int(np.argmin(mask)), mask.shape)
        self._report(access, access.start + int(line) * access.stride_bytes + int(offset))
        return False

    def mark(self, access: Access) -> None:
        """Note that bytes were written."""
        self._lines(access)[...] = True

    def _lines(self, access: Access) -> npt.NDArray[np.bool_]:
        self.require_inside(access)
        shape, strides = (access.rows, access.row_bytes), (access.stride_bytes, 1)
        return np.ndarray(
            shape, np.bool_, self.written, offset=min(access.start, self.size_bytes), strides=strides
        )


class GlobalBuffer:
    """Global memory of one argument: a copy of the caller's array, as bytes.

    Attributes
    ----------
    array
        The copy, of the caller's shape and dtype.
    changed
        Whether the program stored into it.
    """

    __slots__ = ("array", "bytes", "changed", "name", "space")

    def __init__(self, name: str, array: Array) -> None:
        self.name = name
        self.space = f"gm:{name}"
        self.array = np.array(array, order="C", copy=True, ndmin=1)
        self.bytes: Array = np.ndarray(self.array.nbytes, np.uint8, self.array)
        self.changed = False

    @property
    def size_bytes(self) -> int:
        """How many bytes the argument has."""
        return int(self.bytes.size)

    def require_inside(self, start: int, stop: int) -> None:
        """Raise `MachineError` unless bytes `start` up to `stop` belong to the argument."""
        if start < 0 or stop > self.size_bytes:
            raise MachineError(
                f"bytes {start} … {stop - 1} of argument {self.name} are needed, and it has {self.size_bytes}"
            )


@dataclass(frozen=True, slots=True)
class Pointer:
    """A place in UB or in an argument, and what element stands there."""

    memory: UnifiedBuffer | GlobalBuffer
    offset_bytes: int
    element: str

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return ELEMENTS[self.element].itemsize

    def moved(self, elements: int) -> Pointer:
        """Return the pointer that many elements further on."""
        return Pointer(self.memory, self.offset_bytes + elements * self.itemsize, self.element)

    def access(self, elements: int) -> Access:
        """Return the bytes of that many elements from here on."""
        return Access(self.memory.space, self.offset_bytes, elements * self.itemsize)

    def elements(self, count: int, element: str | None = None) -> Array:
        """View `count` elements from here on; writing the view writes the memory."""
        dtype = ELEMENTS[element or self.element]
        stop = self.offset_bytes + count * dtype.itemsize
        if isinstance(self.memory, GlobalBuffer):
            self.memory.require_inside(self.offset_bytes, stop)
        else:
            self.memory.require_inside(Access("ub", self.offset_bytes, count * dtype.itemsize))
        return np.ndarray((count,), dtype, self.memory.bytes, offset=self.offset_bytes)
