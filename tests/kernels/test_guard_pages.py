"""Every kernel with its arrays at guard pages: a read or a write beyond one ends the process.

So each kernel runs in a process of its own, on every SIMD target, for lengths around every change
of its way, from the first byte of a page and to the last of one, aligned and not.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from fuzz.drive import feed, load
from fuzz.head import DTYPES, TARGETS, Head

from tests.faults import child

KERNELS = [
    "target_core:fuzz_sort",
    "target_core:fuzz_top_k",
    "target_core:fuzz_compact",
    "target_core:fuzz_gather",
    "target_core:fuzz_keys",
    "target_merge:fuzz_merge",
    "target_merge:fuzz_words",
]
LENGTHS = sorted({*range(18), *(2**e + d for e in range(5, 12) for d in (-1, 0, 1)), 4097, 12_000})
SEED = 20261130
CHILD = """
import sys
from tests.kernels.test_guard_pages import run
sys.stdout.write(str(run(sys.argv[1], sys.argv[2])))
"""
BEYOND = """
import sys
from fuzz.guard import Fenced
import numpy as np
fenced = Fenced((4,), "u4", at_end=sys.argv[1] == "end")
beyond = np.lib.stride_tricks.as_strided(fenced.array, (5,), (4 if sys.argv[1] == "end" else -4,))
print(beyond.tolist())
"""


def cases() -> Iterator[bytes]:
    """An input for each target, length, width of keys, and edge of the inputs; the rest at random."""
    rng = np.random.default_rng(SEED)
    widths = [[n for n, dtype in enumerate(DTYPES) if dtype.itemsize == size] for size in (1, 2, 4, 8)]
    for target, columns, width, at_end in product(range(len(TARGETS)), LENGTHS, widths, (0, 1)):
        # Rows one after the other and arrays right at the pages, half of the time.
        shift, gap = (int(n) * int(rng.integers(2)) for n in rng.integers(0, 256, 2))
        yield Head(
            dtype=int(rng.choice(width)),
            order=int(rng.integers(256)),
            target=target,
            layout=int(rng.integers(128)) & ~1 | at_end,
            shift=shift,
            gap=gap,
            rows=int(rng.integers(8)) if columns < 200 else 0,
            threads=int(rng.integers(3)) if rng.random() < 0.1 else 0,
            columns=columns,
            extra=int(rng.integers(1 << 16)),
            offset=int(rng.integers(1 << 16)),
        ).pack(rng.bytes(int(rng.choice([1, 16, 600]))))


def run(kernel: str, current: str) -> int:
    """Run a kernel on all cases; what the child process does."""
    return feed(load(kernel), cases(), Path(current))


@pytest.mark.parametrize("kernel", KERNELS)
def test_kernels_keep_to_their_arrays(kernel: str, tmp_path: Path) -> None:
    current = tmp_path / "input"
    try:
        held = child.run(CHILD, kernel, current)
    except AssertionError as error:
        data = current.read_bytes() if current.exists() else b""
        pytest.fail(f"{kernel}({data!r}) failed (seed {SEED}): {error}")
    assert int(held) == len(TARGETS) * len(LENGTHS) * 8


@pytest.mark.parametrize("edge", ["start", "end"])
def test_a_guard_page_ends_who_touches_it(edge: str) -> None:
    with child.start(BEYOND, edge) as process:
        process.communicate(timeout=60)
    assert process.returncode < 0
