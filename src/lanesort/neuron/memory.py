"""SBUF: partitions of bytes, accessed through strided views."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from lanesort.errors import ArgumentTypeError, ArgumentValueError, MachineError
from lanesort.neuron.descriptor import Tensor
from lanesort.neuron.dtype import numpy_dtype, require_storable
from lanesort.neuron.generation import Generation

__all__ = ["Access", "Sbuf"]

Array = npt.NDArray[Any]

REMEMBERED_WINDOWS = 1 << 14
ROW_GAP_BYTES = 4096 + 64


@dataclass(frozen=True)
class Access:
    """Elements at the same place of several partitions.

    Attributes
    ----------
    operand
        Name, for messages.
    partitions
        Which partitions, evenly spaced.
    offset_bytes
        Where the first element lies in each.
    steps, counts
        Elements from one position to the next, and positions; innermost dimension first.
    dtype
        Of the elements.
    """

    operand: str
    partitions: range
    offset_bytes: int
    steps: tuple[int, ...]
    counts: tuple[int, ...]
    dtype: np.dtype[Any]

    @classmethod
    def of(
        cls, operand: str, tensor: Tensor, partitions: range, dtype: np.dtype[Any], on: Generation
    ) -> Access:
        """Make the access that a tensor with a direct address describes."""
        return cls(operand, partitions, on.offset_of(tensor.start), tensor.steps, tensor.counts, dtype)

    def sampled(self, every: int) -> Access:
        """Return the access on every so many of its partitions only."""
        return self if every == 1 else replace(self, partitions=self.partitions[::every])

    @cached_property
    def elements(self) -> int:
        """Elements on one partition."""
        return Tensor(0, self.steps, self.counts).elements

    @cached_property
    def span(self) -> tuple[int, int]:
        """First byte that is touched on each partition, and the first behind the last."""
        low, high = Tensor(0, self.steps, self.counts).reach
        size = self.dtype.itemsize
        return self.offset_bytes + low * size, self.offset_bytes + (high + 1) * size

    @cached_property
    def overlaps_itself(self) -> bool:
        """Whether two positions are the same element."""
        if self.elements > self.span[1] - self.span[0]:
            return True
        offsets = self.offsets
        return bool(np.unique(offsets).size < offsets.size)

    @property
    def offsets(self) -> Array:
        """Byte offset in the partition of every element, in row-major order."""
        total = np.full(1, self.offset_bytes, np.int64)
        for step, count in zip(reversed(self.steps), reversed(self.counts), strict=True):
            total = (total[:, None] + np.arange(count) * (step * self.dtype.itemsize)).ravel()
        return total

    def meets(self, other: Access) -> bool:
        """Say whether the byte ranges of two accesses overlap on some partition."""
        if self.span[0] >= other.span[1] or other.span[0] >= self.span[1]:
            return False
        return any(p in other.partitions for p in self.partitions)

    def __str__(self) -> str:
        if not self.partitions:
            return f"{self.operand}: no partition"
        first, last = self.partitions[0], self.partitions[-1]
        every = (
            f" (every {self.partitions.step}th)" if len(self.partitions) > 1 < self.partitions.step else ""
        )
        where = f"partition {first}" if first == last else f"partitions {first}–{last}{every}"
        return f"{self.operand}: {where}, bytes {self.span[0]}–{self.span[1] - 1}"


@dataclass(slots=True)
class _Window:
    """An access bound to the memory: its elements, and whether each of their bytes was written.

    It keeps its access, whose identity it is found by. What is written stays written, so that
    `complete` never has to be taken back.
    """

    access: Access
    elements: Array
    written: Array
    complete: bool = False


class Sbuf:
    """The state buffer of one NeuronCore.

    Parameters
    ----------
    generation
        Gives partitions and bytes.

    Notes
    -----
    Bytes read as zero before they are written; that they were not is remembered, and a read
    of them is reported.
    """

    def __init__(self, generation: Generation) -> None:
        self.generation = generation
        # Rows of a power of two apart would fight for the same cache lines.
        shape = (generation.partitions, generation.sbuf_bytes + ROW_GAP_BYTES)
        self._store = np.zeros(shape, np.uint8)
        self._marks = np.zeros(shape, np.bool_)
        self._bytes = self._store[:, : generation.sbuf_bytes]
        self._written = self._marks[:, : generation.sbuf_bytes]
        self._windows: dict[int, _Window] = {}

    @property
    def shape(self) -> tuple[int, int]:
        """Partitions, and bytes in each."""
        return self.generation.partitions, self.generation.sbuf_bytes

    @property
    def used_bytes(self) -> int:
        """Bytes of a partition up to the last that was written on any."""
        written = np.flatnonzero(self._written.any(axis=0))
        return int(written[-1]) + 1 if written.size else 0

    def write(self, partition: int, offset_bytes: int, array: npt.ArrayLike) -> None:
        """Write an array densely.

        Parameters
        ----------
        partition
            Partition of a 1-D array, or of the first row of a 2-D one; further rows go to
            the partitions that follow.
        offset_bytes
            Where it starts in each partition.
        array
            Values of a dtype that NeuronCore has, or bool; stored little-endian. There is no
            float64: give ``astype(np.float32)``, or its bytes as ``view(np.uint64)``.

        Raises
        ------
        ArgumentTypeError, ArgumentValueError
            If NeuronCore has no such dtype, or it has more than two dimensions, or does not fit.

        Examples
        --------
        >>> from lanesort import neuron
        >>> core = neuron.NeuronCore("cayman")
        >>> core.sbuf.write(3, 0x40, np.arange(4, dtype=np.float32))
        >>> core.sbuf.read(3, 0x44, 2, "fp32").tolist()
        [1.0, 2.0]
        """
        rows = np.asarray(array)
        require_storable(rows.dtype)
        if rows.ndim not in (1, 2):
            raise ArgumentValueError(
                f"array has {rows.ndim} dimensions; expected 1, or 2 for several partitions"
            )
        rows = np.ascontiguousarray(np.atleast_2d(rows).astype(rows.dtype.newbyteorder("<"), copy=False))
        size = rows.shape[1] * rows.dtype.itemsize
        self._check(partition, rows.shape[0], offset_bytes, size)
        here = np.s_[partition : partition + rows.shape[0], offset_bytes : offset_bytes + size]
        self._bytes[here] = rows.view(np.uint8).reshape(rows.shape[0], size)
        self._written[here] = True

    def read(self, partition: int, offset_bytes: int, count: int, dtype: Any) -> Array:
        """Return a copy of `count` elements of one partition.

        Parameters
        ----------
        partition, offset_bytes
            Where the first element lies.
        count
            Elements.
        dtype
            An ISA name such as ``fp32`` or ``bf16``, or a NumPy dtype.

        Raises
        ------
        ArgumentValueError
            If they do not lie inside the partition.
        """
        element = numpy_dtype(dtype)
        if element.itemsize == 0 or element.hasobject:
            raise ArgumentTypeError(f"dtype {element} has no bytes to read")
        size = count * element.itemsize
        self._check(partition, 1, offset_bytes, size)
        return self._bytes[partition, offset_bytes : offset_bytes + size].copy().view(element)

    def _check(self, partition: int, rows: int, offset_bytes: int, size: int) -> None:
        partitions, limit = self.shape
        if not (partition >= 0 and partition + rows <= partitions):
            raise ArgumentValueError(
                f"partitions {partition} to {partition + rows - 1}; SBUF has 0 to {partitions - 1}"
            )
        if not 0 <= offset_bytes <= offset_bytes + size <= limit:
            raise ArgumentValueError(
                f"bytes {offset_bytes} to {offset_bytes + size - 1}; a partition has bytes 0 to {limit - 1}"
            )

    def view(self, access: Access) -> Array:
        """Return the elements of an access: partitions first, innermost dimension last."""
        return self._window(access).elements

    def unwritten(self, access: Access) -> int:
        """Return how many elements of an access contain bytes that nothing has written."""
        window = self._window(access)
        if not window.complete:
            window.complete = np.count_nonzero(window.written) == window.written.size
        return 0 if window.complete else int(np.count_nonzero(~window.written.all(axis=-1)))

    def put(self, access: Access, values: Array) -> None:
        """Write the elements of an access; where it overlaps itself, the last position wins."""
        if access.partitions and access.overlaps_itself:
            self._put_in_order(access, values)
            return
        window = self._window(access)
        elements = window.elements
        elements[...] = values if values.shape == elements.shape else values.reshape(elements.shape)
        if not window.complete:
            window.written[...] = True
            window.complete = True

    def _put_in_order(self, access: Access, values: Array) -> None:
        backwards, first = np.unique(access.offsets[::-1], return_index=True)
        winners = values.reshape(len(access.partitions), -1)[:, ::-1][:, first]
        size = access.dtype.itemsize
        columns = backwards[:, None] + np.arange(size)
        rows = np.array(access.partitions)[:, None, None]
        stored = np.ascontiguousarray(winners.astype(access.dtype)).view(np.uint8)
        self._bytes[rows, columns] = stored.reshape(len(access.partitions), -1, size)
        self._written[rows, columns] = True

    def _window(self, access: Access) -> _Window:
        found = self._windows.get(id(access))
        if found is None:
            if len(self._windows) >= REMEMBERED_WINDOWS:
                self._windows.clear()
            found = self._windows[id(access)] = self._bind(access)
        return found

    def _bind(self, access: Access) -> _Window:
        partitions, size = access.partitions, access.dtype.itemsize
        count, limit = self.shape
        low, high = access.span
        inside = not partitions or (partitions[0] >= 0 and partitions[-1] < count)
        if not (inside and 0 <= low <= high <= limit):
            raise MachineError(f"{access} lies outside {count} partitions of {limit} bytes")
        stride = self._store.shape[1]
        shape = (len(partitions), *reversed(access.counts))
        strides = (partitions.step * stride, *(step * size for step in reversed(access.steps)))
        offset = partitions.start * stride + access.offset_bytes if partitions else 0
        return _Window(
            access,
            np.ndarray(shape, access.dtype, self._store.data, offset, strides),
            np.ndarray((*shape, size), np.bool_, self._marks.data, offset, (*strides, 1)),
        )

    def snapshot(self) -> Array:
        """Return a copy of all bytes, partitions first."""
        return self._bytes.copy()
