"""The report of a run: JSON, Markdown, and plots."""

from __future__ import annotations

import json
import platform
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench.runner import Floors, Measured

__all__ = ["cpu_name", "markdown", "plot", "write_json"]


def cpu_name() -> str:
    """Return the processor's name."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


SCALING = "scaling of "
"""Begins a goal that compares with a plain loop: how much faster than that case, over the loop's."""


def goal_ratio(measured: Measured, goal: str, by_id: dict[str, Measured], floors: Floors) -> float | None:
    """The ratio that a goal asks about: a peer's time, or our own on another case, over ours."""
    if goal.startswith(SCALING):
        faster = goal_ratio(measured, goal.removeprefix(SCALING), by_id, floors)
        return None if faster is None else faster / floors.scaling
    if goal in by_id:
        own = by_id[goal].median.get("lanesort")
        here = measured.median.get("lanesort")
        return own / here if own and here else None
    return measured.ratio(goal)


def markdown(results: list[Measured], floors: Floors, missing: dict[str, str], targets: list[str]) -> str:
    """Return the table: a line for each case and goal, with the floor and its multiple."""
    by_id = {m.case.id: m for m in results}
    rates = (1 / floors.read_ns_per_byte, 1 / floors.exchange_ns)
    lines = [
        f"CPU: {cpu_name()}; targets: {', '.join(targets)}.",
        f"Floors of this core: {rates[0]:.1f} GB/s read, {rates[1]:.2f} G compare-exchanges/s.",
        f"Two threads do {floors.scaling:.2f} times as much of a plain loop as one.",
        "Times are medians in ns an element ± half the interquartile range.",
        "The ratio is the peer's time over lanesort's.",
        "",
        "| case | lanesort | × floor | against | its time | ratio | goal | |",
        "|---|--:|--:|---|--:|--:|--:|---|",
    ]
    for measured in results:
        lines += _rows(measured, floors, by_id)
    if missing:
        lines += ["", "Missing peers: " + "; ".join(f"{p} ({why})" for p, why in missing.items()) + "."]
    return "\n".join(lines) + "\n"


def _rows(measured: Measured, floors: Floors, by_id: dict[str, Measured]) -> list[str]:
    case = measured.case
    if "lanesort" not in measured.median:
        return [f"| {case.id} | – | – | – | – | – | – | {measured.missing.get('lanesort', '')} |"]
    own = measured.median["lanesort"]
    floor = floors.of(case)
    multiple = f"{own / floor:.1f}" if floor else "–"
    first = f"| {case.id} | {own:.3g} ± {measured.spread['lanesort'] / 2:.1g} | {multiple} |"
    rows = []
    for goal, wanted in case.goals.items():
        ratio = goal_ratio(measured, goal, by_id, floors)
        if ratio is None:
            rows.append(f"{first} {goal} | – | – | {wanted:.3g} | {measured.missing.get(goal, 'not run')} |")
            continue
        time = f"{ratio * own:.3g}"
        verdict = "met" if ratio >= wanted else "short"
        rows.append(f"{first} {goal} | {time} | {ratio:.2f} | {wanted:.3g} | {verdict} |")
    return rows or [f"{first} – | – | – | – | |"]


def write_json(path: Path, results: list[Measured], floors: Floors, missing: dict[str, str]) -> None:
    """Write everything that was measured."""
    content: dict[str, Any] = {
        "cpu": cpu_name(),
        "floors": asdict(floors),
        "missing": missing,
        "cases": [{"id": m.case.id, **asdict(m)} for m in results],
    }
    path.write_text(json.dumps(content, indent=1), encoding="utf-8")


def plot(path: Path, results: list[Measured]) -> None:
    """Plot ns an element against the row length, for the operations that have several."""
    import matplotlib  # noqa: PLC0415 - an optional extra

    matplotlib.use("Agg")
    from matplotlib import pyplot  # noqa: PLC0415

    lines: dict[str, dict[str, list[tuple[int, float]]]] = {}
    for m in results:
        if m.case.pattern == "random" and m.case.threads == 1 and m.case.op in ("sort_pairs", "argsort"):
            group = lines.setdefault(f"{m.case.op} {m.case.dtype}", {})
            for peer, value in m.median.items():
                group.setdefault(peer, []).append((m.case.shape[1], value))
    shown = {title: peers for title, peers in lines.items() if any(len(p) > 1 for p in peers.values())}
    if not shown:
        return
    figure, axes = pyplot.subplots(1, len(shown), figsize=(5 * len(shown), 4), squeeze=False)
    for axis, (title, peers) in zip(axes[0], shown.items(), strict=True):
        for peer, points in peers.items():
            axis.loglog(*zip(*sorted(points), strict=True), marker="o", label=peer)
        axis.set(title=title, xlabel="row length", ylabel="ns an element")
        axis.legend()
    figure.tight_layout()
    figure.savefig(path)
    pyplot.close(figure)
