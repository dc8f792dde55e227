"""A full disk or a kill leaves the output as it was: whole or absent, never half."""

from __future__ import annotations

import random
import time
from pathlib import Path

import numpy as np
import pytest

from tests.faults.child import run, start

FULL = """
import resource, signal, sys
import numpy as np
from pathlib import Path
import lanesort as ls
from lanesort.cli.main import main
from lanesort.files import write_arrays

folder = Path(sys.argv[1])
source, target = folder / "x.npy", folder / "y.npy"
np.save(source, np.random.default_rng(31).standard_normal(300_000))
target.write_bytes(b"as it was")
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, resource.RLIM_INFINITY))

def refused(call):
    try:
        call()
    except ls.LanesortError as error:
        print(type(error).__name__, str(error).replace("\\n", " "))
    else:
        raise AssertionError("a full disk went unseen")

refused(lambda: write_arrays(target, {"x": np.zeros(300_000)}))
refused(lambda: ls.external.sort(source, target, memory_bytes=4 << 20))
refused(lambda: ls.external.argsort(source, target, memory_bytes=4 << 20))
assert main(["sort", str(source), "-o", str(target)]) == 2
assert target.read_bytes() == b"as it was"
print(sorted(path.name for path in folder.iterdir()))
"""


def test_a_full_disk_is_an_error_and_the_old_file_stays(tmp_path: Path) -> None:
    lines = run(FULL, tmp_path).splitlines()
    assert [line.split()[0] for line in lines[:3]] == ["FileError"] * 3
    assert lines[-1] == "['x.npy', 'y.npy']", "nothing else is left behind"


WRITING = """
import sys
import lanesort as ls
print("ready", flush=True)
while True:
    ls.external.sort(sys.argv[1], sys.argv[2], memory_bytes=4 << 20)
    ls.external.argsort(sys.argv[1], sys.argv[3], memory_bytes=4 << 20)
"""


def _kill(tmp_path: Path, times: int, seed: int) -> None:
    print(f"seed {seed}")
    pause = random.Random(seed)
    x = np.random.default_rng(seed).standard_normal(1_000_000)
    source, values, order = (tmp_path / name for name in ("x.npy", "values.npy", "order.npy"))
    np.save(source, x)
    for _ in range(times):
        with start(WRITING, source, values, order) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            time.sleep(pause.uniform(0.0, 0.4))
            process.kill()
        if values.exists():
            assert np.array_equal(np.load(values), np.sort(x))
        if order.exists():
            assert np.array_equal(np.load(order), np.argsort(x, kind="stable"))
    # What a killed process left is removed by the next one.
    run("import sys, lanesort as ls; ls.external.sort(*sys.argv[1:], memory_bytes=4 << 20)", source, values)
    assert not list(tmp_path.glob(".lanesort-runs-*"))
    assert np.array_equal(np.load(values), np.sort(x))


def test_a_killed_sort_leaves_no_half_file(tmp_path: Path) -> None:
    _kill(tmp_path, 5, random.SystemRandom().randrange(2**32))


@pytest.mark.nightly
def test_many_kills(tmp_path: Path) -> None:
    _kill(tmp_path, 100, random.SystemRandom().randrange(2**32))
