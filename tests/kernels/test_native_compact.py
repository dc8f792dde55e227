"""The native nonzero against NumPy, on every SIMD target that runs here."""

from __future__ import annotations

import ctypes
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from lanesort import _core, reference
from lanesort.kernels.native_order import bits_view, key_order
from lanesort.order import Order

from ..patterns import DTYPES, PATTERNS
from .guarded import Guarded, misaligned

Array = npt.NDArray[Any]
RULES: tuple[Any, ...] = ("value", "ordered", "bits")
INDEX_DTYPES = (np.int32, np.uint32, np.int64, np.uint64)


def sparse(rng: np.random.Generator, n: int, dtype: np.dtype[Any], density: float) -> Array:
    """Specials, NaN and signed zeros among them, between zeros."""
    return np.where(rng.random(n) < density, PATTERNS["specials"](rng, n, dtype), np.zeros(1, dtype))


def check(x: Array, rule: Any, index: Any, capacity: int, offset: int = 0, **options: Any) -> None:
    order = key_order(x.dtype, Order())
    want = reference.nonzero(x, rule)
    out = Guarded(1, capacity, index)
    total = _core.compact(bits_view(x), rule, order, out.array[0], offset % 2**64, **options)
    kept = (want[:capacity] + offset).astype(index)
    np.testing.assert_array_equal(out.array[0, : kept.size], kept)
    assert not out.written()[0, kept.size * np.dtype(index).itemsize :].any()
    assert out.guards_hold()
    nonzeros = _core.Nonzeros(bits_view(x), rule, order, **options)
    assert total == want.size == nonzeros.count
    exact = Guarded(1, kept.size, index)
    nonzeros.positions(exact.array[0], offset % 2**64, **options)
    np.testing.assert_array_equal(exact.array[0], kept)
    assert exact.guards_hold()


@pytest.mark.parametrize("name", DTYPES)
def test_every_short_length(target: str, name: str) -> None:
    rng = np.random.default_rng(1)
    for n in range(301):
        x = misaligned(sparse(rng, n, DTYPES[name], (0.02, 0.5, 1.0)[n % 3]), n % 7)
        check(x, RULES[n // 3 % 3], INDEX_DTYPES[n % 4], n)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", ["uint8", "bool", "bfloat16", "float32", "float64", "datetime64"])
def test_what_counts_as_nonzero(target: str, name: str, rule: Any) -> None:
    for pattern in PATTERNS.values():
        x = np.ascontiguousarray(pattern(np.random.default_rng(2), 500, DTYPES[name]))
        check(x, rule, np.int64, x.size)


@pytest.mark.parametrize("density", [0.0, 0.01, 0.5, 0.99, 1.0])
def test_densities(target: str, density: float) -> None:
    rng = np.random.default_rng(3)
    for index in INDEX_DTYPES:
        check((rng.random(20_011) < density).astype(np.float32), "value", index, 20_011)


def test_a_short_output_gets_the_first_positions(target: str) -> None:
    x = sparse(np.random.default_rng(4), 5000, DTYPES["float16"], 0.6)
    for capacity in (0, 1, 15, 16, 63, 64, 65, 500, 1023, 1024, 2000):
        check(x, "value", np.uint32, capacity)


@pytest.mark.parametrize("offset", [7, -3, 2**31 - 100, 2**32 - 100])
def test_offsets_wrap_in_the_index_width(offset: int) -> None:
    check(np.ones(300, np.float32), "value", np.uint32, 300, offset)
    check(np.ones(300, np.float32), "value", np.int64, 300, offset)


@pytest.mark.parametrize("threads", [2, 3, 16])
@pytest.mark.parametrize("capacity", [0, 1000, 250_000, 700_001])
def test_threads_give_the_same(threads: int, capacity: int) -> None:
    x = sparse(np.random.default_rng(5), 700_001, DTYPES["float32"], 0.4)
    check(x, "ordered", np.int32, capacity, 11, threads=threads)


@contextmanager
def flushing_denormals() -> Iterator[None]:
    """Let the processor take denormals for zeros in this thread, as torch can ask it to."""
    libm = ctypes.CDLL("libm.so.6")
    saved = (ctypes.c_uint32 * 8)()  # fenv_t of glibc on x86-64; its last word is MXCSR
    libm.fegetenv(saved)
    flushing = (ctypes.c_uint32 * 8)(*saved)
    flushing[7] |= 0x8040
    libm.fesetenv(flushing)
    try:
        yield
    finally:
        libm.fesetenv(saved)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="MXCSR is a register of x86")
def test_denormals_are_nonzero_when_the_processor_flushes_them(target: str) -> None:
    x = np.array([0, 1, 1 << 31, (1 << 31) + 1, 0x7FFFFF] * 40, np.uint32).view(np.float32)
    bits, order = bits_view(x), key_order(x.dtype, Order())
    out = np.zeros(120, np.int32)
    with flushing_denormals():
        flushes = not (x[1:2] * np.float32(1)).view(np.uint32)[0]
        totals = [_core.compact(bits, rule, order, out) for rule in ("value", "ordered")]
    assert flushes
    assert totals == [120, 120]
    np.testing.assert_array_equal(out, np.flatnonzero(bits & 0x7FFFFFFF))


def test_several_pieces_with_progress() -> None:
    x = (np.arange(3 << 20) % 3 == 0).view(np.uint8)
    control = _core.Control()
    out = np.empty(1 << 20, np.uint32)
    assert _core.compact(x, "value", key_order(np.dtype(np.uint8), Order()), out, control=control) == 1 << 20
    np.testing.assert_array_equal(out, np.arange(0, 3 << 20, 3))
    assert control.done == control.total == x.size


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"rule": "odd"}, "rule is 'odd'; accepted are value, ordered, bits"),
        ({"x": np.zeros(4, np.uint16)}, "x has items of 2 bytes; they must have 4"),
        ({"x": np.zeros((2, 2), np.uint32)}, "x has 2 axes; it must have 1"),
        ({"indices_out": np.zeros(4, np.uint16)}, "indices_out has items of 2 bytes; accepted are 4, 8"),
        ({"indices_out": np.zeros(8, np.uint32)[::2]}, "indices_out has items 8 bytes apart"),
    ],
)
def test_wrong_arguments_are_refused(change: dict[str, Any], says: str) -> None:
    arguments: dict[str, Any] = {
        "x": np.zeros(4, np.uint32),
        "rule": "value",
        "order": key_order(np.dtype(np.uint32), Order()),
        "indices_out": np.zeros(4, np.uint32),
    }
    with pytest.raises(ValueError, match=says):
        _core.compact(**(arguments | change))


def test_positions_are_those_of_the_elements_as_read() -> None:
    x = np.ones(200, np.uint32)
    nonzeros = _core.Nonzeros(x, "value", key_order(x.dtype, Order()))
    x[:] = 0
    out = np.zeros(300, np.uint64)
    nonzeros.positions(out)
    np.testing.assert_array_equal(out, [*range(200), *[0] * 100])
    with pytest.raises(ValueError, match="indices_out has items of 2 bytes; accepted are 4, 8"):
        nonzeros.positions(np.zeros(200, np.uint16))


def test_a_cancelled_call_ends() -> None:
    control = _core.Control()
    control.cancel()
    x = np.zeros(100, np.uint32)
    order = key_order(x.dtype, Order())
    with pytest.raises(_core.Cancelled):
        _core.compact(x, "value", order, np.zeros(4, np.uint32), control=control)
    with pytest.raises(_core.Cancelled):
        _core.Nonzeros(x, "value", order, control=control)
    with pytest.raises(_core.Cancelled):
        _core.Nonzeros(x, "value", order).positions(np.zeros(4, np.uint32), control=control)
