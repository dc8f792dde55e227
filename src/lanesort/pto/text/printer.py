"""From a module back to text, in one of three forms."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Literal, get_args

from lanesort.errors import ArgumentValueError
from lanesort.pto.program import Block, Function, Module, ScalarType, Step, Type
from lanesort.pto.text.builtin_statements import builtin_statement, constant_text
from lanesort.pto.text.statements import Namer, dictionary, statement, value_statement
from lanesort.pto.text.types import type_text
from lanesort.pto.text.values import destinations_beside, leading_placements, sunk

__all__ = ["Form", "print_module"]

Form = Literal["dps", "ssa", "manual"]
_INDENT = "  "
_NAME = re.compile(r"[A-Za-z_][\w$.-]*|\d+")


def print_module(module: Module, form: Form = "dps") -> str:
    """Return the text of a module.

    Parameters
    ----------
    module
        A program in normal form.
    form
        ``dps``: every destination is an operand, ``pto.op ins(…) outs(…)``, as the public
        assembler reads it. ``ssa``: destinations without an address are results, where the
        tile has no other use before. ``manual``: as ``ssa``, and constant addresses stand in
        comment lines ``# pto.tassign %name, @tile(0x1000)``.

    Returns
    -------
    str
        Text that `parse` reads back to the same module (``ssa`` and ``manual``: up to the
        place of ``alloc_tile``, which moves to the first write; ``manual`` with
        ``manual=True``).

    Raises
    ------
    ArgumentValueError
        For an unknown form.

    Examples
    --------
    >>> from lanesort.pto.text.parser import parse
    >>> module = parse("func.func @f(%a: !pto.tile<1x64xf32>) { pto.tmov ins(%a : !pto.tile<1x64xf32>)"
    ...                " outs(%a : !pto.tile<1x64xf32>) return }")
    >>> parse(print_module(module)) == module
    True
    """
    if form not in get_args(Form):
        raise ArgumentValueError(f"form is {form!r}; on offer are {', '.join(get_args(Form))}")
    attributes = dict(module.extra)
    if module.target_arch is not None:
        attributes = {"pto.target_arch": f'"{module.target_arch}"'} | attributes
    head = "module attributes" if attributes else "module"
    lines = [f"{head}{dictionary(attributes)} {{"]
    for function in module.functions:
        lines += _function(function, form)
    return "\n".join([*lines, "}", ""])


def _function(function: Function, form: Form) -> list[str]:
    if form != "dps":
        function = sunk(function, placed=form == "manual")
    writer = _Writer(function, form)
    namer = writer.namer
    arguments = range(len(function.arguments))
    extra = [dictionary(each) for each in function.argument_extra] or [""] * len(arguments)
    written = (
        namer.type(v) if function.body is None else f"{namer.name(v)}: {namer.type(v)}" for v in arguments
    )
    shown = ", ".join(f"{argument}{attributes}" for argument, attributes in zip(written, extra, strict=True))
    private = "private " if function.private else ""
    results = ", ".join(map(writer.show, function.results))
    head = f"{_INDENT}func.func {private}@{function.name}({shown})"
    head += f" -> ({results})" if results else ""
    head += f" attributes{dictionary(function.extra)}" if function.extra else ""
    if function.body is None:
        return [head]
    writer.placements(function.body)
    writer.block(function.body, 2)
    return [f"{head} {{", *writer.lines, f"{_INDENT}}}"]


def _unique(names: Sequence[str]) -> list[str]:
    """Return valid names, no two alike, as close to the given ones as possible."""
    taken: set[str] = set()
    made = []
    for number, name in enumerate(names):
        base = name if _NAME.fullmatch(name) else f"v{number}"
        free = base
        count = 0
        while free in taken:
            count += 1
            free = f"v{base}_{count}" if base.isdigit() else f"{base}_{count}"
        taken.add(free)
        made.append(free)
    return made


class _Writer:
    """Writes the lines of one function."""

    def __init__(self, function: Function, form: Form) -> None:
        self.lines: list[str] = []
        self._function = function
        self._form = form
        names = [*function.names, *map(str, range(len(function.names), len(function.types)))]
        self._names = _unique(names)
        self.namer = Namer(self._names, function.types, self.show)
        self._silent = 0

    def show(self, type_: Type) -> str:
        """Return the text of a type in this form."""
        return type_text(type_, value_tiles=self._form != "dps")

    def _line(self, depth: int, text: str) -> None:
        self.lines.append(_INDENT * depth + text)

    def placements(self, body: Block) -> None:
        """Write the addresses of arguments as comments, in the manual form."""
        if self._form == "manual":
            self._silent = leading_placements(self._function)
            for step in body.steps[: self._silent]:
                self._placement(2, step.value("tile"), step)

    def _placement(self, depth: int, tile: int, step: Step) -> None:
        address = step.attributes["address"]
        assert isinstance(address, int)
        self._line(depth, f"# pto.tassign {self.namer.name(tile)}, @tile({address:#x})")

    def block(self, block: Block, depth: int) -> None:
        """Write the steps of a block."""
        at, self._silent = self._silent, 0
        while at < len(block.steps):
            at += self._some(block, at, depth)

    def _some(self, block: Block, at: int, depth: int) -> int:
        """Write what stands at a position, and return how many steps it was."""
        if self._form != "dps":
            beside = destinations_beside(block, at, self._function.types, placed=self._form == "manual")
            if beside:
                for made in block.steps[at : at + beside]:
                    if made.op == "alloc_tile" and made.attributes["address"] is not None:
                        self._placement(depth, made.results[0], made)
                self._line(depth, value_statement(block.steps[at + beside], self.namer))
                return beside + 1
        self._step(block.steps[at], depth)
        return 1

    def _step(self, step: Step, depth: int) -> None:
        if step.modelled and step.op in _BODIES:
            _BODIES[step.op](self, step, depth)
        elif step.modelled and step.op == "arith.constant":
            (result,) = step.results
            text = constant_text(step, self._function.types[result], self.namer.type(result))
            self._line(depth, f"{self.namer.name(result)} = {text}")
        elif step.modelled and "." in step.op:
            self._line(depth, builtin_statement(step, self.namer))
        else:
            self._pto(step, depth)

    def _pto(self, step: Step, depth: int) -> None:
        address = step.attributes.get("address")
        text = statement(step, self.namer)
        if isinstance(address, int) and self._form == "manual" and step.op == "alloc_tile":
            self._placement(depth, step.results[0], step)
        elif isinstance(address, int):
            name = self._address(address, depth)
            if step.op == "alloc_tile":
                text = text.replace("pto.alloc_tile", f"pto.alloc_tile addr = %{name}", 1)
            else:
                tile = step.value("tile")
                shown = (
                    f"{self.namer.name(tile)}, %{name}{dictionary(step.extra)} : {self.namer.type(tile)}, i64"
                )
                text = f"pto.tassign {shown}"
        self._line(depth, text)

    def _address(self, address: int, depth: int) -> str:
        """Write the constant of an address and return its name."""
        self._names.append(f"addr{address}")
        self._names[:] = _unique(self._names)
        self._line(depth, f"%{self._names[-1]} = arith.constant {address} : i64")
        return self._names[-1]

    # -- operations with bodies -----------------------------------------------------------

    def _left(self, step: Step) -> str:
        return f"{self.namer.names(step.results)} = " if step.results else ""

    def _for(self, step: Step, depth: int) -> None:
        (body,) = step.regions
        lower, upper, by = (self.namer.name(step.value(name)) for name in ("lower", "upper", "step"))
        counter, *carried = body.arguments
        head = f"{self._left(step)}scf.for {self.namer.name(counter)} = {lower} to {upper} step {by}"
        if carried:
            pairs = zip(carried, step.values("initial"), strict=True)
            shown = ", ".join(f"{self.namer.name(a)} = {self.namer.name(b)}" for a, b in pairs)
            head += f" iter_args({shown}) -> ({self.namer.types(step.results)})"
        if self._function.types[counter] != ScalarType("index"):
            head += f" : {self.namer.type(counter)}"
        self._line(depth, f"{head} {{")
        self._body(body, depth)
        self._line(depth, f"}}{dictionary(step.extra)}")

    def _body(self, block: Block, depth: int) -> None:
        """Write a body without the ``scf.yield`` that goes without saying."""
        last = block.steps[-1] if block.steps else None
        if last is not None and last.op == "scf.yield" and not last.values("values") and not last.extra:
            block = Block(block.arguments, block.steps[:-1])
        self.block(block, depth + 1)

    def _if(self, step: Step, depth: int) -> None:
        then, otherwise = step.regions
        types = f" -> ({self.namer.types(step.results)})" if step.results else ""
        self._line(depth, f"{self._left(step)}scf.if {self.namer.name(step.value('condition'))}{types} {{")
        self._body(then, depth)
        if otherwise.steps:
            self._line(depth, "} else {")
            self._body(otherwise, depth)
        self._line(depth, f"}}{dictionary(step.extra)}")

    def _while(self, step: Step, depth: int) -> None:
        before, after = step.regions
        initial = step.values("initial")
        pairs = zip(before.arguments, initial, strict=True)
        shown = ", ".join(f"{self.namer.name(a)} = {self.namer.name(b)}" for a, b in pairs)
        types = f"({self.namer.types(initial)}) -> ({self.namer.types(step.results)})"
        self._line(depth, f"{self._left(step)}scf.while ({shown}) : {types} {{")
        self.block(before, depth + 1)
        self._line(depth, "} do {")
        if after.arguments:
            arguments = ", ".join(f"{self.namer.name(v)}: {self.namer.type(v)}" for v in after.arguments)
            self._line(depth, f"^bb0({arguments}):")
        self.block(after, depth + 1)
        attributes = f" attributes{dictionary(step.extra)}" if step.extra else ""
        self._line(depth, f"}}{attributes}")

    def _yield(self, step: Step, depth: int) -> None:
        values = step.values("values")
        shown = f" {self.namer.names(values)} : {self.namer.types(values)}" if values else ""
        self._line(depth, f"scf.yield{dictionary(step.extra)}{shown}")

    def _condition(self, step: Step, depth: int) -> None:
        values = step.values("values")
        shown = f" {self.namer.names(values)} : {self.namer.types(values)}" if values else ""
        self._line(depth, f"scf.condition({self.namer.name(step.value('condition'))}){shown}")

    def _region(self, step: Step, depth: int) -> None:
        (body,) = step.regions
        self._line(depth, f"{self._left(step)}pto.{step.op} {{")
        self.block(body, depth + 1)
        types = f" : {self.namer.types(step.results)}" if step.results else ""
        self._line(depth, f"}}{dictionary(step.extra)}{types}")


_BODIES: dict[str, Callable[[_Writer, Step, int], None]] = {
    "scf.for": _Writer._for,
    "scf.if": _Writer._if,
    "scf.while": _Writer._while,
    "scf.yield": _Writer._yield,
    "scf.condition": _Writer._condition,
    **dict.fromkeys(("section.vector", "section.cube", "fusion_region"), _Writer._region),
}
