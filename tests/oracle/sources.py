"""Every source that is consistent with a tiny release, enumerated: what bounds of a query must hold for, and how tightly.

The sources stand side by side in one table with a number each, and the analyst's own SQL runs over all of them at once, so
that the engine says what the query means. Nothing here knows how the product rewrites queries.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any

import duckdb

Row = Mapping[str, Any]


def read(db: Any, view: str) -> tuple[list[Row], list[Row]]:
    """The released rows and the metadata, as dictionaries."""

    def rows(name: str) -> list[Row]:
        schema, table = name.split(".")
        columns = [c.name for c in db.engine.relation(name).columns]
        listed = ", ".join(f'"{c}"' for c in columns)
        return [
            dict(zip(columns, row, strict=True))
            for row in db.engine.fetch(f'SELECT {listed} FROM "{schema}"."{table}"')
        ]

    return rows(view), rows(f"{view}_metadata")


def choices(row: Row, fact: Row, anything: Sequence[Any]) -> list[Any]:
    """The values that a row may have in one source column.

    Args:
        row: a released row.
        fact: the column's line of the metadata.
        anything: values that stand for all of the type, where the release says nothing.
    """
    name, published = fact["column_name"], json.loads(fact["published"])
    if fact["role"] != "quasi":
        return [row[name]]
    declared = json.loads(fact["declared"]) if fact["declared"] else {}
    wide = list(declared.get("leaves", declared.get("order", anything)))
    if fact["format"] == "points":
        return [*wide, None]
    if fact["format"] == "suppressed":
        flags = f"{name}_suppressed" in published
        if flags and row[f"{name}_suppressed"]:
            return [*wide, None]
        return wide if row[name] is None and not flags else [row[name]]
    nulls = row[f"{name}_null"] if f"{name}_null" in published else "none"
    if nulls != "none":
        return [None] if nulls == "all" else [*wide, None]
    if fact["kind"] == "ordered":
        low, high = row[f"{name}_lo"], row[f"{name}_hi"]
        if "order" in declared:
            return wide[wide.index(low) : wide.index(high) + 1]
        return (
            list(range(low, high + 1))
            if isinstance(low, int) and not isinstance(low, bool)
            else [v for v in (False, True) if low <= v <= high]
        )
    if fact["kind"] == "nominal":
        return list(row[name])
    nodes = [node for node in declared["nodes"] if node[3] == row[name]]
    return [declared["leaves"][i] for i in range(min(n[1] for n in nodes), max(n[1] + n[2] for n in nodes))]


def enumerate_sources(
    connection: duckdb.DuckDBPyConnection, types: Mapping[str, str], rows: Sequence[Row], facts: Iterable[Row],
    anything: Mapping[str, Sequence[Any]], most: int = 60_000,
) -> int | None:  # fmt: skip
    """Fill table ``t`` with all consistent sources, column ``sid`` first; returns how many, or None if they are too many."""
    own = [fact for fact in facts if fact["column_name"]]
    names = [fact["column_name"] for fact in own]
    per_row = [
        list(product(*(choices(row, fact, anything.get(fact["column_name"], ())) for fact in own)))
        for row in rows
    ]
    count = 1
    for ways in per_row:
        count *= len(ways)
    if count > most:
        return None
    connection.execute("DROP TABLE IF EXISTS t")
    defined = ", ".join(f'"{name}" {types[name]}' for name in names)
    connection.execute(f"CREATE TABLE t (sid INTEGER, {defined})")
    # One table of ways a row, then the cross product by arithmetic on the source's number.
    columns = ", ".join(f'w."{name}"' for name in names)
    marks = ", ".join("?" for _ in range(len(names) + 1))
    size = 1
    for ways in per_row:
        connection.execute(f"CREATE OR REPLACE TABLE w (i INTEGER, {defined})")
        connection.executemany(f"INSERT INTO w VALUES ({marks})", [(j, *way) for j, way in enumerate(ways)])
        connection.execute(
            f"INSERT INTO t SELECT s.sid, {columns} FROM range({count}) AS s(sid) JOIN w ON w.i = (s.sid // {size}) % {len(ways)}"
        )
        size *= len(ways)
    return count


def outcomes(
    connection: duckdb.DuckDBPyConnection, select: str, rest: str, keys: Sequence[str]
) -> dict[tuple[Any, ...], dict[int, tuple[Any, ...]]]:
    """The query's aggregates in every source: by group, then by source.

    Args:
        connection: where `enumerate_sources` filled ``t``.
        select: the aggregates.
        rest: what stands after FROM t, up to GROUP BY.
        keys: the expressions of GROUP BY.
    """
    grouped = ", ".join(["sid", *keys])
    listed = connection.execute(f"SELECT {grouped}, {select} FROM t {rest} GROUP BY {grouped}").fetchall()
    found: dict[tuple[Any, ...], dict[int, tuple[Any, ...]]] = {}
    for row in listed:
        found.setdefault(tuple(row[1 : 1 + len(keys)]), {})[row[0]] = tuple(row[1 + len(keys) :])
    return found
