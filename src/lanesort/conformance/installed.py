"""Subjects made of the libraries that are installed, each in its documented way.

Where a library has a stable sort, that one is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from types import MappingProxyType, ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from lanesort.conformance.subject import Subject
from lanesort.errors import ArgumentValueError, MissingExtraError, MissingVerbError
from lanesort.order import unsigned_view

__all__ = ["KNOWN", "installed", "known"]

Array = npt.NDArray[Any]


def _numpy() -> Subject:
    """NumPy, with the recipes that its users write for what it lacks."""

    def sort(x: Array, descending: bool) -> Array:
        ascending = np.sort(x, axis=-1, kind="stable")
        return ascending[..., ::-1] if descending else ascending

    def argsort(x: Array, descending: bool) -> Array:
        ascending = np.argsort(x, axis=-1, kind="stable")
        return ascending[..., ::-1] if descending else ascending

    def top_k(x: Array, k: int, largest: bool) -> tuple[Array, Array]:
        if largest:
            chosen = np.argpartition(x, -k, axis=-1)[..., -k:]
        else:
            chosen = np.argpartition(x, k - 1, axis=-1)[..., :k]
        order = argsort(np.take_along_axis(x, chosen, axis=-1), largest)
        indices = np.take_along_axis(chosen, order, axis=-1)
        return np.take_along_axis(x, indices, axis=-1), indices

    return Subject("numpy", sort, argsort, top_k, np.__version__)


def _torch() -> Subject:
    torch = import_module("torch")

    def tensor(x: Array) -> Any:
        if x.dtype.isbuiltin == 2:  # one of ml_dtypes, which PyTorch has under the same name
            return torch.from_numpy(unsigned_view(x).copy()).view(getattr(torch, x.dtype.name))
        return torch.from_numpy(x if x.flags.writeable else x.copy())

    def array(t: Any, like: Array) -> Array:
        if like.dtype.isbuiltin == 2 and not t.dtype.is_complex and t.dtype.itemsize == like.dtype.itemsize:
            bits = t.contiguous().view(getattr(torch, f"uint{8 * like.dtype.itemsize}"))
            return np.asarray(bits.numpy()).view(like.dtype)
        return np.asarray(t.numpy())

    def sort(x: Array, descending: bool) -> Array:
        return array(torch.sort(tensor(x), dim=-1, descending=descending, stable=True).values, x)

    def argsort(x: Array, descending: bool) -> Any:
        return torch.argsort(tensor(x), dim=-1, descending=descending, stable=True).numpy()

    def top_k(x: Array, k: int, largest: bool) -> tuple[Array, Any]:
        values, indices = torch.topk(tensor(x), k, dim=-1, largest=largest)
        return array(values, x), indices.numpy()

    return Subject("torch", sort, argsort, top_k, torch.__version__)


def _jax() -> Subject:
    jax: ModuleType = import_module("jax")
    jnp = jax.numpy

    def wide() -> AbstractContextManager[Any]:
        """64-bit dtypes for the time of one call: without them JAX would narrow the input."""
        # Before 0.8 it stood in another module; it has no truth value, so no `or`.
        home = jax if hasattr(jax, "enable_x64") else import_module("jax.experimental")
        manager: AbstractContextManager[Any] = home.enable_x64(True)
        return manager

    def sort(x: Array, descending: bool) -> Array:
        with wide():
            return np.asarray(jnp.sort(jnp.asarray(x), axis=-1, descending=descending))

    def argsort(x: Array, descending: bool) -> Array:
        with wide():
            return np.asarray(jnp.argsort(jnp.asarray(x), axis=-1, descending=descending))

    def top_k(x: Array, k: int, largest: bool) -> tuple[Array, Array]:
        if not largest:
            raise MissingVerbError("jax.lax.top_k gives the largest alone")
        with wide():
            values, indices = jax.lax.top_k(jnp.asarray(x), k)
            return np.asarray(values), np.asarray(indices)

    return Subject("jax", sort, argsort, top_k, jax.__version__)


def _onnxruntime() -> Subject:
    """ONNX Runtime, which has TopK and no sort; a model of one node for each dtype."""
    onnx, runtime = import_module("onnx"), import_module("onnxruntime")

    @lru_cache
    def session(dtype: np.dtype[Any], largest: bool) -> Any:
        kind = onnx.helper.np_dtype_to_tensor_dtype(dtype)
        tensor = onnx.helper.make_tensor_value_info
        int64 = onnx.TensorProto.INT64
        graph = onnx.helper.make_graph(
            [
                onnx.helper.make_node(
                    "TopK", ["x", "k"], ["values", "indices"], largest=int(largest), sorted=1
                )
            ],
            "top_k",
            [tensor("x", kind, None), tensor("k", int64, [1])],
            [tensor("values", kind, None), tensor("indices", int64, None)],
        )
        opset = onnx.helper.make_opsetid("", 18)
        model = onnx.helper.make_model(graph, opset_imports=[opset], ir_version=9)
        options = runtime.SessionOptions()
        options.log_severity_level = 4
        return runtime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])

    def top_k(x: Array, k: int, largest: bool) -> tuple[Array, Array]:
        native = np.ascontiguousarray(x, x.dtype.newbyteorder("="))
        found = session(native.dtype, largest).run(None, {"x": native, "k": np.array([k], np.int64)})
        return found[0], found[1]

    return Subject("onnxruntime", top_k=top_k, version=runtime.__version__)


def _lanesort() -> Subject:
    """Take the public names of the package, as of any other."""
    ours = import_module("lanesort")

    def sort(x: Array, descending: bool) -> Any:
        return ours.sort(x, descending=descending)

    def argsort(x: Array, descending: bool) -> Any:
        return ours.argsort(x, descending=descending)

    def top_k(x: Array, k: int, largest: bool) -> Any:
        return ours.top_k(x, k, mode="largest" if largest else "smallest")

    return Subject("lanesort", sort, argsort, top_k, ours.__version__)


KNOWN: Mapping[str, Callable[[], Subject]] = MappingProxyType(
    {
        "lanesort": _lanesort,
        "numpy": _numpy,
        "torch": _torch,
        "jax": _jax,
        "onnxruntime": _onnxruntime,
    }
)
"""Libraries with an adapter, by the name they are imported by."""


def known(name: str) -> Subject:
    """Return the subject of a library by name.

    Raises
    ------
    ArgumentValueError
        For a name without an adapter.
    MissingExtraError
        Where the library is not installed.

    Examples
    --------
    >>> known("numpy").verbs
    ('sort', 'argsort', 'top_k')
    """
    if name not in KNOWN:
        raise ArgumentValueError(
            f"no adapter for {name!r}; known are {', '.join(KNOWN)}, or make a Subject of your own"
        )
    try:
        return KNOWN[name]()
    except ImportError as error:
        raise MissingExtraError(f"{name} can't be imported: {error}; install it to examine it") from error


def installed() -> tuple[str, ...]:
    """Names of the libraries with an adapter that are installed."""
    needs = {"onnxruntime": ("onnxruntime", "onnx")}
    return tuple(name for name in KNOWN if all(find_spec(part) for part in needs.get(name, (name,))))
