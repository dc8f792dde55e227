"""``lanesort neuron images``: what is known of the firmware images."""

from __future__ import annotations

import json as json_text
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Annotated, Any

from cyclopts import Parameter
from rich.console import Console
from rich.table import Table

from lanesort.cli.console import console as make_console
from lanesort.errors import ArgumentValueError
from lanesort.neuron.generation import generation as generation_of
from lanesort.neuron.image_records import RECORDS, Record
from lanesort.neuron.images import catalogue

__all__ = ["images"]

_ALWAYS = ("how", "surely", "source", "note")


def images(
    *kinds: str,
    generation: str | None = None,
    counts: Annotated[bool, Parameter(negative="")] = False,
    json: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Print the catalogue of firmware images, whole or some kinds of record.

    Parameters
    ----------
    kinds
        Kinds of record: image, table, census, bundle, correction, not_claimed and so on.
    generation
        Only records of images of this generation.
    counts
        Only how many records each section of the sources gave.
    json
        Print JSON.
    """
    unknown = [kind for kind in kinds if kind not in RECORDS]
    if unknown:
        raise ArgumentValueError(
            f"no kind of record is called {unknown[0]!r}; known are {', '.join(RECORDS)}"
        )
    console = make_console()
    if counts:
        return _print_counts(console, json)
    wanted = None if generation is None else generation_of(generation).name
    chosen = {kind: _of_generation(kind, wanted) for kind in kinds or RECORDS}
    if json:
        plain = {kind: [_plain(record) for record in records] for kind, records in chosen.items()}
        if not kinds:
            plain["container"] = [_plain(catalogue().container)]
        console.print(json_text.dumps(plain, indent=2, ensure_ascii=False))
        return 0
    if not kinds:
        _print_records(console, "container", [catalogue().container])
    for kind, records in chosen.items():
        if records:
            _print_records(console, kind, records)
    return 0


def _of_generation(kind: str, name: str | None) -> list[Record]:
    records = catalogue().records[kind]
    return [record for record in records if name is None or _generation(record) == name]


def _generation(record: Record) -> str:
    own = getattr(record, "generation", "")
    ids = [*getattr(record, "images", ()), *filter(None, [getattr(record, "image", "")])]
    return own or (catalogue().image(ids[0]).generation if ids else "")


def _print_counts(console: Console, json: bool) -> int:
    sections = catalogue().by_section()
    if json:
        console.print(json_text.dumps(sections, indent=2, ensure_ascii=False))
        return 0
    table = Table("section", "records", title="Records by section of the sources")
    for section, count in sections.items():
        table.add_row(section, str(count))
    table.add_row("all", str(sum(sections.values())))
    console.print(table)
    return 0


def _print_records(console: Console, kind: str, records: Iterable[Record]) -> None:
    rows = list(records)
    own = [field.name for field in fields(rows[0]) if field.name not in _ALWAYS]
    shown = [name for name in own if any(_text(getattr(row, name)) for row in rows)]
    console.print(f"\n{kind}", style="bold")
    for row in rows:
        parts = [f"{name}={_text(getattr(row, name))}" for name in shown if _text(getattr(row, name))]
        remark = f" — {row.note}" if row.note else ""
        text = "  ".join(parts)
        console.print(f"  {text}{remark}  ({row.how}, {row.surely}; {row.source})")


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, Mapping):
        return " ".join(f"{name}@{offset}" for name, offset in value.items())
    if isinstance(value, tuple):
        return ", ".join(map(_text, value))
    return f"{value:#x}" if isinstance(value, int) and value > 255 else str(value)


def _plain(record: Record) -> dict[str, Any]:
    values = {field.name: getattr(record, field.name) for field in fields(record)}
    return {name: dict(value) if isinstance(value, Mapping) else value for name, value in values.items()}
