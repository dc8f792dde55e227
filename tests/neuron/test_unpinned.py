"""Each unpinned behaviour is raised by one run and not by another, and its choices differ."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

from lanesort.errors import MachineError, RuleViolations
from lanesort.evidence import unpinned_behaviours
from lanesort.neuron import NeuronCore, NonzeroWithCount, Pointer, Register, Sort, Tensor

NAN = float("nan")


def run_sort(
    values: object, np_dtype: object, dtype: str, **options: object
) -> tuple[list[int], tuple[str, ...]]:
    """Sort on partition 0 under `choices`; the indices, and the unpinned ids."""
    choices, mode = options.pop("choices", None), str(options.pop("mode", "strict"))
    core = NeuronCore(str(options.pop("on", "cayman")), engine="reference", choices=choices)
    given = np.array(values, np_dtype)
    n, rows = len(given), int(options.pop("rows", len(given)))
    core.sbuf.write(0, 0, given)
    raw = options.pop("raw", {})
    word = Sort(
        src=Tensor.at(0, 0, n),
        dst=Tensor.at(0, 256, (2, rows), (rows, 1)),
        dtype=dtype,
        channels=1,
        **options,
    )
    result = core.run([word.replace(**raw)], mode)
    size = given.itemsize
    return core.sbuf.read(0, 256 + rows * size, rows, f"u{8 * size}").tolist(), result.unpinned


def run_nonzero(
    values: object, dtype: object, channels: int = 1, **options: object
) -> tuple[NeuronCore, tuple[str, ...]]:
    core = NeuronCore("cayman", engine="reference", choices=options.pop("choices", None))
    given = np.array(values, dtype)
    core.sbuf.write(0, 0, np.tile(given, (channels, 1)))
    name = "fp32" if given.dtype == np.float32 else "i32"
    word = NonzeroWithCount(
        src=Tensor.at(0, 0, len(given)),
        dst=Tensor.at(0, 256, len(given) + 1),
        in_dtype=name,
        channels=channels,
        **options,
    )
    return core, core.run([word]).unpinned


def nonzeros(core: NeuronCore, partition: int, n: int) -> list[int]:
    return core.sbuf.read(partition, 256, n, "i32").tolist()


def test_an_ordinary_sort_depends_on_nothing() -> None:
    assert run_sort([2.0, 1.0, 1.0], np.float32, "fp32") == ([1, 2, 0], ())


@pytest.mark.parametrize(
    ("choice", "ascending", "descending"),
    [
        ("last", [2, 0, 1, 3], [0, 2, 1, 3]),
        ("largest", [2, 0, 1, 3], [1, 3, 0, 2]),
        ("total", [3, 2, 0, 1], [1, 0, 2, 3]),
    ],
)
@pytest.mark.parametrize(("dtype", "np_dtype"), [("fp32", np.float32), ("fp16", np.float16)])
def test_nan_order(
    choice: str, ascending: list[int], descending: list[int], dtype: str, np_dtype: type
) -> None:
    given = np.array([2.0, NAN, 1.0, -NAN], np_dtype)
    given[3] = np.copysign(given[1], np_dtype(-1))
    choices = {"sort.nan-order": choice}
    assert run_sort(given, np_dtype, dtype, choices=choices) == (ascending, ("sort.nan-order",))
    assert run_sort(given, np_dtype, dtype, choices=choices, descending=True)[0] == descending
    assert run_sort([np.inf, 1.0], np_dtype, dtype, choices=choices)[1] == ()


def test_zero_order() -> None:
    assert run_sort([0.0, -0.0], np.float32, "fp32") == ([0, 1], ("sort.zero-order",))
    signed = {"sort.zero-order": "signed"}
    assert run_sort([0.0, -0.0], np.float32, "fp32", choices=signed) == ([1, 0], ("sort.zero-order",))
    assert run_sort([-0.0, -0.0, 1.0], np.float32, "fp32")[1] == ()
    assert run_sort([0, 0], np.int32, "i32")[1] == ()
    total = {"sort.nan-order": "total"}
    assert run_sort([0.0, -0.0], np.float32, "fp32", choices=total) == ([1, 0], ())


def test_tie_order() -> None:
    assert run_sort([1, 1], np.int32, "i32", stable=False) == ([0, 1], ("sort.tie-order",))
    high = {"sort.tie-order": "high"}
    assert run_sort([1, 1], np.int32, "i32", stable=False, choices=high) == ([1, 0], ("sort.tie-order",))
    assert run_sort([1, 2], np.int32, "i32", stable=False)[1] == ()
    assert run_sort([1, 1], np.int32, "i32", choices=high) == ([0, 1], ())


def test_index_wrap() -> None:
    assert run_sort([2, 1], np.uint16, "u16", index_offset=65535) == ([0, 65535], ("sort.index-wrap",))
    assert run_sort([2, 1], np.uint16, "u16", index_offset=65534)[1] == ()
    assert run_sort([2, 1], np.uint16, "u16", index_offset=70000)[0] == [4465, 4464]
    assert run_sort([2, 1], np.uint16, "u16", index_offset=65535, rows=1, mode="device", descending=True) == (
        [65535],
        ("sort.top-k-shape",),
    )
    with pytest.raises(MachineError, match="index-wrap"):
        run_sort([2, 1], np.uint16, "u16", index_offset=65535, choices={"sort.index-wrap": "error"})


def test_top_k_shape() -> None:
    found = run_sort([3, 9, 5], np.uint32, "u32", rows=2, mode="device", descending=True)
    assert found == ([1, 2], ("sort.top-k-shape",))
    assert run_sort([3, 9, 5], np.uint32, "u32", mode="device")[1] == ()
    with pytest.raises(RuleViolations, match=re.escape("sort.top-k-shape")):
        run_sort([3, 9, 5], np.uint32, "u32", rows=2)


@pytest.mark.parametrize(
    ("raw", "id"),
    [({"num_active_channels": 0}, "sort.zero-channels"), ({"reserved1": b"\1" * 23}, "sort.reserved")],
)
def test_clauses_that_only_literal_leaves_out(raw: dict[str, object], id: str) -> None:
    with pytest.raises(RuleViolations, match=id):
        run_sort([2, 1], np.uint32, "u32", raw=raw)
    assert run_sort([2, 1], np.uint32, "u32", raw=raw, mode="literal")[1] == (id,)
    assert run_sort([2, 1], np.uint32, "u32", mode="literal")[1] == ()


def test_no_channels_do_nothing() -> None:
    indices, _ = run_sort([2, 1], np.uint32, "u32", raw={"num_active_channels": 0}, mode="literal")
    assert indices == [0, 0]


def test_start_partition() -> None:
    raw = {"src": Tensor.at(1, 0, 2)}
    with pytest.raises(RuleViolations, match=re.escape("sort.start-partition")):
        run_sort([2, 1], np.uint32, "u32", raw=raw)
    assert "sort.start-partition" in run_sort([2, 1], np.uint32, "u32", raw=raw, mode="literal")[1]
    assert run_sort([2, 1], np.uint32, "u32", raw={"src": Tensor.at(0, 0, 2)}, mode="literal")[1] == ()


def test_sunda() -> None:
    assert run_sort([2, 1], np.uint32, "u32", on="sunda")[1] == ("sort.sunda",)
    assert run_sort([2, 1], np.uint32, "u32", on="mariana")[1] == ()


def test_maverick_map() -> None:
    core = NeuronCore("maverick", engine="reference")
    for partition, expected in ((32, ("neuron.maverick-map",)), (0, ())):
        core.sbuf.write(partition, 0, np.array([2, 1], np.uint32))
        word = Sort(
            src=Tensor.at(partition, 0, 2, on="maverick"),
            dst=Tensor.at(partition, 64, (2, 2), on="maverick"),
            dtype="u32",
            channels=1,
        )
        assert core.run([word]).unpinned == expected
        assert core.sbuf.read(partition, 64, 4, "u32").tolist() == [1, 1, 2, 0]


def test_bf16_compare() -> None:
    bits = np.array([0x7C01, 0x3F80], np.uint16)
    assert run_sort(bits, np.uint16, "bf16") == ([1, 0], ("sort.bf16-compare",))
    as_fp16 = {"sort.bf16-compare": "as-fp16"}
    found = run_sort(bits, np.uint16, "bf16", choices=as_fp16, descending=True)
    assert found == ([1, 0], ("sort.bf16-compare", "sort.nan-order"))
    assert run_sort(bits, np.uint16, "bf16", descending=True)[0] == [0, 1]
    assert run_sort([0x7C00, 0x3F80], np.uint16, "bf16")[1] == ()


def test_partitions() -> None:
    core, ids = run_nonzero([0, 4], np.int32, 17)
    assert ids == ("nonzero.partitions",)
    assert [nonzeros(core, p, 3) for p in (0, 1, 16)] == [[1, -1, 1], [0, 0, 0], [1, -1, 1]]
    core, ids = run_nonzero([0, 4], np.int32, 17, choices={"nonzero.partitions": "all"})
    assert ids == ("nonzero.partitions",)
    assert [nonzeros(core, p, 3) for p in (1, 16, 17)] == [[1, -1, 1], [1, -1, 1], [0, 0, 0]]
    assert run_nonzero([0, 4], np.int32, 1)[1] == ()


@pytest.mark.parametrize(("choice", "count"), [("counted", 2), ("ordered", 1), ("bits", 3)])
def test_nonzero_nan(choice: str, count: int) -> None:
    core, ids = run_nonzero([NAN, -0.0, 0.0, 1.0], np.float32, choices={"nonzero.nan": choice})
    assert ids == ("nonzero.nan",)
    assert nonzeros(core, 0, 5)[-1] == count
    assert run_nonzero([0.0, 1.0, np.inf], np.float32)[1] == ()
    assert run_nonzero([-1, 0], np.int32)[1] == ()


def a_pointed_sort(
    offset: Pointer | Register, values: list[int], **choices: str
) -> tuple[list[int], tuple[str, ...]]:
    """Sort two channels whose offset lies at byte 512; the first index of each."""
    core = NeuronCore(
        "cayman",
        engine="reference",
        choices={k.replace("__", ".").replace("_", "-"): v for k, v in choices.items()},
    )
    core.sbuf.write(0, 0, np.array([[1, 2], [1, 2]], np.uint32))
    core.sbuf.write(0, 512, np.array(values, np.uint32)[:, None])
    core.sbuf.write(32, 512, np.array(values, np.uint32)[:, None])
    core.registers[2] = 512
    word = Sort(
        src=Tensor.at(0, 0, 2), dst=Tensor.at(0, 64, (2, 2)), dtype="u32", channels=2, index_offset=offset
    )
    result = core.run([word])
    return [int(core.sbuf.read(p, 68, 1, "u32")[0]) for p in (0, 1)], result.unpinned


def test_pointer_values() -> None:
    here = Pointer.at(0, 512)
    assert a_pointed_sort(here, [10, 20]) == ([10, 20], ("imm.pointer-values",))
    assert a_pointed_sort(here, [10, 20], imm__pointer_values="first") == ([10, 10], ("imm.pointer-values",))
    assert a_pointed_sort(here, [10, 10]) == ([10, 10], ())


def test_pointer_partition() -> None:
    assert a_pointed_sort(Pointer.at(32, 512), [10, 10]) == ([10, 10], ("imm.pointer",))
    assert a_pointed_sort(Pointer.at(0, 512), [10, 10])[1] == ()
    with pytest.raises(RuleViolations, match=re.escape("imm.pointer")):
        a_pointed_sort(Pointer.at(3, 512), [10, 10])


def test_register() -> None:
    assert a_pointed_sort(Register(2), [10, 10]) == ([10, 10], ("imm.register",))
    assert a_pointed_sort(Register(2), [10, 10], imm__register="value") == ([512, 512], ("imm.register",))
    assert "imm.register" not in a_pointed_sort(Pointer.at(0, 512), [10, 10])[1]


def pointed(offset: Pointer | Register, values: list[int]) -> tuple[str, ...]:
    return a_pointed_sort(offset, values)[1]


def on_maverick(partition: int) -> tuple[str, ...]:
    core = NeuronCore("maverick", engine="reference")
    src = Tensor.at(partition, 0, 2, on="maverick")
    dst = Tensor.at(partition, 64, (2, 2), on="maverick")
    return core.run([Sort(src=src, dst=dst, dtype="u32", channels=1)]).unpinned


def u32(**options: object) -> tuple[str, ...]:
    return run_sort([2, 1], np.uint32, "u32", **options)[1]


def literal(**raw: object) -> tuple[str, ...]:
    return u32(mode="literal", raw=raw)


HERE = Pointer.at(0, 512)
Ids = Callable[[], tuple[str, ...]]
WITNESSES: dict[str, tuple[Ids, Ids]] = {
    "neuron.maverick-map": (lambda: on_maverick(32), lambda: on_maverick(0)),
    "imm.register": (lambda: pointed(Register(2), [1, 1]), lambda: pointed(HERE, [1, 1])),
    "imm.pointer-values": (lambda: pointed(HERE, [1, 2]), lambda: pointed(HERE, [1, 1])),
    "imm.pointer": (lambda: pointed(Pointer.at(32, 512), [1, 1]), lambda: pointed(HERE, [1, 1])),
    "sort.nan-order": (
        lambda: run_sort([NAN, 1.0], np.float32, "fp32")[1],
        lambda: run_sort([np.inf, 1.0], np.float32, "fp32")[1],
    ),
    "sort.zero-order": (
        lambda: run_sort([0.0, -0.0], np.float32, "fp32")[1],
        lambda: run_sort([-0.0, -0.0], np.float32, "fp32")[1],
    ),
    "sort.tie-order": (
        lambda: run_sort([1, 1], np.int32, "i32", stable=False)[1],
        lambda: run_sort([1, 2], np.int32, "i32", stable=False)[1],
    ),
    "sort.index-wrap": (
        lambda: run_sort([2, 1], np.uint16, "u16", index_offset=65535)[1],
        lambda: run_sort([2, 1], np.uint16, "u16", index_offset=65534)[1],
    ),
    "sort.top-k-shape": (lambda: u32(rows=1, mode="device"), lambda: u32(mode="device")),
    "sort.zero-channels": (lambda: literal(num_active_channels=0), literal),
    "sort.reserved": (lambda: literal(reserved1=b"\1" * 23), literal),
    "sort.start-partition": (lambda: literal(src=Tensor.at(1, 0, 2)), literal),
    "sort.sunda": (lambda: u32(on="sunda"), lambda: u32(on="mariana")),
    "sort.bf16-compare": (
        lambda: run_sort([0x7C01, 1], np.uint16, "bf16")[1],
        lambda: run_sort([0x7C00, 1], np.uint16, "bf16")[1],
    ),
    "nonzero.partitions": (
        lambda: run_nonzero([0, 4], np.int32, 17)[1],
        lambda: run_nonzero([0, 4], np.int32, 1)[1],
    ),
    "nonzero.nan": (
        lambda: run_nonzero([NAN], np.float32)[1],
        lambda: run_nonzero([np.inf, 0.0], np.float32)[1],
    ),
}


@pytest.mark.parametrize("id", [u.id for u in unpinned_behaviours("neuron")])
def test_every_behaviour_is_raised_by_one_run_and_not_by_another(id: str) -> None:
    raises, stays_silent = WITNESSES[id]
    assert id in raises()
    assert id not in stays_silent()
