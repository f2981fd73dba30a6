"""The census data's hierarchies, from its own text files to ARX's CSV.

A text file holds, each in a line: the number of levels above the leaves; then for every level, bottom up, its number of
nodes and one ``lo hi`` interval of codes for each node. ``domains.txt`` holds the codes of each column, ``hiers.txt``
the file of each column or ``*`` for a column without one, in the order of the table's columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def _lines(file: Path) -> list[str]:
    return [line.strip() for line in file.read_text().splitlines() if line.strip()]


def read_levels(file: Path) -> list[list[tuple[int, int]]]:
    """The intervals of every level above the leaves, bottom up."""
    numbers = iter(int(word) for line in _lines(file) for word in line.split())
    return [[(next(numbers), next(numbers)) for _ in range(next(numbers))] for _ in range(next(numbers))]


def rows(low: int, high: int, levels: Sequence[Sequence[tuple[int, int]]]) -> list[str]:
    """One line ``leaf;parent;...;*`` for each code; an inner node is labelled by its interval."""

    def label(code: int, level: Sequence[tuple[int, int]]) -> str:
        first, last = next(node for node in level if node[0] <= code <= node[1])
        return str(first) if first == last else f"{first}-{last}"

    inner = levels[:-1]  # the last level is the root
    return [";".join([str(code), *(label(code, level) for level in inner), "*"]) for code in range(low, high + 1)]


def convert(source: Path, target: Path, columns: Sequence[str]) -> None:
    """Write ``<column>.csv`` into ``target`` for every column that has a hierarchy.

    Args:
        source: the folder with ``domains.txt``, ``hiers.txt`` and the hierarchies.
        target: an existing folder outside the repository.
        columns: the table's columns in its order.
    """
    files, domains = _lines(source / "hiers.txt"), _lines(source / "domains.txt")
    for column, file, domain in zip(columns, files, domains, strict=True):
        if file != "*":
            low, high = map(int, domain.split())
            text = "\n".join(rows(low, high, read_levels(source / Path(file).name)))
            (target / f"{column}.csv").write_text(text + "\n")
