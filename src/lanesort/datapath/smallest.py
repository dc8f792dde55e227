"""The sorting networks of the fewest comparators known, for up to 16 lanes.

Up to 12 lanes the counts are proved to be the least possible; 13 to 16 are the best known
(Green's network of 16, and its prunings for 14 and 15).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

__all__ = ["SMALLEST", "smallest"]

# One line a network; stages are separated by "|", comparators are two hexadecimal lanes.
_TEXTS = {
    2: "01",
    3: "02|01|12",
    4: "02 13|01 23|12",
    5: "03 14|02 13|01 24|12 34|23",
    6: "05 13 24|12 34|03 25|01 23 45|12 34",
    7: "06 23 45|02 14 36|01 25 34|12 46|23 45|12 34 56",
    8: "02 13 46 57|04 15 26 37|01 23 45 67|24 35|14 36|12 34 56",
    9: "01 34 67|12 45 78|01 34 67 25|03 14 58|36 47 25|03 14 57 26|13 46|24 56|23",
    10: "49 38 27 16 05|14 69 03 58|02 36 79|01 24 57 89|12 46 78 35|25 68 13 47|23 67|34 56|45",
    11: "01 23 45 67 89|13 57 02 46 8a|12 56 9a 04 37|15 6a 48|59 26 04 38|15 6a 23 89|14 7a 35 68"
    "|24 79 56|34 78",
    12: "01 23 45 67 89 ab|13 57 9b 02 46 8a|12 56 9a 04 7b|15 6a 37 48|59 26 04 7b 38|15 6a 23 89"
    "|14 7a 35 68|24 79 56|34 78",
    13: "17 9b 34 58 0c 26|01 23 46 8b 7c 59|02 37 ab 14 6c|78 bc 49 6a|34 56 89 ab 17"
    "|26 9b 13 47 8a 05|25 68 9a|12 35 78 46|23 45 67 89|34 56",
    16: "01 23 45 67 89 ab cd ef|02 13 46 57 8a 9b ce df|04 15 26 37 8c 9d ae bf"
    "|08 19 2a 3b 4c 5d 6e 7f|5a 69 3c de 48 7b 12|14 7d 28 be|24 56 9a bd 38 7c|68 ac 35 79"
    "|34 56 78 9a bc|67 89",
}

SMALLEST: Mapping[int, int] = MappingProxyType(
    dict(enumerate((0, 0, 1, 3, 5, 9, 12, 16, 19, 25, 29, 35, 39, 45, 51, 56, 60)))
)
"""Comparators of the smallest known network by number of lanes (Codish et al. 2014, Harder 2022)."""


def smallest(lanes: int) -> Iterator[list[tuple[int, int]]]:
    """Yield the stages of the smallest known network of at most 16 lanes.

    Examples
    --------
    >>> list(smallest(3))
    [[(0, 2)], [(0, 1)], [(1, 2)]]
    """
    if lanes < 2:
        return
    source = lanes if lanes in _TEXTS else 16
    for stage in _TEXTS[source].split("|"):
        pairs = [(int(text[0], 16), int(text[1], 16)) for text in stage.split()]
        yield [pair for pair in pairs if pair[1] < lanes]
