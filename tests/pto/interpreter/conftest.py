"""Fixtures of the interpreter's tests: example kernels, real scores, small programs."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lanesort.pto.interpreter import run
from lanesort.pto.program import Module
from lanesort.pto.result import RunResult
from lanesort.pto.text.parser import parse

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "examples" / "pto"

_SHORT = {"PTR": "!pto.ptr", "TILE": "!pto.tile_buf<vec, ", "VIEW": "!pto.partition_tensor_view"}


@pytest.fixture(scope="session")
def scores() -> np.ndarray:
    """Real scores: 16 rows of 8192 float32, with real ties."""
    return np.load(ROOT / "examples" / "debian-search" / "scores.npy")


@cache
def _parsed(name: str) -> Module:
    return parse((EXAMPLES / name).read_text(encoding="utf-8"), name)


@pytest.fixture(scope="session")
def example() -> Callable[[str], Module]:
    """Give an example kernel by file name, parsed once."""
    return _parsed


@pytest.fixture(scope="session")
def run_body() -> Callable[..., RunResult]:
    """Run a function made of an argument list and a body."""

    def run_it(arguments: str, body: str, *values: Any, **options: Any) -> RunResult:
        engine = options.pop("engine", "reference")
        text = f"func.func @kernel({arguments}) {{\n{body}\n  return\n}}\n"
        return run(text, values, engine=engine, **options)

    return run_it


@pytest.fixture(scope="session")
def best() -> Callable[[np.ndarray], np.ndarray]:
    """Give the order that everything has to agree with: stable, largest first."""
    return lambda row: np.argsort(-row.astype(np.float64), kind="stable")
