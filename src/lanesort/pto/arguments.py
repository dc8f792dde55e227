"""From the caller's arguments to the values that a function begins with.

Arrays are copied: a program never writes into what it was given, and a run that fails
leaves nothing half done.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from lanesort.errors import ArgumentTypeError, ArgumentValueError, counted
from lanesort.pto.allocation import tile_bytes
from lanesort.pto.machine import Machine
from lanesort.pto.memory import ELEMENTS, GlobalBuffer, Pointer
from lanesort.pto.operand import round_up
from lanesort.pto.program import (
    Function,
    PartitionViewType,
    PtrType,
    ScalarType,
    TensorViewType,
    TileType,
    Type,
    VectorType,
)
from lanesort.pto.scalar import integer_range, wrapper
from lanesort.pto.view import PlacedTile, TensorView

__all__ = ["Bound", "bind", "type_text"]

Array = npt.NDArray[Any]

_BLOCK_ARGUMENT = re.compile(r"_*(?:pypto_)?(?:spmd_)?block_(idx|num)$")


def type_text(type: Type) -> str:
    """Write a type for a reader of a message.

    Examples
    --------
    >>> type_text(PtrType("f32"))
    'an array of f32'
    """
    if isinstance(type, PtrType | TensorViewType | PartitionViewType):
        return f"an array of {type.element}"
    if isinstance(type, TileType):
        return f"an array of {type.rows} × {type.cols} {type.element}"
    if isinstance(type, ScalarType):
        return f"a number ({type.name})"
    if isinstance(type, VectorType):
        return f"{type.length} numbers ({type.element})"
    return str(type)


class Bound:
    """The values that a function begins with, and the arrays that it leaves behind.

    Attributes
    ----------
    values
        One for each argument.
    """

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._arrays: dict[str, Callable[[], tuple[Array, bool]]] = {}

    def keep(self, name: str, array: Callable[[], tuple[Array, bool]]) -> None:
        """Remember how to get an argument's array, and whether it was stored into, after the run."""
        self._arrays[name] = array

    def outputs(self) -> tuple[dict[str, Array], tuple[str, ...]]:
        """Return the arrays by name, and the names of those that were stored into."""
        found = {name: array() for name, array in self._arrays.items()}
        return {name: array for name, (array, _) in found.items()}, tuple(
            name for name, (_, changed) in found.items() if changed
        )


class _Binder:
    """Turns one argument after another into a value."""

    def __init__(self, machine: Machine, free_bytes: int) -> None:
        self.machine = machine
        self.free_bytes = free_bytes
        self.bound = Bound()
        self._buffers: dict[tuple[int, str], GlobalBuffer] = {}

    def add(self, name: str, type: Type, given: Any) -> None:
        made: Any
        if isinstance(type, PtrType) and type.space == "ub":
            made = self._ub_pointer(name, type, given)
        elif isinstance(type, PtrType):
            made = Pointer(self._buffer(name, type.element, given), 0, type.element)
        elif isinstance(type, TensorViewType | PartitionViewType):
            made = self._view(name, type, given)
        elif isinstance(type, TileType):
            made = self._tile(name, type, given)
        elif isinstance(type, ScalarType):
            made = _scalar(name, type, given)
        elif isinstance(type, VectorType):
            made = _vector(name, type, given)
        else:
            raise ArgumentTypeError(f"argument {name} has the type {type}, which is not modelled")
        self.bound.values.append(made)

    def _buffer(self, name: str, element: str, given: Any) -> GlobalBuffer:
        # One array given twice is one memory, as two pointers to it would be.
        key = (id(given), element)
        if key not in self._buffers:
            self._buffers[key] = GlobalBuffer(name, _array(name, element, given))
        buffer = self._buffers[key]
        self.bound.keep(name, lambda: (buffer.array, buffer.changed))
        return buffer

    def _view(self, name: str, type: TensorViewType | PartitionViewType, given: Any) -> TensorView:
        array = np.asarray(given)
        rank = len(type.shape)
        shape = (1,) * (rank - array.ndim) + array.shape
        fits = len(shape) == rank and all(n is None or n == m for n, m in zip(type.shape, shape, strict=True))
        if not fits:
            wanted = " × ".join("?" if n is None else str(n) for n in type.shape)
            raise ArgumentValueError(f"argument {name} has the shape {array.shape}, and {wanted} is needed")
        buffer = self._buffer(name, type.element, given)
        strides = [1]
        for size in reversed(shape[1:]):
            strides.insert(0, strides[0] * size)
        return TensorView(Pointer(buffer, 0, type.element), shape, tuple(strides))

    def _room(self, size_bytes: int) -> int:
        address, self.free_bytes = self.free_bytes, self.free_bytes + round_up(size_bytes, 32)
        return address

    def _tile(self, name: str, type: TileType, given: Any) -> PlacedTile:
        array = np.atleast_2d(_array(name, type.element, given))
        valid = (
            type.rows if type.valid_rows is None else type.valid_rows,
            type.cols if type.valid_cols is None else type.valid_cols,
        )
        if array.ndim != 2 or array.shape[0] > type.rows or array.shape[1] > type.cols:
            raise ArgumentValueError(
                f"argument {name} has the shape {array.shape}; a tile of {type.rows} × {type.cols} is needed"
            )
        tile = PlacedTile(self.machine.ub, self._room(tile_bytes(type)), type, valid)
        part = tile.part(*array.shape)
        part.view[...] = array
        self.machine.ub.wrote(part)
        self.bound.keep(name, lambda: (part.view.copy(), not np.array_equal(part.view, array)))
        return tile

    def _ub_pointer(self, name: str, type: PtrType, given: Any) -> Pointer:
        array = _array(name, type.element, given)
        pointer = Pointer(self.machine.ub, self._room(array.nbytes), type.element)
        elements = pointer.elements(array.size)
        elements[...] = array.reshape(-1)
        self.machine.ub.mark(pointer.access(array.size))
        self.bound.keep(
            name,
            lambda: (elements.reshape(array.shape).copy(), not np.array_equal(elements, array.reshape(-1))),
        )
        return pointer


def _array(name: str, element: str, given: Any) -> Array:
    """Return an argument as an array of the element type; integers of one width are taken as each other."""
    array = np.asarray(given)
    wanted = ELEMENTS.get(element)
    if wanted is None:
        raise ArgumentTypeError(f"argument {name} holds {element}, which is not modelled")
    native = array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))
    if native.dtype == wanted:
        return native
    if native.dtype.kind in "iu" and wanted.kind in "iu" and native.itemsize == wanted.itemsize:
        return native
    raise ArgumentTypeError(
        f"argument {name} is an array of {array.dtype}, and {wanted.name} ({element}) is needed; "
        f"convert it with astype({wanted.name!r})"
    )


def _scalar(name: str, type: ScalarType, given: Any) -> int | float:
    fit = wrapper(type)
    array = np.asarray(given)
    if array.ndim or array.dtype.kind not in "biuf":
        raise ArgumentTypeError(f"argument {name} is {given!r}; a number ({type.name}) is needed")
    value = array.item()
    if type.name[0] in "fb":
        return fit(float(value))  # type: ignore[no-any-return]  # wrapper gives numbers
    least, greatest = integer_range(type) or (0, 0)
    # A signless integer may be written either way: 255 and -1 are the same i8.
    if not least <= value <= max(greatest, 2 * greatest + 1 if least else 0) or value != int(value):
        raise ArgumentValueError(f"argument {name} is {value!r}, which {type.name} does not hold")
    return fit(value)  # type: ignore[no-any-return]  # wrapper gives numbers


def _vector(name: str, type: VectorType, given: Any) -> tuple[int | float, ...]:
    numbers = np.asarray(given).reshape(-1)
    if numbers.size != type.length:
        raise ArgumentValueError(f"argument {name} has {numbers.size} numbers, and {type.length} are needed")
    return tuple(_scalar(name, ScalarType(type.element), number) for number in numbers)


def _default(name: str, type: Type, machine: Machine) -> Any:
    """Return what an argument is when it is not given: the block for those that ask for it."""
    found = _BLOCK_ARGUMENT.match(name)
    if found and isinstance(type, ScalarType):
        return machine.block.index if found[1] == "idx" else machine.block.count
    return (0,) * type.length if isinstance(type, VectorType) else None


def _by_name(function: Function, given: Mapping[str, Any] | Sequence[Any]) -> dict[str, Any]:
    names = function.arguments
    if not isinstance(given, Mapping):
        if len(given) > len(names):
            takes = counted(len(names), "argument")
            raise ArgumentValueError(f"@{function.name} takes {takes} ({', '.join(names)}); got {len(given)}")
        return dict(zip(names, given, strict=False))
    named = {str(name).removeprefix("%"): value for name, value in given.items()}
    unknown = [name for name in named if name not in names]
    if unknown:
        raise ArgumentValueError(
            f"@{function.name} has no argument {', '.join(unknown)}; it takes {', '.join(names) or 'none'}"
        )
    return named


def bind(
    function: Function, given: Mapping[str, Any] | Sequence[Any] | None, machine: Machine, free_bytes: int
) -> Bound:
    """Turn the caller's arguments into values.

    Parameters
    ----------
    function
        Whose arguments they are.
    given
        By name, with or without ``%``, or in order. Block index and number may be left out.
    machine
        Whose memories take them.
    free_bytes
        From where on UB is free, for arguments that are tiles.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If one is missing, unknown, or does not fit its type; the message names it.
    """
    named = _by_name(function, given or {})
    binder = _Binder(machine, free_bytes)
    missing = []
    for name, type in zip(function.arguments, function.types, strict=False):
        value = named[name] if name in named else _default(name, type, machine)
        if value is None:
            missing.append(f"{name}: {type_text(type)}")
        else:
            binder.add(name, type, value)
    if missing:
        raise ArgumentValueError(f"@{function.name} needs further arguments: {'; '.join(missing)}")
    return binder.bound
