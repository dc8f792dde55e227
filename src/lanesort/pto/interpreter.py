"""Running a `.pto` function on the model of one core."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from lanesort.engine.protocol import Engine
from lanesort.errors import ArgumentValueError, ProgramError
from lanesort.pto.arguments import bind
from lanesort.pto.check.advice import advice
from lanesort.pto.check.checker import check
from lanesort.pto.machine import UNLIMITED_UB_BYTES, BlockIndex, Machine, Trace
from lanesort.pto.prepare import PreparedFunction, PreparedModule
from lanesort.pto.program import Function, Module
from lanesort.pto.result import RunResult
from lanesort.pto.target import Target, program_target
from lanesort.pto.tmrgsort import ABOUT as MERGE
from lanesort.pto.tsort32 import ABOUT as SORT
from lanesort.pto.view import PlacedTile

__all__ = ["DEFAULT_STEPS", "choose_function", "run"]

DEFAULT_STEPS = 10_000_000
"""Steps after which a program is taken to be endless."""

ENFORCED, PARSE_ONLY = "enforced", "parse-only"
"""What the choice ``rules`` offers."""

_MOST_PREPARED = 16
_prepared: dict[tuple[int, int], PreparedModule] = {}


def choose_function(module: Module, name: str | None = None) -> Function:
    """Return the function of that name, or the only one that can be meant.

    Without a name it is the only function with a body; if there are several, the only one
    that is not private.

    Raises
    ------
    ProgramError
        If there is none, or several could be meant.
    """
    if name is not None:
        wanted = name.removeprefix("@")
        found = [f for f in module.functions if f.name == wanted]
    else:
        bodies = [f for f in module.functions if f.body is not None]
        public = [f for f in bodies if not f.private]
        found = bodies if len(bodies) == 1 else public
    if len(found) == 1:
        return found[0]
    names = ", ".join(f"@{f.name}" for f in module.functions) or "none"
    if name is not None:
        raise ProgramError(f"there is no function @{name.removeprefix('@')}; the text has {names}")
    raise ProgramError(f"say which function to run; the text has {names}")


def _prepare(module: Module, ub_bytes: int) -> PreparedModule:
    key = (id(module), ub_bytes)
    found = _prepared.get(key)
    if found is None or found.module is not module:
        while len(_prepared) >= _MOST_PREPARED:
            _prepared.pop(next(iter(_prepared)))
        found = _prepared[key] = PreparedModule(module, ub_bytes)
    return found


def _block(block: str | tuple[int, int] | BlockIndex | None) -> BlockIndex:
    if isinstance(block, str):
        return BlockIndex.parse(block)
    made = block if isinstance(block, BlockIndex) else BlockIndex(*(block or (0, 1)))
    made.require_valid()
    return made


def run(
    module: Module | str,
    args: Mapping[str, Any] | Sequence[Any] | None = None,
    target: str | Target | None = None,
    engine: str | Engine = "native",
    choices: Mapping[str, str] | None = None,
    function: str | None = None,
    block: str | tuple[int, int] | BlockIndex | None = None,
    *,
    max_steps: int = DEFAULT_STEPS,
    trace: bool = False,
    check_sorted: bool = True,
) -> RunResult:
    """Run a function of a `.pto` program.

    Parameters
    ----------
    module
        A parsed program, or its text.
    args
        Arguments by name or in order: arrays for pointers, views and tiles, numbers for
        scalars. Arrays are copied. Arguments for the block's index and number, and for merge
        counts, may be left out.
    target
        Target; that of the module's ``pto.target_arch`` if not given, else ``a2a3``.
    engine
        Who orders pairs: ``native``, ``reference`` or ``datapath``.
    choices
        Choices for unpinned behaviours, by id. ``{"rules": "parse-only"}`` runs nothing and
        reports the rules that the program breaks, and whatever else a check finds, as warnings.
    function
        Which function; may be left out if only one can be meant.
    block
        Index and number of blocks, as a pair or as ``"3/48"``.
    max_steps
        Steps after which the program is stopped.
    trace
        Record every step and not only sorts and merges.
    check_sorted
        Whether a merge refuses lists that are not sorted, which the hardware does not.

    Returns
    -------
    RunResult
        ``outputs`` has every array argument as the program left it.

    Raises
    ------
    ProgramError
        If the text is wrong or a step can't be executed, with its place. Nothing of the
        caller's is changed.
    ArgumentTypeError, ArgumentValueError
        If an argument, or an option, does not fit.

    Examples
    --------
    >>> import numpy as np
    >>> text = '''
    ... func.func @sort(%scores: !pto.ptr<f32>, %out: !pto.ptr<f32>) {
    ...   %c0 = arith.constant 0 : index
    ...   %c1 = arith.constant 1 : index
    ...   %c32 = arith.constant 32 : index
    ...   %c64 = arith.constant 64 : index
    ...   %zero = arith.constant 0 : i32
    ...   %sv = pto.make_tensor_view %scores, shape = [%c32], strides = [%c1] : !pto.tensor_view<32xf32>
    ...   %s = pto.partition_view %sv, offsets = [%c0], sizes = [%c32]
    ...        : !pto.tensor_view<32xf32> -> !pto.partition_tensor_view<32xf32>
    ...   %ov = pto.make_tensor_view %out, shape = [%c64], strides = [%c1] : !pto.tensor_view<64xf32>
    ...   %o = pto.partition_view %ov, offsets = [%c0], sizes = [%c64]
    ...        : !pto.tensor_view<64xf32> -> !pto.partition_tensor_view<64xf32>
    ...   %src = pto.alloc_tile : !pto.tile_buf<vec, 1x32xf32>
    ...   %idx = pto.alloc_tile : !pto.tile_buf<vec, 1x32xi32>
    ...   %dst = pto.alloc_tile : !pto.tile_buf<vec, 1x64xf32>
    ...   pto.tload ins(%s : !pto.partition_tensor_view<32xf32>) outs(%src : !pto.tile_buf<vec, 1x32xf32>)
    ...   pto.tci ins(%zero : i32) outs(%idx : !pto.tile_buf<vec, 1x32xi32>) {descending = false}
    ...   pto.tsort32 ins(%src, %idx : !pto.tile_buf<vec, 1x32xf32>, !pto.tile_buf<vec, 1x32xi32>)
    ...               outs(%dst : !pto.tile_buf<vec, 1x64xf32>)
    ...   pto.tstore ins(%dst : !pto.tile_buf<vec, 1x64xf32>) outs(%o : !pto.partition_tensor_view<64xf32>)
    ...   return
    ... }'''
    >>> scores = np.arange(32, dtype=np.float32)
    >>> result = run(text, [scores, np.zeros(64, np.float32)], engine="reference")
    >>> values, indices = result.outputs["out"][::2], result.outputs["out"].view(np.int32)[1::2]
    >>> values[:3].tolist(), indices[:3].tolist()
    ([31.0, 30.0, 29.0], [31, 30, 29])
    """
    if max_steps < 0:
        raise ArgumentValueError(f"max_steps is {max_steps}; it can't be negative")
    parsed = _parse(module) if isinstance(module, str) else module
    wanted = choose_function(parsed, function)
    chosen = program_target(target, parsed.target_arch, parsed.file)
    made = dict(choices or {})
    if _only_parsed(made):
        return _unrun(parsed, wanted, chosen, args)
    for about in (SORT, MERGE):
        chosen.choose(about, made)
    recorded = Trace(trace)
    machine = Machine(parsed, chosen, engine, made, _block(block), max_steps, recorded)
    machine.check_sorted = check_sorted
    prepared = _prepare(parsed, chosen.ub_bytes or UNLIMITED_UB_BYTES).function(wanted.name)
    machine.tiles = prepared.allocation.tiles
    bound = bind(wanted, args, machine, prepared.allocation.stop)
    if prepared.allocation.shared:
        machine.warn("tiles share bytes of UB, because they don't fit one behind the other")
    returned = _execute(prepared, machine, bound.values)
    for line in advice(parsed, wanted, chosen):
        machine.warn(line)
    if recorded.cut:
        machine.warn(f"the trace ends after {len(recorded.events)} events")
    outputs, changed = bound.outputs()
    return RunResult(
        outputs,
        changed,
        tuple(_returned(value) for value in returned),
        tuple(machine.executed),
        tuple(sorted(machine.unpinned)),
        tuple(machine.warnings),
        tuple(recorded.events),
        prepared.allocation.tiles,
        tuple(machine.log),
        machine.steps_limit - machine.steps_left,
    )


def _only_parsed(choices: dict[str, str]) -> bool:
    """Take the choice ``rules`` out of the others, and say whether nothing is to be run."""
    rules = choices.pop("rules", ENFORCED)
    if rules not in (ENFORCED, PARSE_ONLY):
        raise ArgumentValueError(f"choices['rules'] is {rules!r}; on offer are {ENFORCED!r}, {PARSE_ONLY!r}")
    return rules == PARSE_ONLY


def _unrun(
    module: Module, function: Function, target: Target, args: Mapping[str, Any] | Sequence[Any] | None
) -> RunResult:
    """Return the result of running nothing: what a check finds, and where the tiles are."""
    named = args if isinstance(args, Mapping) else dict(zip(function.arguments, args or (), strict=False))
    report = check(module, target, function=function.name, args=named)
    tiles = _prepare(module, target.ub_bytes or UNLIMITED_UB_BYTES).function(function.name).allocation.tiles
    found = tuple(map(str, (*report.errors, *report.warnings)))
    return RunResult({}, (), (), (), (), found, (), tiles, (), 0)


def _parse(text: str) -> Module:
    """Parse a text; the parser is an optional dependency, so that it is loaded only here."""
    module: Module = import_module("lanesort.pto.text.parser").parse(text)
    return module


def _execute(prepared: PreparedFunction, machine: Machine, values: Sequence[Any]) -> list[Any]:
    machine.trace.begin()
    try:
        with np.errstate(all="ignore"):
            return prepared.call(machine, values)
    except RecursionError:
        place = machine.place
        text = "calls and regions are nested too deeply to run"
        raise ProgramError(text, place, machine.module.line(place) if place else None) from None


def _returned(value: Any) -> Any:
    return value.window.view.copy() if isinstance(value, PlacedTile) else value
