"""Where pieces of a job lie in SBUF: partitions, offsets and loads of the whole memory.

An access of more than 64 partitions starts at partition 0, of 33 to 64 at 0 or 64, of up to
32 at 0, 32, 64 or 96, so that places are counted in quarters of the partitions.
"""

from __future__ import annotations

from typing import NamedTuple

from lanesort.neuron.generation import Generation

__all__ = ["Place", "Shelf"]

ALIGNMENT_BYTES = 64


class Place(NamedTuple):
    """Where a piece lies: which load of SBUF, first partition, byte offset in each."""

    load: int
    partition: int
    offset_bytes: int


class Shelf:
    """Gives places, one behind the other; when SBUF is full, a further load begins.

    Examples
    --------
    >>> from lanesort.neuron import GENERATIONS
    >>> shelf = Shelf(GENERATIONS["cayman"])
    >>> shelf.take(1, 24576), shelf.take(1, 24576)
    (Place(load=0, partition=0, offset_bytes=0), Place(load=0, partition=32, offset_bytes=0))
    """

    def __init__(self, on: Generation) -> None:
        self.on = on
        self.load = 0
        self._free = [0] * 4

    def take(self, channels: int, size_bytes: int) -> Place:
        """Return a place for `size_bytes` on each of `channels` partitions."""
        quarter = self.on.partitions // len(self._free)
        best: tuple[int, int, int] | None = None
        for start in self.on.start_partitions(channels):
            first, last = start // quarter, (start + channels - 1) // quarter + 1
            offset = max(self._free[first:last])
            if best is None or offset < best[0]:
                best = offset, start, last
        assert best is not None
        offset, start, last = best
        if offset + size_bytes > self.on.sbuf_bytes:
            self.load, self._free = self.load + 1, [0] * len(self._free)
            return self.take(channels, size_bytes)
        stop = -(-(offset + size_bytes) // ALIGNMENT_BYTES) * ALIGNMENT_BYTES
        self._free[start // quarter : last] = [stop] * (last - start // quarter)
        return Place(self.load, start, offset)
