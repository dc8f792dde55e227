"""The native core of lanesort: kernels on keys and positions."""

from collections.abc import Sequence


build: str = 'GCC 12, Highway 1.0.3'

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

def sort_pairs(x: object, order: KeyOrder, values: object | None, indices: object | None, offset: int = 0, payload: object | None = None, lengths: object | None = None, look_for_nan: bool = False, threads: int = 1, control: Control | None = None) -> bool:
    """
    Sort each row of x (rows, n); write the sorted values and their positions + offset, or
    their payload, where wanted. Rows of payload may be fewer: they serve by turns. Values and 32-bit
    indices may be interleaved as pairs of 8 bytes. Return whether there is a NaN, False if not to look
    for it.
    """

def compact(x: object, rule: str, order: KeyOrder, indices_out: object, offset: int = 0, threads: int = 1, control: Control | None = None) -> int:
    """
    Write position + offset of each element of x (n,) that is not zero, as far as indices_out goes;
    return how many there are. rule: 'value' (NaN counts, -0.0 does not), 'ordered' (nor does NaN)
    or 'bits' (any bit). Behind the last position nothing is written.
    """

class Nonzeros:
    """
    Which elements of x (n,) are not zero; rule as for compact. Only the constructor reads x.
    """

    def __init__(self, x: object, rule: str, order: KeyOrder, threads: int = 1, control: Control | None = None) -> None: ...

    @property
    def count(self) -> int:
        """How many there are."""

    def positions(self, indices_out: object, offset: int = 0, threads: int = 1, control: Control | None = None) -> None:
        """Write the first len(indices_out) positions + offset."""

def top_k(x: object, order: KeyOrder, k: int, values: object | None, indices: object | None, offset: int = 0, lengths: object | None = None, sort_by: str = 'value', threads: int = 1, control: Control | None = None) -> None:
    """
    Write the first k of each row of x (rows, n) in the order, and their positions + offset, where
    wanted. sort_by: 'value', or 'index' for the same ones by ascending position. Of a row whose
    length is below k only as many are written.
    """

def merge(values: Sequence[object], payloads: Sequence[object] | None, order: KeyOrder, tie: str, values_out: object, indices_out: object, first_exhausted: bool = False, look: bool = False, threads: int = 1, control: Control | None = None) -> tuple[list[int], bool]:
    """
    Merge sorted runs, as many pairs as the outputs hold. Payloads, 32 or 64 bits wide, travel along; None
    stands for positions in the concatenation. Return how many came from each run, and whether these are
    sorted, True if not to look: else the outputs hold no merge.
    """

def merge_words(runs: Sequence[object], order: KeyOrder, out: object, later_first: bool = False, first_exhausted: bool = False, limit: int | None = None, threads: int = 1, control: Control | None = None) -> tuple[list[int], tuple[int, int, int] | None, bool]:
    """
    Merge groups of sorted runs of words of 8 bytes that begin with a value: arrays of values of 16 or 32
    bits, a group in each row, one array for each run, to the rows of out, which may overlap them.
    Return how many words came from each run, the group, run and position of the first value that belongs
    before its predecessor, or None, and whether there is a NaN. Of one group as many words are written as
    out has room for.
    """

def first_unsorted(values: object, payload: object | None, order: KeyOrder, tie: str) -> int:
    """
    Return the position of the first pair that has to stand before its predecessor, or -1.
    """

def gather(source: object, positions: object, out: object, threads: int = 1, control: Control | None = None) -> None:
    """
    Write source[row, positions[row, i]] to out[row, i], for items of any size. Positions are
    trusted: they come from a sort of rows as long as those of source.
    """
