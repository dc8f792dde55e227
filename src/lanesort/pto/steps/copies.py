"""Steps that copy between global memory and UB."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from lanesort.errors import MachineError
from lanesort.pto.machine import Machine
from lanesort.pto.memory import GlobalBuffer, Pointer
from lanesort.pto.program import Step
from lanesort.pto.steps.step import Accesses, Factory, PreparedStep, Registers, Scope
from lanesort.pto.transfer import Bursts, Loop, copy_bursts, load, store
from lanesort.pto.view import PlacedTile, TensorView

__all__ = ["FACTORIES"]

OUT_TO_UB, UB_TO_OUT = "outtoub", "ubtoout"


def _common(view: TensorView, tile: PlacedTile) -> tuple[int, int]:
    return min(view.rows, tile.valid_rows), min(view.columns, tile.valid_columns)


def _load(step: Step, scope: Scope) -> PreparedStep:
    source, target = step.value("src"), step.value("dst")
    padded = scope.tile_type(target).pad != 0

    def accesses(registers: Registers) -> Accesses:
        view, tile = registers[source], registers[target]
        window = tile.whole if padded else tile.part(*_common(view, tile))
        return (view.access(),), (window.access,)

    def run(registers: Registers) -> None:
        load(registers[source], registers[target])

    return PreparedStep(step.op, step.place, run, "MTE2", accesses)


def _store(step: Step, scope: Scope) -> PreparedStep:
    source, target = step.value("src"), step.value("dst")
    scope.tile_type(source)

    def accesses(registers: Registers) -> Accesses:
        tile, view = registers[source], registers[target]
        return (tile.part(*_common(view, tile)).access,), (view.access(),)

    def run(registers: Registers) -> None:
        store(registers[source], registers[target])

    return PreparedStep(step.op, step.place, run, "MTE3", accesses)


def _step(step: Step, inward: bool, make: Callable[[Registers], Bursts]) -> PreparedStep:
    """Make the step of a copy in bursts."""

    def checked(registers: Registers) -> Bursts:
        bursts = make(registers)
        _require_sides(bursts.src, bursts.dst, inward)
        return bursts

    def accesses(registers: Registers) -> Accesses:
        return checked(registers).accesses()

    def run(registers: Registers) -> None:
        copy_bursts(checked(registers))

    return PreparedStep(step.op, step.place, run, "MTE2" if inward else "MTE3", accesses)


def _require_sides(src: Pointer, dst: Pointer, inward: bool) -> None:
    sides = tuple("gm" if isinstance(p.memory, GlobalBuffer) else "ub" for p in (src, dst))
    wanted = ("gm", "ub") if inward else ("ub", "gm")
    if sides != wanted:
        raise MachineError(f"copies from {wanted[0]} to {wanted[1]}, and here from {sides[0]} to {sides[1]}")


def _require_no_padding(values: Sequence[int | float]) -> None:
    if values:
        shown = ", ".join(map(str, values))
        raise MachineError(
            f"pads its bursts with ({shown}), which is not modelled: fill the tile first, for example with "
            "tfillpad or texpands, and copy without padding"
        )


def _grouped(inward: bool) -> Factory:
    """Prepare a copy whose repetitions are written in groups: ``nburst(…) loop(…)``."""

    def factory(step: Step, scope: Scope) -> PreparedStep:
        src, dst, length = step.value("src"), step.value("dst"), step.value("length")
        bursts, loops = step.values("nburst"), step.values("loops")
        if len(bursts) != 3 or len(loops) % 3:
            raise MachineError("each group needs a count, the source's stride and the destination's")
        padding = step.values("pad")
        # The text lists the innermost loop first.
        groups = [*(loops[i : i + 3] for i in reversed(range(0, len(loops), 3))), bursts]

        def make(registers: Registers) -> Bursts:
            _require_no_padding([registers[v] for v in padding])
            found = tuple([Loop(*[registers[v] for v in group]) for group in groups])
            return Bursts(registers[src], registers[dst], registers[length], found)

        return _step(step, inward, make)

    return factory


def _outer_loops(machine: Machine, way: str) -> tuple[Loop, ...]:
    """Return the two loops that ``set_loop…`` steps put around a copy, the outer first."""
    inner, outer = machine.loops.get(f"set_loop_size_{way}", (1, 1))
    strides = [machine.loops.get(f"set_loop{n}_stride_{way}", (0, 0)) for n in (2, 1)]
    return Loop(outer, *strides[0]), Loop(inner, *strides[1])


def _copy(inward: bool) -> Factory:
    """Prepare ``copy_gm_to_ubuf`` or ``copy_ubuf_to_gm``."""
    way = OUT_TO_UB if inward else UB_TO_OUT

    def factory(step: Step, scope: Scope) -> PreparedStep:
        names = ("src", "dst", "n_burst", "length", "src_stride", "dst_stride")
        src, dst, count, length, src_stride, dst_stride = (step.value(name) for name in names)
        padding = [step.value(name) for name in ("left_padding", "right_padding")] if inward else []

        def make(registers: Registers) -> Bursts:
            amounts = [registers[v] for v in padding]
            if any(amounts):
                _require_no_padding(amounts)
            innermost = Loop(registers[count], registers[src_stride], registers[dst_stride])
            loops = (*_outer_loops(registers[-1], way), innermost)
            return Bursts(registers[src], registers[dst], registers[length], loops)

        return _step(step, inward, make)

    return factory


def _set_loop(step: Step, scope: Scope) -> PreparedStep:
    first, second = (step.value(name) for name in step.signature.names)

    def run(registers: Registers) -> None:
        registers[-1].loops[step.op] = (registers[first], registers[second])

    return PreparedStep(step.op, step.place, run)


FACTORIES: Mapping[str, Factory] = MappingProxyType(
    {
        "tload": _load,
        "tstore": _store,
        "mte_gm_ub": _grouped(True),
        "dma_load": _grouped(True),
        "mte_ub_gm": _grouped(False),
        "dma_store": _grouped(False),
        "copy_gm_to_ubuf": _copy(True),
        "copy_ubuf_to_gm": _copy(False),
        **{
            f"set_loop{part}_{way}": _set_loop
            for part in ("_size", "1_stride", "2_stride")
            for way in (OUT_TO_UB, UB_TO_OUT)
        },
    }
)
"""Operation name to what prepares it."""
