"""Arrays in files: formats, lost dtypes, broken files, and outputs that are never half."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from lanesort.errors import FileError
from lanesort.files import read_array, read_lines, write_arrays, written_aside

X = np.arange(6, dtype=np.float32)


@pytest.mark.parametrize("suffix", [".npz", ".safetensors", ".parquet"])
def test_named_arrays_come_back(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    write_arrays(path, {"x": X, "y": X.astype(np.int64)})
    assert np.array_equal(read_array(path, "x"), X)
    assert read_array(path, "y").dtype == np.int64
    with pytest.raises(FileError, match=r"holds 2 arrays \(x, y\); say which with --name"):
        read_array(path)
    with pytest.raises(FileError, match="has no array 'z'; it holds x, y"):
        read_array(path, "z")


def test_an_npy_file_is_mapped(tmp_path: Path) -> None:
    write_arrays(tmp_path / "a.npy", {"values": X})
    found = read_array(tmp_path / "a.npy")
    assert isinstance(found, np.memmap)
    assert not found.flags.writeable
    with pytest.raises(FileError, match="leave the name out"):
        read_array(tmp_path / "a.npy", "x")


def test_safetensors_of_small_floats(tmp_path: Path) -> None:
    for dtype in (ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2):
        write_arrays(tmp_path / "a.safetensors", {"x": X.reshape(2, 3).astype(dtype)})
        found = read_array(tmp_path / "a.safetensors")
        assert found.dtype == dtype
        assert found.astype(np.float32).tolist() == X.reshape(2, 3).tolist()


def test_parquet_columns_that_are_no_numbers(tmp_path: Path) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pairs = arrow.array([[1.0, 2.0], [3.0, 4.0]], arrow.list_(arrow.float32(), 2))
    table = arrow.table({"pairs": pairs, "words": ["a", "b"], "gaps": [1, None]})
    parquet.write_table(table, tmp_path / "t.parquet")
    assert read_array(tmp_path / "t.parquet", "pairs").tolist() == [[1, 2], [3, 4]]
    with pytest.raises(FileError, match=r"t.parquet: column 'words' is string, which has no order here"):
        read_array(tmp_path / "t.parquet", "words")
    with pytest.raises(FileError, match=r"column 'gaps' holds nulls \(1\)"):
        read_array(tmp_path / "t.parquet", "gaps")
    with pytest.raises(FileError, match="parquet has no place for bfloat16"):
        write_arrays(tmp_path / "o.parquet", {"x": X.astype(ml_dtypes.bfloat16)})


def test_an_npy_file_of_the_wrong_size_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", X)
    whole = (tmp_path / "a.npy").read_bytes()
    for content in (whole[:-1], whole + b"more"):
        (tmp_path / "a.npy").write_bytes(content)
        with pytest.raises(FileError, match=r"float32 of shape \(6,\) takes 152 bytes, the file has"):
            read_array(tmp_path / "a.npy")


def test_a_lost_dtype_is_named(tmp_path: Path) -> None:
    np.save(tmp_path / "b.npy", X.astype(ml_dtypes.bfloat16).view("V2"))
    with pytest.raises(FileError, match="2-byte values of a dtype that NumPy lost; say which with --dtype"):
        read_array(tmp_path / "b.npy")
    assert read_array(tmp_path / "b.npy", dtype="bfloat16").astype(np.float32).tolist() == X.tolist()
    with pytest.raises(FileError, match="dtype 'float99' is unknown"):
        read_array(tmp_path / "b.npy", dtype="float99")
    with pytest.raises(FileError, match="it converts nothing"):
        read_array(tmp_path / "b.npy", dtype="float32")


BROKEN: dict[str, bytes] = {
    "empty.npy": b"",
    "cut.npy": b"\x93NUMPY\x01\x00v\x00{'descr': '<f4',",
    "text.npy": b"hello",
    "long.npy": b"\x93NUMPY\x01\x00\x3e\x00{'descr':'<f4','fortran_order':False,'shape':(9999999999999,)}\n",
    "open.npy": b"\x93NUMPY\x01\x00\x10\x00{'descr': '<f4',(",
    "empty.npz": b"",
    "an-array.npz": b"\x93NUMPY\x01\x00\x34\x00{'descr':'<f4','fortran_order':False,'shape':(1,),}\n1234",
    "text.npz": b"PK\x03\x04 not really",
    "text.safetensors": b"\xff" * 20,
    "text.parquet": b"PAR1 not really PAR1",
}


@pytest.mark.parametrize("name", sorted(BROKEN))
def test_a_broken_file_is_one_clear_error(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(BROKEN[name])
    with pytest.raises(FileError, match=f"{name}: can't be read as"):
        read_array(tmp_path / name)


def test_a_member_that_is_no_array_is_broken(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("notes.txt", b"no array")
    with pytest.raises(FileError, match=r"a.npz: can't be read as npz: its member 'notes.txt' is no array"):
        read_array(tmp_path / "a.npz")


@pytest.mark.parametrize(
    ("at", "byte", "says"),
    [
        (6, 99, "zip file version 9.9"),
        (8, 1, "is encrypted, password required"),
        (10, 8, "while decompressing"),
    ],
)
def test_an_archive_that_asks_for_what_is_lacking_is_broken(
    tmp_path: Path, at: int, byte: int, says: str
) -> None:
    write_arrays(tmp_path / "a.npz", {"a": X})
    data = bytearray((tmp_path / "a.npz").read_bytes())
    entry = data.index(b"PK\x01\x02")
    data[entry + at] = data[at - 2] = byte
    data[data.index(b"\x93NUMPY")] = 0xFF  # no block of a compressed member begins so
    (tmp_path / "a.npz").write_bytes(bytes(data))
    with pytest.raises(FileError, match=rf"a.npz: can't be read as npz: .*{says}"):
        read_array(tmp_path / "a.npz")


def test_objects_are_not_unpickled(tmp_path: Path) -> None:
    np.save(tmp_path / "o.npy", np.array([{}], object), allow_pickle=True)
    with pytest.raises(FileError, match="can't be read as npy"):
        read_array(tmp_path / "o.npy")


@pytest.mark.parametrize(
    ("path", "says"),
    [("none.npy", "no such file"), ("a.txt", "unknown format '.txt'"), (".npy.d.npy", "is a folder")],
)
def test_paths_that_are_no_files(tmp_path: Path, path: str, says: str) -> None:
    (tmp_path / ".npy.d.npy").mkdir()
    with pytest.raises(FileError, match=says):
        read_array(tmp_path / path)


def test_an_output_is_whole_or_absent(tmp_path: Path) -> None:
    target = tmp_path / "out.npy"
    write_arrays(target, {"x": X})
    before = target.read_bytes()

    def fail() -> None:
        with written_aside(target) as file:
            file.write(b"half")
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError):
        fail()
    assert target.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["out.npy"]
    with pytest.raises(FileError, match="can't be written"):
        write_arrays(tmp_path / "no" / "out.npy", {"x": X})


@pytest.mark.parametrize(
    ("name", "arrays", "says"),
    [
        ("o.npy", {"a": X, "b": X}, "holds one array, this result has 2"),
        ("o.txt", {"a": X}, "unknown format"),
        ("o.parquet", {"a": X.reshape(2, 3)}, "parquet columns are 1-D"),
    ],
)
def test_results_that_do_not_fit_a_format(tmp_path: Path, name: str, arrays: Any, says: str) -> None:
    with pytest.raises(FileError, match=says):
        write_arrays(tmp_path / name, arrays)
    assert list(tmp_path.iterdir()) == []


def test_labels_are_one_a_column(tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_text("a\nb\n", encoding="utf-8")
    assert read_lines(tmp_path / "names.txt", 2) == ["a", "b"]
    with pytest.raises(FileError, match="has 2 lines for 3 columns"):
        read_lines(tmp_path / "names.txt", 3)
    (tmp_path / "bad.txt").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(FileError, match="can't be read as text"):
        read_lines(tmp_path / "bad.txt", 1)
