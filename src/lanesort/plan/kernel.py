"""Writing a `.pto` kernel: constants, tiles at fixed addresses, and instructions as steps.

Every instruction that is written is noted as a `Step` as well, so that cost and report come
from the same place as the text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

import numpy as np

from lanesort.plan.step import Span, Step
from lanesort.plan.tree import BLOCK
from lanesort.pto.operand import BLOCK_BYTES, round_up
from lanesort.pto.target import Target
from lanesort.pto.tile import PAIR_BYTES

__all__ = ["ELEMENT_NAMES", "Kernel", "Tile"]

ELEMENT_NAMES = {"float32": "f32", "float16": "f16"}
_BYTES = {"f32": 4, "f16": 2, "i32": 4}
_VALUES = {2: "P0101", 4: "P0001"}
"""Which elements of a pair are its value, by the elements of a pair."""
_INDICES = "P1010"
Pipe = Literal["MTE2", "V", "MTE3", "S"]


@dataclass(frozen=True, slots=True)
class Tile:
    """A tile of one row at a fixed address; `valid` is None where it changes at run time."""

    name: str
    address: int
    columns: int
    element: str
    valid: int | None

    @property
    def type(self) -> str:
        """Its type in the text."""
        size = f"1x{self.columns}x{self.element}"
        if self.valid is None:
            return f"!pto.tile_buf<vec, {size}, valid=?x?>"
        valid = "" if self.valid == self.columns else f", valid=1x{self.valid}"
        return f"!pto.tile_buf<vec, {size}{valid}>"

    @property
    def operand(self) -> str:
        """Name and type."""
        return f"{self.name} : {self.type}"

    @property
    def bytes(self) -> int:
        """Bytes of the valid part; all of them where it changes."""
        return (self.columns if self.valid is None else self.valid) * _BYTES[self.element]

    @property
    def span(self) -> Span:
        """Bytes in UB."""
        return Span(self.address, self.address + self.bytes)


class Kernel:
    """Collects a function's text and its steps.

    Parameters
    ----------
    name
        Name of the function.
    target
        Says whether vector instructions need a barrier behind them.
    dtype
        Dtype of the values.
    """

    def __init__(self, name: str, target: Target, dtype: np.dtype[np.generic]) -> None:
        self.name, self.target = name, target
        self.element = ELEMENT_NAMES[dtype.name]
        self.pair_width = PAIR_BYTES // dtype.itemsize
        self.value_pattern, self.index_pattern = _VALUES[self.pair_width], _INDICES
        self.steps: list[Step] = []
        self.phase = ""
        self._constants: dict[str, str] = {}
        self._tiles: dict[tuple[int, int, str, int | None], Tile] = {}
        self._body: list[str] = []
        self._depth = 2
        self._times = 1
        self._fresh = 0

    def text(self, arguments: Sequence[str], comment: str) -> str:
        """Return the whole module."""
        head = [f"// {line}" for line in comment.splitlines()]
        allocations = [self._allocation(tile) for tile in self._tiles.values()]
        constants = [f"    {name} = arith.constant {value}" for name, value in self._constants.items()]
        return "\n".join(
            [
                *head,
                f'module attributes {{pto.target_arch = "{self.target.name}"}} {{',
                f"  func.func @{self.name}({', '.join(arguments)}) {{",
                *constants,
                *allocations,
                *self._body,
                "    return",
                "  }",
                "}",
                "",
            ]
        )

    def _allocation(self, tile: Tile) -> str:
        valid = ""
        if tile.valid is None:
            valid = f" valid_row = {self.index(1)} valid_col = {self.index(tile.columns)}"
        address = self._constant(tile.address, "i64")
        return f"    {tile.name} = pto.alloc_tile addr = {address}{valid} : {tile.type}"

    @property
    def stop_bytes(self) -> int:
        """The first byte of UB behind all tiles."""
        return max((t.address + t.columns * _BYTES[t.element] for t in self._tiles.values()), default=0)

    # --- numbers and names -----------------------------------------------------------------

    def _constant(self, value: int, kind: str) -> str:
        prefix = {"index": "c", "i32": "i", "i64": "a"}[kind]
        name = f"%{prefix}{value}"
        self._constants[name] = f"{value} : {kind}"
        return name

    def index(self, value: int) -> str:
        """Return the constant of type index."""
        return self._constant(value, "index")

    def i32(self, value: int) -> str:
        """Return the constant of type i32."""
        return self._constant(value, "i32")

    def fresh(self, prefix: str) -> str:
        """Return a name that is not used yet."""
        self._fresh += 1
        return f"%{prefix}_{self._fresh}"

    def tile(
        self,
        label: str,
        address: int,
        elements: int,
        element: str | None = None,
        *,
        room: int = 0,
        varies: bool = False,
    ) -> Tile:
        """Return the tile of that many valid elements there, made when it is first asked for.

        It has `room` physical columns at least. With `varies` the valid columns change as the
        program runs.
        """
        kind = element or self.element
        columns = round_up(max(elements, room) * _BYTES[kind], BLOCK_BYTES) // _BYTES[kind]
        key = (address, columns, kind, None if varies else elements)
        if key not in self._tiles:
            name = f"%{label}_{'upto_' if varies else ''}{elements}_at_{address}"
            self._tiles[key] = Tile(name, address, columns, kind, None if varies else elements)
        return self._tiles[key]

    def pairs(self, address: int, count: int, *, varies: bool = False) -> Tile:
        """Return the tile of that many pairs."""
        return self.tile("pairs", address, count * self.pair_width, varies=varies)

    # --- lines -----------------------------------------------------------------------------

    def line(self, text: str) -> None:
        """Write a line."""
        self._body.append("  " * self._depth + text)

    def note(self, text: str) -> None:
        """Write a comment."""
        self.line(f"// {text}")

    def compute(self, operation: str, *operands: str, kind: str = "index", prefix: str = "n") -> str:
        """Write an arith operation and return its result."""
        name = self.fresh(prefix)
        self.line(f"{name} = arith.{operation} {', '.join(operands)} : {kind}")
        return name

    @contextmanager
    def inside(self, opening: str, closing: str = "}") -> Iterator[None]:
        """Write lines of a region."""
        self.line(opening)
        self._depth += 1
        yield
        self._depth -= 1
        self.line(closing)

    @contextmanager
    def repeated(self, times: int) -> Iterator[None]:
        """Say how often the steps that follow run; where that depends on the data, the most."""
        before, self._times = self._times, self._times * times
        yield
        self._times = before

    def _step(
        self,
        op: str,
        what: str,
        pipe: Pipe,
        units: int,
        reads: Sequence[Tile] = (),
        writes: Sequence[Tile] = (),
        moved: int = 0,
    ) -> None:
        spans = tuple(t.span for t in reads), tuple(t.span for t in writes)
        self.steps.append(Step(op, what, pipe, units, self._times, moved, *spans, self.phase))

    # --- synchronisation -------------------------------------------------------------------

    def set_flag(self, source: Pipe, target: Pipe, event: int) -> None:
        """Let `source` signal `target`."""
        self.line(f'pto.set_flag["PIPE_{source}", "PIPE_{target}", "EVENT_ID{event}"]')

    def wait_flag(self, source: Pipe, target: Pipe, event: int) -> None:
        """Let `target` wait for `source`."""
        self.line(f'pto.wait_flag["PIPE_{source}", "PIPE_{target}", "EVENT_ID{event}"]')

    def hand_over(self, source: Pipe, target: Pipe, event: int = 0) -> None:
        """Let `target` wait here for all that `source` has done."""
        self.set_flag(source, target, event)
        self.wait_flag(source, target, event)

    def barrier(self) -> None:
        """Wait for all pipes."""
        self.line("pto.barrier #pto.pipe<PIPE_ALL>")

    def _vector(self, text: str) -> None:
        self.line(text)
        if self.target.needs_barrier:
            self.line("pto.barrier #pto.pipe<PIPE_V>")

    # --- instructions ----------------------------------------------------------------------

    def load(self, view: str, view_type: str, tile: Tile, what: str) -> None:
        """TLOAD from global memory."""
        self.line(f"pto.tload ins({view} : {view_type}) outs({tile.operand})")
        self._step("tload", what, "MTE2", tile.bytes, writes=[tile], moved=tile.bytes)

    def store(self, tile: Tile, view: str, view_type: str, what: str) -> None:
        """TSTORE to global memory."""
        self.line(f"pto.tstore ins({tile.operand}) outs({view} : {view_type})")
        self._step("tstore", what, "MTE3", tile.bytes, reads=[tile], moved=tile.bytes)

    def iota(self, start: str, tile: Tile) -> None:
        """TCI: start, start + 1 and so on."""
        self._vector(f"pto.tci ins({start} : i32) outs({tile.operand}) {{descending = false}}")
        self._step("tci", f"{tile.valid} positions", "V", tile.bytes, writes=[tile])

    def sort32(self, src: Tile, idx: Tile, dst: Tile, tmp: Tile | None = None) -> None:
        """TSORT32 with three operands, or with four for a tail."""
        inputs = [src, idx] if tmp is None else [src, idx, tmp]
        names, types = ", ".join(t.name for t in inputs), ", ".join(t.type for t in inputs)
        self._vector(f"pto.tsort32 ins({names} : {types}) outs({dst.operand})")
        count = src.valid or 0
        what = f"{count // BLOCK} blocks of 32" if tmp is None else f"the tail of {count}"
        writes = [dst] if tmp is None else [dst, tmp]
        self._step("tsort32", what, "V", -(-count // BLOCK), [src, idx], writes)

    def merge_blocks(self, src: Tile, block_pairs: int, dst: Tile) -> None:
        """TMRGSORT of one list: groups of four blocks."""
        length = block_pairs * self.pair_width
        self._vector(
            f"pto.tmrgsort ins({src.name}, {self.i32(length)} : {src.type}, i32) outs({dst.operand})"
        )
        pairs = src.bytes // PAIR_BYTES
        what = f"{pairs} pairs, four blocks of {block_pairs} at a time"
        self._step("tmrgsort", what, "V", pairs, [src], [dst])

    def merge_lists(
        self, sources: Sequence[Tile], tmp_address: int, dst: Tile, *, exhausted: bool = False
    ) -> None:
        """TMRGSORT of two to four lists; tmp has room for all columns of the sources."""
        tmp = self.tile("tmp", tmp_address, sum(t.columns for t in sources))
        inputs = [*sources, tmp]
        names, types = ", ".join(t.name for t in inputs), ", ".join(t.type for t in inputs)
        flag = str(exhausted).lower()
        self._vector(
            f"pto.tmrgsort ins({names} {{exhausted = {flag}}} : {types}) "
            f"outs({dst.name}, %counts : {dst.type}, vector<4xi16>)"
        )
        self._constants["%counts"] = "dense<0> : vector<4xi16>"
        total, kept = (sum(t.bytes for t in sources) // PAIR_BYTES, dst.bytes // PAIR_BYTES)
        end = ", until one is exhausted" if exhausted else f", the best {kept} kept" if kept < total else ""
        self._step("tmrgsort", f"{len(sources)} lists, {total} pairs{end}", "V", total, sources, [dst, tmp])

    def copy(self, src: Tile, dst: Tile) -> None:
        """TMOV."""
        self._vector(f"pto.tmov ins({src.operand}) outs({dst.operand})")
        self._step("tmov", f"{src.bytes // PAIR_BYTES} pairs", "V", src.bytes, [src], [dst])

    def pull_apart(self, address: int, count: int, values: Tile, indices: Tile) -> None:
        """TGATHER twice: the values and the indices of `count` pairs."""
        pairs, words = self.pairs(address, count), self.tile("words", address, 2 * count, "i32")
        self.gather(pairs, self.value_pattern, values)
        self.gather(words, self.index_pattern, indices)

    def gather(self, src: Tile, pattern: str, dst: Tile) -> None:
        """TGATHER by a mask."""
        self._vector(
            f"pto.tgather ins({src.name}, {{maskPattern = #pto.mask_pattern<{pattern}>}} : {src.type}) "
            f"outs({dst.operand})"
        )
        self._step("tgather", f"{pattern} of {src.bytes // PAIR_BYTES} pairs", "V", src.bytes, [src], [dst])

    # --- views -----------------------------------------------------------------------------

    def view(self, name: str, pointer: str, rows: str, columns: str, element: str | None = None) -> str:
        """Write a view of rows × columns of global memory and return its type."""
        kind = f"!pto.tensor_view<?x?x{element or self.element}>"
        self.line(
            f"{name} = pto.make_tensor_view {pointer}, shape = [{rows}, {columns}], "
            f"strides = [{columns}, {self.index(1)}] : {kind}"
        )
        return kind

    def part(self, view: str, view_type: str, row: str, column: str, columns: int | str) -> tuple[str, str]:
        """Write a window of one row of a view; return name and type."""
        element = view_type.rpartition("x")[2].rstrip(">")
        fixed = isinstance(columns, int)
        kind = f"!pto.partition_tensor_view<1x{columns if fixed else '?'}x{element}>"
        width = self.index(columns) if isinstance(columns, int) else columns
        name = self.fresh("part")
        self.line(
            f"{name} = pto.partition_view {view}, offsets = [{row}, {column}], "
            f"sizes = [{self.index(1)}, {width}] : {view_type} -> {kind}"
        )
        return name, kind
