"""The clauses that the validity predicates share: header, events, channels, tensors, immediates."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from lanesort.errors import Violation
from lanesort.neuron.descriptor import INST_WORD_LEN, Address, Mark, Tensor, UpdateMode, WaitMode
from lanesort.neuron.dtype import known
from lanesort.neuron.generation import MAVERICK_MAP, Generation
from lanesort.neuron.immediate import IMM_POINTER, ImmSource, register_number
from lanesort.rule import Rule, RuleBook

__all__ = [
    "INFERRED",
    "Book",
    "Broken",
    "Find",
    "add_address_clauses",
    "add_channel_clause",
    "add_clause",
    "add_events_clauses",
    "add_header_clause",
    "add_immediate_clause",
    "add_opcode_clause",
    "add_reserved_clause",
    "add_source_clause",
    "add_start_partition_clause",
    "add_tensor_clauses",
    "broken_address",
    "broken_immediate",
    "clause",
]

Book = RuleBook[Any, Generation]
Broken = tuple[str, object, object, str]
Find = Callable[[Any, Generation], Broken | None]

INFERRED = ("strict", "device")
"""Modes that test a clause which the quoted predicate does not have."""


def add_clause(
    book: Book,
    name: str,
    statement: str,
    find: Find,
    modes: tuple[str, ...] = (),
    unpinned: str | None = None,
) -> None:
    """Append a rule to a book; `find` returns field, value, limit and text of what breaks it."""

    def check(word: Any, g: Generation) -> Violation | None:
        found = find(word, g)
        return None if found is None else Violation(name, *found)

    book.add(Rule(name, statement, check, frozenset(modes), unpinned))


def clause(book: Book, *, modes: tuple[str, ...] = (), unpinned: str | None = None) -> Callable[[Find], Find]:
    """Decorate a function as a rule: its name and docstring are the rule's name and statement."""

    def register(find: Find) -> Find:
        statement = (find.__doc__ or "").strip().split("\n")[0]
        add_clause(book, find.__name__, statement, find, modes, unpinned)
        return find

    return register


def add_header_clause(book: Book) -> None:
    """Header: the length that it gives is that of a word."""
    add_clause(
        book,
        "word_length_is_sixteen_dwords",
        f"Require a length of {INST_WORD_LEN:#x} dwords in the header.",
        lambda w, g: (
            None
            if w.header.inst_word_len == INST_WORD_LEN
            else (
                "header.inst_word_len",
                w.header.inst_word_len,
                INST_WORD_LEN,
                f"inst_word_len is {w.header.inst_word_len:#x}; a word has {INST_WORD_LEN:#x} dwords",
            )
        ),
    )


def add_events_clauses(book: Book) -> None:
    """Events: both modes are known ones."""
    for field, modes in (("wait_mode", WaitMode), ("update_mode", UpdateMode)):
        accepted = tuple(int(m) for m in modes)
        statement = f"Require events.{field} to be one of {', '.join(map(str, accepted))}."
        add_clause(book, f"{field}_is_known", statement, partial(_unknown_mode, field, accepted))


def _unknown_mode(field: str, accepted: tuple[int, ...], w: Any, g: Generation) -> Broken | None:
    mode = getattr(w.events, field)
    if mode in accepted:
        return None
    text = f"{field} is {mode}; known are {', '.join(map(str, accepted))}"
    return f"events.{field}", mode, accepted, text


def add_opcode_clause(book: Book, name: str, opcode: int) -> None:
    """Opcode: it is the instruction's."""
    add_clause(
        book,
        name,
        f"Require the opcode {opcode:#04x}.",
        lambda w, g: (
            None
            if w.header.opcode == opcode
            else (
                "header.opcode",
                w.header.opcode,
                opcode,
                f"opcode is {w.header.opcode:#04x}; this instruction is {opcode:#04x}",
            )
        ),
    )


def add_channel_clause(book: Book, modes: tuple[str, ...] = (), unpinned: str | None = None) -> None:
    """Channels: at least one, at most the partitions of the machine."""
    aside = f" (inferred: {unpinned})" if unpinned else ""
    add_clause(
        book,
        "channels_are_1_to_128",
        "Require a num_active_channels of 1 to 128.",
        lambda w, g: (
            None
            if 1 <= w.num_active_channels <= g.partitions
            else (
                "num_active_channels",
                w.num_active_channels,
                (1, g.partitions),
                f"num_active_channels is {w.num_active_channels}; it must be 1 to {g.partitions}{aside}",
            )
        ),
        modes,
        unpinned,
    )


def add_reserved_clause(
    book: Book, field: str, modes: tuple[str, ...] = (), unpinned: str | None = None
) -> None:
    """Reserved bytes: all zero."""
    aside = f" (inferred: {unpinned})" if unpinned else ""
    add_clause(
        book,
        f"{field}_is_zero",
        f"Require zero in every byte of {field}.",
        lambda w, g: (
            None
            if not any(getattr(w, field))
            else (
                field,
                getattr(w, field),
                0,
                f"{field} is {getattr(w, field).hex()}; reserved bytes must be zero{aside}",
            )
        ),
        modes,
        unpinned,
    )


def add_tensor_clauses(book: Book, operand: str, dtype_of: Callable[[Any], int]) -> None:
    """Tensor: counts, kind and alignment of the address, region, and the furthest element."""
    add_clause(
        book,
        f"{operand}_counts_are_positive",
        f"Require every count of {operand} to be 1 or more.",
        lambda w, g: _zero_count(operand, getattr(w, operand)),
    )
    add_address_clauses(book, operand)
    add_clause(
        book,
        f"{operand}_address_is_aligned",
        f"Require {operand} to start at a multiple of the element size.",
        lambda w, g: _misaligned(operand, getattr(w, operand).start, _size(dtype_of(w))),
    )
    add_clause(
        book,
        f"{operand}_lies_in_sbuf",
        f"Require {operand} to start in the active bytes of an SBUF partition, not in PSUM.",
        lambda w, g: _outside_sbuf(operand, getattr(w, operand).start, g),
    )
    add_clause(
        book,
        f"{operand}_stays_in_partition",
        f"Require the furthest element of {operand} inside the active bytes, on every partition.",
        lambda w, g: _beyond(operand, getattr(w, operand), _size(dtype_of(w)), w.num_active_channels, g),
    )


def add_address_clauses(book: Book, operand: str) -> None:
    """Address: its marks mean something, and a register exists."""
    add_clause(
        book,
        f"{operand}_address_is_of_a_known_kind",
        f"Require {operand} to start at a direct or indirect address or an existing register.",
        lambda w, g: broken_address(f"{operand}.start", getattr(w, operand).start, g),
    )


def broken_address(field: str, raw: int, g: Generation) -> Broken | None:
    """Say what is wrong with the marks of an address, if anything is."""
    mark, low = Address.of(raw)
    if mark in (Mark.DIRECT, Mark.INDIRECT):
        return None
    if mark not in (Mark.REGISTER, Mark.SHAPE_REGISTER, Mark.REGISTER_AND_SHAPE):
        return field, raw, "a known mark", f"{field} is {raw:#010x}; its marks {mark:03b} have no meaning"
    if low < g.registers:
        return None
    text = f"{field} is {raw:#010x}, register {low}; {g.name} has {g.registers} (upper bytes must be zero)"
    return field, low, g.registers - 1, text


def _size(code: int) -> int:
    dtype = known(code)
    return dtype.bytes if dtype is not None else 0


def _zero_count(operand: str, tensor: Tensor) -> Broken | None:
    if 0 not in tensor.counts:
        return None
    at = tensor.counts.index(0)
    return f"{operand}.counts[{at}]", 0, 1, f"{operand}.counts[{at}] is 0; every count is 1 or more"


def _misaligned(operand: str, raw: int, size: int) -> Broken | None:
    mark, low = Address.of(raw)
    if mark not in (Mark.DIRECT, Mark.INDIRECT) or size == 0 or low % size == 0:
        return None
    return (
        f"{operand}.start",
        low,
        size,
        f"{operand} starts at {low:#x}, which is no multiple of {size} bytes",
    )


def _outside_sbuf(operand: str, raw: int, g: Generation) -> Broken | None:
    mark, low = Address.of(raw)
    if mark not in (Mark.DIRECT, Mark.INDIRECT):
        return None
    if low >= g.psum_base:
        psum_end = g.psum_base + g.partitions * g.psum_stride_bytes
        where = "in PSUM" if low < psum_end else "beyond PSUM"
        aside = f" ({MAVERICK_MAP.id})" if g.name == "maverick" else ""
        text = f"{operand} starts at {low:#x}, {where}; SBUF ends at {g.psum_base:#x}{aside}"
        return f"{operand}.start", low, g.psum_base, text
    offset = g.offset_of(low)
    if offset < g.sbuf_bytes:
        return None
    text = f"{operand} starts at byte {offset:#x} of its partition; {g.name} has {g.sbuf_bytes:#x}"
    return f"{operand}.start", offset, g.sbuf_bytes, text


def _beyond(operand: str, tensor: Tensor, size: int, channels: int, g: Generation) -> Broken | None:
    mark, low = Address.of(tensor.start)
    if mark != Mark.DIRECT or size == 0 or low >= g.psum_base:
        return None
    last_partition = g.partition_of(low) + max(channels, 1) - 1
    if last_partition >= g.partitions:
        text = (
            f"{operand} on {channels} channels from partition {g.partition_of(low)} ends on partition "
            f"{last_partition}; the last is {g.partitions - 1}"
        )
        return operand, last_partition, g.partitions - 1, text
    offset = g.offset_of(low)
    below, above = tensor.reach
    first, end = offset + below * size, offset + (above + 1) * size
    if first >= 0 and end <= g.sbuf_bytes:
        return None
    text = (
        f"{operand} covers bytes {first} to {end - 1} of its partition; "
        f"{g.name} has bytes 0 to {g.sbuf_bytes - 1}"
    )
    return operand, (first, end), (0, g.sbuf_bytes), text


def add_start_partition_clause(
    book: Book, operand: str, modes: tuple[str, ...] = (), unpinned: str | None = None
) -> None:
    """Start partition: it fits the number of channels."""
    aside = f" (inferred: {unpinned})" if unpinned else ""

    def find(w: Any, g: Generation) -> Broken | None:
        return _bad_start(f"{operand}.start", getattr(w, operand).start, w.num_active_channels, g, aside)

    add_clause(
        book,
        f"{operand}_start_partition_fits_channels",
        f"Require {operand} to start on a partition that its number of channels allows.",
        find,
        modes,
        unpinned,
    )


def _bad_start(field: str, raw: int, channels: int, g: Generation, aside: str) -> Broken | None:
    mark, low = Address.of(raw)
    if mark != Mark.DIRECT or low >= g.psum_base:
        return None
    partition, accepted = g.partition_of(low), g.start_partitions(channels)
    if partition in accepted:
        return None
    text = (
        f"{field} lies on partition {partition}; with {channels} channels "
        f"it may be {', '.join(map(str, accepted))}{aside}"
    )
    return field, partition, accepted, text


def add_source_clause(book: Book, field: str) -> None:
    """Immediate source: it is a known one."""
    accepted = frozenset(int(s) for s in ImmSource)
    add_clause(
        book,
        f"{field}_is_known",
        f"Require {field} to be one of {', '.join(f'{int(s)} ({s.name.lower()})' for s in ImmSource)}.",
        lambda w, g: (
            None
            if getattr(w, field) in accepted
            else (field, getattr(w, field), accepted, f"{field} is {getattr(w, field)}; known are 0, 1 and 2")
        ),
    )


def add_immediate_clause(
    book: Book, field: str, source: str, modes: tuple[str, ...] = (), unpinned: str | None = None
) -> None:
    """Immediate: it fits its source: an aligned, reachable pointer or an existing register."""
    add_clause(
        book,
        f"{field}_fits_its_source",
        f"Require {field} to be a value, an aligned pointer that the channels reach, or a register.",
        lambda w, g: broken_immediate(field, getattr(w, source), getattr(w, field), w.num_active_channels, g),
        modes,
        unpinned,
    )


def broken_immediate(field: str, source: int, value: int, channels: int, g: Generation) -> Broken | None:
    """Say what is wrong with an immediate, if anything is."""
    if source == ImmSource.REGISTER:
        number = register_number(value)
        if number is not None and number < g.registers:
            return None
        raw = value & 0xFFFFFFFF
        return field, raw, g.registers - 1, f"{field} names register {raw:#x}; {g.name} has {g.registers}"
    if source != ImmSource.POINTER:
        return None
    raw = value & 0xFFFFFFFF
    return (
        broken_address(field, raw, g)
        or _misaligned(field, raw, 4)
        or _outside_sbuf(field, raw, g)
        or _bad_start(field, raw, channels, g, f" ({IMM_POINTER.id})")
    )
