"""The ``lanesort`` command: its table of commands, and how errors reach the user."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress

import cyclopts

from lanesort.cli.console import console as make_console
from lanesort.errors import LanesortError, MissingExtraError

__all__ = ["CLOSED_PIPE", "COMMANDS", "app", "main"]

CLOSED_PIPE = 141
"""Exit code when the reader of the output has gone: what a shell shows for a program ended by SIGPIPE."""

COMMANDS: dict[str, str] = {
    "argsort": "lanesort.cli.argsort:argsort",
    "conformance": "lanesort.cli.conformance:conformance",
    "explain": "lanesort.cli.explain:explain",
    "fit": "lanesort.cli.fit:fit",
    "merge": "lanesort.cli.merge:merge",
    "neuron": "lanesort.cli.neuron:app",
    "nonzero": "lanesort.cli.nonzero:nonzero",
    "plan": "lanesort.cli.plan:app",
    "probe": "lanesort.cli.probe:probe",
    "pto": "lanesort.cli.pto:app",
    "sort": "lanesort.cli.sort:sort",
    "top-k": "lanesort.cli.top_k:top_k",
}
"""Each command, or group of commands, and where it lives; it is imported when it is called."""

app = cyclopts.App(
    name="lanesort",
    help="Sort, top-k, merge and nonzero as accelerators do them, on the CPU.",
    help_format="plaintext",
    result_action="return_value",
)
for _name, _where in COMMANDS.items():
    app.command(_where, name=_name)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    A bad option or file is one line on standard error and exit code 2. ``--debug`` in front
    of everything shows the traceback instead. Where the reader of the output has gone, the code is
    `CLOSED_PIPE`, so that a check which could not say what it found does not pass.
    """
    try:
        code = _run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        # What is left must not be flushed at exit.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (sys.stdout, sys.stderr):
            os.dup2(nowhere, stream.fileno())
        return CLOSED_PIPE
    return code


def _run(arguments: Sequence[str] | None) -> int:
    tokens = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in tokens
    if debug:
        tokens.remove("--debug")
    errors = make_console(errors=True)
    try:
        _load_named(tokens)
        code = app(
            tokens,
            console=make_console(soft_wrap=False),
            error_console=errors,
            exit_on_error=False,
            print_error=False,
        )
    except BrokenPipeError:
        raise
    except (LanesortError, cyclopts.CycloptsError, ImportError, OSError, MemoryError) as error:
        if debug:
            raise
        # An extra that a command misses is the cause of its failure to load.
        told = error.__cause__ if isinstance(error.__cause__, MissingExtraError) else error
        text = str(told) or type(told).__name__
        errors.print(f"lanesort: {text.strip()}")
        return 2
    except KeyboardInterrupt:
        errors.print("lanesort: interrupted")
        return 130
    return code if isinstance(code, int) else 0


def _load_named(tokens: Sequence[str]) -> None:
    """Load the commands that a list of commands is to name: then each has its line of help."""
    words = [token for token in tokens if token not in ("--help", "-h")]
    if len(words) > 1 or (words and words[0] not in ("neuron", "pto")):
        return
    group = app[words[0]] if words else app
    for name in group:
        if not name.startswith("-"):
            with suppress(ImportError):  # of an extra: the command says so when it is called
                group[name]


if __name__ == "__main__":
    sys.exit(main())
