"""Reading hierarchies (CSV in ARX's format) and orders (one value per line).

Messages name file and line, never a label: labels are values of a column. Whether every value of a column is a leaf is
decided where the column is, in the table room.
"""

from __future__ import annotations

import csv
import io
import os

from sqlanon.bounded_file import read_bounded
from sqlanon.column_spec import Hierarchy
from sqlanon.errors import PolicyError

MOST_PROBLEMS = 20
"""Problems of a file that an error lists."""

_A_LINE = "leaf;parent;...;root, with the same number of fields in every line"


def read_hierarchy(path: str | os.PathLike[str], name: str | None = None) -> Hierarchy:
    """Read a taxonomy tree: a line for each leaf, ``leaf;parent;...;*``, UTF-8, quoted as the csv module does.

    Leaves are put in in-order traversal, children in the order of their first appearance. Nodes of different levels may
    share a label. The last field, the root, is ``*`` in ARX's examples; any single root will do (``*****``).

    Args:
        path: the file.
        name: name of the file in messages; default: the path.

    Raises:
        PolicyError: with every problem of the file and the line.
    """
    name = os.fspath(path) if name is None else name
    rows = _rows(_text(path, name), name)
    if not rows:
        raise PolicyError(f"{name}: holds no line; {_A_LINE}")
    return of_paths(name, rows)


def of_paths(name: str, rows: list[tuple[int, tuple[str, ...]]]) -> Hierarchy:
    """The hierarchy of numbered paths from a leaf to the root.

    Raises:
        PolicyError: with every problem and the number of the path.
    """
    problems = _shape(rows) or _parents(rows)
    if problems:
        shown = [f"{name}:{line}: {what}" for line, what in problems[:MOST_PROBLEMS]]
        more = len(problems) - MOST_PROBLEMS
        raise PolicyError(shown + ([f"{name}: {more} more problems of this kind"] if more > 0 else []))
    return Hierarchy(name, in_order([labels for _, labels in rows]))


def with_other(hierarchy: Hierarchy, other: str) -> Hierarchy:
    """The hierarchy with a leaf for unlisted values: an existing leaf, or a new one right below the root.

    Raises:
        PolicyError: the label is that of a node above the leaves.
    """
    if any(path[0] == other for path in hierarchy.levels):
        return hierarchy
    if any(other in path for path in hierarchy.levels):
        raise PolicyError(f"{hierarchy.shown}: other is a node above its values; name one of its values, or a new one")
    root = hierarchy.levels[0][-1]
    return Hierarchy(hierarchy.name, (*hierarchy.levels, (*(other,) * hierarchy.height, root)))


def read_order(path: str | os.PathLike[str], name: str | None = None) -> tuple[str, ...]:
    """Read the values of a column in order, a line for each.

    Args:
        path: the file.
        name: name of the file in messages; default: the path.

    Raises:
        PolicyError: with every problem of the file and the line.
    """
    name = os.fspath(path) if name is None else name
    lines = [line.removesuffix("\r") for line in _text(path, name).rstrip("\r\n").split("\n")]
    if lines == [""]:
        raise PolicyError(f"{name}: holds no value; one value per line")
    first: dict[str, int] = {}
    problems: list[str] = []
    for number, value in enumerate(lines, start=1):
        if not value:
            problems.append(f"{name}:{number}: an empty line; one value per line (only a list can contain empty text)")
        elif first.setdefault(value, number) != number:
            problems.append(f"{name}:{number}: the value of line {first[value]} again; each value once")
    if problems:
        raise PolicyError(problems[:MOST_PROBLEMS])
    return tuple(lines)


def _text(path: str | os.PathLike[str], name: str) -> str:
    try:
        content = read_bounded(path)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a path"
        raise PolicyError(f"{name}: cannot be read ({reason})") from None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise PolicyError(f"{name}:{line}: not UTF-8; save the file as UTF-8") from None


def _rows(text: str, name: str) -> list[tuple[int, tuple[str, ...]]]:
    """The lines that are not empty, each with the line number."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=";", strict=True)
    rows: list[tuple[int, tuple[str, ...]]] = []
    line = 1
    try:
        for fields in reader:
            if fields:
                rows.append((line, tuple(fields)))
            line = reader.line_num + 1
    except csv.Error:
        raise PolicyError(
            f'{name}:{line}: cannot be read; its quotes do not match (a field is quoted as "...", a quote in it as'
            f' ""), or a field is longer than {csv.field_size_limit()} characters'
        ) from None
    return rows


def _shape(rows: list[tuple[int, tuple[str, ...]]]) -> list[tuple[int, str]]:
    """Lines that are not a path from a leaf to the one root, all of one length."""
    first_line, first = rows[0]
    problems: list[tuple[int, str]] = []
    if len(first) < 2:
        # What else is wrong follows from that.
        return [(first_line, f"one field only; fields are separated by semicolons: {_A_LINE}")]
    for line, labels in rows:
        if len(labels) != len(first):
            problems.append((line, f"{len(labels)} fields, but line {first_line} has {len(first)}; {_A_LINE}"))
        elif not all(labels[1:]):
            problems.append((line, "an empty field after the leaf; every node has a label"))
        elif labels[-1] != first[-1]:
            problems.append(
                (line, f"a root other than in line {first_line}; one root, the same last field (*) in every line")
            )
    return problems


def _parents(rows: list[tuple[int, tuple[str, ...]]]) -> list[tuple[int, str]]:
    """Nodes that have two parents. A node is a level and a label."""
    parent: dict[tuple[int, str], tuple[str, int]] = {}
    problems: list[tuple[int, str]] = []
    for line, labels in rows:
        for level in range(len(labels) - 1):
            above, first_line = parent.setdefault((level, labels[level]), (labels[level + 1], line))
            if above != labels[level + 1]:
                what = "the leaf" if level == 0 else f"the node in field {level + 1}"
                problems.append((line, f"{what} has another parent in line {first_line}; one parent for each"))
                break
    return problems


def in_order(rows: list[tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    """Leaves once each, so that every node covers consecutive leaves, children in the order of their first appearance.

    Args:
        rows: a path for each leaf, from there to the root; each node has a single parent.
    """
    first: dict[tuple[int, str], int] = {}
    for labels in rows:
        for node in enumerate(labels):
            first.setdefault(node, len(first))
    return tuple(
        sorted(dict.fromkeys(rows), key=lambda labels: [first[node] for node in reversed(list(enumerate(labels)))])
    )
