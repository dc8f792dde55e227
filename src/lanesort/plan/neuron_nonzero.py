"""Lowering to NonzeroWithCount words: pieces on the partitions that the instruction processes.

The instruction reads and writes one partition of sixteen (unless the choice for
``nonzero.partitions`` says all). One word scans a piece on each of them; positions count
from the word's index offset, and the host adds where a piece begins. The alternative is a
word for each piece, which needs no addition and eight times the words.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lanesort.engine.protocol import Engine
from lanesort.evidence import Choices
from lanesort.neuron.core import NeuronCore
from lanesort.neuron.descriptor import Tensor
from lanesort.neuron.generation import GENERATIONS, Generation
from lanesort.neuron.nonzero_with_count import NonzeroWithCount
from lanesort.plan.job import Job
from lanesort.plan.outcome import Outcome
from lanesort.plan.sbuf import Place, Shelf
from lanesort.plan.step import Span, Step
from lanesort.plan.words import MOST_WORDS, WordProgram, refuse_many

__all__ = ["NonzeroProgram", "nonzero_lowerings"]

Array = npt.NDArray[Any]

ITEM_BYTES = 4
VECTOR_LANES = 16
CORE_PARTITIONS = 16
MOST_COUNT = 65534
"""Elements of a piece: dst has one more, and a count is 16 bits."""


class Piece(NamedTuple):
    """`parts` times `length` elements from `start` on; every `step`-th partition has one part."""

    start: int
    length: int
    parts: int
    step: int
    place: Place


@dataclass(frozen=True)
class NonzeroProgram(WordProgram):
    """NonzeroWithCount words for the pieces of a job."""

    pieces: tuple[Piece, ...] = ()

    def run(self, x: Array, engine: str | Engine) -> Outcome:
        """Run the words on an input of the job's shape, and put the positions together."""
        job = self.job
        if job.is_empty:
            return Outcome(None, np.zeros(0, np.int64))
        core = NeuronCore(job.target, engine=engine, build="release", choices=job.given)
        flat = np.zeros(max(p.start + p.parts * p.length for p in self.pieces), job.dtype)
        flat[: job.width] = x.reshape(-1)
        found: list[Array] = []
        unpinned: set[str] = set()
        warnings: list[str] = []
        paired = zip(self.words, self.pieces, strict=True)
        for _, together in groupby(paired, key=lambda pair: pair[1].place.load):
            load = list(together)
            for _, piece in load:
                for _, partition, start in _parts(piece):
                    core.sbuf.write(partition, piece.place.offset_bytes, flat[start : start + piece.length])
            result = core.run([word for word, _ in load])
            unpinned.update(result.unpinned)
            warnings += result.warnings
            for _, piece in load:
                for part, partition, _ in _parts(piece):
                    found.append(_positions(core, piece, partition) + part * piece.length)
        counts = {"NonzeroWithCount": len(self.words)}
        return Outcome(None, np.concatenate(found), tuple(sorted(unpinned)), tuple(warnings), counts)


def _parts(piece: Piece) -> Iterator[tuple[int, int, int]]:
    """Yield number, partition and first element of each part."""
    for part in range(piece.parts):
        yield part, piece.place.partition + part * piece.step, piece.start + part * piece.length


def _positions(core: NeuronCore, piece: Piece, partition: int) -> Array:
    written = core.sbuf.read(partition, _target_offset(piece), piece.length + 1, "i32").astype(np.int64)
    return np.asarray(written[: written[-1]])


def _target_offset(piece: Piece) -> int:
    return piece.place.offset_bytes + piece.length * ITEM_BYTES


def nonzero_lowerings(job: Job) -> Iterator[NonzeroProgram]:
    """Yield every program of NonzeroWithCount words that does the job.

    Examples
    --------
    >>> job = Job.of("nonzero", 100000, "float32", "cayman")
    >>> [(program.name, len(program.words)) for program in nonzero_lowerings(job)]
    [('8 partitions a word', 1), ('1 partition a word', 4)]
    """
    if job.is_empty:
        yield NonzeroProgram("nothing to do", job, (), ())
        return
    generation = GENERATIONS[job.target]
    every_one = Choices("neuron", job.given)["nonzero.partitions"] == "all"
    step = 1 if every_one else CORE_PARTITIONS
    parts = generation.partitions // step
    most = min(MOST_COUNT, (generation.sbuf_bytes - ITEM_BYTES) // (2 * ITEM_BYTES))
    refuse_many(job, -(-job.width // (parts * most)), (parts * most,))
    # A few elements in one piece need neither other partitions nor the choice between them.
    if job.width >= parts:
        yield _lower(job, generation, parts, step, most)
    if -(-job.width // most) <= MOST_WORDS:
        yield _lower(job, generation, 1, step, most)


def _lower(job: Job, on: Generation, parts: int, step: int, most: int) -> NonzeroProgram:
    """Cut the input into pieces of up to `most` elements, `parts` of them a word."""
    shelf = Shelf(on)
    pieces: list[Piece] = []
    start = 0
    while start < job.width:
        rest = min(job.width - start, parts * most)
        length = -(-rest // parts)
        used = -(-rest // length)
        channels = (used - 1) * step + 1
        place = shelf.take(channels, (2 * length + 1) * ITEM_BYTES)
        pieces.append(Piece(start, length, used, step, place))
        start += rest
    made = tuple(_word(job, on, piece) for piece in pieces)
    name = f"{parts} partition{'' if parts == 1 else 's'} a word"
    return NonzeroProgram(name, job, made, tuple(_steps(job, made, pieces)), tuple(pieces))


def _word(job: Job, on: Generation, piece: Piece) -> NonzeroWithCount:
    place = piece.place
    return NonzeroWithCount(
        src=Tensor(on.address(place.partition, place.offset_bytes), (1, 1, 1), (piece.length, 1, 1)),
        dst=Tensor(on.address(place.partition, _target_offset(piece)), (1, 1, 1), (piece.length + 1, 1, 1)),
        in_dtype="fp32" if job.dtype.kind == "f" else "i32",
        index_offset=piece.start,
        channels=(piece.parts - 1) * piece.step + 1,
    )


def _steps(job: Job, words: tuple[NonzeroWithCount, ...], pieces: list[Piece]) -> Iterator[Step]:
    for word, piece in zip(words, pieces, strict=True):
        lanes = [partition for _, partition, _ in _parts(piece)]
        at, target = piece.place.offset_bytes, _target_offset(piece)
        reads = tuple(Span(at, target, lane) for lane in lanes)
        stop = target + (piece.length + 1) * ITEM_BYTES
        writes = tuple(Span(target, stop, lane) for lane in lanes)
        moved = piece.parts * piece.length * ITEM_BYTES
        phase = f"load {piece.place.load}"
        what = f"{piece.parts} × {piece.length} elements from {piece.start} on"
        yield Step("load", what, "DMA in", moved, bytes=moved, writes=reads, phase=phase)
        vectors = -(-piece.length // VECTOR_LANES) * -(-piece.parts * piece.step // 128)
        yield Step("NonzeroWithCount", str(word), "POOL", vectors, reads=reads, writes=writes, phase=phase)
        back = moved + piece.parts * ITEM_BYTES
        yield Step("read", "positions and counts", "DMA out", back, bytes=back, reads=writes, phase=phase)
    yield Step("concatenate", "positions of all pieces", "host", job.width, phase="host")
