"""Arguments of a wrong kind are refused in our own words, and dtypes may be named as NumPy names them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from lanesort import neuron
from lanesort.errors import ArgumentTypeError, ArgumentValueError
from lanesort.neuron.dtype import dtype_code

SRC, DST = neuron.Tensor.at(0, 0, 4), neuron.Tensor.at(0, 64, (2, 4))
CORE = neuron.NeuronCore("cayman", engine="reference")
ANYTHING: Any = None


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: CORE.sbuf.read(0, 0, 1, "fp64"), ArgumentValueError, "dtype is 'fp64'; known are u64, i8"),
        (lambda: CORE.sbuf.read(0, 0, 1, None), ArgumentTypeError, "dtype is None"),
        (lambda: neuron.decode(ANYTHING), ArgumentTypeError, "a word is 64 bytes; got NoneType"),
        (lambda: neuron.assemble(b"sort"), ArgumentTypeError, "assembly is bytes; it is a str"),
        (lambda: neuron.assemble_program(ANYTHING), ArgumentTypeError, "assembly is NoneType"),
        (lambda: CORE.run(ANYTHING), ArgumentTypeError, "program is None; expected instructions"),
        (lambda: CORE.run("sort"), ArgumentTypeError, "program is 'sort'; expected instructions"),
        (lambda: neuron.Tensor.at(0, 0, 1.5), ArgumentTypeError, "counts is 1.5, which is not a whole"),
        (lambda: neuron.Tensor.at(0, 0, (2, 1.5)), ArgumentTypeError, r"counts\[1\] is 1.5"),
        (lambda: neuron.Tensor.at("a", 0, 1), ArgumentTypeError, "partition is 'a', which is not a whole"),
        (lambda: neuron.Tensor.at(0, 0, 2, "a"), ArgumentTypeError, "steps is 'a'"),
        (lambda: neuron.Sort(src=SRC, dst=DST, dtype=None), ArgumentTypeError, "dtype is None; known are"),
        (lambda: neuron.Sort(src=SRC, dst=DST, dtype="fp64"), ArgumentValueError, "dtype is 'fp64'"),
        (lambda: neuron.Sort(src=SRC, dst=DST, dtype=np.float64), ArgumentValueError, "known are u64"),
    ],
)
def test_what_does_not_fit_is_refused(call: Callable[[], object], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize(
    ("given", "name"),
    [
        (np.float32, "fp32"),
        ("float32", "fp32"),
        (np.dtype(">f4"), "fp32"),
        ("bfloat16", "bf16"),
        (ml_dtypes.bfloat16, "bf16"),
        (np.uint16, "u16"),
        (10, "fp32"),
    ],
)
def test_dtypes_by_their_names_in_numpy(given: object, name: str) -> None:
    assert dtype_code(given) == dtype_code(name)
    assert neuron.Sort(src=SRC, dst=DST, dtype=given) == neuron.Sort(src=SRC, dst=DST, dtype=name)


def test_tensors_take_whole_numbers_of_numpy() -> None:
    assert neuron.Tensor.at(np.int64(0), np.uint8(0), np.array([2, 4])) == neuron.Tensor.at(0, 0, (2, 4))


@pytest.mark.parametrize(
    ("array", "advice"),
    [
        (np.array([1.0]), r"float64.*astype\(np.float32\)"),
        ([1.0, 2.0], "float64"),
        (np.array([1j], np.complex64), "complex64"),
        (np.array(["a"]), "<U1"),
        (np.array([None]), "object"),
        (np.array(["2026-01-01"], "datetime64[D]"), "datetime64"),
        (np.array([b"ab"], "V2"), "name the dtype"),
    ],
)
def test_sbuf_takes_dtypes_that_the_core_has(array: Any, advice: str) -> None:
    with pytest.raises(ArgumentTypeError, match=advice):
        CORE.sbuf.write(0, 0, array)


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.bool_, ">f4", ml_dtypes.bfloat16, np.float16])
def test_sbuf_keeps_the_dtypes_that_exist(dtype: Any) -> None:
    CORE.sbuf.write(0, 0, np.ones(3, dtype))
    held = CORE.sbuf.read(0, 0, 3, np.dtype(dtype).newbyteorder("<"))
    assert held.astype(int).tolist() == [1, 1, 1]


def test_a_part_of_a_program_keeps_its_numbers() -> None:
    core = neuron.NeuronCore("cayman", engine="reference")
    word = neuron.Sort(src=neuron.Tensor.at(0, 0x800, 1), dst=neuron.Tensor.at(0, 0x900, (2, 1)), channels=1)
    (warning,) = core.run([word], first=7).warnings
    assert warning.startswith(
        "instruction 7: 1 element was never written and read as 0 (src: partition 0, bytes"
    )
