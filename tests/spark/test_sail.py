"""Sail, a server of Spark Connect in Rust: tables are audited, risks measured and releases queried; runs are refused.

It needs a client that it takes: pip install --no-deps --require-hashes --target DIR -r requirements/sail.txt, and
PYTHONPATH=DIR.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import pytest

import sqlanon
from sqlanon import policy

MISSING = "pysail is not installed" if find_spec("pysail") is None else None
ROLES: dict[str, Any] = {"quasi": ["age", "zip"], "sensitive": "disease", "identifiers": "name", "k": 4}
COLUMNS = [("name", "VARCHAR"), ("age", "INTEGER"), ("zip", "INTEGER"), ("disease", "VARCHAR")]
ROWS = [(f"p{i}", 20 + i % 30, i % 7, f"d{i % 5}") for i in range(200)]

pytestmark = [
    pytest.mark.skipif(MISSING is not None, reason=MISSING or ""),
    pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning"),
]


@pytest.fixture(scope="module")
def duckdb() -> Iterator[sqlanon.Database]:
    """The same rows in DuckDB, with a release of them."""
    with sqlanon.connect("duckdb:///:memory:") as db:
        db.engine.load_rows(db.engine.target("people"), COLUMNS, ROWS)
        db.anonymize("people", method="tree", **ROLES)
        yield db


@pytest.fixture(scope="module")
def sail(duckdb: sqlanon.Database, tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlanon.Database]:
    """A server with the rows, and with the release as DuckDB made it."""
    from pysail.spark import SparkConnectServer
    from pyspark.sql import SparkSession

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("sail"))  # where it writes tables
        server = SparkConnectServer("127.0.0.1", 0)
        server.start(background=True)
        _, port = server.listening_address
        builder: Any = SparkSession.builder.remote(f"sc://127.0.0.1:{port}")
        session = builder.create()
        try:
            _skip_other_clients(session)
            _fill(session, duckdb)
            with sqlanon.connect(session, accept_shared=True, temporary=True) as db:
                yield db
        finally:
            session.stop()
            server.stop()


def _skip_other_clients(session: Any) -> None:
    try:
        assert session.version
    except Exception as error:
        if "unsupported PySpark version" in str(error):
            pytest.skip(f"pysail {version('pysail')} takes no pyspark of this version; requirements/sail.txt has one")
        raise


def _fill(session: Any, duckdb: sqlanon.Database) -> None:
    session.sql("CREATE TABLE people (name STRING, age INT, zip INT, disease STRING)")
    values = ", ".join(f"('{name}', {age}, {zip_code}, '{disease}')" for name, age, zip_code, disease in ROWS)
    session.sql(f"INSERT INTO people VALUES {values}")
    session.sql("CREATE SCHEMA release")
    for table in ("people", "people_metadata"):
        columns = [column.name for column in duckdb.engine.relation(f"release.{table}").columns]
        rows = duckdb.engine.fetch(f"SELECT {', '.join(columns)} FROM release.{table}")
        kinds = ("int" if name.endswith(("_lo", "_hi")) else "string" for name in columns)
        schema = ", ".join(f"{name} {kind}" for name, kind in zip(columns, kinds, strict=True))
        session.createDataFrame(rows, schema).write.saveAsTable(f"release.{table}")


def test_a_table_is_audited(sail: sqlanon.Database, duckdb: sqlanon.Database) -> None:
    for table, quasi in (("people", ["age", "zip"]), ("release.people", ["age_lo", "age_hi", "zip_lo", "zip_hi"])):
        here, there = (db.audit(table, quasi=quasi, sensitive="disease") for db in (sail, duckdb))
        for name in ("rows", "classes", "k", "max_class", "unique_rows", "average_risk"):
            assert getattr(here, name) == getattr(there, name), name


def test_the_risk_is_measured(sail: sqlanon.Database, duckdb: sqlanon.Database) -> None:
    here, there = (db.assess("people", quasi=["zip"], sensitive=["disease"]) for db in (sail, duckdb))
    assert here.prosecutor == there.prosecutor
    assert here.models == there.models
    found = [db.find_quasi("people") for db in (sail, duckdb)]
    assert found[0].sets == found[1].sets


@pytest.mark.parametrize(
    "query",
    [
        "SELECT COUNT(*) AS n, AVG(age) AS a, SUM(zip) AS z FROM release.people WHERE zip BETWEEN 1 AND 4",
        "SELECT disease, COUNT(*) AS n FROM release.people WHERE age > 30 GROUP BY disease ORDER BY disease",
        "SELECT COUNT(*) AS n FROM release.people WHERE age < 40",
    ],
)
def test_a_release_is_queried(sail: sqlanon.Database, duckdb: sqlanon.Database, query: str) -> None:
    here, there = (db.query(query) for db in (sail, duckdb))
    assert here.columns == there.columns
    assert len(here.rows) == len(there.rows)
    for ours, theirs in zip(here.rows, there.rows, strict=True):
        for name in here.columns:
            if isinstance(ours[name], sqlanon.Bounded):
                for end in ("estimate", "low", "high"):
                    assert float(getattr(ours[name], end)) == pytest.approx(float(getattr(theirs[name], end)))
            else:
                assert ours[name] == theirs[name]


def test_a_query_that_the_server_cannot_plan_is_one_error(sail: sqlanon.Database) -> None:
    with pytest.raises(sqlanon.DatabaseError, match="the query has no answer here"):
        sail.query("SELECT COUNT(*) AS n FROM release.people WHERE disease = 'd1' AND age < 40")


def test_what_the_server_lacks_is_named(sail: sqlanon.Database) -> None:
    with pytest.raises(sqlanon.DatabaseError) as refused:
        sail.query("SELECT zip, COUNT(*) AS n FROM release.people GROUP BY zip")
    assert "this server lacks the call OuterReferenceColumn" in str(refused.value.__cause__)
    spec = policy.release(source="people", publish="release.others", method="tree", **ROLES)
    assert sail.plan(spec).rows == len(ROWS)
    with pytest.raises(sqlanon.DatabaseError, match="this server lacks the call TBLPROPERTIES"):
        sail.run(spec)
    assert sail.releases() == ()
