"""The tile instructions as functions of arrays.

Operands get the smallest tiles that the rules allow; the unified buffer is not counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from lanesort.engine.protocol import Engine
from lanesort.errors import ArgumentTypeError, ArgumentValueError
from lanesort.pto.merging import Merge
from lanesort.pto.operand import BLOCK_BYTES, Executed, MergeOperands, Sort32Operands, TileOperand, round_up
from lanesort.pto.target import Target, find_target
from lanesort.pto.tile import PAIR_BYTES, Tile
from lanesort.pto.tsort32 import BLOCK, Sort32

__all__ = [
    "merge_operands",
    "sort32_operands",
    "tmrgsort",
    "tmrgsort_lists",
    "tmrgsort_tmp_columns",
    "tsort32",
    "tsort32_tmp_columns",
]

Array = npt.NDArray[Any]


def tsort32(
    src: Any,
    idx: Any = None,
    *,
    target: str | Target = "a2a3",
    tmp: Literal["auto"] | None = "auto",
    fill: int | None = None,
    engine: str | Engine = "native",
    choices: Mapping[str, str] | None = None,
) -> Tile:
    """Sort every block of 32 values of each row, largest first, with its indices.

    Parameters
    ----------
    src
        Values, shape (R, C) or (C,); float32 or float16, under ``cpu`` also int32, int16
        and bfloat16.
    idx
        Indices, uint32, shape (R, C) or (1, C); 0 … C - 1 if not given. It may go on to
        the end of the last block of 32.
    target
        ``a2a3``, ``a5``, ``cpu``, or a Kirin core.
    tmp
        ``auto`` for the form with four operands and a tmp of the right size; None for the
        form with three, which takes whole blocks only.
    fill
        Byte that stands where the instruction writes nothing; 0 if not given.
    engine
        Who orders the pairs: ``native``, ``reference``, ``datapath``.
    choices
        Choices for unpinned behaviours, by id.

    Returns
    -------
    Tile
        Shape (R, coef · C rounded up to 32), coef = 2 for 32-bit values and 4 for 16-bit
        ones; under ``cpu`` the pads of a tail block are not written.

    Raises
    ------
    RuleViolations
        With all rules that the operands break.
    ArgumentTypeError, ArgumentValueError
        If an argument is not an array of one or two dimensions, or unknown by name.

    Examples
    --------
    >>> scores = np.array([0.5, 2.0, 1.0], np.float32)
    >>> tile = tsort32(scores, engine="reference")
    >>> np.asarray(tile).shape, tile.unpinned
    ((1, 64), ('pto.pad-bits',))
    >>> np.asarray(tile)[0, :6:2].tolist(), np.asarray(tile).view(np.uint32)[0, 1:7:2].tolist()
    ([2.0, 1.0, 0.5], [1, 2, 0])
    """
    target = find_target(target)
    values = _matrix(src, "src")
    rows, columns = values.shape
    indices, warnings = _indices(idx, columns, columns if target.simulated else round_up(columns, BLOCK))
    index_tile = TileOperand.of("idx", indices.dtype, indices.shape[0], indices.shape[1])
    operands = replace(sort32_operands(rows, columns, values.dtype, target=target, tmp=tmp), idx=index_tile)
    sort = Sort32(operands, target, engine, choices)
    dst = _filled((rows, operands.dst.columns), values.dtype, fill)
    outcome = sort.run(dst, values, indices)
    return Tile(dst, outcome.produced_columns, outcome.unpinned, warnings + outcome.warnings)


def tmrgsort(
    src: Any,
    block_len: int,
    *,
    target: str | Target = "a2a3",
    engine: str | Engine = "native",
    choices: Mapping[str, str] | None = None,
    check_sorted: bool = True,
) -> Tile:
    """Merge each group of four consecutive sorted blocks of a tile.

    Parameters
    ----------
    src
        A `Tile`, or an array of shape (1, columns) or (columns,), of sorted pairs.
    block_len
        Length of one sorted block in tile elements, a multiple of 64; the columns are a
        multiple of four blocks.
    target, engine, choices
        See `tsort32`.
    check_sorted
        Whether to refuse blocks that are not sorted, which the hardware does not.

    Returns
    -------
    Tile
        Shape of `src`.

    Raises
    ------
    RuleViolations
        With all rules that the operands break, or the first pair that is out of order.

    Examples
    --------
    >>> from lanesort import pto
    >>> scores = np.arange(128, dtype=np.float32)
    >>> merged = pto.tmrgsort(pto.tsort32(scores, engine="reference"), 64, engine="reference")
    >>> pto.pairs(merged).indices[0, :3].tolist()
    [127, 126, 125]
    """
    source = _matrix(src, "src")
    columns = source.shape[1]
    operands = MergeOperands(
        TileOperand.of("dst", source.dtype, source.shape[0], columns),
        (TileOperand.of("src", source.dtype, source.shape[0], columns),),
        block_len=_whole_number(block_len, "block_len"),
    )
    merge = Merge(operands, target, engine, choices, check_sorted)
    dst = np.empty(source.shape, source.dtype)
    outcome = merge.run(dst, [source])
    return Tile(dst, outcome.produced_columns, outcome.unpinned, outcome.warnings)


def tmrgsort_lists(
    lists: Sequence[Any],
    *,
    exhausted: bool = False,
    columns: int | None = None,
    target: str | Target = "a2a3",
    engine: str | Engine = "native",
    choices: Mapping[str, str] | None = None,
    check_sorted: bool = True,
) -> tuple[Tile, Executed | None]:
    """Merge two to four sorted lists of pairs.

    Parameters
    ----------
    lists
        Tiles, or arrays of shape (1, columns) or (columns,), each a sorted list of pairs.
    exhausted
        Whether to stop as soon as one list has given its last pair.
    columns
        Tile elements (not pairs) of the result; all of them if not given. A shorter result
        takes the best pairs.
    target, engine, choices
        See `tsort32`.
    check_sorted
        Whether to refuse lists that are not sorted, which the hardware does not.

    Returns
    -------
    Tile, executed
        The merged pairs, shape (1, columns), and the pairs taken from each of four lists;
        None where the instruction does not write them.

    Raises
    ------
    RuleViolations
        With all rules that the operands break, or the first pair that is out of order.

    Examples
    --------
    >>> from lanesort import pto
    >>> left, right = (pto.tile(np.array(v, np.float32), i) for v, i in (([5, 1], [0, 1]), ([4, 3], [2, 3])))
    >>> dst, executed = pto.tmrgsort_lists([left, right], exhausted=True, engine="reference")
    >>> executed, pto.pairs(dst).values.tolist()
    ((1, 2, 0, 0), [[5.0, 4.0, 3.0]])
    """
    target = find_target(target)
    sources = [_matrix(part, f"src{number}") for number, part in enumerate(lists)]
    if not sources:
        raise ArgumentValueError("lists is empty; a merge takes two to four lists")
    dtype = sources[0].dtype
    sizes = [source.shape[1] for source in sources]
    operands = merge_operands(sizes, dtype, exhausted=exhausted, columns=columns)
    tiles = tuple(
        TileOperand.of(tile.role, source.dtype, source.shape[0], source.shape[1])
        for tile, source in zip(operands.sources, sources, strict=True)
    )
    merge = Merge(replace(operands, sources=tiles), target, engine, choices, check_sorted)
    dst = np.zeros((1, operands.dst.columns), dtype)
    outcome = merge.run(dst, sources)
    result = Tile(
        dst[:, : operands.dst.valid_columns], outcome.produced_columns, outcome.unpinned, outcome.warnings
    )
    return result, outcome.executed


def sort32_operands(
    rows: int,
    columns: int,
    dtype: Any,
    *,
    idx_rows: int = 1,
    target: str | Target = "a2a3",
    tmp: Literal["auto"] | None = "auto",
) -> Sort32Operands:
    """Describe the smallest tiles for TSORT32 over `rows` × `columns` values.

    Examples
    --------
    >>> operands = sort32_operands(2, 100, "float16")
    >>> operands.dst.columns, operands.idx.columns, operands.tmp.columns
    (512, 128, 128)
    """
    element = np.dtype(dtype)
    lanes = round_up(columns, BLOCK)
    physical = round_up(columns, max(1, BLOCK_BYTES // element.itemsize))
    needed = max(1, find_target(target).tmp_columns(columns, element.itemsize))
    return Sort32Operands(
        TileOperand.of("dst", element, rows, PAIR_BYTES // element.itemsize * lanes),
        TileOperand.of("src", element, rows, physical, valid=(rows, columns)),
        TileOperand.of("idx", np.uint32, idx_rows, lanes, valid=(idx_rows, columns)),
        None if tmp is None else TileOperand.of("tmp", element, 1, needed),
    )


def merge_operands(
    sizes: Sequence[int],
    dtype: Any,
    *,
    block_len: int | None = None,
    exhausted: bool = False,
    columns: int | None = None,
) -> MergeOperands:
    """Describe the smallest tiles for TMRGSORT.

    Parameters
    ----------
    sizes
        Columns of each source, in tile elements.
    dtype
        Element type.
    block_len
        Length of a block of the single source; None for a merge of lists.
    exhausted
        Whether a merge of lists stops at the first exhausted one.
    columns
        Columns of dst; those of all sources together if not given.

    Examples
    --------
    >>> operands = merge_operands([128, 64], "float32", columns=100)
    >>> operands.tmp.columns, operands.dst.columns, operands.dst.valid_columns
    (192, 104, 100)
    """
    element = np.dtype(dtype)
    total = sum(sizes)
    wanted = total if columns is None else _whole_number(columns, "columns")
    physical = round_up(wanted, max(1, BLOCK_BYTES // element.itemsize))
    names = ["src"] if block_len is not None else [f"src{number}" for number in range(len(sizes))]
    return MergeOperands(
        TileOperand.of("dst", element, 1, physical, valid=(1, wanted)),
        tuple(TileOperand.of(name, element, 1, size) for name, size in zip(names, sizes, strict=True)),
        None if block_len is not None else TileOperand.of("tmp", element, 1, total),
        block_len,
        bool(exhausted),
    )


def tsort32_tmp_columns(columns: int, dtype: Any, target: str | Target = "a2a3") -> int:
    """Return the elements that TSORT32 with four operands needs in tmp.

    Parameters
    ----------
    columns
        Valid columns of src.
    dtype
        Element type of src and tmp.
    target
        Target; the thresholds differ.

    Examples
    --------
    >>> tsort32_tmp_columns(100, "float32", "a2a3"), tsort32_tmp_columns(2041, "float32", "a5")
    (128, 32)
    >>> tsort32_tmp_columns(128, "float32")
    0
    """
    return find_target(target).tmp_columns(_whole_number(columns, "columns"), np.dtype(dtype).itemsize)


def tmrgsort_tmp_columns(*columns: int) -> int:
    """Return the elements that a merge of lists needs in tmp: the sum of their columns.

    Kernel authors know the helper as GETMRGSORTTMPSIZE.

    Examples
    --------
    >>> tmrgsort_tmp_columns(128, 128, 64)
    320
    """
    return sum(_whole_number(number, "columns") for number in columns)


def _whole_number(value: Any, name: str) -> int:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise ArgumentTypeError(f"{name} is {value!r}; it must be a whole number")
    if value < 0:
        raise ArgumentValueError(f"{name} is {value}; it can't be negative")
    return int(value)


def _matrix(data: Any, name: str) -> Array:
    array = np.asarray(data)
    if array.dtype.kind not in "fiuV" or array.dtype.itemsize not in (1, 2, 4, 8):
        raise ArgumentTypeError(f"{name} has dtype {array.dtype}; tiles hold float32 or float16")
    if array.ndim not in (1, 2):
        raise ArgumentValueError(f"{name} has shape {array.shape}; give (columns,) or (rows, columns)")
    rows = np.ascontiguousarray(np.atleast_2d(array))
    return rows if rows.dtype.isnative else rows.astype(rows.dtype.newbyteorder("="))


def _indices(idx: Any, columns: int, lanes: int) -> tuple[Array, tuple[str, ...]]:
    if idx is None:
        return np.arange(lanes, dtype=np.uint32)[None, :], ()
    given = _matrix(idx, "idx")
    missing = lanes - given.shape[1]
    if given.shape[1] < columns or missing <= 0:
        return given, ()
    warning = f"idx has {given.shape[1]} columns; the {missing} lanes behind them got index 0"
    return np.pad(given, ((0, 0), (0, missing))), (warning,)


def _filled(shape: tuple[int, int], dtype: np.dtype[Any], fill: int | None) -> Array:
    if not fill:
        return np.zeros(shape, dtype)
    if not 0 <= fill <= 255:
        raise ArgumentValueError(f"fill is {fill}; it is one byte, 0 … 255")
    return np.full((shape[0], shape[1] * dtype.itemsize), fill, np.uint8).view(dtype)
