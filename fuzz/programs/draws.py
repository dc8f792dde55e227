"""Numbers for one program: the same for the same number, whatever is installed."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

__all__ = ["SEED", "Draws"]

T = TypeVar("T")
SEED = 20261130
_SIZE = 2048 + 256
_NO_NAN = 0xFBFFFBFF
_NUMBERS = "00000000 80000000 7f800000 ff800000 3f803f80 80008000 bc00bc00 00000001 7bff7bff 00010001"
_NANS = "7fc00000 ffc00001 7c017c01 7fff7fff 7f817f81"
_SPECIALS = np.array([int(word, 16) for word in f"{_NUMBERS} {_NANS}".split()], "<u4")
_WITHOUT_NAN = len(_NUMBERS.split())


class Draws:
    """A stream of bytes that depends on a name alone, taken from the front."""

    def __init__(self, name: str) -> None:
        self._bytes = hashlib.shake_128(f"{SEED} {name}".encode()).digest(_SIZE)
        self._at = 0

    def below(self, limit: int) -> int:
        """Return a number in 0 … limit - 1; `limit` is at most a few thousand."""
        at = self._at
        self._at = at + 4
        return int.from_bytes(self._bytes[at : at + 4], "little") % limit

    def number(self) -> int:
        """Return 32 bits."""
        return self.below(1 << 32)

    def one_in(self, n: int) -> bool:
        """Say yes once in `n` times."""
        return self.below(n) == 0

    def choice(self, options: Sequence[T]) -> T:
        """Return one of the options."""
        return options[self.below(len(options))]

    def words(self, count: int) -> npt.NDArray[Any]:
        """Return u32 values of one kind: any bits, few different values, or specials; half without NaN.

        The bits hold for 16-bit values as well: both halves of a word have the property.
        """
        at = self._at
        self._at = at + 4 * count
        words = np.frombuffer(self._bytes, "<u4", count, at)
        kind = self.below(8)
        if kind < 3:
            return words & np.uint32(_NO_NAN if kind else 0xFFFFFFFF)
        if kind < 6:
            return words & np.uint32(0x00030003 if kind < 5 else 0x80038003)
        return _SPECIALS[words % (_WITHOUT_NAN if kind == 6 else len(_SPECIALS))]
