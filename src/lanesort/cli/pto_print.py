"""``lanesort pto print``: a `.pto` program in one of its three forms."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from lanesort.cli.pto_file import read_program
from lanesort.pto.text.printer import Form, print_module

__all__ = ["pto_print"]


def pto_print(
    file: Path,
    /,
    *,
    form: Form = "dps",
    placements: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Print a .pto program, verified, in one spelling.

    Parameters
    ----------
    file
        The program.
    form
        dps: destinations are operands, as the public assembler reads it. ssa: destinations
        are results. manual: as ssa, with addresses in comment lines "# pto.tassign".
    placements
        Honour comment lines "# pto.tassign %name, @tile(0x1000)" of the program.
    """
    sys.stdout.write(print_module(read_program(file, manual=placements), form))
    return 0
