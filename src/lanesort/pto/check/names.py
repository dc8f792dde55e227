"""Findings about names: an operation that nobody has, and that is spelled nearly as one of ours."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from lanesort.evidence import fact
from lanesort.pto.check.finding import Finding
from lanesort.pto.operations import OPERATIONS
from lanesort.pto.program import Block, Function, Step

__all__ = ["misspelled"]

_NEAR = 0.7

# Operations that are not modelled: that one is spelled like another is no slip.
_OTHERS = """
aic_initialize_pipe aiv_initialize_pipe alloc_multi_tile declare_local_array declare_struct get_buf
get_prefetch_async_session get_tensor_view_dim get_tensor_view_stride import_reserved_buffer inttoptr
local_array_get local_array_set make_prefetch_async_context mgather mscatter multi_tile_get print ptrtoint
reserve_buffer rls_buf set_img2col_padding set_img2col_rpt set_quant_scalar set_quant_vector setfmatrix
struct_get struct_set syncall tabs taddc taddrelu taddsc talloc talloc_to_aic talloc_to_aiv tand tands taxpy
tcolargmax tcolargmin tcolexpand tcolexpandadd tcolexpanddiv tcolexpandexpdif tcolexpandmax tcolexpandmin
tcolexpandmul tcolexpandsub tcolmax tcolmin tcolprod tcolsum tconcat tconcatidx tdeinterleave tdequant texp
textract textract_fp tfillpad_expand tfillpad_inplace tfmod tfmods tfree tfree_from_aic tfree_from_aiv
tfusedmuladd tfusedmuladdrelu tgatherb tgemv tgemv_acc tgemv_bias tgemv_mx tget_scale_addr thistogram
timg2col tinsert tinsert_fp tinterleave tlog tlrelu tmatmul tmatmul_acc tmatmul_bias tmatmul_mx tmgather
tmov_fp tmscatter tmuladddst tneg tnot tor tors tpairreducesum tpartadd tpartargmax tpartargmin tpartmax
tpartmin tpartmul tpop tpop_from_aic tpop_from_aiv tpow tpows tprefetch tprefetch_async tprelu tpush
tpush_to_aic tpush_to_aiv tquant trandom trap trecip trelu trem trems trowargmax trowargmin trowexpand
trowexpandadd trowexpandexpdif trowexpandmax trowexpandmin trowprod trsqrt tscatter tshl tshls tshr tshrs
tsqrt tstore_fp tsubc tsubrelu tsubsc tsubview tsync ttri txor txors
"""

fact(
    "pto.check",
    "operations that are not modelled have the names of the instruction reference and of the dialect; "
    "older assemblers spell mgather and mscatter tmgather and tmscatter",
    "documented",
    "medium",
    "pto-isa, docs/isa, index of instructions; PTOAS, operations of the dialect, as tabled by PyPTO",
)


def misspelled(function: Function) -> Iterator[Finding]:
    """Find operations without a model whose names are near to one that has a model."""
    known = [name for name in OPERATIONS if "." not in name and name != "generic"]
    for step in _all(function.body or Block()):
        if step.modelled or "." in step.op or step.op in _OTHERS.split():
            continue
        # Families differ by their first letter: vadd, of registers, is no slip for tadd, of tiles.
        family = [name for name in known if name[0] == step.op[0]]
        near = difflib.get_close_matches(step.op, family, n=1, cutoff=_NEAR)
        if near:
            text = f"pto.{step.op} is no operation that is known here; did you mean pto.{near[0]}?"
            yield Finding("unknown-operation", text, step.place, function.name)


def _all(block: Block) -> Iterator[Step]:
    for step in block.steps:
        yield step
        for region in step.regions:
            yield from _all(region)
