"""The linter of `.pto` programs: what a kernel does wrong, found without running it."""

from __future__ import annotations

from lanesort.pto.check.checker import Report, check
from lanesort.pto.check.finding import KINDS, Finding, Kind
from lanesort.pto.check.fix import Fixed, fix
from lanesort.pto.check.ub_map import UbMap, map_text

__all__ = ["KINDS", "Finding", "Fixed", "Kind", "Report", "UbMap", "check", "fix", "map_text"]
