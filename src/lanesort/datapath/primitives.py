"""Vector primitives of the lanes, by dtype: what a compare-exchange is made of.

A vector has 512 bits: 16 lanes of 32 or 32 lanes of 16 bits. One compare gives a vbool, a bit
a lane; the same vbool selects among values and among the indices that travel with them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from lanesort.errors import ArgumentTypeError
from lanesort.evidence import fact

__all__ = [
    "DIRECTION",
    "INDEX_COMPARE",
    "LANE_CLASSES",
    "PERMUTE",
    "STREAM",
    "VECTOR_BITS",
    "LaneClass",
    "lane_class",
]

VECTOR_BITS = 512
STREAM = "ivp_labvdcmprs2nx8_xp"
PERMUTE = "ivp_sel2nx8i_s4"
DIRECTION = "ivp_minormax2nx8"
INDEX_COMPARE = "ivp_lt2nx8"
_SELECT = {16: "ivp_dselnx16t", 32: "ivp_dseln_2x32t"}
_GATHER = {16: "ivp_gatheranx16t", 32: "ivp_gatheran_2x32t"}


@dataclass(frozen=True, slots=True)
class LaneClass:
    """The primitives that sort one dtype.

    Attributes
    ----------
    dtype
        Name as NumPy and ml_dtypes spell it.
    bits
        Width of a lane; the index that travels with it has the same width.
    compare
        Ordered less-than of values, giving a vbool. Integers use the signed compare of
        bytes; unsigned ones after their sign bit is flipped.
    minimum, maximum
        Of two vectors; for floats minNum and maxNum, which return the operand that is a
        number.
    """

    dtype: str
    bits: int
    compare: str
    minimum: str
    maximum: str

    @property
    def lanes(self) -> int:
        """Lanes in a vector."""
        return VECTOR_BITS // self.bits

    @property
    def select(self) -> str:
        """Dual select, which gives both outputs of an exchange; for values and for indices."""
        return _SELECT[self.bits]

    @property
    def gather(self) -> str:
        """Gather that assembles the index vector and scatters the result."""
        return _GATHER[self.bits]


_HALF = ("ivp_oltnxf16t", "ivp_rbminnumnxf16t", "ivp_rbmaxnumnxf16t")

LANE_CLASSES: Mapping[str, LaneClass] = MappingProxyType(
    {
        entry.dtype: entry
        for entry in (
            LaneClass("float32", 32, "ivp_oltn_2xf32t", "ivp_minn_2xf32t", "ivp_maxn_2xf32t"),
            LaneClass("float16", 16, *_HALF),
            LaneClass("bfloat16", 16, *_HALF),
            LaneClass("int32", 32, "ivp_lt2nx8", "ivp_bminn_2x32", "ivp_bmaxn_2x32"),
            LaneClass("uint32", 32, "ivp_lt2nx8", "ivp_bminun_2x32", "ivp_bmaxun_2x32"),
            LaneClass("int16", 16, "ivp_lt2nx8", "ivp_bminnx16", "ivp_bmaxnx16"),
            LaneClass("uint16", 16, "ivp_lt2nx8", "ivp_bminunx16", "ivp_bmaxunx16"),
        )
    }
)
"""The seven dtypes that Sort takes."""

fact(
    "neuron.sort.datapath",
    "One exchange is an ordered compare into a vbool and a dual select; the index vector is permuted by "
    "the same vbool with the select of its width.",
    "observed",
    "high",
    "seed 000 §5.3, §5.4",
)
fact(
    "neuron.sort.datapath",
    "Ascending or descending is the control bit of ivp_minormax2nx8, and lanes are paired by the "
    "immediate permute ivp_sel2nx8i_s4.",
    "observed",
    "high",
    "seed 000 §4.2, §5.3",
)
fact(
    "neuron.sort.datapath",
    "Which minimum and maximum serve which dtype is read from the image's census, not from one handler.",
    "inferred",
    "medium",
    "seed 000 §5.6, §10",
)


def lane_class(dtype: npt.DTypeLike) -> LaneClass:
    """Return the primitives of a dtype.

    Raises
    ------
    ArgumentTypeError
        If Sort does not take the dtype.

    Examples
    --------
    >>> lane_class("uint16").lanes
    32
    """
    name = np.dtype(dtype).name
    if name not in LANE_CLASSES:
        raise ArgumentTypeError(
            f"no vector primitives are known for dtype {name}; known are {', '.join(LANE_CLASSES)}"
        )
    return LANE_CLASSES[name]
