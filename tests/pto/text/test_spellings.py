"""Every spelling that kernels in the wild use, and what it means in normal form."""

# ruff: noqa: E501 - statements are quoted whole

from __future__ import annotations

import pytest
from tests.pto.text.programs import (
    F16_32,
    F32_32,
    F32_64,
    F32_256,
    F32_512,
    F32_1024,
    I32_32,
    MASK,
    PV,
    TV,
    U32_32,
    steps_of,
    text_of,
)

from lanesort.pto.operations import OPERATIONS
from lanesort.pto.text.parser import parse
from lanesort.pto.text.printer import print_module

OPEN = "!pto.tile_buf<loc=vec, dtype=f32, rows=1, cols=32, v_row=?, v_col=?, blayout=row_major, slayout=none_box, fractal=512, pad=3>"

# statement -> canonical operation, operand names that are there, attributes that the text gives
SPELLINGS: dict[str, tuple[str, str, dict[str, object]]] = {
    # memory and views
    f"%v = pto.make_tensor_view %gm, shape = [%i, %n], strides = [%n, %i] {{layout = #pto.layout<nd>}} : {TV}": (
        "make_tensor_view", "ptr shape strides", {"layout": "nd"}),
    f"%v = pto.make_tensor_view %gm, shape = [%i, %n], strides = [%n, %i], {{layout = #pto.layout<dn>}} : {TV}": (
        "make_tensor_view", "ptr shape strides", {"layout": "dn"}),
    f"%v = pto.make_tensor_view %gm, shape = [%i, %n] strides = [%n, %i] : {TV}": (
        "make_tensor_view", "ptr shape strides", {"layout": None}),
    "%v = pto.make_tensor_view %gm, shape = [1, 8192], strides = [8192, 1] : !pto.tensor_view<1x8192xf32>": (
        "make_tensor_view", "ptr shape strides", {}),
    "%v = pto.make_tensor_view %gm, shape = [%i, %i, %i, %i, %n], strides = [%n, %n, %n, %n, %i] : !pto.tensor_view<?x?x?x?x?xf32>": (
        "make_tensor_view", "ptr shape strides", {}),
    "%v = pto.make_tensor_view %gm, shape = [%i, %n] strides = [%n, %i] : !pto.tensor_view<2xf32>": (
        "make_tensor_view", "ptr shape strides", {}),
    f"%p = pto.partition_view %view, offsets = [%i, %i], sizes = [%i, %n] : {TV} -> !pto.partition_tensor_view<1x?xf32>": (
        "partition_view", "view offsets sizes", {}),
    f"%p = pto.partition_view %view, offsets = [%i, %i], sizes = [%i, %n] : {TV}": (
        "partition_view", "view offsets sizes", {}),
    f"%p = pto.partition_view %view, offsets = [0, 0], sizes = [1, 32] : {TV} -> !pto.tile_view<1x32xf32>": (
        "partition_view", "view offsets sizes", {}),
    f"%p = pto.subview %view, offsets = [%i, %i], sizes = [%i, %n] : {TV} -> {PV}": (
        "partition_view", "view offsets sizes", {}),
    f"%t = pto.alloc_tile : {F32_32}": ("alloc_tile", "", {"address": None}),
    f"%t = pto.alloc_tile addr = %q : {F32_32}": ("alloc_tile", "addr", {"address": None}),
    f"%t = pto.alloc_tile valid_row = %i valid_col = %n : {OPEN}": ("alloc_tile", "valid_rows valid_cols", {}),
    f"%t = pto.alloc_tile addr = %q valid_col = %n : {OPEN}": ("alloc_tile", "addr valid_cols", {}),
    "%t = pto.alloc_tile : <loc=ub, dtype=f32, rows=1, cols=32, v_row=1, v_col=32, blayout=row_major, slayout=none_box, fractal=512, pad=0>": (
        "alloc_tile", "", {}),
    "%t = pto.alloc_tile : <vec, 1x32xf32>": ("alloc_tile", "", {}),
    f"%t = pto.subview %a[%i, %n] sizes [1, 16] : {F32_32} -> !pto.tile_buf<vec, 1x16xf32>": (
        "subview", "src offsets", {"sizes": (1, 16)}),
    f"%t = pto.subview %a[%i, %n] sizes [1, 16] valid [%i, %n] : {F32_32} -> !pto.tile_buf<vec, 1x16xf32, valid=?x?>": (
        "subview", "src offsets valid", {"sizes": (1, 16)}),
    f"pto.set_validshape %a, %i, %n : {F32_32}": ("set_validshape", "tile rows cols", {}),
    f"pto.tload ins(%part : {PV}) outs(%a : {F32_32})": ("tload", "src dst", {}),
    f"pto.tload ins(%part : <1x32xf32>) outs(%a : {F32_32})": ("tload", "src dst", {}),
    f"pto.tstore ins(%a : {F32_32}) outs(%part : {PV})": ("tstore", "src dst", {}),
    f"%t = pto.treshape %a : {F32_32} -> {U32_32}": ("treshape", "src", {}),
    f"pto.treshape ins(%a : {F32_32}) outs(%idx : {U32_32})": ("treshape", "src dst", {}),
    f"pto.tassign %a, %q : {F32_32}, i64": ("tassign", "tile addr", {"address": None}),
    f"pto.tassign ins(%a, %q : {F32_32}, i64) outs()": ("tassign", "tile addr", {"address": None}),
    "%p = pto.castptr %q : i64 -> !pto.ptr<f32, ub>": ("castptr", "src", {}),
    "%p = pto.addptr %gm, %n : !pto.ptr<f32> -> !pto.ptr<f32>": ("addptr", "ptr offset", {}),
    "%p = pto.addptr %ub, %n : <f32, ub> -> <f32, ub>": ("addptr", "ptr offset", {}),
    f"%t = pto.pointer_cast(%q) %i, %n {{config = #pto.tile_buf_config<blayout=#pto.blayout<row_major>>}} : {F32_32}": (
        "pointer_cast", "addrs valid", {}),
    f"%t = pto.pointer_cast(%q) : {F32_32}": ("pointer_cast", "addrs", {}),
    f"%t = pto.bind_tile %a, %i, %n : {F32_32} -> {OPEN}": ("bind_tile", "src valid", {}),
    f"%p = pto.tile_buf_addr %a : {F32_32} -> !pto.ptr<f32, ub>": ("tile_buf_addr", "src", {}),
    # scalars
    "%v = pto.load_scalar %gi[%n] : !pto.ptr<i32, gm> -> i32": ("load_scalar", "ptr offset", {}),
    "pto.store_scalar %r, %uu[%n] : !pto.ptr<ui32, ub>, i16": ("store_scalar", "value ptr offset", {}),
    f"%v = pto.tgetval ins(%a, %n : {F32_32}, index) outs : f32": ("tgetval", "src offset", {}),
    f"pto.tsetval ins(%n, %x : index, f32) outs(%a : {F32_32})": ("tsetval", "offset value dst", {}),
    "%v = pto.get_block_idx": ("get_block_idx", "", {}),
    "%v = pto.get_block_num : i64": ("get_block_num", "", {}),
    "%v = pto.get_subblock_idx -> i64": ("get_subblock_idx", "", {}),
    "%v = pto.get_subblock_num": ("get_subblock_num", "", {}),
    f"pto.tprint ins(%a : {F32_32}) outs()": ("tprint", "src", {}),
    f"pto.tprint ins(%a : {F32_32})": ("tprint", "src", {}),
    # low-level copies
    "pto.mte_gm_ub %gm, %ub, %q, %q nburst(%q, %q, %q) : !pto.ptr<f32>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64": (
        "mte_gm_ub", "src dst l2_cache length nburst", {}),
    "pto.mte_ub_gm %ub, %gm, %q nburst(%q, %q, %q) : !pto.ptr<f32, ub>, !pto.ptr<f32>, i64, i64, i64, i64": (
        "mte_ub_gm", "src dst length nburst", {}),
    "pto.mte_ub_gm %ub, %gm, %q nburst(%q, %q, %q) loop(%q, %q, %q) loop(%q, %q, %q) : !pto.ptr<f32, ub>, !pto.ptr<f32, gm>, i64, i64, i64, i64, loop i64, i64, i64, loop i64, i64, i64": (
        "mte_ub_gm", "src dst length nburst loops", {}),
    "pto.dma_load %gm, %ub, %q, %q nburst(%q, %q, %q) pad(%x, %q, %q) : !pto.ptr<f32>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64, f32, i64, i64": (
        "dma_load", "src dst l2_cache length nburst pad", {}),
    "pto.dma_store %ub, %gm, %q nburst(%q, %q, %q) : !pto.ptr<f32, ub>, !pto.ptr<f32>, i64, i64, i64, i64": (
        "dma_store", "src dst length nburst", {}),
    "pto.copy_gm_to_ubuf %gm, %ub, %q, %q, %q, %q, %q, %c, %q, %q, %q : !pto.ptr<f32>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64, i1, i64, i64, i64": (
        "copy_gm_to_ubuf",
        "src dst sid n_burst length left_padding right_padding select l2_cache src_stride dst_stride", {}),
    "pto.copy_ubuf_to_gm %ub, %gm, %q, %q, %q, %q, %q, %q : !pto.ptr<f32, ub>, !pto.ptr<f32>, i64, i64, i64, i64, i64, i64": (
        "copy_ubuf_to_gm", "src dst sid n_burst length reserved dst_stride src_stride", {}),
    "pto.set_loop_size_outtoub %q, %q : i64, i64": ("set_loop_size_outtoub", "loop1 loop2", {}),
    "pto.set_loop_size_ubtoout %q, %q : i64, i64": ("set_loop_size_ubtoout", "loop1 loop2", {}),
    # sorting
    f"pto.tsort32 ins(%a, %idx : {F32_32}, {U32_32}) outs(%s : {F32_64})": ("tsort32", "src idx dst", {}),
    f"pto.tsort32 ins(%a, %sidx : {F32_32}, {I32_32}) outs(%s : {F32_64})": ("tsort32", "src idx dst", {}),
    f"pto.tsort32 ins(%a, %idx, %b : {F32_32}, {U32_32}, {F32_32}) outs(%s : {F32_64})": (
        "tsort32", "src idx tmp dst", {}),
    f"pto.tsort32 ins(%a : {F32_32}) outs(%d, %idx : {F32_32}, {U32_32})": ("tsort32", "src dst index_dst", {}),
    f"pto.tsort32 ins(%a : {F32_32}) outs(%d : {F32_32}, %idx : {U32_32})": ("tsort32", "src dst index_dst", {}),
    f"pto.tmrgsort ins(%l0, %w : {F32_256}, i32) outs(%l1 : {F32_256})": (
        "tmrgsort", "sources dst block_len", {"block_len": None, "exhausted": False}),
    f"pto.tmrgsort ins(%l0 {{blockLen = 64 : i32}} : {F32_256}) outs(%l1 : {F32_256})": (
        "tmrgsort", "sources dst", {"block_len": 64}),
    f"pto.tmrgsort ins(%l0 : {F32_256}) outs(%l1 : {F32_256}) blockLen = 64": (
        "tmrgsort", "sources dst", {"block_len": 64}),
    f"pto.tmrgsort ins(%l0, %l1, %tmp {{exhausted = true}} : {F32_256}, {F32_256}, {F32_1024}) outs(%two, %ex : {F32_512}, vector<4xi16>)": (
        "tmrgsort", "sources tmp dst executed", {"exhausted": True}),
    f"pto.tmrgsort ins(%l0, %l1, %l2, %l3, %tmp {{exhausted = false}} : {F32_256}, {F32_256}, {F32_256}, {F32_256}, {F32_1024}) outs(%four, %ex : {F32_1024}, vector<4xi16>)": (
        "tmrgsort", "sources tmp dst executed", {"exhausted": False}),
    f"pto.tmrgsort ins(%l0, %l1, %l2 no_tmp {{exhausted = false}} : {F32_256}, {F32_256}, {F32_256}) outs(%two, %ex : {F32_512}, vector<4xi16>)": (
        "tmrgsort", "sources dst executed", {"exhausted": False}),
    f"pto.tmrgsort ins(%l0, %l1 {{exhausted = false}} : {F32_256}, {F32_256}) outs(%two, %ex : {F32_512}, vector<4xi16>)": (
        "tmrgsort", "sources dst executed", {"exhausted": False}),
    f"pto.tmrgsort ins(%l0, %l1, %l2, %l3 {{exhausted = false}} : {F32_256}, {F32_256}, {F32_256}, {F32_256}) outs(%four, %ex : {F32_1024}, vector<4xi16>)": (
        "tmrgsort", "sources dst executed", {"exhausted": False}),
    f"pto.tmrgsort ins(%l0, %l1 {{exhausted = true}} : {F32_256}, {F32_256}) outs(%two, %tmp, %ex : {F32_512}, {F32_1024}, vector<4xi16>)": (
        "tmrgsort", "sources tmp dst executed", {"exhausted": True}),
    "pto.vbitsort %ub, %ub, %uu, %n : !pto.ptr<f32, ub>, !pto.ptr<f32, ub>, !pto.ptr<ui32, ub>, index": (
        "vbitsort", "dst src idx repeat", {}),
    "pto.vmrgsort4 %ub, %ub, %ub, %ub, %ub, %q, %q : !pto.ptr<f32, ub>, !pto.ptr<f32, ub>, !pto.ptr<f32, ub>, !pto.ptr<f32, ub>, !pto.ptr<f32, ub>, i64, i64": (
        "vmrgsort4", "dst src0 src1 src2 src3 lengths config", {}),
    "%e0, %e1, %e2, %e3 = pto.get_vms4_sr : i16, i16, i16, i16": ("get_vms4_sr", "", {}),
    f"%t = pto.tsort32 %a, %idx : ({F32_32}, {U32_32}) -> {F32_64}": ("tsort32", "src idx dst", {}),
    f"%t = tsort32 %a, %idx : ({F32_32}, {U32_32}) -> {F32_64}": ("tsort32", "src idx dst", {}),
    f"%t = pto.tmrgsort %l0, %w : ({F32_256}, i32) -> {F32_256}": ("tmrgsort", "sources dst block_len", {}),
    f"%t, %e = pto.tmrgsort %l0, %l1, %l2, %l3 {{exhausted = false}} : ({F32_256}, {F32_256}, {F32_256}, {F32_256}) -> ({F32_1024}, vector<4xi16>)": (
        "tmrgsort", "sources dst executed", {"exhausted": False}),
    f"%t, %e = tmrgsort %l0, %l1 {{exhausted = true}} : {F32_256}, {F32_256} -> ({F32_512}, vector<4xi16>)": (
        "tmrgsort", "sources dst executed", {"exhausted": True}),
    # around sorting
    f"pto.tci ins(%w : i32) outs(%idx : {U32_32}) {{descending = false}}": (
        "tci", "start dst", {"descending": False}),
    f"pto.tci ins(%w : i32) outs(%idx : {U32_32})": ("tci", "start dst", {"descending": False}),
    f"pto.tgather ins(%s, {{maskPattern = #pto.mask_pattern<P0101>}} : {F32_64}) outs(%a : {F32_32})": (
        "tgather", "src dst", {"mask_pattern": "P0101", "axis": None}),
    f'pto.tgather ins(%s, {{maskPattern = #pto.mask_pattern<P1010>}} : {F32_64}, "row") outs(%idx : {U32_32})': (
        "tgather", "src dst", {"mask_pattern": "P1010", "axis": "row"}),
    f"pto.tgather ins(%a, %idx : {F32_32}, {U32_32}) outs(%d : {F32_32})": (
        "tgather", "src idx dst", {"mask_pattern": None}),
    f"pto.tgather ins(%a, %idx, %b : {F32_32}, {U32_32}, {F32_32}) outs(%d : {F32_32})": (
        "tgather", "src idx tmp dst", {}),
    f"pto.tmov ins(%a : {F32_32}) outs(%d : {F32_32})": ("tmov", "src dst", {}),
    f"%t = pto.tmov %a : {F32_32} -> {F32_32}": ("tmov", "src dst", {}),
    f"pto.tcvt ins(%h {{rmode = #pto<round_mode CAST_RINT>}} : {F16_32}) outs(%a : {F32_32})": (
        "tcvt", "src dst", {"rmode": "CAST_RINT"}),
    f"pto.tcvt ins(%h {{rmode = #pto.round_mode<NONE>}} : {F16_32}) outs(%a : {F32_32})": (
        "tcvt", "src dst", {"rmode": "NONE"}),
    f"pto.tfillpad ins(%a : {F32_32}) outs(%a : {F32_32})": ("tfillpad", "src dst", {}),
    f"pto.texpands ins(%x : f32) outs(%a : {F32_32})": ("texpands", "scalar dst", {}),
    **{
        f"pto.{name} ins(%a, %x : {F32_32}, f32) outs(%d : {F32_32})": (name, "src scalar dst", {})
        for name in ("tadds", "tmuls", "tmins", "tmaxs")
    },
    **{
        f"pto.{name} ins(%a, %b : {F32_32}, {F32_32}) outs(%d : {F32_32})": (name, "src0 src1 dst", {})
        for name in ("tadd", "tsub", "tmul", "tmax", "tmin", "trowexpanddiv")
    },
    f"pto.tcmp ins(%a, %b {{cmpMode = #pto<cmp ge>}} : {F32_32}, {F32_32}) outs(%mask : {MASK})": (
        "tcmp", "src0 src1 dst", {"cmp": "ge"}),
    f"pto.tcmps ins(%a, %x {{cmpMode = #pto.cmp<lt>}} : {F32_32}, f32) outs(%mask : {MASK})": (
        "tcmps", "src scalar dst", {"cmp": "lt"}),
    f"pto.tsel ins(%mask, %a, %b : {MASK}, {F32_32}, {F32_32}) outs(%d : {F32_32})": (
        "tsel", "mask src0 src1 dst", {}),
    f"pto.tsel ins(%mask, %a, %b, %d : {MASK}, {F32_32}, {F32_32}, {F32_32}) outs(%d : {F32_32})": (
        "tsel", "mask src0 src1 tmp dst", {}),
    f"pto.tsels ins(%mask, %a, %d, %x : {MASK}, {F32_32}, {F32_32}, f32) outs(%d : {F32_32})": (
        "tsels", "mask src tmp scalar dst", {}),
    f"pto.trowsum ins(%a, %b : {F32_32}, {F32_32}) outs(%d : {F32_32})": ("trowsum", "src tmp dst", {}),
    f"pto.trowmax ins(%a : {F32_32}) outs(%d : {F32_32})": ("trowmax", "src dst", {}),
    f"pto.ttrans ins(%a, %b : {F32_32}, {F32_32}) outs(%d : {F32_32})": ("ttrans", "src tmp dst", {}),
    # synchronisation
    'pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]': (
        "set_flag", "", {"src": "PIPE_MTE2", "dst": "PIPE_V", "event": "EVENT_ID0"}),
    "pto.wait_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID1>]": (
        "wait_flag", "", {"src": "PIPE_V", "dst": "PIPE_MTE3", "event": "EVENT_ID1"}),
    "pto.wait_flag[#pto.pipe<PIPE_V>, #pto.pipe<PIPE_S>, #pto.event<EVENT_ID1>]": (
        "wait_flag", "", {"src": "PIPE_V", "dst": "PIPE_S", "event": "EVENT_ID1"}),
    'pto.record_event["TLOAD", "TVEC", "EVENT_ID0"]': (
        "record_event", "", {"src": "TLOAD", "dst": "TVEC", "event": "EVENT_ID0"}),
    "pto.wait_event[<TLOAD>, <TVEC>, <EVENT_ID0>]": ("wait_event", "", {"src": "TLOAD"}),
    "pto.barrier #pto.pipe<PIPE_ALL>": ("barrier", "", {"pipe": "PIPE_ALL"}),
    "pto.barrier <PIPE_V>": ("barrier", "", {"pipe": "PIPE_V"}),
    "pto.pipe_barrier #pto.pipe<PIPE_V>": ("barrier", "", {"pipe": "PIPE_V"}),
    "pto.barrier_sync [<TVEC>]": ("barrier_sync", "", {"pipe": "TVEC"}),
    # arith and builtin
    "%v = arith.constant 5 : i32": ("arith.constant", "", {"value": 5, "bits": None}),
    "%v = arith.constant -7 : index": ("arith.constant", "", {"value": -7}),
    "%v = arith.constant true": ("arith.constant", "", {"value": True}),
    "%v = arith.constant 0.10000000000000001 : f32": (
        "arith.constant", "", {"value": 0.10000000149011612, "bits": 0x3DCCCCCD}),
    "%v = arith.constant 0xFF800000 : f32": ("arith.constant", "", {"value": float("-inf"), "bits": 0xFF800000}),
    "%v = arith.constant -1.000000e+00 : f16": ("arith.constant", "", {"value": -1.0, "bits": 0xBC00}),
    "%v = arith.constant dense<0> : vector<4xi16>": ("arith.constant", "", {"value": (0, 0, 0, 0)}),
    "%v = arith.constant dense<[1, 2, 3, 4]> : vector<4xi16>": ("arith.constant", "", {"value": (1, 2, 3, 4)}),
    **{
        f"%v = arith.{name} %i, %n : index": (f"arith.{name}", "lhs rhs", {})
        for name in ("addi", "subi", "muli", "divsi", "remsi", "minsi", "maxsi")
    },
    "%v = arith.cmpi slt, %i, %n : index": ("arith.cmpi", "lhs rhs", {"predicate": "slt"}),
    "%v = arith.cmpf oge, %x, %x : f32": ("arith.cmpf", "lhs rhs", {"predicate": "oge"}),
    "%v = arith.select %c, %i, %n : index": ("arith.select", "condition true false", {}),
    "%v = arith.index_cast %i : index to i32": ("arith.index_cast", "src", {}),
    "%v = arith.extsi %w : i32 to i64": ("arith.extsi", "src", {}),
    "%v = arith.trunci %q : i64 to i32": ("arith.trunci", "src", {}),
    "%v = builtin.unrealized_conversion_cast %w : i32 to ui32": (
        "builtin.unrealized_conversion_cast", "values", {}),
}  # fmt: skip


@pytest.mark.parametrize("statement", SPELLINGS, ids=lambda text: text[:60])
def test_spelling_means_its_normal_form(statement: str) -> None:
    op, names, attributes = SPELLINGS[statement]
    step = steps_of(statement)[-1]
    assert step.op == op
    given = {n for n, v in zip(step.signature.names, step.operands, strict=True) if v not in (None, ())}
    assert given == set(names.split())
    assert {key: step.attributes[key] for key in attributes} == attributes
    assert set(step.attributes) == set(OPERATIONS[op].attributes)


@pytest.mark.parametrize("form", ["dps", "ssa", "manual"])
@pytest.mark.parametrize("statement", SPELLINGS, ids=lambda text: text[:60])
def test_spelling_survives_printing(statement: str, form: str) -> None:
    module = parse(text_of(statement))
    assert parse(print_module(module, form), manual=form == "manual") == module


def test_every_modelled_operation_has_a_spelling_here() -> None:
    tested = {op for op, _, _ in SPELLINGS.values()} | {
        "generic", "yield", "section.vector", "section.cube", "fusion_region", "func.return", "func.call",
        "scf.for", "scf.if", "scf.while", "scf.yield", "scf.condition",
    }  # fmt: skip
    alike = {name for name in OPERATIONS if name.startswith("arith.")} | {
        "tsubs", "tdivs", "tdiv", "trowmin", "trowexpandmul", "trowexpandsub",
        "set_loop1_stride_outtoub", "set_loop2_stride_outtoub",
        "set_loop1_stride_ubtoout", "set_loop2_stride_ubtoout",
    }  # fmt: skip
    assert set(OPERATIONS) - tested - alike == set()
