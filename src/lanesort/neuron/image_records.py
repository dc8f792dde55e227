"""The schema of the image catalogue: one record class a kind of fact.

A field without a default must be given; its annotation is the type that the loader checks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

__all__ = [
    "RECORDS",
    "AddressRule",
    "Binding",
    "Bundle",
    "CallSite",
    "Census",
    "Clause",
    "Container",
    "Correction",
    "Difference",
    "Enumerator",
    "Image",
    "KernelTable",
    "Log",
    "NotClaimed",
    "Presence",
    "Primitive",
    "Record",
    "Relative",
    "Section",
    "Signature",
    "Structure",
    "Symbol",
    "Tool",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What every record says about itself.

    Attributes
    ----------
    how
        How the fact is known: documented, observed, inferred, carried or assumed.
    surely
        How surely: high, medium or low.
    source
        Source by name and section, for example ``seed 000 §5.3``; §0 is what stands before
        the first section.
    note
        A remark, or nothing.
    """

    how: str
    surely: str
    source: str
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Container(Record):
    """The library that holds the images. Sizes in bytes; digests by their ends."""

    name: str
    path: str
    package: str
    release: str
    format: str
    size: int
    sha256_starts: str
    sha256_ends: str
    accessor_pattern: str
    embedded: int
    embedded_format: str
    section: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool(Record):
    """A tool, a processor or a package that the readings name."""

    name: str
    value: str
    meaning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Image(Record):
    """A firmware image: where it lies in the container, in bytes, and what it holds of Sort."""

    id: str
    generation: str
    sequencer: str
    build: str = ""
    memory: str = ""
    accessor: str = ""
    offset: int | None = None
    size: int | None = None
    sha256_starts: str = ""
    sort_body: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressRule(Record):
    """How an address becomes a file offset."""

    statement: str
    base: int | None = None
    bias: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Census(Record):
    """How often primitives occur in an image."""

    image: str
    what: str
    hits: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle(Record):
    """Operations that were seen in one instruction bundle, at an address of the image."""

    image: str
    at: int
    operations: tuple[str, ...]
    shows: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Primitive(Record):
    """Which vector primitives play a role in an instruction."""

    instruction: str
    role: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelTable(Record):
    """A kernel-info table, and where it leads for NonzeroWithCount."""

    id: str
    images: tuple[str, ...]
    rows: int
    row: int
    trampoline: int
    opcodes: tuple[int, ...] = ()
    float_body: int | None = None
    int_body: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSite(Record):
    """An address of the image and what stands there."""

    image: str
    address: int
    instruction: str
    meaning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Symbol(Record):
    """A template symbol, how often it occurs in the container, and its five arguments."""

    mangled: str
    demangled: str
    times: int
    arguments: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature(Record):
    """Bytes by which a body is found in the container."""

    body: str
    bytes: str
    times: int
    selects: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference(Record):
    """How two instances of a template differ. Lengths and places in bytes."""

    between: tuple[str, ...]
    body_bytes: int
    differing_bytes: int
    bundle_at: int
    float_bundle: str
    int_bundle: str
    int_follows_by: int
    spans: tuple[str, ...]
    data_spans: int
    same: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Section(Record):
    """A function's place in the order of an image's ``.xt.prop`` sections."""

    image: str
    number: int
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Enumerator(Record):
    """A constant of the instruction headers."""

    name: str
    value: int
    place: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Structure(Record):
    """A structure of the instruction headers: its size, and field offsets, in bytes."""

    name: str
    header: str
    size: int
    generations: tuple[str, ...] = ()
    offsets: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding(Record):
    """A line that ties opcode, structure and check together."""

    instruction: str
    file: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause(Record):
    """A named clause of a validity predicate, counted from 0 within its section."""

    instruction: str
    order: int
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Log(Record):
    """A string of the firmware; `hits` where it was counted."""

    instruction: str
    text: str
    where: str
    hits: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Presence(Record):
    """What a generation has of an instruction."""

    instruction: str
    generation: str
    statement: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction(Record):
    """A claim that the readings found wrong, and what holds instead."""

    claim: str
    fact: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NotClaimed(Record):
    """What the readings leave open, or say without certainty."""

    statement: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Relative(Record):
    """An engine or instruction beside the two, and how it relates."""

    name: str
    relation: str


RECORDS: Mapping[str, type[Record]] = MappingProxyType(
    {
        "tool": Tool,
        "image": Image,
        "address_rule": AddressRule,
        "census": Census,
        "bundle": Bundle,
        "primitive": Primitive,
        "table": KernelTable,
        "call_site": CallSite,
        "symbol": Symbol,
        "signature": Signature,
        "difference": Difference,
        "section": Section,
        "enumerator": Enumerator,
        "structure": Structure,
        "binding": Binding,
        "clause": Clause,
        "log": Log,
        "presence": Presence,
        "correction": Correction,
        "not_claimed": NotClaimed,
        "relative": Relative,
    }
)
"""Each kind of record, by its name in the file, in the file's order."""
