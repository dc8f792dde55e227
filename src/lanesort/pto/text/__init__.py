"""The text of `.pto` programs: parsing, verification, printing. Everything xDSL stays in here."""

from __future__ import annotations

from importlib.util import find_spec

from lanesort.errors import MissingExtraError

if find_spec("xdsl") is None:
    raise MissingExtraError("reading .pto text needs xDSL; install it with: pip install 'lanesort[pto]'")

__all__: list[str] = []
