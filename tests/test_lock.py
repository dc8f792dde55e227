"""The lock that CI installs from: complete, by hash, and naming no place."""

from __future__ import annotations

import re
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from tools import lock

from tests.conftest import ROOT

LOCK = (ROOT / "requirements" / "ci.txt").read_text()
ENTRY = re.compile(r"([a-z0-9-]+)==(\S+) \\\n    --hash=sha256:[0-9a-f]{64}\n")


def test_every_line_is_a_version_with_its_hash() -> None:
    """No index, no address, no path, and no package without a hash."""
    entries = "".join(line for line in LOCK.splitlines(keepends=True) if not line.startswith("#"))
    assert ENTRY.sub("", entries) == ""
    assert "/" not in entries


def test_all_that_is_asked_for_is_locked_in_a_version_that_fits() -> None:
    locked = {match[1]: match[2] for match in ENTRY.finditer(LOCK)}
    for text in lock.requirements():
        asked = Requirement(text)
        name = canonicalize_name(asked.name)
        if lock.OUTSIDE.fullmatch(name):
            assert name not in locked
            continue
        assert name in locked, f"{name}: run `make lock`"
        assert asked.specifier.contains(locked[name]), f"{name}: run `make lock`"


@pytest.mark.parametrize("group", lock.GROUPS)
def test_what_the_targets_install_is_asked_for(group: str) -> None:
    makefile = (ROOT / "Makefile").read_text()
    assert f"--group {group}" in makefile
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"][group]
    assert set(declared) <= set(lock.requirements())


def test_the_build_group_agrees_with_the_build_system() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert set(declared["build-system"]["requires"]) <= set(declared["dependency-groups"]["build"])
