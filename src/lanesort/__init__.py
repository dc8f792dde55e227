"""lanesort: the sort instructions of accelerators, exact and explained, and a fast CPU library.

The library (`top_k`, `argsort`, `sort_pairs` …), the models of the instructions and the
plans that turn big jobs into programs of them follow one order, see `lanesort.order`.
"""

from __future__ import annotations

__all__: list[str] = []
