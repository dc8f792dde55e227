"""What every operation of the dialect is to xDSL: operands in named groups.

The spellings differ, the shape does not: `Parts` is what a spelling gives, and `define`
makes an xDSL operation out of a name and the function that reads its spelling.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import cast

from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    traits_def,
    var_operand_def,
    var_region_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.traits import NoTerminator, OpTrait

from lanesort.pto.text.attributes import Groups
from lanesort.pto.text.reader import Reader

__all__ = ["GROUPS", "Parts", "PtoOperation", "Spelling", "define"]

GROUPS = "pto.groups"
"""Name of the attribute that holds the operand groups."""


@dataclass
class Parts:
    """What the spelling of one operation gave.

    Attributes
    ----------
    operands
        All operands, group by group.
    groups
        Group names with their sizes, in order.
    results
        Types of the results.
    attributes
        Attributes by name.
    regions
        Bodies.
    """

    operands: list[SSAValue] = field(default_factory=list)
    groups: list[tuple[str, int]] = field(default_factory=list)
    results: list[Attribute] = field(default_factory=list)
    attributes: dict[str, Attribute] = field(default_factory=dict)
    regions: list[Region] = field(default_factory=list)

    def add(self, group: str, operands: Iterable[SSAValue]) -> None:
        """Append a group of operands."""
        before = len(self.operands)
        self.operands += operands
        self.groups.append((group, len(self.operands) - before))


Spelling = Callable[[Reader], Parts]
"""Reads what stands behind an operation's name."""


class PtoOperation(IRDLOperation):
    """An operation of the dialect, modelled or not."""

    arguments = var_operand_def()
    values = var_result_def()
    bodies = var_region_def()


def define(name: str, spelling: Spelling, *traits: OpTrait) -> type[PtoOperation]:
    """Return the xDSL operation ``pto.name`` whose custom form `spelling` reads.

    Parameters
    ----------
    name
        Name without ``pto.``.
    spelling
        Reads the text behind the name.
    traits
        xDSL traits, for example that it ends a block.
    """

    def parse(cls: type[PtoOperation], parser: Parser) -> Operation:
        parts = spelling(cast(Reader, parser))
        return cls.create(
            operands=parts.operands,
            result_types=parts.results,
            attributes={**parts.attributes, GROUPS: Groups(tuple(parts.groups))},
            regions=parts.regions,
        )

    fields = {
        "name": f"pto.{name}",
        "parse": classmethod(parse),
        "traits": traits_def(*(traits or (NoTerminator(),))),
        "__module__": __name__,
    }
    return irdl_op_definition(type(f"Pto_{name.replace('.', '_')}", (PtoOperation,), fields))
