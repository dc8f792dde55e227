"""The consoles that commands print to: what is printed is text, never markup."""

from __future__ import annotations

from rich.console import Console

__all__ = ["console"]


def console(*, errors: bool = False, soft_wrap: bool = True) -> Console:
    """Return a console that prints text as it is.

    Names of files, arrays and values are the user's: ``[bold]`` and ``:smile:`` in them stay
    what they are.

    Parameters
    ----------
    errors
        Print to standard error.
    soft_wrap
        Leave long lines to the terminal; without it tables are fitted to its width.

    Examples
    --------
    >>> console().print("[red]a:smile:b")
    [red]a:smile:b
    """
    return _Console(stderr=errors, soft_wrap=soft_wrap, highlight=False, markup=False, emoji=False)


class _Console(Console):
    """A console that leaves it to `lanesort.cli.main` what a closed pipe means."""

    def on_broken_pipe(self) -> None:
        """Pass the error on, instead of ending the process with exit code 1."""
        raise  # rich calls this while it handles the BrokenPipeError
