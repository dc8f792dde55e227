"""Runs one target under atheris: ``python -m fuzz.one module:function [libFuzzer options]``."""

from __future__ import annotations

import sys
from importlib import import_module

import atheris

with atheris.instrument_imports(include=["lanesort"]):
    module, _, name = sys.argv[1].partition(":")
    target = getattr(import_module(f"fuzz.{module}"), name)

atheris.Setup([sys.argv[0], *sys.argv[2:]], target)
atheris.Fuzz()
