"""Explanations hold everything that the instruction's module declares."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import lanesort
from lanesort.errors import ArgumentValueError
from lanesort.evidence import facts, unpinned_behaviours
from lanesort.neuron import GENERATIONS, MODES, Sort
from lanesort.pto.target import TARGETS
from lanesort.report.explain import (
    EXPLAINED,
    explain,
    explain_unpinned,
    facts_about,
    rule_table,
    unpinned_by_id,
    word_as_text,
    write_pages,
)


@pytest.mark.parametrize("subject", EXPLAINED)
def test_every_subject_is_explained(subject: str) -> None:
    found = explain(subject)
    assert found.about == subject
    assert len(found.summary.splitlines()) > 2
    assert found.rules
    assert found.unpinned == unpinned_behaviours(subject)
    assert set(facts(subject)) <= set(found.facts)
    assert all(rule.statement for rule in found.rules)


def test_a_sort_is_explained_whole() -> None:
    found = explain("neuron.sort")
    assert found.modes == MODES
    assert set(found.availability) == set(GENERATIONS)
    assert found.availability["tonga"].startswith("no")
    assert [r.name for r in found.rules] == [r.name for r in Sort.RULES]
    assert "index_offset" in word_as_text(found)


def test_tile_instructions_say_what_they_take_on_each_target() -> None:
    found = explain("pto.tsort32").availability
    assert set(found) == set(TARGETS)
    assert found["a5"] == "float32, float16; UB 256 KiB (Ascend 950PR/950DT)"
    assert found["cpu"].startswith("float32, float16, int32, int16, bfloat16; UB without limit")
    assert explain("pto.tmrgsort").availability["kirin9030"].startswith("float16; UB 128 KiB")


@pytest.mark.parametrize(
    ("subject", "about"),
    [
        ("neuron.sort", "neuron.dispatch"),
        ("neuron.sort", "neuron.sort.datapath"),
        ("neuron.nonzero_with_count", "neuron.nonzero_with_count.datapath"),
        ("pto.tsort32", "pto.target.a5"),
        ("pto.tsort32", "pto.fault"),
        ("pto.tmrgsort", "pto.tmrgsort.datapath"),
        ("pto.tmrgsort", "pto.vmrgsort4"),
    ],
)
def test_facts_beside_an_instruction_reach_it(subject: str, about: str) -> None:
    assert about in {entry.about for entry in explain(subject).facts}


@pytest.mark.parametrize("family", ["neuron", "pto", "datapath"])
def test_every_module_with_facts_is_reached(family: str) -> None:
    facts_about("pto")
    package = Path(lanesort.__file__).parent
    declaring = [p for p in (package / family).rglob("*.py") if "\nfact(" in p.read_text(encoding="utf-8")]
    assert declaring
    names = {".".join(p.relative_to(package.parent).with_suffix("").parts) for p in declaring}
    assert names <= set(sys.modules)


def test_the_rule_table_has_a_mark_for_each_mode() -> None:
    table = rule_table(explain("neuron.sort"))
    head, _, *rows = table.splitlines()
    assert head == "| rule | statement | strict | device | literal | stands on |"
    assert len(rows) == len(Sort.RULES)
    (row,) = [r for r in rows if "`reserved1_is_zero`" in r]
    assert row.endswith("| tested | tested | – | `sort.reserved` |")


def test_words_that_are_not_public_are_said_to_be() -> None:
    assert word_as_text(explain("pto.tsort32")) == "no instruction word is public"


def test_an_unpinned_behaviour_is_explained() -> None:
    entry = unpinned_by_id("sort.nan-order")
    assert entry is not None
    text = explain_unpinned(entry)
    assert "default   last" in text
    assert "largest  above every number" in text
    assert unpinned_by_id("no.such-id") is None


def test_unknown_subjects_are_refused() -> None:
    with pytest.raises(ArgumentValueError, match=r"known are neuron\.sort"):
        explain("neuron.merge")


def test_the_pages_are_written(tmp_path: Path) -> None:
    written = write_pages(tmp_path / "generated")
    assert {p.name for p in written} >= {
        "neuron-sort-word.svg",
        "neuron-sort-rules.txt",
        "neuron-nonzero-with-count-word.svg",
        "pto-tsort32-rules.txt",
    }
    assert all(p.read_text(encoding="utf-8") for p in written)


def test_without_xdsl_all_but_its_own_facts_is_there() -> None:
    code = (
        "import sys; sys.modules['xdsl'] = None\n"
        "from lanesort.report.subjects import explain_rule\n"
        "from lanesort.report.explain import facts_about\n"
        "assert explain_rule('lists_are_sorted') and facts_about('pto.tsort32')"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
