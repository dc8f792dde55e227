"""A job: what is to be sorted, chosen or found, and on which target.

A job is checked when it is made. What no plan can do is refused with the reason and with
the nearest job that one can do.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from lanesort.errors import ArgumentTypeError, ArgumentValueError
from lanesort.evidence import Choices
from lanesort.neuron.dtype import Dtype, numpy_dtype
from lanesort.neuron.generation import GENERATIONS
from lanesort.neuron.sort import DTYPES_16, DTYPES_32
from lanesort.order import Order, key_class
from lanesort.pto.target import TARGETS as PTO_TARGETS
from lanesort.pto.tmrgsort import ABOUT as MERGE

__all__ = ["OPS", "Job", "NonzeroRule", "targets"]

Op = Literal["top_k", "sort", "nonzero"]
Family = Literal["pto", "neuron"]
NonzeroRule = Literal["value", "ordered", "bits"]

OPS: tuple[Op, ...] = ("top_k", "sort", "nonzero")
INDEX_LIMIT = (1 << 31) - 1
"""Positions are written by 32-bit iotas on both families."""

SORT_DTYPES = tuple(d.name.lower() for d in sorted(DTYPES_16 | DTYPES_32))
NONZERO_DTYPES = ("fp32", "i32")
NONZERO_RULES: Mapping[str, NonzeroRule] = MappingProxyType(
    {"counted": "value", "ordered": "ordered", "bits": "bits"}
)


def targets() -> tuple[str, ...]:
    """Return the names of all targets that plans can be made for.

    Examples
    --------
    >>> targets()[:2], "cayman" in targets()
    (('a2a3', 'a5'), True)
    """
    return (*PTO_TARGETS, *(g.name for g in GENERATIONS.values() if g.instructions))


@dataclass(frozen=True, slots=True)
class Job:
    """What a plan is made for.

    Attributes
    ----------
    op
        ``top_k``, ``sort`` or ``nonzero``.
    shape
        Shape of the input; rows lie along the last axis. ``nonzero`` looks at all of it, in C order.
    dtype
        Dtype of the input.
    target
        A PTO target or a NeuronCore generation.
    k
        Pairs wanted of each row; for ``sort`` the width of a row.
    descending
        Largest first.
    choices
        Choices for unpinned behaviours that differ from the defaults, by id.

    Examples
    --------
    >>> job = Job.of("top_k", (16, 8192), "float32", "a5", k=2048)
    >>> job.family, job.rows, job.width, job.policy.nan
    ('pto', 16, 8192, 'sign-magnitude')
    """

    op: Op
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    target: str
    k: int
    descending: bool
    choices: tuple[tuple[str, str], ...]

    @classmethod
    def of(
        cls,
        op: Op,
        shape: int | Sequence[int],
        dtype: Any,
        target: str,
        *,
        k: int | None = None,
        descending: bool = True,
        choices: Mapping[str, str] | None = None,
    ) -> Job:
        """Make a job of what a caller gives, and refuse it if no plan can do it.

        Raises
        ------
        ArgumentTypeError
            For a shape, a k or a dtype of a wrong type.
        ArgumentValueError
            For an unknown target, or a job that can't be done; the message has the reason
            and the nearest one that can.
        """
        if target not in targets():
            raise ArgumentValueError(f"target is {target!r}; known are {', '.join(targets())}")
        sizes = _shape(shape)
        job = cls(
            op, sizes, _dtype(dtype), target, 0, bool(descending), tuple(sorted((choices or {}).items()))
        )
        job = job.replace(k=job.width if k is None else _whole(k, "k"))
        for check in (_check_choices, _check_k, _check_size, _CHECKS[job.family]):
            check(job)
        return job

    def replace(self, **changes: Any) -> Job:
        """Return a copy with some attributes changed, not checked."""
        given = {name: getattr(self, name) for name in self.__slots__}
        return Job(**(given | changes))

    @property
    def family(self) -> Family:
        """Which instructions do it."""
        return "pto" if self.target in PTO_TARGETS else "neuron"

    @property
    def width(self) -> int:
        """Elements of a row; all of them for ``nonzero``."""
        return prod(self.shape) if self.op == "nonzero" else self.shape[-1]

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return 1 if self.op == "nonzero" else prod(self.shape[:-1])

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to give back."""
        return not (self.rows and self.width and (self.k or self.op == "nonzero"))

    @property
    def result_shape(self) -> tuple[int, ...]:
        """Shape of values and indices."""
        return (*self.shape[:-1], self.k)

    @property
    def given(self) -> dict[str, str]:
        """The choices as a mapping."""
        return dict(self.choices)

    @property
    def policy(self) -> Order:
        """The order that the instructions have under the choices made."""
        return Order(descending=self.descending, nan=_nan(self), tie="low")

    @property
    def nonzero_rule(self) -> NonzeroRule:
        """What counts as a nonzero."""
        return NONZERO_RULES[Choices("neuron", self.given)["nonzero.nan"]]

    def call(self, **changes: Any) -> str:
        """Return the call that plans this job, or one that differs in some attributes."""
        job = self.replace(**changes)
        parts = [f"shape={job.shape}"]
        if job.op == "top_k":
            parts.append(f"k={job.k}")
        parts += [f"dtype={job.dtype.name!r}", f"target={job.target!r}"]
        if not job.descending and job.op == "sort":
            parts.append("descending=False")
        if job.choices:
            parts.append(f"choices={dict(job.choices)}")
        return f"lanesort.plan.{job.op}({', '.join(parts)})"

    def refuse(self, reason: str, **changes: Any) -> ArgumentValueError:
        """Return the error that refuses this job; `changes` lead to the nearest one that can be done."""
        return ArgumentValueError(f"{reason}; the nearest that can be planned is {self.call(**changes)}")


def _whole(value: Any, name: str) -> int:
    if isinstance(value, bool | np.bool_):
        raise ArgumentTypeError(f"{name} is {value!r}; it is a whole number")
    try:
        return operator.index(value)
    except TypeError:
        raise ArgumentTypeError(f"{name} is {value!r}; it is a whole number") from None


def _shape(shape: Any) -> tuple[int, ...]:
    sizes = tuple(shape) if isinstance(shape, Sequence) and not isinstance(shape, str) else (shape,)
    found = tuple(_whole(size, "a size of shape") for size in sizes)
    if not found or min(found) < 0:
        raise ArgumentValueError(f"shape is {shape!r}; give one size or more, none below 0")
    return found


def _dtype(dtype: Any) -> np.dtype[Any]:
    found = numpy_dtype(dtype)
    key_class(found)
    return found.newbyteorder("=")


def _nan(job: Job) -> Any:
    if job.family == "neuron":
        return Choices("neuron", job.given)["sort.nan-order"]
    return PTO_TARGETS[job.target].choose(MERGE, job.given)["pto.nan-order"]


def _check_choices(job: Job) -> None:
    # Asking for the choices names an id or a choice that is unknown.
    _nan(job)


def _check_k(job: Job) -> None:
    if job.op == "nonzero":
        return
    if not 0 <= job.k <= job.width:
        near = min(max(job.k, 0), job.width)
        raise job.refuse(f"k is {job.k} and a row has n = {job.width} elements; k is 0 … n", k=near)


def _check_size(job: Job) -> None:
    if job.width > INDEX_LIMIT:
        near = (INDEX_LIMIT,) if job.op == "nonzero" else (*job.shape[:-1], INDEX_LIMIT)
        reason = f"a row has {job.width} elements, and positions are 32-bit integers"
        raise job.refuse(reason, shape=near, k=min(job.k, INDEX_LIMIT))


def _check_pto(job: Job) -> None:
    target = PTO_TARGETS[job.target]
    if job.op == "nonzero":
        raise job.refuse(
            "PTO has no instruction that finds nonzeros", target="cayman", dtype=_near_nonzero(job)
        )
    accepted = [name for name in target.sort_dtypes if name in target.merge_dtypes]
    if target.simulated:
        # The simulator writes blocks of 16-bit values over one another (known fault cpu-half-placement).
        accepted = [name for name in accepted if np.dtype(name).itemsize > 2]
    if job.dtype.name not in accepted:
        reason = f"dtype is {job.dtype.name}; {job.target} sorts and merges rows of {', '.join(accepted)}"
        raise job.refuse(reason, dtype=np.dtype(_near_pto(job.dtype, accepted)), descending=True)
    if not job.descending:
        reason = f"descending is False; TSORT32 and TMRGSORT of {job.target} order largest first only"
        raise job.refuse(reason, descending=True)


def _near_pto(dtype: np.dtype[Any], accepted: Sequence[str]) -> str:
    """Return the accepted dtype that loses least: float32 holds every bfloat16 and 16-bit integer."""
    return "float32" if "float32" in accepted else accepted[0]


def _near_nonzero(job: Job) -> np.dtype[Any]:
    return np.dtype("float32" if key_class(job.dtype).kind == "float" else "int32")


def _check_neuron(job: Job) -> None:
    choices = Choices("neuron", job.given)
    if job.op == "nonzero":
        _check_nonzero(job)
        return
    names = {numpy_dtype(name) for name in SORT_DTYPES}
    if job.dtype not in names:
        reason = f"dtype is {job.dtype.name}; Sort takes {', '.join(SORT_DTYPES)}"
        raise job.refuse(reason, dtype=_near_neuron(job.dtype))
    if key_class(job.dtype).kind != "float":
        return
    without = tuple(pair for pair in job.choices if pair[0] not in ("sort.zero-order", "sort.bf16-compare"))
    if choices["sort.zero-order"] == "signed" and choices["sort.nan-order"] != "total":
        reason = "sort.zero-order is 'signed', and the host's merge tells zeros apart under 'total' only"
        raise job.refuse(reason, choices=tuple(sorted({**dict(without), "sort.nan-order": "total"}.items())))
    if choices["sort.bf16-compare"] == "as-fp16" and job.dtype.name == "bfloat16":
        raise job.refuse("sort.bf16-compare is 'as-fp16', which is no order of bfloat16", choices=without)


def _check_nonzero(job: Job) -> None:
    generation = GENERATIONS[job.target]
    if "nonzero_with_count" not in generation.instructions:
        reason = f"{job.target} (NC-v{generation.version}) has no NonzeroWithCount"
        raise job.refuse(reason, target="cayman", dtype=_near_nonzero(job))
    if job.dtype not in {numpy_dtype(name) for name in NONZERO_DTYPES}:
        reason = f"dtype is {job.dtype.name}; NonzeroWithCount takes {', '.join(NONZERO_DTYPES)}"
        raise job.refuse(reason, dtype=_near_nonzero(job))


def _near_neuron(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype of Sort that holds most of the values of another one."""
    cls = key_class(dtype)
    if cls.kind == "float":
        return numpy_dtype(Dtype.BF16.name if cls.bits == 8 else Dtype.FP32.name)
    wide = cls.bits > 16
    if cls.kind == "unsigned":
        return np.dtype(np.uint32 if wide else np.uint16)
    return np.dtype(np.int32 if wide else np.int16)


_CHECKS = {"pto": _check_pto, "neuron": _check_neuron}
