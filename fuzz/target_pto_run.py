"""Fuzz target: any text that parses runs to an end or to a clear error."""

from __future__ import annotations

from contextlib import suppress
from math import prod
from typing import Any

import numpy as np

from lanesort.errors import LanesortError
from lanesort.pto.interpreter import run
from lanesort.pto.memory import ELEMENTS
from lanesort.pto.program import (
    Function,
    PartitionViewType,
    PtrType,
    ScalarType,
    TensorViewType,
    TileType,
    Type,
)
from lanesort.pto.text.parser import parse

__all__ = ["fuzz_run"]

STEPS = 2000
LARGEST_TEXT = 1 << 16


def fuzz_run(data: bytes) -> None:
    """Parse the bytes as a program and run each of its functions; only `LanesortError` may come out."""
    text = data[:LARGEST_TEXT].decode("utf-8", "replace")
    try:
        module = parse(text)
    except LanesortError:
        return
    for function in module.functions[:4]:
        given = arguments(function, len(data))
        before = [np.array(value, copy=True) for value in given]
        with suppress(LanesortError):
            run(module, given, engine="reference", function=function.name, max_steps=STEPS, trace=True)
        for value, old in zip(given, before, strict=True):
            assert np.array_equal(np.asarray(value), old), "a run wrote into its arguments"


def arguments(function: Function, seed: int) -> list[Any]:
    """Make an argument for each of a function's."""
    return [argument(type, seed + n) for n, type in enumerate(function.types[: len(function.arguments)])]


def argument(type: Type, seed: int) -> Any:
    """Make an argument of a type: small arrays, small numbers."""
    if isinstance(type, PtrType | TensorViewType | PartitionViewType | TileType):
        dtype = ELEMENTS.get(type.element, np.dtype("f4"))
        sizes: tuple[int | None, ...] = (4096,)
        if isinstance(type, TensorViewType | PartitionViewType):
            sizes = type.shape
        elif isinstance(type, TileType):
            sizes = (type.rows, type.cols)
        shape = [4 if size is None else min(size, 1 << 14) for size in sizes]
        shape = shape if prod(shape) < 1 << 20 else [0]
        return np.random.default_rng(seed).integers(0, 50, shape).astype(dtype)
    if isinstance(type, ScalarType):
        return seed % 5
    return [0, 0, 0, 0]
