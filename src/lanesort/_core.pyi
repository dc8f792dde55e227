"""The native core of lanesort: kernels on keys and positions."""

from collections.abc import Sequence


def targets() -> list[str]:
    """Names of the SIMD targets that the kernels may use, best first."""

def set_targets(names: Sequence[str]) -> None:
    """
    Restrict the kernels to these SIMD targets; an empty list allows all again.
    """

class KeyOrder:
    """How bits compare: a map to unsigned keys, and the tie rule."""

    def __init__(self, bits: int, kind: str, infinity: int, nan: str, descending: bool, zero_equal: bool, tie_high: bool) -> None: ...

    @property
    def bits(self) -> int: ...

    @property
    def descending(self) -> bool: ...

    @property
    def tie_high(self) -> bool: ...

class Control:
    """Cancels a running call from another thread, and shows how far it is."""

    def __init__(self) -> None: ...

    def cancel(self) -> None:
        """
        End the call soon; it raises Cancelled and leaves its outputs half written.
        """

    @property
    def cancelled(self) -> bool: ...

    @property
    def done(self) -> int:
        """Elements finished."""

    @property
    def total(self) -> int:
        """Elements of the call."""

class Cancelled(RuntimeError):
    pass

def keys(bits: object, order: KeyOrder, out: object) -> object:
    """Write the keys of one-dimensional bits to out, and return it."""

def sort_pairs(x: object, order: KeyOrder, values: object | None, indices: object | None, offset: int = 0, payload: object | None = None, lengths: object | None = None, threads: int = 1, control: Control | None = None) -> None:
    """
    Sort each row of x (rows, n); write the sorted values and their positions + offset, or
    their payload, where wanted. Values and 32-bit indices may be interleaved as pairs of 8 bytes.
    """
