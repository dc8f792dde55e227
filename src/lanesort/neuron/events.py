"""Registers, semaphores and events: what programs wait for and signal."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from lanesort.errors import ArgumentTypeError, ArgumentValueError
from lanesort.evidence import fact
from lanesort.neuron.descriptor import Events, UpdateMode, WaitMode

__all__ = ["Bank", "Signals"]

SIGNALS = 256
DONE = 16

fact(
    "neuron.machine",
    "There are 256 semaphores and 256 events, all zero at the start; semaphores are 32 bits wide and wrap.",
    "assumed",
    "medium",
    "the width of the index fields in EVENTS",
)
fact(
    "neuron.machine",
    "One program runs in order on its own, so a wait that does not hold when it is reached never will.",
    "assumed",
    "high",
    "the model has no second engine that could signal",
)


class Bank(Sequence[int]):
    """A fixed number of unsigned numbers of one width, readable and settable by index."""

    def __init__(self, name: str, length: int, bits: int) -> None:
        self.name = name
        self._limit = (1 << bits) - 1
        self._values = [0] * length

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[int]:
        return iter(self._values)

    def __getitem__(self, index: Any) -> Any:
        return self._values[index if isinstance(index, slice) else self._at(index)]

    def __setitem__(self, index: int, value: int) -> None:
        try:
            number = operator.index(value)
        except TypeError:
            raise ArgumentTypeError(f"{self.name} {index}: {value!r} is not an integer") from None
        if not 0 <= number <= self._limit:
            raise ArgumentValueError(f"{self.name} {index} takes 0 to {self._limit}; got {number}")
        self._values[self._at(index)] = number

    def _at(self, index: int) -> int:
        if not 0 <= index < len(self._values):
            # IndexError ends iteration and `in` as Python expects of a sequence.
            raise IndexError(f"{self.name} {index}; there are 0 to {len(self._values) - 1}")
        return index

    def __repr__(self) -> str:
        set_ = {i: v for i, v in enumerate(self._values) if v}
        return f"<{len(self)} {self.name}s, {set_ or 'all zero'}>"


_COMPARE: Mapping[int, tuple[str, Callable[[int, int], bool]]] = {
    WaitMode.SEM_EQ: ("=", operator.eq),
    WaitMode.SEM_LT: ("<", operator.lt),
    WaitMode.SEM_LE: ("≤", operator.le),
    WaitMode.SEM_GT: (">", operator.gt),
    WaitMode.SEM_GE: ("≥", operator.ge),
}
_EVENT_WANTED = {
    WaitMode.EVENT_SET: 1,
    WaitMode.EVENT_SET_THEN_CLEAR: 1,
    WaitMode.EVENT_CLEAR: 0,
    WaitMode.EVENT_CLEAR_THEN_SET: 0,
}
_THEN = {WaitMode.EVENT_SET_THEN_CLEAR: 0, WaitMode.EVENT_CLEAR_THEN_SET: 1}

_UPDATE: Mapping[int, Callable[[int, int], int]] = {
    UpdateMode.SEM_INC: lambda old, immediate: old + 1,
    UpdateMode.SEM_DEC: lambda old, immediate: old - 1,
    UpdateMode.SEM_ADD: operator.add,
    UpdateMode.SEM_SUB: operator.sub,
    UpdateMode.SEM_WRITE: lambda old, immediate: immediate,
}


class Signals:
    """The semaphores and events of a core."""

    def __init__(self) -> None:
        self.semaphores = Bank("semaphore", SIGNALS, 32)
        self.events = Bank("event", SIGNALS, 1)

    def blocked(self, wait: Events) -> str | None:
        """Say what an instruction waits for in vain, or return None if it may start."""
        mode, index = wait.wait_mode, wait.wait_idx
        if mode in _COMPARE:
            sign, holds = _COMPARE[mode]
            value = self.semaphores[index]
            if holds(value, wait.semaphore_value):
                return None
            return f"semaphore {index} {sign} {wait.semaphore_value}, and it is {value}"
        wanted = _EVENT_WANTED.get(WaitMode(mode))
        if wanted is None or self.events[index] == wanted:
            return None
        return f"event {index} {'set' if wanted else 'clear'}, and it is {'clear' if wanted else 'set'}"

    def start(self, wait: Events) -> None:
        """Do what follows a wait that holds."""
        then = _THEN.get(WaitMode(wait.wait_mode))
        if then is not None:
            self.events[wait.wait_idx] = then

    def signal(self, update: Events, *, completed: bool) -> None:
        """Signal, if now is the time that the update mode says."""
        mode, index = update.update_mode, update.update_idx
        if mode == UpdateMode.NONE or (mode > DONE) != completed:
            return
        kind = mode % DONE
        if kind in _UPDATE:
            old = self.semaphores[index]
            self.semaphores[index] = _UPDATE[kind](old, update.semaphore_value) & 0xFFFFFFFF
        else:
            self.events[index] = int(kind == UpdateMode.EVENT_SET)
