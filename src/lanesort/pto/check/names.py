"""Findings about names: an operation that nobody has, and that is spelled nearly as one of ours."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from lanesort.pto.check.finding import Finding
from lanesort.pto.operations import OPERATIONS
from lanesort.pto.program import Block, Function, Step

__all__ = ["misspelled"]

_NEAR = 0.7

# Of the PTO specification, and not modelled: that one is spelled like another is no slip.
_OTHERS = """
tabs taddc taddsc tand tands taxpy tcolexpand tcolexpandadd tcolexpanddiv tcolexpandexpdif tcolexpandmax
tcolexpandmin tcolexpandmul tcolexpandsub tcolmax tcolmin tcolprod tcolsum texp textract tfmod tfmods
tgatherb tgemv tinsert tlog tlrelu tmatmul tmgather tmscatter tneg tnot tor tors tpartadd tpartmax tpartmin
tpartmul tprefetch tprelu trecip trelu trem trems trowargmax trowargmin trowexpand trowexpandadd
trowexpandexpdif trowexpandmax trowexpandmin trowprod trsqrt tscatter tshl tshls tshr tshrs tsqrt tsubc
tsubsc tsync ttri txor txors
"""


def misspelled(function: Function) -> Iterator[Finding]:
    """Find operations without a model whose names are near to one that has a model."""
    known = [name for name in OPERATIONS if "." not in name and name != "generic"]
    for step in _all(function.body or Block()):
        if step.modelled or "." in step.op or step.op in _OTHERS.split():
            continue
        near = difflib.get_close_matches(step.op, known, n=1, cutoff=_NEAR)
        if near:
            text = f"pto.{step.op} is no operation that is known here; did you mean pto.{near[0]}?"
            yield Finding("unknown-operation", text, step.place, function.name)


def _all(block: Block) -> Iterator[Step]:
    for step in block.steps:
        yield step
        for region in step.regions:
            yield from _all(region)
