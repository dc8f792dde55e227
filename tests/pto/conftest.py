"""What the PTO tests share: the engines that are there."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

ENGINES = ["reference", "datapath", *(["native"] if find_spec("lanesort.engine.native") else [])]


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    """Name of an engine."""
    return str(request.param)
