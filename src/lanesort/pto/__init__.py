"""Ascend PTO: the tile instructions that sort and merge, exact and explained.

The functions take and return arrays; `Sort32` and `Merge` run the same instructions on the
bytes of a program's tiles.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from lanesort.pto.calls import VBitSort, VMrgSort4, calls
from lanesort.pto.fault import KnownFault, known_faults
from lanesort.pto.functions import tmrgsort, tmrgsort_lists, tsort32
from lanesort.pto.merging import Merge
from lanesort.pto.operand import MergeOperands, Outcome, Sort32Operands, TileOperand
from lanesort.pto.sizes import merge_operands, sort32_operands, tmrgsort_tmp_columns, tsort32_tmp_columns
from lanesort.pto.sorting import Sort32
from lanesort.pto.target import TARGETS, Target, find_target
from lanesort.pto.tile import Tile, pairs, tile

if TYPE_CHECKING:
    from lanesort.pto.interpreter import run
    from lanesort.pto.result import RunResult
    from lanesort.pto.text.parser import parse
    from lanesort.pto.text.printer import print_module

__all__ = [
    # programs
    "parse",
    "print_module",
    "run",
    "RunResult",
    # instructions as functions of arrays
    "tsort32",
    "tmrgsort",
    "tmrgsort_lists",
    "tsort32_tmp_columns",
    "tmrgsort_tmp_columns",
    # tiles of pairs
    "Tile",
    "pairs",
    "tile",
    # targets
    "TARGETS",
    "Target",
    "find_target",
    # what stands behind an instruction
    "VBitSort",
    "VMrgSort4",
    "calls",
    "KnownFault",
    "known_faults",
    # instructions on the tiles of a program
    "MergeOperands",
    "Merge",
    "merge_operands",
    "Outcome",
    "Sort32",
    "Sort32Operands",
    "sort32_operands",
    "TileOperand",
]

_LAZY = {
    "parse": "lanesort.pto.text.parser",
    "print_module": "lanesort.pto.text.printer",
    "run": "lanesort.pto.interpreter",
    "RunResult": "lanesort.pto.result",
}
"""Names of what runs programs, imported when they are first used: the parser needs xDSL."""


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'lanesort.pto' has no attribute {name!r}")
    found = getattr(import_module(_LAZY[name]), name)
    globals()[name] = found
    return found
