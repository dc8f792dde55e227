"""Probes for Ascend PTO: small `.pto` kernels, the arrays that they read, and what they store."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from lanesort.evidence import unpinned_behaviours
from lanesort.probe.case import Outcome, Probe
from lanesort.pto.interpreter import run

__all__ = ["PTO_PROBES", "pto_probe"]

Array = npt.NDArray[Any]

_UNWRITTEN = 0xA5
_TARGET = "a2a3"
_BLOCK = 32


@dataclass(frozen=True, slots=True)
class _Buffer:
    """A kernel argument with its tile: `columns` valid ones of `physical`."""

    name: str
    element: str
    columns: int
    physical: int

    @property
    def tile(self) -> str:
        """Type of the tile."""
        return (
            f"!pto.tile_buf<loc=vec, dtype={self.element}, rows=1, cols={self.physical}, v_row=1, "
            f"v_col={self.columns}, blayout=row_major, slayout=none_box, fractal=512, pad=0>"
        )

    @property
    def part(self) -> str:
        """Type of the partition view."""
        return f"!pto.partition_tensor_view<1x{self.columns}x{self.element}>"

    def view(self) -> list[str]:
        """Make the view of the argument and the tile, as lines of the kernel."""
        name, view = self.name, f"!pto.tensor_view<1x{self.columns}x{self.element}>"
        whole = f"shape = [%c1, %{name}_c], strides = [%{name}_c, %c1]"
        window = f"offsets = [%c0, %c0], sizes = [%c1, %{name}_c]"
        return [
            f"%{name}_c = arith.constant {self.columns} : index",
            f"%{name}_v = pto.make_tensor_view %{name}, {whole} : {view}",
            f"%{name}_p = pto.partition_view %{name}_v, {window} : {view} -> {self.part}",
            f"%{name}_t = pto.alloc_tile : {self.tile}",
        ]

    def load(self) -> str:
        """Copy the argument into the tile."""
        return f"pto.tload ins(%{self.name}_p : {self.part}) outs(%{self.name}_t : {self.tile})"

    def store(self) -> str:
        """Copy the tile into the argument."""
        return f"pto.tstore ins(%{self.name}_t : {self.tile}) outs(%{self.name}_p : {self.part})"


@dataclass(frozen=True, slots=True)
class _Case:
    """A kernel with its input; the result is the first elements of dst, or the four counts."""

    kernel: str
    inputs: Mapping[str, Array]
    elements: int | None

    def run(self, choices: Mapping[str, str]) -> Array:
        """Return the bits that the kernel stored, or the four counts."""
        done = run(self.kernel, dict(self.inputs), _TARGET, "reference", choices, check_sorted=False)
        if self.elements is not None:
            return done.outputs["dst"].view("<u4")[: self.elements]
        return np.array(done.executed[-1], "<u2") if done.executed else _blank(4, "<u2")


def _blank(count: int, dtype: str) -> Array:
    return np.full(count * np.dtype(dtype).itemsize, _UNWRITTEN, np.uint8).view(dtype)


def _kernel(arguments: Sequence[_Buffer], more: str, scratch: Sequence[_Buffer], body: Sequence[str]) -> str:
    given = ", ".join(f"%{a.name}: !pto.ptr<{a.element}>" for a in arguments)
    lines = ["%c0 = arith.constant 0 : index", "%c1 = arith.constant 1 : index"]
    for argument in arguments:
        lines += argument.view()
    lines += [f"%{tile.name}_t = pto.alloc_tile : {tile.tile}" for tile in scratch]
    lines += body
    lines.append("return")
    text = "\n".join("    " + line for line in lines)
    return (
        f'module attributes {{pto.target_arch = "{_TARGET}"}} {{\n'
        f"  func.func @probe({given}{more}) {{\n{text}\n  }}\n}}\n"
    )


def _sort32(values: Array, indices: Array, elements: int) -> _Case:
    """TSORT32 of one block; with fewer than 32 values tmp takes part and the pads show in dst."""
    count = len(values)
    src, idx = _Buffer("src", "f32", count, _BLOCK), _Buffer("idx", "ui32", count, _BLOCK)
    dst = _Buffer("dst", "f32", 2 * _BLOCK, 2 * _BLOCK)
    tmp = [] if count == _BLOCK else [_Buffer("tmp", "f32", _BLOCK, _BLOCK)]
    sources = [src, idx, *tmp]
    names = ", ".join(f"%{source.name}_t" for source in sources)
    types = ", ".join(source.tile for source in sources)
    body = [
        src.load(),
        idx.load(),
        f"pto.tsort32 ins({names} : {types}) outs(%dst_t : {dst.tile})",
        dst.store(),
    ]
    kernel = _kernel([src, idx, dst], "", tmp, body)
    return _Case(kernel, {"src": values, "idx": indices, "dst": _blank(2 * _BLOCK, "<f4")}, elements)


def _merge(
    left: Sequence[float], right: Sequence[float], elements: int | None, *, exhausted: bool = False
) -> _Case:
    """TMRGSORT of two lists whose pairs are numbered through."""
    lists = [_pairs(left, 0), _pairs(right, len(left))]
    sources = [_list(f"src{number}", len(pairs)) for number, pairs in enumerate(lists)]
    total = sum(map(len, lists))
    width = sum(source.physical for source in sources)
    tmp, dst = _Buffer("tmp", "f32", width, width), _Buffer("dst", "f32", total, width)
    names = ", ".join(f"%{part.name}_t" for part in [*sources, tmp])
    types = ", ".join(part.tile for part in [*sources, tmp])
    taken = f"ins({names} {{exhausted = {str(exhausted).lower()}}} : {types})"
    given = f"outs(%dst_t, %executed : {dst.tile}, vector<4xi16>)"
    body = [*(source.load() for source in sources), f"pto.tmrgsort {taken} {given}", dst.store()]
    kernel = _kernel([*sources, dst], ", %executed: vector<4xi16>", [tmp], body)
    inputs = {source.name: pairs for source, pairs in zip(sources, lists, strict=True)}
    return _Case(kernel, {**inputs, "dst": _blank(total, "<f4")}, elements)


def _list(name: str, elements: int) -> _Buffer:
    return _Buffer(name, "f32", elements, max(8, -(-elements // 8) * 8))


def _pairs(values: Sequence[float], first: int) -> Array:
    pairs = np.zeros((len(values), 2), "<u4")
    pairs[:, 0] = np.array(values, "<f4").view("<u4")
    pairs[:, 1] = np.arange(first, first + len(values))
    return pairs.reshape(-1).view("<f4")


_RISING = np.arange(_BLOCK, dtype=np.uint32)

_CASES: Mapping[str, Callable[[], _Case]] = MappingProxyType(
    {
        # Two equal values whose indices fall; the others keep out of their way.
        "pto.tie-order": lambda: _sort32(
            np.array([9, 9, *range(-1, -31, -1)], np.float32), _RISING[[1, 0, *range(2, 32)]], 64
        ),
        # The pad's index is whatever stands behind idx, so the result ends before it.
        "pto.pad-bits": lambda: _sort32(np.zeros(31, np.float32), _RISING[:31], 63),
        "pto.nan-order": lambda: _merge([-np.nan, 1], [2, np.nan], 8),
        # The first list that is used up stops the merge after two pairs; what follows in dst is stale.
        "pto.merge-tie": lambda: _merge([5, 5], [5, 5], 4, exhausted=True),
        "pto.executed-unasked": lambda: _merge([3], [2], None),
        "pto.exhausted-empty": lambda: _merge([3, 2], [], None, exhausted=True),
    }
)

PTO_PROBES = tuple(_CASES)
"""The unpinned behaviours of PTO that a result decides."""


def pto_probe(id: str) -> Probe:
    """Build a probe for one of `PTO_PROBES`.

    Examples
    --------
    >>> probe = pto_probe("pto.merge-tie")
    >>> [(outcome.choice, outcome.result[1::2].tolist()) for outcome in probe.outcomes]
    [('lower-first', [0, 1]), ('later-when-exhausted', [2, 3])]
    """
    case = _CASES[id]()
    behaviour = next(b for b in unpinned_behaviours("pto") if b.id == id)
    outcomes = tuple(
        Outcome(choice, meaning, case.run({id: choice})) for choice, meaning in behaviour.choices.items()
    )
    readout = (
        "the four counts of `executed`, u16, which holds 0xa5a5 four times before the kernel runs"
        if case.elements is None
        else f"the first {case.elements} elements of the argument dst, as u32"
    )
    return Probe(
        id, behaviour.question, _TARGET, case.kernel, case.kernel, dict(case.inputs), readout, outcomes
    )
