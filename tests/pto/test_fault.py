"""Known faults of other implementations: which sizes meet them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lanesort import pto
from lanesort.errors import ArgumentValueError
from lanesort.pto.fault import FAULTS


def names(columns: int, dtype: str, target: str, **sizes: int) -> list[str]:
    return [fault.name for fault in pto.known_faults(columns, dtype, target, **sizes)]


BITES: dict[str, tuple[list[Any], list[Any]]] = {
    "a5-tail-underflow-255": (
        [(8129, "float32", "a5"), (8159, "float16", "a5")],
        [
            (8128, "float32", "a5"),
            (8160, "float32", "a5"),
            (8161, "float32", "a5"),
            (8129, "float32", "a2a3"),
        ],
    ),
    "a5-tail-underflow-510": (
        [(16289, "float32", "a5"), (16319, "float16", "a5")],
        [(16288, "float32", "a5"), (16320, "float32", "a5"), (16289, "float32", "a2a3")],
    ),
    "a5-last-group-skipped": (
        [(16320, "float32", "a5")],
        [(8160, "float32", "a5"), (16352, "float32", "a5"), (16320, "float32", "a2a3")],
    ),
    "cpu-half-placement": (
        [(33, "float16", "cpu"), (64, "int16", "cpu")],
        [(32, "float16", "cpu"), (64, "float32", "cpu"), (64, "float16", "a5")],
    ),
}


@pytest.mark.parametrize("name", BITES)
def test_fault_bites_at_its_sizes_only(name: str) -> None:
    bitten, spared = BITES[name]
    for job in bitten:
        assert names(*job) == [name]
    for job in spared:
        assert name not in names(*job)


def test_one_idx_row_under_the_simulator() -> None:
    assert names(64, "float32", "cpu", rows=3, idx_rows=1) == ["cpu-one-idx-row"]
    assert names(64, "float32", "cpu", rows=1, idx_rows=1) == []
    assert names(64, "float32", "a5", rows=3, idx_rows=1) == []


def test_wide_idx_under_the_simulator() -> None:
    assert names(13, "float32", "cpu", idx_columns=16) == ["cpu-wide-idx"]
    assert names(13, "float32", "a2a3", idx_columns=16) == []


def test_every_fault_is_explained_and_tested() -> None:
    assert {fault.name for fault in FAULTS} == {*BITES, "cpu-one-idx-row", "cpu-wide-idx"}
    assert all(fault.effect and fault.cause and fault.advice and fault.where for fault in FAULTS)
    with pytest.raises(ArgumentValueError, match="negative"):
        pto.known_faults(-1, "float32")


@pytest.mark.parametrize("name", ["tsort32_f16_aligned", "tsort32_broadcast_idx"])
def test_faults_tell_where_the_simulator_leaves_the_documented_result(golden: Path, name: str) -> None:
    with np.load(golden / "pto" / f"{name}.npz", allow_pickle=False) as file:
        for case in json.loads(str(file["meta"]))["cases"]:
            dtype = {"f32": "float32", "f16": "float16"}[case["dtype"]]
            found = names(
                case["validCol"],
                dtype,
                "cpu",
                rows=case["validRow"],
                idx_rows=case.get("idxRows", case["validRow"]),
                idx_columns=case.get("idxValidCol", case["validCol"]),
            )
            assert bool(found) != case.get("raw_equals_blockwise", False)
