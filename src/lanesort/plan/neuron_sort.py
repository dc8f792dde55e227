"""Lowering to Sort words: rows are cut into pieces, sorted on their partitions, merged by the host.

One word sorts the same piece of several rows, one row a partition. Positions of a piece
become global by the word's index offset; where they would exceed 16 bits the host adds it.
For top-k only the best k pairs of a piece are read back: the others can't be chosen.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lanesort.engine.protocol import Engine
from lanesort.kernels.merge import merge
from lanesort.neuron.core import NeuronCore
from lanesort.neuron.descriptor import Tensor
from lanesort.neuron.dtype import NUMPY_DTYPES, Dtype
from lanesort.neuron.generation import GENERATIONS, Generation
from lanesort.neuron.sort import Sort
from lanesort.plan.job import Job
from lanesort.plan.outcome import Outcome
from lanesort.plan.sbuf import Place, Shelf
from lanesort.plan.step import Span, Step
from lanesort.plan.words import MOST_WORDS, WordProgram, refuse_many

__all__ = ["Piece", "SortProgram", "SortedPieces", "sort_lowerings"]

Array = npt.NDArray[Any]

CORE_PARTITIONS = 16
VECTOR_BYTES = 64
SHORTEST = 256
INDEX_LIMIT_16 = 1 << 16


class Piece(NamedTuple):
    """Columns `start` to `start + length` of `channels` rows from `row` on, and where they lie."""

    row: int
    channels: int
    start: int
    length: int
    place: Place


@dataclass(frozen=True)
class SortProgram(WordProgram):
    """Sort words for the pieces of a job.

    Attributes
    ----------
    pieces
        One for each word.
    rebased
        Whether the host adds the start of a piece to its positions.
    """

    pieces: tuple[Piece, ...] = ()
    rebased: bool = False

    def run(self, x: Array, engine: str | Engine) -> Outcome:
        """Run the words on an input of the job's shape, and merge what they give."""
        job = self.job
        shape = (job.rows, job.k)
        if job.is_empty:
            return Outcome(np.zeros(shape, job.dtype), np.zeros(shape, np.int64))
        found = self.sort_pieces(x, engine)
        values, indices = found.merged()
        unpinned, warnings = tuple(sorted(found.unpinned)), tuple(found.warnings)
        return Outcome(values, indices, unpinned, warnings, {"Sort": len(self.words)})

    def sort_pieces(self, x: Array, engine: str | Engine) -> SortedPieces:
        """Run the words on an input of the job's shape, and read back what they give."""
        job = self.job
        core = NeuronCore(job.target, engine=engine, build="release", choices=job.given)
        rows = x.reshape(job.rows, job.width)
        found = SortedPieces(job)
        paired = zip(self.words, self.pieces, strict=True)
        for _, together in groupby(paired, key=lambda pair: pair[1].place.load):
            load = list(together)
            for _, piece in load:
                part = rows[piece.row : piece.row + piece.channels, piece.start : piece.start + piece.length]
                core.sbuf.write(piece.place.partition, piece.place.offset_bytes, part)
            result = core.run([word for word, _ in load])
            found.unpinned.update(result.unpinned)
            found.warnings += result.warnings
            for _, piece in load:
                found.read(core, piece, self.rebased)
        return found


class SortedPieces:
    """The sorted pieces of all rows, of which the best k pairs are kept.

    Attributes
    ----------
    runs
        By the start of a piece: values and global positions, shape (rows, kept).
    unpinned, warnings
        What the runs of the words depended on, and what the model reported.
    """

    def __init__(self, job: Job) -> None:
        self.job = job
        self.runs: dict[int, tuple[Array, Array]] = {}
        self.unpinned: set[str] = set()
        self.warnings: list[str] = []

    def read(self, core: NeuronCore, piece: Piece, rebased: bool) -> None:
        """Read the pairs of a piece back from SBUF."""
        job, size = self.job, self.job.dtype.itemsize
        kept = min(job.k, piece.length)
        if piece.start not in self.runs:
            shape = (job.rows, kept)
            self.runs[piece.start] = np.empty(shape, job.dtype), np.empty(shape, np.int64)
        values, indices = self.runs[piece.start]
        at = _target_offset(piece, size)
        for channel in range(piece.channels):
            partition = piece.place.partition + channel
            values[piece.row + channel] = core.sbuf.read(partition, at, kept, job.dtype)
            found = core.sbuf.read(partition, at + piece.length * size, kept, np.dtype(f"<u{size}"))
            indices[piece.row + channel] = found.astype(np.int64) + (piece.start if rebased else 0)

    def merged(self) -> tuple[Array, Array]:
        """Merge the pieces of each row, equal values by their position."""
        runs = list(self.runs.values())
        if len(runs) == 1:
            return runs[0]
        policy = self.job.policy
        found = merge(
            [values for values, _ in runs],
            indices=[indices for _, indices in runs],
            descending=policy.descending,
            k=self.job.k,
            nan=policy.nan,
            tie=policy.tie,
        )
        return found.values, found.indices


def _target_offset(piece: Piece, itemsize: int) -> int:
    return piece.place.offset_bytes + _source_bytes(piece.length, itemsize)


def _source_bytes(length: int, itemsize: int) -> int:
    return -(-length * itemsize // VECTOR_BYTES) * VECTOR_BYTES


def sort_lowerings(job: Job) -> Iterator[SortProgram]:
    """Yield every program of Sort words that does the job, the longest pieces first.

    Examples
    --------
    >>> job = Job.of("top_k", (16, 8192), "float32", "cayman", k=2048)
    >>> [(program.name, len(program.words)) for program in sort_lowerings(job)][:2]
    [('pieces of 2048', 64), ('pieces of 1024', 64)]
    """
    if job.is_empty:
        yield SortProgram("nothing to do", job, (), ())
        return
    generation = GENERATIONS[job.target]
    limit = generation.sort_ram_bytes // job.dtype.itemsize
    longest = min(job.width, limit)
    lengths = [longest] + [n for n in (limit >> i for i in range(1, 8)) if SHORTEST <= n < longest]
    refuse_many(job, _count(job, generation, longest), (min(job.width, limit),))
    for length in lengths:
        if _count(job, generation, length) <= MOST_WORDS:
            yield _lower(job, generation, length)


def _channels(job: Job, on: Generation, length: int) -> int:
    """Return how many rows one word sorts pieces of."""
    return min(job.rows, on.sort_ram_bytes // job.dtype.itemsize // length, on.partitions)


def _count(job: Job, on: Generation, length: int) -> int:
    """Return how many words pieces of that length take."""
    return -(-job.rows // _channels(job, on, length)) * -(-job.width // length)


def _lower(job: Job, on: Generation, length: int) -> SortProgram:
    channels = _channels(job, on, length)
    shelf = Shelf(on)
    pieces = []
    size = job.dtype.itemsize
    for row in range(0, job.rows, channels):
        for start in range(0, job.width, length):
            own = min(length, job.width - start)
            together = min(channels, job.rows - row)
            place = shelf.take(together, _source_bytes(own, size) + 2 * own * size)
            pieces.append(Piece(row, together, start, own, place))
    rebased = size == 2 and job.width > INDEX_LIMIT_16
    words = tuple(_word(job, on, piece, rebased) for piece in pieces)
    steps = tuple(_steps(job, words, pieces))
    return SortProgram(f"pieces of {length}", job, words, steps, tuple(pieces), rebased)


def _word(job: Job, on: Generation, piece: Piece, rebased: bool) -> Sort:
    place = piece.place
    target = _target_offset(piece, job.dtype.itemsize)
    return Sort(
        src=Tensor(on.address(place.partition, place.offset_bytes), (1,), (piece.length,)),
        dst=Tensor(on.address(place.partition, target), (piece.length, 1), (2, piece.length)),
        dtype=_ISA_NAMES[job.dtype],
        descending=job.descending,
        index_offset=0 if rebased else piece.start,
        channels=piece.channels,
    )


_ISA_NAMES = {NUMPY_DTYPES[d]: d.name.lower() for d in Dtype if d in NUMPY_DTYPES and d != Dtype.FP32R}


def _steps(job: Job, words: tuple[Sort, ...], pieces: list[Piece]) -> Iterator[Step]:
    size = job.dtype.itemsize
    for word, piece in zip(words, pieces, strict=True):
        place = piece.place
        source = Span(place.offset_bytes, place.offset_bytes + piece.length * size, place.partition)
        at = _target_offset(piece, size)
        target = Span(at, at + 2 * piece.length * size, place.partition)
        rows = (
            f"row {piece.row}"
            if piece.channels == 1
            else f"rows {piece.row}–{piece.row + piece.channels - 1}"
        )
        phase = f"load {place.load}"
        moved = piece.channels * piece.length * size
        what = f"columns {piece.start}–{piece.start + piece.length - 1} of {rows}"
        yield Step("load", what, "DMA in", moved, bytes=moved, writes=(source,), phase=phase)
        units = vector_steps(piece.length, size) * min(piece.channels, CORE_PARTITIONS)
        yield Step("Sort", str(word), "POOL", units, reads=(source,), writes=(target,), phase=phase)
        kept = min(job.k, piece.length)
        back = piece.channels * 2 * kept * size
        what = f"the best {kept} pairs of {piece.length}" if kept < piece.length else f"{kept} pairs"
        yield Step("read", what, "DMA out", back, bytes=back, reads=(target,), phase=phase)
    runs = len({piece.start for piece in pieces})
    if runs > 1:
        what = f"{runs} runs of each row, the best {job.k} kept"
        units = job.rows * (job.k + runs) * (runs - 1).bit_length()
        yield Step("merge", what, "host", units, phase="host")


def vector_steps(length: int, itemsize: int) -> int:
    """Return the compare-exchange steps over 512-bit vectors that a bitonic network takes.

    Examples
    --------
    >>> vector_steps(2048, 4)
    8448
    """
    levels = (length - 1).bit_length()
    return levels * (levels + 1) // 2 * -(-length * itemsize // VECTOR_BYTES)
