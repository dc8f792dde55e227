"""Known faults of other implementations that a job of a given size would meet.

The model does what is documented; these are where released code does something else. They
are explained here instead of being copied.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from lanesort.evidence import fact
from lanesort.pto.operand import round_up
from lanesort.pto.sizes import whole_number
from lanesort.pto.target import Target, find_target
from lanesort.pto.tsort32 import BLOCK

__all__ = ["FAULTS", "Job", "KnownFault", "known_faults"]

GROUP = 255


@dataclass(frozen=True, slots=True)
class Job:
    """What a fault depends on.

    Attributes
    ----------
    columns
        Valid columns of src.
    itemsize
        Bytes of a value.
    rows, idx_rows, idx_columns
        Rows of src, rows of idx, and valid columns of idx.
    target
        The target.
    """

    columns: int
    itemsize: int
    rows: int
    idx_rows: int
    idx_columns: int
    target: Target

    @property
    def blocks(self) -> int:
        """Blocks of 32, a tail counted as one."""
        return round_up(self.columns, BLOCK) // BLOCK

    @property
    def tail(self) -> bool:
        """Whether the last block is incomplete."""
        return self.columns % BLOCK != 0


@dataclass(frozen=True, slots=True)
class KnownFault:
    """A fault of a released implementation.

    Attributes
    ----------
    name
        Name by which reports refer to it.
    where
        The implementation that has it.
    effect
        What a user would see.
    cause
        Why it happens.
    advice
        How to avoid it.
    bites
        Whether it concerns a job.
    """

    name: str
    where: str
    effect: str
    cause: str
    advice: str
    bites: Callable[[Job], bool]


def _underflows(job: Job, blocks: int) -> bool:
    in_tmp = job.target.small_row(job.columns, job.itemsize)
    return job.target.name == "a5" and job.tail and not in_tmp and job.blocks == blocks


FAULTS: tuple[KnownFault, ...] = (
    KnownFault(
        "a5-tail-underflow-255",
        "A5 implementation of TSORT32, four operands, path B",
        "for 8129 to 8159 columns the call before the tail gets a repeat of -1, which 8 bits take for 255: "
        "it sorts the incomplete block as well, without pads, and the address of the tail underflows too",
        "the blocks of the last group are counted modulo 255: of 255 blocks 0 are left, and one of these is "
        "taken off for the tail",
        "give 8160 columns and three operands, or sort fewer columns at a time",
        lambda job: _underflows(job, GROUP),
    ),
    KnownFault(
        "a5-tail-underflow-510",
        "A5 implementation of TSORT32, four operands, path B",
        "for 16289 to 16319 columns the call before the tail gets a repeat of -1, as with 8129 to 8159",
        "the blocks of the last group are counted modulo 255: of 510 blocks 0 are left. Only A5 has room for "
        "such a row",
        "sort fewer columns at a time",
        lambda job: _underflows(job, 2 * GROUP),
    ),
    KnownFault(
        "a5-last-group-skipped",
        "A5 implementation of TSORT32, whole blocks",
        "for 16320 columns the last 255 blocks are not sorted: dst keeps what it held",
        "the blocks of the last group are counted modulo 255: of 510 blocks 0 are left, and a call of 0 "
        "blocks does nothing. Only A5 has room for such a row",
        "sort fewer columns at a time",
        lambda job: job.target.name == "a5" and not job.tail and job.blocks == 2 * GROUP,
    ),
    KnownFault(
        "cpu-half-placement",
        "CPU simulator of TSORT32, 16-bit values",
        "block b is written at element 2·32·b instead of 4·32·b: each block overwrites half of the last",
        "the step from block to block is that of float",
        "compare one block of 32 at a time",
        lambda job: job.target.simulated and job.itemsize == 2 and job.columns > BLOCK,
    ),
    KnownFault(
        "cpu-one-idx-row",
        "CPU simulator of TSORT32",
        "with one row of idx for several rows of src nothing is written, and no error is given",
        "the simulator returns early where idx and src differ in valid rows",
        "repeat the row of idx for each row of src",
        lambda job: job.target.simulated and job.idx_rows == 1 and job.rows > 1,
    ),
    KnownFault(
        "cpu-wide-idx",
        "CPU simulator of TSORT32",
        "with more valid columns in idx than in src nothing is written, and no error is given",
        "the simulator returns early where idx and src differ in valid columns",
        "give idx the valid columns of src",
        lambda job: job.target.simulated and job.idx_columns != job.columns,
    ),
)
"""Every known fault."""

for _fault in FAULTS:
    fact("pto.fault", f"{_fault.name}: {_fault.effect}", "observed", "high", f"pto-isa, {_fault.where}")


def known_faults(
    columns: int,
    dtype: Any,
    target: str | Target = "a2a3",
    *,
    rows: int = 1,
    idx_rows: int | None = None,
    idx_columns: int | None = None,
) -> tuple[KnownFault, ...]:
    """Return the known faults that TSORT32 of this size would meet elsewhere.

    Parameters
    ----------
    columns
        Valid columns of src.
    dtype
        Element type of src.
    target
        Target; for ``cpu`` the faults of the simulator.
    rows, idx_rows, idx_columns
        Valid rows of src, valid rows and columns of idx; those of src if not given.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If a size is not a whole number or negative, or the target unknown.

    Examples
    --------
    >>> [fault.name for fault in known_faults(8130, "float32", "a5")]
    ['a5-tail-underflow-255']
    >>> known_faults(8130, "float32", "a2a3")
    ()
    """
    columns, rows = whole_number(columns, "columns"), whole_number(rows, "rows")
    job = Job(
        columns,
        np.dtype(dtype).itemsize,
        rows,
        rows if idx_rows is None else idx_rows,
        columns if idx_columns is None else idx_columns,
        find_target(target),
    )
    return tuple(fault for fault in FAULTS if fault.bites(job))
