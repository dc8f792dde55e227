"""Fixtures of the kernel tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lanesort import _core


@pytest.fixture(params=_core.targets())
def target(request: pytest.FixtureRequest) -> Iterator[str]:
    """Run a test on one SIMD target alone."""
    _core.set_targets([request.param])
    yield request.param
    _core.set_targets([])
