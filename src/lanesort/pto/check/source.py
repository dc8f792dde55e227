"""A mended program as text: the author's own lines, with those that were added.

Comments and spellings stay. Where that is not possible, because a tile has another type or
the lines can't be told apart, the program is printed anew.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from lanesort.errors import ProgramError
from lanesort.pto.operations import SYNCHRONISATION
from lanesort.pto.program import Block, Module, Step
from lanesort.pto.text.parser import parse
from lanesort.pto.text.printer import print_module

__all__ = ["mended_text"]


def mended_text(original: Module, mended: Module) -> str:
    """Return the text of a mended program.

    Parameters
    ----------
    original
        The program as it was parsed, with its source.
    mended
        What `lanesort.pto.check.fix` made of it.

    Examples
    --------
    >>> from lanesort.pto.check import fix
    >>> text = '''func.func @f() {
    ...   // Nobody waits.
    ...   pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
    ...   return
    ... }'''
    >>> module = parse(text)
    >>> print(mended_text(module, fix(module).module))
    func.func @f() {
      // Nobody waits.
      return
    }
    """
    printed = print_module(mended)
    lines = original.source.split("\n")
    added = _Added(lines)
    for function in mended.functions:
        added.block(function.body or Block(), len(lines) + 1)
    if not added.complete or not original.source:
        return printed
    kept = {step.place.line for step in _all(mended) if step.place}
    removed = {
        step.place.line
        for step in _all(original)
        if step.place and step.op in SYNCHRONISATION and step.place.line not in kept
    }
    text = "\n".join(_merged(lines, added.before, removed))
    try:
        same = parse(text) == parse(printed)
    except ProgramError:
        same = False
    return text if same else printed


def _merged(lines: Sequence[str], before: dict[int, list[str]], removed: set[int]) -> Iterator[str]:
    for number, line in enumerate(lines, 1):
        yield from before.get(number, ())
        if number not in removed:
            yield line


@dataclass(slots=True)
class _Added:
    """New lines, by the number of the line that they stand before.

    Attributes
    ----------
    lines
        The lines that are there.
    before
        New ones, indented.
    complete
        False if one of them has no place.
    """

    lines: Sequence[str]
    before: dict[int, list[str]] = field(default_factory=lambda: defaultdict(list))
    complete: bool = True

    def block(self, block: Block, end: int) -> None:
        """Place the new steps of a block whose closing brace stands before line `end`."""
        waiting: list[str] = []
        last = 0
        for index, step in enumerate(block.steps):
            if step.place is None and step.op in SYNCHRONISATION:
                waiting.append(_text(step))
            elif step.place is not None and step.place.line >= last:
                # Where the text leaves a terminator out, its place is the beginning of the text.
                last = step.place.line
                self._put(last, waiting, last)
                waiting = []
            self._regions(step, _first_line(block.steps[index + 1 :], last, end))
        if waiting:
            self._put(self._brace(last, end), waiting, last)

    def _regions(self, step: Step, end: int) -> None:
        for index, region in enumerate(step.regions):
            behind = [inner for later in step.regions[index + 1 :] for inner in later.steps]
            self.block(region, _first_line(behind, step.place.line if step.place else 0, end))

    def _put(self, line: int, texts: Sequence[str], like: int) -> None:
        if not texts:
            return
        if not 0 < line <= len(self.lines) or not 0 < like <= len(self.lines):
            self.complete = False
            return
        model = self.lines[like - 1]
        indent = model[: len(model) - len(model.lstrip())]
        self.before[line] += [indent + text for text in texts]

    def _brace(self, start: int, end: int) -> int:
        """Return the line of the first closing brace behind line `start`, 0 if there is none."""
        span = range(start + 1, min(end, len(self.lines) + 1))
        return next((n for n in span if self.lines[n - 1].strip().startswith("}")), 0)


def _first_line(steps: Sequence[Step], behind: int, otherwise: int) -> int:
    """Return the line of the first step that stands behind a line."""
    lines = (step.place.line for step in steps if step.place is not None)
    return next((line for line in lines if line > behind), otherwise)


def _text(step: Step) -> str:
    """Write a flag or a barrier as a line."""
    if "pipe" in step.attributes:
        return f"pto.barrier #pto.pipe<{step.attributes['pipe']}>"
    words = ", ".join(f'"{step.attributes[name]}"' for name in ("src", "dst", "event"))
    return f"pto.{step.op}[{words}]"


def _all(module: Module) -> Iterator[Step]:
    waiting = [function.body for function in module.functions if function.body is not None]
    while waiting:
        block = waiting.pop()
        yield from block.steps
        waiting += [region for step in block.steps for region in step.regions]
