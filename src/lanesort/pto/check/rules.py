"""Findings from the validity rules of TSORT32 and TMRGSORT, and known faults for their sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from lanesort.errors import Violation
from lanesort.pto.check.edit import AddTmp, Edit, Retype
from lanesort.pto.check.event import Event, Role
from lanesort.pto.check.finding import Finding
from lanesort.pto.check.state import Walk
from lanesort.pto.fault import FAULTS, Job
from lanesort.pto.operand import MergeOperands, Sort32Operands
from lanesort.pto.program import TileType
from lanesort.pto.target import Target
from lanesort.pto.tmrgsort import violations as merge_violations
from lanesort.pto.tsort32 import RULES as SORT_RULES

__all__ = ["KIND_OF_RULE", "SIZE_FREE", "faults", "rules"]

KIND_OF_RULE: Mapping[str, str] = MappingProxyType(
    {
        "dst_overlaps_no_operand": "operand-overlap",
        "dst_does_not_overlap_src": "operand-overlap",
        "tmp_overlaps_no_operand": "operand-overlap",
        "addresses_are_aligned": "misaligned",
        "tiles_lie_in_ub": "ub-overflow",
        "sources_and_target_fit_ub": "ub-overflow",
        "first_source_and_tmp_fit_ub": "ub-overflow",
        "idx_reaches_every_lane": "columns-too-small",
        "dst_reaches_every_lane": "columns-too-small",
        "dst_holds_whole_copies": "columns-too-small",
        "tmp_holds_the_tail": "tmp-too-small",
        "tmp_holds_all_sources": "tmp-too-small",
        "columns_are_whole_blocks": "tail-dropped",
    }
)
"""Rules that have a finding of their own; the others are ``rule-broken``."""

SIZE_FREE = (
    "src_dtype_can_be_sorted",
    "dst_and_tmp_have_dtype_of_src",
    "idx_dtype_is_u32",
    "dtype_can_be_merged",
    "tiles_have_one_dtype",
    "tiles_are_vec",
    "tiles_are_row_major",
    "tiles_are_none_box",
    "tiles_have_one_row",
    "addresses_are_aligned",
    "tiles_lie_in_ub",
    "sources_are_two_to_four",
    "dst_overlaps_no_operand",
    "dst_does_not_overlap_src",
    "tmp_overlaps_no_operand",
    "tmp_holds_all_sources",
    "block_len_is_multiple_of_64",
    "sources_and_target_fit_ub",
    "first_source_and_tmp_fit_ub",
)
"""Rules that don't look at valid sizes, and hold where these are not known."""


def rules(walk: Walk) -> Iterator[Finding]:
    """Find broken validity rules of the sort instructions."""
    placed_wrong = {
        (one.function.name, one.value)
        for one in walk.placements.values()
        if one.start % 32 or (walk.target.ub_bytes is not None and one.stop > walk.target.ub_bytes)
    }
    for event in walk.events:
        for violation in _violations(event, walk.target):
            id = KIND_OF_RULE.get(violation.rule, "rule-broken")
            if violation.rule in ("addresses_are_aligned", "tiles_lie_in_ub") and any(
                role.root is not None and (event.function.name, role.root) in placed_wrong
                for role in event.roles
            ):
                continue
            text = violation.text if id != "rule-broken" else str(violation)
            edits = _edits(event, violation, walk)
            yield Finding(id, f"{event.step.op}: {text}", event.step.place, event.function.name, edits=edits)
        yield from _narrow(event, walk)


def _violations(event: Event, target: Target) -> tuple[Violation, ...]:
    operands = _sort(event) if event.step.op == "tsort32" else None
    if operands is not None:
        found = SORT_RULES.validate(operands, target)
    elif event.step.op == "tmrgsort" and (merge := _merge(event)) is not None:
        found = merge_violations(merge, target)
    else:
        return ()
    if not event.assumed:
        return found
    return tuple(violation for violation in found if violation.rule in SIZE_FREE)


def _sort(event: Event) -> Sort32Operands | None:
    """Return the operands of a tsort32, if all of them are known."""
    dst, src, idx, tmp = (event.role(name) for name in ("dst", "src", "idx", "tmp"))
    if dst is None or src is None or idx is None:
        return None
    if tmp is None and event.step.optional("tmp") is not None:
        return None
    return Sort32Operands(dst.operand, src.operand, idx.operand, None if tmp is None else tmp.operand)


def _merge(event: Event) -> MergeOperands | None:
    """Return the operands of a tmrgsort, if all of them are known."""
    step, dst, tmp = event.step, event.role("dst"), event.role("tmp")
    sources = _sources(event)
    if dst is None or len(sources) != len(step.values("sources")):
        return None
    if tmp is None and step.optional("tmp") is not None:
        return None
    length = step.attributes["block_len"]
    if step.optional("block_len") is not None:
        length = event.numbers.get("block_len")
    if len(sources) == 1 and not isinstance(length, int):
        return None
    named = [replace(role.operand, role=f"src{n}") for n, role in enumerate(sources)]
    if len(named) == 1:
        named = [replace(named[0], role="src")]
    return MergeOperands(
        dst.operand,
        tuple(named),
        None if tmp is None else tmp.operand,
        length if isinstance(length, int) and len(sources) == 1 else None,
        bool(step.attributes["exhausted"]),
    )


def _sources(event: Event) -> list[Role]:
    return [role for role in event.roles if role.name == "sources"]


def _narrow(event: Event, walk: Walk) -> Iterator[Finding]:
    """Find a tmp that the assembler refuses although the instruction can do with it."""
    dst, tmp = event.role("dst"), event.role("tmp")
    if event.step.op != "tmrgsort" or dst is None or tmp is None or walk.target.simulated:
        return
    wanted = sum(role.operand.columns for role in _sources(event))
    if wanted <= tmp.operand.columns < dst.operand.columns:
        text = f"tmrgsort: tmp has {tmp.operand.columns} columns and dst {dst.operand.columns}"
        edits = _widened(event, tmp, dst.operand.columns, walk)
        yield Finding("tmp-narrower-than-dst", text, event.step.place, event.function.name, edits=edits)


def _edits(event: Event, violation: Violation, walk: Walk) -> tuple[Edit, ...]:
    """Return what mends a tmp that is too small or missing."""
    tmp, limit = event.role("tmp"), violation.limit
    if violation.rule in ("tmp_holds_the_tail", "tmp_holds_all_sources") and tmp is not None:
        return _widened(event, tmp, limit, walk)
    src = event.role("src")
    if violation.rule != "columns_are_whole_blocks" or src is None:
        return ()
    type = event.function.types[event.step.value("src")]
    columns = walk.target.tmp_columns(src.operand.valid_columns, src.operand.dtype.itemsize)
    if not isinstance(type, TileType) or columns <= 0:
        return ()
    return (AddTmp(event.function.name, event.path[-1], TileType(1, columns, type.element, 1, columns)),)


def _widened(event: Event, tmp: Role, columns: object, walk: Walk) -> tuple[Edit, ...]:
    """Make the allocation of tmp wider, behind all others if the text gives its address."""
    whole = event.step.optional("tmp")
    if tmp.root is None or tmp.root != whole or not isinstance(columns, int):
        return ()
    free = max((one.stop for one in walk.placements.values()), default=0)
    return (Retype(event.function.name, tmp.root, columns, free),)


def faults(walk: Walk) -> Iterator[Finding]:
    """Find known faults of released implementations that the sizes of a sort would meet."""
    for event in walk.events:
        src, idx = event.role("src"), event.role("idx")
        if event.step.op != "tsort32" or src is None or idx is None or event.assumed:
            continue
        job = Job(
            src.operand.valid_columns,
            src.operand.dtype.itemsize,
            src.operand.valid_rows,
            idx.operand.valid_rows,
            idx.operand.valid_columns,
            walk.target,
        )
        for fault in FAULTS:
            if fault.bites(job) and _has_form(fault.name, event):
                text = f"tsort32: {fault.where}: {fault.effect} ({fault.name}); {fault.advice}"
                yield Finding("known-fault", text, event.step.place, event.function.name)


def _has_form(name: str, event: Event) -> bool:
    """Say whether a fault concerns the form of the instruction: some need the fourth operand."""
    return not name.startswith("a5-tail") or event.role("tmp") is not None
