"""What is printed parses to the same module, for generated programs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from lanesort.pto.operations import OPERATIONS
from lanesort.pto.program import (
    Attribute,
    Block,
    Function,
    Module,
    Operand,
    PartitionViewType,
    PtrType,
    ScalarType,
    Step,
    TensorViewType,
    TileType,
    Type,
    VectorType,
)
from lanesort.pto.text.parser import parse
from lanesort.pto.text.printer import print_module

INDEX = ScalarType("index")
ELEMENTS = ("f32", "f16", "bf16", "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64")
SIZES = st.integers(1, 9000)


@st.composite
def tile_types(draw: st.DrawFn) -> TileType:
    rows, cols = draw(st.integers(1, 64)), draw(SIZES)
    valid_rows = draw(st.none() | st.integers(0, rows))
    valid_cols = draw(st.none() | st.integers(0, cols))
    return TileType(
        rows,
        cols,
        draw(st.sampled_from(ELEMENTS)),
        valid_rows,
        valid_cols,
        draw(st.sampled_from(("vec", "ub", "mat"))),
        draw(st.sampled_from(("row_major", "col_major"))),
        draw(st.sampled_from(("none_box", "row_major"))),
        draw(st.sampled_from((512, 1024))),
        draw(st.integers(0, 3)),
        draw(st.integers(0, 2)),
    )


@st.composite
def view_types(draw: st.DrawFn, kind: type[TensorViewType] | type[PartitionViewType]) -> Type:
    return kind(
        tuple(draw(st.lists(st.none() | SIZES, min_size=1, max_size=5))), draw(st.sampled_from(ELEMENTS))
    )


@dataclass
class Writer:
    """Grows one function: values with their types, and steps."""

    draw: st.DrawFn
    types: list[Type] = field(default_factory=list)
    names: list[str] = field(default_factory=list)

    def new(self, type_: Type) -> int:
        self.types.append(type_)
        self.names.append(self.draw(st.sampled_from(("a", "b", "tile", "0", "12", "_x", "c$1", "d-e"))))
        return len(self.types) - 1

    def any(self, reach: list[int], fits: Callable[[Type], bool]) -> int | None:
        found = [v for v in reach if fits(self.types[v])]
        return self.draw(st.sampled_from(found)) if found else None


def is_tile(type_: Type) -> bool:
    return isinstance(type_, TileType)


def is_index(type_: Type) -> bool:
    return type_ == INDEX


def is_float(type_: Type) -> bool:
    return type_ == ScalarType("f32")


def is_flag(type_: Type) -> bool:
    return type_ == ScalarType("i1")


def is_window(type_: Type) -> bool:
    return isinstance(type_, PartitionViewType)


TILES = {
    "tmov": ("src dst", {}),
    "tadd": ("src0 src1 dst", {}),
    "tcmp": ("src0 src1 dst", {"cmp": "ge"}),
    "tsel": ("mask src0 src1 tmp dst", {}),
    "tcvt": ("src dst", {"rmode": "CAST_RINT"}),
    "tfillpad": ("src dst", {}),
    "trowsum": ("src tmp dst", {}),
}
EXTRAS = st.dictionaries(
    st.sampled_from(("note", "pto.x", "odd key")), st.sampled_from(("unit", "7 : i64", '"s"', "[1 : i64]"))
)


def filled(op: str, operands: dict[str, Operand], attributes: dict[str, Attribute], **rest: object) -> Step:
    signature = OPERATIONS[op]
    values = tuple(
        operands.get(n, () if m.endswith("*") else None)
        for n, m in zip(signature.names, signature.operands, strict=True)
    )
    whole: dict[str, Attribute] = dict.fromkeys(signature.attributes)
    return Step(op, values, attributes=whole | attributes, **rest)


def constant(w: Writer, reach: list[int]) -> Step:
    kind = w.draw(st.sampled_from(("index", "i1", "i32", "vector")))
    type_: Type = VectorType(4, "i16") if kind == "vector" else ScalarType(kind)
    value: Attribute = w.draw(
        {
            "index": st.integers(-(2**40), 2**40),
            "i1": st.booleans(),
            "i32": st.integers(-(2**31), 2**31 - 1),
            "vector": st.tuples(*[st.integers(-(2**15), 2**15 - 1)] * 4),
        }[kind]
    )
    made = w.new(type_)
    reach.append(made)
    return Step("arith.constant", (), (made,), {"value": value, "bits": None})


def alloc(w: Writer, reach: list[int]) -> Step:
    address = w.draw(st.none() | st.integers(0, 2**18))
    rows = w.draw(st.sampled_from((None, w.any(reach, is_index))))
    made = w.new(w.draw(tile_types()))
    reach.append(made)
    return Step("alloc_tile", (None, rows, None), (made,), {"address": address})


def tile_step(w: Writer, reach: list[int]) -> Step:
    op = w.draw(st.sampled_from(sorted(TILES)))
    names, attributes = TILES[op]
    operands: dict[str, Operand] = {name: w.any(reach, is_tile) for name in names.split()}
    return filled(op, operands, attributes, extra=w.draw(EXTRAS))


def merge(w: Writer, reach: list[int]) -> Step:
    sources = tuple(w.any(reach, is_tile) or 0 for _ in range(w.draw(st.integers(2, 4))))
    operands: dict[str, Operand] = {"sources": sources, "dst": w.any(reach, is_tile)}
    return filled("tmrgsort", operands, {"exhausted": w.draw(st.booleans())})


def gather(w: Writer, reach: list[int]) -> Step:
    operands: dict[str, Operand] = {"src": w.any(reach, is_tile), "dst": w.any(reach, is_tile)}
    return filled(
        "tgather", operands, {"mask_pattern": "P1010", "axis": w.draw(st.sampled_from((None, "row")))}
    )


def load(w: Writer, reach: list[int]) -> Step:
    return filled("tload", {"src": w.any(reach, is_window), "dst": w.any(reach, is_tile)}, {})


def flag(w: Writer, reach: list[int]) -> Step:
    return filled("set_flag", {}, {"src": "PIPE_V", "dst": "PIPE_MTE3", "event": "EVENT_ID0"})


def unknown(w: Writer, reach: list[int]) -> Step:
    ins = tuple(w.any(reach, is_tile) or 0 for _ in range(w.draw(st.integers(0, 3))))
    return Step("tmatmul.acc", (ins, (w.any(reach, is_tile) or 0,)), extra=w.draw(EXTRAS), modelled=False)


def branch(w: Writer, reach: list[int], depth: int) -> Step:
    condition = w.any(reach, is_flag)
    end = Step("scf.yield", ((),))
    then = Block((), (*steps(w, list(reach), depth), end))
    inner = steps(w, list(reach), depth)
    return Step("scf.if", (condition,), regions=(then, Block((), (*inner, end)) if inner else Block()))


def loop(w: Writer, reach: list[int], depth: int) -> Step:
    lower, upper, by = (w.any(reach, is_index) for _ in range(3))
    first = w.any(reach, is_float)
    counter, carried = w.new(INDEX), w.new(ScalarType("f32"))
    inner = steps(w, [*reach, counter, carried], depth)
    body = Block((counter, carried), (*inner, Step("scf.yield", ((carried,),))))
    made = w.new(ScalarType("f32"))
    reach.append(made)
    return Step("scf.for", (lower, upper, by, (first or 0,)), (made,), regions=(body,))


LEAVES = (constant, alloc, tile_step, merge, gather, load, flag, unknown)


def steps(w: Writer, reach: list[int], depth: int) -> tuple[Step, ...]:
    made = []
    for _ in range(w.draw(st.integers(0, 4))):
        if depth and w.draw(st.integers(0, 3)) == 0:
            made.append(w.draw(st.sampled_from((branch, loop)))(w, reach, depth - 1))
        else:
            made.append(w.draw(st.sampled_from(LEAVES))(w, reach))
    return tuple(made)


@st.composite
def functions(draw: st.DrawFn, name: str) -> Function:
    w = Writer(draw)
    arguments = [
        draw(tile_types()),
        INDEX,
        ScalarType("f32"),
        ScalarType("i1"),
        PtrType("ui32", "ub"),
        PtrType("f32"),
    ]
    arguments += [draw(view_types(PartitionViewType)), draw(view_types(TensorViewType))]
    reach = [w.new(type_) for type_ in arguments]
    count = len(arguments)
    body = Block(tuple(range(count)), (*steps(w, reach, 2), Step("func.return", ((),))))
    return Function(name, tuple(w.names[:count]), body, tuple(w.types), names=tuple(w.names))


MODULES = st.builds(
    Module,
    st.sampled_from((None, "a5", "a2a3")),
    st.tuples(functions("f"), functions("g")),
    st.sampled_from(({}, {"pto.kernel_kind": "#pto.kernel_kind<vector>"})),
)


def same(read: Module, written: Module) -> None:
    """Compare, leaving out the names of arguments: printing makes them differ from one another."""
    assert (read.target_arch, read.extra) == (written.target_arch, written.extra)
    for a, b in zip(read.functions, written.functions, strict=True):
        assert (a.name, a.types, a.results, a.private, a.extra) == (
            b.name,
            b.types,
            b.results,
            b.private,
            b.extra,
        )
        assert a.body == b.body


@settings(max_examples=40, deadline=None)
@given(MODULES)
def test_what_is_printed_parses_to_the_same_module(module: Module) -> None:
    read = parse(print_module(module))
    same(read, module)
    assert parse(print_module(read)) == read


@settings(max_examples=25, deadline=None)
@given(MODULES)
def test_ssa_and_manual_forms_differ_by_the_place_of_allocations_alone(module: Module) -> None:
    for form, placed in (("ssa", False), ("manual", True)):
        read = parse(print_module(module, form), manual=placed)
        assert print_module(read, form) == print_module(module, form)
        assert [sorted(map(str, f.types)) for f in read.functions] == [
            sorted(map(str, f.types)) for f in module.functions
        ]
