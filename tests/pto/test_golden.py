"""TSORT32 and TMRGSORT under ``cpu`` against the outputs of the public CPU simulator, bit for bit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lanesort import pto
from lanesort.pto import Merge, MergeOperands, TileOperand

FILL = 0xA5
DTYPES = {"f32": np.float32, "f16": np.float16}
SORT_FILES = (
    "tsort32_f32_aligned",
    "tsort32_f16_aligned",
    "tsort32_f32_tails",
    "tsort32_f32_256blocks",
    "tsort32_broadcast_idx",
)


def cases(golden: Path, name: str) -> list[tuple[dict[str, Any], dict[str, np.ndarray]]]:
    with np.load(golden / "pto" / f"{name}.npz", allow_pickle=False) as file:
        listed = json.loads(str(file["meta"]))["cases"]
        arrays = {key: file[key] for key in file.files if key != "meta"}
    assert listed
    return [
        (case, {key.split("_", 1)[1]: a for key, a in arrays.items() if key.startswith(f"c{k}_")})
        for k, case in enumerate(listed)
    ]


@pytest.mark.parametrize("name", SORT_FILES)
def test_tsort32_equals_the_blockwise_simulator(golden: Path, name: str, engine: str) -> None:
    compared = 0
    for case, arrays in cases(golden, name):
        if "dst_blockwise" not in arrays or "idxValidCol" in case:
            continue  # the fault on record: idx wider than src, nothing written
        rows, columns = case["validRow"], case["validCol"]
        src = arrays["src_bits"].view(DTYPES[case["dtype"]])[:rows, :columns]
        idx = arrays["idx"][: 1 if case["idxRows"] == 1 else rows, :columns]
        dst = pto.tsort32(src, idx, target="cpu", fill=FILL, engine=engine)
        wanted = arrays["dst_blockwise"]
        bits = np.asarray(dst).view(wanted.dtype)
        np.testing.assert_array_equal(bits, wanted[:rows, : bits.shape[1]], err_msg=f"{name} {case}")
        compared += 1
    assert compared


@pytest.mark.parametrize("name", ["tmrgsort_single_f32", "tmrgsort_single_f16"])
def test_single_list_merges_equal_the_simulator(golden: Path, name: str, engine: str) -> None:
    for case, arrays in cases(golden, name):
        src = arrays["src_bits"].view(DTYPES[case["dtype"]])
        dst = pto.tmrgsort(src, case["blockLen"], target="cpu", engine=engine)
        np.testing.assert_array_equal(
            np.asarray(dst).view(arrays["dst"].dtype)[0], arrays["dst"], err_msg=str(case)
        )


def test_list_merges_equal_the_simulator(golden: Path, engine: str) -> None:
    for case, arrays in cases(golden, "tmrgsort_multi_f32"):
        lists = [arrays[f"src{n}_bits"].view(np.float32)[None, :] for n in range(len(case["lens"]))]
        wanted = arrays["dst"]
        columns = case.get("dstValidCol", 2 * sum(case["lens"]))
        dst = np.full((1, 4 * wanted.size), FILL, np.uint8).view(np.float32)
        operands = MergeOperands(
            TileOperand.of("dst", np.float32, 1, wanted.size, valid=(1, columns)),
            tuple(TileOperand.of(f"src{n}", np.float32, 1, part.shape[1]) for n, part in enumerate(lists)),
            exhausted=case["exhausted"],
        )
        outcome = Merge(operands, "cpu", engine).run(dst, lists)
        assert outcome.executed == tuple(arrays["executed"].tolist()), case
        np.testing.assert_array_equal(dst.view(np.uint32)[0], wanted, err_msg=str(case))
