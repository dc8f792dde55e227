"""``lanesort pto run``: run a function of a `.pto` program on files and numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from cyclopts import Parameter
from rich.console import Console
from rich.table import Table

from lanesort.cli.console import console as make_console
from lanesort.cli.pto_file import read_program
from lanesort.errors import ArgumentValueError, FileError, counted
from lanesort.evidence import unpinned_behaviours
from lanesort.files import read_array, write_together
from lanesort.pto.check.stored import pair_arrays
from lanesort.pto.interpreter import DEFAULT_STEPS, choose_function, run
from lanesort.pto.memory import ELEMENTS
from lanesort.pto.result import RunResult, trace_text
from lanesort.pto.target import program_target
from lanesort.pto.tile import PAIR_BYTES, pair_views

__all__ = ["given_arguments", "pto_run", "read_argument"]

Array = npt.NDArray[Any]

_NAMED = re.compile(r"(%?[\w$.-]+)=(.*)", re.DOTALL)
_FILLED = re.compile(r"(zeros|ones):(\d+(?:x\d+)*):(\w+)")
_MEMBER = re.compile(r"(.+\.(?:npz|safetensors|parquet)):([^:]+)")
_LARGEST_BYTES = 8 << 30
_SHOWN = 8


def pto_run(
    file: Path,
    /,
    *,
    arg: Annotated[tuple[str, ...], Parameter(name="--arg", consume_multiple=False, negative="")] = (),
    function: str | None = None,
    target: str | None = None,
    engine: str = "native",
    block: str | None = None,
    choice: Annotated[tuple[str, ...], Parameter(name="--choice", consume_multiple=False, negative="")] = (),
    output: Annotated[
        tuple[str, ...], Parameter(name=["-o", "--output"], consume_multiple=False, negative="")
    ] = (),
    trace: Path | None = None,
    map: Annotated[bool, Parameter(negative="")] = False,
    unsorted: Annotated[bool, Parameter(negative="")] = False,
    max_steps: int = DEFAULT_STEPS,
) -> int:
    """Run a function of a .pto program.

    Parameters
    ----------
    file
        The program.
    arg
        An argument, NAME=VALUE or VALUE in order. VALUE is a number, an array file
        (.npy, .npz, .safetensors, .parquet; FILE:ARRAY where it holds several),
        zeros:1x16384:f32 or ones:….
    function
        Which function; may be left out if only one can be meant.
    target
        a2a3, a5, cpu, …; the program's own if not given.
    engine
        Who orders pairs: native, reference or datapath.
    block
        Block index and number, for example 3/48.
    choice
        ID=CHOICE for a behaviour that no source fixes.
    output
        NAME=FILE, or FILE if the program stores into one array only.
    trace
        Write every executed step as Chrome trace-event JSON, for Perfetto.
    map
        Print where the tiles are in the unified buffer.
    unsorted
        Let merges take lists that are not sorted, as the hardware does.
    max_steps
        Steps after which the program is stopped.
    """
    module = read_program(file)
    chosen = choose_function(module, function)
    arguments = given_arguments(arg, lambda: chosen.arguments)
    result = run(
        module,
        arguments,
        target,
        engine,
        _choices(choice),
        function,
        block,
        max_steps=max_steps,
        trace=trace is not None,
        check_sorted=not unsorted,
    )
    files: dict[Path, dict[str, Array]] = {}
    for name, path in _wanted(output, result).items():
        files.setdefault(Path(path), {})[name] = result.outputs[name]
    write_together(files, {} if trace is None else {trace: trace_text(result.trace)})
    console = make_console()
    if map:
        console.print(_map_table(result))
    on = program_target(target, module.target_arch, module.file)
    _print(console, result, pair_arrays(module, chosen, on, arguments))
    return 0


def read_argument(text: str) -> Any:
    """Read the value of an argument: a number, an array file, ``zeros:SHAPE:TYPE``.

    Raises
    ------
    ArgumentValueError
        If it is none of these, or too large.

    Examples
    --------
    >>> read_argument("0x10"), read_argument("zeros:2x3:f16").shape
    (16, (2, 3))
    """
    for number in (lambda: int(text, 0), lambda: float(text)):
        try:
            return number()
        except ValueError:
            continue
    filled = _FILLED.fullmatch(text)
    if filled:
        return _filled(filled[1], filled[2], filled[3])
    member = _MEMBER.fullmatch(text)
    if member and not Path(text).exists():
        return read_array(member[1], member[2])
    if not Path(text).suffix:
        raise ArgumentValueError(
            f"argument {text!r} is neither a number nor a file nor zeros:SHAPE:TYPE (zeros:1x16384:f32)"
        )
    try:
        return read_array(text)
    except FileError as error:
        raise FileError(str(error).replace("with --name", f"by {text}:NAME")) from None


def _filled(kind: str, shape_text: str, element: str) -> Array:
    shape = tuple(int(size) for size in shape_text.split("x"))
    if element not in ELEMENTS:
        raise ArgumentValueError(f"element type {element!r} is unknown; accepted are {', '.join(ELEMENTS)}")
    dtype = ELEMENTS[element]
    size = prod(shape) * dtype.itemsize
    if size > _LARGEST_BYTES:
        raise ArgumentValueError(f"{kind}:{shape_text}:{element} has {size} bytes; at most {_LARGEST_BYTES}")
    return np.zeros(shape, dtype) if kind == "zeros" else np.ones(shape, dtype)


def given_arguments(texts: Sequence[str], names: Callable[[], Sequence[str]]) -> dict[str, Any]:
    """Read arguments; those without a name take the places that are left, in order.

    Parameters
    ----------
    texts
        NAME=VALUE or VALUE.
    names
        Gives the names of all arguments; asked only where one is given without its name.

    Raises
    ------
    ArgumentValueError
        For a value that can't be read, a name that is given twice, or too many values.
    """
    named: dict[str, Any] = {}
    unnamed: list[Any] = []
    for text in texts:
        found = _NAMED.fullmatch(text)
        if found is None:
            unnamed.append(read_argument(text))
            continue
        name = found[1].removeprefix("%")
        if name in named:
            raise ArgumentValueError(f"--arg {name} is given twice")
        named[name] = read_argument(found[2])
    if not unnamed:
        return named
    free = [name for name in names() if name not in named]
    if len(unnamed) > len(free):
        raise ArgumentValueError(
            f"{counted(len(unnamed), 'argument')} without a name, and {len(free)} left to give"
        )
    return {**named, **dict(zip(free, unnamed, strict=False))}


def _choices(texts: Sequence[str]) -> dict[str, str]:
    made: dict[str, str] = {}
    for text in texts:
        id, equals, choice = text.partition("=")
        if not (id and equals and choice):
            raise ArgumentValueError(f"--choice is {text!r}; it is ID=CHOICE")
        if id in made:
            raise ArgumentValueError(f"--choice {id} is given twice: {made[id]} and {choice}")
        made[id] = choice
    return made


def _wanted(output: Sequence[str], result: RunResult) -> Mapping[str, str]:
    """Return which array goes to which file."""
    wanted: dict[str, str] = {}
    for text in output:
        name, equals, path = text.partition("=")
        if not equals:
            if len(result.changed) != 1:
                stored = ", ".join(result.changed) or "none"
                raise ArgumentValueError(
                    f"-o {text}: say which array, NAME=FILE; the program stored into {stored}"
                )
            name, path = result.changed[0], text
        name = name.removeprefix("%")
        if name not in result.outputs:
            raise ArgumentValueError(f"-o {text}: no array {name!r}; there are {', '.join(result.outputs)}")
        wanted[name] = path
    return wanted


def _map_table(result: RunResult) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in ("tile", "from", "to", "bytes", "placed by"):
        table.add_column(heading, justify="left" if heading in ("tile", "placed by") else "right")
    for one in result.map:
        who = "the text" if one.given else "lanesort"
        table.add_row(one.name, f"0x{one.start:x}", f"0x{one.stop:x}", str(one.stop - one.start), who)
    return table


def _print(console: Console, result: RunResult, pairs: Collection[str]) -> None:
    for line in result.log:
        console.print(line)
    for name in result.changed:
        array = result.outputs[name]
        shape = " × ".join(map(str, array.shape))
        shown = _pairs(array) if name in pairs else _values(array)
        console.print(f"{name}: {shape} {array.dtype}: {shown}")
    for counts in result.executed[:_SHOWN]:
        console.print(f"executed: {' '.join(map(str, counts))}")
    for id in result.unpinned:
        console.print(f"unpinned: {id}: {_question(id)}")
    for warning in result.warnings:
        console.print(f"warning: {warning}")
    console.print(counted(result.steps, "step"))


def _values(array: Array) -> str:
    shown = " ".join(f"{value:.6g}" for value in array.reshape(-1)[:_SHOWN].tolist())
    return f"{shown}{' …' if array.size > _SHOWN else ''}"


def _pairs(array: Array) -> str:
    """Show an array of pairs, eight bytes each, as value@index."""
    size = PAIR_BYTES // array.itemsize
    whole = array.size // size
    if whole == 0:
        return _values(array)
    values, indices, _ = pair_views(array.reshape(1, -1)[:, : whole * size], whole)
    both = zip(values[0, :_SHOWN].tolist(), indices[0, :_SHOWN].tolist(), strict=True)
    shown = " ".join(f"{value:.6g}@{index}" for value, index in both)
    return f"{shown}{' …' if whole > _SHOWN else ''}"


def _question(id: str) -> str:
    return next((u.question for u in unpinned_behaviours() if u.id == id), "")
