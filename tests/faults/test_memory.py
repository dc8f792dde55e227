"""Too little address space is a MemoryError; what comes after works; nothing leaks."""

from __future__ import annotations

import pytest

from tests.faults.child import run

STARVED = """
import resource, sys
import numpy as np
import lanesort as ls

rng = np.random.default_rng(11)
x = rng.standard_normal(600_000).astype(np.float32)
rows = x.reshape(300, 2000)
runs = [ls.sort(part) for part in np.split(x, 3)]
calls = {
    "sort": lambda: ls.sort(x, threads=2),
    "argsort": lambda: ls.argsort(x, threads=2),
    "argsort of rows": lambda: ls.argsort(rows, threads=2),
    "sort_pairs of uint64": lambda: ls.sort_pairs(x.astype(np.float64)),
    "sort_by_key": lambda: ls.sort_by_key(x, x.astype(np.float64)),
    "top_k": lambda: ls.top_k(rows, 500, threads=2),
    "merge": lambda: ls.merge(runs, threads=2),
    "flatnonzero": lambda: ls.flatnonzero(x, threads=2),
    "ragged": lambda: ls.sort_pairs(rows, lengths=np.full(300, 1500)),
}
name = sys.argv[1]
def bits(found):
    parts = found if isinstance(found, tuple) else (found,)
    return [part.tobytes() for part in parts if not isinstance(part, int)]

expected = bits(calls[name]())
used = next(int(l.split()[1]) for l in open("/proc/self/status") if l.startswith("VmSize")) << 10
refused = 0
rooms = [0, *(1 << bits for bits in range(16, 25)), 1 << 30]
for room in rooms:
    resource.setrlimit(resource.RLIMIT_AS, (used + room, resource.RLIM_INFINITY))
    try:
        found = calls[name]()
    except (MemoryError, RuntimeError) as error:
        # Without room for a stack no thread can be had, which is a RuntimeError.
        assert isinstance(error, MemoryError) or "Resource" in str(error), repr(error)
        refused += 1
        continue
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
    assert bits(found) == expected
assert bits(calls[name]()) == expected
print(refused)
"""
CALLS = (
    "sort",
    "argsort",
    "argsort of rows",
    "sort_pairs of uint64",
    "sort_by_key",
    "top_k",
    "merge",
    "flatnonzero",
    "ragged",
)


@pytest.mark.parametrize("call", CALLS)
def test_too_little_memory_is_an_error_and_then_all_is_well(call: str) -> None:
    refused = int(run(STARVED, call))
    assert 1 <= refused < 11, "some rooms are too small, the largest is not"


LEAKING = """
import sys
import numpy as np
import lanesort as ls

def resident():
    return next(int(l.split()[1]) for l in open("/proc/self/status") if l.startswith("VmRSS")) << 10

rng = np.random.default_rng(12)
x = rng.standard_normal((4, 3000)).astype(np.float32)
long = rng.standard_normal(70_000).astype(np.float32)
runs = list(ls.sort(x))
unsorted = [x[0], x[1]]

def refused(call):
    try:
        call()
    except (ValueError, TypeError):
        return
    raise AssertionError("accepted")

def once(i):
    ls.sort(x[i % 4])
    ls.argsort(x[0, : i % 300])
    ls.sort_pairs(x[:, : i % 40], descending=True)
    ls.top_k(x[0], i % 50)
    ls.merge(runs)
    ls.flatnonzero(x[1])
    ls.sort_pairs(x, lengths=[1, 2, 3, 4])
    refused(lambda: ls.top_k(x, 4000))
    refused(lambda: ls.merge(unsorted))
    refused(lambda: ls.sort(np.array([1j])))
    if i % 50 == 0:
        ls.argsort(long, threads=2)

calls = int(sys.argv[1])
for i in range(300):
    once(i)
before = resident()
for i in range(calls // 10):
    once(i)
print(resident() - before)
"""
MOST_GROWTH_BYTES = 8 << 20


def test_ten_thousand_calls_leak_nothing() -> None:
    assert int(run(LEAKING, 10_000)) < MOST_GROWTH_BYTES


@pytest.mark.nightly
def test_a_million_calls_leak_nothing() -> None:
    """A leak of nine bytes a call would show."""
    assert int(run(LEAKING, 1_000_000, seconds=3000)) < MOST_GROWTH_BYTES


MODEL_LEAKING = """
import sys
import numpy as np
from lanesort import neuron, pto

def resident():
    return next(int(l.split()[1]) for l in open("/proc/self/status") if l.startswith("VmRSS")) << 10

x = np.random.default_rng(13).standard_normal((1, 64)).astype(np.float32)
word = neuron.assemble("sort.fp32.desc.stable ch=1 src=[p0+0x0, 8:1] dst=[p0+0x2000, 2:8 8:1]")
data = word.encode()

def once():
    assert neuron.decode(data) == word
    word.validate("cayman")
    pto.tsort32(x)

for i in range(200):
    once()
before = resident()
for i in range(int(sys.argv[1])):
    once()
print(resident() - before)
"""


def test_models_leak_nothing() -> None:
    assert int(run(MODEL_LEAKING, 3_000)) < MOST_GROWTH_BYTES
