"""The operations that are modelled: what their operands and attributes are called.

One table, read by the parser (to bring a spelling into normal form), by the printer and
by the interpreter. Marks behind an operand's name: ``?`` may be absent (None), ``*`` any
number of values (a tuple). Attributes are always present in a step; None if the text did
not give one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["OPERATIONS", "Signature", "SYNCHRONISATION"]


@dataclass(frozen=True, slots=True)
class Signature:
    """Operands and attributes of one operation.

    Attributes
    ----------
    operands
        Names in order, with their marks.
    attributes
        Names of the attributes that the model reads.
    results
        What the results are called, with marks.
    note
        What a reader of the table needs to know, if anything.
    """

    operands: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    note: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the operands without marks."""
        return tuple(name.rstrip("?*") for name in self.operands)

    def position(self, name: str) -> int:
        """Return where the operand called `name` stands among the operands.

        Raises
        ------
        KeyError
            If there is no such operand.
        """
        try:
            return self.names.index(name)
        except ValueError:
            raise KeyError(f"no operand {name!r}; there are {', '.join(self.names)}") from None


def _row(operands: str = "", attributes: str = "", results: str = "", note: str = "") -> Signature:
    return Signature(tuple(operands.split()), tuple(attributes.split()), tuple(results.split()), note)


_TWO_TILES = _row("src0 src1 dst")
_TILE_AND_SCALAR = _row("src scalar dst")

_VIEWS = {
    "make_tensor_view": _row("ptr shape* strides*", "layout", "view", "layout nd or dn, None: nd"),
    "partition_view": _row("view offsets* sizes*", "", "part"),
    "alloc_tile": _row("addr? valid_rows? valid_cols?", "address", "tile", "address in bytes, if constant"),
    "subview": _row("src offsets* valid*", "sizes", "tile", "a window of a tile: sizes (rows, cols)"),
    "set_validshape": _row("tile rows cols"),
    "tload": _row("src dst", "", "", "partition view to tile"),
    "tstore": _row("src dst", "", "", "tile to partition view"),
    "treshape": _row("src dst?", "", "tile", "the same bytes as another tile; dst, if given, becomes it"),
    "tassign": _row("tile addr?", "address", "", "address in bytes, if constant"),
    "castptr": _row("src", "", "ptr"),
    "addptr": _row("ptr offset", "", "ptr", "offset in elements"),
    "pointer_cast": _row("addrs* valid*", "", "result"),
    "bind_tile": _row("src valid*", "", "tile"),
    "tile_buf_addr": _row("src", "", "ptr"),
}

_SCALARS = {
    "load_scalar": _row("ptr offset", "", "value"),
    "store_scalar": _row("value ptr offset"),
    "tgetval": _row("src offset", "", "value", "offset counts elements of the whole tile, row by row"),
    "tsetval": _row("offset value dst"),
    "get_block_idx": _row("", "", "value"),
    "get_block_num": _row("", "", "value"),
    "get_subblock_idx": _row("", "", "value"),
    "get_subblock_num": _row("", "", "value"),
    "tprint": _row("src"),
}

_COPIES = {
    # Each entry of loops is (count, src_stride, dst_stride), flat; strides and lengths in bytes.
    "mte_gm_ub": _row("src dst l2_cache? length nburst* loops* pad*", note="nburst: count, strides"),
    "mte_ub_gm": _row("src dst l2_cache? length nburst* loops* pad*", note="nburst: count, strides"),
    "dma_load": _row("src dst l2_cache? length nburst* loops* pad*", note="the older name of mte_gm_ub"),
    "dma_store": _row("src dst l2_cache? length nburst* loops* pad*", note="the older name of mte_ub_gm"),
    "copy_gm_to_ubuf": _row(
        "src dst sid n_burst length left_padding right_padding select l2_cache src_stride dst_stride"
    ),
    "copy_ubuf_to_gm": _row("src dst sid n_burst length reserved dst_stride src_stride"),
    "set_loop_size_outtoub": _row("loop1 loop2"),
    "set_loop_size_ubtoout": _row("loop1 loop2"),
    "set_loop1_stride_outtoub": _row("src_stride dst_stride"),
    "set_loop2_stride_outtoub": _row("src_stride dst_stride"),
    "set_loop1_stride_ubtoout": _row("src_stride dst_stride"),
    "set_loop2_stride_ubtoout": _row("src_stride dst_stride"),
}

_SORTING = {
    "tsort32": _row(
        "src idx? tmp? dst index_dst?",
        note="index_dst only in the older outs(%dst, %idx): idx is absent, indices go there",
    ),
    "tmrgsort": _row(
        "sources* tmp? dst executed? block_len?",
        "block_len exhausted",
        note="one source: single list, with block_len as operand or attribute; two to four: multi list",
    ),
    "vbitsort": _row("dst src idx repeat"),
    "vmrgsort4": _row("dst src0 src1 src2 src3 lengths config"),
    "get_vms4_sr": _row("", "", "list0 list1 list2 list3"),
}

_TILES = {
    "tci": _row("start dst", "descending"),
    "tgather": _row(
        "src idx? tmp? dst", "mask_pattern axis", note="mask form: mask_pattern, such as P0101; else idx"
    ),
    "tmov": _row("src dst"),
    "tcvt": _row("src dst", "rmode"),
    "tfillpad": _row("src dst"),
    "texpands": _row("scalar dst"),
    **dict.fromkeys(("tadds", "tsubs", "tmuls", "tdivs", "tmins", "tmaxs"), _TILE_AND_SCALAR),
    **dict.fromkeys(("tadd", "tsub", "tmul", "tdiv", "tmax", "tmin"), _TWO_TILES),
    "tcmp": _row("src0 src1 dst", "cmp"),
    "tcmps": _row("src scalar dst", "cmp"),
    "tsel": _row("mask src0 src1 tmp? dst"),
    "tsels": _row("mask src tmp? scalar dst"),
    "trowsum": _row("src tmp? dst"),
    "trowmax": _row("src tmp? dst"),
    "trowmin": _row("src tmp? dst"),
    "trowexpanddiv": _row("src0 src1 tmp? dst"),
    "trowexpandmul": _row("src0 src1 tmp? dst"),
    "trowexpandsub": _row("src0 src1 tmp? dst"),
    "ttrans": _row("src tmp? dst"),
}

SYNCHRONISATION = ("set_flag", "wait_flag", "barrier", "barrier_sync", "record_event", "wait_event")
"""Operations that order the pipes; a program without any relies on the assembler to add them."""

_FLOW: dict[str, Signature] = {
    "set_flag": _row("", "src dst event", note="pipes as PIPE_V, event as EVENT_ID0"),
    "wait_flag": _row("", "src dst event"),
    "record_event": _row("", "src dst event"),
    "wait_event": _row("", "src dst event"),
    "barrier": _row("", "pipe"),
    "barrier_sync": _row("", "pipe", note="pipe is what stands in brackets, without them"),
    "section.vector": _row(note="one region, run in place"),
    "section.cube": _row(note="one region, run in place"),
    "fusion_region": _row("", "", "values*", "one region; its yield gives the results"),
    "yield": _row("values*"),
    "func.return": _row("values*"),
    "func.call": _row("values*", "callee", "values*"),
    "scf.for": _row("lower upper step initial*", "", "values*", "one region: index, carried values"),
    "scf.if": _row("condition", "", "values*", "two regions: then, else (empty block if absent)"),
    "scf.while": _row("initial*", "", "values*", "two regions: before (ends in scf.condition), after"),
    "scf.yield": _row("values*"),
    "scf.condition": _row("condition values*"),
    "builtin.unrealized_conversion_cast": _row("values*", "", "values*"),
}

_BINARY = (
    "addi subi muli divsi divui remsi remui ceildivsi floordivsi minsi maxsi minui maxui "
    "andi ori xori shli shrsi shrui addf subf mulf divf minimumf maximumf minnumf maxnumf"
)
_CASTS = "index_cast index_castui extsi extui trunci sitofp uitofp fptosi fptoui extf truncf bitcast negf"

_ARITH: dict[str, Signature] = {
    "arith.constant": _row(
        "", "value bits", "value", "value: bool, int, float, or ints of a vector; bits: a float's pattern"
    ),
    **{f"arith.{name}": _row("lhs rhs", "", "value") for name in _BINARY.split()},
    "arith.cmpi": _row("lhs rhs", "predicate", "value", "predicate by name: eq ne slt sle sgt sge ult …"),
    "arith.cmpf": _row("lhs rhs", "predicate", "value", "predicate by name: oeq ogt … une uno"),
    "arith.select": _row("condition true false", "", "value"),
    **{f"arith.{name}": _row("src", "", "value") for name in _CASTS.split()},
}

OPERATIONS: Mapping[str, Signature] = {
    **_VIEWS,
    **_SCALARS,
    **_COPIES,
    **_SORTING,
    **_TILES,
    **_FLOW,
    **_ARITH,
    "generic": _row("ins* outs*", "", "values*", "any operation that is not modelled"),
}
"""Canonical operation name to its operands, attributes and results."""
