"""Copies between global memory and UB: tile loads and stores, and copies in bursts of bytes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lanesort.errors import MachineError
from lanesort.evidence import fact
from lanesort.pto.elementwise import pad_value, same_width
from lanesort.pto.memory import Access, GlobalBuffer, Pointer, UnifiedBuffer
from lanesort.pto.view import PlacedTile, TensorView

__all__ = ["Bursts", "Loop", "copy_bursts", "load", "store"]

Array = npt.NDArray[Any]

fact(
    "pto.tload",
    "A load copies what view and tile have in common; the rest of the tile stays as it was, or takes the "
    "pad of the tile's type.",
    "inferred",
    "medium",
    "PTO specification, TLOAD",
)
fact(
    "pto.mte",
    "Bursts of length bytes; the strides of nburst and loop groups count bytes, the source's first.",
    "documented",
    "high",
    "PTO assembler, mte_gm_ub and mte_ub_gm",
)

MOST_BURSTS = 1 << 20
MOST_OUTER_BURSTS = 1 << 12
MOST_BYTES = 64 << 20


def _rectangle(view: TensorView, tile: PlacedTile) -> tuple[Array, int, int]:
    """Return the elements of `view` that a copy touches, and how many rows and columns they are."""
    if len(view.shape) == 2:
        rows, columns = view.shape
        rows, columns = min(rows, tile.valid_rows), min(columns, tile.valid_columns)
        return view.array()[:rows, :columns], rows, columns
    outer = view.shape[:-2]
    folded = any(size != 1 for size in outer)
    rows, columns = min(view.rows, tile.valid_rows), min(view.columns, tile.valid_columns)
    if folded and view.rows > tile.rows:
        raise MachineError(
            f"a view of {' × '.join(map(str, view.shape))} elements has {view.rows} rows, "
            f"and the tile {tile.rows}"
        )
    array = view.array()
    if not folded:
        plane = array[(0,) * len(outer)] if array.ndim > 1 else array.reshape(1, -1)
        return plane[:rows, :columns], rows, columns
    if rows != view.rows:
        raise MachineError(f"the view has {view.rows} rows, and {tile.valid_rows} of the tile's are valid")
    return array[..., :columns], rows, columns


def load(view: TensorView, tile: PlacedTile) -> None:
    """Copy a view of global memory into the valid part of a tile.

    Raises
    ------
    MachineError
        If the view reaches beyond its argument, has more folded rows than the tile, or
        elements of another width.
    """
    source, rows, columns = _rectangle(view, tile)
    window = tile.part(rows, columns)
    pad = tile.type.pad
    if pad and (rows < tile.rows or columns < tile.columns):
        whole = tile.whole
        whole.view[rows:] = whole.view[:rows, columns:] = pad_value(whole.view.dtype, pad)
        tile.memory.wrote(whole)
    window.view[...] = same_width(source, window.view.dtype).reshape(rows, columns)
    tile.memory.wrote(window)


def store(tile: PlacedTile, view: TensorView) -> None:
    """Copy the valid part of a tile into a view of global memory.

    Raises
    ------
    MachineError
        As `load` does.
    """
    target, rows, columns = _rectangle(view, tile)
    window = tile.part(rows, columns)
    values = same_width(tile.memory.read(window), target.dtype)
    target[...] = values.reshape(target.shape)
    if isinstance(view.pointer.memory, GlobalBuffer):
        view.pointer.memory.changed = True


class Loop(NamedTuple):
    """A repetition of a copy: how often, and the bytes from one to the next on each side."""

    times: int
    src_stride: int
    dst_stride: int


class Bursts(NamedTuple):
    """A copy of bursts: `length` bytes each, repeated by `loops`, the outermost first."""

    src: Pointer
    dst: Pointer
    length: int
    loops: tuple[Loop, ...]

    def offsets(self) -> Iterator[tuple[int, int]]:
        """Yield the byte offsets of each burst, in the source and in the destination."""
        for at in product(*(range(loop.times) for loop in self.loops)):
            yield (
                sum(i * loop.src_stride for i, loop in zip(at, self.loops, strict=True)),
                sum(i * loop.dst_stride for i, loop in zip(at, self.loops, strict=True)),
            )

    def accesses(self) -> tuple[list[Access], list[Access]]:
        """Return the bytes that are read and those that are written.

        Raises
        ------
        MachineError
            If a count or stride is negative, or the copy is larger than is modelled.
        """
        self._require_modest()
        reads, writes = [], []
        *outer, inner = self.loops
        for src, dst in self._replace(loops=tuple(outer)).offsets():
            reads.append(_strided(self.src, src, self.length, inner.times, inner.src_stride))
            writes.append(_strided(self.dst, dst, self.length, inner.times, inner.dst_stride))
        return reads, writes

    def _require_modest(self) -> None:
        if self.length < 0 or any(min(loop) < 0 for loop in self.loops):
            raise MachineError(
                f"a copy takes no negative length, count or stride: {self.length}, {self.loops}"
            )
        bursts = prod(loop.times for loop in self.loops)
        if bursts > MOST_BURSTS or bursts * self.length > MOST_BYTES:
            raise MachineError(
                f"a copy of {bursts} bursts of {self.length} bytes; at most {MOST_BURSTS} bursts and "
                f"{MOST_BYTES} bytes in all are modelled"
            )
        if prod(loop.times for loop in self.loops[:-1]) > MOST_OUTER_BURSTS:
            raise MachineError(f"outer loops repeat a copy more than {MOST_OUTER_BURSTS} times")


def _strided(pointer: Pointer, offset: int, length: int, count: int, stride: int) -> Access:
    return Access(pointer.memory.space, pointer.offset_bytes + offset, length, count, stride)


def _bytes(memory: UnifiedBuffer | GlobalBuffer, access: Access) -> Array:
    if isinstance(memory, GlobalBuffer):
        memory.require_inside(access.start, access.stop)
    else:
        memory.require_inside(access)
    shape, strides = (access.rows, access.row_bytes), (access.stride_bytes, 1)
    return np.ndarray(shape, np.uint8, memory.bytes, offset=access.start, strides=strides)


def copy_bursts(copy: Bursts) -> None:
    """Copy bursts of bytes between global memory and UB.

    Raises
    ------
    MachineError
        If a burst lies outside its memory, or for what `Bursts.accesses` refuses.
    """
    accesses = copy.accesses()
    if not copy.length or not all(loop.times for loop in copy.loops):
        return
    for read, written in zip(*accesses, strict=True):
        source, target = _bytes(copy.src.memory, read), _bytes(copy.dst.memory, written)
        if isinstance(copy.src.memory, UnifiedBuffer):
            copy.src.memory.check(read)
        target[...] = source
        if isinstance(copy.dst.memory, UnifiedBuffer):
            copy.dst.memory.mark(written)
        else:
            copy.dst.memory.changed = True
