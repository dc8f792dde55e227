"""Texts that several tests wrap their statements in."""

from __future__ import annotations

from lanesort.pto.program import Block, Module, Step
from lanesort.pto.text.parser import parse

LONG = "!pto.tile_buf<loc=vec, dtype={}, rows=1, cols={}, v_row=1, v_col={}, blayout=row_major, slayout=none_box, fractal=512, pad=0>"  # noqa: E501
F32_32 = LONG.format("f32", 32, 32)
F32_64 = LONG.format("f32", 64, 64)
F32_256 = "!pto.tile_buf<vec, 1x256xf32>"
F32_512 = "!pto.tile_buf<vec, 1x512xf32>"
F32_1024 = "!pto.tile_buf<vec, 1x1024xf32>"
U32_32 = "!pto.tile_buf<vec, 1x32xui32>"
I32_32 = "!pto.tile_buf<vec, 1x32xi32>"
U32_128 = "!pto.tile_buf<vec, 1x128xui32>"
F16_32 = "!pto.tile_buf<vec, 1x32xf16>"
MASK = "!pto.tile_buf<vec, 1x32xi8>"
TV = "!pto.tensor_view<?x?xf32>"
PV = "!pto.partition_tensor_view<1x32xf32>"

ARGUMENTS = {
    "%gm": "!pto.ptr<f32>",
    "%gi": "!pto.ptr<i32, gm>",
    "%ub": "!pto.ptr<f32, ub>",
    "%uu": "!pto.ptr<ui32, ub>",
    "%view": TV,
    "%part": PV,
    "%a": F32_32,
    "%b": F32_32,
    "%d": F32_32,
    "%s": F32_64,
    "%idx": U32_32,
    "%sidx": I32_32,
    "%h": F16_32,
    "%mask": MASK,
    "%l0": F32_256,
    "%l1": F32_256,
    "%l2": F32_256,
    "%l3": F32_256,
    "%l4": F32_256,
    "%two": F32_512,
    "%four": F32_1024,
    "%tmp": F32_1024,
    "%u128": U32_128,
    "%ex": "vector<4xi16>",
    "%i": "index",
    "%n": "index",
    "%w": "i32",
    "%q": "i64",
    "%r": "i16",
    "%x": "f32",
    "%c": "i1",
}


def text_of(*statements: str) -> str:
    """Return a program whose only function holds the statements."""
    arguments = ", ".join(f"{name}: {type_}" for name, type_ in ARGUMENTS.items())
    body = "\n  ".join(statements)
    return f"func.func @f({arguments}) {{\n  {body}\n  return\n}}\n"


def steps_of(*statements: str) -> tuple[Step, ...]:
    """Return the steps that the statements mean, without the final return."""
    return body_of(parse(text_of(*statements))).steps[:-1]


def body_of(module: Module) -> Block:
    body = module.functions[-1].body
    assert body is not None
    return body
