"""Arrays of others: what goes in comes out.

NumPy arrays are taken as they are. PyTorch and JAX arrays on the CPU, and any other array
that follows the Array API standard, are read without a copy where their library allows it,
and results go back to the library they came from. Everything else goes through
`numpy.asarray`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import array_api_compat
import ml_dtypes
import numpy as np
import numpy.typing as npt

from lanesort.errors import ArgumentTypeError

__all__ = ["Library", "Received", "index_dtype_of", "receive"]

Array = npt.NDArray[Any]

_VIEWED = {
    "bfloat16": (np.dtype(ml_dtypes.bfloat16), "int16"),
    "float8_e4m3fn": (np.dtype(ml_dtypes.float8_e4m3fn), "uint8"),
    "float8_e5m2": (np.dtype(ml_dtypes.float8_e5m2), "uint8"),
}
"""PyTorch dtypes that NumPy can't read, and the integer type that carries their bits."""


class Library(NamedTuple):
    """The array library that a result goes back to."""

    name: str
    give: Callable[[Array], Any]
    index_dtype: np.dtype[Any]


class Received(NamedTuple):
    """A caller's array as NumPy sees it, and the library it came from."""

    array: Array
    library: Library


def _same(array: Array) -> Array:
    return array


NUMPY = Library("numpy", _same, np.dtype(np.intp))


def receive(x: Any, name: str = "x") -> Received:
    """Read a caller's array.

    Parameters
    ----------
    x
        A NumPy array; a PyTorch, JAX or other Array API array on the CPU; or anything that
        `numpy.asarray` reads.
    name
        Name of the argument, for errors.

    Raises
    ------
    ArgumentTypeError
        For an array on another device, or something that is no array.
    """
    if isinstance(x, np.ndarray):
        if isinstance(x, np.ma.MaskedArray):
            raise ArgumentTypeError(f"{name} is a masked array; give {name}.data, and where=~{name}.mask")
        return Received(np.asarray(x), NUMPY)
    root = type(x).__module__.partition(".")[0]
    if root == "torch" and "torch" in sys.modules:
        return _from_torch(x, name)
    if root in {"jaxlib", "jax"} and "jax" in sys.modules:
        return _from_jax(x, name)
    if hasattr(x, "__array_namespace__") and not isinstance(x, np.generic):
        return _from_standard(x, name)
    try:
        return Received(np.asarray(x), NUMPY)
    except (TypeError, ValueError) as error:
        raise ArgumentTypeError(f"{name} can't be read as an array: {error}") from error


def _from_torch(x: Any, name: str) -> Received:
    torch = sys.modules["torch"]
    if x.device.type != "cpu":
        raise ArgumentTypeError(f"{name} is a tensor on {x.device}; move it to the CPU first: {name}.cpu()")
    if x.layout != torch.strided or x.is_nested:
        raise ArgumentTypeError(f"{name} has layout {x.layout}; accepted are dense tensors")
    plain = x.detach().resolve_neg()
    viewed = _VIEWED.get(str(plain.dtype).removeprefix("torch."))
    library = Library("torch", _to_torch, np.dtype(np.int64))
    if viewed is None:
        try:
            return Received(plain.numpy(), library)
        except (RuntimeError, TypeError) as error:
            raise ArgumentTypeError(f"{name} is a tensor of {x.dtype}, which has no order here") from error
    return Received(plain.view(getattr(torch, viewed[1])).numpy().view(viewed[0]), library)


def _to_torch(array: Array) -> Any:
    torch = sys.modules["torch"]
    viewed = _VIEWED.get(array.dtype.name)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if viewed is None:
        return torch.from_numpy(array)
    bits = torch.from_numpy(array.view(viewed[1]))
    return bits.view(getattr(torch, array.dtype.name))


def _from_jax(x: Any, name: str) -> Received:
    jax = sys.modules["jax"]
    if isinstance(x, jax.core.Tracer):
        raise ArgumentTypeError(f"{name} is being traced by JAX; call lanesort outside jit, or in a callback")
    places = {device.platform for device in x.devices()}
    if places != {"cpu"}:
        raise ArgumentTypeError(f"{name} is on {', '.join(sorted(places))}; move it to the CPU first")
    index = np.dtype(np.int64 if jax.config.jax_enable_x64 else np.int32)
    return Received(np.asarray(x), Library("jax", jax.numpy.asarray, index))


def _from_standard(x: Any, name: str) -> Received:
    namespace = array_api_compat.array_namespace(x)
    try:
        array = np.from_dlpack(x)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise ArgumentTypeError(f"{name} can't be read on the CPU through DLPack: {error}") from error
    return Received(array, Library(namespace.__name__, namespace.asarray, np.dtype(np.int64)))


def index_dtype_of(index_dtype: Any, library: Library) -> np.dtype[Any]:
    """Return the NumPy dtype of the indices.

    Parameters
    ----------
    index_dtype
        None for the library's own, else an integer dtype of NumPy or of the library.
    library
        Where the input came from.
    """
    if index_dtype is None:
        return library.index_dtype
    named = isinstance(index_dtype, (type, str, np.dtype))
    return _known_index_dtype(index_dtype) if named else _index_dtype(index_dtype)


def _index_dtype(index_dtype: Any) -> np.dtype[Any]:
    text = str(index_dtype)
    try:
        found = np.dtype(text.removeprefix("torch.") if text.startswith("torch.") else index_dtype)
    except TypeError:
        found = np.dtype(object)
    if found.kind not in "iu":
        raise ArgumentTypeError(f"index_dtype is {index_dtype!r}; accepted are integer dtypes")
    return found.newbyteorder("=")


_known_index_dtype = lru_cache(maxsize=64)(_index_dtype)  # read once: that takes longer than a short merge
