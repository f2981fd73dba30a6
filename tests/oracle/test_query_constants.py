"""Constants of every type against columns of every type.

Counts are those that the engine itself gives over exact values.
"""

from __future__ import annotations

import random
import uuid
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sqlanon.errors import DatabaseError, UnsupportedError
from tests.oracle.handmade import publish, quasi
from tests.properties.strategies import FEW

VALUES = {
    "SMALLINT": ("0", "1", "2", "3", "-1", "128"),
    "INTEGER": ("0", "1", "2", "16777216", "16777217", "16777218", "-16777217"),
    "BIGINT": ("0", "3", "9007199254740992", "9007199254740993", "9007199254740994", "16777217"),
    "DECIMAL(5,2)": ("0.10", "0.11", "0.3", "0.33", "1", "2.5", "-0.10"),
    "DECIMAL(20,10)": ("0.1", "0.1000000001", "0.1000000015", "0.1000000149", "1.5", "16777217.5"),
    "DECIMAL(38,18)": ("0.1", "0.100000000000000001", "0.100000000000000002", "0.30000000000000004"),
    "REAL": ("0.1", "0.3", "1.5", "16777216", "3"),
    "DOUBLE PRECISION": ("0.1", "0.3", "0.30000000000000004", "1.5", "16777217", "9007199254740993"),
}
KINDS = {
    "SM": "integer",
    "IN": "integer",
    "BI": "integer",
    "DE": "decimal",
    "RE": "float",
    "DO": "float",
    "DA": "date",
    "TI": "timestamp",
}
FORMS = (
    "{}",
    "{}",
    "{}e0",
    "CAST({} AS REAL)",
    "CAST({} AS REAL)",
    "CAST({} AS DOUBLE PRECISION)",
    "CAST({} AS DECIMAL(38,17))",
    "'{}'",
    "CAST({} AS REAL) * 3",
    "{} + 0.01",
)
TIMES = {
    "DATE": ("2024-01-01", "2024-01-02", "2024-02-01"),
    "TIMESTAMP": ("2024-01-01 00:00:00", "2024-01-01 12:00:00.5", "2024-01-02 00:00:00"),
    "TIMESTAMP WITH TIME ZONE": (
        "2024-01-01 00:00:00+00",
        "2024-01-01 12:00:00.5+00",
        "2024-01-02 00:00:00+00",
    ),
}
TIME_FORMS = (
    "DATE '{}'",
    "TIMESTAMP '{}'",
    "'{}'",
    "CAST('{}' AS TIMESTAMP WITH TIME ZONE)",
    "TIMESTAMP '{}' + INTERVAL '1 hour'",
)


def table(db: Any, sql_type: str, kind: str, values: tuple[str, ...]) -> str:
    """A release of one row a value, which it shows exactly."""
    name = f"c{uuid.uuid4().hex[:10]}"
    shown = {"REAL": "FLOAT", "DOUBLE PRECISION": "DOUBLE"}.get(sql_type, sql_type)
    own = quasi("q", kind, shown if db.engine.dialect == "duckdb" else sql_type.lower().replace("decimal", "numeric"))
    own = type(own)(
        own.name, own.role, own.kind, own.type, tuple((n, sql_type) for n, _ in own.published), own.treatment
    )
    publish(db, name, [own], [[f"CAST('{value}' AS {sql_type})"] * 2 for value in values])
    return name


@FEW
@given(seed=st.integers(0, 2**32))
def test_a_column_is_compared_as_the_source_would(shared_db: Any, seed: int) -> None:
    rng = random.Random(seed)
    for listed, forms in ((VALUES, FORMS), (VALUES, FORMS), (TIMES, TIME_FORMS)):
        sql_type = rng.choice(list(listed))
        name = table(shared_db, sql_type, KINDS[sql_type[:2]], listed[sql_type])
        others = [v for values in listed.values() for v in values]
        texts = [rng.choice(forms).format(rng.choice([*listed[sql_type] * 3, *others])) for _ in range(8)]
        found = []
        for where in [f"q {rng.choice(['=', '<>', '<', '<=', '>', '>='])} {text}" for text in texts]:
            try:
                found.append((where, truth(shared_db, name, [where])[0]))
            except DatabaseError:
                continue  # the engine does not compare these
        check(shared_db, name, found)


def truth(db: Any, name: str, predicates: list[str]) -> tuple[Any, ...]:
    counts = ", ".join(f"count(*) FILTER (WHERE {where})" for where in predicates)
    return tuple(db.engine.fetch(f"SELECT {counts} FROM (SELECT q_lo AS q FROM release.{name}) AS t")[0])


def check(db: Any, name: str, found: list[tuple[str, Any]]) -> None:
    """All at once; one by one where the product refuses one of them, which it may for its type only."""
    if not found:
        return
    counts = ", ".join(f"count(*) FILTER (WHERE {where}) AS n{i}" for i, (where, _) in enumerate(found))
    try:
        row = db.query(f"SELECT {counts} FROM {name}").rows[0]
    except UnsupportedError as error:
        assert "compared with a constant of its own type" in str(error)  # noqa: PT017
        for one in found if len(found) > 1 else ():
            check(db, name, [one])
        return
    for i, (where, expected) in enumerate(found):
        assert (row[f"n{i}"].low, row[f"n{i}"].high) == (expected, expected), where
