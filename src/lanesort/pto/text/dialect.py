"""The `pto` dialect: every operation name with the spelling that reads it."""

from __future__ import annotations

from functools import lru_cache

from xdsl.context import Context
from xdsl.dialects import arith, builtin, func, scf
from xdsl.ir import Dialect
from xdsl.traits import IsTerminator
from xdsl.utils.exceptions import ParseError

from lanesort.pto.operations import OPERATIONS
from lanesort.pto.text.attributes import KEYWORDS, Groups, PtoType
from lanesort.pto.text.diagnostics import Fault
from lanesort.pto.text.operation import Parts, PtoOperation, Spelling, define
from lanesort.pto.text.reader import Reader
from lanesort.pto.text.spell_flow import (
    spell_barrier,
    spell_flag,
    spell_fusion_region,
    spell_section,
    spell_yield,
)
from lanesort.pto.text.spell_lists import (
    spell_burst_copy,
    spell_index_query,
    spell_list,
    spell_load_scalar,
    spell_pointer_cast,
    spell_results,
    spell_store_scalar,
)
from lanesort.pto.text.spell_tiles import spell_either
from lanesort.pto.text.spell_views import (
    spell_alloc_tile,
    spell_make_tensor_view,
    spell_partition_view,
    spell_subview,
)

__all__ = ["context", "generic_operation", "operation"]

_LISTS = (
    "castptr addptr tile_buf_addr vbitsort vmrgsort4 copy_gm_to_ubuf copy_ubuf_to_gm set_validshape "
    "bind_tile set_loop_size_outtoub set_loop_size_ubtoout set_loop1_stride_outtoub set_loop2_stride_outtoub "
    "set_loop1_stride_ubtoout set_loop2_stride_ubtoout"
)

_SPELLINGS: dict[str, Spelling] = {
    "alloc_tile": spell_alloc_tile,
    "make_tensor_view": spell_make_tensor_view,
    "partition_view": spell_partition_view,
    "subview": spell_subview,
    "pointer_cast": spell_pointer_cast,
    "load_scalar": spell_load_scalar,
    "store_scalar": spell_store_scalar,
    "get_vms4_sr": spell_results,
    "fusion_region": spell_fusion_region,
    "barrier": spell_barrier,
    "barrier_sync": spell_barrier,
    **dict.fromkeys(("section.vector", "section.cube"), spell_section),
    **dict.fromkeys(("set_flag", "wait_flag", "record_event", "wait_event"), spell_flag),
    **dict.fromkeys(("mte_gm_ub", "mte_ub_gm", "dma_load", "dma_store"), spell_burst_copy),
    **{f"get_{what}_{unit}": spell_index_query for what in ("block", "subblock") for unit in ("idx", "num")},
    **{name: spell_list(*OPERATIONS[name].operands) for name in _LISTS.split()},
}

_ALIASES = {"pipe_barrier": "barrier"}


def _spelled() -> dict[str, type[PtoOperation]]:
    made = {"yield": define("yield", spell_yield, IsTerminator())}
    for name in OPERATIONS:
        if "." not in name or name.startswith("section."):
            made.setdefault(name, define(name, _SPELLINGS.get(name, spell_either)))
    del made["generic"]
    for alias, name in _ALIASES.items():
        made[alias] = made[name]
    return made


_OPERATIONS = _spelled()
_DIALECT = Dialect("pto", list(dict.fromkeys(_OPERATIONS.values())), [PtoType, Groups, *KEYWORDS])


def context(*, lenient: bool) -> Context:
    """Return a context with every dialect that kernels use.

    Parameters
    ----------
    lenient
        Keep attributes and types that no dialect declares; else they are unknown.
    """
    made = Context(allow_unregistered=lenient)
    for dialect in (builtin.Builtin, arith.Arith, func.Func, scf.Scf, _DIALECT):
        made.load_dialect(dialect)
    return made


def operation(name: str) -> type[PtoOperation] | None:
    """Return the modelled operation called `name`, with or without ``pto.``, if there is one."""
    return _OPERATIONS.get(name.removeprefix("pto."))


def _spell_skippable(name: str) -> Spelling:
    def spell(parser: Reader) -> Parts:
        start = parser.lexer.input.content.rfind(name, 0, parser.pos)
        try:
            return spell_either(parser)
        except ParseError as error:
            raise Fault(
                start,
                f"pto.{name} is not modelled, and its text has no form that can be read without knowing it",
                "operations that are not modelled are read as ins(… : types) outs(… : types)",
            ) from error

    return spell


@lru_cache(maxsize=1024)
def _generic(name: str) -> type[PtoOperation]:
    return define(name, _spell_skippable(name))


_LONGEST_NAME = 80


def generic_operation(name: str) -> type[PtoOperation] | None:
    """Return an operation for a ``pto`` name that is not modelled; it reads the tile form."""
    short = name.removeprefix("pto.")
    return _generic(short) if short != name and 0 < len(short) <= _LONGEST_NAME else None
