"""Each finding is raised by one program and not by its neighbour, and is documented."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lanesort.pto.check import KINDS, check, fix
from lanesort.pto.check.finding import kinds_table
from lanesort.pto.check.rules import KIND_OF_RULE, SIZE_FREE
from lanesort.pto.text.parser import parse
from lanesort.pto.text.printer import print_module
from lanesort.pto.tmrgsort import RULES as MERGE_RULES
from lanesort.pto.tsort32 import RULES as SORT_RULES
from tests.pto.check.programs import PROGRAMS

DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "pto-check.md"


def ids(text: str, target: str, manual: bool) -> set[str]:
    return {finding.id for finding in check(parse(text), target, manual=manual).findings}


def test_every_finding_has_its_programs() -> None:
    assert list(PROGRAMS) == list(KINDS)


@pytest.mark.parametrize("id", PROGRAMS)
def test_raised_by_the_faulty_program(id: str) -> None:
    pair = PROGRAMS[id]
    assert id in ids(pair.faulty, pair.target, pair.manual)


@pytest.mark.parametrize("id", PROGRAMS)
def test_not_raised_by_the_sound_one(id: str) -> None:
    pair = PROGRAMS[id]
    found = ids(pair.sound, pair.target, pair.manual)
    assert id not in found
    assert not {one for one in found if KINDS[one].severity == "error"}


@pytest.mark.parametrize("id", PROGRAMS)
def test_findings_are_plain_data(id: str) -> None:
    pair = PROGRAMS[id]
    for finding in check(parse(pair.faulty), pair.target, manual=pair.manual).findings:
        document = json.loads(json.dumps(finding.document()))
        assert document["place"]["line"] > 0
        assert document["severity"] in ("error", "warning", "note")
        assert "\n" not in finding.text


@pytest.mark.parametrize("id", [id for id, kind in KINDS.items() if kind.fixed])
def test_fixed_kinds_are_mended(id: str) -> None:
    pair = PROGRAMS[id]
    fixed = fix(parse(pair.faulty), pair.target)
    again = parse(print_module(fixed.module))
    left = {finding.id for finding in check(again, pair.target, manual=True).findings}
    assert id in {finding.id for finding in fixed.mended}
    assert not {one for one in left if KINDS[one].severity == "error"}


def test_document_has_the_table_and_every_id() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert kinds_table() in text
    for id in KINDS:
        assert f"\n### {id}\n" in text, id


def test_rules_that_findings_name_exist() -> None:
    names = {rule.name for book in (SORT_RULES, MERGE_RULES) for rule in book}
    assert set(KIND_OF_RULE) <= names
    assert set(SIZE_FREE) <= names
    assert set(KIND_OF_RULE.values()) <= set(KINDS)
