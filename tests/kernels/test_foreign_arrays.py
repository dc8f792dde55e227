"""Arrays of PyTorch, JAX and the Array API standard: what goes in comes out."""

from __future__ import annotations

from typing import Any

import array_api_strict as strict
import ml_dtypes
import numpy as np
import pytest

import lanesort as ls

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
jax = pytest.importorskip("jax", reason="JAX is not installed")

X = np.array([[3.0, 1.0, 2.0], [0.0, -1.0, 0.0]], np.float32)
TORCH_DTYPES = [
    "float32",
    "float16",
    "bfloat16",
    "float64",
    "int32",
    "int16",
    "int8",
    "uint8",
    "int64",
    "bool",
]
TORCH_DTYPES += ["uint16", "uint32", "uint64", "float8_e4m3fn", "float8_e5m2"]


@pytest.mark.parametrize("dtype", TORCH_DTYPES)
def test_every_torch_dtype(dtype: str) -> None:
    x = torch.from_numpy(np.abs(X)).to(getattr(torch, dtype))
    values, indices = ls.sort_pairs(x, descending=True)
    assert isinstance(values, torch.Tensor)
    assert values.dtype == x.dtype
    assert indices.dtype == torch.int64
    numbers = x.to(torch.float32).numpy()
    assert indices.tolist() == np.argsort(-numbers, axis=1, kind="stable").tolist()
    assert values.to(torch.float32).tolist() == np.take_along_axis(numbers, indices.numpy(), 1).tolist()


def test_every_verb_gives_tensors() -> None:
    x = torch.from_numpy(X)
    results = [ls.sort(x), ls.argsort(x), *ls.top_k(x, 2), ls.flatnonzero(x).indices, *ls.nonzero(x)]
    results += [*ls.merge([torch.tensor([1, 2]), torch.tensor([2])]), *ls.sort_by_key(x, x * 2)]
    assert all(isinstance(r, torch.Tensor) for r in results)
    assert ls.sort_pairs(x, lengths=torch.tensor([1, 2])).valid.tolist() == [1, 2]


def test_a_tensor_that_needs_gradients_is_detached() -> None:
    x = torch.from_numpy(X.copy()).requires_grad_()
    values = ls.top_k(x, 1).values
    assert not values.requires_grad
    assert values.tolist() == [[3], [0]]


def test_a_tensor_elsewhere_is_refused() -> None:
    with pytest.raises(TypeError, match=r"x is a tensor on meta; move it to the CPU first"):
        ls.sort(torch.zeros(3, device="meta"))
    with pytest.raises(TypeError, match=r"x has layout torch.sparse_coo"):
        ls.sort(torch.zeros(3).to_sparse())
    with pytest.raises(TypeError, match=r"x is a tensor of torch.float8_e4m3fnuz, which has no order here"):
        ls.sort(torch.zeros(3).to(torch.float8_e4m3fnuz))


def test_torch_index_dtypes_are_understood() -> None:
    assert ls.argsort(torch.from_numpy(X), index_dtype=torch.int32).dtype == torch.int32


def test_strided_and_conjugated_views_of_tensors() -> None:
    x = torch.from_numpy(X)
    assert ls.argsort(x.T, axis=0).T.tolist() == ls.argsort(X).tolist()
    assert ls.sort(x[:, ::2]).tolist() == [[2, 3], [0, 0]]


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "int32", "uint16", "int8", "bool"])
def test_jax_arrays(dtype: str) -> None:
    x = jax.numpy.asarray(np.abs(X)).astype(dtype)
    values, indices = ls.sort_pairs(x, descending=True)
    assert isinstance(values, jax.Array)
    assert values.dtype == x.dtype
    assert indices.dtype == np.int32
    numbers = np.asarray(x).astype(np.float32)
    assert indices.tolist() == np.argsort(-numbers, axis=1, kind="stable").tolist()


def test_a_traced_jax_array_is_refused() -> None:
    with pytest.raises(TypeError, match=r"x is being traced by JAX"):
        jax.jit(lambda x: ls.sort(x))(jax.numpy.zeros(3))


def test_other_things_go_through_asarray() -> None:
    assert ls.argsort([3, 1, 2]).tolist() == [1, 2, 0]
    assert ls.sort(memoryview(np.array([2.0, 1.0]))).tolist() == [1, 2]
    assert ls.sort((2, 1)).tolist() == [1, 2]


class TestStandard:
    """The Array API standard's own requirements on sort, argsort, nonzero and top_k."""

    @pytest.mark.parametrize(
        "dtype", ["float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint64"]
    )
    @pytest.mark.parametrize("descending", [False, True])
    @pytest.mark.parametrize("stable", [False, True])
    @pytest.mark.parametrize("axis", [-1, 0, 1])
    def test_sorting(self, dtype: str, descending: bool, stable: bool, axis: int) -> None:
        x = strict.asarray(np.random.default_rng(1).integers(0, 9, (6, 7)).astype(dtype))
        kwargs: dict[str, Any] = {"axis": axis, "descending": descending, "stable": stable}
        values, indices = ls.sort(x, **kwargs), ls.argsort(x, **kwargs)
        assert type(values) is type(indices) is type(x)
        assert values.dtype == x.dtype
        assert indices.dtype == strict.int64
        assert values.shape == indices.shape == x.shape
        assert bool(strict.all(values == strict.take_along_axis(x, indices, axis=axis)))
        assert bool(strict.all(values == strict.sort(x, **kwargs)))
        if stable:
            assert bool(strict.all(indices == strict.argsort(x, **kwargs)))

    def test_nonzero(self) -> None:
        x = strict.asarray([[0, 2], [3, 0]])
        ours, theirs = ls.nonzero(x), strict.nonzero(x)
        assert len(ours) == x.ndim
        assert all(bool(strict.all(a == b)) for a, b in zip(ours, theirs, strict=True))
        with pytest.raises(ValueError, match="no dimension"):
            ls.nonzero(strict.asarray(1))

    @pytest.mark.parametrize("mode", ["largest", "smallest"])
    def test_top_k(self, mode: str) -> None:
        x = strict.asarray(np.random.default_rng(2).permutation(30).reshape(5, 6).astype(np.float64))
        values, indices = ls.top_k(x, 3, axis=-1, mode=mode)
        whole = ls.sort(x, descending=mode == "largest")
        assert bool(strict.all(values == whole[:, :3]))
        assert bool(strict.all(values == strict.take_along_axis(x, indices, axis=-1)))


def test_torch_agrees_on_distinct_values() -> None:
    x = torch.from_numpy(np.random.default_rng(3).permutation(5000).astype(np.float32).reshape(10, 500))
    ours, theirs = ls.top_k(x, 20), torch.topk(x, 20)
    assert torch.equal(ours.values, theirs.values)
    assert torch.equal(ours.indices, theirs.indices)
    assert torch.equal(ls.argsort(x), torch.argsort(x, stable=True))


@pytest.mark.parametrize("name", ["top_k", "argsort"])
def test_the_jax_preset_is_what_jax_does(name: str) -> None:
    bits = np.array([0x3F800000, 0xFFC00000, 0x7FC00000, 0x7F800000, 0xFF800000, 0, 0x80000000], np.uint32)
    x = bits.view(np.float32)
    if name == "argsort":
        assert ls.argsort(x, compat="jax").tolist() == jax.numpy.argsort(x).tolist()
    else:
        assert ls.top_k(x, 7, compat="jax").indices.tolist() == jax.lax.top_k(x, 7)[1].tolist()


def test_bfloat16_of_ml_dtypes_and_torch_are_the_same_bits() -> None:
    ours = ls.sort(X.astype(ml_dtypes.bfloat16))
    theirs = ls.sort(torch.from_numpy(X).to(torch.bfloat16))
    assert ours.tobytes() == theirs.view(torch.int16).numpy().tobytes()


def test_denormals_keep_their_order_when_the_thread_flushes_them() -> None:
    bits = np.array([3, 0x80000002, 1, 0, 2, 0x80000001], np.uint32)
    assert torch.set_flush_denormal(True)
    try:
        order = ls.argsort(bits.view(np.float32))
        found = ls.flatnonzero(bits.view(np.float32)).indices
        best = ls.top_k(bits.view(np.float32), 2).indices
    finally:
        torch.set_flush_denormal(False)
    assert order.tolist() == [1, 5, 3, 2, 4, 0]
    assert found.tolist() == [0, 1, 2, 4, 5]
    assert best.tolist() == [0, 4]
