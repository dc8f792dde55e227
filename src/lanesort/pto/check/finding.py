"""What `pto check` can find: one table, read by the checks, the command and the documentation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from lanesort.errors import Place
from lanesort.pto.check.edit import Edit

__all__ = ["KINDS", "Finding", "Kind", "Line", "Severity", "kinds_table"]

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of finding.

    Attributes
    ----------
    id
        Name by which reports and the documentation refer to it.
    severity
        ``error``: the program does not do what it says. ``warning``: it does so only by luck,
        or not everywhere. ``note``: worth knowing.
    statement
        What is wrong, in one sentence.
    hint
        What to do.
    fixed
        Whether ``--fix`` mends it.
    """

    id: str
    severity: Severity
    statement: str
    hint: str
    fixed: bool = False


_TABLE = (
    Kind(
        "ub-overflow",
        "error",
        "A tile, or the tiles of one instruction together, reach beyond the unified buffer of the target.",
        "make tiles smaller, let tiles whose lives don't overlap share bytes, or work in parts",
    ),
    Kind(
        "operand-overlap",
        "error",
        "Operands of one instruction share bytes where they may not.",
        "give them addresses apart; element-wise operations may work exactly in place, sorts may not",
    ),
    Kind(
        "misaligned",
        "error",
        "A tile does not start at a multiple of 32 bytes.",
        "round the address up to a multiple of 32",
    ),
    Kind(
        "read-before-written",
        "error",
        "An instruction reads bytes of the unified buffer that nothing has written.",
        "load or fill the tile first, or narrow its valid size to what was written",
    ),
    Kind(
        "stale-tail",
        "warning",
        "Bytes behind the last pair that a merge is sure to write are read as if they were its result.",
        "narrow the valid size of dst to the executed counts (pto.get_vms4_sr), or to the sum of the lists",
    ),
    Kind(
        "columns-too-small",
        "error",
        "A tile has fewer physical columns than the instruction touches.",
        "make the tile wider; its valid size can stay as it is",
    ),
    Kind(
        "tmp-too-small",
        "error",
        "The temporary tile has fewer columns than the instruction needs on the target.",
        "make tmp as wide as the message says (for merges it is what GETMRGSORTTMPSIZE gives)",
        fixed=True,
    ),
    Kind(
        "tail-dropped",
        "error",
        "A sort without tmp gets a row that is not whole blocks of 32; the hardware drops the rest silently.",
        "give tmp as the last operand of ins(…)",
        fixed=True,
    ),
    Kind(
        "tmp-narrower-than-dst",
        "warning",
        "The assembler wants a tmp at least as wide as dst, though the instruction does not need it.",
        "make tmp as wide as dst",
        fixed=True,
    ),
    Kind(
        "rule-broken",
        "error",
        "An instruction breaks a validity rule of the target.",
        "the message names the rule and the values; docs of the instruction have the table of rules",
    ),
    Kind(
        "unsorted-run",
        "error",
        "A merge takes blocks or lists to be sorted that are longer than what was sorted before.",
        "merge the runs that are there first: blockLen is the length of a sorted run, in tile elements",
    ),
    Kind(
        "unknown-operation",
        "warning",
        "An operation is not known here, and its name is near to one that is.",
        "correct the name; of what an unknown operation does nothing is checked",
    ),
    Kind(
        "cannot-run",
        "error",
        "A step can't be executed.",
        "the message says what it refuses",
    ),
    Kind(
        "unused-tile",
        "warning",
        "A tile is allocated and no instruction uses it.",
        "remove it: it takes room in the unified buffer",
    ),
    Kind(
        "missing-flag",
        "error",
        "An instruction touches bytes that another pipe reads or writes, and nothing makes it wait.",
        "add the two lines of the message",
        fixed=True,
    ),
    Kind(
        "flag-never-waited",
        "error",
        "A flag is set and nothing waits for it.",
        "wait for it, or remove the line; a flag left over is met by the next kernel",
        fixed=True,
    ),
    Kind(
        "flag-never-set",
        "error",
        "A pipe waits for a flag that nothing has set: it waits for ever.",
        "set the flag on the other pipe first",
        fixed=True,
    ),
    Kind(
        "missing-barrier",
        "error",
        "A sort depends on a sort before it, and no barrier of pipe V stands between them (A2/A3).",
        "add pto.barrier #pto.pipe<PIPE_V> between them",
        fixed=True,
    ),
    Kind(
        "known-fault",
        "warning",
        "A released implementation computes something else for this size.",
        "the message says which, why, and how to avoid it",
    ),
    Kind(
        "portability-ub",
        "note",
        "The tiles fit one target's unified buffer and not the other's.",
        "needed only if the kernel is to run on both",
    ),
    Kind(
        "portability-path",
        "note",
        "A tail row goes through tmp as a whole on one target and only by its last block on the other.",
        "give tmp the larger of the two sizes",
    ),
    Kind(
        "portability-barrier",
        "note",
        "Sorts depend on each other without a barrier, which A5 does not need and A2/A3 does.",
        "add pto.barrier #pto.pipe<PIPE_V>; on A5 it does no harm",
    ),
)

KINDS: Mapping[str, Kind] = MappingProxyType({kind.id: kind for kind in _TABLE})
"""Every kind of finding by id, in the order of the documentation."""


class Line(NamedTuple):
    """A line to add to the program, and where: ``behind line 31``."""

    where: str
    text: str


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that a program does wrong, at a place.

    Attributes
    ----------
    id
        A key of `KINDS`.
    text
        One line with the actual names and values.
    place
        Where the instruction stands.
    function
        Name of the function.
    targets
        Targets on which it was found.
    other
        Place of the second instruction, if there are two.
    add
        Lines of text that mend it.
    edits
        What ``--fix`` does about it; not compared.
    """

    id: str
    text: str
    place: Place | None
    function: str
    targets: tuple[str, ...] = ()
    other: Place | None = None
    add: tuple[Line, ...] = ()
    edits: tuple[Edit, ...] = field(default=(), compare=False, repr=False)

    @property
    def kind(self) -> Kind:
        """What the finding is an example of."""
        return KINDS[self.id]

    @property
    def severity(self) -> Severity:
        """``error``, ``warning`` or ``note``."""
        return self.kind.severity

    def __str__(self) -> str:
        where = f"{self.place}: " if self.place else ""
        return f"{where}{self.severity}[{self.id}]: {self.text}"

    def document(self) -> dict[str, Any]:
        """Return the finding as plain data for JSON."""
        return {
            "id": self.id,
            "severity": self.severity,
            "text": self.text,
            "function": self.function,
            "place": _place(self.place),
            "other": _place(self.other),
            "targets": list(self.targets),
            "hint": self.kind.hint,
            "add": [line._asdict() for line in self.add],
            "fixed": self.kind.fixed,
        }


def _place(place: Place | None) -> dict[str, Any] | None:
    return None if place is None else {"file": place.file, "line": place.line, "column": place.column}


def kinds_table(kinds: Iterable[Kind] = _TABLE) -> str:
    """Return the table of the documentation as Markdown.

    Examples
    --------
    >>> print(kinds_table([KINDS["misaligned"]]).splitlines()[2])
    | `misaligned` | error | A tile does not start at a multiple of 32 bytes. | – |
    """
    rows = [f"| `{k.id}` | {k.severity} | {k.statement} | {'yes' if k.fixed else '–'} |" for k in kinds]
    return "\n".join(["| id | severity | what is wrong | `--fix` |", "|---|---|---|---|", *rows, ""])
