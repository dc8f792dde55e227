"""The catalogue of firmware images: read, checked against its schema, and asked.

``images.toml`` holds what two readings of the shipped firmware and headers state: data, not
behaviour. The schema is `lanesort.neuron.image_records`.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any, TypeVar, cast, get_args, get_type_hints

from lanesort.errors import ArgumentValueError, FileError
from lanesort.evidence import How, Surety
from lanesort.neuron.generation import GENERATIONS
from lanesort.neuron.image_records import RECORDS, Container, Image, Record

__all__ = ["SCHEMA", "Catalogue", "catalogue", "parse_catalogue"]

SCHEMA = 1
_DEFAULTED = {"how", "surely"}
_SOURCE = re.compile(r"seed \d{3} §\d+[a-z]?(\.\d+)?")
Kind = TypeVar("Kind", bound=Record)


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Everything that the file holds.

    Attributes
    ----------
    container
        The library that the images are in.
    records
        All other records by kind, as in `RECORDS`.
    """

    container: Container
    records: Mapping[str, tuple[Record, ...]]

    def of(self, kind: type[Kind]) -> tuple[Kind, ...]:
        """Return the records of a class, in the file's order.

        Examples
        --------
        >>> from lanesort.neuron.image_records import KernelTable
        >>> [table.id for table in catalogue().of(KernelTable)][:2]
        ['cayman MAIN', 'cayman CODEC']
        """
        name = next(name for name, made in RECORDS.items() if made is kind)
        return cast("tuple[Kind, ...]", self.records[name])

    def image(self, id: str) -> Image:
        """Return an image by its id.

        Raises
        ------
        ArgumentValueError
            For an unknown id.
        """
        images = {image.id: image for image in self.of(Image)}
        if id not in images:
            raise ArgumentValueError(f"no image {id!r} in the catalogue; known are {', '.join(images)}")
        return images[id]

    def by_section(self) -> Mapping[str, int]:
        """Count the records by the section of the source that they come from."""
        everything = [self.container, *(r for records in self.records.values() for r in records)]
        return dict(sorted(Counter(record.source for record in everything).items()))

    def file_offset(self, address: int) -> int:
        """Turn an address inside an embedded image into an offset in its file, in bytes.

        Examples
        --------
        >>> hex(catalogue().file_offset(0x010014E0))
        '0x15e0'
        """
        rule = next(r for r in self.records["address_rule"] if getattr(r, "base", None) is not None)
        base, bias = cast("Any", rule).base, cast("Any", rule).bias
        if address < base:
            raise ArgumentValueError(f"address {address:#x} lies below the images' base {base:#x}")
        return int(address - base + bias)


@cache
def catalogue() -> Catalogue:
    """Read the catalogue that comes with the package.

    Examples
    --------
    >>> catalogue().container.size
    10276288
    """
    text = (resources.files("lanesort.neuron") / "images.toml").read_text("utf-8")
    return parse_catalogue(text, "images.toml")


def parse_catalogue(text: str, name: str) -> Catalogue:
    """Parse a catalogue and check it against the schema.

    Parameters
    ----------
    text
        TOML.
    name
        What messages call the file.

    Raises
    ------
    FileError
        If the text is not TOML or breaks the schema; the message has all faults.
    """
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise FileError(f"{name}: not TOML: {error}") from error
    reader = _Reader()
    found = reader.read(data)
    if reader.faults or found is None:
        raise FileError("\n  ".join([f"{name}: {len(reader.faults)} faults", *reader.faults]))
    return found


class _Reader:
    """Turns tables into records and collects every fault with its place."""

    def __init__(self) -> None:
        self.faults: list[str] = []
        self.default: Mapping[str, Any] = {}

    def read(self, data: Mapping[str, Any]) -> Catalogue | None:
        if data.get("schema") != SCHEMA:
            self.faults.append(f"schema is {data.get('schema')!r}; this release reads {SCHEMA}")
        default = data.get("default", {})
        if not isinstance(default, dict) or not default.keys() <= _DEFAULTED:
            self.faults.append(f"default: {default!r}; it may give {' and '.join(sorted(_DEFAULTED))}")
        else:
            self.default = default
        unknown = [key for key in data if key not in ("schema", "default", "container", *RECORDS)]
        self.faults += [f"{key}: no such kind; known are {', '.join(RECORDS)}" for key in unknown]
        container = self._record("container", Container, data.get("container", {}))
        records = {kind: self._kind(kind, data.get(kind, [])) for kind in RECORDS}
        self._check_references(records)
        return None if container is None else Catalogue(container, MappingProxyType(records))

    def _kind(self, kind: str, tables: Any) -> tuple[Record, ...]:
        if not isinstance(tables, list):
            self.faults.append(f"{kind}: is a {type(tables).__name__}; it is a list of records")
            return ()
        made = (
            self._record(f"{kind} {number}", RECORDS[kind], table) for number, table in enumerate(tables, 1)
        )
        return tuple(record for record in made if record is not None)

    def _record(self, place: str, kind: type[Kind], table: Any) -> Kind | None:
        if not isinstance(table, dict):
            self.faults.append(f"{place}: is a {type(table).__name__}; a record is a table")
            return None
        table = {**self.default, **table}
        before = len(self.faults)
        hints = get_type_hints(kind)
        self.faults += [f"{place}: {key}: no such key" for key in table if key not in hints]
        for field in fields(kind):
            required = field.default is MISSING and field.default_factory is MISSING
            if field.name not in table:
                if required:
                    self.faults.append(f"{place}: {field.name}: missing")
            elif not _fits(table[field.name], hints[field.name]):
                wanted = getattr(hints[field.name], "__name__", str(hints[field.name]))
                self.faults.append(f"{place}: {field.name}: {table[field.name]!r} is not of type {wanted}")
        if len(self.faults) > before:
            return None
        record = kind(**{key: _frozen(value) for key, value in table.items()})
        self._check_words(place, record)
        return record

    def _check_words(self, place: str, record: Record) -> None:
        for key, accepted in (
            ("how", get_args(How)),
            ("surely", get_args(Surety)),
            ("generation", tuple(GENERATIONS)),
        ):
            value = getattr(record, key, accepted[0])
            if value not in accepted:
                self.faults.append(f"{place}: {key}: {value!r}; accepted are {', '.join(accepted)}")
        if not _SOURCE.fullmatch(record.source):
            self.faults.append(f"{place}: source: {record.source!r}; write it as 'seed 000 §5.3'")

    def _check_references(self, records: Mapping[str, tuple[Record, ...]]) -> None:
        ids = [cast("Image", image).id for image in records["image"]]
        self.faults += [f"image: id {id!r} is used twice" for id, n in Counter(ids).items() if n > 1]
        for kind, members in records.items():
            for record in members:
                named = [*getattr(record, "images", ()), *filter(None, [getattr(record, "image", "")])]
                self.faults += [f"{kind}: no image has the id {id!r}" for id in named if id not in ids]


def _fits(value: Any, hint: Any) -> bool:
    arguments = get_args(hint)
    if isinstance(value, dict):
        return Mapping in (hint, getattr(hint, "__origin__", None)) and all(
            isinstance(v, int) for v in value.values()
        )
    if isinstance(value, list):
        return getattr(hint, "__origin__", None) is tuple and all(type(v) is arguments[0] for v in value)
    return type(value) is hint or type(value) in arguments


def _frozen(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(value)
    return MappingProxyType(value) if isinstance(value, dict) else value
