"""Limits of a query when the owner runs somebody else's text.

They are the policy's dimensions, and the tables that a role may read.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from sqlanon import policy
from sqlanon.errors import DatabaseError, PolicyError, UnsupportedError
from tests.engines import ENGINES

COUNT = "SELECT count(*) AS n FROM {t}"


def people(db: Any, **options: Any) -> str:
    """A release of 20 rows, one cost each; returns the name of its source."""
    name = f"w{uuid.uuid4().hex[:10]}"
    rows = [(20 + i, f"c{i % 2}", i) for i in range(20)]
    db.engine.load_rows(db.engine.target(name), [("age", "INTEGER"), ("ill", "TEXT"), ("cost", "INTEGER")], rows)
    db.anonymize(
        name,
        name=name,
        quasi="age",
        sensitive="ill",
        insensitive="cost",
        k=5,
        accept_unique="cost",
        **options,
    )
    return name


def table(db: Any, rows: list[tuple[Any, ...]]) -> str:
    """A table of illnesses."""
    name = f"w{uuid.uuid4().hex[:10]}"
    db.engine.load_rows(db.engine.target(name), [("ill", "TEXT"), ("organ", "TEXT")], rows)
    return name


def test_only_dimensions_of_the_policy_are_joined(shared_db: Any) -> None:
    db = shared_db
    kinds = table(db, [("c0", "lung"), ("c1", "skin")])
    name = people(db)
    for suffix, made in (
        ("copy", f"TABLE {name}_copy AS SELECT * FROM {name}"),
        ("seen", f"VIEW {name}_seen AS SELECT * FROM {name}"),
    ):
        db.engine.execute(f"CREATE {made}")
        linking = f"SELECT max(q.age) AS n FROM {name} AS p JOIN {name}_{suffix} AS q ON q.cost = p.cost"
        with pytest.raises(UnsupportedError, match="dimensions"):
            db.query(linking)
        assert db.query(linking, allow_linking=True).rows[0]["n"].high == 39
    for system, key in (
        ("pg_catalog.pg_namespace", "nspname"),
        ("information_schema.schemata", "schema_name"),
        (kinds, "ill"),
    ):
        with pytest.raises(UnsupportedError, match=r"dimensions|no table"):
            db.query(f"SELECT count(*) AS n FROM {name} AS p JOIN {system} AS q ON q.{key} = p.ill")
    assert db.query(f"{COUNT.format(t=name)} JOIN {kinds} USING (ill)", spec=spec_of(name, kinds)).rows[0]["n"].exact
    other = replace(spec_of("another", kinds), publish="release.another")
    with pytest.raises(UnsupportedError, match="dimensions"):  # the policy of another release
        db.query(f"{COUNT.format(t=name)} JOIN {kinds} USING (ill)", spec=other)


@pytest.mark.parametrize("type_", ["regclass", "regproc", "regrole", "regcollation", "oid", "public.mood"])
def test_no_cast_looks_a_name_up_in_the_catalog(connect: Any, type_: str) -> None:
    db = connect(ENGINES[2])
    name = people(db)
    for item in (f"'{name}'::{type_}", f"CAST(CAST(min(cost) AS {type_}) AS text)"):
        with pytest.raises(UnsupportedError, match=r"casts are to|of a schema"):
            db.query(f"SELECT {item} AS x, count(*) AS n FROM {name}")


def spec_of(name: str, *dimensions: str) -> Any:
    return policy.release(
        source=name,
        name=name,
        quasi="age",
        sensitive="ill",
        insensitive="cost",
        k=5,
        accept_unique="cost",
        dimensions=dimensions,
    )


def test_the_catalog_knows_the_dimensions_and_a_run_changes_them(shared_db: Any) -> None:
    db = shared_db
    kinds = table(db, [("c0", "lung"), ("c1", "skin")])
    name = people(db, dimensions=[kinds])
    query = f"SELECT organ, count(*) AS n FROM {name} JOIN {kinds} USING (ill) GROUP BY organ"
    assert [(row["organ"], row["n"].low) for row in db.query(query).rows] == [("lung", 10), ("skin", 10)]
    report = db.run(spec_of(name))
    assert report.version == 1  # a setting: it makes no new version
    with pytest.raises(UnsupportedError, match="dimensions"):
        db.query(query)
    db.run(replace(spec_of(name, kinds), refresh=replace(spec_of(name).refresh, every=86_400)), only_due=True)
    assert len(db.query(query).rows) == 2


def test_duckdb_has_no_roles(connect: Any) -> None:
    db = connect(ENGINES[0])
    with pytest.raises(UnsupportedError, match="has no roles"):
        db.query(COUNT.format(t=people(db)), role="anna")


@pytest.fixture
def role(connect: Any) -> Iterator[tuple[Any, str]]:
    """A PostgreSQL database and a role that may read nothing in it yet."""
    db = connect(ENGINES[2])
    name = f"r{uuid.uuid4().hex[:10]}"
    db.engine.execute(f"CREATE ROLE {name}")
    yield db, name
    db.engine.execute(f"DROP OWNED BY {name}; DROP ROLE {name}")


def test_a_role_asks_for_what_it_may_read_and_nothing_else(role: tuple[Any, str]) -> None:
    db, name = role
    kinds = table(db, [("c0", "lung"), ("c1", "skin")])
    closed = people(db, dimensions=[kinds])
    with pytest.raises(PolicyError, match=f"role {name} may not read"):
        db.query(COUNT.format(t=closed), role=name)
    source = people(db, dimensions=[kinds], readers=[name])
    assert db.query(COUNT.format(t=source), role=name).rows[0]["n"].exact
    joined = f"{COUNT.format(t=source)} JOIN {kinds} USING (ill)"
    for more in ({}, {"allow_linking": True}):
        with pytest.raises(DatabaseError, match="may not read a table"):
            db.query(joined, role=name, **more)
    db.engine.execute(f"GRANT SELECT ON {kinds} TO {name}")
    assert db.query(joined, role=name).rows[0]["n"].exact
    with pytest.raises(DatabaseError, match="no role nobody"):
        db.query(COUNT.format(t=source), role="nobody")
    # What was set for the role ends with the query, also with one that fails.
    (state,) = db.engine.fetch(
        "SELECT current_user = session_user, current_setting('statement_timeout'), "
        "current_setting('transaction_read_only')"
    )
    assert state == (True, "0", "off")


def test_a_role_has_a_read_only_transaction_and_little_time(role: tuple[Any, str]) -> None:
    db, name = role
    source = people(db, readers=[name])
    with db.engine.acting_as(name, 5), pytest.raises(DatabaseError):
        db.engine.execute("CREATE TEMPORARY TABLE IF NOT EXISTS kept AS SELECT 1 AS one; CREATE SCHEMA made")
    # Rewriting takes longer than the pause of the watcher, and no expression has more operators than it may.
    wide = ", ".join(f"count(*) FILTER (WHERE age > {i} OR cost + age < {i}) AS n{i}" for i in range(60))
    with pytest.raises(DatabaseError, match=r"took longer than 0\.001 seconds"):
        db.query(f"SELECT {wide} FROM {source}", role=name, seconds=0.001)
    member = f"m{uuid.uuid4().hex[:10]}"
    db.engine.execute(f"CREATE ROLE {member}")
    try:
        db.engine.execute(f"GRANT USAGE ON SCHEMA release TO {member}; SET SESSION AUTHORIZATION {member}")
        with pytest.raises(DatabaseError, match="may not act as"), db.engine.acting_as(name, 5):
            pass
    finally:
        db.engine.execute(f"RESET SESSION AUTHORIZATION; DROP OWNED BY {member}; DROP ROLE {member}")
