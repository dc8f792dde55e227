"""What is measured: cases by id, with the peers and the ratio that each is to be beaten by."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

__all__ = ["CASES", "Case", "chosen"]


@dataclass(frozen=True)
class Case:
    """One row of the report.

    `shape` is rows × width, for merge runs × length. `goals` maps a peer to the ratio (its
    time over ours) that is aimed at; a goal of a case id instead of a peer compares with our
    own time on that case. `bytes_moved` and `exchanges`, per element, give the floor.
    """

    op: str
    dtype: str
    pattern: str
    shape: tuple[int, int]
    threads: int = 1
    k: int = 0
    goals: dict[str, float] = field(default_factory=dict)
    bytes_moved: float = 0.0
    exchanges: float = 0.0
    quick: bool = False
    case: str = ""

    @property
    def id(self) -> str:
        """``<op>-<dtype>-<pattern>-<shape>-<threads>``, k behind the op."""
        op = f"{self.op}{self.k}" if self.k else self.op
        return f"{op}-{self.dtype}-{self.pattern}-{self.shape[0]}x{self.shape[1]}-t{self.threads}"

    @property
    def elements(self) -> int:
        """Elements that one call works on."""
        return self.shape[0] * self.shape[1]


PACKED = {"numpy": 2.8, "torch": 8.0, "numpy-packed": 1.8, "vqsort": 1.2}
HALF = {"numpy": 12.0, "torch": 12.0}
TOP = {"torch": 3.0, "jax": 3.0, "numpy": 3.0, "onnxruntime": 1.5}
NONZERO = {"numpy": 6.0, "torch": 6.0, "polars": 6.0}


def network_exchanges(n: int) -> float:
    """Compare-exchanges an element of an odd-even merge sort of n."""
    levels = max(n - 1, 1).bit_length()
    return ((levels * levels - levels + 4) * 2 ** (levels - 2) - 1) / n if n > 1 else 0.0


def _rows() -> Iterator[Case]:
    for width in (32, 256, 2048, 4096):
        yield Case(
            "sort_pairs",
            "float32",
            "random",
            (max(1, (1 << 20) // width), width),
            goals=PACKED,
            bytes_moved=12,
            exchanges=network_exchanges(width),
            quick=width in (256, 4096),
        )
    for dtype in ("float16", "bfloat16"):
        for width in (256, 4096):
            yield Case(
                "sort_pairs",
                dtype,
                "random",
                ((1 << 20) // width, width),
                goals=HALF if dtype == "float16" else {"torch": 12.0},
                bytes_moved=6,
                exchanges=network_exchanges(width),
                quick=dtype == "float16" and width == 4096,
            )
    yield Case("sort_pairs", "float32", "random", (1024, 1024), goals={"numpy": 2.8})
    scaling = {"scaling of sort_pairs-float32-random-1024x1024-t1": 0.9}
    yield Case("sort_pairs", "float32", "random", (1024, 1024), threads=2, goals=scaling, case="77")
    for width in (8, 32, 64):
        yield Case("argsort", "float32", "random", (1, width), goals={"numpy": 1.0}, quick=width == 64)
    for pattern in ("nan0.1%", "zeros0.1%"):
        yield Case(
            "sort_pairs",
            "float32",
            pattern,
            (512, 2048),
            goals={"sort_pairs-float32-random-512x2048-t1": 1 / 1.1},
        )


def _flat() -> Iterator[Case]:
    for dtype in ("float32", "float64"):
        yield Case("sort", dtype, "random", (1, 1 << 20), goals={"numpy": 1.0}, bytes_moved=8)
        yield Case("sort", dtype, "random", (256, 4096), goals={"numpy": 1.0}, bytes_moved=8)
    goals = {"polars": 2.3, "numpy-stable": 9.0}
    yield Case("argsort", "float32", "random", (1, 1 << 20), goals=goals, bytes_moved=12, case="76")
    # Level with the best unstable sort of keys and values: vqsort of them packed.
    goals = {**goals, "vqsort": 1.0}
    yield Case("argsort", "float32", "random", (1, 50_000_000), goals=goals, bytes_moved=12)
    for dtype in ("int32", "uint32", "int64", "uint64", "float64", "int8", "uint8", "int16", "uint16"):
        for op in ("sort", "argsort"):
            yield Case(op, dtype, "random", (1024, 1024), goals={"numpy": 1.0})
    yield Case("sort_by_key", "uint32", "random", (1, 1 << 20), goals={"numpy": 1.0}, case="73")


def _top_k() -> Iterator[Case]:
    shapes = ((64, 131072, 50), (128, 32768, 2048), (32, 32768, 512), (8192, 256, 8), (8, 1048576, 100))
    for rows, width, k in shapes:
        yield Case(
            "top_k",
            "float32",
            "random",
            (rows, width),
            k=k,
            goals=TOP,
            bytes_moved=4,
            quick=width in (131072, 256),
        )
    own = {"top_k50-float32-random-64x131072-t1": 0.25}
    for pattern in ("ascending", "equal", "three", "nan1%", "onebin"):
        yield Case("top_k", "float32", pattern, (64, 131072), k=50, goals=own, bytes_moved=4)
    for shape, k, case in (((32, 50257), 50, "75"), ((4096, 256), 8, "75"), ((100000, 64), 8, "75")):
        yield Case("top_k", "float32", "random", shape, k=k, goals=TOP, bytes_moved=4, case=case)
    yield Case("top_k", "float32", "levels256", (64, 65536), k=2048, goals={"torch": 1.0}, case="5")
    yield Case("top_k", "bfloat16", "levels3", (4096, 256), k=8, goals={"torch": 1.0}, case="16")
    yield Case("top_k", "int32", "random", (64, 131072), k=50, goals={"numpy": 1.0})
    yield Case("top_k_outer", "float32", "random", (3, 1 << 20), k=2, goals={"numpy": 1.0}, case="60")


def _compaction() -> Iterator[Case]:
    for density in (1, 50, 99):
        yield Case(
            "flatnonzero",
            "float32",
            f"density{density}%",
            (1, 1 << 24),
            goals=NONZERO,
            bytes_moved=4 + 4 * density / 100,
            quick=density == 50,
        )
    yield Case("nonzero", "bool", "density50%", (4096, 4096), goals={"numpy": 1.0}, case="65")


def _merge() -> Iterator[Case]:
    for length, goal in ((2048, 2.0), (1 << 20, 3.0)):
        for runs in (2, 4, 16):
            yield Case(
                "merge",
                "float32",
                "sorted",
                (runs, length),
                goals={"numpy-stable": goal},
                bytes_moved=16,
                quick=runs == 4 and length == 2048,
            )
    yield Case("merge", "float32", "sorted", (2, 1 << 22), goals={"numpy-stable": 3.0}, case="67")


def _instructions() -> Iterator[Case]:
    for dtype, goal in (("float32", 15.0), ("float16", 10.0)):
        yield Case(
            "tsort32",
            dtype,
            "random",
            (1024, 1024),
            goals={"plain-cpp": goal},
            exchanges=network_exchanges(32),
            quick=dtype == "float32",
        )
    yield Case("tmrgsort_lists", "float32", "sorted", (4, 2048), goals={"plain-cpp": 3.0})
    yield Case("tmrgsort", "float32", "blocks32", (1, 8192), goals={"plain-cpp": 3.0})
    yield Case("neuron_small", "float32", "random", (1, 256), goals={})
    yield Case("neuron_large", "float32", "random", (1, 2048), goals={"kernel": 0.5})


CASES = [*_rows(), *_flat(), *_top_k(), *_compaction(), *_merge(), *_instructions()]


def chosen(only: str | None, quick: bool) -> list[Case]:
    """Return the cases whose id contains `only`, or the short run's."""
    return [c for c in CASES if (only is None or only in c.id) and (not quick or c.quick)]
