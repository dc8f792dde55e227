"""SBUF: bounds, dtypes, what was written, and views of any step."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanesort.errors import ArgumentTypeError, ArgumentValueError, MachineError
from lanesort.neuron import GENERATIONS, Access, Sbuf

U4 = np.dtype("<u4")


def a_sbuf() -> Sbuf:
    return Sbuf(GENERATIONS["cayman"])


@pytest.mark.parametrize("dtype", ["fp32", "bf16", "u16", np.float16, ml_dtypes.bfloat16, ">i4"])
def test_what_is_written_is_read(dtype: object) -> None:
    sbuf = a_sbuf()
    given_ = np.array([1, 2, 3]).astype("float32" if dtype == "fp32" else np.int32)
    sbuf.write(5, 10, given_)
    assert sbuf.read(5, 10, 3, given_.dtype).tolist() == [1, 2, 3]
    assert sbuf.read(5, 10, 3, dtype).shape == (3,)


def test_rows_go_to_partitions() -> None:
    sbuf = a_sbuf()
    sbuf.write(126, 4, np.array([[1, 2], [3, 4]], np.int16))
    assert sbuf.read(127, 4, 2, "i16").tolist() == [3, 4]


def test_big_endian_arrays_are_stored_little_endian() -> None:
    sbuf = a_sbuf()
    sbuf.write(0, 0, np.array([1], ">u4"))
    assert sbuf.read(0, 0, 4, np.uint8).tolist() == [1, 0, 0, 0]


@pytest.mark.parametrize(
    ("partition", "offset", "says"),
    [
        (128, 0, "partitions 128 to 128; SBUF has 0 to 127"),
        (-1, 0, "partitions -1"),
        (0, 224 * 1024 - 3, "bytes 229373 to 229376; a partition has bytes 0 to 229375"),
        (0, -1, "bytes -1"),
    ],
)
def test_nothing_lies_outside(partition: int, offset: int, says: str) -> None:
    sbuf = a_sbuf()
    with pytest.raises(ArgumentValueError, match=says):
        sbuf.write(partition, offset, np.zeros(1, np.uint32))
    with pytest.raises(ArgumentValueError, match=says):
        sbuf.read(partition, offset, 1, "u32")


def test_arrays_without_bytes_are_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="NeuronCore has not"):
        a_sbuf().write(0, 0, np.array([None]))
    with pytest.raises(ArgumentTypeError, match="no bytes to read"):
        a_sbuf().read(0, 0, 1, object)
    with pytest.raises(ArgumentValueError, match="3 dimensions"):
        a_sbuf().write(0, 0, np.zeros((1, 1, 1), np.uint8))
    with pytest.raises(ArgumentValueError, match="bytes 0 to -5"):
        a_sbuf().read(0, 0, -1, "u32")


def test_unwritten_elements_are_counted() -> None:
    sbuf = a_sbuf()
    sbuf.write(0, 0, np.ones(6, np.uint8))
    assert sbuf.unwritten(Access("src", range(1), 0, (1,), (4,), U4)) == 3
    sbuf.write(0, 6, np.ones(10, np.uint8))
    assert sbuf.unwritten(Access("src", range(1), 0, (1,), (4,), U4)) == 0
    assert sbuf.unwritten(Access("src", range(2), 0, (2,), (2,), U4)) == 2


def test_an_access_outside_the_memory_is_refused() -> None:
    with pytest.raises(MachineError, match="partitions 120–135, bytes 0–3 lies outside"):
        a_sbuf().view(Access("src", range(120, 136), 0, (1,), (1,), U4))
    with pytest.raises(MachineError, match="lies outside"):
        a_sbuf().view(Access("src", range(1), 0, (-1,), (2,), U4))


@given(
    st.lists(st.tuples(st.integers(-20, 20), st.integers(1, 5)), min_size=1, max_size=3),
    st.integers(0, 2**32 - 1),
)
def test_views_are_what_their_offsets_say(dimensions: list[tuple[int, int]], seed: int) -> None:
    steps, counts = zip(*dimensions, strict=True)
    access = Access("src", range(2, 4), 40_000, steps, counts, U4)
    sbuf = SHARED
    data = np.random.default_rng(seed).integers(0, 1 << 32, (2, access.elements), dtype=np.uint32)
    sbuf.put(access, data)
    for row, partition in enumerate(access.partitions):
        expected = dict(zip(access.offsets.tolist(), data[row].tolist(), strict=True))
        for offset, value in expected.items():
            assert sbuf.read(partition, offset, 1, "u32")[0] == value
    flat = sbuf.view(access).reshape(2, -1)
    if not access.overlaps_itself:
        assert (flat == data).all()
    assert access.span == (access.offsets.min(), access.offsets.max() + 4)
    assert sbuf.unwritten(access) == 0


SHARED = a_sbuf()


def test_accesses_meet_only_on_shared_partitions() -> None:
    one = Access("src", range(16), 0, (1,), (4,), U4)
    assert one.meets(Access("dst", range(8, 9), 12, (1,), (4,), U4))
    assert not one.meets(Access("dst", range(16, 20), 12, (1,), (4,), U4))
    assert not one.meets(Access("dst", range(8, 9), 16, (1,), (4,), U4))
    assert str(Access("dst", range(0, 128, 16), 0, (1,), (1,), U4)).startswith(
        "dst: partitions 0–112 (every 16th)"
    )
    assert str(Access("dst", range(0), 0, (1,), (1,), U4)) == "dst: no partition"
