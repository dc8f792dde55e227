"""``lanesort conformance``: what sort, argsort and top-k of each library do."""

from __future__ import annotations

import json as json_text
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from rich.table import Table
from rich.text import Text

from lanesort.cli.console import console as make_console
from lanesort.cli.options import Flag
from lanesort.conformance import Report, Subject, as_markdown, installed, known, rows, run
from lanesort.errors import ArgumentValueError, MissingExtraError

__all__ = ["conformance"]


def conformance(
    *names: str,
    markdown: Flag = False,
    json: Flag = False,
    output: Annotated[Path | None, Parameter(name=["-o", "--output"])] = None,
) -> int:
    """Print what libraries do on ties, NaN, zeros, sizes, layouts and dtypes.

    Parameters
    ----------
    names
        Libraries (lanesort, numpy, torch, jax, onnxruntime), or module:object of a
        lanesort.conformance.Subject of your own. Without one, all that are installed.
    markdown
        As a Markdown table.
    json
        As JSON.
    output
        Write Markdown, or JSON, to this file.
    """
    reports = [run(_subject(name)) for name in names or installed()]
    if json:
        text = json_text.dumps({r.title: _plain(r) for r in reports}, indent=2, ensure_ascii=False) + "\n"
    else:
        text = as_markdown(reports)
    if output is not None:
        output.write_text(text, encoding="utf-8")
    elif markdown or json:
        sys.stdout.write(text)
    else:
        _print(reports)
    return 0


def _subject(name: str) -> Subject:
    module, colon, attribute = name.partition(":")
    if not colon:
        return known(name)
    try:
        found = getattr(import_module(module), attribute)
    except ImportError as error:
        raise MissingExtraError(f"{name}: {module} can't be imported: {error}") from error
    except AttributeError as error:
        raise ArgumentValueError(f"{name}: {error}") from error
    if not isinstance(found, Subject):
        raise ArgumentValueError(
            f"{name} is a {type(found).__name__}; it has to be a lanesort.conformance.Subject"
        )
    return found


def _plain(report: Report) -> dict[str, dict[str, str | bool | None]]:
    return {a.question.id: {"found": a.found, "conforms": a.conforms} for a in report.answers}


def _print(reports: Sequence[Report]) -> None:
    table = Table("", "verb", "question", *(report.title for report in reports), box=None, pad_edge=False)
    topic = ""
    for row in rows(reports):
        cells = [Text(a.found, style="red" if a.conforms is False else "") for a in row.answers]
        table.add_row(row.topic if row.topic != topic else "", row.verb, row.text, *cells)
        topic = row.topic
    console = make_console(soft_wrap=False)
    console.print(table)
    for report in reports:
        departures = report.departures
        kind = "answer that no" if len(departures) == 1 else "answers that no"
        console.print(f"{report.title}: {len(departures)} {kind} policy of lanesort has")
