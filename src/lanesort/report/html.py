"""A report of a plan: one page without scripts, which needs nothing beside itself."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from lanesort.datapath.network import network
from lanesort.errors import FileError
from lanesort.plan.check import Check
from lanesort.plan.explain import distinct_steps, order_text
from lanesort.plan.levels import levels
from lanesort.plan.program import Plan
from lanesort.plan.schedule import Slot, lives, schedule, trace_document
from lanesort.plan.tree import BLOCK
from lanesort.report.compaction_diagram import compaction_diagram
from lanesort.report.network_diagram import network_diagram
from lanesort.report.plan_drawings import memory_svg, timeline_svg, tree_svg

__all__ = ["plan_page", "plan_trace", "write_plan_report", "write_plan_trace"]

Array = npt.NDArray[Any]

MOST_STEPS = 200
MOST_OPEN = 40
"""Steps that are shown without being asked for."""
VECTOR_LANES = 16
_STYLE = """
:root{color-scheme:light dark;--ink:#1f2937;--faint:#6b7280;--paper:#fff;--line:#e2e8f0;--soft:#f8fafc}
@media(prefers-color-scheme:dark){
:root{--ink:#e5e7eb;--faint:#9ca3af;--paper:#111827;--line:#374151;--soft:#1f2937}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:62rem;
padding:0 1rem;margin:2rem auto}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2.2rem;border-bottom:1px solid var(--line)}
code,pre,td.num{font-family:ui-monospace,Menlo,Consolas,monospace;font-size:13px}
pre{background:var(--soft);padding:.8rem;overflow:auto;max-height:32rem}
table{border-collapse:collapse}td,th{padding:.15rem .9rem .15rem 0;text-align:left;vertical-align:top}
td.num,th.num{text-align:right}tr.chosen{font-weight:bold}.faint{color:var(--faint)}
.drawing,img{width:100%;height:auto}img{background:#fff}.scroll{overflow-x:auto}
.drawing text{font:11px ui-monospace,Menlo,Consolas,monospace;fill:var(--ink)}
.drawing .axis{fill:var(--faint)}.drawing .end{text-anchor:end}.drawing .middle{text-anchor:middle}
.drawing .inbox{fill:#1f2937}
.box{fill:#94a3b8;stroke:var(--paper);stroke-width:.4}.room{fill:var(--soft);stroke:var(--line)}
.op-tload,.op-load{fill:#60a5fa}.op-tstore,.op-read{fill:#34d399}
.op-tsort32,.op-sort,.op-nonzerowithcount{fill:#f97316}.op-tmrgsort,.op-merge{fill:#facc15}
.op-tci{fill:#cbd5e1}.op-tmov{fill:#a78bfa}.op-tgather{fill:#f472b6}
.level0{fill:#fed7aa}.level1{fill:#fde68a}.level2{fill:#bbf7d0}.level3{fill:#bfdbfe}
.good{color:#15803d;font-weight:bold}.bad{color:#b91c1c;font-weight:bold}
"""


def plan_trace(plan: Plan) -> dict[str, Any]:
    """Return the plan's timeline as a Chrome trace-event document, which Perfetto opens."""
    return trace_document(schedule(plan.steps, plan.rates))


def write_plan_trace(path: str | Path, plan: Plan) -> None:
    """Write `plan_trace` as JSON.

    Raises
    ------
    FileError
        If the file can't be written.
    """
    _write(path, json.dumps(plan_trace(plan)))


def write_plan_report(
    path: str | Path, plan: Plan, check: Check | None = None, x: Array | None = None
) -> None:
    """Write `plan_page` to a file.

    Raises
    ------
    FileError
        If the file can't be written.
    """
    _write(path, plan_page(plan, check, x))


def _write(path: str | Path, text: str) -> None:
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise FileError(f"can't write {path}: {error.strerror}") from error


def plan_page(plan: Plan, check: Check | None = None, x: Array | None = None) -> str:
    """Return a report of a plan as an HTML page.

    Parameters
    ----------
    plan
        What is reported.
    check
        Its check on some input, if there was one.
    x
        That input, whose first values flow through the drawing of a block.

    Returns
    -------
    str
        A page without scripts or links to other files; the same for the same arguments.

    Examples
    --------
    >>> from lanesort import plan
    >>> page = plan_page(plan.top_k(shape=(2, 100), k=5, target="a5"))
    >>> page.count("<svg"), "<script" in page
    (3, False)
    """
    slots = schedule(plan.steps, plan.rates)
    title = f"{plan.job.op} on {plan.job.target}"
    body = [
        f"<h1>{escape(title)}</h1>",
        f"<p><code>{escape(plan.job.call())}</code></p>",
        _summary(plan),
        *([_check_section(check)] if check is not None else []),
        _alternatives(plan),
        _steps(plan),
        *_drawings(plan, slots),
        _block(plan, x),
        _program(plan),
    ]
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f'<title>{escape(title)}</title><link rel="icon" href="data:,">',
            f"<style>{_STYLE}</style></head><body>",
            *body,
            "</body></html>",
            "",
        ]
    )


def _table(heads: Sequence[str], rows: Iterable[Sequence[Any]], chosen: int = -1) -> str:
    """Return a table; numbers stand at the right, row number `chosen` is marked."""
    cells = list(rows)
    kinds = [
        ' class="num"' if cells and all(isinstance(row[column], int | float) for row in cells) else ""
        for column in range(len(heads))
    ]
    lines = [_row("th", "", heads, kinds)]
    for number, row in enumerate(cells):
        lines.append(_row("td", ' class="chosen"' if number == chosen else "", row, kinds))
    return '<div class="scroll"><table>' + "\n".join(lines) + "</table></div>"


def _row(tag: str, mark: str, values: Sequence[Any], kinds: Sequence[str]) -> str:
    cells = [
        f"<{tag}{kind}>{escape(_shown(value))}</{tag}>" for value, kind in zip(values, kinds, strict=True)
    ]
    return f"<tr{mark}>{''.join(cells)}</tr>"


def _shown(value: Any) -> str:
    return f"{value:,.0f}" if isinstance(value, int | float) else str(value)


def _summary(plan: Plan) -> str:
    cost = plan.cost
    rows = [
        ("program", plan.chosen.name),
        ("order", order_text(plan.job)),
        ("cycles", f"{cost.cycles:,.0f}, pipes added up"),
        ("instructions", f"{cost.instructions:,}"),
        ("bytes moved", f"{cost.bytes:,}"),
        *((id, choice) for id, choice in plan.job.choices),
    ]
    return _table(("", ""), rows)


def _check_section(check: Check) -> str:
    kind, verdict = ("good", "equal") if check.equal else ("bad", "not equal")
    text = escape(str(check))
    return f'<h2>Check</h2><p class="{kind}">{verdict}</p><pre>{text}</pre>'


def _alternatives(plan: Plan) -> str:
    rows = plan.compare().rows
    chosen = next(number for number, (name, _) in enumerate(rows) if name == plan.chosen.name)
    table = _table(
        ("alternative", "cycles", "instructions", "bytes moved"),
        [(name, cost.cycles, cost.instructions, cost.bytes) for name, cost in rows],
        chosen,
    )
    return f"<h2>Alternatives</h2>{table}"


def _steps(plan: Plan) -> str:
    steps = distinct_steps(plan.steps)
    rows = [(s.phase, s.place, s.times, s.op, s.what) for s in steps[:MOST_STEPS]]
    more = len(steps) - MOST_STEPS
    note = f'<p class="faint">… and {more} more</p>' if more > 0 else ""
    costs = []
    for operation, (times, cycles) in plan.cost.by_operation.items():
        rate = plan.rates[operation]
        formula = f"{rate.fixed:g} + {rate.each:.4g} · {rate.unit}"
        costs.append((operation, times, cycles, formula, f"{rate.how}: {rate.source}"))
    heads = ("operation", "times", "cycles", "a step", "how known")
    shown = _table(("phase", "runs on", "times", "operation", "what"), rows) + note
    if len(rows) > MOST_OPEN:
        shown = f"<details><summary>{len(steps)} steps</summary>{shown}</details>"
    return f"<h2>Steps</h2>{shown}<h2>Cost</h2>{_table(heads, costs)}"


def _drawings(plan: Plan, slots: Sequence[Slot]) -> Iterator[str]:
    if not slots:
        return
    end = max(slot.stop for slot in slots)
    name, lane = plan.chosen.memory, _first_lane(slots)
    title = f"{name}, partition {lane}," if name == "SBUF" else name
    yield f"<h2>{title} over time</h2>" + memory_svg(lives(slots, lane), plan.chosen.memory_bytes, end, name)
    found = levels(plan.chosen)
    if found:
        yield f"<h2>Merge tree of a row</h2>{tree_svg(found)}"
    data = base64.b64encode(json.dumps(trace_document(slots)).encode()).decode()
    address = f"data:application/json;base64,{data}"
    link = f'<a download="trace.json" href="{address}">trace-event JSON for Perfetto</a>'
    cut = "" if len(slots) == len(plan.steps) else f" The first {len(slots)} of {len(plan.steps)} steps."
    yield (
        f"<h2>Timeline</h2>{timeline_svg(slots)}"
        f'<p class="faint">One turn of every loop, by the cost model.{cut} {link}</p>'
    )


def _first_lane(slots: Sequence[Slot]) -> int:
    return min((span.lane for slot in slots for span in slot.step.writes), default=0)


def _block(plan: Plan, x: Array | None) -> str:
    """Return the drawing of how one block or vector is ordered, or its nonzeros moved."""
    job = plan.job
    if job.is_empty:
        return ""
    if job.op == "nonzero":
        given = np.array([0, 1, 1, 0, 0, 1, 0, 0], job.dtype) if x is None else x.reshape(-1)[:VECTOR_LANES]
        return _image("A vector through the compactor", compaction_diagram(given, job.nonzero_rule))
    lanes = min(job.width, BLOCK if job.family == "pto" else VECTOR_LANES)
    values = None if x is None else x.reshape(job.rows, job.width)[0, :lanes]
    drawn = network_diagram(network("bitonic", lanes), values, descending=job.descending)
    title = "A block of 32" if job.family == "pto" else "A vector"
    return _image(f"{title} through a bitonic network", drawn, "Which network the hardware has is not known.")


def _image(title: str, svg: str, note: str = "") -> str:
    # As an image a drawing keeps its style to itself.
    data = base64.b64encode(svg.encode()).decode()
    image = f'<img alt="{escape(title)}" src="data:image/svg+xml;base64,{data}">'
    return f"<h2>{escape(title)}</h2>{image}" + (f'<p class="faint">{escape(note)}</p>' if note else "")


def _program(plan: Plan) -> str:
    program = plan.program
    text = program if isinstance(program, str) else "\n".join(map(str, program))
    return f"<h2>Program</h2><details><summary>show</summary><pre>{escape(text)}</pre></details>"
