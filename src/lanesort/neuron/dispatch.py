"""From an opcode to a body: kernel-info tables of known images, scanned as the firmware does.

A POOL image holds a table of eight-byte records {0, 0, spec, opcode, function address}. The
dispatcher scans it from the first row for a key, makes one indirect call to a trampoline,
and that branches on the input dtype into one of two bodies. Addresses come from the
catalogue of images; what it does not give is shown as not known.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from lanesort.errors import ArgumentValueError
from lanesort.evidence import fact
from lanesort.neuron.dtype import Dtype
from lanesort.neuron.generation import generation
from lanesort.neuron.image_records import Image, KernelTable
from lanesort.neuron.images import catalogue
from lanesort.neuron.nonzero_with_count import NonzeroWithCount
from lanesort.neuron.sort import Sort

__all__ = ["Dispatch", "KernelInfo", "Table", "dispatch", "dispatch_word", "tables"]

RECORD_BYTES = 8
_RECORD = struct.Struct("<2xBBI")
_NOT_PINNED = (
    "not pinned: no kernel table has a row for Sort. The opcode switch of the sequencer reaches "
    "decode_sort, at an address that is not known"
)

fact(
    "neuron.dispatch",
    "The kernel table has records {0, 0, spec u8, opcode u8, function address u32} and is scanned from the "
    "first by (opcode << 24) | (spec << 16); a hit is one indirect call.",
    "observed",
    "high",
    "seed 003 §7",
)
fact(
    "neuron.dispatch",
    "The trampoline of NonzeroWithCount reads in_dtype at byte 13 and branches into the float or the integer "
    "body.",
    "observed",
    "high",
    "seed 003 §7.1",
)
fact(
    "neuron.dispatch",
    "Sort has no record in the kernel tables; its address and the entry of 0x96 in the opcode switch are not "
    "known.",
    "observed",
    "high",
    "seed 000 §8",
)


@dataclass(frozen=True, slots=True)
class KernelInfo:
    """One row of a kernel-info table.

    Attributes
    ----------
    opcode
        Key, high byte.
    function
        Address of the trampoline; None where no source gives it.
    spec
        Key, low byte: tells apart rows of one opcode. None where no source gives it; such a
        row is taken for any spec.
    """

    opcode: int
    function: int | None = None
    spec: int | None = None

    @property
    def key(self) -> int:
        """What the scan compares: (opcode << 24) | (spec << 16), an unknown spec being 0."""
        return self.opcode << 24 | (self.spec or 0) << 16

    def matches(self, opcode: int, spec: int) -> bool:
        """Say whether the scan stops here."""
        return self.opcode == opcode and self.spec in (None, spec)

    def encode(self) -> bytes:
        """Return the eight bytes of the record.

        Raises
        ------
        ArgumentValueError
            If the function's address is not known.

        Examples
        --------
        >>> KernelInfo(0xF2, 0x0100484C, 0).encode().hex(" ")
        '00 00 00 f2 4c 48 00 01'
        """
        if self.function is None:
            raise ArgumentValueError(f"the function of opcode {self.opcode:#04x} is at no known address")
        return _RECORD.pack(self.spec or 0, self.opcode, self.function)

    @classmethod
    def decode(cls, data: bytes) -> KernelInfo:
        """Read a record of eight bytes.

        Raises
        ------
        ArgumentValueError
            For another length.

        Examples
        --------
        >>> KernelInfo.decode(bytes.fromhex("000000f24c480001")).function == 0x0100484C
        True
        """
        if len(data) != RECORD_BYTES:
            raise ArgumentValueError(f"a kernel record has {RECORD_BYTES} bytes; got {len(data)}")
        spec, opcode, function = _RECORD.unpack(data)
        return cls(opcode, function, spec)


@dataclass(frozen=True, slots=True)
class Table:
    """The kernel-info table of an image.

    Attributes
    ----------
    name
        For example ``cayman MAIN``.
    generation
        Which generation the image is of.
    kernels
        Its rows, as far as they are known: rows of unknown opcode are None.
    bodies
        Address of the body by input dtype, for NonzeroWithCount.
    """

    name: str
    generation: str
    kernels: tuple[KernelInfo | None, ...]
    bodies: Mapping[Dtype, int]

    def scan(self, opcode: int, spec: int = 0) -> int | None:
        """Return the first row that the key matches, None without one.

        Examples
        --------
        >>> tables("cayman")[0].scan(0xF2), tables("cayman")[0].scan(0x96)
        (15, None)
        """
        for row, kernel in enumerate(self.kernels):
            if kernel is not None and kernel.matches(opcode, spec):
                return row
        return None


@dataclass(frozen=True, slots=True)
class Dispatch:
    """How an instruction is reached in an image.

    Attributes
    ----------
    table
        Name of the table that was scanned.
    opcode, spec
        Key of the scan.
    scanned
        Rows looked at.
    row
        The row that matched, None on a miss.
    trampoline, body
        Addresses called; None where no source gives them.
    in_dtype
        What the trampoline branched on, None if it was not reached.
    log
        Lines that the DEBUG build prints.
    remark
        What is not known.
    """

    table: str
    opcode: int
    spec: int
    scanned: int
    row: int | None
    trampoline: int | None
    body: int | None
    in_dtype: Dtype | None
    log: tuple[str, ...]
    remark: str

    def steps(self) -> Iterator[str]:
        """Yield the way to the body, a line a step.

        Examples
        --------
        >>> for line in dispatch(0xF2, "cayman", in_dtype=Dtype.FP32)[0].steps():
        ...     print(line)
        cayman MAIN: key 0xf2000000, 16 rows scanned: row 15
        trampoline 0x0100484c
        in_dtype fp32: body 0x01004940
        """
        key = self.opcode << 24 | self.spec << 16
        found = "no row" if self.row is None else f"row {self.row}"
        yield f"{self.table}: key {key:#010x}, {self.scanned} rows scanned: {found}"
        if self.row is not None:
            yield f"trampoline {_address(self.trampoline)}"
        if self.in_dtype is not None:
            yield f"in_dtype {self.in_dtype.name.lower()}: body {_address(self.body)}"
        yield from self.log
        if self.remark:
            yield self.remark


def _address(address: int | None) -> str:
    return "at an address that is not known" if address is None else f"{address:#010x}"


@cache
def tables(name: str | None = None) -> tuple[Table, ...]:
    """Return the kernel tables that are known, of one generation or of all.

    Raises
    ------
    ArgumentValueError
        For an unknown generation.

    Examples
    --------
    >>> [table.name for table in tables("cayman")]
    ['cayman MAIN', 'cayman CODEC']
    """
    images = {image.id: image for image in catalogue().of(Image)}
    made = tuple(_table(record, images[record.images[0]]) for record in catalogue().of(KernelTable))
    if name is None:
        return made
    return tuple(table for table in made if table.generation == generation(name).name)


def _table(record: KernelTable, image: Image) -> Table:
    kernels: list[KernelInfo | None] = [None] * record.rows
    for row, opcode in enumerate(record.opcodes):
        kernels[row] = KernelInfo(opcode)
    kernels[record.row] = KernelInfo(NonzeroWithCount.OPCODE, record.trampoline)
    bodies = {Dtype.FP32: record.float_body, Dtype.I32: record.int_body}
    known = {dtype: body for dtype, body in bodies.items() if body is not None}
    return Table(record.id, image.generation, tuple(kernels), MappingProxyType(known))


def dispatch(
    opcode: int, name: str, *, spec: int = 0, core: int = 0, in_dtype: Dtype | None = None
) -> tuple[Dispatch, ...]:
    """Follow an opcode through every known table of a generation.

    Parameters
    ----------
    opcode
        0 … 255.
    name
        Generation.
    spec
        Low byte of the key.
    core
        GPSIMD core that the line of an unknown opcode names.
    in_dtype
        What the trampoline branches on.

    Returns
    -------
    tuple of Dispatch
        One a table; empty where no table of the generation is known.

    Raises
    ------
    ArgumentValueError
        For an opcode or spec that is no byte, or an unknown generation.

    Examples
    --------
    >>> dispatch(0x97, "cayman")[0].log
    ('P0: UNKNOWN OPCODE=0x97',)
    >>> dispatch(0x96, "cayman")[0].remark.split(":")[0]
    'not pinned'
    """
    for field, value in (("opcode", opcode), ("spec", spec)):
        if not 0 <= value <= 0xFF:
            raise ArgumentValueError(f"{field} is {value}; it is a byte, 0 to 255")
    return tuple(_follow(table, opcode, spec, core, in_dtype) for table in tables(name))


def dispatch_word(word: Sort | NonzeroWithCount, name: str, *, core: int = 0) -> tuple[Dispatch, ...]:
    """Follow a word through every known table of a generation; see `dispatch`.

    Examples
    --------
    >>> from lanesort import neuron
    >>> word = neuron.assemble("nonzero.i32 ch=16 src=[p0+0x0, 8:1] dst=[p0+0x40, 9:1]")
    >>> [hex(way.body) for way in dispatch_word(word, "cayman")]
    ['0x1004b80', '0x1001720']
    """
    known = {dtype.value: dtype for dtype in Dtype}
    in_dtype = known.get(word.in_dtype) if isinstance(word, NonzeroWithCount) else None
    return dispatch(word.OPCODE, name, core=core, in_dtype=in_dtype)


def _follow(table: Table, opcode: int, spec: int, core: int, in_dtype: Dtype | None) -> Dispatch:
    row = table.scan(opcode, spec)
    if row is None:
        return _miss(table, opcode, spec, core)
    kernel = table.kernels[row]
    function = None if kernel is None else kernel.function
    if opcode != NonzeroWithCount.OPCODE or in_dtype is None:
        return Dispatch(table.name, opcode, spec, row + 1, row, function, None, None, (), "")
    leg = Dtype.FP32 if in_dtype is Dtype.FP32 else Dtype.I32
    return Dispatch(table.name, opcode, spec, row + 1, row, function, table.bodies.get(leg), in_dtype, (), "")


def _miss(table: Table, opcode: int, spec: int, core: int) -> Dispatch:
    unread = sum(kernel is None for kernel in table.kernels)
    log: tuple[str, ...] = ()
    if opcode == Sort.OPCODE:
        remark = _NOT_PINNED
    elif unread:
        remark = f"{unread} rows of this table are not known, so this may be no miss"
    else:
        remark, log = "", (f"P{core}: UNKNOWN OPCODE={opcode:#x}",)
    return Dispatch(table.name, opcode, spec, len(table.kernels), None, None, None, None, log, remark)
