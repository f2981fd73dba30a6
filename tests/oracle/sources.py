"""Every source that is consistent with a tiny release, enumerated.

Bounds of a query must hold for them, as tightly as they claim.

The sources are side by side in one table with a number each, and the analyst's own SQL runs over all of them at once,
so that the engine says what the query means. Nothing here knows how the product rewrites queries.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from itertools import permutations, product
from typing import Any

import duckdb

Row = Mapping[str, Any]


def read(db: Any, view: str) -> tuple[list[Row], list[Row]]:
    """The released rows and the metadata, as dictionaries."""
    return rows_of(db, view), rows_of(db, f"{view}_metadata")


def rows_of(db: Any, name: str) -> list[Row]:
    """The rows of a table, as dictionaries."""
    schema, table = name.split(".")
    columns = [c.name for c in db.engine.relation(name).columns]
    listed = ", ".join(f'"{c}"' for c in columns)
    return [
        dict(zip(columns, row, strict=True)) for row in db.engine.fetch(f'SELECT {listed} FROM "{schema}"."{table}"')
    ]


def choices(row: Row, fact: Row, anything: Sequence[Any]) -> list[Any]:
    """The values that a row may have in one source column.

    Args:
        row: a released row.
        fact: the column's line of the metadata.
        anything: values that represent all of the type, where the release says nothing.
    """
    name, published = fact["column_name"], json.loads(fact["published"])
    if fact["role"] != "quasi":
        return [row[name]]
    declared = json.loads(fact["declared"]) if fact["declared"] else {}
    if fact["format"] == "labels":
        return _labelled(row[name], fact, declared, anything)
    wide = list(declared.get("leaves", declared.get("order", anything)))
    if fact["format"] == "points":
        return [*wide, None]
    if fact["format"] == "suppressed":
        flags = f"{name}_suppressed" in published
        if flags and row[f"{name}_suppressed"]:
            return [*wide, None]
        return wide if row[name] is None and not flags else [row[name]]
    nulls = row[f"{name}_null"] if f"{name}_null" in published else "none"
    beside = nulls == "some" and row.get(f"{name}_lo") is not None
    if nulls != "none" and not beside:
        return [None] if nulls == "all" else [*wide, None]
    if fact["kind"] == "ordered":
        return [*_between(row[f"{name}_lo"], row[f"{name}_hi"], declared, wide), *([None] if beside else [])]
    if fact["kind"] == "nominal":
        return list(row[name])
    nodes = [node for node in declared["nodes"] if node[3] == row[name]]
    return [declared["leaves"][i] for i in range(min(n[1] for n in nodes), max(n[1] + n[2] for n in nodes))]


def _between(low: Any, high: Any, declared: Mapping[str, Any], wide: list[Any]) -> list[Any]:
    """The values from one end to the other."""
    if "order" in declared:
        return wide[wide.index(low) : wide.index(high) + 1]
    if isinstance(low, int) and not isinstance(low, bool):
        return list(range(low, high + 1))
    return [v for v in (False, True) if low <= v <= high]


def _labelled(label: str, fact: Row, declared: Mapping[str, Any], anything: Sequence[Any]) -> list[Any]:
    """The values under a label of plain words and whole numbers."""
    if label in ("NULL", "*"):
        return [None] if label == "NULL" else [*declared.get("leaves", anything), None]
    if fact["kind"] == "nominal":
        return label.strip("{}").split(", ")
    if fact["kind"] == "hierarchy":
        first, leaves = next((n[1], n[2]) for n in declared["nodes"] if n[3] == label)
        return list(declared["leaves"][first : first + leaves])
    low, _, high = label.strip("[]").partition(", ")
    return list(range(int(low), int(high or low) + 1))


Way = list[tuple[Any, ...]]
"""What the source rows of one part of a release are in one source."""


def ways_of(rows: Sequence[Row], facts: Sequence[Row], anything: Mapping[str, Sequence[Any]]) -> list[list[Way]]:
    """The release's independent parts, and for each part the possible assignments of its source rows."""
    return [
        [[way] for way in product(*(choices(row, fact, anything.get(fact["column_name"], ())) for fact in facts))]
        for row in rows
    ]


def _attained(rows: Sequence[Row], facts: Sequence[Row]) -> list[tuple[list[int], int, list[Any]]]:
    """What the release says that each of its classes attains: the places of its rows, of a column, and the values.

    A class is the rows that are alike in everything that is published of the quasi columns. Of each column that the
    release lists, some row of the class has its low end, some row its high end, and of sets some row has each member;
    where some are NULL, one row at least is.
    """
    own = [fact for fact in facts if fact["column_name"]]
    whole = next(fact for fact in facts if not fact["column_name"])
    listed = json.loads(whole["published"]).get("attained", [])
    shown = [name for fact in own if fact["role"] == "quasi" for name in json.loads(fact["published"])]
    classes: dict[str, list[int]] = {}
    for at, row in enumerate(rows):
        classes.setdefault(repr([row[name] for name in shown]), []).append(at)
    found = []
    for members in classes.values():
        for place, fact in enumerate(own):
            name, row = fact["column_name"], rows[members[0]]
            state = row.get(f"{name}_null", "none")
            if name not in listed or state == "all":
                continue
            shown = row[name] if fact["kind"] == "nominal" else (row[f"{name}_lo"], row[f"{name}_hi"])
            ends = [value for value in shown or () if value is not None]
            ends += [None] if state == "some" else []
            found.append((members, place, list(dict.fromkeys(ends))))
    return found


def attaining(rows: Sequence[Row], facts: Sequence[Row], parts: Sequence[Sequence[Way]]) -> Callable[[int], bool]:
    """Whether a source has what the release says that each of its classes attains: a function of the source's number.

    Args:
        rows: the released rows.
        facts: the metadata, the release's own line among them.
        parts: ways of the rows in their order, as `ways_of` gave them, and others after them.
    """
    wanted = _attained(rows, facts)
    sizes = [math.prod(len(ways) for ways in parts[:at]) for at in range(len(parts))]

    def holds(sid: int) -> bool:
        return all(
            {parts[at][sid // sizes[at] % len(parts[at])][0][place] for at in members} >= set(ends)
            for members, place, ends in wanted
        )

    return holds


def attaining_first(rows: Sequence[Row], facts: Sequence[Row], parts: Sequence[list[Way]]) -> list[list[Way]]:
    """The ways of every row, in an order in which the first ways of all rows together are a source that attains all."""
    firsts: dict[int, dict[int, Any]] = {}
    for members, place, ends in _attained(rows, facts):
        for turn, at in enumerate(members):
            firsts.setdefault(at, {})[place] = ends[turn % len(ends)]

    def other(at: int, way: Way) -> bool:
        return any(way[0][place] != end for place, end in firsts.get(at, {}).items())

    return [sorted(ways, key=lambda way, at=at: other(at, way)) for at, ways in enumerate(parts)]  # type: ignore[misc]


Truth = dict[tuple[Any, ...], dict[int, tuple[Any, ...]]]


def only(truth: Truth, kept: frozenset[int]) -> Truth:
    """What a query gives in some of the sources."""
    some = {group: {sid: v for sid, v in own.items() if sid in kept} for group, own in truth.items()}
    return {group: own for group, own in some.items() if own}


def ways_of_groups(
    rows: Sequence[Row], counted: Sequence[Row], facts: Sequence[Row], sensitive: str
) -> list[list[list[tuple[Any, ...]]]]:
    """Format anatomy: each group's sensitive values in every order."""
    parts = []
    for group in sorted({row["group_id"] for row in rows}):
        mine = [row for row in rows if row["group_id"] == group]
        values = [v[sensitive] for v in counted if v["group_id"] == group for _ in range(v["count"])]
        parts.append(
            [
                [
                    tuple(value if f["column_name"] == sensitive else row[f["column_name"]] for f in facts)
                    for row, value in zip(mine, order, strict=True)
                ]
                for order in permutations(values)
            ]
        )
    return parts


def enumerate_sources(
    connection: duckdb.DuckDBPyConnection,
    types: Mapping[str, str],
    names: Sequence[str],
    parts: Sequence[Sequence[Sequence[tuple[Any, ...]]]],
    most: int = 20_000,
) -> int | None:
    """Fill table ``t`` with all consistent sources, column ``sid`` first, then ``part``, the number of a row's part.

    Returns how many, or None if they are too many.
    """
    count = math.prod(len(ways) for ways in parts)
    if count > most:
        return None
    connection.execute("DROP TABLE IF EXISTS t")
    defined = ", ".join(f'"{name}" {types[name]}' for name in names)
    connection.execute(f"CREATE TABLE t (sid INTEGER, part INTEGER, {defined})")
    # One table of ways a part, then the cross product by arithmetic on the source's number.
    columns = ", ".join(f'w."{name}"' for name in names)
    marks = ", ".join("?" for _ in range(len(names) + 1))
    size = 1
    for part, ways in enumerate(parts):
        connection.execute(f"CREATE OR REPLACE TABLE w (i INTEGER, {defined})")
        values = [(j, *row) for j, way in enumerate(ways) for row in way]
        connection.executemany(f"INSERT INTO w VALUES ({marks})", values)
        connection.execute(
            f"INSERT INTO t SELECT s.sid, {part}, {columns} FROM range({count}) AS s(sid) "
            f"JOIN w ON w.i = (s.sid // {size}) % {len(ways)}"
        )
        size *= len(ways)
    return count


def outcomes(
    connection: duckdb.DuckDBPyConnection, select: str, rest: str, keys: Sequence[str], having: str = ""
) -> dict[tuple[Any, ...], dict[int, tuple[Any, ...]]]:
    """The query's aggregates in every source: by group, then by source.

    Args:
        connection: where `enumerate_sources` filled ``t``.
        select: the aggregates.
        rest: what follows FROM t, up to GROUP BY.
        keys: the expressions of GROUP BY.
        having: what follows them.
    """
    grouped = ", ".join(["sid", *keys])
    listed = connection.execute(f"SELECT {grouped}, {select} FROM t {rest} GROUP BY {grouped} {having}").fetchall()
    found: dict[tuple[Any, ...], dict[int, tuple[Any, ...]]] = {}
    for row in listed:
        found.setdefault(tuple(row[1 : 1 + len(keys)]), {})[row[0]] = tuple(row[1 + len(keys) :])
    return found


def attainable(alone: Truth, kept: frozenset[int]) -> Truth:
    """What counts and sums give in every source, of the rows that are in a group of some source that is kept.

    Args:
        alone: what they give of each row by itself, the number of whose part is the first of the keys.
        kept: the sources that attain what the release says.
    """
    found: Truth = {}
    for (_, *group), own in alone.items():
        if kept.isdisjoint(own):
            continue
        mine = found.setdefault(tuple(group), {})
        for sid, values in own.items():
            mine[sid] = tuple(map(_added, mine[sid], values)) if sid in mine else values
    return found


def _added(one: Any, other: Any) -> Any:
    return other if one is None or isinstance(one, str) else one if other is None else one + other
