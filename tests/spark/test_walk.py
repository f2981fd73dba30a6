"""The walk of a table on a real session of Spark, against DuckDB.

The same classes, the same release, the same answers.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sqlanon
from sqlanon.engines.base import Statement, TableRef
from sqlanon.errors import DatabaseError, LockedError, PolicyError
from sqlanon.release.divide.executor_blocks import BLOCKS_OF_PARTITION
from sqlanon.sqltext import statement
from sqlanon.table.scratch import Scratch
from tests.spark.tables import CANARY, ODD, QUASI, arrow, in_duckdb, load

pytestmark = pytest.mark.spark
OPTIONS: dict[str, Any] = {
    "quasi": QUASI,
    "sensitive": "diag",
    "identifiers": "name",
    "rest": "keep",
    "k": 3,
    "l": 2,
    "name": "typed",
    "method": "tree",
}


def rows(db: Any, view: str) -> Counter[tuple[str, ...]]:
    """What readers see, whatever its order; NaN is itself as a text."""
    return Counter(tuple(map(str, row)) for row in db.engine.fetch(f"SELECT * FROM {view}"))


def test_a_release_is_that_of_duckdb(session, events, monkeypatch):
    """One release, its classes made in executors, as a statement of Spark takes long.

    What is asked of releases is thorough.
    """
    table = arrow(80)
    load(session, table, "typed")
    few = OPTIONS | {"quasi": ("f", "m", "s"), "rest": "drop", "insensitive": [ODD]}
    with (
        in_duckdb(table, "typed") as known,
        sqlanon.connect(session, temporary=True, accept_shared=True) as db,
    ):
        db.engine.above, db.engine.block = 0, 1000
        fetched, fetch = set(), db.engine.fetch_arrays
        monkeypatch.setattr(
            db.engine, "fetch_arrays", lambda read, dtypes: fetched.add(read.name) or fetch(read, dtypes)
        )
        mine, theirs = (one.anonymize("typed", **few) for one in (db, known))
        # Of the rows nothing comes to this process.
        assert fetched <= {"table/domain_counts", "table/domain_positions"}
        assert mine.report.classes == theirs.report.classes > 10
        assert rows(db, "release.typed") == rows(known, "release.typed")
        assert mine.loss().ncp == pytest.approx(theirs.loss().ncp, rel=1e-12)
        assert not leftovers(db)
    shows_no_value(events)


def shows_no_value(events: Path) -> None:
    """The session's log of events has the statements, and no cell."""
    shown = "".join(path.read_text(errors="replace") for path in events.rglob("*") if path.is_file())
    assert "SparkListenerSQLExecutionStart" in shown
    assert "_stage" in shown
    assert CANARY not in shown


class Log:
    """What a session adds to its log of events."""

    def __init__(self, session: Any, events: Path) -> None:
        self._session, self._events = session, events
        self._sizes: dict[Path, int] = {}
        self.new()

    def new(self) -> str:
        """What was added since the last call."""
        self._session.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
        added = []
        for path in sorted(self._events.rglob("*")):
            if path.is_file():
                logged = path.read_bytes()
                added.append(logged[self._sizes.get(path, 0) :].decode(errors="replace"))
                self._sizes[path] = len(logged)
        return "".join(added)


@pytest.mark.thorough
def test_all_types_and_the_life_of_a_version(session, events):
    table = arrow(200)
    load(session, table, "lived")
    with (
        in_duckdb(table, "lived") as known,
        sqlanon.connect(session, temporary=True, accept_shared=True) as db,
    ):
        options = OPTIONS | {"name": "lived"}
        mine, theirs = (one.anonymize("lived", **options) for one in (db, known))
        assert mine.report.classes == theirs.report.classes > 10
        first = rows(db, "release.lived")
        assert first == rows(known, "release.lived")
        assert mine.audit().k == theirs.audit().k
        same_answers(
            db,
            known,
            "SELECT diag, count(*) AS n, avg(m) AS a FROM lived WHERE i < 10 AND b AND d < DATE '2004-01-01' GROUP BY "
            "diag ORDER BY diag",
        )
        same_answers(
            db,
            known,
            "SELECT diag, rank() OVER (ORDER BY count(*) DESC) AS r, 100.0 * count(*) / sum(count(*)) OVER () AS s, "
            "sum(count(*)) OVER (ORDER BY diag) AS t FROM lived WHERE i < 10 GROUP BY diag ORDER BY diag",
        )
        for key in ("s", "i", "floor(i / 3)"):
            same_answers(
                db,
                known,
                f"SELECT {key} AS g, count(*) AS n FROM lived WHERE i < 10 AND s IS NOT NULL GROUP BY {key} ORDER BY g "
                "NULLS FIRST",
            )
        assert [(one.release, one.version, one.status) for one in db.releases("lived")] == [("lived", 1, "published")]
        db.engine.above, db.engine.block = 0, 90
        again = db.anonymize("lived", **(options | {"k": 5}))
        assert again.report.version == 2
        assert least(db, "release.lived") >= 5
        assert any("2 blocks" in note for note in again.report.notes)
        assert rows(db, "release.lived") != first
        db.rollback("lived", allow_weaker=True)
        assert rows(db, "release.lived") == first
        db.unpublish("lived")
        assert not db.engine.fetch("SHOW TABLES IN release LIKE 'lived*'")
        assert not leftovers(db)
    shows_no_value(events)


def least(db: Any, view: str) -> int:
    """The rows of the smallest class that readers see."""
    table = db.engine.target(view)
    names = [column.name for column in db.engine.look_up([table]).columns(table)]
    shown = [name for name in names if name in QUASI or name.rpartition("_")[0] in QUASI]
    assert len(shown) > len(QUASI)
    picked = ", ".join(f"`{name}`" for name in shown)
    return min(Counter(map(repr, db.engine.fetch(f"SELECT {picked} FROM {view}"))).values())


def same_answers(db: Any, known: Any, query: str) -> None:
    """Estimates and bounds of Spark are those of DuckDB."""
    answered, expected = db.query(query), known.query(query)
    assert answered.rows
    for one, other in zip(answered.rows, expected.rows, strict=True):
        for name in answered.aggregates:
            for part in ("low", "high", "estimate"):
                mine, theirs = getattr(one[name], part), getattr(other[name], part)
                assert (mine is None) == (theirs is None)
                assert mine is None or float(mine) == pytest.approx(float(theirs))


def leftovers(db: Any) -> list[str]:
    """Tables of the private schema that no run should leave."""
    if not db.engine._session.catalog.databaseExists("_sqlanon"):
        return []
    names = [row[1] for row in db.engine.fetch("SHOW TABLES IN _sqlanon") if not row[2]]
    return [name for name in names if name.startswith(("_sqlanon_", "lock_"))]


def test_what_is_refused(session, tmp_path: Path):
    table = arrow(20)
    load(session, table, "few")
    with (
        sqlanon.connect(session, accept_shared=True) as db,
        pytest.raises(DatabaseError, match="temporary=true"),
    ):
        db.anonymize("few", **OPTIONS)
    with sqlanon.connect(session, temporary=True) as db:
        with pytest.raises(DatabaseError, match="accept_shared=true"):
            db.anonymize("few", **OPTIONS)
        with pytest.raises(DatabaseError, match="no table or view nothere"):
            db.engine.relation("nothere")
        with pytest.raises(PolicyError, match="too many parts"):
            db.engine.target("a.b.c.d")
        with pytest.raises(DatabaseError, match=r"no table or view elsewhere\.default\.few"):
            db.engine.relation("elsewhere.default.few")
        with pytest.raises(DatabaseError, match="converted") as failed:
            db.engine.fetch("SELECT CAST(name AS INT) FROM few")
        assert CANARY not in str(failed.value)
    with (
        sqlanon.connect(session, temporary=True, accept_shared=True) as db,
        pytest.raises(DatabaseError, match="is a path"),
    ):
        db.anonymize(f"{tmp_path}/x.parquet", **OPTIONS)
    assert not session.catalog.tableExists("release.few")


@pytest.mark.parametrize(("alone", "ranked"), [(False, False), (True, False), (False, True)])
def test_what_is_one_to_a_reader_is_in_one_file_in_order(session, alone, ranked):
    """Of classes that publish the same no file shows which is which, and of none the order in which rows were read.

    Spark divides what is large as often as it can here, and broadcasts nothing, or all of the classes.
    """
    divides = {
        "spark.sql.adaptive.enabled": "true",
        "spark.sql.shuffle.partitions": "6",
        "spark.sql.adaptive.advisoryPartitionSizeInBytes": "64b",
        "spark.sql.adaptive.coalescePartitions.minPartitionSize": "1b",
        "spark.sql.adaptive.skewJoin.skewedPartitionFactor": "1.0",
        "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes": "1b",
        "spark.sql.adaptive.forceOptimizeSkewedJoin": "true",
    }
    places = {0: 0, 1: 1, 2: 1, 3: 2, 4: 3, 5: 4, 6: 5, 7: 5}
    if alone:
        places = {one: 7 - one for one in places}
    values = [0.0, -0.0, None, float("nan"), 2.5, 1.5]
    looks = ["None", "-0.0", "0.0", "1.5", "2.5", "nan"]
    draw, stem = random.Random(6), f"stored_{'alone' if alone else 'ranked' if ranked else 'plain'}"
    drawn = [(one, draw.choice(values)) for one in places for _ in range(400 if one == 4 else 40)]
    classed = [(one, value, looks.index(str(value))) for one, value in drawn]
    released = [(one, 10 * place, place) for one, place in places.items()]
    made = session.createDataFrame(released, "_sqlanon_class int, f int, _sqlanon_place int")
    made.write.saveAsTable(f"{stem}_said")
    published = [
        {"source": "r", "column": "f", "name": "f", "kind": "integer", "rank": None, "bits": 0},
        {"source": "s", "column": "s1", "name": "t", "kind": "float", "rank": "a1" if ranked else None, "bits": 3},
    ]
    found = []
    orders, joins = (classed, draw.sample(classed, len(classed))), ("-1", "10m")
    for turn, (broadcast, order) in enumerate(itertools.product(joins, orders)):
        rows_of = session.createDataFrame(order, "class int, s1 double, a1 int").repartition(3)
        rows_of.write.saveAsTable(f"{stem}_of{turn}")
        with sqlanon.connect(session, temporary=True) as db:
            joined = {f"spark.sql{part}.autoBroadcastJoinThreshold": broadcast for part in ("", ".adaptive")}
            for key, value in (divides | joined).items():
                db.engine._session.conf.set(key, value)
            physical, of, said = map(db.engine.target, (f"{stem}{turn}", f"{stem}_of{turn}", f"{stem}_said"))
            options = {"physical": physical, "classed": of, "released": said, "published": published}
            db.engine.execute(statement("publish/table", "spark", **options, dense=False, alone=alone, repeated=[]))
            files: dict[str, list[tuple[int, str]]] = {}
            for file, f, t in db.engine.fetch(f"SELECT _metadata.file_name, f, t FROM {stem}{turn}"):
                files.setdefault(str(file), []).append((int(str(f)), str(t)))
        assert len(files) > 1
        stored = list(files.values())
        expected = Counter((10 * places[one], str(value)) for one, value in drawn)
        assert Counter(row for rows_in in stored for row in rows_in) == expected
        for rows_in in stored:
            assert rows_in == sorted(rows_in, key=lambda row: (row[0], looks.index(row[1])))
        shown = [f for rows_in in stored for f in {row[0] for row in rows_in}]
        assert len(shown) == len(set(places.values()))
        found.append(sorted(stored))
    assert found[0] == found[1]
    assert found[2] == found[3]


def test_what_another_session_has_written_is_read(session):
    """A session keeps lists of files: what it looks up it reads anew."""
    session.sql("CREATE TABLE shared USING parquet AS SELECT 1 AS n")
    count = "SELECT COUNT(*) FROM shared"
    with sqlanon.connect(session, temporary=True) as db:
        table = db.engine.target("shared")
        assert db.engine.fetch(count) == [(1,)]
        session.sql("INSERT INTO shared VALUES (2)")
        db.engine.look_up([table])
        assert db.engine.fetch(count) == [(2,)]
        session.sql("INSERT INTO shared VALUES (3)")
        assert db.engine.exists(table)
        assert db.engine.fetch(count) == [(3,)]


def test_a_view_of_a_run_has_columns_and_is_gone_with_it(session):
    """`plan` and persons measure a part of the staged rows: of all columns that the view of them has."""
    with sqlanon.connect(session, temporary=True, accept_shared=True) as db:
        with Scratch(db.engine) as scratch:
            view, missing = scratch.once("shown"), TableRef(None, "_sqlanon_missing")
            db.engine.execute(f"CREATE TEMPORARY VIEW {view.name} AS SELECT 1 AS a, 'x' AS b")
            found = db.engine.look_up([view, missing])
            assert [column.name for column in found.columns(view)] == ["a", "b"]
            assert missing not in found.relations
        assert not db.engine.exists(view)


def test_a_lock_is_one_runs(session):
    with (
        sqlanon.connect(session, temporary=True, accept_shared=True) as one,
        sqlanon.connect(session, temporary=True, accept_shared=True) as two,
    ):
        with one.engine.lock("release x"):
            with pytest.raises(LockedError), two.engine.lock("release x"):
                pass
            # Another session has taken over a lease that had run out: the first may not publish.
            two.engine._locks._is_alive = lambda _: False
            with two.engine.lock("release x"):
                with pytest.raises(LockedError, match="another one has taken over"):
                    one.engine._locks.check()
                # Nor may it drop what looks like the leftovers of a killed run, and is the other's.
                with pytest.raises(LockedError, match="another one has taken over"), one.engine.publishing():
                    pass
        with two.engine.lock("release x"):
            pass
        assert not [row for row in one.engine.fetch("SHOW TABLES IN _sqlanon") if row[1].startswith("lock_")]


@pytest.mark.thorough
def test_mondrian_below_levels_of_spark_is_that_of_duckdb(session):
    table = arrow(120)
    load(session, table, "levels")
    few = OPTIONS | {"quasi": ("i", "s"), "rest": "drop", "method": "mondrian", "name": "levels"}
    with (
        in_duckdb(table, "levels") as known,
        sqlanon.connect(session, temporary=True, accept_shared=True) as db,
    ):
        db.engine.above, db.engine.block = 0, 70 // BLOCKS_OF_PARTITION
        # Workers count what levels are cut by; the median's are cut by SQL.
        median = {"method": {"name": "mondrian", "cut": "median"}}
        for asked, execution in (({}, "kernel"), ({"sensitive": (), "l": None} | median, "pushdown+kernel")):
            options = few | asked
            mine, theirs = (one.anonymize("levels", allow_weaker=True, **options) for one in (db, known))
            assert mine.report.execution == execution
            assert mine.report.classes == theirs.report.classes > 10
            assert rows(db, "release.levels") == rows(known, "release.levels")
        assert not leftovers(db)


@pytest.mark.thorough
def test_a_task_that_fails_is_tried_again(session, tmp_path: Path):
    """What executors make is what they would have made at once.

    One that lacks a package is named, and no table is there.
    """
    read = Statement("numbers", "SELECT CAST(id AS INT) AS id, CAST(id % 3 AS INT) AS block FROM range(999)")
    failed = tmp_path / "failed"

    def sums(columns):
        return columns[0], np.cumsum(columns[0], dtype=np.int64)

    def at_second(columns):
        if not failed.exists():
            failed.touch()
            raise RuntimeError(CANARY)
        return sums(columns)

    def without(_columns):
        raise ModuleNotFoundError("No module named 'numba'")

    with sqlanon.connect(session, temporary=True, accept_shared=True) as db, db.engine.lock("release x"):
        made = {}
        for name, work in (("at_once", sums), ("again", at_second)):
            table = TableRef("_sqlanon", name, "spark_catalog")
            db.engine.map_arrays(read, work, table, [("id", "integer"), ("total", "bigint")], by="block")
            made[name] = sorted(db.engine.fetch(f"SELECT id, total FROM _sqlanon.{name}"))
        assert failed.exists()
        assert len(made["again"]) == 999
        assert made["again"] == made["at_once"]
        lacking = TableRef("_sqlanon", "lacking", "spark_catalog")
        with pytest.raises(DatabaseError, match="executors' Python has not what kernels need"):
            db.engine.map_arrays(read, without, lacking, [("id", "integer")])
        assert not db.engine.exists(lacking)
