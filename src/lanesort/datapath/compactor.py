"""The compaction of NonzeroWithCount: mask, select, predicated add and a cursor.

A block is one 512-bit vector of sixteen 32-bit lanes. A compare with zero gives the mask;
positions are an iota to which the offset is added where the mask is set; selects by 1, 2, 4
and 8 lanes close the gaps; the block is stored at the cursor, and a predicated add moves the
cursor on. Its last value is the count: nothing else counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from lanesort.errors import ArgumentValueError
from lanesort.evidence import fact
from lanesort.order import key_class, nan_mask, unsigned_view

__all__ = ["BLOCK_LANES", "DETECTS", "Block", "Compaction", "close_gaps", "compact", "detect", "trace_blocks"]

Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]
Detect = Literal["value", "ordered", "bits"]

BLOCK_LANES = 16
DETECTS = ("value", "ordered", "bits")
_BLOCKS_AT_ONCE = 1 << 14

# Operations of one block that both instances of the template share.
_SHARED = {
    "ivp_addn_2x32t": 2,
    "ivp_dselnx16t": 4,
    "ivp_sel2nx8i": 2,
    "ivp_sel2nx8i_s4": 2,
    "ivp_packvr2nx24": 1,
}
_DETECT = {"f": {"ivp_neqn_2x32": 1, "ivp_olen_2xf32": 1}, "i": {"ivp_lt2nx8": 2}}

fact(
    "neuron.nonzero_with_count.datapath",
    "The count is the last value of the write cursor that a predicated add advances; the body has no "
    "popcount and no reduction.",
    "inferred",
    "high",
    "seed 003 §4.4",
)
fact(
    "neuron.nonzero_with_count.datapath",
    "One template makes both bodies; the float one detects by ivp_neqn_2x32 with ivp_olen_2xf32, the integer "
    "one by ivp_lt2nx8.",
    "observed",
    "high",
    "seed 003 §6",
)


class Block(NamedTuple):
    """What one vector went through.

    Attributes
    ----------
    mask
        Lanes whose element is not zero.
    lanes
        Positions, and how they stand after the selects by 1, 2, 4 and 8 lanes: five rows of
        sixteen. Lanes behind the kept ones hold what is of no use any more.
    kept
        Lanes whose mask is set.
    """

    mask: Mask
    lanes: npt.NDArray[np.int64]
    kept: int


@dataclass(frozen=True, slots=True)
class Compaction:
    """Result of a compaction.

    Attributes
    ----------
    positions
        Of the nonzeros, ascending, offset included; int64.
    cursor
        Where the next position would go: the count.
    blocks
        Vectors that were read.
    counts
        Vector operations by primitive; the select schedule inside a block is this model's.
    """

    positions: npt.NDArray[np.int64]
    cursor: int
    blocks: int
    counts: Mapping[str, int]


def detect(x: Array, rule: Detect) -> Mask:
    """Return the mask of what counts as nonzero.

    Parameters
    ----------
    x
        Any shape, any dtype of `lanesort.order.KEY_CLASSES`.
    rule
        ``value``: not equal to zero, so NaN counts. ``ordered``: less or greater than zero,
        so NaN does not. ``bits``: any bit set, so -0.0 counts too.

    Examples
    --------
    >>> detect(np.array([0.0, -0.0, np.nan, 2.0], np.float32), "ordered").tolist()
    [False, False, False, True]
    """
    if rule not in DETECTS:
        raise ArgumentValueError(f"nonzero rule is {rule!r}; accepted are {', '.join(map(repr, DETECTS))}")
    kind = key_class(x.dtype).kind
    if kind != "float" or rule == "bits":
        nonzero = np.asarray(unsigned_view(x) != 0)
        return nonzero & ~nan_mask(x) if rule == "ordered" else nonzero
    with np.errstate(invalid="ignore"):
        wide: Array = x.astype(np.float64 if x.dtype.itemsize == 8 else np.float32)
    return np.asarray(wide != 0 if rule == "value" else (wide < 0) | (wide > 0))


def close_gaps(mask: Mask, lanes: Array) -> npt.NDArray[np.int64]:
    """Move the masked lanes of each block to its front by selects of 1, 2, 4 and 8 lanes.

    A lane moves by the number of unmasked lanes before it, one bit of that number a step.
    Two masked lanes never meet: the distance between them shrinks by no more than the gap.

    Parameters
    ----------
    mask, lanes
        Shape (blocks, 16).

    Returns
    -------
    numpy.ndarray
        Shape (5, blocks, 16): the lanes at first and after each select.
    """
    states = np.empty((5, *lanes.shape), np.int64)
    states[0] = lanes
    shift = np.cumsum(~mask, axis=1)
    alive = mask.copy()
    for step in range(4):
        distance = 1 << step
        moves = alive & ((shift >> step & 1) == 1)
        stays = alive & ~moves
        arrives = np.zeros_like(mask)
        arrives[:, :-distance] = moves[:, distance:]
        states[step + 1] = states[step]
        for row in (states[step + 1], shift):
            row[:, :-distance] = np.where(arrives[:, :-distance], row[:, distance:], row[:, :-distance])
        # Row and mask are shifted alike: `row` above reads what stood there before the step.
        alive = stays | arrives
    return states


def compact(x: Array, rule: Detect = "value", offset: int = 0) -> Compaction:
    """Compact the positions of the nonzeros of a one-dimensional array.

    Parameters
    ----------
    x
        Scanned from its first element.
    rule
        As in `detect`.
    offset
        Added to every position.

    Examples
    --------
    >>> done = compact(np.array([0, 1, 1, 0, 0, 1, 0, 0], np.int32), offset=16)
    >>> done.positions.tolist(), done.cursor
    ([17, 18, 21], 3)
    """
    if x.ndim != 1:
        raise ArgumentValueError(f"compact takes a one-dimensional array; this one has shape {x.shape}")
    mask = detect(x, rule)
    blocks = -(-len(x) // BLOCK_LANES)
    stored = np.empty(len(x) + BLOCK_LANES, np.int64)
    cursor = 0
    for start in range(0, blocks, _BLOCKS_AT_ONCE):
        cursor = _store(mask, start, min(start + _BLOCKS_AT_ONCE, blocks), offset, stored, cursor)
    kind = "f" if key_class(x.dtype).kind == "float" else "i"
    counts = {name: times * blocks for name, times in {**_DETECT[kind], **_SHARED}.items()}
    return Compaction(stored[:cursor], cursor, blocks, MappingProxyType(counts))


def _store(mask: Mask, start: int, stop: int, offset: int, stored: Array, cursor: int) -> int:
    first, last = start * BLOCK_LANES, stop * BLOCK_LANES
    nonzero = np.zeros((stop - start, BLOCK_LANES), np.bool_)
    nonzero.reshape(-1)[: len(mask[first:last])] = mask[first:last]
    iota = np.arange(first, last, dtype=np.int64).reshape(nonzero.shape)
    packed = close_gaps(nonzero, iota + np.where(nonzero, offset, 0))[-1]
    kept = nonzero.sum(axis=1)
    cursors = cursor + np.cumsum(kept) - kept
    # Each block is stored whole at its cursor; the next one writes over the lanes that are of no use.
    for lane in range(BLOCK_LANES):
        useful = lane < kept
        stored[cursors[useful] + lane] = packed[useful, lane]
    return cursor + int(kept.sum())


def trace_blocks(x: Array, rule: Detect = "value", offset: int = 0) -> list[Block]:
    """Show every vector of a small array on its way through the compactor.

    Examples
    --------
    >>> trace_blocks(np.array([0, 7, 0, 5], np.int32))[0].lanes[-1][:2].tolist()
    [1, 3]
    """
    mask = np.zeros((-(-len(x) // BLOCK_LANES), BLOCK_LANES), np.bool_)
    mask.reshape(-1)[: len(x)] = detect(x, rule)
    iota = np.arange(mask.size, dtype=np.int64).reshape(mask.shape)
    states = close_gaps(mask, iota + np.where(mask, offset, 0))
    return [Block(mask[b], states[:, b], int(mask[b].sum())) for b in range(len(mask))]
