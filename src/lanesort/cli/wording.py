"""What the library refuses, in the words of the command line: options instead of keyword arguments."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextlib import contextmanager

from lanesort.errors import ArgumentTypeError, ArgumentValueError

__all__ = ["as_options", "in_options"]

_CALL = re.compile(r"lanesort\.plan\.\w+\(.*\)")
_KEYWORD = re.compile(r"\b(?:(?:pass|with) )?([a-z]\w*)=(True\b|False\b|'[^']*'|\{[^{}]*\})")


@contextmanager
def in_options(*said: tuple[str, str]) -> Iterator[None]:
    """Pass on what the library refuses in the words of the command.

    Parameters
    ----------
    said
        What the library says and what it is called here: an argument, and the file that it came from.
    """
    try:
        yield
    except (ArgumentTypeError, ArgumentValueError) as error:
        text = str(error)
        for there, here in said:
            text = text.replace(there, here)
        raise type(error)(as_options(text)) from error


def as_options(text: str) -> str:
    """Write calls and keyword arguments as what is typed in a shell.

    Examples
    --------
    >>> as_options("sort it first, or pass check=False")
    'sort it first, or give --no-check'
    >>> as_options("lanesort.plan.sort(shape=(3, 8), dtype='float16', target='a5')")
    'lanesort plan sort --shape 3x8 --dtype float16 --target a5'
    """
    return _KEYWORD.sub(_keyword, _CALL.sub(_command, text))


def _keyword(found: re.Match[str]) -> str:
    verb = {"pass": "give ", "with": "with "}.get(found[0].split(" ")[0], "")
    return verb + _option(found[1], ast.literal_eval(found[2]))


def _command(found: re.Match[str]) -> str:
    call = ast.parse(found[0], mode="eval").body
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return found[0]
    options = [_option(given.arg or "", ast.literal_eval(given.value)) for given in call.keywords]
    return " ".join(["lanesort plan", call.func.attr.replace("_", "-"), *options])


def _option(name: str, value: object) -> str:
    if name == "descending" and value is False:
        return "--ascending"
    if name == "choices" and isinstance(value, dict):
        return " ".join(f"--choice {id}={made}" for id, made in value.items())
    option = f"-{name}" if len(name) == 1 else "--" + name.replace("_", "-")
    if isinstance(value, bool):
        return option if value else f"--no-{name.replace('_', '-')}"
    if isinstance(value, tuple):
        return f"{option} {'x'.join(map(str, value))}"
    return f"{option} {value}"
