"""From xDSL operations to the normal form of `lanesort.pto.program`."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from xdsl.dialects import arith, builtin, func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute as XdslAttribute
from xdsl.ir import Operation, Region, SSAValue

from lanesort.pto.operations import OPERATIONS
from lanesort.pto.program import Attribute, Block, Function, Module, Operand, Step, Type
from lanesort.pto.text.attributes import Groups, keyword_of, plain_type
from lanesort.pto.text.diagnostics import Fault, Source
from lanesort.pto.text.normal_tiles import Call, canonical
from lanesort.pto.text.operation import GROUPS, PtoOperation
from lanesort.pto.text.placement import Placement, placed
from lanesort.pto.text.positions import by_name

__all__ = ["lowered"]

_COMPARISONS = {
    "arith.cmpi": ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"),
    "arith.cmpf": (
        "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord",
        "ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true",
    ),
}  # fmt: skip
_SPELLED = {"block_len": "blockLen", "mask_pattern": "maskPattern", "cmp": "cmpMode"}
_FLAGS = ("exhausted", "descending")
_NAN = float("nan")
"""The one NaN of constants, so that equal programs compare equal; `bits` tells NaNs apart."""


def lowered(
    module: ModuleOp,
    starts: Mapping[Operation, int],
    names: Mapping[SSAValue, str],
    source: Source,
    placements: Sequence[Placement],
) -> Module:
    """Return the normal form of a parsed module.

    Parameters
    ----------
    module
        What xDSL read.
    starts
        Where each operation starts in the text.
    names
        Names of the values in the text.
    source
        The text, for places.
    placements
        Addresses of tiles by name, from the comments of the manual form.

    Raises
    ------
    Fault
        If an operation has operands that its normal form does not have, or the text holds
        something that no function may hold.
    """
    functions: list[Function] = []
    extra: dict[str, str] = {}
    _collect(module, functions, extra, starts, names, source)
    seen: set[str] = set()
    for function in functions:
        if function.name in seen:
            source.refuse(function.place, f"two functions are called @{function.name}")
        seen.add(function.name)
    target = extra.pop("pto.target_arch", None)
    made = Module(target.strip('"') if target else None, tuple(functions), extra, source.text, source.file)
    return replace(made, functions=placed(functions, placements, source)) if placements else made


def _collect(
    module: ModuleOp,
    functions: list[Function],
    extra: dict[str, str],
    starts: Mapping[Operation, int],
    names: Mapping[SSAValue, str],
    source: Source,
) -> None:
    extra |= {name: str(value) for name, value in sorted(module.attributes.items())}
    for inner in module.body.ops:
        if isinstance(inner, ModuleOp):
            _collect(inner, functions, extra, starts, names, source)
        elif isinstance(inner, func.FuncOp):
            functions.append(_Lowering(starts, names, source).function(inner))
        else:
            raise Fault(starts.get(inner, 0), f"{inner.name} stands outside a function")


class _Lowering:
    """The lowering of one function: numbers its values in the order of the text."""

    def __init__(
        self, starts: Mapping[Operation, int], names: Mapping[SSAValue, str], source: Source
    ) -> None:
        self._starts = starts
        self._names_in_text = names
        self._source = source
        self._numbers: dict[SSAValue, int] = {}
        self._types: list[Type] = []
        self._names: list[str] = []
        self._steps: list[Step] = []

    def function(self, operation: func.FuncOp) -> Function:
        type_ = operation.function_type
        if operation.body.blocks:
            body = self._block(operation.body, operation)
        else:
            body = None
            for number, argument in enumerate(type_.inputs.data):
                self.new(argument, f"arg{number}")
        count = len(type_.inputs.data)
        visibility = operation.sym_visibility.data if operation.sym_visibility else ""
        return Function(
            operation.sym_name.data,
            tuple(self._names[:count]),
            body,
            tuple(self._types),
            tuple(plain_type(result) for result in type_.outputs.data),
            visibility == "private",
            {name: str(value) for name, value in sorted(operation.attributes.items())},
            tuple(self._names),
            self._source.place(self.start(operation)),
            _argument_extra(operation),
        )

    # -- values ---------------------------------------------------------------------------

    def start(self, operation: Operation) -> int:
        """Return the offset of an operation."""
        return self._starts.get(operation, 0)

    def new(self, type_: XdslAttribute | Type, name: str | None = None) -> int:
        """Give a new value its number."""
        self._types.append(plain_type(type_) if isinstance(type_, XdslAttribute) else type_)
        self._names.append(name or str(len(self._names)))
        return len(self._types) - 1

    def define(self, value: SSAValue, number: int | None = None) -> int:
        """Give a value of the text its number: a new one, or that of the value it stands for."""
        if number is None:
            number = self.new(value.type, self.name(value))
        self._numbers[value] = number
        return number

    def name(self, value: SSAValue) -> str | None:
        """Return a value's name in the text."""
        return self._names_in_text.get(value) or value.name_hint

    def number(self, value: SSAValue, user: Operation) -> int:
        """Return the number of a value that is used."""
        found = self._numbers.get(value)
        if found is None:
            name = self.name(value) or "a value"
            raise Fault(self.start(user), f"{user.name} uses %{name}, which is not in reach here")
        return found

    def type_of(self, number: int) -> Type:
        """Return the type of a numbered value."""
        return self._types[number]

    # -- blocks and steps -----------------------------------------------------------------

    def _block(self, region: Region, owner: Operation) -> Block:
        if len(region.blocks) > 1:
            raise Fault(
                self.start(owner),
                f"the body of {owner.name} has {len(region.blocks)} blocks",
                "branches between blocks are not run; write scf.if, scf.for or scf.while",
            )
        if not region.blocks:
            return Block()
        outer, self._steps = self._steps, []
        block = region.block
        arguments = tuple(self.define(argument) for argument in block.args)
        for inner in block.ops:
            self._operation(inner)
        made = Block(arguments, tuple(self._steps))
        self._steps = outer
        return made

    def add(
        self,
        operation: Operation,
        name: str,
        operands: Sequence[Operand],
        results: Iterable[int] = (),
        attributes: Mapping[str, Attribute] | None = None,
        extra: Mapping[str, str] | None = None,
        regions: Sequence[Block] = (),
        modelled: bool = True,
    ) -> None:
        """Append a step at the place of an operation."""
        place = self._source.place(self.start(operation))
        self._steps.append(
            Step(
                name,
                tuple(operands),
                tuple(results),
                attributes or {},
                extra or {},
                tuple(regions),
                place,
                modelled,
            )
        )

    def _operation(self, operation: Operation) -> None:
        if isinstance(operation, PtoOperation):
            self._pto(operation)
        elif isinstance(operation, arith.ConstantOp):
            self._constant(operation)
        elif operation.name in OPERATIONS:
            self._builtin(operation)
        else:
            raise Fault(
                self.start(operation), f"{operation.name} is not an operation that kernels are run with"
            )

    def _constant(self, operation: arith.ConstantOp) -> None:
        if _is_address_only(operation):
            return
        value, bits = _constant_value(operation.value)
        if value is None:
            raise Fault(self.start(operation), f"this constant is not modelled: {str(operation.value)[:80]}")
        number = self.define(operation.result)
        extra = _extra(operation.attributes, ())
        self.add(operation, operation.name, (), (number,), {"value": value, "bits": bits}, extra)

    def _builtin(self, operation: Operation) -> None:
        numbers = [self.number(value, operation) for value in operation.operands]
        name = operation.name
        operands = by_name(name, numbers, lambda text: Fault(self.start(operation), f"{name}: {text}"))
        attributes: dict[str, Attribute] = {}
        known: tuple[str, ...] = ("overflowFlags", "fastmath")
        everything = {**operation.properties, **operation.attributes}
        if name in _COMPARISONS:
            predicate = everything["predicate"]
            assert isinstance(predicate, builtin.IntegerAttr)
            attributes["predicate"] = _COMPARISONS[name][predicate.value.data]
            known += ("predicate",)
        if name == "func.call":
            attributes["callee"] = str(everything["callee"]).removeprefix("@")
            known += ("callee",)
        regions = [self._block(region, operation) for region in operation.regions]
        if name == "scf.if":
            regions = [regions[0], _without_empty_yield(regions[1])]
        results = [self.define(value) for value in operation.results]
        self.add(operation, name, operands, results, attributes, _extra(everything, known), regions)

    def _pto(self, operation: PtoOperation) -> None:
        call = self._call(operation)
        name = operation.name.removeprefix("pto.")
        regions = [self._block(region, operation) for region in operation.regions]
        if name not in OPERATIONS:
            ins = [n for group, numbers in call.groups for n in numbers if group != "outs"]
            outs = [n for group, numbers in call.groups for n in numbers if group == "outs"]
            results = [self.define(value) for value in operation.results]
            extra = _extra(operation.attributes, ())
            self.add(operation, name, (tuple(ins), tuple(outs)), results, {}, extra, regions, modelled=False)
            return
        canonical(call)
        signature = OPERATIONS[call.name]
        attributes = {
            key: _plain(operation.attributes.get(_SPELLED.get(key, key))) for key in signature.attributes
        }
        attributes |= {key: bool(attributes[key]) for key in _FLAGS if key in attributes}
        attributes |= call.attributes
        known = [_SPELLED.get(key, key) for key in signature.attributes]
        extra = _extra(operation.attributes, (*known, "no_tmp", "operandSegmentSizes"))
        self.add(operation, call.name, call.operands, call.results, attributes, extra, regions)

    def _call(self, operation: PtoOperation) -> Call:
        """Return the operands of an operation in the groups of its spelling."""
        groups = operation.attributes.get(GROUPS)
        shape = groups.data if isinstance(groups, Groups) else (("generic", len(operation.operands)),)
        call = Call(self, operation, operation.name.removeprefix("pto."), [])
        left = iter(operation.operands)
        for group, count in shape:
            values = [next(left) for _ in range(count)]
            if operation.name in _PLACING:
                addresses = [value for value in values if _constant_address(value) is not None]
                if addresses:
                    call.attributes["address"] = _constant_address(addresses[0])
                values = [value for value in values if value not in addresses]
            call.groups.append((group, tuple(self.number(value, operation) for value in values)))
        return call


def _without_empty_yield(block: Block) -> Block:
    only_yield = (
        len(block.steps) == 1 and block.steps[0].op == "scf.yield" and not block.steps[0].values("values")
    )
    return Block() if only_yield else block


_PLACING = ("pto.alloc_tile", "pto.tassign")
"""Operations that take a tile's address; a constant one becomes an attribute."""


def _constant_address(value: SSAValue) -> int | None:
    owner = value.owner
    if value.type != builtin.i64 or not isinstance(owner, arith.ConstantOp):
        return None
    return int(owner.value.value.data) if isinstance(owner.value, builtin.IntegerAttr) else None


def _is_address_only(operation: arith.ConstantOp) -> bool:
    """Say whether a constant has no other use than to place tiles."""
    users = [use.operation.name for use in operation.result.uses]
    placing = bool(users) and all(name in _PLACING for name in users)
    return placing and _constant_address(operation.result) is not None


def _constant_value(value: XdslAttribute) -> tuple[Attribute, int | None]:
    match value:
        case builtin.IntegerAttr():
            number = value.value.data
            is_flag = isinstance(value.type, builtin.IntegerType) and value.type.width.data == 1
            return (bool(number) if is_flag else number), None
        case builtin.FloatAttr():
            return _float(value)
        case builtin.DenseIntOrFPElementsAttr() if isinstance(value.type, builtin.VectorType):
            numbers = value.get_values()
            if all(isinstance(number, int) for number in numbers) and value.type.get_num_dims() == 1:
                return tuple(int(number) for number in numbers), None
            return None, None
        case _:
            return None, None


_FLOAT_CODES: dict[str, Callable[[float], bytes]] = {
    "f64": lambda x: struct.pack("<d", x),
    "f32": lambda x: struct.pack("<f", x),
    "bf16": lambda x: struct.pack("<f", x)[2:],
    "f16": lambda x: struct.pack("<e", x),
}


def _float(value: builtin.FloatAttr[builtin.AnyFloat]) -> tuple[Attribute, int | None]:
    number = value.value.data
    pack = _FLOAT_CODES.get(value.type.name)
    if pack is None:
        return None, None
    bits = int.from_bytes(pack(number), "little")
    return (_NAN if number != number else number), bits


def _plain(value: XdslAttribute | None) -> Attribute:
    """Return the plain value of an attribute that the model reads."""
    match value:
        case None:
            return None
        case builtin.IntegerAttr():
            return _constant_value(value)[0]
        case builtin.UnitAttr():
            return True
        case builtin.ArrayAttr():
            return tuple(int(_constant_value(item)[0] or 0) for item in value.data)  # type: ignore[arg-type]  # integers
        case _:
            word = keyword_of(value)
            return str(value) if word is None else word


def _argument_extra(operation: func.FuncOp) -> tuple[dict[str, str], ...]:
    given = operation.arg_attrs
    if given is None:
        return ()
    return tuple(_extra(each.data, ()) for each in given.data if isinstance(each, builtin.DictionaryAttr))


def _extra(attributes: Mapping[str, XdslAttribute], known: Iterable[str]) -> dict[str, str]:
    skipped = {*known, GROUPS, "operandSegmentSizes"}
    return {name: str(value) for name, value in sorted(attributes.items()) if name not in skipped}
