"""What a `.pto` value of a tile or view type is while a program runs."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from lanesort.errors import MachineError
from lanesort.pto.memory import ELEMENTS, Access, GlobalBuffer, Pointer, UnifiedBuffer, Window
from lanesort.pto.operand import TileOperand
from lanesort.pto.program import TileType

__all__ = ["PlacedTile", "TensorView"]

Array = npt.NDArray[Any]

MOST_ELEMENTS = 1 << 40
MOST_COLUMNS = 1 << 31


def _rule_dtype(element: str) -> np.dtype[Any]:
    """Return the dtype that rules see: signed indices count as unsigned ones."""
    return ELEMENTS["ui32" if element in ("i32", "si32") else element]


class PlacedTile:
    """A tile at its place in UB: where it is, its element type, its physical and its valid size.

    Attributes
    ----------
    memory, address
        Where it is; the address counts bytes.
    type
        Its type in the text.
    row_stride, column_stride
        Bytes from a row, or a column, to the next.
    rows, columns
        Physical size, in elements.
    valid_rows, valid_columns
        The part that instructions work on.
    """

    __slots__ = (
        "_key",
        "_window",
        "address",
        "column_stride",
        "columns",
        "element",
        "memory",
        "row_stride",
        "rows",
        "type",
        "valid_columns",
        "valid_rows",
    )

    def __init__(
        self,
        memory: UnifiedBuffer,
        address: int,
        type: TileType,
        valid: tuple[int, int],
        strides: tuple[int, int] | None = None,
    ) -> None:
        itemsize = ELEMENTS[type.element].itemsize
        self.memory = memory
        self.address = address
        self.type = type
        self.element = type.element
        self.rows, self.columns = type.rows, type.cols
        row_major = type.blayout == "row_major"
        self.row_stride, self.column_stride = strides or (
            (type.cols * itemsize, itemsize) if row_major else (itemsize, type.rows * itemsize)
        )
        self.resize(*valid)

    def resize(self, valid_rows: int, valid_columns: int) -> None:
        """Set the valid size.

        Raises
        ------
        MachineError
            If it is not inside the physical size.
        """
        if not (0 <= valid_rows <= self.rows and 0 <= valid_columns <= self.columns):
            raise MachineError(
                f"valid size {valid_rows} × {valid_columns} is not inside the tile, "
                f"which has {self.rows} × {self.columns} elements"
            )
        self.valid_rows, self.valid_columns = valid_rows, valid_columns
        self._window: Window | None = None
        self._key: tuple[Any, ...] | None = None

    def move(self, address: int) -> None:
        """Put the tile at another address."""
        self.address = address
        self._window = self._key = None

    @property
    def is_contiguous(self) -> bool:
        """Whether rows, or columns, follow one another without a gap."""
        itemsize = ELEMENTS[self.element].itemsize
        return (self.row_stride, self.column_stride) in (
            (self.columns * itemsize, itemsize),
            (itemsize, self.rows * itemsize),
        )

    @property
    def extent_bytes(self) -> int:
        """Bytes from the first to behind the last."""
        itemsize = ELEMENTS[self.element].itemsize
        return (self.rows - 1) * self.row_stride + (self.columns - 1) * self.column_stride + itemsize

    @property
    def key(self) -> tuple[Any, ...]:
        """What tells the tile from others, as far as the rules of instructions can see."""
        found = self._key
        if found is None:
            size = (self.rows, self.columns, self.valid_rows, self.valid_columns)
            type = self.type
            layout = (type.element, type.location, type.blayout, type.slayout)
            found = self._key = (self.address, self.row_stride, *layout, *size)
        return found

    @property
    def window(self) -> Window:
        """The valid part."""
        found = self._window
        if found is None:
            found = self._window = self.part(self.valid_rows, self.valid_columns)
        return found

    def operand(self, role: str) -> TileOperand:
        """Describe the tile to the rules of an instruction, which calls it `role`."""
        return TileOperand(
            role,
            _rule_dtype(self.element),
            self.rows,
            self.columns,
            self.valid_rows,
            self.valid_columns,
            self.address,
            self.row_stride,
            self.type.location.replace("ub", "vec"),
            self.type.blayout,
            self.type.slayout,
        )

    @property
    def whole(self) -> Window:
        """Everything, valid or not."""
        return self.part(self.rows, self.columns)

    def part(self, rows: int, columns: int) -> Window:
        """Return the upper left part of that size.

        Raises
        ------
        MachineError
            If the tile is smaller.
        """
        if rows > self.rows or columns > self.columns:
            raise MachineError(
                f"{rows} × {columns} elements are needed of a tile of {self.rows} × {self.columns}"
            )
        return self.memory.window(
            self.address, self.element, rows, columns, self.row_stride, self.column_stride
        )

    def like(self, other: PlacedTile) -> Window:
        """Return the part of the size that `other` has valid."""
        if self.valid_rows == other.valid_rows and self.valid_columns == other.valid_columns:
            return self.window
        return self.part(other.valid_rows, other.valid_columns)

    def sub(self, row: int, column: int, type: TileType, valid: tuple[int, int]) -> PlacedTile:
        """Return the tile of type `type` whose first element is (row, column) of this one."""
        if not (0 <= row <= self.rows - type.rows and 0 <= column <= self.columns - type.cols):
            raise MachineError(
                f"the window of {type.rows} × {type.cols} elements at ({row}, {column}) is not inside "
                f"the tile, which has {self.rows} × {self.columns}"
            )
        address = self.address + row * self.row_stride + column * self.column_stride
        return PlacedTile(self.memory, address, type, valid, (self.row_stride, self.column_stride))


@dataclass(frozen=True, slots=True)
class TensorView:
    """A strided view of global memory, or a window of one; strides count elements."""

    pointer: Pointer
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    def part(self, offsets: tuple[int, ...], sizes: tuple[int, ...]) -> TensorView:
        """Return a window.

        Raises
        ------
        MachineError
            If it does not lie inside the view.
        """
        if not len(offsets) == len(sizes) == len(self.shape):
            raise MachineError(
                f"{len(offsets)} offsets and {len(sizes)} sizes for a view of {len(self.shape)} dimensions"
            )
        moved = 0
        for axis, (offset, size, extent) in enumerate(zip(offsets, sizes, self.shape, strict=True)):
            if offset < 0 or size < 0 or offset + size > extent:
                raise MachineError(
                    f"elements {offset} … {offset + size - 1} of dimension {axis} are outside the view, "
                    f"which has {extent} there"
                )
            moved += offset * self.strides[axis]
        return TensorView(self.pointer.moved(moved), sizes, self.strides)

    @property
    def rows(self) -> int:
        """Rows of the view read as a rectangle: outer dimensions are folded into them."""
        return prod(self.shape[:-1])

    @property
    def columns(self) -> int:
        """Columns of the view read as a rectangle: the last dimension."""
        return self.shape[-1] if self.shape else 1

    def access(self) -> Access:
        """Return the bytes from the first to the last element."""
        itemsize = self.pointer.itemsize
        first = last = 0
        for size, stride in zip(self.shape, self.strides, strict=True):
            if size == 0:
                return Access(self.pointer.memory.space, self.pointer.offset_bytes, 0)
            reach = (size - 1) * stride
            first, last = (first + reach, last) if reach < 0 else (first, last + reach)
        start = self.pointer.offset_bytes + first * itemsize
        return Access(self.pointer.memory.space, start, (last - first + 1) * itemsize)

    def array(self) -> Array:
        """Return the elements as an array of the view's shape that shares the memory.

        Raises
        ------
        MachineError
            If the view reaches beyond the argument's memory.
        """
        memory, pointer = self.pointer.memory, self.pointer
        if not isinstance(memory, GlobalBuffer):
            raise MachineError("a view of global memory is needed, and this one points into UB")
        dtype = ELEMENTS[pointer.element]
        itemsize, offset = dtype.itemsize, pointer.offset_bytes
        strides = tuple([stride * itemsize for stride in self.strides])
        if prod(self.shape) > MOST_ELEMENTS or max(self.shape, default=0) > MOST_COLUMNS:
            raise MachineError(f"a view of {' × '.join(map(str, self.shape))} elements is too large to copy")
        start = stop = offset
        for size, stride in zip(self.shape, strides, strict=True):
            if size == 0:
                return np.zeros([min(extent, 1) for extent in self.shape], dtype)
            if stride < 0:
                start += (size - 1) * stride
            else:
                stop += (size - 1) * stride
        memory.require_inside(start, stop + itemsize)
        return np.ndarray(self.shape, dtype, memory.bytes, offset=offset, strides=strides)
