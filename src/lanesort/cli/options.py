"""Options that several commands share."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter
from rich.progress import Progress

from lanesort.cli.console import console as make_console
from lanesort.errors import ArgumentValueError

__all__ = ["External", "Flag", "Order", "Output", "Reading", "parsed_bytes", "progress_of"]

Flag = Annotated[bool, Parameter(negative="")]
Output = Annotated[Path, Parameter(name=["-o", "--output"])]


@Parameter(name="*")
@dataclass(frozen=True)
class Order:
    """How values compare.

    Attributes
    ----------
    descending
        Largest first.
    nan
        Where NaN goes.
    tie
        Which of equal values comes first: the lower or the higher position.
    """

    descending: Flag = False
    nan: Literal["last", "largest", "sign-magnitude", "total"] = "last"
    tie: Literal["low", "high"] = "low"


@Parameter(name="*")
@dataclass(frozen=True)
class Reading:
    """What to read from a file.

    Attributes
    ----------
    name
        Array in the file, where it holds several.
    dtype
        Dtype of an .npy file whose dtype NumPy lost, for example bfloat16.
    """

    name: str | None = None
    dtype: str | None = None


@Parameter(name="*")
@dataclass(frozen=True)
class External:
    """How to go about a file larger than memory.

    Attributes
    ----------
    memory
        Memory to use, for example 2GiB: the file is read in pieces, .npy to .npy.
    temporary
        Folder for the sorted runs; that of the output unless given.
    """

    memory: str | None = None
    temporary: Path | None = None

    def in_pieces(self, **meaningless: object) -> bool:
        """Whether a file is read in pieces; options that then have no meaning are refused.

        Parameters
        ----------
        meaningless
            By name, what was given for options that reading in pieces does not have.
        """
        if self.memory is None:
            if self.temporary is not None:
                raise ArgumentValueError("--temporary is a folder for the runs of --memory; give both")
            return False
        for name, value in meaningless.items():
            if value not in (None, False):
                option = name.replace("_", "-").replace("tie-high", "tie high")
                raise ArgumentValueError(f"--{option} has no meaning with --memory; leave one of them out")
        return True

    @property
    def bytes(self) -> int:
        """The memory to use."""
        return parsed_bytes(self.memory or "")


_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "ki": 2**10, "mi": 2**20, "gi": 2**30}


def parsed_bytes(text: str) -> int:
    """Read a number of bytes: 500MB, 2GiB, 1048576.

    Examples
    --------
    >>> parsed_bytes("2GiB")
    2147483648
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmg]i?)?b?", text.strip(), re.IGNORECASE)
    if found is None:
        raise ArgumentValueError(f"--memory is {text!r}; give bytes as 500MB, 2GiB or 1048576")
    return int(float(found[1]) * _UNITS[(found[2] or "").lower()])


@contextmanager
def progress_of(title: str) -> Iterator[Callable[[int, int], Any]]:
    """Show a progress bar on a terminal's standard error, and give what moves it."""
    console = make_console(errors=True, soft_wrap=False)
    if not console.is_terminal:
        yield lambda done, total: None
        return
    with Progress(console=console, transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, total=total, completed=done)
