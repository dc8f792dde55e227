"""The targets of PTO programs: limits and defaults as data.

``a2a3`` is Atlas A2/A3, ``a5`` is Ascend 950PR/950DT, ``cpu`` the public CPU simulator
(its rules for ties, NaN and exhaustion, the documented placement of pairs), ``kirin…``
the Kirin cores.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from lanesort.errors import ArgumentValueError
from lanesort.evidence import Choices, fact
from lanesort.pto.operand import round_up

__all__ = ["DEFAULT_TARGET", "TARGETS", "Target", "availability", "find_target", "program_target"]

DEFAULT_TARGET = "a2a3"
"""Target of a program that names none."""

KIB = 1024


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """What one kind of core allows and does.

    Attributes
    ----------
    name, title
        Name in programs and calls, and what it stands for.
    ub_bytes
        Size of the unified buffer; None means that it is not limited.
    sort_dtypes, merge_dtypes
        Element types of TSORT32 and TMRGSORT, by NumPy name.
    small_row_limit, small_row_unit
        Longest row that the four-operand TSORT32 copies into tmp as a whole (path A).
    rounds_row_strides
        Whether the four-operand TSORT32 rounds row strides up to 32 bytes.
    needs_barrier
        Whether a barrier of pipe V must stand behind each sort.
    repeat_limit
        Most blocks, or groups of blocks, that one call takes; None means no limit.
    list_pairs_limit
        Most pairs of one list of a merge; None means no limit.
    simulated
        True for the CPU simulator: tmp is not used, pads are not written, and a merge stops
        where dst is full.
    choices
        Choices for unpinned behaviours that differ from the general default, by instruction.

    Examples
    --------
    >>> find_target("a5").ub_bytes
    262144
    """

    name: str
    title: str
    ub_bytes: int | None
    sort_dtypes: tuple[str, ...] = ("float32", "float16")
    merge_dtypes: tuple[str, ...] = ("float32", "float16")
    small_row_limit: int = 8160
    small_row_unit: Literal["elements", "bytes"] = "bytes"
    rounds_row_strides: bool = False
    needs_barrier: bool = False
    repeat_limit: int | None = 255
    list_pairs_limit: int | None = 4095
    simulated: bool = False
    choices: Mapping[str, Mapping[str, str]] = field(default_factory=lambda: MappingProxyType({}))

    def small_row(self, columns: int, itemsize: int) -> bool:
        """Say whether a row is copied into tmp as a whole (path A) or only its tail (path B)."""
        length = columns if self.small_row_unit == "elements" else columns * itemsize
        return length <= self.small_row_limit

    def tmp_columns(self, columns: int, itemsize: int) -> int:
        """Return the elements that TSORT32 with four operands needs in tmp."""
        if columns % 32 == 0 or self.simulated:
            return 0
        return round_up(columns, 32) if self.small_row(columns, itemsize) else 32

    def choose(self, about: str, given: Mapping[str, str] | None = None) -> Choices:
        """Return the choices for an instruction: the caller's, this target's, the defaults.

        Parameters
        ----------
        about
            ``pto.tsort32`` or ``pto.tmrgsort``.
        given
            Choices by id; ids of other PTO instructions are accepted and left aside.

        Raises
        ------
        ArgumentValueError
            For an id that no PTO instruction has, or a choice that is not on offer.
        """
        asked = Choices("pto", given)
        named = set(given or ())
        own = Choices(about)
        made = dict(self.choices.get(about, {})) | {id: asked[id] for id in named if id in own}
        return Choices(about, made)


_CPU_CHOICES: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "pto.tsort32": MappingProxyType({"pto.tie-order": "index-value"}),
        "pto.tmrgsort": MappingProxyType(
            {
                "pto.nan-order": "compare-false",
                "pto.exhausted-empty": "cpu-sim",
                "pto.executed-unasked": "taken",
            }
        ),
    }
)

_HALF = ("float16",)

TARGETS: Mapping[str, Target] = MappingProxyType(
    {
        target.name: target
        for target in (
            Target("a2a3", "Atlas A2/A3", 192 * KIB, small_row_unit="elements", needs_barrier=True),
            Target("a5", "Ascend 950PR/950DT", 256 * KIB, rounds_row_strides=True),
            Target(
                "cpu",
                "PTO CPU simulator",
                None,
                sort_dtypes=("float32", "float16", "int32", "int16", "bfloat16"),
                repeat_limit=None,
                list_pairs_limit=None,
                simulated=True,
                choices=_CPU_CHOICES,
            ),
            *(
                Target(
                    name,
                    title,
                    128 * KIB,
                    sort_dtypes=_HALF,
                    merge_dtypes=_HALF,
                    small_row_limit=2040,
                    small_row_unit="elements",
                    rounds_row_strides=True,
                )
                for name, title in (
                    ("kirin9030", "Kirin 9030"),
                    ("kirin_x90", "Kirin X90"),
                    ("kirin_dev0000", "Kirin development core"),
                )
            ),
        )
    }
)
"""Every target by name."""

fact(
    "pto.target.a2a3",
    "The unified buffer of Atlas A2/A3 has 192 KiB.",
    "documented",
    "high",
    "seed 004, constraints; PTO specification",
)
fact(
    "pto.target.a5",
    "The unified buffer of Ascend 950PR/950DT has 256 KiB; the 192 KiB of seed 004 is out of date.",
    "documented",
    "high",
    "PTO specification, A5 (seed 004: PTO_UBUF_SIZE_BYTES)",
)
fact(
    "pto.target.kirin",
    "Kirin cores have a unified buffer of 128 KiB and sort half only.",
    "documented",
    "medium",
    "PTO specification, Kirin targets",
)
fact(
    "pto.target.kirin",
    "A tail row of up to 2040 elements is copied into tmp as a whole: the threshold of 8160 bytes is "
    "tested on the row as if its elements were float.",
    "observed",
    "low",
    "pto-isa, Kirin implementation of TSORT32, one released version",
)
fact(
    "pto.target.a2a3",
    "The four-operand TSORT32 copies rows of up to 8160 elements into tmp as a whole.",
    "documented",
    "high",
    "seed 002, tmp size",
)
fact(
    "pto.target.a5",
    "The four-operand TSORT32 copies rows of up to 8160 bytes into tmp as a whole.",
    "documented",
    "high",
    "seed 002, tmp size",
)
fact(
    "pto.target.a2a3",
    "A barrier of pipe V stands behind every vbitsort; A5 does not need it.",
    "documented",
    "high",
    "seed 002, platform differences",
)
fact(
    "pto.target",
    "One list of a merge has at most 4095 pairs on the hardware.",
    "documented",
    "medium",
    "AscendC documentation of MrgSort",
)


def availability(dtypes: Callable[[Target], tuple[str, ...]]) -> Mapping[str, str]:
    """Say for each target what an instruction takes there, given the dtypes that it has on one.

    Examples
    --------
    >>> availability(lambda target: target.merge_dtypes)["kirin9030"]
    'float16; UB 128 KiB (Kirin 9030)'
    """
    return {
        target.name: f"{', '.join(dtypes(target))}; UB {_size(target.ub_bytes)} ({target.title})"
        for target in TARGETS.values()
    }


def _size(ub_bytes: int | None) -> str:
    return "without limit" if ub_bytes is None else f"{ub_bytes // KIB} KiB"


def find_target(target: str | Target) -> Target:
    """Return the target of that name, or the target itself.

    Raises
    ------
    ArgumentValueError
        For an unknown name.
    """
    if isinstance(target, Target):
        return target
    if target not in TARGETS:
        raise ArgumentValueError(f"target is {target!r}; known are {', '.join(map(repr, TARGETS))}")
    return TARGETS[target]


def program_target(target: str | Target | None, named: str | None, file: str) -> Target:
    """Return the target that is asked for, else the one that a program names, else the default.

    Parameters
    ----------
    target
        What is asked for; None for the program's own.
    named
        ``pto.target_arch`` of the program.
    file
        Name of its file, for the message.

    Raises
    ------
    ArgumentValueError
        For an unknown name.

    Examples
    --------
    >>> program_target(None, "a5", "kernel.pto").name, program_target(None, None, "kernel.pto").name
    ('a5', 'a2a3')
    """
    if target is None and named is not None and named not in TARGETS:
        raise ArgumentValueError(
            f"{file}: pto.target_arch is {named!r}; known are {', '.join(map(repr, TARGETS))}: correct it, "
            "or ask for a target"
        )
    return find_target(target or named or DEFAULT_TARGET)
