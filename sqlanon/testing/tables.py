"""The tables that checks release: few rows, with NULLs, ties and columns of every kind."""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from sqlanon.database import Database
from sqlanon.engines.base import Row
from sqlanon.engines.rows import read_integer
from sqlanon.sqltext import identifier, statement

MARK = "mark"
"""The column with the number of each row, which is published as it is.

It leads from the rows of a class to the source.
"""
WHO = "who"
"""The column of persons."""


@dataclass(frozen=True, slots=True)
class SampleTable:
    """A table, and the policy of a release.

    Attributes:
        name: for messages.
        columns: names and SQL types; the first is `MARK`.
        rows: values.
        asked: arguments of `Database.anonymize`, without a method.
    """

    name: str
    columns: Mapping[str, str]
    rows: Sequence[Row]
    asked: Mapping[str, object] = field(default_factory=dict)

    def create(self, db: Database, order: Sequence[int] | None = None) -> str:
        """Make the table under a new name, its rows in this order; returns the name."""
        name = f"checked_{uuid.uuid4().hex[:10]}"
        table = db.engine.target(identifier(name))
        order = range(len(self.rows)) if order is None else order
        db.engine.load_rows(table, list(self.columns.items()), [self.rows[place] for place in order])
        return name

    def values(self, column: str) -> dict[int, Hashable]:
        """The values of a column, by `MARK`."""
        place = list(self.columns).index(column)
        return {read_integer(row[0]): row[place] for row in self.rows}


def published_rows(db: Database, name: str) -> list[dict[str, object]]:
    """The rows of the view ``release.<name>``, arrays as tuples."""
    view = db.engine.relation(f"release.{identifier(name)}")
    names = [column.name for column in view.columns]
    listed = [{"name": name, "as_text": False} for name in names]
    rows = db.engine.fetch(statement("audit/all_rows", db.engine.dialect, target=view.ref, columns=listed))
    return [{name: _to_plain(value) for name, value in zip(names, row, strict=True)} for row in rows]


def _to_plain(value: object) -> object:
    return tuple(sorted(map(str, value))) if isinstance(value, list | tuple) else value


def _table(
    name: str, columns: Mapping[str, str], draw: Callable[[random.Random], Row], rows: int, **arguments: object
) -> SampleTable:
    rng = random.Random(name)  # noqa: S311 - not a secret
    rows_drawn = [(index, *draw(rng)) for index in range(rows)]
    arguments = {"insensitive": MARK, "accept_unique": MARK, "rest": "drop", "seed": 7, **arguments}
    return SampleTable(name, {MARK: "INTEGER", **columns}, rows_drawn, arguments)


TABLES = (
    _table(
        "numbers and texts",
        {"age": "INTEGER", "sex": "TEXT", "weight": "DOUBLE PRECISION", "ill": "TEXT"},
        lambda r: (
            r.choice([None, 18, 20, 20, 31, 47, 90]),
            r.choice(["m", "f", "f", None]),
            r.choice([-0.0, 0.0, 1.5, -2.25, None]),
            r.choice(["flu", "flu", "cold", "ulcer", None]),
        ),
        34,
        quasi=["age", "sex", "weight"],
        sensitive="ill",
        k=3,
    ),
    _table(
        "ties",
        {"one": "INTEGER", "a": "INTEGER", "b": "BIGINT"},
        lambda r: (7, r.choice([1, 1, 1, 2]), r.choice([1, 1, 3])),
        41,
        quasi=["one", "a", "b"],
        k=5,
    ),
    _table(
        "one column",
        {"x": "INTEGER", "s": "TEXT"},
        lambda r: (r.choice([None, r.randint(0, 9), r.randint(0, 10**6)]), r.choice("abcde")),
        30,
        quasi="x",
        sensitive="s",
        k=4,
        l=2,
    ),
    _table(
        "two sensitive columns",
        {"p": "INTEGER", "q": "TEXT", "s": "TEXT", "t": "INTEGER"},
        lambda r: (r.randint(0, 20), r.choice("pqrs"), r.choice("aabcd"), r.choice([1, 1, 2, 3, None])),
        44,
        quasi=["p", "q"],
        sensitive=["s", "t"],
        k=3,
        distinct_l=2,
    ),
    _table(
        "as many rows as k",
        {"x": "INTEGER", "y": "INTEGER"},
        lambda r: (r.randint(0, 9), r.randint(0, 9)),
        6,
        quasi=["x", "y"],
        k=6,
    ),
)
"""Requirements for the checks of methods.

A method whose declaration refuses one is checked with the others.
"""

VISITS = _table(
    "visits",
    {"q": "INTEGER", "w": "TEXT", "s": "INTEGER", WHO: "INTEGER"},
    lambda r: (r.randrange(9), r.choice("pq"), r.choices([1, 2, 3, 4, None], [4, 3, 3, 3, 2])[0], r.randrange(30)),
    90,
    quasi=["q", "w"],
    sensitive="s",
    k=3,
)
"""Tables for requirements: persons have several rows."""
