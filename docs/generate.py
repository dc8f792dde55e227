"""Writes the generated parts of the project anew, or checks that the committed ones are fresh.

``python docs/generate.py`` writes, ``python docs/generate.py --check`` compares.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from nanobind.stubgen import StubGen

from lanesort import _core
from lanesort.report.compaction_diagram import write_compaction_diagram
from lanesort.report.explain import write_pages
from lanesort.report.network_diagram import write_network_diagrams
from lanesort.report.unpinned_table import write_unpinned_table

ROOT = Path(__file__).resolve().parent.parent
GENERATED = Path("docs/generated")
STUB = Path("src/lanesort/_core.pyi")


def write(root: Path) -> list[Path]:
    """Write every generated file below `root` and return their places, relative to it."""
    folder = root / GENERATED
    for writer in (write_pages, write_network_diagrams, write_compaction_diagram, write_unpinned_table):
        writer(folder)
    stub = StubGen(_core)
    stub.put(_core)
    target = root / STUB
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(stub.get(), encoding="utf-8")
    return [STUB, *sorted(p.relative_to(root) for p in folder.iterdir())]


def stale() -> list[str]:
    """Return what differs between the committed files and those written now."""
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder)
        names = write(fresh)
        wrong = [
            f"{name}: {'differs' if (ROOT / name).exists() else 'is missing'}"
            for name in names
            if not (ROOT / name).exists() or (ROOT / name).read_bytes() != (fresh / name).read_bytes()
        ]
    committed = {p.relative_to(ROOT) for p in (ROOT / GENERATED).glob("*")}
    return wrong + [f"{name}: is no longer generated" for name in sorted(committed - set(names))]


def main() -> int:
    """Write, or check."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    if not parser.parse_args().check:
        for name in write(ROOT):
            sys.stdout.write(f"{name}\n")
        return 0
    wrong = stale()
    for line in wrong:
        sys.stdout.write(f"{line}; write it anew: make generated\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
