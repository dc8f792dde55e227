"""lanesort: the sort instructions of accelerators, exact and explained, and a fast CPU library.

The library orders arrays, the models run instruction words and `.pto` kernels, and both
follow one order, see `lanesort.order`.

=============  ==========================================================================
arrays         `sort`, `argsort`, `sort_pairs`, `sort_by_key`, `top_k`, `merge`,
               `flatnonzero`, `nonzero`
results        `Pairs`, `Merged`, `Nonzero`
order          `Order`
files, Dask    `lanesort.external`, `lanesort.dask`
models         `lanesort.neuron`, `lanesort.pto`
plans          `lanesort.plan`
errors         `LanesortError` and its kinds in `lanesort.errors`
=============  ==========================================================================
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from lanesort.errors import LanesortError
from lanesort.order import Order
from lanesort.results import Merged, Nonzero, Pairs

if TYPE_CHECKING:
    from lanesort import neuron, plan, pto
    from lanesort.distributed import dask, external
    from lanesort.kernels.merge import merge
    from lanesort.kernels.nonzero import flatnonzero, nonzero
    from lanesort.kernels.sort import argsort, sort, sort_pairs
    from lanesort.kernels.sort_by_key import sort_by_key
    from lanesort.kernels.top_k import top_k

__all__ = [
    # arrays
    "argsort",
    "flatnonzero",
    "merge",
    "nonzero",
    "sort",
    "sort_by_key",
    "sort_pairs",
    "top_k",
    # results
    "Merged",
    "Nonzero",
    "Pairs",
    # order
    "Order",
    # files larger than memory, and Dask
    "dask",
    "external",
    # models, and jobs as programs of their instructions
    "neuron",
    "plan",
    "pto",
    # errors
    "LanesortError",
]

__version__ = "0.1.0"

_LAZY = {
    "argsort": "lanesort.kernels.sort",
    "flatnonzero": "lanesort.kernels.nonzero",
    "merge": "lanesort.kernels.merge",
    "nonzero": "lanesort.kernels.nonzero",
    "sort": "lanesort.kernels.sort",
    "sort_by_key": "lanesort.kernels.sort_by_key",
    "sort_pairs": "lanesort.kernels.sort",
    "top_k": "lanesort.kernels.top_k",
}
"""Functions that are imported when they are first used, and where they live."""

_LAZY_MODULES = {
    "dask": "lanesort.distributed.dask",
    "external": "lanesort.distributed.external",
    "neuron": "lanesort.neuron",
    "plan": "lanesort.plan",
    "pto": "lanesort.pto",
}
"""Modules that are imported when they are first used."""


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        found = getattr(import_module(_LAZY[name]), name)
    elif name in _LAZY_MODULES:
        found = import_module(_LAZY_MODULES[name])
    else:
        raise AttributeError(f"module 'lanesort' has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
