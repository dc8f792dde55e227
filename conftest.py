"""Runs the Python examples of README.md, docs and docs/how-to as tests."""

from __future__ import annotations

from sybil import Sybil
from sybil.parsers.myst import PythonCodeBlockParser, SkipParser

pytest_collect_file = Sybil(
    parsers=[PythonCodeBlockParser(doctest_optionflags=0), SkipParser()],
    patterns=["README.md", "docs/*.md", "docs/how-to/*.md"],
).pytest()
