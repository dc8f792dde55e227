"""``python -m bench``: run the benchmark and write its report to bench/out.

``python -m bench scaling`` runs that of `bench.scaling` instead.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from bench import scaling
from bench.case import chosen
from bench.report import markdown, plot, write_json
from bench.runner import available, measure, measure_floors
from lanesort import _core


def main() -> int:
    """Run the cases asked for."""
    if sys.argv[1:2] == ["scaling"]:
        return scaling.main(sys.argv[2:])
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few cases, short turns")
    parser.add_argument("--only", help="cases whose id contains this")
    parser.add_argument("--seconds", type=float, help="time a peer gets for a case")
    parser.add_argument("--out", type=Path, default=Path("bench/out"))
    options = parser.parse_args()
    seconds = options.seconds or (0.3 if options.quick else 1.5)
    options.out.mkdir(parents=True, exist_ok=True)
    floors = measure_floors()
    peers, missing = available()
    results = []
    for case in chosen(options.only, options.quick):
        sys.stderr.write(f"{case.id}\n")
        results.append(measure(case, peers, seconds))
    table = markdown(results, floors, missing, _core.targets())
    (options.out / "report.md").write_text(table, encoding="utf-8")
    write_json(options.out / "report.json", results, floors, missing)
    plot(options.out / "rows.svg", results)
    sys.stdout.write(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
