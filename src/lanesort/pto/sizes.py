"""The smallest tiles that an instruction can do with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from lanesort.errors import ArgumentTypeError, ArgumentValueError
from lanesort.pto.operand import BLOCK_BYTES, MergeOperands, Sort32Operands, TileOperand, round_up
from lanesort.pto.target import Target, find_target
from lanesort.pto.tile import PAIR_BYTES
from lanesort.pto.tsort32 import BLOCK

__all__ = [
    "merge_operands",
    "sort32_operands",
    "tmrgsort_tmp_columns",
    "tsort32_tmp_columns",
    "whole_number",
]


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
    rows, columns = whole_number(rows, "rows"), whole_number(columns, "columns")
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
    total = tmrgsort_tmp_columns(*sizes)
    wanted = total if columns is None else whole_number(columns, "columns")
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
    return find_target(target).tmp_columns(whole_number(columns, "columns"), np.dtype(dtype).itemsize)


def tmrgsort_tmp_columns(*columns: int) -> int:
    """Return the elements that a merge of lists needs in tmp: the sum of their columns.

    Kernel authors know the helper as GETMRGSORTTMPSIZE.

    Examples
    --------
    >>> tmrgsort_tmp_columns(128, 128, 64)
    320
    """
    return sum(whole_number(number, "columns") for number in columns)


def whole_number(value: Any, name: str) -> int:
    """Return a size as an int.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If it is not a whole number, or negative.
    """
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise ArgumentTypeError(f"{name} is {value!r}; it must be a whole number")
    if value < 0:
        raise ArgumentValueError(f"{name} is {value}; it can't be negative")
    return int(value)
