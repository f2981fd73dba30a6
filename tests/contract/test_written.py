"""Large tables: groups are counted by the scan that compares rows, by a hash. It hides no group, whatever collides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

import sqlanon
from sqlanon.engines.base import TableRef
from sqlanon.formats import Grouping, RecodedClasses
from sqlanon.release.verify import verify
from sqlanon.table.scratch import Scratch
from tests.contract.test_verify import (  # noqa: F401 - fixtures
    SHORT,
    on_physical,
    refused,
    reported,
    source,
    tampering,
)

PUBLISHED = [
    {"source": "r", "column": "lo", "name": "lo", "kind": "integer"},
    {"source": "s", "column": "s1", "name": "s", "kind": "text"},
    {"source": "r", "column": "set", "name": "set", "kind": "array"},
]
ROWS = [
    (1, "x", ["a"]),
    (1, "x", ["a"]),
    (1, "y", ["a", "b"]),
    (2, "y", None),
    (2, "x", None),
    (None, "y", []),
]


@pytest.fixture
def many(shared_db: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every table is a large one."""
    if not shared_db.engine.capabilities.groups_by_mark:
        pytest.skip("this engine groups by columns")
    monkeypatch.setattr(verify, "MANY_ROWS", 0)


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize("kind", ["ranges", "suppressed"])
def test_a_class_below_k(shared_db: Any, reported: Callable[..., Any], kind: str) -> None:  # noqa: F811
    report = reported(l=2).report
    assert (report.classes, report.min_class, report.max_class) == (3, 4, 4)
    assert "k: asked 4" in refused(shared_db, reported, lambda: reported(SHORT, format=kind))


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM {t} WHERE s = 'a' AND q_lo = 0",
        "UPDATE {t} SET q_hi = 11 WHERE s = 'a'",
        "UPDATE {t} SET s = CASE t WHEN 'x' THEN 'a' ELSE 'b' END WHERE q_lo = 0",
    ],
)
def test_a_physical_table_that_is_not_the_staged_one(
    shared_db: Any,
    reported: Callable[..., Any],  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    change: str,
) -> None:
    home = "sqlanon.release.publish.content"
    run = tampering(monkeypatch, reported, home, "verify_physical", on_physical(change))
    refused(shared_db, reported, run)


@pytest.mark.usefixtures("many")
def test_groups_of_other_columns_are_counted_by_those(
    reported: Callable[..., Any],  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(RecodedClasses, "grouping", lambda _, rows, *__: Grouping(rows, ()))
    assert reported().report.min_class == 12


@pytest.mark.parametrize("marks", ["apart", "equal classes", "collision"])
def test_groups_of_one_mark_are_not_one_group(marks: str) -> None:
    """Equal marks of classes that publish the same are right; of classes that do not they are not counted by."""
    with sqlanon.connect("duckdb:///:memory:") as db, Scratch(db.engine) as scratch:
        released, made = scratch.table("released"), scratch.table("marks")
        target = TableRef("main", "written_rows", db.engine.target("t").database)
        db.engine.execute("CREATE TABLE written_rows (lo INTEGER, s VARCHAR, set VARCHAR[])")
        for lo, s, values in ROWS:
            text = "NULL" if values is None else f"{values}::VARCHAR[]"
            db.engine.execute(f"INSERT INTO written_rows VALUES ({lo or 'NULL'}, '{s}', {text})")
        classes = sorted({(lo, str(values)) for lo, _, values in ROWS}, key=str)
        for at, (lo, text) in enumerate([*classes, *classes[:1]] if marks == "equal classes" else classes):
            mark = 7 if marks == "collision" and at < 2 else at % len(classes)
            values = "NULL" if text == "None" else text
            for table, columns in (
                (released, f"{lo or 'NULL'} AS lo, {values}::VARCHAR[] AS set, {at} AS _sqlanon_class"),
                (made, f"{at} AS class, {mark} AS mark"),
            ):
                exists = db.engine.exists(table)
                db.engine.execute(
                    f"INSERT INTO temp.{table.name} SELECT {columns}"
                    if exists
                    else f"CREATE TEMP TABLE {table.name} AS SELECT {columns}"
                )
        recoded: Any = SimpleNamespace(released=released, layout=SimpleNamespace(of_class=("lo", "set")))
        written, groups = verify.fingerprint_written(scratch, made, recoded, target, PUBLISHED)
        found = scratch.fetch("verify/fingerprint", target=target, published=PUBLISHED)[0]
        assert tuple(map(str, written)) == tuple(map(str, found))
        if marks == "collision":
            assert groups is None
            return
        assert groups is not None
        counted = db.engine.fetch(f"SELECT n FROM temp.{groups.table.name}")
        expected = Counter((lo, str(values)) for lo, _, values in ROWS)
        assert sorted(int(str(n)) for (n,) in counted) == sorted(expected.values())


def test_rows_that_exchange_values_are_seen_where_a_sum_of_hashes_would_not() -> None:
    """Of some classes DuckDB's hashes with either of two values differ by the same number."""
    published = [
        {"source": "r", "name": "lo", "kind": "integer"},
        {"source": "s", "column": "s", "name": "s", "kind": "text"},
    ]
    with sqlanon.connect("duckdb:///:memory:") as db, Scratch(db.engine) as scratch:
        pairs = db.engine.fetch(
            "SELECT MIN(d.lo), MAX(d.lo) FROM (SELECT r.lo AS lo, CAST(HASH(HASH(r.lo), 'flu') AS HUGEINT) - "
            "CAST(HASH(HASH(r.lo), 'cold') AS HUGEINT) AS by FROM RANGE(30000) AS r(lo)) AS d "
            "GROUP BY d.by HAVING COUNT(*) > 1"
        )
        target = TableRef("main", "exchanged", db.engine.target("t").database)
        for first, second in pairs[:3]:
            found = set()
            for values in (("flu", "cold"), ("cold", "flu")):
                db.engine.execute(
                    "CREATE OR REPLACE TABLE exchanged AS SELECT r.*, r.lo AS class, HASH(r.lo) AS mark "
                    f"FROM (VALUES ({first}::BIGINT, '{values[0]}'), ({second}::BIGINT, '{values[1]}')) AS r(lo, s)"
                )
                written = scratch.table("exchanged_rows")
                scratch.execute("verify/written", written=written, target=target, published=published, by_mark=False)
                sums = {
                    *scratch.fetch("verify/fingerprint", target=target, published=published),
                    *scratch.fetch("verify/staged", classed=target, marks=target, published=published, dense=False),
                    *db.engine.fetch(f"SELECT SUM(n)::BIGINT, SUM(total)::VARCHAR FROM temp.{written.name}"),
                }
                scratch.drop(written)
                assert len(sums) == 1
                found |= sums
            assert len(found) == 2


def test_a_source_whose_rows_exchanged_values_is_another_one() -> None:
    """Of some rows DuckDB's hashes with either of two values differ by the same number."""
    columns = [{"name": name, "as_text": False, "listed": False, "kind": "text"} for name in ("lo", "s")]
    with sqlanon.connect("duckdb:///:memory:") as db, Scratch(db.engine) as scratch:
        hashed = "CAST(HASH('secret', r.lo, '{}') AS HUGEINT)".format
        pairs = db.engine.fetch(
            f"SELECT MIN(d.lo), MAX(d.lo) FROM (SELECT r.lo AS lo, {hashed('flu')} - {hashed('cold')} AS by "
            "FROM RANGE(30000) AS r(lo)) AS d GROUP BY d.by HAVING COUNT(*) > 1"
        )
        assert pairs
        for first, second in pairs:
            found = []
            for values in (("flu", "cold"), ("cold", "flu")):
                db.engine.execute(
                    f"CREATE OR REPLACE TABLE exchanged AS SELECT * FROM (VALUES ({first}::BIGINT, '{values[0]}'), "
                    f"({second}::BIGINT, '{values[1]}')) AS r(lo, s)"
                )
                source = TableRef("main", "exchanged", db.engine.target("t").database)
                found += scratch.fetch(
                    "refresh/fingerprint", {"secret": "secret"}, source=source, columns=columns, texts=[]
                )
            assert len(set(found)) == 2
