"""One peer in a process of its own: pinned, its threads limited, told what to time by a pipe."""

from __future__ import annotations

import gc
import os
import time
from importlib import import_module
from multiprocessing.connection import Connection
from typing import Any

__all__ = ["THREAD_VARIABLES", "serve"]

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "POLARS_MAX_THREADS",
    "LANESORT_NUM_THREADS",
)


def serve(peer: str, threads: int, pipe: Connection) -> None:
    """Answer commands until the pipe closes: ``load case``, then ``time seconds``."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    for variable in THREAD_VARIABLES:
        os.environ[variable] = str(threads)
    os.environ["XLA_FLAGS"] = f"--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads={threads}"
    call: Any = None
    while True:
        try:
            command, argument = pipe.recv()
        except EOFError:
            return
        if command == "load":
            call, answer = _load(peer, argument)
        elif call is None:
            answer = None
        else:
            answer = _time(call, argument)
        pipe.send(answer)


def _load(peer: str, case: Any) -> tuple[Any, str | None]:
    """Return the call and None, or None and why the peer can't do the case."""
    gc.collect()
    try:
        jobs = import_module("bench.peers")
        call = jobs.job(peer, case, import_module("bench.inputs").make(case))
        call()
    except KeyError:
        return None, "has no such operation"
    except Exception as error:  # a peer may fail in any way; the report names it
        return None, f"{type(error).__name__}: {error}".splitlines()[0]
    return call, None


def _time(call: Any, seconds: float) -> list[float]:
    """Time single calls, or batches of short ones, for about `seconds`."""
    start = time.perf_counter()
    call()
    once = time.perf_counter() - start
    batch = max(1, int(2e-4 / max(once, 1e-9)))
    times = []
    end = time.perf_counter() + seconds
    while not times or time.perf_counter() < end:
        start = time.perf_counter()
        for _ in range(batch):
            call()
        times.append((time.perf_counter() - start) / batch)
    return times
