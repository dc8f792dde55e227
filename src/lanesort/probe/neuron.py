"""Probes for NeuronCore: one word each, a few bytes of SBUF, and where to look afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from lanesort.datapath.nan_order import NAN_EXAMPLE, nan_outcomes
from lanesort.errors import MachineError, RuleViolations
from lanesort.evidence import unpinned_behaviours
from lanesort.neuron.core import NeuronCore
from lanesort.neuron.descriptor import Tensor
from lanesort.neuron.generation import generation
from lanesort.neuron.immediate import Pointer, Register
from lanesort.neuron.nonzero_with_count import NonzeroWithCount
from lanesort.neuron.sort import Sort
from lanesort.probe.case import Outcome, Probe

__all__ = ["NEURON_PROBES", "neuron_probe"]

Array = npt.NDArray[Any]

_UNWRITTEN = 0xA5
_BYTES = 128
_DST = 64
_POINTED = 48


@dataclass(frozen=True, slots=True)
class _Setting:
    """How the model is told to behave."""

    choices: Mapping[str, str] = field(default_factory=dict)
    mode: str = "strict"


@dataclass(frozen=True, slots=True)
class _Case:
    """A word with its input; `looks_at` is dst's dtype and elements, on each partition."""

    word: Sort | NonzeroWithCount
    rows: tuple[Array, ...]
    looks_at: tuple[str, int]
    pointed: tuple[int, ...] = ()
    registers: Mapping[int, int] = field(default_factory=dict)
    runs_on: str = "cayman"
    modes: Mapping[str, str] = field(default_factory=dict)
    otherwise: str = ""

    @property
    def sbuf(self) -> Array:
        """SBUF of the first partitions before the run, as bytes."""
        memory = np.full((len(self.rows), _BYTES), _UNWRITTEN, np.uint8)
        for partition, row in enumerate(self.rows):
            memory[partition, : row.nbytes] = row.view(np.uint8)
            if self.pointed:
                value = np.array([self.pointed[partition]], "<u4").view(np.uint8)
                memory[partition, _POINTED : _POINTED + 4] = value
        return memory

    def run(self, setting: _Setting) -> Array:
        """Return the bits of dst after the run; a refused word leaves it unwritten."""
        core = NeuronCore(self.runs_on, engine="reference", choices=setting.choices)
        for partition, row in enumerate(self.sbuf):
            core.sbuf.write(partition, 0, row)
        for number, value in self.registers.items():
            core.registers[number] = value
        with suppress(RuleViolations, MachineError):
            core.run([self.word], setting.mode)
        dtype, count = self.looks_at
        return np.stack([core.sbuf.read(p, _DST, count, dtype) for p in range(len(self.rows))])

    def unwritten(self) -> Array:
        """Return what dst holds when nothing ran."""
        dtype, count = self.looks_at
        bits = np.dtype({"u16": "<u2", "u32": "<u4"}[dtype])
        size = len(self.rows) * count * bits.itemsize
        return np.full(size, _UNWRITTEN, np.uint8).view(bits).reshape(len(self.rows), count)


def _sort(values: Array, dtype: str, *, partition: int = 0, kept: int | None = None, **more: Any) -> _Case:
    count = len(values)
    rows = count if kept is None else kept
    channels = more.pop("channels", 1)
    case = {
        name: more.pop(name)
        for name in ("pointed", "registers", "runs_on", "modes", "otherwise")
        if name in more
    }
    on = case.get("runs_on", "cayman")
    word = Sort(
        src=Tensor.at(partition, 0, count, on=on),
        dst=Tensor.at(partition, _DST, (2, rows), (rows, 1), on=on),
        dtype=dtype,
        channels=channels,
        **more,
    )
    bits = "u16" if values.dtype.itemsize == 2 else "u32"
    used = partition + max(1, channels)
    filled = tuple(values if p >= partition else np.zeros_like(values) for p in range(used))
    return _Case(word, filled, (bits, 2 * rows), **case)


def _nonzero(rows: tuple[Array, ...], dtype: str) -> _Case:
    count = len(rows[0])
    word = NonzeroWithCount(
        src=Tensor.at(0, 0, count), dst=Tensor.at(0, _DST, count + 1), in_dtype=dtype, channels=len(rows)
    )
    return _Case(word, rows, ("u32", count + 1))


def _two() -> Array:
    return np.array([2, 1], np.int32)


def _register_case() -> _Case:
    address = generation("cayman").address(0, _POINTED)
    return _sort(_two(), "i32", index_offset=Register(3), pointed=(7,), registers={3: address})


def _reserved_case() -> _Case:
    case = _sort(_two(), "i32", modes={"mode=literal": "literal"})
    word = case.word.replace(reserved1=b"\x01" + bytes(22))
    return _Case(word, case.rows, case.looks_at, modes=case.modes)


_CASES: Mapping[str, Callable[[], _Case]] = MappingProxyType(
    {
        "sort.nan-order": lambda: _sort(NAN_EXAMPLE, "fp32", descending=True),
        "sort.zero-order": lambda: _sort(np.array([0.0, -0.0], np.float32), "fp32"),
        "sort.tie-order": lambda: _sort(np.array([5, 5], np.int32), "i32", stable=False),
        "sort.index-wrap": lambda: _sort(np.array([1, 2], np.uint16), "u16", index_offset=0xFFFF),
        # Both patterns are NaNs to an fp16 compare, and finite bf16 values in the wrong order.
        "sort.bf16-compare": lambda: _sort(np.array([0x7E00, 0x7F00], np.uint16), "bf16", descending=True),
        "sort.start-partition": lambda: _sort(_two(), "i32", partition=1, modes={"mode=literal": "literal"}),
        "sort.top-k-shape": lambda: _sort(
            np.array([1, 3, 2], np.int32), "i32", kept=2, descending=True, modes={"mode=device": "device"}
        ),
        "sort.reserved": _reserved_case,
        "sort.sunda": lambda: _sort(_two(), "i32", runs_on="sunda", otherwise="absent"),
        "imm.register": _register_case,
        "imm.pointer-values": lambda: _sort(
            _two(),
            "i32",
            channels=2,
            index_offset=Pointer(generation("cayman").address(0, _POINTED)),
            pointed=(10, 20),
        ),
        "nonzero.partitions": lambda: _nonzero((_two(), _two()), "i32"),
        "nonzero.nan": lambda: _nonzero((np.array([np.nan, -0.0], np.float32),), "fp32"),
    }
)

NEURON_PROBES = tuple(_CASES)
"""The unpinned behaviours of NeuronCore that a result decides."""


def neuron_probe(id: str) -> Probe:
    """Build a probe for one of `NEURON_PROBES`.

    Examples
    --------
    >>> probe = neuron_probe("sort.tie-order")
    >>> [(outcome.choice, outcome.result.tolist()) for outcome in probe.outcomes]
    [('low', [[5, 5, 0, 1]]), ('high', [[5, 5, 1, 0]])]
    """
    case = _CASES[id]()
    behaviour = next(b for b in unpinned_behaviours("neuron") if b.id == id)
    outcomes = [
        Outcome(choice, meaning, case.run(_Setting({id: choice})))
        for choice, meaning in behaviour.choices.items()
    ]
    outcomes += [
        Outcome(name, "the word runs as if the clause were not there", case.run(_Setting(mode=mode)), False)
        for name, mode in case.modes.items()
    ]
    if case.otherwise:
        outcomes.append(Outcome(case.otherwise, "the word is not run", case.unwritten(), False))
    if id == "sort.nan-order":
        outcomes += _networks()
    inputs: dict[str, Array] = {"sbuf": case.sbuf}
    if case.registers:
        registers = np.zeros(64, np.uint32)
        registers[list(case.registers)] = list(case.registers.values())
        inputs["registers"] = registers
    dtype, count = case.looks_at
    return Probe(
        id,
        behaviour.question,
        case.runs_on,
        case.word.encode(),
        str(case.word),
        inputs,
        f"SBUF partitions 0 … {len(case.rows) - 1}, {count} × {dtype} from byte {_DST} on: "
        f"an array of shape ({len(case.rows)}, {count})",
        tuple(outcomes),
    )


def _networks() -> Iterator[Outcome]:
    for found in nan_outcomes(NAN_EXAMPLE, descending=True):
        bits = np.concatenate([found.values.view(np.uint32), found.indices.astype(np.uint32)])
        stability = "index as second key" if found.stable else "no second key"
        name = f"network {found.family}, {found.exchange}, {stability}"
        yield Outcome(name, "what this network does with an ordered compare", bits[None], False)
