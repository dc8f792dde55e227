"""Random jobs, and inputs for them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from lanesort import plan
from lanesort.neuron.generation import GENERATIONS
from lanesort.order import nan_mask
from lanesort.pto.target import TARGETS
from tests.patterns import DTYPES, PATTERNS, Array

PTO = tuple(TARGETS)
NEURON = tuple(name for name, g in GENERATIONS.items() if g.instructions)
PTO_DTYPES = {"cpu": ("float32",), **{name: ("float16",) for name in PTO if name.startswith("kirin")}}
NEURON_DTYPES = ("float32", "float16", "bfloat16", "int32", "uint32", "int16", "uint16")
EDGES = (1, 2, 31, 32, 33, 64, 127, 128, 500, 2047, 2048, 2049, 4096, 5000, 8129, 8160, 8191, 8192)
LONG = (8193, 9000, 16384, 20000, 30001)
SMALL = 600


class Case(NamedTuple):
    """A plan, an input, and who orders its pairs."""

    plan: plan.Plan
    x: Array
    engine: str


@st.composite
def widths(draw: st.DrawFn) -> int:
    """Widths: small ones, edges, and now and then one that does not fit on chip."""
    kind = draw(st.sampled_from(("small", "small", "edge", "long")))
    if kind == "small":
        return draw(st.integers(0, 300))
    return draw(st.sampled_from(EDGES if kind == "edge" else LONG))


def ks(width: int) -> st.SearchStrategy[int]:
    """Numbers of pairs: none, one, all, and any."""
    return st.one_of(st.sampled_from((0, min(1, width), width)), st.integers(0, width))


@st.composite
def choices_of(draw: st.DrawFn, target: str) -> dict[str, str]:
    """Choices for unpinned behaviours that change an order, or none."""
    if target in PTO:
        offered: dict[str, tuple[str, ...]] = {
            "pto.nan-order": ("sign-magnitude", "last", "largest"),
            "pto.merge-tie": ("lower-first", "later-when-exhausted"),
            "pto.tie-order": ("positional", "index-value"),
            "pto.pad-bits": ("negative-nan", "-inf", "lowest"),
        }
    else:
        offered = {"sort.nan-order": ("last", "largest", "total")}
    named = draw(st.lists(st.sampled_from(sorted(offered)), unique=True, max_size=2))
    return {id: draw(st.sampled_from(offered[id])) for id in named}


@st.composite
def cases(draw: st.DrawFn, targets: tuple[str, ...]) -> Case:
    """A random plan for one of the targets, an input for it, and an engine."""
    target = draw(st.sampled_from(targets))
    rows, width = draw(st.integers(0, 4)), draw(widths())
    made = choices_of(target)
    op = draw(
        st.sampled_from(("top_k", "sort") if target in (*PTO, "sunda") else ("top_k", "sort", "nonzero"))
    )
    given: dict[str, Any] = {"shape": (rows, width), "target": target}
    if op == "nonzero":
        given |= {"dtype": draw(st.sampled_from(("float32", "int32")))}
        made = st.fixed_dictionaries(
            {},
            optional={
                "nonzero.nan": st.sampled_from(("counted", "ordered", "bits")),
                "nonzero.partitions": st.sampled_from(("every-16th", "all")),
            },
        )
    elif target in PTO:
        given |= {"dtype": draw(st.sampled_from(PTO_DTYPES.get(target, ("float32", "float16"))))}
    else:
        given |= {"dtype": draw(st.sampled_from(NEURON_DTYPES))}
        if op == "sort":
            given |= {"descending": draw(st.booleans())}
    if op == "top_k":
        given |= {"k": draw(ks(width))}
    found = getattr(plan, op)(**given, choices=draw(made))
    found = found.using(draw(st.sampled_from([program.name for program in found.alternatives])))
    seed = draw(st.integers(0, 2**32 - 1))
    x = PATTERNS[draw(st.sampled_from(sorted(PATTERNS)))](
        np.random.default_rng(seed), (rows, width), DTYPES[given["dtype"]]
    )
    engine = draw(st.sampled_from(("native", "reference", "datapath"))) if x.size <= SMALL else "native"
    if engine == "datapath" or found.policy.nan == "compare-false":
        x = np.where(nan_mask(x), np.ones((), x.dtype), x)
    return Case(found, x, engine)
