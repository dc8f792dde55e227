"""``python -m fuzz.programs``: run programs, and compare what they give with the stored signatures.

With ``--write`` the signatures of blocks that have none are added; that has a reason only when
results have changed on purpose, and then the file is removed first.
"""

from __future__ import annotations

import argparse
import platform
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np

import lanesort

from .compare import BLOCK, DATAPATH_EVERY, MEMORIES, Signature, block_signature
from .draws import SEED

STORED = Path(__file__).resolve().parent / "signatures.txt"
BLOCKS = 1000
HEAD = f"""\
# Results of random programs, seed {SEED}, {BLOCK} in a block, {MEMORIES} memories for each list of
# instructions. All ran on the native and the reference engine, every {DATAPATH_EVERY}th on the datapath too.
# Written by python -m fuzz.programs --write with lanesort {lanesort.__version__}, NumPy {np.__version__}, \
CPython {platform.python_version()}.
# block, results (outputs, counts, unpinned behaviours), messages (log, warnings, refusals)
"""


def stored() -> dict[int, Signature]:
    """Read the stored signatures by block."""
    if not STORED.exists():
        return {}
    lines = [line.split() for line in STORED.read_text().splitlines() if not line.startswith("#")]
    return {int(block): Signature(results, messages) for block, results, messages in lines}


def signatures(blocks: Iterable[int], processes: int) -> Iterator[tuple[int, Signature]]:
    """Run blocks and yield their signatures in order."""
    if processes == 1:
        yield from ((block, block_signature(block)) for block in blocks)
        return
    chosen = list(blocks)
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        yield from zip(chosen, pool.map(block_signature, chosen), strict=True)


def differences(blocks: Iterable[int], processes: int = 1) -> list[str]:
    """Run blocks and say where they differ from what is stored."""
    known, found = stored(), []
    for block, signature in signatures(blocks, processes):
        programs = f"programs {block * BLOCK} to {(block + 1) * BLOCK - 1}"
        if block not in known:
            found.append(f"{programs}: no signature is stored")
        elif signature.results != known[block].results:
            found.append(f"{programs}: results are {signature.results}, stored {known[block].results}")
        elif signature.messages != known[block].messages:
            found.append(
                f"{programs}: messages alone are {signature.messages}, stored {known[block].messages}"
            )
    return found


def write(blocks: Iterable[int], processes: int) -> None:
    """Add the signatures of blocks that have none, each as soon as it is known."""
    known = stored()
    if not known:
        STORED.write_text(HEAD)
    for block, signature in signatures([b for b in blocks if b not in known], processes):
        with STORED.open("a") as file:
            file.write(f"{block} {signature.results} {signature.messages}\n")


def main() -> int:
    """Run some blocks; exit code 1 if anything differs."""
    parser = argparse.ArgumentParser(prog="fuzz.programs", description=__doc__)
    parser.add_argument("--first", type=int, default=0, help="first block")
    parser.add_argument("--blocks", type=int, help=f"how many, of {BLOCK} programs each; all that are stored")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="add the signatures that are missing")
    options = parser.parse_args()
    if options.write:
        write(range(options.first, BLOCKS)[: options.blocks], options.processes)
        return 0
    blocks = range(options.first, len(stored()))[: options.blocks]
    found = differences(blocks, options.processes)
    sys.stdout.write("".join(f"{line}\n" for line in found))
    sys.stdout.write(f"{len(blocks) * BLOCK} programs, {len(found)} of {len(blocks)} blocks differ\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
