"""From text to a module, through xDSL; whatever is wrong becomes a `ProgramError`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import cast

from xdsl.dialects import func, scf
from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.parser import Parser
from xdsl.traits import SingleBlockImplicitTerminator, ensure_terminator
from xdsl.utils.exceptions import (
    DiagnosticException,
    InvalidIRException,
    ParseError,
    PyRDLError,
    VerifyException,
)
from xdsl.utils.lexer import Span
from xdsl.utils.mlir_lexer import MLIRTokenKind

from lanesort.errors import ArgumentTypeError, counted
from lanesort.pto.operations import OPERATIONS
from lanesort.pto.program import Module
from lanesort.pto.text.diagnostics import Fault, Source, closest
from lanesort.pto.text.dialect import context, generic_operation, operation
from lanesort.pto.text.normal import lowered
from lanesort.pto.text.placement import without_comments
from lanesort.pto.text.reader import LIMITS, Reader
from lanesort.pto.text.verify import verify

__all__ = ["parse"]


class _For(scf.ForOp):
    """``scf.for`` whose types behind ``->`` may lack their parentheses."""

    @classmethod
    def parse(cls, parser: Parser) -> scf.ForOp:  # type: ignore[override]  # gives the plain operation
        """Read bounds, carried values and body."""
        reader = cast(Reader, parser)
        counter = reader.parse_argument(expect_type=False)
        reader.parse_punctuation("=")
        bounds = [reader.parse_unresolved_operand()]
        for keyword in ("to", "step"):
            reader.parse_keyword(keyword)
            bounds.append(reader.parse_unresolved_operand())
        names: list[Parser.UnresolvedArgument] = []
        carried: list[SSAValue] = []
        if reader.parse_optional_keyword("iter_args"):
            names, carried = _carried(reader)
        type_ = reader.parse_type() if reader.parse_optional_punctuation(":") else IndexType()
        lower, upper, step = (reader.resolve_operand(bound, type_) for bound in bounds)
        arguments = [
            counter.resolve(type_),
            *(n.resolve(v.type) for n, v in zip(names, carried, strict=True)),
        ]
        body = reader.parse_region(arguments)
        made = scf.ForOp(lower, upper, step, carried, body)
        made.attributes |= reader.parse_optional_attr_dict()
        if not carried:
            ensure_terminator(made, SingleBlockImplicitTerminator(scf.YieldOp))
        return made


def _assignments(reader: Reader) -> tuple[list[Parser.UnresolvedArgument], list[SSAValue]]:
    """Read ``(%a = %b, …)`` and return the names and the first values."""

    def assignment() -> tuple[Parser.UnresolvedArgument, SSAValue]:
        name = reader.parse_argument(expect_type=False)
        reader.parse_punctuation("=")
        return name, reader.operand()

    pairs = reader.parse_comma_separated_list(reader.Delimiter.PAREN, assignment)
    return [name for name, _ in pairs], [value for _, value in pairs]


def _carried(reader: Reader) -> tuple[list[Parser.UnresolvedArgument], list[SSAValue]]:
    """Read ``(%a = %b, …) -> (T, …)`` and return the names and the first values."""
    names, values = _assignments(reader)
    if reader.parse_optional_punctuation("->"):
        at = reader.pos
        bracket = reader.parse_optional_punctuation("(")
        types = [] if reader.parse_optional_punctuation(")") else reader.types()
        if bracket and types:
            reader.parse_punctuation(")")
        if len(types) != len(values):
            raise Fault(at, f"{counted(len(types), 'type')} for {counted(len(values), 'carried value')}")
        reader.agree(values, types, at)
    return names, values


class _While(scf.WhileOp):
    """``scf.while`` that may lack its parentheses where nothing is carried."""

    @classmethod
    def parse(cls, parser: Parser) -> scf.WhileOp:  # type: ignore[override]  # gives the plain operation
        """Read carried values, condition and body."""
        reader = cast(Reader, parser)
        names, carried = _assignments(reader) if reader.stands_before(MLIRTokenKind.L_PAREN) else ([], [])
        reader.parse_punctuation(":")
        at = reader.pos
        types = reader.parse_function_type()
        inputs = types.inputs.data
        if len(inputs) != len(carried):
            raise Fault(at, f"{counted(len(inputs), 'type')} for {counted(len(carried), 'carried value')}")
        reader.agree(carried, inputs, at)
        before = reader.parse_region([n.resolve(type_) for n, type_ in zip(names, inputs, strict=True)])
        reader.parse_characters("do")
        after = reader.parse_region()
        made = scf.WhileOp(carried, types.outputs.data, before, after)
        if (attributes := reader.parse_optional_attr_dict_with_keyword()) is not None:
            made.attributes |= attributes.data
        return made


_OWN: Mapping[str, type[Operation]] = {"scf.for": _For, "scf.while": _While}


class _PtoParser(Reader):
    """Finds operations by name, and remembers where each starts and what values are called."""

    def __init__(self, text: str) -> None:
        super().__init__(context(lenient=True), text)
        self.names: dict[SSAValue, str] = {}

    def parse_operation(self) -> Operation:
        """Read an operation and remember its place."""
        start = self.pos
        if len(self.starts) >= LIMITS["operations"]:
            raise Fault(start, f"the text has more than {LIMITS['operations']} operations")
        try:
            made = super().parse_operation()
        except VerifyException as error:
            raise Fault(start, _message(str(error))) from None
        self.starts[made] = start
        return made

    def _get_op_by_name(self, name: str) -> type[Operation]:
        if name in _OWN:
            return _OWN[name]
        ours = name.startswith("pto.")
        found = operation(name) or generic_operation(name) if ours else None
        known = found or _KNOWN.get_optional_op(name, dialect_stack=self._parser_state.dialect_stack)
        known = known or operation(name)
        if known is None:
            at = self.lexer.input.content.rfind(name, 0, self.pos)
            raise Fault(at, f"{name[:80]} is no operation of a dialect that is read here", _hint(name))
        return known

    def _register_ssa_definition(self, name: str, values: Sequence[SSAValue], span: Span) -> None:
        if name in self.ssa_values:
            raise Fault(span.start, f"%{name} is already defined")
        super()._register_ssa_definition(name, values, span)
        for number, value in enumerate(values):
            self.names[value] = name if len(values) == 1 else f"{name}_{number}"


_KNOWN = context(lenient=False)


def _hint(name: str) -> str:
    return closest(name, OPERATIONS) or "the dialects are arith, builtin, func, pto and scf"


def parse(text: str, file: str = "<text>", *, manual: bool = False) -> Module:
    """Read a `.pto` program.

    Parameters
    ----------
    text
        MLIR text with the `pto` dialect, in any of its spellings.
    file
        Name of the text in messages.
    manual
        Honour comment lines ``# pto.tassign %name, @tile(0x1000)`` as the placement of tiles.

    Returns
    -------
    Module
        The program in normal form; see `lanesort.pto.program`.

    Raises
    ------
    ProgramError
        If the text is not such a program, or exceeds the bounds on size and depth; the
        message names file, line and column and quotes the line.
    ArgumentTypeError
        If `text` is not a string.

    Examples
    --------
    >>> module = parse('''
    ... func.func @sort(%src: !pto.tile<1x32xf32>, %idx: !pto.tile<1x32xui32>) {
    ...   %dst = pto.tsort32 %src, %idx
    ...       : (!pto.tile<1x32xf32>, !pto.tile<1x32xui32>) -> !pto.tile<1x64xf32>
    ...   return
    ... }
    ... ''')
    >>> [step.op for step in module.functions[0].body.steps]
    ['alloc_tile', 'tsort32', 'func.return']
    """
    if not isinstance(text, str):
        raise ArgumentTypeError(f"text is {type(text).__name__}; a program is a str")
    source = Source(text[: LIMITS["characters"]], file)
    if len(text) > LIMITS["characters"]:
        most = LIMITS["characters"]
        raise source.error(0, f"the text has {len(text)} characters; at most {most} are read")
    try:
        program, placements = without_comments(text)
        if not _COMMENT.sub("", program).strip():
            raise source.error(0, "the text is empty: there is no function in it")
        parser, module = _parsed(program, source)
        made = lowered(module, parser.starts, parser.names, source, placements if manual else ())
        verify(made, source)
    except Fault as fault:
        raise source.error(fault.offset, fault.text, fault.hint) from None
    except RecursionError:
        raise source.error(0, "the text is nested too deeply") from None
    return made


def _parsed(program: str, source: Source) -> tuple[_PtoParser, ModuleOp]:
    parser: _PtoParser | None = None
    try:
        parser = _PtoParser(program)
        module = parser.parse_module()
        _verify_operations(module, parser)
    except (Fault, RecursionError):
        raise
    except ParseError as error:
        raise source.error(error.span.start, _message(error.msg)) from None
    except VerifyException as error:
        raise source.error(parser.pos if parser else 0, _message(str(error))) from None
    except _BROKEN_OFF as error:
        where = parser.pos if parser else 0
        raise source.error(where, f"this can't be read: {_message(str(error))}") from error
    return parser, module


_BROKEN_OFF = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    DiagnosticException,
    InvalidIRException,
    LookupError,
    NotImplementedError,
    PyRDLError,
    TypeError,
    ValueError,
)
"""What xDSL answers some broken texts with. Not all exceptions: one of a signal handler goes its way."""

_COMMENT = re.compile(r"//[^\n]*")
_LONGEST_MESSAGE = 300


def _message(text: str) -> str:
    """Return xDSL's message as ours are: first line only, small first letter, not endless."""
    line = text.strip().split("\n")[0].strip().rstrip(".!")[:_LONGEST_MESSAGE]
    lower = line[:1].lower() + line[1:] if line[1:2].islower() else line
    return lower or "the text is malformed"


def _verify_operations(module: ModuleOp, parser: _PtoParser) -> None:
    seen: set[str] = set()
    for inner in module.body.ops:
        if isinstance(inner, func.FuncOp) and inner.sym_name.data in seen:
            raise Fault(parser.starts.get(inner, 0), f"two functions are called @{inner.sym_name.data}")
        seen |= {inner.sym_name.data} if isinstance(inner, func.FuncOp) else set()
    try:
        module.verify()
    except VerifyException:
        for inner in module.walk():
            try:
                inner.verify(verify_nested_ops=False)
            except VerifyException as error:
                message = str(error).strip().split("\n")[0]
                raise Fault(parser.starts.get(inner, 0), f"{inner.name}: {_message(message)}") from None
        raise
