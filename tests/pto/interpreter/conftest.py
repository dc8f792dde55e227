"""Fixtures of the interpreter's tests: example kernels and real scores."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from lanesort.pto.program import Module
from lanesort.pto.text.parser import parse

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "examples" / "pto"


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
def best() -> Callable[[np.ndarray], np.ndarray]:
    """Give the order that everything has to agree with: stable, largest first."""
    return lambda row: np.argsort(-row.astype(np.float64), kind="stable")
