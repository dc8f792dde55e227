"""Many threads, fork, and Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import lanesort as ls
from lanesort._core import Control
from lanesort.kernels.control import watched


def test_sixteen_threads_on_shared_inputs() -> None:
    rng = np.random.default_rng(16)
    x = rng.integers(0, 100, (8, 30_000)).astype(np.float32)
    runs = list(ls.sort(x))

    def everything(_: int) -> tuple[bytes, ...]:
        return (
            ls.argsort(x, threads=2).tobytes(),
            ls.top_k(x, 50, threads=2).indices.tobytes(),
            ls.merge(runs).indices.tobytes(),
            ls.flatnonzero(x).indices.tobytes(),
        )

    with ThreadPoolExecutor(16) as pool:
        assert len(set(pool.map(everything, range(48)))) == 1


FORKING = """
import os, numpy as np, lanesort as ls
x = np.random.default_rng(0).standard_normal((4, 200_000)).astype(np.float32)
expected = ls.argsort(x, threads=2)
child = os.fork()
if child == 0:
    os._exit(0 if np.array_equal(ls.argsort(x, threads=2), expected) else 1)
_, status = os.waitpid(child, 0)
assert np.array_equal(ls.argsort(x, threads=2), expected)
raise SystemExit(os.waitstatus_to_exitcode(status))
"""


def test_a_forked_child_goes_on() -> None:
    assert subprocess.run([sys.executable, "-c", FORKING], timeout=120, check=False).returncode == 0


INTERRUPTED = """
import sys, time, numpy as np, lanesort as ls
x = np.random.default_rng(0).random(60_000_000)
print("ready", flush=True)
start = time.perf_counter()
try:
    while True:
        ls.argsort(x, threads=int(sys.argv[1]))
except KeyboardInterrupt:
    print("stopped", flush=True)
"""


@pytest.mark.parametrize("threads", ["1", "2"])
def test_ctrl_c_ends_a_long_call(threads: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, threads], stdout=subprocess.PIPE, text=True, env={**os.environ}
    )
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.4)
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "stopped\n"
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.stdout.close()
        process.wait()


def test_a_control_cancels_from_another_thread_and_counts() -> None:
    x = np.random.default_rng(1).random(20_000_000)
    control = Control()
    threading.Timer(0.05, control.cancel).start()
    with watched(control), pytest.raises(RuntimeError):
        _ = [ls.argsort(x, threads=1) for _ in range(100)]
    finished = Control()
    with watched(finished):
        ls.argsort(x[:3_000_000], threads=1)
    assert finished.done == finished.total > 0
