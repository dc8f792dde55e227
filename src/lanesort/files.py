"""Arrays in files: `.npy`, `.npz`, `.safetensors` and `.parquet`, read and written.

Reading maps files into memory where the format allows it, and never unpickles. Writing goes
to a temporary file beside the target, which is synced and renamed: there is never half an
output, and an old one stays until the new one is whole.
"""

from __future__ import annotations

import json
import math
import os
import pickle
import tempfile
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from importlib import import_module
from pathlib import Path
from typing import IO, Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

from lanesort.errors import FileError, MissingExtraError

__all__ = [
    "FORMATS",
    "file_at",
    "named_dtype",
    "read_array",
    "read_lines",
    "write_arrays",
    "write_elements",
    "write_together",
    "written_aside",
]

Array = npt.NDArray[Any]

FORMATS = (".npy", ".npz", ".safetensors", ".parquet")


def file_at(path: str | Path) -> Path:
    """Return the path of something that can be read: a file, or a pipe.

    Raises
    ------
    FileError
        If nothing is there, or a folder.
    """
    file = Path(path)
    if file.is_dir() or not file.exists():
        raise FileError(f"{file}: {'is a folder' if file.is_dir() else 'no such file'}")
    return file


def read_array(path: str | Path, name: str | None = None, dtype: str | None = None) -> Array:
    """Read one array from a file.

    Parameters
    ----------
    path
        A file of one of `FORMATS`.
    name
        Member of an `.npz`, tensor of a `.safetensors`, column of a `.parquet`; may be left
        out where the file holds one alone.
    dtype
        For `.npy` and `.npz` files whose dtype NumPy lost: ``bfloat16`` is stored as ``|V2``.

    Returns
    -------
    numpy.ndarray
        Memory-mapped and read-only for `.npy`.

    Raises
    ------
    FileError
        If the file is missing, broken, of another format, or has no such member.
    """
    file = Path(path)
    reader = _READERS.get(file.suffix.lower())
    if reader is None:
        raise FileError(f"{file}: unknown format {file.suffix!r}; accepted are {', '.join(FORMATS)}")
    if not file_at(file).is_file():
        raise FileError(f"{file}: is a pipe or a device; arrays are read from files")
    try:
        array = reader(file, name)
    except FileError:
        raise
    except _BROKEN as error:
        text = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise FileError(f"{file}: can't be read as {file.suffix[1:]}: {text}") from error
    return _with_dtype(array, dtype, file)


_BROKEN: tuple[type[Exception], ...] = (
    *(OSError, ValueError, KeyError, EOFError, MemoryError, SyntaxError, RuntimeError),
    *(zlib.error, zipfile.BadZipFile, tokenize.TokenError, pickle.UnpicklingError),
)
"""What NumPy and zipfile raise on a broken file: also an archive that needs a password or a newer
version, a header with a bracket that nothing closes, and pickle's own error for a refused pickle."""


def named_dtype(name: str) -> np.dtype[Any]:
    """Return the dtype of that name, those of ml_dtypes included."""
    try:
        return np.dtype(getattr(ml_dtypes, name, name))
    except TypeError:
        raise FileError(f"dtype {name!r} is unknown; examples are float32, bfloat16, int16") from None


def _with_dtype(array: Array, dtype: str | None, file: Path) -> Array:
    if dtype is None:
        if array.dtype.type is np.void and array.dtype.names is None:
            raise FileError(
                f"{file}: holds {array.dtype.itemsize}-byte values of a dtype that NumPy lost; "
                "say which with --dtype, for example --dtype bfloat16"
            )
        return array
    wanted = named_dtype(dtype)
    if wanted == array.dtype:
        return array
    if array.dtype.type is not np.void or wanted.itemsize != array.dtype.itemsize:
        raise FileError(
            f"{file}: holds {array.dtype}; --dtype {dtype} only names the dtype of raw values "
            f"(|V{wanted.itemsize}), it converts nothing"
        )
    return array.view(wanted)


def _read_npy(file: Path, name: str | None) -> Array:
    if name is not None:
        raise FileError(f"{file}: an .npy file holds one array without a name; leave the name out")
    dtype, shape, expected = _npy_header(file)
    if dtype.hasobject:
        raise FileError(f"{file}: can't be read as npy: it holds Python objects, which have no order here")
    size = file.stat().st_size
    if size != expected:
        raise FileError(
            f"{file}: can't be read as npy: {dtype} of shape {shape} takes {expected:,} bytes, the file "
            f"has {size:,}"
        )
    mapped: Array = np.load(file, mmap_mode="r" if math.prod(shape) else None, allow_pickle=False)
    return mapped


def _npy_header(file: Path) -> tuple[np.dtype[Any], tuple[int, ...], int]:
    """Return dtype, shape, and the size in bytes that the file has to have."""
    form = np.lib.format
    with file.open("rb") as opened:
        if opened.read(len(form.MAGIC_PREFIX)) != form.MAGIC_PREFIX:
            raise FileError(f"{file}: can't be read as npy: it does not begin as such a file does")
        opened.seek(0)
        first = form.read_magic(opened) == (1, 0)
        read = form.read_array_header_1_0 if first else form.read_array_header_2_0
        shape, _, dtype = read(opened)
        return dtype, shape, opened.tell() + dtype.itemsize * math.prod(shape)


def _read_npz(file: Path, name: str | None) -> Array:
    if not zipfile.is_zipfile(file):
        raise FileError(f"{file}: can't be read as npz: it is no zip archive")
    with file.open("rb") as opened, np.load(opened, allow_pickle=False) as archive:
        chosen = _chosen(file, name, list(archive.files))
        member: object = archive[chosen]  # bytes if it does not begin as a .npy file does
        if not isinstance(member, np.ndarray):
            raise FileError(f"{file}: can't be read as npz: its member {chosen!r} is no array")
        return member


def _read_safetensors(file: Path, name: str | None) -> Array:
    safetensors = _extra("safetensors", "files")
    try:
        with safetensors.safe_open(file, framework="numpy") as tensors:
            chosen = _chosen(file, name, list(tensors.keys()))
            part = tensors.get_slice(chosen)
            dtype, shape = _SAFETENSORS_DTYPES.get(part.get_dtype()), part.get_shape()
        if dtype is None:
            raise FileError(f"{file}: tensor {chosen!r} is {part.get_dtype()}, which has no order here")
        return _mapped_tensor(file, chosen, np.dtype(dtype), shape)
    except safetensors.SafetensorError as error:
        raise FileError(f"{file}: can't be read as safetensors: {error}") from error


_SAFETENSORS_DTYPES: dict[str, Any] = {
    **{f"{kind}{8 * size}": f"{kind.lower()}{size}" for kind in "UI" for size in (1, 2, 4, 8)},
    **{f"F{8 * size}": f"f{size}" for size in (2, 4, 8)},
    "BOOL": np.bool_,
    "BF16": ml_dtypes.bfloat16,
    "F8_E4M3": ml_dtypes.float8_e4m3fn,
    "F8_E5M2": ml_dtypes.float8_e5m2,
}
"""The format's names of dtypes; its own reader has no bfloat16 and no float8 in NumPy."""


def _mapped_tensor(file: Path, name: str, dtype: np.dtype[Any], shape: list[int]) -> Array:
    """Map one tensor of a file whose header the format's own reader has checked."""
    with file.open("rb") as opened:
        header_bytes = int.from_bytes(opened.read(8), "little")
        start, stop = json.loads(opened.read(header_bytes))[name]["data_offsets"]
    if start == stop:
        return np.empty(shape, dtype)
    raw = np.memmap(file, np.uint8, "r", offset=8 + header_bytes + start, shape=(stop - start,))
    tensor: Array = raw.view(dtype).reshape(shape)
    return tensor


def _read_parquet(file: Path, name: str | None) -> Array:
    parquet = _extra("pyarrow.parquet", "files")
    arrow = _extra("pyarrow", "files")
    try:
        chosen = _chosen(file, name, parquet.ParquetFile(file).schema_arrow.names)
        column = parquet.read_table(file, columns=[chosen]).column(0).combine_chunks()
    except arrow.ArrowException as error:
        raise FileError(f"{file}: can't be read as parquet: {str(error).splitlines()[0]}") from error
    if column.null_count:
        raise FileError(
            f"{file}: column {chosen!r} holds nulls ({column.null_count}), which have no order here"
        )
    kind = column.type
    if arrow.types.is_fixed_size_list(kind):
        return _flat(file, chosen, column.flatten()).reshape(-1, kind.list_size)
    return _flat(file, chosen, column)


def _flat(file: Path, name: str, column: Any) -> Array:
    found: Array = column.to_numpy(zero_copy_only=False)
    if found.dtype.hasobject:
        raise FileError(f"{file}: column {name!r} is {column.type}, which has no order here")
    return found


def _chosen(file: Path, name: str | None, names: list[str]) -> str:
    listed = ", ".join(names[:8]) + (" …" if len(names) > 8 else "")
    if name is None:
        if len(names) == 1:
            return names[0]
        raise FileError(f"{file}: holds {len(names)} arrays ({listed}); say which with --name")
    if name not in names:
        raise FileError(f"{file}: has no array {name!r}; it holds {listed}")
    return name


def _extra(module: str, extra: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtraError(
            f"{module.partition('.')[0]} is not installed; pip install 'lanesort[{extra}]'"
        ) from error


_READERS: dict[str, Callable[[Path, str | None], Array]] = {
    ".npy": _read_npy,
    ".npz": _read_npz,
    ".safetensors": _read_safetensors,
    ".parquet": _read_parquet,
}


def read_lines(path: str | Path, count: int) -> list[str]:
    """Read a text file of `count` lines, for example the labels of columns."""
    file_at(path)
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"{path}: can't be read as text: {error}") from error
    if len(lines) != count:
        raise FileError(f"{path}: has {len(lines)} lines for {count} columns; one label a column is needed")
    return lines


@contextmanager
def written_aside(path: str | Path, folder: str | Path | None = None) -> Iterator[IO[bytes]]:
    """Open a temporary file that takes the place of `path` when all went well.

    Parameters
    ----------
    path
        The file to be.
    folder
        Where the temporary file lies, on the same file system; beside `path` unless given.

    Raises
    ------
    FileError
        If the folder can't be written, or the disk is full. `path` is then as it was.
    """
    target = Path(path)
    try:
        handle, temporary = tempfile.mkstemp(
            prefix=f".{target.name}.", suffix=".part", dir=folder or target.parent
        )
    except OSError as error:
        raise FileError(f"{target}: can't be written: {error.strerror}") from error
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
    except FileError:  # about another file, written at the same time
        raise
    except OSError as error:
        raise FileError(f"{target}: can't be written: {error.strerror or error}") from error
    finally:
        Path(temporary).unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def write_elements(file: IO[bytes], array: Array) -> None:
    """Append the bytes of an array's elements to a file, without a header."""
    file.write(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)


def write_arrays(path: str | Path, arrays: Mapping[str, Array]) -> None:
    """Write arrays to a file of one of `FORMATS`; `.npy` takes exactly one."""
    write_together({Path(path): arrays})


def write_together(
    arrays: Mapping[Path, Mapping[str, Array]], texts: Mapping[Path, str] | None = None
) -> None:
    """Write several files, each as `write_arrays` does or as text: all of them, or none.

    Raises
    ------
    FileError
        If one of them can't be written; then none is.
    """
    with ExitStack() as stack:
        for path, held in arrays.items():
            writer = _writer(path, held)
            writer(stack.enter_context(_replacing(path)), held)
        for path, text in (texts or {}).items():
            stack.enter_context(_replacing(path)).write(text.encode())


def _replacing(path: Path) -> AbstractContextManager[IO[bytes]]:
    # A folder would be noticed only when the finished file is to take its place.
    if path.is_dir():
        raise FileError(f"{path}: can't be written: is a folder")
    return written_aside(path)


def _writer(target: Path, arrays: Mapping[str, Array]) -> Callable[[IO[bytes], Mapping[str, Array]], None]:
    writer = _WRITERS.get(target.suffix.lower())
    if writer is None:
        raise FileError(f"{target}: unknown format {target.suffix!r}; accepted are {', '.join(FORMATS)}")
    if target.suffix.lower() == ".npy" and len(arrays) != 1:
        raise FileError(
            f"{target}: an .npy file holds one array, this result has {len(arrays)} "
            f"({', '.join(arrays)}); write .npz instead"
        )
    return writer


def _write_npy(file: IO[bytes], arrays: Mapping[str, Array]) -> None:
    np.lib.format.write_array(file, next(iter(arrays.values())), allow_pickle=False)


def _write_npz(file: IO[bytes], arrays: Mapping[str, Array]) -> None:
    np.savez(file, allow_pickle=False, **dict(arrays))


def _write_safetensors(file: IO[bytes], arrays: Mapping[str, Array]) -> None:
    save = _extra("safetensors.numpy", "files").save
    file.write(save({name: np.ascontiguousarray(array) for name, array in arrays.items()}))


def _write_parquet(file: IO[bytes], arrays: Mapping[str, Array]) -> None:
    arrow = _extra("pyarrow", "files")
    for name, array in arrays.items():
        if array.ndim != 1:
            raise FileError(f"parquet columns are 1-D and {name} has {array.ndim} dimensions; write .npz")
    try:
        table = arrow.table(dict(arrays))
    except arrow.ArrowException as error:
        kinds = ", ".join(str(array.dtype) for array in arrays.values())
        raise FileError(f"parquet has no place for {kinds}; write .npz or .safetensors") from error
    _extra("pyarrow.parquet", "files").write_table(table, file)


_WRITERS: dict[str, Callable[[IO[bytes], Mapping[str, Array]], None]] = {
    ".npy": _write_npy,
    ".npz": _write_npz,
    ".safetensors": _write_safetensors,
    ".parquet": _write_parquet,
}
