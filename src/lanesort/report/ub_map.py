"""A drawing of the tiles of a `.pto` function in the unified buffer, as SVG.

Addresses go down, the steps of the program go right. A box is a tile while it is needed; in
it stand marks where a step writes it (filled) or reads it (open).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.sax.saxutils import escape

from lanesort.errors import FileError
from lanesort.pto.check.ub_map import Lane, UbMap

__all__ = ["ub_map_svg", "write_ub_map"]

_LEFT, _TOP, _RIGHT, _BOTTOM = 150, 64, 24, 96
_STEP_WIDTH, _HEIGHT, _LEAST_BOX = 34, 480, 3
_LETTER_HEIGHT = 14
_MOST_STEPS = 400
_STYLE = (
    "text{font:11px ui-monospace,Menlo,Consolas,monospace;fill:#1f2937}"
    ".head{font:bold 13px system-ui,sans-serif}.axis{fill:#6b7280}"
    ".tile{fill:#dbeafe;stroke:#1d4ed8}.idle{fill:#f8fafc;stroke:#cbd5e1}"
    ".written{fill:#1d4ed8}.read{fill:#fff;stroke:#1d4ed8}"
    ".limit{stroke:#b91c1c;stroke-dasharray:6 3}.grid{stroke:#f1f5f9}"
)


def ub_map_svg(shown: UbMap) -> str:
    """Draw a map.

    Parameters
    ----------
    shown
        A map, as `lanesort.pto.check.check` returns it in ``maps``.

    Returns
    -------
    str
        An SVG document, the same for the same map. Programs of more than 400 steps are cut.

    Examples
    --------
    >>> lane = Lane("%src", 0, 128, False, "WR")
    >>> drawing = ub_map_svg(UbMap("f", "a5", 262144, (("tload", 3), ("tstore", 4)), (lane,)))
    >>> drawing.count('class="tile"'), drawing.count('class="written"')
    (1, 2)
    """
    steps = shown.steps[:_MOST_STEPS]
    width = _LEFT + max(len(steps), 4) * _STEP_WIDTH + _RIGHT
    height = _TOP + _HEIGHT + _BOTTOM
    size = shown.size_bytes
    end = max(shown.used_bytes, 1)
    over = size is not None and end > size
    limit = "" if size is None else f" of {size}"
    head = f"@{escape(shown.function)} on {escape(shown.target)}: {shown.used_bytes}{limit} bytes used"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
        f"<title>Unified buffer of @{escape(shown.function)} on {escape(shown.target)}</title>",
        f"<style>{_STYLE}</style>",
        f'<text class="head" x="12" y="24">{head}</text>',
        '<circle class="written" cx="18" cy="42" r="5"/><text x="28" y="46">written</text>',
        '<circle class="read" cx="98" cy="42" r="5"/><text x="108" y="46">read</text>',
    ]
    parts += _columns(steps)
    parts += [text for lane in shown.lanes for text in _lane(lane, end, len(steps))]
    if over and size is not None:
        at = _down(size, end)
        parts.append(f'<path class="limit" d="M{_LEFT} {at:.1f}H{width - _RIGHT}"/>')
        parts.append(f'<text x="12" y="{at:.1f}">end of UB</text>')
    return "\n".join([*parts, "</svg>", ""])


def _down(address: int, end: int) -> float:
    return _TOP + _HEIGHT * address / end


def _columns(steps: tuple[tuple[str, int], ...]) -> Iterator[str]:
    for number, (op, line) in enumerate(steps):
        x = _LEFT + number * _STEP_WIDTH + _STEP_WIDTH / 2
        y = _TOP + _HEIGHT + 10
        yield f'<path class="grid" d="M{x} {_TOP}V{_TOP + _HEIGHT}"/>'
        yield f'<text class="axis" transform="translate({x - 4} {y}) rotate(60)">{escape(op)} :{line}</text>'


def _lane(lane: Lane, end: int, steps: int) -> Iterator[str]:
    top = _down(lane.start, end)
    height = max(_down(lane.stop, end) - top, _LEAST_BOX)
    used = lane.uses[:steps].strip()
    first, count = (lane.first, len(used)) if used else (0, max(steps, 1))
    x = _LEFT + first * _STEP_WIDTH
    name = f"{lane.name} 0x{lane.start:x} … 0x{lane.stop:x}, {lane.stop - lane.start} bytes"
    yield (
        f'<rect class="{"tile" if used else "idle"}" x="{x}" y="{top:.1f}" width="{count * _STEP_WIDTH}" '
        f'height="{height:.1f}"><title>{escape(name)}</title></rect>'
    )
    if height >= _LETTER_HEIGHT:
        yield f'<text x="12" y="{top + _LETTER_HEIGHT - 3:.1f}">{escape(lane.name)} 0x{lane.start:x}</text>'
    radius = min(5.0, height / 2 - 0.5)
    for number, letter in enumerate(lane.uses[:steps]):
        middle = _LEFT + number * _STEP_WIDTH + _STEP_WIDTH / 2
        for kind, letters in (("written", "WB"), ("read", "RB")):
            if letter in letters:
                shift = {"written": -4, "read": 4}[kind] if letter == "B" else 0
                at = f'cx="{middle + shift}" cy="{top + height / 2:.1f}" r="{radius:.1f}"'
                yield f'<circle class="{kind}" {at}/>'


def write_ub_map(path: str | Path, shown: UbMap) -> None:
    """Write a map as an SVG file.

    Raises
    ------
    FileError
        If the file can't be written.
    """
    try:
        Path(path).write_text(ub_map_svg(shown), encoding="utf-8")
    except OSError as error:
        raise FileError(f"can't write the map to {path}: {error.strerror}") from error
