"""A progress bar for calls that take longer than two seconds."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from rich.progress import Progress

from lanesort._core import Control
from lanesort.cli.console import console as make_console
from lanesort.kernels.control import watched

__all__ = ["shown"]

PATIENCE_SECONDS = 2.0
PERIOD_SECONDS = 0.1


@contextmanager
def shown(title: str) -> Iterator[None]:
    """Show the progress of the library calls made inside, on standard error."""
    control = Control()
    finished = threading.Event()
    watcher = threading.Thread(target=_watch, args=(title, control, finished), daemon=True)
    watcher.start()
    try:
        with watched(control):
            yield
    finally:
        finished.set()
        watcher.join()


def _watch(title: str, control: Control, finished: threading.Event) -> None:
    console = make_console(errors=True, soft_wrap=False)
    if finished.wait(PATIENCE_SECONDS) or not console.is_terminal:
        return
    with Progress(console=console, transient=True) as bar:
        task = bar.add_task(title, total=None)
        while not finished.wait(PERIOD_SECONDS):
            bar.update(task, total=control.total or None, completed=control.done)
