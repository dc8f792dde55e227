"""Broken and hostile texts are refused with a place; nothing crashes, hangs or eats memory."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from contextlib import suppress

import pytest
from fuzz.target_pto_text import fuzz_parse
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.pto.text.programs import F32_32, F32_256, F32_512, text_of

from lanesort.errors import ArgumentTypeError, ProgramError
from lanesort.pto.text.parser import parse

MOST_SECONDS = 5
"""For texts that take a small part of it; quadratic time takes a hundred times that."""

WHOLE = text_of(
    "%k = arith.constant 64 : i32",
    f"%t = pto.alloc_tile addr = %q : {F32_256}",
    f"pto.tmrgsort ins(%l0, %k : {F32_256}, i32) outs(%t : {F32_256})",
    f"pto.tmrgsort ins(%l0, %l1 no_tmp {{exhausted = false}} : {F32_256}, {F32_256}) outs(%two, %ex : {F32_512}, vector<4xi16>)",  # noqa: E501
    "%z = scf.for %j = %i to %n step %i iter_args(%y = %x) -> (f32) {",
    f"pto.tadds ins(%a, %y : {F32_32}, f32) outs(%a : {F32_32}) {{note = {{deep = [1, 2]}}}}",
    "scf.yield %y : f32",
    "}",
)

HOSTILE = {
    "empty": "",
    "no program": "hello",
    "regions nested deeply": text_of("scf.if %c {" * 2000),
    "attributes nested deeply": text_of("%z = arith.constant {a = " + "[" * 5000),
    "dictionaries nested deeply": text_of("pto.foo ins() outs() " + "{a = " * 5000),
    "types nested deeply": "func.func @f(%a: " + "vector<1x" * 3000,
    "functions nested deeply": "func.func @f(%a: " + "(" * 3000,
    "integer of 5,000 digits": text_of(f"%z = arith.constant {'9' * 5000} : i64"),
    "tile of 5,000 digits": text_of(f"%z = pto.alloc_tile : <vec, 1x{'9' * 5000}xf32>"),
    "window of 5,000 digits": text_of(
        f"%z = pto.subview %a[%i, %i] sizes [{'9' * 5000}, 1] : {F32_32} -> {F32_32}"
    ),
    "dense of four billion": text_of("%z = arith.constant dense<0> : vector<4000000000xi16>"),
    "dense tensor of four billion": text_of("%z = arith.constant dense<0> : tensor<65536x65536xi16>"),
    "integer that its type can't hold": text_of("%z = arith.constant 300 : i8"),
    "result list of a billion": text_of("%z:1000000000 = arith.constant 1 : i8"),
    "integer of a huge type": text_of("%z = arith.constant 1 : i99999999999999"),
    "name of 100,000 letters": text_of("pto." + "x" * 100_000),
    "nul": "func.func @f() {\0}",
    "lone surrogate": "func.func @f() { \ud800 }",
    "unclosed string": 'func.func @f() { pto.set_flag["PIPE',
    "blocks without end": text_of(*(f"^bb{i}:" for i in range(5000))),
    "block references": text_of("^bb1:", "return", "^bb2:"),
    "quoted operation without a type": text_of('"pto.tmov"(%a)'),
    "quoted segments too many": text_of(
        f'"pto.alloc_tile"(%q) {{operandSegmentSizes = array<i32: 9, 9, 9>}} : (i64) -> {F32_32}'
    ),
    "quoted branch": text_of('"cf.br"()[^bb1] : () -> ()'),
    "another module inside a function": text_of("module {}"),
    "alias of itself": "!a = !a\n",
    "aliases of aliases": "#a0 = 1\n"
    + "".join(f"#a{i + 1} = [#a{i}, #a{i}]\n" for i in range(60))
    + "module attributes {x = #a60} {}",
    "type aliases of type aliases": "!a0 = i32\n"
    + "".join(f"!a{i + 1} = tuple<!a{i}, !a{i}>\n" for i in range(60))
    + "func.func @f(%a: !a60) {return}",
    "quoted segments without end": text_of(
        f'"pto.alloc_tile"(%q) {{operandSegmentSizes = array<i32: {"1, " * 9000}1>}} : (i64) -> {F32_32}'
    ),
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_is_refused(text: str) -> None:
    with pytest.raises(ProgramError) as caught:
        parse(text, "bad.pto")
    assert caught.value.place is not None
    assert str(caught.value).startswith("bad.pto:")
    assert len(str(caught.value)) < 12_000


UNCLOSED = {
    "behind a name": ('%whole =O." arith.constant 3841 : i64', 10, "closing quote"),
    "first in the text": ('"' + "a" * 100_000, 0, "closing quote"),
    "in a symbol": ('func.func @"' + "a" * 100_000, 11, "closing quote"),
    "on many lines": ('"a\n' * 10_000, 0, "closing quote"),
    "of escapes": ('"' + r"\n" * 50_000, 0, "closing quote"),
    "closed on the next line": ('"a\n"', 0, "closing quote"),
    "escaped quote": (r'"a\"', 0, "closing quote"),
    "no escape": ('"' + "ab" * 50_000 + r'\q"', 100_001, r"\\q is no escape"),
    "no escape at the end": ('"ab\\', 3, "is no escape"),
}


@pytest.mark.parametrize(("text", "column", "message"), UNCLOSED.values(), ids=UNCLOSED)
def test_unclosed_string_is_refused_at_once(text: str, column: int, message: str) -> None:
    started = time.process_time()
    with pytest.raises(ProgramError, match=message) as caught:
        parse(text, "bad.pto")
    assert time.process_time() - started < MOST_SECONDS
    assert caught.value.place is not None
    assert (caught.value.place.line, caught.value.place.column) == (1, column + 1)


def test_quotes_in_comments_are_no_strings() -> None:
    parse('// it\'s "open\n# so is "this\nmodule {}\n')
    parse(r'module attributes {a = "\22 \n \t \\", b = ""} {}')


LONG = {
    "string": lambda n: '"' + "a" * n,
    "strings": lambda n: '"a" ' * n,
    "escapes": lambda n: '"' + r"\n" * n + '"',
    "comments": lambda n: "//a \n \n" * n,
    "comments of one mark": lambda n: "# pto.tassign %a\n" * n,
    "blanks behind a mark": lambda n: "# " + " " * n + "x",
    "name": lambda n: "%" + "a_1" * n + " = arith.constant 1 : i32",
    "digits": lambda n: "func.func @f() { %a = arith.constant 1." + "9" * n,
    "blanks in a type": lambda n: "func.func @f(%a : !pto.ptr<" + " " * n + ">) {return}",
    "sizes of a type": lambda n: "func.func @f(%a : !pto.tensor_view<" + "1 x " * n + ">) {return}",
    "fields of a type": lambda n: "func.func @f(%a : !pto.tile_buf<" + "loc=vec," * n + ">) {return}",
    "short type": lambda n: "func.func @f() { %a = pto.alloc_tile : <" + " " * n + "x" * n + " " * n,
    "list": lambda n: "module attributes {a = [" + "1," * n + "1]} {}",
    "bits of a constant": lambda n: 'func.func @f() { %z = arith.constant dense<"0x' + "0" * n,
}


@pytest.mark.parametrize("made", LONG.values(), ids=LONG)
def test_time_grows_with_the_length(made: Callable[[int], str]) -> None:
    started = time.process_time()
    with suppress(ProgramError):
        parse(made(10_000))
    assert time.process_time() - started < MOST_SECONDS


def test_text_that_is_too_long_is_refused() -> None:
    with pytest.raises(ProgramError, match="4000001 characters; at most 4000000"):
        parse(" " * 4_000_001)


def test_text_must_be_a_string() -> None:
    with pytest.raises(ArgumentTypeError, match="text is bytes"):
        parse(b"module {}")


@pytest.mark.parametrize("eighth", range(8))
def test_truncated_text_is_refused_or_whole(eighth: int) -> None:
    parse(WHOLE)
    for end in range(len(WHOLE) - 60 * eighth, len(WHOLE) - 60 * eighth - 60, -7):
        fuzz_parse(WHOLE[:end].encode())


@pytest.mark.parametrize("seed", range(8))
def test_mutated_text_is_refused_or_read(seed: int) -> None:
    chance = random.Random(seed)
    lines = WHOLE.splitlines()
    for _ in range(6):
        mutated = list(lines)
        at = chance.randrange(len(mutated))
        line = mutated[at]
        where = chance.randrange(len(line) + 1)
        mutated[at] = chance.choice(
            [
                line[:where] + chance.choice('%!#<>{}[]()=:,"x9-') + line[where:],
                line[:where] + line[where + 1 :],
                "",
                line + " " + line,
            ]
        )
        fuzz_parse("\n".join(mutated).encode())


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=60))
def test_any_bytes_are_refused_or_read(data: bytes) -> None:
    fuzz_parse(data)


WORDS = (
    "func.func @f ( ) { } %a : , -> pto.tmov ins outs !pto.tile_buf < vec 1x32xf32 > return = 9 - "
    'arith.constant scf.for scf.if module attributes "pto.tsort32" #pto<cmp dense<'
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(WORDS.split()), max_size=25))
def test_any_words_are_refused_or_read(words: list[str]) -> None:
    fuzz_parse(" ".join(words).encode())


def test_wide_integers_are_refused_at_once() -> None:
    with pytest.raises(ProgramError, match="1:17: error: an integer of 2147483648 bits is too wide"):
        parse("func.func @f(%a: i2147483648) { return }".replace("(%a: ", "(%a:"))


def test_an_exception_of_a_signal_handler_goes_its_way(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(self: object) -> None:
        raise TimeoutError("too long")

    monkeypatch.setattr("xdsl.parser.Parser.parse_module", interrupted)
    with pytest.raises(TimeoutError, match="too long"):
        parse("module {}")


def test_an_empty_text_is_called_so() -> None:
    with pytest.raises(ProgramError, match=r"e\.pto:1:1: error: the text is empty"):
        parse(" \n// nothing\n", "e.pto")
