"""Cases about instructions of an accelerator."""

from __future__ import annotations

import numpy as np
import pytest

from lanesort import pto


@pytest.mark.parametrize("engine", ["reference", "native", "datapath"])
def test_case_58_pairs_stand_interleaved_in_one_buffer(engine: str) -> None:
    """Not in two tiles: v0 i0 v1 i1 …, with the bits of an index in the place of a float."""
    dst = np.asarray(pto.tsort32(np.arange(32, dtype=np.float32)[None], target="a5", engine=engine))
    assert dst.dtype == np.float32
    assert dst.shape == (1, 64)
    assert dst[0, 0::2].tolist() == list(range(31, -1, -1))
    assert dst.view(np.uint32)[0, 1::2].tolist() == list(range(31, -1, -1))
