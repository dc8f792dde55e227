"""The public face: names, import time, generated stubs."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from docs.generate import stale

import lanesort
from lanesort.errors import LanesortError
from tests.conftest import ROOT


def test_every_public_name_is_there() -> None:
    for name in lanesort.__all__:
        assert getattr(lanesort, name) is not None
        assert name in dir(lanesort)
    with pytest.raises(AttributeError, match="has no attribute 'no_such'"):
        _ = lanesort.no_such


def test_importing_loads_nothing_heavy() -> None:
    code = "import sys, lanesort; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert not {"torch", "jax", "xdsl", "dask", "rich", "cyclopts", "pyarrow"} & set(loaded.split())


def test_importing_is_quick() -> None:
    """Under 0.35 s on an idle machine: the best of a few, compared with importing NumPy alone."""

    def best(code: str) -> float:
        times = []
        for _ in range(5):
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True)
            times.append(time.perf_counter() - start)
        return min(times)

    assert best("import lanesort; lanesort.top_k") < 3 * best("import numpy, ml_dtypes")


def test_generated_files_are_fresh() -> None:
    assert stale() == [], "write them anew: make generated"


def test_errors_have_one_root() -> None:
    public = [getattr(lanesort.errors, n) for n in lanesort.errors.__all__]
    assert all(isinstance(c, type) for c in public), "what writes messages is not interface"
    raised = [c for c in public if issubclass(c, BaseException)]
    assert len(raised) > 8
    assert all(issubclass(c, LanesortError) for c in raised)


def test_no_source_file_is_longer_than_400_lines() -> None:
    folders = ("src", "native", "bench", "tests", "fuzz", "docs", "examples")
    for folder in folders:
        for path in Path(ROOT / folder).rglob("*"):
            if path.suffix in {".py", ".h", ".cpp"}:
                assert len(path.read_text(encoding="utf-8").splitlines()) <= 400, path


def test_every_public_name_stands_in_the_reference() -> None:
    page = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    named = set(re.findall(r"auto\w+:: lanesort\.([\w.]+)$", page, re.MULTILINE))
    functions = {f"{part}.{n}" for part in ("dask", "external") for n in getattr(lanesort, part).__all__}
    grouped = {"dask", "external", "neuron", "plan", "pto", "LanesortError"}
    assert set(lanesort.__all__) - grouped | functions <= named
