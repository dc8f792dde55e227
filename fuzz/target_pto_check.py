"""Fuzz target: any text that parses is checked to the end, and what is mended parses again."""

from __future__ import annotations

from lanesort.errors import LanesortError
from lanesort.pto.check import check, fix, map_text
from lanesort.pto.text.parser import parse
from lanesort.pto.text.printer import print_module
from lanesort.report.ub_map import ub_map_svg

__all__ = ["fuzz_check"]

LARGEST_TEXT = 1 << 16


def fuzz_check(data: bytes) -> None:
    """Parse the bytes as a program, check and mend it; only a text that is none may be refused."""
    text = data[:LARGEST_TEXT].decode("utf-8", "replace")
    try:
        module = parse(text)
    except LanesortError:
        return
    for manual in (False, True):
        report = check(module, "all", manual=manual)
        for finding in report.findings:
            finding.document()
            str(finding)
        for one in report.maps:
            map_text(one)
            ub_map_svg(one)
    parse(print_module(fix(module, "all").module))
