"""Write requirements/ci.txt: every package that `make test` and `make fuzz` install, by version and hash.

pip resolves the requirements of pyproject.toml for the machine that this runs on, without installing
anything, and says which archive it would take for each; its SHA-256 is what the lock holds.
"""

from __future__ import annotations

import json
import platform
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GROUPS = ("build", "test", "lint", "fuzz")
EXTRAS = ("pto", "files")
# PyTorch is one version with another archive for each index (with CUDA, or for the CPU alone), and
# what only some of these archives need comes with it.
OUTSIDE = re.compile(r"torch|triton|(nvidia|cuda)-.*")
HEADER = """\
# Written by `make lock` for CPython 3.11 on x86-64 Linux: everything that `make test` and `make fuzz` install
# but PyTorch, whose archive differs by index. `LOCKED=1` installs from here, and pip checks each archive
# against its hash; elsewhere the ranges of pyproject.toml apply.
"""


def requirements() -> list[str]:
    """Return what is asked for by name: dependencies, extras, and groups."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())
    project = declared["project"]
    asked = [*project["dependencies"], "pip>=25.1"]
    for extra in EXTRAS:
        asked += project["optional-dependencies"][extra]
    for group in GROUPS:
        asked += declared["dependency-groups"][group]
    return asked


def resolved() -> dict[str, tuple[str, str]]:
    """Return name -> (version, SHA-256) of all that pip would install."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed"]
        subprocess.run([*pip, "--only-binary=:all:", "--report", report, *requirements()], check=True)
        chosen = json.loads(report.read_text())["install"]
    return {
        re.sub("[-_.]+", "-", item["metadata"]["name"]).lower(): (
            item["metadata"]["version"],
            item["download_info"]["archive_info"]["hashes"]["sha256"],
        )
        for item in chosen
    }


def main() -> None:
    """Resolve and write, on the platform that the lock is for."""
    here = (sys.implementation.name, sys.version_info[:2], sys.platform, platform.machine())
    if here != ("cpython", (3, 11), "linux", "x86_64"):
        sys.exit(f"the lock is for CPython 3.11 on x86-64 Linux, not for {here}")
    lines = [
        f"{name}=={version} \\\n    --hash=sha256:{digest}\n"
        for name, (version, digest) in sorted(resolved().items())
        if not OUTSIDE.fullmatch(name)
    ]
    (ROOT / "requirements" / "ci.txt").write_text(HEADER + "".join(lines))
    print(f"{len(lines)} packages in requirements/ci.txt")


if __name__ == "__main__":
    main()
