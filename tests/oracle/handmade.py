"""Releases written by hand: a view and its metadata with rows that a test states, and no run behind them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Given:
    """A source column.

    Its role, its treatment ("" unless quasi), kind and type, and the published columns with types.
    """

    name: str
    role: str
    kind: str
    type: str
    published: tuple[tuple[str, str], ...]
    treatment: str = ""
    declared: dict[str, Any] = field(default_factory=dict)


def quasi(name: str, kind: str, type_: str, *, nulls: bool = False, mean: bool = False) -> Given:
    """An ordered quasi column of format ranges."""
    published = [(f"{name}_lo", type_), (f"{name}_hi", type_)]
    published += [(f"{name}_mean", "DOUBLE PRECISION")] if mean else []
    published += [(f"{name}_null", "TEXT")] if nulls else []
    return Given(name, "quasi", kind, type_, tuple(published), "ordered")


def members(name: str) -> Given:
    """A nominal quasi column of format ranges."""
    return Given(name, "quasi", "text", "TEXT", ((name, "TEXT[]"),), "nominal")


def plain(name: str, kind: str, type_: str, role: str = "insensitive") -> Given:
    """A column that is published as it is."""
    return Given(name, role, kind, type_, ((name, type_),))


def publish(
    db: Any,
    name: str,
    columns: Sequence[Given],
    rows: Sequence[Sequence[str]],
    kind: str = "ranges",
    attained: Sequence[str] = (),
    facts: Mapping[str, Any] | None = None,
) -> None:
    """Write ``release.name`` and its metadata.

    Cells are SQL, ``attained`` columns whose ends some rows have, ``facts`` further ones of the metadata.
    """
    run = db.engine.execute
    run("CREATE SCHEMA IF NOT EXISTS release")
    listed = ", ".join(f'"{column}" {type_}' for given in columns for column, type_ in given.published)
    run(f"CREATE TABLE release.{name} ({listed})")
    run(f"INSERT INTO release.{name} VALUES " + ", ".join(f"({', '.join(row)})" for row in rows))
    collations = {given.name: 'pg_catalog."default"' for given in columns if given.kind == "text"}
    listed_facts: dict[str, Any] = {"types": {given.name: given.kind for given in columns}, "collations": collations}
    listed_facts |= {"attained": list(attained)} if attained else {}
    lines = [("", "release", "", kind, "", json.dumps(listed_facts | dict(facts or {})), None)]
    lines += [
        (
            g.name,
            g.role,
            g.treatment,
            kind,
            g.type,
            json.dumps([c for c, _ in g.published]),
            json.dumps(g.declared) if g.declared else None,
        )
        for g in columns
    ]
    names = ("column_name", "role", "kind", "format", "source_type", "published", "declared")
    run(f"CREATE TABLE release.{name}_metadata ({', '.join(f'{n} TEXT' for n in names)})")
    for line in lines:
        cells = ", ".join("NULL" if cell is None else "'" + cell.replace("'", "''") + "'" for cell in line)
        run(f"INSERT INTO release.{name}_metadata VALUES ({cells})")
