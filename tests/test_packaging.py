"""The package as others get it: sdist, then a wheel from it, then a fresh environment."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from tools import wheel as tool

from tests.conftest import ROOT

SMOKE = """
import numpy as np, lanesort as ls
from lanesort import neuron, pto
x = np.random.default_rng(0).standard_normal((50, 300)).astype(np.float32)
order = np.argsort(-x, axis=1, kind="stable")
assert (ls.argsort(x, descending=True) == order).all()
assert (ls.top_k(x, 7).indices == order[:, :7]).all()
assert (ls.merge([np.arange(5.0), np.arange(3.0)]).values == np.sort([0, 1, 2, 3, 4, 0, 1, 2])).all()
assert neuron.decode(neuron.assemble(
    "sort.fp32.desc.stable ch=1 src=[p0+0x0, 8:1] dst=[p0+0x2000, 2:8 8:1]").encode())
assert pto.pairs(pto.tsort32(x[:1, :64]))[0].shape == (1, 64)
"""


def run(*command: str | Path, where: Path) -> str:
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "LANESORT"))}
    done = subprocess.run(
        list(map(str, command)), cwd=where, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.mark.timeout(1800)
def test_a_wheel_from_the_sdist_works_in_a_fresh_environment(tmp_path: Path) -> None:
    run(sys.executable, "-m", "build", "--sdist", "--outdir", tmp_path, ROOT, where=tmp_path)
    (sdist,) = tmp_path.glob("lanesort-*.tar.gz")
    with tarfile.open(sdist) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    assert {"CMakeLists.txt", "LICENSE", "README.md", "native/order.h"} <= inside
    assert not [name for name in inside if name.endswith(".so")]

    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", tmp_path, sdist, where=tmp_path)
    (wheel,) = tmp_path.glob("lanesort-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    for needed in ("lanesort/py.typed", "lanesort/_core.pyi", "lanesort/neuron/images.toml"):
        assert needed in names

    environment = tmp_path / "env"
    run(sys.executable, "-m", "venv", environment, where=tmp_path)
    python = environment / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", wheel, where=tmp_path)
    run(python, "-c", SMOKE, where=tmp_path)
    assert "top-k" in run(environment / "bin" / "lanesort", "--help", where=tmp_path)
    core = run(python, "-c", "import lanesort._core as c; print(c.__file__)", where=tmp_path).strip()
    needs = re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", core, where=tmp_path))
    assert needs
    strange = [name for name in needs if not tool.PROMISED.fullmatch(name)]
    assert not strange, "a wheel needs nothing outside itself but the C and C++ libraries"


@pytest.mark.parametrize(
    ("says", "why"),
    [("python3.12: command not found", "python3.12: command not found"), ("", "exit code 127")],
)
def test_a_version_that_does_not_start_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], says: str, why: str
) -> None:
    """Version managers put a command on the path for versions that are not chosen; it fails when run."""
    fake = tmp_path / "python3.12"
    fake.write_text(f"#!/bin/sh\nprintf '{says}' >&2\nexit 127\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert list(tool.interpreters([])) == []
    assert f"python3.12 is on the path and does not start ({why}): left out" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="exit code 127"):
        list(tool.interpreters([str(fake)]))


def test_what_the_wheel_is_tried_with_is_declared() -> None:
    """The tests run against an installed wheel exist, and so do the requirements that they need."""
    assert all((ROOT / part).exists() for part in tool.TESTED)
    names = {re.split("[<>=]", entry)[0] for entry in tool.needed()}
    assert names == {"array-api-strict", "bitstruct", "hypothesis", "sybil", "pytest"} | {
        "pytest-timeout",
        "pytest-xdist",
    }


@pytest.mark.parametrize(
    ("name", "fits"), [("libstdc++.so.6", True), ("libc.so.6", True), ("libhwy.so.1", False)]
)
def test_libraries_that_a_wheel_may_need(name: str, fits: bool) -> None:
    assert (tool.PROMISED.fullmatch(name) is not None) is fits


@pytest.mark.nightly
@pytest.mark.timeout(7200)
def test_wheels_for_every_python_here_are_audited_and_pass_the_tests(tmp_path: Path) -> None:
    pytest.importorskip("auditwheel")
    told = run(
        sys.executable, ROOT / "tools" / "wheel.py", "--output", tmp_path, sys.executable, where=tmp_path
    )
    assert re.search(r"manylinux_\d+_\d+_\w+\.whl", told)
    assert re.search(r": \d+ passed", told)
