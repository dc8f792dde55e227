"""How types are written: from the text between the angle brackets to plain types and back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TypeVar

from lanesort.pto.program import (
    OpaqueType,
    PartitionViewType,
    PtrType,
    ScalarType,
    TensorViewType,
    TileType,
    Type,
    VectorType,
)
from lanesort.pto.text.diagnostics import Fault, closest

__all__ = ["READERS", "read_type", "type_text"]

_LARGEST_SIZE = 2**31 - 1
_MOST_DIMENSIONS = 5
_ELEMENT = re.compile(r"bf16|f16|f32|f64|[us]?i(?:1|4|8|16|32|64)|index|f[468]E\w{1,12}")
_WORD = re.compile(r"[A-Za-z_]\w{0,40}")
_PADS = {"null": 0, "none": 0, "zero": 1, "max": 2, "min": 3}
_FIELD_NAMES = (
    "loc dtype rows cols v_row v_col valid blayout slayout fractal pad compact".split()  # noqa: SIM905
)


def read_type(name: str, body: str, offset: int) -> Type:
    """Return the type that ``!pto.name<body>`` means.

    Parameters
    ----------
    name
        Name behind ``!pto.``; a key of `READERS`.
    body
        Text between the angle brackets.
    offset
        Where `body` starts, for messages.

    Raises
    ------
    Fault
        If it is no such type; with the offset of the field that is wrong.
    """
    return READERS[name](body, offset)


def _fields(body: str, offset: int) -> Iterator[tuple[str, int]]:
    """Yield the fields between commas, blanks dropped, each with its offset."""
    at = 0
    for part in body.split(","):
        stripped = part.strip()
        yield stripped, offset + at + (part.find(stripped) if stripped else 0)
        at += len(part) + 1


def _element(text: str, offset: int) -> str:
    if _ELEMENT.fullmatch(text) is None:
        raise Fault(
            offset, f"{_shown(text)} is not an element type", "element types are f32, f16, i32, ui32, …"
        )
    return text


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:37] + "…")


def _size(text: str, offset: int) -> int | None:
    if text == "?":
        return None
    if not (text.isascii() and text.isdigit()) or len(text) > 10 or int(text) > _LARGEST_SIZE:
        raise Fault(
            offset, f"{_shown(text)} is not a size", f"a size is ? or an integer of 0…{_LARGEST_SIZE}"
        )
    return int(text)


def _static(text: str, offset: int) -> int:
    size = _size(text, offset)
    if size is None:
        raise Fault(offset, "the physical size of a tile is ?", "only the valid size may be open: valid=?x?")
    return size


def _dimensions(text: str, offset: int) -> list[tuple[str, int]]:
    parts = []
    for part in text.split("x"):
        parts.append((part, offset))
        offset += len(part) + 1
    return parts


View = TypeVar("View", TensorViewType, PartitionViewType)


def _shaped(body: str, offset: int) -> tuple[tuple[int | None, ...], str]:
    text = body.strip()
    offset += body.find(text)
    cut = re.match(r"(?:[0-9?]+\s*x\s*)*", text)
    end = cut.end() if cut else 0
    sizes = [(part.strip(), at) for part, at in _dimensions(text[:end], offset)][:-1]
    if not 1 <= len(sizes) <= _MOST_DIMENSIONS:
        raise Fault(
            offset,
            f"a view has 1 to {_MOST_DIMENSIONS} dimensions; {_shown(text)} has {len(sizes)}",
            "write the sizes before the element type: 1x8192xf32",
        )
    return tuple(_size(*size) for size in sizes), _element(text[end:], offset + end)


def _tensor_view(body: str, offset: int) -> Type:
    return TensorViewType(*_shaped(body, offset))


def _partition_view(body: str, offset: int) -> Type:
    return PartitionViewType(*_shaped(body, offset))


def _pointer(body: str, offset: int) -> Type:
    fields = list(_fields(body, offset))
    if len(fields) > 2:
        raise Fault(fields[2][1], f"a pointer type has an element type and a space, not {len(fields)} fields")
    space = "gm"
    if len(fields) == 2:
        space, at = fields[1]
        if _WORD.fullmatch(space) is None:
            raise Fault(at, f"{_shown(space)} is not an address space", "write gm or ub")
    return PtrType(_element(*fields[0]), space)


def _value_tile(body: str, offset: int) -> Type:
    shape, element = _shaped(body, offset)
    if len(shape) != 2 or None in shape:
        raise Fault(offset, f"!pto.tile<{body.strip()[:40]}> is not two fixed sizes and an element type")
    rows, cols = (size or 0 for size in shape)
    return TileType(rows, cols, element, rows, cols)


class _TileFields:
    """Collects the fields of ``!pto.tile_buf<…>`` in either spelling."""

    def __init__(self, offset: int) -> None:
        self.offset = offset
        self.sizes: dict[str, int | None] = {}
        self.words = {"element": "", "location": "vec", "blayout": "row_major", "slayout": "none_box"}
        self.numbers = {"fractal": 512, "pad": 0, "compact": 0}
        self.seen: set[str] = set()

    def take(self, key: str, value: str, offset: int) -> None:
        if key in self.seen:
            raise Fault(offset, f"the tile's {key} is given twice")
        self.seen.add(key)
        if key in ("rows", "cols"):
            self.sizes[key] = _static(value, offset)
        elif key in ("v_row", "v_col"):
            self.sizes[key] = _size(value, offset)
        elif key == "valid":
            self._take_valid(value, offset)
        elif key == "dtype":
            self.words["element"] = _element(value, offset)
        elif key in ("loc", "blayout", "slayout"):
            self._take_word(key, value, offset)
        elif key in ("fractal", "pad", "compact"):
            self.numbers[key] = _number(key, value, offset)
        else:
            raise Fault(offset, f"a tile has no field {_shown(key)}", closest(key, _FIELD_NAMES))

    def _take_word(self, key: str, value: str, offset: int) -> None:
        if _WORD.fullmatch(value) is None:
            raise Fault(offset, f"{_shown(value)} is not a name for the tile's {key}")
        self.words["location" if key == "loc" else key] = value

    def _take_valid(self, value: str, offset: int) -> None:
        parts = _dimensions(value, offset)
        if len(parts) != 2:
            raise Fault(offset, f"valid={value[:40]} is not two sizes", "write valid=1x64 or valid=?x?")
        self.sizes["v_row"], self.sizes["v_col"] = (_size(*part) for part in parts)

    def take_shape(self, text: str, offset: int) -> None:
        parts = _dimensions(text, offset)
        if len(parts) != 3:
            raise Fault(offset, f"{_shown(text)} is not rows x columns x element type", "write 1x4096xf32")
        self.take("rows", *parts[0])
        self.take("cols", *parts[1])
        self.take("dtype", *parts[2])

    def tile(self) -> TileType:
        shaped = {"rows", "cols", "dtype"}
        if missing := sorted(shaped - self.seen):
            raise Fault(self.offset, f"the tile type lacks {', '.join(missing)}")
        rows, cols = self.sizes["rows"] or 0, self.sizes["cols"] or 0
        valid_rows, valid_cols = self.sizes.get("v_row", rows), self.sizes.get("v_col", cols)
        if (valid_rows or 0) > rows or (valid_cols or 0) > cols:
            shown = f"{_size_text(valid_rows)}x{_size_text(valid_cols)}"
            raise Fault(
                self.offset,
                f"the valid part {shown} is larger than the tile, {rows}x{cols}",
                "valid rows and columns count elements inside rows and cols",
            )
        words, numbers = self.words, self.numbers
        return TileType(
            rows,
            cols,
            words["element"],
            valid_rows,
            valid_cols,
            words["location"],
            words["blayout"],
            words["slayout"],
            numbers["fractal"],
            numbers["pad"],
            numbers["compact"],
        )


def _number(key: str, value: str, offset: int) -> int:
    if key == "pad" and value in _PADS:
        return _PADS[value]
    number = _size(value, offset)
    if number is None or (key == "pad" and number > max(_PADS.values())):
        raise Fault(offset, f"{key}={value} means nothing", "pad is 0 none, 1 zero, 2 max, 3 min")
    return number


def _tile(body: str, offset: int) -> Type:
    collected = _TileFields(offset)
    fields = list(_fields(body, offset))
    if fields and "=" not in fields[0][0]:
        collected.take("loc", *fields[0])
        if len(fields) > 1 and "=" not in fields[1][0]:
            collected.take_shape(*fields.pop(1))
        fields = fields[1:]
    for text, at in fields:
        key, equals, value = text.partition("=")
        if not equals:
            raise Fault(at, f"{_shown(text)} is not a field of a tile", "fields are written name=value")
        shift = len(key) + 1 + len(value) - len(value.lstrip())
        known = key.strip() in _FIELD_NAMES
        collected.take(key.strip(), value.strip(), at + shift if known else at)
    return collected.tile()


READERS: dict[str, Callable[[str, int], Type]] = {
    "ptr": _pointer,
    "tensor_view": _tensor_view,
    "partition_tensor_view": _partition_view,
    "tile_view": _partition_view,
    "tile_buf": _tile,
    "tile": _value_tile,
}
"""Type name behind ``!pto.`` to its reader."""


def _size_text(size: int | None) -> str:
    return "?" if size is None else str(size)


def _view_text(name: str, shape: tuple[int | None, ...], element: str) -> str:
    return f"!pto.{name}<{''.join(_size_text(n) + 'x' for n in shape)}{element}>"


def _tile_text(tile: TileType) -> str:
    compact = f", compact={tile.compact}" if tile.compact else ""
    return (
        f"!pto.tile_buf<loc={tile.location}, dtype={tile.element}, rows={tile.rows}, cols={tile.cols}, "
        f"v_row={_size_text(tile.valid_rows)}, v_col={_size_text(tile.valid_cols)}, "
        f"blayout={tile.blayout}, slayout={tile.slayout}, fractal={tile.fractal}, pad={tile.pad}{compact}>"
    )


def type_text(type_: Type, *, value_tiles: bool = False) -> str:
    """Return the text of a type.

    Parameters
    ----------
    type_
        Any type of a program.
    value_tiles
        Write tiles that have nothing but a shape as ``!pto.tile<…>``, as the SSA form does.
    """
    match type_:
        case TileType():
            plain = TileType(type_.rows, type_.cols, type_.element, type_.rows, type_.cols)
            if value_tiles and type_ == plain:
                return f"!pto.tile<{type_.rows}x{type_.cols}x{type_.element}>"
            return _tile_text(type_)
        case PtrType():
            space = "" if type_.space == "gm" else f", {type_.space}"
            return f"!pto.ptr<{type_.element}{space}>"
        case TensorViewType():
            return _view_text("tensor_view", type_.shape, type_.element)
        case PartitionViewType():
            return _view_text("partition_tensor_view", type_.shape, type_.element)
        case VectorType():
            return f"vector<{type_.length}x{type_.element}>"
        case ScalarType():
            return type_.name
        case OpaqueType():
            return type_.text
