"""For each finding a program that raises it and one, as alike as possible, that does not."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["PROGRAMS", "Pair", "kernel"]

_SHORT = re.compile(r"T\(([^()]*)\)")


def kernel(body: str, arguments: str = "") -> str:
    """Write a function; ``T(1x64xf32)`` is the type of a tile, and some constants are there."""
    text = f"""func.func @kernel({arguments}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %first = arith.constant 0 : i32
  %counts = arith.constant dense<0> : vector<4xi16>
{body.strip(chr(10))}
  return
}}
"""
    return _SHORT.sub(r"!pto.tile_buf<vec, \1>", text)


@dataclass(frozen=True)
class Pair:
    """A program with a fault, one without, and on which target to check them."""

    faulty: str
    sound: str
    target: str = "a2a3"
    manual: bool = False


SORT_ARGUMENTS = "%src: T(1x64xf32), %idx: T(1x64xi32)"
LISTS = "%a: T(1x64xf32), %b: T(1x64xf32)"
LOAD_ARGUMENTS = "%in: !pto.ptr<f32>"
VIEW = """
  %view = pto.make_tensor_view %in, shape = [%c1, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x?xf32>
  %row = pto.partition_view %view, offsets = [%c0, %c0], sizes = [%c1, %c64]
       : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<1x64xf32>
  %t = pto.alloc_tile : T(1x64xf32)
"""
LOAD = "  pto.tload ins(%row : !pto.partition_tensor_view<1x64xf32>) outs(%t : T(1x64xf32))\n"
USE = "  pto.tadds ins(%t, %zero : T(1x64xf32), f32) outs(%t : T(1x64xf32))\n"
SET = '  pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]\n'
WAIT = '  pto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]\n'
FLAG = SET + WAIT
BARRIER = "  pto.barrier #pto.pipe<PIPE_V>\n"


def _room(columns: int) -> str:
    tile = f"T(1x{columns}xf32)"
    return kernel(f"""
  %a = pto.alloc_tile : {tile}
  %b = pto.alloc_tile : {tile}
  pto.texpands ins(%zero : f32) outs(%a : {tile})
  pto.texpands ins(%zero : f32) outs(%b : {tile})
  pto.tadd ins(%a, %b : {tile}, {tile}) outs(%a : {tile})
""")


def _sort(dst_address: int, columns: int = 64) -> str:
    return (
        kernel(
            f"""
  %at = arith.constant {dst_address} : i64
  %src = pto.alloc_tile addr = %first_at : T(1x{columns}xf32)
  %dst = pto.alloc_tile addr = %at : T(1x{2 * columns}xf32)
  pto.texpands ins(%zero : f32) outs(%src : T(1x{columns}xf32))
  pto.tsort32 ins(%src, %idx : T(1x{columns}xf32), T(1x{columns}xi32)) outs(%dst : T(1x{2 * columns}xf32))
""",
            f"%idx: T(1x{columns}xi32)",
        )
        .replace("addr = %first_at", "addr = %origin")
        .replace("%first = arith", "%origin = arith.constant 0 : i64\n  %first = arith")
    )


def _tail(dst: int, tmp: int | None = 32, columns: int = 13) -> str:
    wide = -(-columns // 32) * 32
    source = f"T(1x{wide}xf32, valid=1x{columns})"
    name, type, alloc = "", "", ""
    if tmp is not None:
        name, type = ", %tmp", f", T(1x{tmp}xf32)"
        alloc = f"  %tmp = pto.alloc_tile : T(1x{tmp}xf32)\n"
    return kernel(
        f"""
  %dst = pto.alloc_tile : T(1x{dst}xf32)
{alloc}  pto.tsort32 ins(%src, %idx{name} : {source}, T(1x{wide}xi32){type}) outs(%dst : T(1x{dst}xf32))
""",
        f"%src: {source}, %idx: T(1x{wide}xi32)",
    )


def _lists(dst: int, tmp: int, behind: str = "", exhausted: str = "false") -> str:
    return kernel(
        f"""
  %dst = pto.alloc_tile : T(1x{dst}xf32)
  %tmp = pto.alloc_tile : T(1x{tmp}xf32)
  pto.tmrgsort ins(%a, %b, %tmp {{exhausted = {exhausted}}} : T(1x64xf32), T(1x64xf32), T(1x{tmp}xf32))
               outs(%dst, %counts : T(1x{dst}xf32), vector<4xi16>)
{behind}""",
        LISTS,
    )


READ_ALL = """
  %copy = pto.alloc_tile : T(1x128xf32)
  pto.tmov ins(%dst : T(1x128xf32)) outs(%copy : T(1x128xf32))
"""
READ_SURE = """
  %sure = pto.subview %dst[%c0, %c0] sizes [1, 64] : T(1x128xf32) -> T(1x64xf32)
  %copy = pto.alloc_tile : T(1x64xf32)
  pto.tmov ins(%sure : T(1x64xf32)) outs(%copy : T(1x64xf32))
"""


def _groups(columns: int) -> str:
    tile = f"T(1x{columns}xf32)"
    body = f"""
  %len = arith.constant 64 : i32
  %dst = pto.alloc_tile : {tile}
  pto.tmrgsort ins(%src, %len : {tile}, i32) outs(%dst : {tile})
"""
    return kernel(body, f"%src: {tile}")


def _window(column: int) -> str:
    return kernel(
        f"""
  %at = arith.constant {column} : index
  %part = pto.subview %src[%c0, %at] sizes [1, 32] : T(1x64xf32) -> T(1x32xf32)
  pto.tadds ins(%part, %zero : T(1x32xf32), f32) outs(%part : T(1x32xf32))
""",
        SORT_ARGUMENTS,
    )


def _two_sorts(between: str) -> str:
    return kernel(
        f"""
  %len = arith.constant 64 : i32
  %pairs = pto.alloc_tile : T(1x256xf32)
  %merged = pto.alloc_tile : T(1x256xf32)
  pto.tsort32 ins(%src, %idx : T(1x128xf32), T(1x128xi32)) outs(%pairs : T(1x256xf32))
{between}  pto.tmrgsort ins(%pairs, %len : T(1x256xf32), i32) outs(%merged : T(1x256xf32))
""",
        "%src: T(1x128xf32), %idx: T(1x128xi32)",
    )


def _rounds(length: int, merge: str = "") -> str:
    """Sort 16 blocks, merge them four at a time, and merge again with a block length."""
    return kernel(
        f"""
  %len64 = arith.constant 64 : i32
  %len = arith.constant {length} : i32
  %ping = pto.alloc_tile : T(1x4096xf32)
  %pong = pto.alloc_tile : T(1x4096xf32)
  pto.tsort32 ins(%src, %idx : T(1x2048xf32), T(1x2048xi32)) outs(%ping : T(1x4096xf32))
  pto.tmrgsort ins(%ping, %len64 : T(1x4096xf32), i32) outs(%pong : T(1x4096xf32))
  pto.tmrgsort ins(%pong, %len : T(1x4096xf32), i32) outs(%ping : T(1x4096xf32))
{merge}""",
        "%src: T(1x2048xf32), %idx: T(1x2048xi32)",
    )


FILL = "  pto.texpands ins(%zero : f32) outs(%t : T(1x64xf32))\n"
ALLOC = "  %t = pto.alloc_tile : T(1x64xf32)\n"

PROGRAMS: dict[str, Pair] = {
    "ub-overflow": Pair(_room(32768), _room(16384)),
    "operand-overlap": Pair(_sort(128), _sort(256)),
    "misaligned": Pair(_sort(264), _sort(256)),
    "read-before-written": Pair(kernel(ALLOC + USE), kernel(ALLOC + FILL + USE)),
    "stale-tail": Pair(_lists(128, 128, READ_ALL, "true"), _lists(128, 128, READ_SURE, "true")),
    "columns-too-small": Pair(_tail(32), _tail(64)),
    "tmp-too-small": Pair(_lists(128, 64), _lists(128, 128)),
    "tail-dropped": Pair(_tail(64, None), _tail(64)),
    "tmp-narrower-than-dst": Pair(_lists(256, 128), _lists(256, 256)),
    "rule-broken": Pair(_groups(128), _groups(256)),
    "unsorted-run": Pair(_rounds(512), _rounds(256)),
    "unknown-operation": Pair(
        kernel(ALLOC + FILL + USE.replace("tadds", "tadd2")),
        kernel(ALLOC + FILL + USE.replace("tadds", "tsqrt")),
    ),
    "cannot-run": Pair(_window(48), _window(32)),
    "unused-tile": Pair(kernel(ALLOC), kernel(ALLOC + FILL)),
    "missing-flag": Pair(
        kernel(VIEW + LOAD + USE, LOAD_ARGUMENTS),
        kernel(VIEW + LOAD + FLAG + USE, LOAD_ARGUMENTS),
        manual=True,
    ),
    "flag-never-waited": Pair(
        kernel(VIEW + LOAD + SET, LOAD_ARGUMENTS), kernel(VIEW + LOAD + FLAG, LOAD_ARGUMENTS)
    ),
    "flag-never-set": Pair(
        kernel(VIEW + LOAD + WAIT + SET + USE, LOAD_ARGUMENTS),
        kernel(VIEW + LOAD + FLAG + USE, LOAD_ARGUMENTS),
    ),
    "missing-barrier": Pair(_two_sorts(""), _two_sorts(BARRIER), manual=True),
    "known-fault": Pair(_tail(16320, 32, 8130), _tail(16256, 32, 8100), "a5"),
    "portability-ub": Pair(_room(32768), _room(16384), "all"),
    "portability-path": Pair(_tail(8192, 4096, 4090), _tail(4096, 2048, 2030), "all"),
    "portability-barrier": Pair(_two_sorts(""), _two_sorts(BARRIER), "all", manual=True),
}
"""Programs by the id of the finding."""
