"""``lanesort fit``: which choices agree with what a device gave."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from lanesort.cli.console import console as make_console
from lanesort.probe.fit import fit_file, write_profile

__all__ = ["fit"]


def fit(
    results: Path,
    /,
    *,
    output: Annotated[Path | None, Parameter(name=["-o", "--output"])] = None,
    json: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Say for every result which choices give it. Exit code 1 if one of them fits none.

    Parameters
    ----------
    results
        An .npz file with an array for each probe that ran, named by its id.
    output
        Write the decided choices as a profile for ``choices=``.
    json
        Print JSON.
    """
    console = make_console()
    found = fit_file(results)
    if json:
        agree = {one.id: [outcome.choice for outcome in one.consistent] for one in found}
        console.print(json_text.dumps(agree, indent=2, ensure_ascii=False))
    else:
        for one in found:
            console.print(str(one))
    if output is not None:
        write_profile(found, output)
    return 0 if all(one.consistent for one in found) else 1
