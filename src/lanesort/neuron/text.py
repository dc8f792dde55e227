"""Text for words: assembling one line or a program, and a labelled dump."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import IntEnum
from typing import Any

from lanesort.errors import ArgumentTypeError, Place, ProgramError
from lanesort.neuron.descriptor import Tensor, UpdateMode, WaitMode
from lanesort.neuron.dtype import AluOp, Dtype
from lanesort.neuron.generation import Generation, generation
from lanesort.neuron.immediate import ImmSource
from lanesort.neuron.instruction import Instruction
from lanesort.neuron.opcodes import INSTRUCTIONS, AnyWord
from lanesort.neuron.operand import show_address
from lanesort.neuron.word import Cell, layout_of

__all__ = ["assemble", "assemble_program", "dump"]

_MNEMONICS = {cls.MNEMONIC: cls for cls in INSTRUCTIONS.values()}

_ENUMS: Mapping[str, type[IntEnum]] = {
    "in_dtype": Dtype,
    "out_dtype": Dtype,
    "comparison": AluOp,
    "index_offset_src": ImmSource,
    "padding_val_src": ImmSource,
    "wait_mode": WaitMode,
    "update_mode": UpdateMode,
}


def assemble(text: str, on: str | Generation = "cayman") -> AnyWord:
    """Parse one line of assembly.

    Parameters
    ----------
    text
        For example ``sort.fp32.desc.stable ch=1 src=[p0+0x0, 2048:1] dst=[p0+0x2000, 2:2048 2048:1]``.
    on
        Generation, whose partition stride turns ``p2+0x40`` into an address.

    Raises
    ------
    ProgramError
        With line, column and what was expected.
    ArgumentTypeError
        If `text` is no string.

    Examples
    --------
    >>> assemble("sort.bf16.asc.stable ch=4 src=[p0+0x0, 8:1] dst=[p0+0x40, 2:1 8:2]").num_active_channels
    4
    """
    return _line(_required(text).strip(), generation(on), Place("<text>", 1, 1))


def assemble_program(text: str, on: str | Generation = "cayman", file: str = "<text>") -> tuple[AnyWord, ...]:
    """Parse a program: a word on each line; ``#`` starts a comment."""
    return tuple(_lines(_required(text), generation(on), file))


def _required(text: object) -> str:
    if not isinstance(text, str):
        raise ArgumentTypeError(f"assembly is {type(text).__name__}; it is a str")
    return text


def _lines(text: str, on: Generation, file: str) -> Iterator[AnyWord]:
    for number, line in enumerate(text.splitlines(), 1):
        code = line.partition("#")[0].strip()
        if code:
            yield _line(code, on, Place(file, number, 1 + len(line) - len(line.lstrip())))


def _line(text: str, on: Generation, place: Place) -> AnyWord:
    mnemonic = text.split(None, 1)[0].split(".")[0] if text else ""
    cls = _MNEMONICS.get(mnemonic)
    if cls is None:
        raise ProgramError(
            f"no instruction {mnemonic[:40]!r}; known are {', '.join(_MNEMONICS)}", place, text[:200]
        )
    return cls.raw(**cls.SYNTAX.read(text, layout_of(cls), on, place))


def dump(word: Instruction, on: str | Generation = "cayman") -> str:
    """Return the bytes of a word with a label for every field.

    Examples
    --------
    >>> from lanesort import neuron
    >>> word = neuron.Sort(src=neuron.Tensor.at(0, 0, 8), dst=neuron.Tensor.at(0, 64, (2, 8)))
    >>> print(neuron.dump(word).splitlines()[0])
    0        96                       header.opcode           150
    """
    data, g = word.encode(), generation(on)
    return "\n".join(_dump_line(cell, data, word, g) for cell in layout_of(type(word)).cells)


def _dump_line(cell: Cell, data: bytes, word: Instruction, on: Generation) -> str:
    shown = data[cell.byte : cell.byte + max(1, cell.bits // 8)]
    text = shown.hex(" ") if len(shown) <= 8 else f"{shown[:7].hex(' ')} …"
    value = _attribute(word, cell.name)
    return f"{cell.range:<8} {text:<24} {cell.name:<23} {_meaning(cell.name, value, on)}".rstrip()


def _attribute(word: Any, dotted: str) -> Any:
    for name in dotted.split("."):
        word = getattr(word, name)
    return word


def _meaning(dotted: str, value: Any, on: Generation) -> str:
    name = dotted.rpartition(".")[2]
    if name == "start":
        return f"{value:#x}  {show_address(value, on)}"
    if isinstance(value, bytes):
        return "zero" if not any(value) else "not zero"
    enum = _ENUMS.get(name)
    if enum is not None:
        known = {int(m): m.name for m in enum}
        return f"{value:#04x}  {known.get(value, 'unknown')}"
    if isinstance(value, Tensor | tuple):
        return " ".join(map(str, value)) if isinstance(value, tuple) else str(value)
    return str(value)
