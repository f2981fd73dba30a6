"""The released rows of a partition in each format, as mappings from published column to value."""

from __future__ import annotations

import datetime as dt
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from tests.oracle.domains import Quasi, Table, as_fraction

Row = dict[str, Any]
SPECIAL = frozenset(',[]{}"\n\r')


Levels = Mapping[int, Sequence[int | None]]
"""Of some classes, by their place: the level of each quasi column; None: the least node."""


def released(
    table: Table,
    classes: Sequence[Sequence[int]],
    kind: str,
    mean: Sequence[str] = (),
    starred: int | None = None,
    levels: Levels = MappingProxyType({}),
) -> list[Row]:
    """One mapping a row: the released QI-derived columns and the sensitive values as they are."""
    rows: list[Row] = []
    for place, members in enumerate(classes):
        box: Row = {}
        for column, level in zip(table.quasi, levels.get(place) or [None] * len(table.quasi), strict=True):
            if place == starred:
                box.update(anything(column, kind))
            elif level is None:
                box.update(FORMATS[kind](column, members))
            else:
                box.update(leveled(column, members, kind, level))
            if column.name in mean:
                box[f"{column.name}_mean"] = average(column, members)
        rows += [{**box, **{s.name: s.values[row] for s in table.sensitive}} for row in members]
    return rows


def _values(column: Quasi, rows: Sequence[int]) -> list[Any]:
    """Distinct non-null values of a class in the order of the domain."""
    return [column.domain[code - 1] for code in sorted({column.codes[row] for row in rows} - {0})]


def null_state(column: Quasi, rows: Sequence[int]) -> str:
    """'none', 'all' or 'some' of the class is NULL."""
    nulls = sum(column.values[row] is None for row in rows)
    return "none" if not nulls else "all" if nulls == len(rows) else "some"


def average(column: Quasi, rows: Sequence[int]) -> float | None:
    """The mean of a class, from an exact sum; NULL where the class holds a NULL."""
    if null_state(column, rows) != "none":
        return None
    return float(sum((as_fraction(column.values[row]) for row in rows), Fraction(0)) / len(rows))


def ranges(column: Quasi, rows: Sequence[int]) -> Row:
    """Closed range, hierarchy node, or set sorted by bytes; with a flag where the column holds NULLs."""
    state = null_state(column, rows)
    name, values = column.name, _values(column, rows)
    row: Row
    if column.kind == "nominal":
        row = {name: sorted(values, key=str.encode) if state == "none" else None}
    elif column.kind == "hierarchy":
        row = {name: column.tree.common(values)[1] if state == "none" else None}
    else:
        known = state != "all"  # the ends of the values that are there
        row = {f"{name}_lo": values[0] if known else None, f"{name}_hi": values[-1] if known else None}
    return {**row, f"{name}_null": state} if column.has_null else row


def labels(column: Quasi, rows: Sequence[int]) -> Row:
    """One text a column."""
    state = null_state(column, rows)
    if state != "none":
        return {column.name: "NULL" if state == "all" else "*"}
    values = _values(column, rows)
    if column.kind == "hierarchy":
        node = column.tree.common(values)[1]
        return {column.name: node if node == "*" else quoted(node)}  # the root means any value, as ``*`` does
    if column.kind == "nominal":
        texts = [quoted(value) for value in sorted(values, key=str.encode)]
        return {column.name: texts[0] if len(texts) == 1 else "{" + ", ".join(texts) + "}"}
    ends = [text(value) for value in (values[0], values[-1])]
    return {column.name: ends[0] if len(values) == 1 else f"[{ends[0]}, {ends[1]}]"}


def text(value: Any) -> str:
    """A value as a label writes it."""
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dt.datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, float):
        return repr(value + 0.0)  # -0.0 is 0.0
    return format(value, "f") if isinstance(value, Decimal) else str(value)


def quoted(value: str) -> str:
    """The value itself, or its JSON string where a reader could not distinguish it from our own punctuation."""
    plain = value not in ("", "NULL", "*") and value == value.strip() and not SPECIAL & set(value)
    return value if plain else json.dumps(value, ensure_ascii=False)


def points(column: Quasi, rows: Sequence[int]) -> Row:
    """A member: the lower median of ordered values, else the most frequent value, ties by bytes (NULL first)."""
    if column.kind in ("number", "text"):
        code = sorted(column.codes[row] for row in rows)[(len(rows) + 1) // 2 - 1]
        return {column.name: column.domain[code - 1] if code else None}
    counts = Counter(column.values[row] for row in rows)
    return {column.name: min(counts, key=lambda v: (-counts[v], v is not None, (v or "").encode()))}


def suppressed(column: Quasi, rows: Sequence[int]) -> Row:
    """The value where the class agrees, else NULL."""
    agree = len({column.codes[row] for row in rows}) == 1
    row = {column.name: column.values[rows[0]] if agree else None}
    return {**row, f"{column.name}_suppressed": not agree} if column.has_null else row


def anything(column: Quasi, kind: str) -> Row:
    """A column of a starred class: any value of the domain, and NULL where the column holds NULLs."""
    name = column.name
    if kind == "labels":
        return {name: "*"}
    if kind == "suppressed":
        return {name: None} | ({f"{name}_suppressed": True} if column.has_null else {})
    names = (f"{name}_lo", f"{name}_hi") if column.kind in ("number", "text") else (name,)
    if column.has_null:
        return {**dict.fromkeys(names), f"{name}_null": "some"}
    if column.kind == "hierarchy":
        return {name: column.levels[0][-1]}
    if column.kind == "nominal":
        return {name: sorted(column.domain, key=str.encode)}
    return dict(zip(names, (column.domain[0], column.domain[-1]), strict=True))


def leveled(column: Quasi, rows: Sequence[int], kind: str, level: int) -> Row:
    """A column of a class at a level of its hierarchy; without hierarchy 0 is the value, 1 any."""
    values = [column.values[row] for row in rows if column.values[row] is not None]
    if column.kind != "hierarchy":
        return anything(column, kind) if level else FORMATS[kind](column, rows)
    if level >= len(column.levels[0]) - 1:
        root = column.levels[0][-1]
        whole = anything(column, kind)
        return (
            {column.name: root if root == "*" else quoted(root)} if kind == "labels" and not column.has_null else whole
        )
    if len(values) < len(rows) or (kind == "suppressed" and not level):
        return FORMATS[kind](column, rows)
    if kind == "suppressed":
        return anything(column, kind)
    (node,) = {column.tree.paths[value][level] for value in values}
    if kind == "labels":
        return {column.name: node if node == "*" else quoted(node)}
    return {column.name: node} | ({f"{column.name}_null": "none"} if column.has_null else {})


FORMATS: dict[str, Callable[[Quasi, Sequence[int]], Row]] = {
    "ranges": ranges,
    "labels": labels,
    "points": points,
    "suppressed": suppressed,
}


def covers(column: Quasi, value: Any, row: Row) -> bool:
    """Whether a released row of format ``ranges`` leaves the original value possible."""
    state = row.get(f"{column.name}_null", "none")
    if state == "some" and (value is None or row.get(f"{column.name}_lo") is None):
        return True
    if value is None or state == "all":
        return value is None and state == "all"
    if column.kind == "nominal":
        return value in row[column.name]
    if column.kind == "hierarchy":
        return row[column.name] in column.tree.paths[value]
    low, high = row[f"{column.name}_lo"], row[f"{column.name}_hi"]
    return bool(column.key(low) <= column.key(value) <= column.key(high))
