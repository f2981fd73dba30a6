"""Random releases whose rows' boxes can be listed point by point.

What a row may be decides COUNT, up to many predicates.

A consistent source takes one point of every row's box, whichever it likes, so the least and the largest COUNT over all
sources are the numbers of rows whose points all qualify, and of those of which one does; no source need be built. Under
equally likely points the expected COUNT is the sum of the rows' shares.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import product
from typing import Any

import duckdb

from tests.oracle.handmade import Given, members, plain, quasi

LEAVES = ("x1", "x2", "y1", "y2")
NODES = {"*": LEAVES, "x": LEAVES[:2], "y": LEAVES[2:], **{leaf: (leaf,) for leaf in LEAVES}}
_DECLARED = {
    "leaves": list(LEAVES),
    "nodes": [[0, LEAVES.index(leaves[0]), len(leaves), label] for label, leaves in NODES.items()],
}
COLUMNS: tuple[Given, ...] = (
    quasi("a", "integer", "INTEGER", nulls=True),
    quasi("b", "integer", "INTEGER"),
    members("s"),
    Given("h", "quasi", "text", "TEXT", (("h", "TEXT"),), "hierarchy", _DECLARED),
    plain("d", "text", "TEXT", "sensitive"),
    plain("c", "integer", "INTEGER"),
)

Box = tuple[Sequence[Any], ...]


def boxes(rng: random.Random, count: int, *, nulls: bool = True) -> list[Box]:
    """The values that each row may have, column by column."""
    found: list[Box] = []
    for _ in range(count):
        low, first = rng.randint(0, 4), rng.randint(0, 4)
        found.append(
            (
                [None] if nulls and rng.random() < 0.2 else range(low, low + rng.randint(1, 4)),
                range(first, first + rng.randint(1, 4)),
                sorted(rng.sample("pqr", rng.randint(1, 3))),
                NODES[rng.choice(list(NODES))],
                [rng.choice(["flu", "hiv"])],
                [rng.choice([-2, 0, 1, 4, None])],
            )
        )
    return found


def cells(box: Box) -> list[str]:
    """A box as the SQL of a released row."""
    a, b, s, h, d, c = box
    none = list(a) == [None]
    label = next(label for label, leaves in NODES.items() if tuple(leaves) == tuple(h))
    listed = ", ".join(f"'{v}'" for v in s)
    return [
        "NULL" if none else str(a[0]),
        "NULL" if none else str(a[-1]),
        "'all'" if none else "'none'",
        str(b[0]),
        str(b[-1]),
        f"ARRAY[{listed}]",
        f"'{label}'",
        f"'{d[0]}'",
        "NULL" if c[0] is None else str(c[0]),
    ]


def load(connection: duckdb.DuckDBPyConnection, rows: Sequence[Box]) -> None:
    """Fill table ``points`` with every point of every row's box, column ``rid`` first."""
    connection.execute(
        "CREATE OR REPLACE TABLE points (rid INTEGER, a INTEGER, b INTEGER, s TEXT, h TEXT, d TEXT, c INTEGER)"
    )
    listed = [(rid, *point) for rid, box in enumerate(rows) for point in product(*box)]
    connection.executemany("INSERT INTO points VALUES (?, ?, ?, ?, ?, ?, ?)", listed)


def counts(connection: duckdb.DuckDBPyConnection, where: str) -> dict[str, tuple[float, int, int]]:
    """Expected, least and largest COUNT of rows that satisfy ``where``, by the exact column ``d``."""
    listed = connection.execute(
        "SELECT d, sum(share), count(*) FILTER (WHERE surely), count(*) FILTER (WHERE maybe) FROM ("
        f"SELECT rid, d, avg(CASE WHEN {where} THEN 1.0 ELSE 0.0 END) AS share, bool_and(({where}) IS TRUE) AS surely, "
        f"bool_or(({where}) IS TRUE) AS maybe FROM points GROUP BY rid, d) GROUP BY d"
    ).fetchall()
    return {row[0]: (row[1], row[2], row[3]) for row in listed if row[3]}
