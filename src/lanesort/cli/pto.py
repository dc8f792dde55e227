"""``lanesort pto``: the commands about `.pto` programs."""

from __future__ import annotations

import cyclopts

__all__ = ["app"]

app = cyclopts.App(name="pto", help="Run, print and check .pto programs.")
app.command("lanesort.cli.pto_check:pto_check", name="check")
app.command("lanesort.cli.pto_print:pto_print", name="print")
app.command("lanesort.cli.pto_run:pto_run", name="run")
