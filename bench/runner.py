"""Runs cases: every peer in its own process, taking turns, so that noise hits all alike."""

from __future__ import annotations

import ctypes
import multiprocessing
import statistics
import threading
import time
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np

from bench.case import Case
from bench.peers import PEERS
from bench.plain import compiled
from bench.worker import serve

__all__ = ["Floors", "Measured", "available", "measure", "measure_floors"]

ROUNDS = 5


@dataclass
class Measured:
    """Times of one case, in ns an element: median and spread (interquartile) for each peer."""

    case: Case
    median: dict[str, float] = field(default_factory=dict)
    spread: dict[str, float] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)

    def ratio(self, peer: str) -> float | None:
        """The peer's time over lanesort's."""
        if peer not in self.median or "lanesort" not in self.median:
            return None
        return self.median[peer] / self.median["lanesort"]


@dataclass(frozen=True)
class Floors:
    """What this machine can do: ns a byte read, ns a compare-exchange of one pair, and how many
    times as much two threads get done of a plain loop as one does.
    """

    read_ns_per_byte: float
    exchange_ns: float
    scaling: float

    def of(self, case: Case) -> float:
        """The floor of a case in ns an element: the larger of memory and comparisons."""
        return max(case.bytes_moved * self.read_ns_per_byte, case.exchanges * self.exchange_ns)


def available() -> tuple[list[str], dict[str, str]]:
    """Return the peers that can be run, and why the others can't."""
    found, missing = [], {}
    for peer, (module, _) in PEERS.items():
        try:
            import_module(module)
            if peer == "vqsort":
                compiled("vqsort", "-lhwy_contrib", "-lhwy")
        except (ImportError, OSError) as error:
            missing[peer] = str(error)
        else:
            found.append(peer)
    return found, missing


def measure(case: Case, peers: list[str], seconds: float) -> Measured:
    """Time one case on lanesort and the peers that its goals name.

    Parameters
    ----------
    case
        What to do.
    peers
        Peers that are installed.
    seconds
        Time a peer gets, over all its turns.
    """
    result = Measured(case)
    wanted = ["lanesort", *(p for p in case.goals if p in PEERS)]
    workers = {}
    for peer in wanted:
        if peer in peers:
            workers[peer] = _start(peer, case.threads)
        else:
            result.missing[peer] = "not installed"
    times: dict[str, list[float]] = {}
    try:
        for peer, (_, pipe) in list(workers.items()):
            pipe.send(("load", case))
            problem = pipe.recv()
            if problem is not None:
                result.missing[peer] = problem
            else:
                times[peer] = []
        for _ in range(ROUNDS):
            for peer in times:
                pipe = workers[peer][1]
                pipe.send(("time", seconds / ROUNDS))
                times[peer].extend(pipe.recv())
    finally:
        for process, pipe in workers.values():
            pipe.close()
            process.join(5)
            process.kill()
    for peer, values in times.items():
        scaled = [1e9 * v / case.elements for v in values]
        result.median[peer] = statistics.median(scaled)
        quartiles = statistics.quantiles(scaled, n=4) if len(scaled) > 1 else [scaled[0]] * 3
        result.spread[peer] = quartiles[2] - quartiles[0]
    return result


def _start(peer: str, threads: int) -> tuple[Any, Any]:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=serve, args=(peer, threads, theirs), daemon=True)
    process.start()
    theirs.close()
    return process, ours


def measure_floors() -> Floors:
    """Measure the read bandwidth of memory and the rate of vector compare-exchanges."""
    library = compiled("floor")
    library.floor_read.restype = ctypes.c_uint64
    library.floor_exchange.restype = ctypes.c_double
    data = np.ones(1 << 25, np.uint64)
    aligned = data[(-data.ctypes.data // 8) % 8 :]
    words = aligned.size // 32 * 32
    read = _best(lambda: library.floor_read(ctypes.c_void_p(aligned.ctypes.data), ctypes.c_size_t(words)))
    rounds = 1 << 20
    exchange = _best(lambda: library.floor_exchange(ctypes.c_size_t(rounds)))
    both = _best(lambda: _on_two_threads(lambda: library.floor_exchange(ctypes.c_size_t(rounds))))
    return Floors(
        1e9 * read / (8 * words), 1e9 * exchange / (rounds * 8 * library.floor_lanes()), 2 * exchange / both
    )


def _on_two_threads(call: Any) -> None:
    threads = [threading.Thread(target=call) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _best(call: Any) -> float:
    times = []
    for _ in range(7):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)
