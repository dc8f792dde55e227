"""The parser's vocabulary: values, types and integers as `.pto` text writes them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import prod
from typing import TypeVar

from xdsl.context import Context
from xdsl.dialects import arith, builtin
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue, TypeAttribute
from xdsl.parser import Parser, ParserState, UnresolvedOperand
from xdsl.utils.lexer import Input
from xdsl.utils.mlir_lexer import MLIRTokenKind

from lanesort.errors import counted
from lanesort.pto.text.attributes import PtoType, plain_type
from lanesort.pto.text.diagnostics import Fault, closest
from lanesort.pto.text.lexer import Lexer
from lanesort.pto.text.types import READERS, read_type, type_text

__all__ = ["LIMITS", "Reader"]

LIMITS = {
    "regions deep": 64,
    "blocks with a label": 256,
    "elements in a constant": 4096,
    "operations": 50_000,
    "bits of an integer": 64,
    "characters": 4_000_000,
    "characters of aliases written out": 1_000_000,
}
"""Bounds on what a text may hold; beyond them it is refused."""

_TYPE_NAME = re.compile(r"!pto\.(\w+)")
_SHORT_TILE = re.compile(r"<\s*(?:loc\s*=|[a-z]+\s*,\s*\d)")
_SHORT_POINTER = re.compile(r"<\s*\w+\s*(?:,\s*\w+\s*)?>")
_INTEGER_TYPE = re.compile(r"[su]?i(\d+)")
Found = TypeVar("Found", bound=Attribute)
_types_by_text: dict[str, PtoType] = {}
_MOST_CACHED_TYPES = 4096


class Reader(Parser):
    """xDSL's parser with the bounds, the short types and the scoping of `.pto` text.

    Parameters
    ----------
    context
        The dialects that are loaded.
    text
        The program.
    """

    def __init__(self, context: Context, text: str) -> None:
        self.starts: dict[Operation, int] = {}
        self.constants: list[Operation] = []
        self._regions_deep = 0
        self._labels = 0
        self._written_out = 0
        self._alias_sizes: dict[str, int] = {}
        super().__init__(context, "")
        self._parser_state = ParserState(Lexer(Input(text, "<text>")))

    def stands_before(self, kind: MLIRTokenKind) -> bool:
        """Say whether the next token is of a kind."""
        return self._current_token.kind == kind

    # -- values ---------------------------------------------------------------------------

    def resolve_operand(self, operand: UnresolvedOperand, type: Attribute) -> SSAValue:  # type: ignore[override]  # xDSL's is generic over the type
        """Return a value that is already defined, of the type that the text says here."""
        value = self.resolve(operand)
        self._same_type(value, type, operand.span.start)
        return value

    def resolve(self, operand: UnresolvedOperand) -> SSAValue:
        """Return a value that is already defined, by its name."""
        name, at = operand.operand_name, operand.span.start
        values = self.ssa_values.get(name)
        if values is None:
            raise Fault(at, f"%{name} is used before it is defined", closest(name, self.ssa_values, "%"))
        if operand.index >= len(values):
            raise Fault(
                at, f"%{name} has {counted(len(values), 'value')}; there is no %{name}#{operand.index}"
            )
        return values[operand.index]

    def operand(self) -> SSAValue:
        """Read a name and return its value."""
        return self.resolve(self.parse_unresolved_operand())

    def optional_operand(self) -> SSAValue | None:
        """Read a name, if one stands here, and return its value."""
        operand = self.parse_optional_unresolved_operand()
        return None if operand is None else self.resolve(operand)

    def operands(self) -> list[SSAValue]:
        """Read names between commas; at least one."""
        return self.parse_comma_separated_list(self.Delimiter.NONE, self.operand)

    def value_or_integer(self) -> SSAValue:
        """Read a name, or an integer that becomes an index constant before the operation."""
        if (number := self.parse_optional_integer(allow_boolean=False)) is None:
            return self.operand()
        constant = arith.ConstantOp(IntegerAttr(number, IndexType()))
        self.constants.append(constant)
        self.starts[constant] = self.pos
        return constant.result

    def sizes(self) -> list[SSAValue]:
        """Read ``[%a, 8, …]``."""
        return self.parse_comma_separated_list(self.Delimiter.SQUARE, self.value_or_integer)

    # -- types ----------------------------------------------------------------------------

    def parse_optional_type(self) -> TypeAttribute | None:
        """Read a type; the dialect's own are read by `read_type` and remembered by text."""
        token = self._current_token
        if token.kind != MLIRTokenKind.EXCLAMATION_IDENT:
            return super().parse_optional_type()
        name = _TYPE_NAME.fullmatch(token.text)
        if name is None or name[1] not in READERS:
            return super().parse_optional_type()
        return self._bracketed_type(name[1], token.span.end)

    def _bracketed_type(self, name: str, start: int) -> PtoType:
        text = self.lexer.input.content
        end = text.find(">", start)
        if not text.startswith("<", start) or end < 0:
            raise Fault(start, f"!pto.{name} lacks its parameters between < and >")
        key = name + text[start:end]
        found = _types_by_text.get(key)
        if found is None:
            found = PtoType(read_type(name, text[start + 1 : end], start + 1))
            if len(_types_by_text) < _MOST_CACHED_TYPES:
                _types_by_text[key] = found
        self._resume_from(end + 1)
        return found

    def short_type(self, view: str = "tensor_view") -> Attribute:
        """Read a type whose ``!pto.name`` may be missing in front of ``<``; `view` for shapes."""
        if self._current_token.kind != MLIRTokenKind.LESS:
            return self.parse_type()
        start = self.pos
        text = self.lexer.input.content
        if _SHORT_TILE.match(text, start):
            return self._bracketed_type("tile_buf", start)
        if _SHORT_POINTER.match(text, start) and not text[start + 1 : start + 2].isdigit():
            return self._bracketed_type("ptr", start)
        return self._bracketed_type(view, start)

    def types(self, view: str = "tensor_view") -> list[Attribute]:
        """Read types between commas."""
        return self.parse_comma_separated_list(self.Delimiter.NONE, lambda: self.short_type(view))

    def agree(self, operands: Sequence[SSAValue], types: Sequence[Attribute], at: int) -> None:
        """Refuse types that are not those of the operands, as many as are written."""
        if len(types) > len(operands):
            raise Fault(at, f"{counted(len(types), 'type')} written for {counted(len(operands), 'operand')}")
        for operand, type_ in zip(operands, types, strict=False):
            self._same_type(operand, type_, at)

    @staticmethod
    def _same_type(value: SSAValue, type_: Attribute, at: int) -> None:
        if value.type != type_:
            name = f"%{value.name_hint}" if value.name_hint else "the operand"
            there, here = type_text(plain_type(value.type)), type_text(plain_type(type_))
            raise Fault(at, f"{name} is written here as {here}, but it was defined as {there}")

    # -- bounds ---------------------------------------------------------------------------

    @contextmanager
    def _deeper(self) -> Iterator[None]:
        self._regions_deep += 1
        if self._regions_deep > LIMITS["regions deep"]:
            raise Fault(self.pos, f"regions are nested more than {LIMITS['regions deep']} deep")
        yield
        self._regions_deep -= 1

    def parse_optional_region(self, arguments: Sequence[Parser.Argument] | None = None) -> Region | None:
        """Read a region, not too deep inside others."""
        with self._deeper():
            return super().parse_optional_region(arguments)

    def _parse_alias_def(self) -> None:
        # An alias of two aliases of two aliases … is short text for what no memory holds.
        start, before = self.pos, self._written_out
        name = self._current_token.text
        super()._parse_alias_def()  # type: ignore[no-untyped-call]  # xDSL's has no annotation
        self._alias_sizes[name] = self.pos - start + self._written_out - before

    def _parse_extended_type_or_attribute(self, attr_or_dialect_name: str, is_type: bool) -> Attribute:  # type: ignore[override]  # xDSL's is overloaded on is_type
        self._written_out += self._alias_sizes.get(f"{'!' if is_type else '#'}{attr_or_dialect_name}", 0)
        most = LIMITS["characters of aliases written out"]
        if self._written_out > most:
            raise Fault(
                self.pos, f"the text has more than {most} characters once its aliases are written out"
            )
        read: Attribute = super()._parse_extended_type_or_attribute(attr_or_dialect_name, is_type)  # type: ignore[call-overload]  # xDSL's overloads are for literals
        return read

    def _parse_optional_integer_or_float_type(self) -> TypeAttribute | None:
        # xDSL computes the bounds of an integer type, which for a wide one takes seconds.
        width = _INTEGER_TYPE.fullmatch(self._current_token.text)
        most = LIMITS["bits of an integer"]
        if width is not None and (len(width[1]) > 5 or int(width[1]) > most):
            raise Fault(self.pos, f"an integer of {width[1][:20]} bits is too wide", f"at most {most} bits")
        return super()._parse_optional_integer_or_float_type()

    def _parse_block(self) -> Block:
        self._labels += 1
        most = LIMITS["blocks with a label"]
        if self._labels > most:
            raise Fault(self.pos, f"the text has more than {most} blocks with a label")
        return super()._parse_block()

    def _parse_block_body(self, block: Block) -> None:
        while (operation := self.parse_optional_operation()) is not None:
            block.add_ops(self.constants)
            self.constants.clear()
            block.add_op(operation)

    def _parse_vector_attrs(self) -> builtin.AnyVectorType:
        return self._bounded(super()._parse_vector_attrs)

    def _parse_tensor_attrs(self) -> builtin.AnyTensorType | builtin.AnyUnrankedTensorType:
        return self._bounded(super()._parse_tensor_attrs)

    def _bounded(self, read: Callable[[], Found]) -> Found:
        start = self.pos
        found = read()
        shape = found.get_shape() if isinstance(found, builtin.VectorType | builtin.TensorType) else ()
        most = LIMITS["elements in a constant"]
        if any(size > most for size in shape) or prod(shape) > most:
            shown = "x".join(map(str, shape))[:40]
            raise Fault(start, f"a constant of {shown} elements is too large", f"at most {most} elements")
        return found
