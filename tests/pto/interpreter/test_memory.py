"""UB as bytes: windows, bounds, bytes that nothing wrote, and where tiles are placed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanesort.errors import MachineError, ProgramError
from lanesort.pto.allocation import allocate
from lanesort.pto.interpreter import run
from lanesort.pto.memory import Access, GlobalBuffer, Pointer, UnifiedBuffer
from lanesort.pto.program import TileType
from lanesort.pto.text.parser import parse
from lanesort.pto.view import PlacedTile, TensorView
from tests.pto.interpreter.programs import function, on_tiles, tile_type


def buffer(size: int = 4096) -> tuple[UnifiedBuffer, list[tuple[Access, int]]]:
    reports: list[tuple[Access, int]] = []
    return UnifiedBuffer(size, lambda access, first: reports.append((access, first))), reports


def tile(memory: UnifiedBuffer, address: int, shape: str, valid: tuple[int, int] | None = None) -> PlacedTile:
    rows, cols, element = shape.split("x")
    type = TileType(int(rows), int(cols), element, None, None)
    return PlacedTile(memory, address, type, valid or (type.rows, type.cols))


def test_equal_windows_are_one_object() -> None:
    memory, _ = buffer()
    assert tile(memory, 64, "2x16xf32").window is tile(memory, 64, "2x16xf32").window
    assert tile(memory, 64, "2x16xf32").window is not tile(memory, 64, "2x16xi32").window


def test_a_window_is_a_view_of_the_bytes() -> None:
    memory, _ = buffer()
    tile(memory, 128, "2x8xui32", (2, 3)).window.view[...] = 0x01020304
    assert memory.bytes[128:132].tolist() == [4, 3, 2, 1]
    assert memory.bytes[140] == 0
    assert memory.bytes[160] == 4


def test_unwritten_bytes_are_reported_until_they_are_written() -> None:
    memory, reports = buffer()
    whole = tile(memory, 0, "2x8xf32")
    memory.wrote(tile(memory, 0, "2x8xf32", (2, 5)).window)
    memory.read(whole.window)
    assert [first for _, first in reports] == [20]
    memory.wrote(whole.window)
    memory.read(tile(memory, 0, "2x8xf32").window)
    memory.read(whole.part(1, 3))
    assert len(reports) == 1


@given(st.data())
def test_the_mask_agrees_with_a_set_of_bytes(data: st.DataObject) -> None:
    memory, reports = buffer(256)
    known: set[int] = set()
    for _ in range(data.draw(st.integers(1, 8))):
        rows, length = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 16))
        stride = data.draw(st.integers(length, 40))
        start = data.draw(st.integers(0, 256 - (rows - 1) * stride - length))
        access = Access("ub", start, length, rows, stride)
        touched = [start + row * stride + n for row in range(rows) for n in range(length)]
        if data.draw(st.booleans()):
            memory.mark(access)
            known.update(touched)
            continue
        reports.clear()
        missing = [byte for byte in touched if byte not in known]
        assert memory.check(access) is (not missing)
        assert [first for _, first in reports] == missing[:1]


@given(st.data())
def test_overlap_agrees_with_the_bytes(data: st.DataObject) -> None:
    memory, _ = buffer(4096)
    parent = tile(memory, 0, "8x64xui8")
    drawn = []
    for _ in range(2):
        rows, columns = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 32))
        row, column = data.draw(st.integers(0, 4)), data.draw(st.integers(0, 32))
        type = TileType(rows, columns, "ui8", None, None)
        drawn.append(parent.sub(row, column, type, (rows, columns)).window)
    touched = []
    for window in drawn:
        memory.bytes[...] = 0
        window.view[...] = 1
        touched.append(memory.bytes.astype(bool))
    assert drawn[0].overlaps(drawn[1]) == bool((touched[0] & touched[1]).any())


@pytest.mark.parametrize("address", [-4, 4096 - 60, 1 << 40])
def test_what_is_not_in_ub_is_refused(address: int) -> None:
    memory, _ = buffer()
    with pytest.raises(MachineError, match="of UB are needed, and it has 4096"):
        _ = tile(memory, address, "1x16xf32").window


def test_valid_sizes_stay_inside_the_tile() -> None:
    memory, _ = buffer()
    with pytest.raises(MachineError, match="valid size 1 × 17 is not inside the tile, which has 2 × 16"):
        tile(memory, 0, "2x16xf32", (1, 17))
    with pytest.raises(MachineError, match="3 × 1 elements are needed of a tile of 2 × 16"):
        tile(memory, 0, "2x16xf32").part(3, 1)


def test_column_major_tiles() -> None:
    memory, _ = buffer()
    type = TileType(4, 3, "f32", None, None, blayout="col_major")
    made = PlacedTile(memory, 0, type, (4, 3))
    made.window.view[...] = np.arange(12).reshape(4, 3)
    assert memory.bytes.view(np.float32)[:5].tolist() == [0, 3, 6, 9, 1]
    assert made.window.access == Access("ub", 0, 16, 3, 16)


def test_global_memory_is_a_copy_with_bounds() -> None:
    mine = np.arange(6, dtype=np.float32).reshape(2, 3)
    memory = GlobalBuffer("x", mine)
    Pointer(memory, 4, "f32").elements(1)[0] = 9
    assert memory.array.tolist() == [[0, 9, 2], [3, 4, 5]]
    assert mine[0, 1] == 1
    with pytest.raises(MachineError, match="bytes 20 … 27 of argument x are needed, and it has 24"):
        Pointer(memory, 20, "f32").elements(2)


@given(st.lists(st.integers(1, 4), min_size=1, max_size=5), st.data())
def test_views_of_any_rank(shape: list[int], data: st.DataObject) -> None:
    array = np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
    strides = tuple(s // 4 for s in array.strides)
    view = TensorView(Pointer(GlobalBuffer("x", array), 0, "i32"), tuple(shape), strides)
    offsets = tuple(data.draw(st.integers(0, size - 1)) for size in shape)
    sizes = tuple(data.draw(st.integers(1, size - at)) for size, at in zip(shape, offsets, strict=True))
    cut = tuple(slice(at, at + size) for at, size in zip(offsets, sizes, strict=True))
    assert view.part(offsets, sizes).array().tolist() == array[cut].tolist()


def test_a_view_beyond_its_argument_is_refused_when_it_is_used() -> None:
    view = TensorView(Pointer(GlobalBuffer("x", np.zeros(8, "f4")), 0, "f32"), (4, 4), (4, 1))
    assert view.part((0, 0), (2, 4)).array().shape == (2, 4)
    with pytest.raises(MachineError, match="of argument x are needed, and it has 32"):
        view.array()
    with pytest.raises(MachineError, match="elements 2 … 4 of dimension 1 are outside the view"):
        view.part((0, 2), (1, 3))
    with pytest.raises(MachineError, match="1 offsets and 1 sizes for a view of 2 dimensions"):
        view.part((0,), (1,))


def test_views_without_elements() -> None:
    buffer = GlobalBuffer("x", np.zeros(8, "f4"))
    shape = (1 << 30, 1 << 30, 1 << 30, 1 << 30, 0)
    assert TensorView(Pointer(buffer, 0, "f32"), shape, (1,) * 5).array().size == 0


@pytest.mark.parametrize("shape", [(1 << 40, 1), (1 << 30, 1 << 30), (1 << 40, 0)])
def test_views_too_large_to_copy(shape: tuple[int, int]) -> None:
    view = TensorView(Pointer(GlobalBuffer("x", np.zeros(8, "f4")), 0, "f32"), shape, (0, 0))
    with pytest.raises(MachineError, match="is too large to copy"):
        view.array()


def test_reading_what_nothing_wrote_is_reported_with_its_place() -> None:
    wide = tile_type("1x32xf32")
    body = f"""  %u = pto.alloc_tile : {wide}
  pto.tmov ins(%u : {wide}) outs(%out : {wide})"""
    _, result = on_tiles([], [], "1x32xf32", body)
    assert len(result.warnings) == 1
    assert result.warnings[0].startswith("<text>:12:3: reads 128 bytes of %u (UB from 128 on), of which")


TILES = """
  %a1 = arith.constant 64 : i64
  %x = pto.alloc_tile addr = %a1 : !pto.tile_buf<vec, 1x10xf32>
  %y = pto.alloc_tile : !pto.tile_buf<vec, 1x10xf32>
  %z = pto.alloc_tile : !pto.tile_buf<vec, 1x4xf16>"""


def test_tiles_are_placed_behind_those_with_an_address() -> None:
    result = run(function("", TILES))
    assert [(one.name, one.start, one.stop, one.given) for one in result.map] == [
        ("%x", 64, 128, True),
        ("%y", 128, 192, False),
        ("%z", 192, 224, False),
    ]


def test_tiles_that_do_not_fit_share_bytes_by_lifetime() -> None:
    big = tile_type("1x16384xf32")
    lines = ["  %x = arith.constant 1.0 : f32", f"  %t0 = pto.alloc_tile : {big}"]
    lines.append(f"  pto.texpands ins(%x : f32) outs(%t0 : {big})")
    for n in range(1, 6):
        lines.append(f"  %t{n} = pto.alloc_tile : {big}")
        lines.append(f"  pto.tadds ins(%t{n - 1}, %x : {big}, f32) outs(%t{n} : {big})")
    lines.append(f"  %got = pto.tgetval ins(%t5, %zero : {big}, index) outs : f32")
    lines.append("  pto.store_scalar %got, %out[%zero] : !pto.ptr<f32>, f32")
    text = function("%out: !pto.ptr<f32>", "\n".join(lines))
    result = run(text, [np.zeros(1, "f4")])
    assert result.outputs["out"].tolist() == [6.0]
    assert "share bytes of UB" in result.warnings[0]
    assert max(one.stop for one in result.map) <= 192 * 1024


def test_tiles_of_a_loop_live_as_long_as_the_loop() -> None:
    big = tile_type("1x16384xf32")
    body = f"""  %x = arith.constant 1.0 : f32
  %t = pto.alloc_tile : {big}
  %u = pto.alloc_tile : {big}
  %v = pto.alloc_tile : {big}
  pto.texpands ins(%x : f32) outs(%t : {big})
  scf.for %i = %zero to %one step %one {{
    pto.tmov ins(%t : {big}) outs(%u : {big})
    pto.tmov ins(%u : {big}) outs(%v : {big})
  }}
  %w = pto.alloc_tile : {big}
  pto.tmov ins(%v : {big}) outs(%w : {big})"""
    made = allocate(parse(function("", body)).functions[0], 192 * 1024)
    assert made.shared
    assert len(set(list(made.addresses.values())[:3])) == 3


def test_tiles_that_can_not_fit_are_an_error_where_they_are_used() -> None:
    huge = tile_type("1x65536xf32")
    body = f"  %x = arith.constant 1.0 : f32\n  %t = pto.alloc_tile : {huge}\n"
    body += f"  pto.texpands ins(%x : f32) outs(%t : {huge})"
    with pytest.raises(ProgramError, match="bytes 0 … 262143 of UB are needed, and it has 196608"):
        run(function("", body))
    assert run(function("", body), target="a5").steps == 5
