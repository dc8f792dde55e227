"""sort_pairs of the native core, on every SIMD target, against the key map and a stable argsort."""

from __future__ import annotations

import ctypes
import platform
import signal
import threading
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from lanesort import _core
from lanesort.order import KEY_CLASSES, Order, keys

Array = np.ndarray[Any, Any]

TARGETS = _core.targets()
DTYPES = ("float32", "float16", "float64", "int32", "int64", "uint16", "int8", "float8_e5m2")
PATTERNS = ("random", "equal", "three", "sorted", "reversed", "organ", "special")
ORDERS = (
    Order(),
    Order(descending=True),
    Order(descending=True, nan="largest"),
    Order(nan="sign-magnitude", tie="high"),
    Order(descending=True, nan="total"),
    Order(tie="high", zero="signed"),
)
GUARD = 0xA5
# Around every change of the way: registers, batches, padding, networks, partition.
EDGES = (2047, 2049, 3000, 4095, 4096, 4097, 8193, 20_000, 65_536, 65_537)


def native_order(name: str, order: Order) -> _core.KeyOrder:
    cls = KEY_CLASSES[name]
    return _core.KeyOrder(
        cls.bits,
        cls.kind,
        cls.infinity,
        order.nan,
        order.descending,
        order.zero == "equal",
        order.tie == "high",
    )


def special_bits(name: str) -> Array:
    """Zeros, infinities, NaNs, denormals and ones of a dtype, of both signs."""
    cls = KEY_CLASSES[name]
    sign = 1 << (cls.bits - 1)
    magnitudes = [0, 1, 2, cls.infinity, cls.infinity + 1, sign - 1]
    return np.array([m | s for m in magnitudes for s in (0, sign)], dtype=np.uint64).astype(cls.unsigned)


def make(name: str, pattern: str, n: int, rng: np.random.Generator) -> Array:
    """Bits of `n` values in the pattern."""
    cls = KEY_CLASSES[name]
    bits = rng.integers(0, 256, (max(n, 1), cls.bits // 8), dtype=np.uint8).view(cls.unsigned).ravel()[:n]
    if pattern == "special":
        return np.where(rng.random(n) < 0.5, rng.choice(special_bits(name), n), bits).astype(cls.unsigned)
    if pattern in ("equal", "three"):
        return rng.choice(bits[: 1 if pattern == "equal" else 3], n) if n else bits
    if pattern == "random":
        return bits
    ordered = bits[reference(bits, name, Order())]
    if pattern == "sorted":
        return ordered
    return (
        ordered[::-1].copy() if pattern == "reversed" else np.concatenate([ordered[::2], ordered[1::2][::-1]])
    )


def reference(bits: Array, name: str, order: Order) -> Array:
    key = keys(bits.view(value_dtype(name)), order)
    if order.tie == "high":
        return np.asarray(len(bits) - 1 - np.argsort(key[::-1], kind="stable"))
    return np.argsort(key, kind="stable")


def value_dtype(name: str) -> np.dtype[Any]:
    return np.dtype(getattr(ml_dtypes, name, name))


def guarded(shape: tuple[int, int], dtype: np.dtype[Any]) -> tuple[Array, Array]:
    """An output at an odd address, and the bytes around it."""
    size = shape[0] * shape[1] * dtype.itemsize
    raw = np.full(size + 130, GUARD, np.uint8)
    return raw[65 : 65 + size].view(dtype).reshape(shape), raw


def guards_hold(raw: Array) -> bool:
    return bool((raw[:65] == GUARD).all() and (raw[-65:] == GUARD).all())


def any_nan(bits: Array, name: str) -> bool:
    cls = KEY_CLASSES[name]
    return cls.kind == "float" and bool((bits & ((1 << (cls.bits - 1)) - 1) > cls.infinity).any())


def check_row(name: str, bits: Array, order: Order, index: str = "u4") -> None:
    """Pairs, values alone and positions alone of one row, misaligned, with guards around."""
    n = len(bits)
    want = reference(bits, name, order)
    x, _ = guarded((1, n), bits.dtype)
    x[0] = bits
    values, around_values = guarded((1, n), bits.dtype)
    indices, around_indices = guarded((1, n), np.dtype(index))
    native = native_order(name, order)
    nan = _core.sort_pairs(x, native, values, indices, look_for_nan=True)
    assert nan == any_nan(bits, name)
    np.testing.assert_array_equal(indices[0], want.astype(index))
    np.testing.assert_array_equal(values[0], bits[want])
    values.fill(0)
    _core.sort_pairs(x, native, values, None)
    np.testing.assert_array_equal(values[0], bits[want])
    indices.fill(0)
    _core.sort_pairs(x, native, None, indices, offset=5)
    np.testing.assert_array_equal(indices[0], (want + 5).astype(index))
    assert guards_hold(around_values)
    assert guards_hold(around_indices)
    np.testing.assert_array_equal(x[0], bits)


@pytest.mark.parametrize("name", DTYPES)
def test_every_length(name: str, target: str) -> None:
    rng = np.random.default_rng(1)
    step = 1 if target == TARGETS[0] else 7
    for n in range(0, 1026, step):
        pattern = PATTERNS[(n // step) % len(PATTERNS)]
        check_row(name, make(name, pattern, n, rng), ORDERS[n % len(ORDERS)], ("u4", "u8", "u2")[n % 3])


@pytest.mark.nightly
@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("name", DTYPES)
def test_every_length_of_every_pattern(name: str, pattern: str, target: str) -> None:
    rng = np.random.default_rng(2)
    for n in range(1026):
        for order in ORDERS:
            check_row(name, make(name, pattern, n, rng), order)


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("name", DTYPES)
def test_long_rows(name: str, pattern: str, target: str) -> None:
    rng = np.random.default_rng(3)
    for at, n in enumerate(EDGES if target == TARGETS[0] else EDGES[::3]):
        check_row(name, make(name, pattern, n, rng), ORDERS[at % len(ORDERS)])


@pytest.mark.parametrize("turns", [1, 3, 4])
@pytest.mark.parametrize("columns", [1, 8, 31, 32, 33, 600])
@pytest.mark.parametrize("name", ["float32", "float16"])
def test_payloads_that_count_up_and_those_that_nearly_do(
    name: str, columns: int, turns: int, target: str
) -> None:
    rng = np.random.default_rng(columns)
    x = np.stack([make(name, "special", columns, rng) for _ in range(12 * turns)])
    starts = rng.integers(0, 1 << 32, (turns, 1), np.uint32)
    payload = starts + np.arange(columns, dtype=np.uint32)
    for fault in (None, (0, 0), (turns - 1, columns - 1)):
        if fault is not None:
            payload[fault] ^= 1
        words = np.zeros((*x.shape, 2), np.uint32)
        _core.sort_pairs(x, native_order(name, Order()), words[..., 0], words[..., 1], payload=payload)
        for row, bits in enumerate(x):
            want = reference(bits, name, Order())
            np.testing.assert_array_equal(words[row, :, 0], bits[want])
            np.testing.assert_array_equal(words[row, :, 1], payload[row % turns][want])


@pytest.mark.parametrize("rows", [1, 2, 7, 8, 9, 16, 33])
@pytest.mark.parametrize("columns", [1, 4, 9, 31, 32, 64, 65])
@pytest.mark.parametrize("name", ["float32", "float16", "int64"])
def test_rows_of_any_number_with_lengths_strides_and_payload(
    name: str, rows: int, columns: int, target: str
) -> None:
    rng = np.random.default_rng(rows * 100 + columns)
    order = Order(descending=True)
    wide = np.stack([make(name, "special", columns + 3, rng) for _ in range(2 * rows)])
    x = wide[::-2, 1 : columns + 1]
    lengths = rng.integers(0, columns + 1, rows)
    payload = rng.integers(0, 2**32, (rows, columns), dtype=np.uint32)
    values = np.full((rows, columns), 77, x.dtype)
    indices = np.full((rows, columns), 77, np.uint32)
    found = native_order(name, order), values, indices
    nan = _core.sort_pairs(x, *found, payload=payload, lengths=lengths, look_for_nan=True)
    assert nan == any(any_nan(x[row, :length], name) for row, length in enumerate(lengths))
    for row, length in enumerate(lengths):
        want = reference(x[row, :length].copy(), name, order)
        np.testing.assert_array_equal(values[row, :length], x[row][want])
        np.testing.assert_array_equal(indices[row, :length], payload[row][want])
        assert (values[row, length:] == 77).all()
        assert (indices[row, length:] == 77).all()


@pytest.mark.parametrize("carries", [False, True])
@pytest.mark.parametrize("columns", [1, 3, 32, 100, 5000])
@pytest.mark.parametrize("name", ["float32", "float16"])
def test_pairs_are_interleaved(name: str, columns: int, carries: bool, target: str) -> None:
    rng = np.random.default_rng(5)
    bits = np.stack([make(name, "special", columns, rng) for _ in range(9)])
    pairs = np.full((9, columns, 2), 0xFFFFFFFF, np.uint32)
    payload = rng.integers(0, 1 << 32, (9, columns), np.uint32) if carries else None
    slots = pairs.view(bits.dtype).reshape(9, columns, -1)
    _core.sort_pairs(bits, native_order(name, Order()), slots[..., 0], pairs[..., 1], payload=payload)
    for row in range(9):
        want = reference(bits[row], name, Order())
        np.testing.assert_array_equal(pairs[row, :, 0], bits[row][want])
        np.testing.assert_array_equal(pairs[row, :, 1], want if payload is None else payload[row][want])


def test_offset_wraps_and_one_payload_serves_all_rows(target: str) -> None:
    x = np.array([[3, 1, 2], [9, 8, 7]], np.uint32)
    order = native_order("uint32", Order())
    indices = np.empty((2, 3), np.uint16)
    _core.sort_pairs(x, order, None, indices, offset=65535)
    np.testing.assert_array_equal(indices, [[0, 1, 65535], [1, 0, 65535]])
    _core.sort_pairs(x, order, None, indices, payload=np.array([[10, 20, 30]], np.uint16))
    np.testing.assert_array_equal(indices, [[20, 30, 10], [30, 20, 10]])


@pytest.mark.skipif(platform.machine() != "x86_64", reason="sets the flush bits of MXCSR")
def test_denormals_keep_their_order_when_the_thread_flushes_them(target: str) -> None:
    rng = np.random.default_rng(6)
    libm = ctypes.CDLL("libm.so.6")
    before = (ctypes.c_uint32 * 8)()
    libm.fegetenv(before)
    flushing = (ctypes.c_uint32 * 8)(*before)
    flushing[7] |= 0x8040  # the last word of glibc's fenv_t is MXCSR; these are FTZ and DAZ
    for name, denormals in (("float32", 1 << 23), ("float64", 1 << 52)):
        unsigned = KEY_CLASSES[name].unsigned
        bits = rng.integers(0, denormals, 5000, dtype=np.uint64).astype(unsigned)
        bits[::2] |= unsigned.type(1 << (KEY_CLASSES[name].bits - 1))
        for n in (33, 5000):
            want = reference(bits[:n], name, Order())
            values, indices = np.empty((1, n), unsigned), np.empty((1, n), np.uint32)
            libm.fesetenv(flushing)
            _core.sort_pairs(bits[None, :n], native_order(name, Order()), values, indices)
            libm.fesetenv(before)
            np.testing.assert_array_equal(indices[0], want)
            np.testing.assert_array_equal(values[0], bits[want])


@pytest.mark.parametrize("threads", [2, 5])
@pytest.mark.parametrize("name", ["float32", "float64", "float16"])
def test_threads_change_nothing(name: str, threads: int) -> None:
    rng = np.random.default_rng(7)
    order = native_order(name, Order(descending=True))
    for shape in ((1, 400_000), (100, 1000)):
        bits = make(name, "special", shape[0] * shape[1], rng).reshape(shape)
        results = []
        for count in (1, threads):
            values, indices = np.empty_like(bits), np.empty(shape, np.uint32)
            control = _core.Control()
            _core.sort_pairs(bits, order, values, indices, threads=count, control=control)
            assert control.done == control.total == bits.size
            alone = np.empty_like(bits)
            _core.sort_pairs(bits, order, alone, None, threads=count)
            np.testing.assert_array_equal(alone, values)
            results.append((values, indices))
        np.testing.assert_array_equal(results[0][0], results[1][0])
        np.testing.assert_array_equal(results[0][1], results[1][1])


def test_cancel_ends_a_call() -> None:
    x = np.random.default_rng(8).integers(0, 2**32, (1, 20_000_000), dtype=np.uint32)
    out = np.empty_like(x)
    control = _core.Control()
    timer = threading.Timer(0.02, control.cancel)
    timer.start()
    with pytest.raises(_core.Cancelled, match="cancelled"):
        _core.sort_pairs(x, native_order("uint32", Order()), out, np.empty_like(x), control=control)
    timer.join()
    assert control.done < control.total


def sort_for_long(x: Array) -> None:
    for _ in range(20):
        _core.sort_pairs(x, native_order("uint32", Order()), np.empty_like(x), np.empty_like(x))


def test_a_signal_ends_a_call() -> None:
    x = np.random.default_rng(9).integers(0, 2**32, (1, 20_000_000), dtype=np.uint32)
    main = threading.main_thread().ident
    assert main is not None
    timer = threading.Timer(0.05, signal.pthread_kill, (main, signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        sort_for_long(x)
    timer.join()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x": np.zeros((1, 1, 3), np.uint32)}, "x has 3 axes; it must have 2"),
        ({"x": np.zeros((2, 3), np.uint16)}, "x has items of 2 bytes; they must have 4"),
        ({"x": np.zeros((2, 6), np.uint32)[:, ::2]}, "x has items 8 bytes apart"),
        ({"values": np.zeros((2, 4), np.uint32)}, "values has length 4 along axis 1; it must have 3"),
        ({"indices": np.zeros((3, 3), np.uint32)}, "indices has length 3 along axis 0; it must have 2"),
        ({"indices": np.zeros((2, 3), np.uint8)}, "indices has items of 1 bytes; accepted are 2, 4, 8"),
        ({"payload": np.zeros((2, 3), np.uint64)}, "payload has items of 8 bytes; they must have 4"),
        ({"indices": None, "payload": np.zeros((2, 3), np.uint32)}, "payload is given but indices is None"),
        ({"indices": None, "look_for_nan": True}, "look_for_nan is given but indices is None"),
        ({"lengths": np.array([1, 4])}, "lengths \\[1\\] is 4; it must lie in 0 … 3"),
        ({"lengths": np.array([-1, 3])}, "lengths \\[0\\] is -1"),
    ],
)
def test_wrong_arrays_are_refused(change: dict[str, Any], message: str) -> None:
    good = {"x": np.zeros((2, 3), np.uint32), "values": np.zeros((2, 3), np.uint32)}
    good["indices"] = np.zeros((2, 3), np.uint32)
    with pytest.raises(ValueError, match=message):
        _core.sort_pairs(**{"order": native_order("uint32", Order()), **good, **change})


def test_read_only_outputs_are_refused() -> None:
    x = np.zeros((2, 3), np.uint32)
    values = np.zeros((2, 3), np.uint32)
    values.flags.writeable = False
    with pytest.raises((ValueError, BufferError)):
        _core.sort_pairs(x, native_order("uint32", Order()), values, None)


def test_unknown_target_is_refused() -> None:
    with pytest.raises(ValueError, match="accepted are"):
        _core.set_targets(["MMX"])
    assert _core.targets() == TARGETS
