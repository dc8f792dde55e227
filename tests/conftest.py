"""Fixtures that every test shares."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# A shell starts what runs in its background with SIGINT ignored, and children inherit that: then
# no test of an interrupt could pass.
if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def golden() -> Path:
    """The folder of conformance data; without it a test is skipped, or fails where CI requires it."""
    folder = Path(os.environ.get("LANESORT_GOLDEN", ROOT.parent / "shared" / "golden"))
    if folder.is_dir():
        return folder
    reason = f"no golden data at {folder}; set LANESORT_GOLDEN to its folder"
    if os.environ.get("LANESORT_REQUIRE_GOLDEN") == "1":
        pytest.fail(reason)
    pytest.skip(reason)
