"""Texts of small programs: tiles loaded from arguments, a body, and a tile stored."""

from __future__ import annotations

from typing import Any

import numpy as np

from lanesort.pto.interpreter import run
from lanesort.pto.memory import ELEMENTS
from lanesort.pto.result import RunResult

__all__ = ["function", "on_tiles", "tile_type", "view"]


def tile_type(shape: str, more: str = "") -> str:
    """Write the type of a tile: ``tile_type("1x32xf32", "pad=3")``."""
    return f"!pto.tile_buf<vec, {shape}{', ' + more if more else ''}>"


def view(name: str, source: str, shape: str) -> str:
    """Write the steps that view an argument as rows × columns."""
    rows, columns, element = shape.split("x")
    whole, part = f"!pto.tensor_view<?x?x{element}>", f"!pto.partition_tensor_view<{shape}>"
    size = f"[%{name}_r, %{name}_c]"
    return f"""
  %{name}_r = arith.constant {rows} : index
  %{name}_c = arith.constant {columns} : index
  %{name}_v = pto.make_tensor_view %{source}, shape = {size}, strides = [%{name}_c, %one] : {whole}
  %{name} = pto.partition_view %{name}_v, offsets = [%zero, %zero], sizes = {size} : {whole} -> {part}"""


def function(arguments: str, body: str, head: str = "") -> str:
    """Write a module with one function, with the constants %zero and %one."""
    return f"""{head}
func.func @kernel({arguments}) {{
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
{body}
  return
}}
"""


def on_tiles(
    inputs: list[np.ndarray],
    shapes: list[str],
    output: str,
    body: str,
    *,
    out_type: str | None = None,
    out: np.ndarray | None = None,
    **options: Any,
) -> tuple[np.ndarray, RunResult]:
    """Load the inputs into tiles %t0, %t1, …, run `body`, and store tile %out."""
    rows, columns, element = output.split("x")
    arguments = [f"%a{n}: !pto.ptr<{shape.split('x')[2]}>" for n, shape in enumerate(shapes)]
    lines = [view("result", "target", output)]
    for n, shape in enumerate(shapes):
        lines.append(view(f"p{n}", f"a{n}", shape))
        lines.append(f"  %t{n} = pto.alloc_tile : {tile_type(shape)}")
        lines.append(
            f"  pto.tload ins(%p{n} : !pto.partition_tensor_view<{shape}>) outs(%t{n} : {tile_type(shape)})"
        )
    kind = out_type or tile_type(output)
    lines.append(f"  %out = pto.alloc_tile : {kind}\n{body}")
    lines.append(f"  pto.tstore ins(%out : {kind}) outs(%result : !pto.partition_tensor_view<{output}>)")
    text = function(", ".join([*arguments, f"%target: !pto.ptr<{element}>"]), "\n".join(lines))
    target = np.zeros((int(rows), int(columns)), ELEMENTS[element]) if out is None else out
    result = run(text, [*inputs, target], engine=options.pop("engine", "reference"), **options)
    return result.outputs["target"], result
