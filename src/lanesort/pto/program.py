"""A `.pto` program in its normal form: plain data, nothing of the parser in it.

The text of a kernel has many spellings; here each operation has one. A `Module` has
functions, a `Function` has a `Block` of steps, and a `Step` names its operands by value
number. `lanesort.pto.operations.OPERATIONS` says for each modelled operation what
its operands and attributes are called and which kinds they have. The rules of the form:

- Values are numbered function-wide from 0: the function's arguments first, then every
  value in the order of the text (block arguments before the steps of their block).
  ``function.types[v]`` is the type of value ``v``.
- Operation names carry their dialect, except that ``pto.`` is dropped: ``tsort32``,
  ``scf.for``, ``arith.addi``, ``func.return``.
- An integer that stands where a value may stand (a static size) becomes an
  ``arith.constant`` step. A constant address (``alloc_tile addr = %c``) is folded into
  the attribute ``address`` in bytes, and the constant is dropped if nothing else uses it.
- The SSA forms become the form with destinations: an ``alloc_tile`` step per result tile,
  an ``arith.constant`` of four zeros for ``executed``, then the operation. An operand
  named ``executed`` is a cell that the operation writes.
- Both tile spellings, and ``!pto.tile<…>``, are one `TileType`.
- What is not modelled keeps its operands in order under the names ``ins`` and ``outs``,
  and ``modelled`` is False.
- Attributes that the model reads are plain Python under `Step.attributes`; all others are
  kept as text under `Step.extra`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from lanesort.errors import Place
from lanesort.pto.operations import OPERATIONS, Signature

__all__ = [
    "ScalarType",
    "VectorType",
    "PtrType",
    "TensorViewType",
    "PartitionViewType",
    "TileType",
    "OpaqueType",
    "Type",
    "Attribute",
    "Operand",
    "Step",
    "Block",
    "Function",
    "Module",
]


@dataclass(frozen=True, slots=True)
class ScalarType:
    """A number: ``f32 f16 bf16 f64``, ``i1 … i64``, ``ui8 … ui64``, ``index``."""

    name: str


@dataclass(frozen=True, slots=True)
class VectorType:
    """A short vector of numbers, ``vector<4xi16>`` for merge counts."""

    length: int
    element: str


@dataclass(frozen=True, slots=True)
class PtrType:
    """A pointer to `element` in global memory (``gm``) or the unified buffer (``ub``)."""

    element: str
    space: str = "gm"


@dataclass(frozen=True, slots=True)
class TensorViewType:
    """A strided view of global memory; None is a size known at run time only."""

    shape: tuple[int | None, ...]
    element: str


@dataclass(frozen=True, slots=True)
class PartitionViewType:
    """A window of a tensor view; None is a size known at run time only."""

    shape: tuple[int | None, ...]
    element: str


@dataclass(frozen=True, slots=True)
class TileType:
    """A tile in the unified buffer.

    Attributes
    ----------
    rows, cols
        Physical size, in elements.
    element
        Element type by name, ``f32``, ``ui32``, …
    valid_rows, valid_cols
        The valid part, in elements; None if it is known at run time only.
    location
        ``vec`` or, in older files, ``ub``; other memories (``mat``, ``acc``, …) parse.
    blayout, slayout
        Block layout and layout inside a fractal.
    fractal
        Fractal size in bytes.
    pad
        What fills the rest of the tile: 0 nothing, 1 zero, 2 maximum, 3 minimum.
    compact
        Compact mode.
    """

    rows: int
    cols: int
    element: str
    valid_rows: int | None
    valid_cols: int | None
    location: str = "vec"
    blayout: str = "row_major"
    slayout: str = "none_box"
    fractal: int = 512
    pad: int = 0
    compact: int = 0


@dataclass(frozen=True, slots=True)
class OpaqueType:
    """A type that is not modelled, as its text."""

    text: str


Type = ScalarType | VectorType | PtrType | TensorViewType | PartitionViewType | TileType | OpaqueType

Attribute = bool | int | float | str | tuple[int, ...] | tuple[str, ...] | None

Operand = int | None | tuple[int, ...]
"""One value, an absent optional value, or any number of values, as the signature says."""


@dataclass(frozen=True, slots=True)
class Step:
    """One operation in its normal form.

    Attributes
    ----------
    op
        Canonical name, a key of `OPERATIONS` if `modelled`.
    operands
        Value numbers, aligned with the names of the signature.
    results
        Value numbers that the step defines.
    attributes
        What the model reads, by name; every name of the signature is there.
    extra
        Other attributes, name to text; kept, not read.
    regions
        Bodies of ``scf.for``, ``scf.if``, ``scf.while``, ``fusion_region``, ``section``.
    place
        Where the operation starts in the text.
    modelled
        False for an operation that parsed through the generic form.
    """

    op: str
    operands: tuple[Operand, ...] = ()
    results: tuple[int, ...] = ()
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    extra: Mapping[str, str] = field(default_factory=dict)
    regions: tuple[Block, ...] = ()
    place: Place | None = field(default=None, compare=False)
    modelled: bool = True

    @property
    def signature(self) -> Signature:
        """Names and kinds of the operands and attributes."""
        return OPERATIONS[self.op if self.modelled else "generic"]

    def value(self, name: str) -> int:
        """Return the value number of an operand that must be there.

        Raises
        ------
        KeyError
            If the operation has no single operand of that name, or it is absent.
        """
        found = self.operands[self.signature.position(name)]
        if not isinstance(found, int):
            raise KeyError(f"{self.op}: operand {name} is not a single value")
        return found

    def optional(self, name: str) -> int | None:
        """Return the value number of an operand that may be absent."""
        found = self.operands[self.signature.position(name)]
        if isinstance(found, tuple):
            raise KeyError(f"{self.op}: operand {name} is a list of values")
        return found

    def values(self, name: str) -> tuple[int, ...]:
        """Return the value numbers of an operand list."""
        found = self.operands[self.signature.position(name)]
        if not isinstance(found, tuple):
            raise KeyError(f"{self.op}: operand {name} is not a list of values")
        return found

    def used(self) -> Iterator[int]:
        """Yield every value number that the step itself reads or writes, in order."""
        for operand in self.operands:
            if isinstance(operand, tuple):
                yield from operand
            elif operand is not None:
                yield operand


@dataclass(frozen=True, slots=True)
class Block:
    """A straight line of steps, with the values that enter it.

    The last step of a body is its terminator: ``scf.yield``, ``scf.condition``, ``yield``
    or ``func.return``; bodies of ``section.vector`` have none.
    """

    arguments: tuple[int, ...] = ()
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class Function:
    """A function with its values.

    Attributes
    ----------
    name
        Name without ``@``.
    arguments
        Names of the arguments without ``%``; argument ``i`` is value ``i``.
    body
        Steps; None for a declaration without a body.
    types
        Type of every value, by value number.
    results
        Types that the function returns.
    private
        Whether it is declared ``private``.
    extra
        Attributes, name to text.
    names
        Name of every value in the text, for messages and printing; not compared.
    place
        Where the function stands.
    argument_extra
        Attributes of each argument, name to text; empty where no argument has any.
    """

    name: str
    arguments: tuple[str, ...]
    body: Block | None
    types: tuple[Type, ...]
    results: tuple[Type, ...] = ()
    private: bool = False
    extra: Mapping[str, str] = field(default_factory=dict)
    names: tuple[str, ...] = field(default=(), compare=False)
    place: Place | None = field(default=None, compare=False)
    argument_extra: tuple[Mapping[str, str], ...] = ()

    def name_of(self, value: int) -> str:
        """Return the name of a value as a reader of the text knows it, with ``%``."""
        return f"%{self.names[value]}" if value < len(self.names) else f"%{value}"


@dataclass(frozen=True, slots=True)
class Module:
    """A parsed text.

    Attributes
    ----------
    target_arch
        ``a2a3`` or ``a5`` as the module's ``pto.target_arch`` says, else None.
    functions
        Functions in the order of the text.
    extra
        Attributes of the module, name to text.
    source
        The text itself, for messages that quote a line; not compared.
    file
        Name of the text's file; not compared.
    """

    target_arch: str | None
    functions: tuple[Function, ...]
    extra: Mapping[str, str] = field(default_factory=dict)
    source: str = field(default="", compare=False, repr=False)
    file: str = field(default="<text>", compare=False)

    def line(self, place: Place) -> str | None:
        """Return the source line of a place, if the text is known."""
        lines = self.source.split("\n")
        return lines[place.line - 1] if 0 < place.line <= len(lines) else None
