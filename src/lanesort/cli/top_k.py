"""``lanesort top-k``: the best columns of each row of a file."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
from cyclopts import Parameter
from rich.table import Table

from lanesort.cli.console import console as make_console
from lanesort.cli.progress import shown
from lanesort.cli.wording import in_options
from lanesort.files import read_array, read_lines, write_arrays
from lanesort.kernels.top_k import top_k as best
from lanesort.results import Pairs

__all__ = ["top_k"]

Array = npt.NDArray[Any]


def top_k(
    file: Path,
    /,
    *,
    k: Annotated[int, Parameter(name=["-k", "--k"])] = 10,
    name: str | None = None,
    dtype: str | None = None,
    labels: Path | None = None,
    rows: Path | None = None,
    smallest: Annotated[bool, Parameter(negative="")] = False,
    nan: Literal["last", "largest", "sign-magnitude", "total"] = "last",
    tie: Literal["low", "high"] = "low",
    threads: int | None = None,
    json: Annotated[bool, Parameter(negative="")] = False,
    output: Annotated[Path | None, Parameter(name=["-o", "--output"])] = None,
) -> int:
    """Print the k best of each row: position, label and value.

    Parameters
    ----------
    file
        Scores, rows × columns: .npy, .npz, .safetensors or .parquet.
    k
        How many of each row.
    name
        Array in the file, where it holds several.
    dtype
        Dtype of an .npy file whose dtype NumPy lost, for example bfloat16.
    labels
        Text file with a line for each column.
    rows
        Text file with a line for each row.
    smallest
        The smallest instead of the largest.
    nan
        Where NaN goes.
    tie
        Which of equal values comes first: the lower or the higher position.
    threads
        Threads to use; the result is the same.
    json
        Print JSON.
    output
        Write values and indices to this file instead of printing them.
    """
    scores = read_array(file, name, dtype)
    table = np.atleast_2d(scores)
    columns = None if labels is None else read_lines(labels, table.shape[-1])
    titles = None if rows is None else read_lines(rows, int(np.prod(table.shape[:-1])))
    start = time.perf_counter()
    # Rows of a file have no lengths of their own, so that advice has no option.
    advice = ("; ask for at most n, or give lengths to have rows filled up", "; ask for at most n")
    with in_options(advice, ("x has", f"{file} has")), shown("top-k"):
        found = best(scores, k, mode="smallest" if smallest else "largest", nan=nan, tie=tie, threads=threads)
    seconds = time.perf_counter() - start
    if output is not None:
        write_arrays(output, {"values": found.values, "indices": found.indices})
    elif json:
        sys.stdout.write(_as_json(found, columns) + "\n")
    else:
        _print(found, columns, titles, f"{k} of {table.shape[-1]} a row in {1e3 * seconds:.2f} ms")
    return 0


def _as_json(found: Pairs, columns: list[str] | None) -> str:
    result: dict[str, Any] = {
        "values": found.values.astype(np.float64).tolist()
        if found.values.dtype.kind not in "iub"
        else found.values.tolist(),
        "indices": found.indices.tolist(),
    }
    if columns is not None:
        result["labels"] = np.asarray(columns, dtype=object)[found.indices].tolist()
    return json.dumps(result)


def _print(found: Pairs, columns: list[str] | None, titles: list[str] | None, caption: str) -> None:
    values, indices = np.atleast_2d(found.values), np.atleast_2d(found.indices)
    width = values.shape[-1]
    values, indices = values.reshape(-1, width), indices.reshape(-1, width)
    console = make_console(soft_wrap=False)
    for row in range(values.shape[0]):
        title = titles[row] if titles else f"row {row}"
        table = Table(title=title, title_justify="left", box=None, pad_edge=False)
        for heading in ("rank", "value", "position", *(["label"] if columns else [])):
            table.add_column(heading, justify="left" if heading == "label" else "right")
        for rank in range(width):
            place = int(indices[row, rank])
            label = [columns[place]] if columns else []
            table.add_row(str(rank + 1), f"{values[row, rank]:.6g}", str(place), *label)
        console.print(table)
    console.print(caption)
