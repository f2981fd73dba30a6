"""Views replaced one after the other, any statement of which may be the last: readers see one version in all of them.

Only `commit`, `point` and `take_back` run, on tables written by hand, so that every way in which columns change is
tried.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

import duckdb
import pytest

from sqlanon.engines.base import TableRef
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.metadata import COLUMNS
from sqlanon.release.publish import two_phase
from sqlanon.sqltext import statement
from tests.engines import PAIR
from tests.weakest import Lost, WeakestEngine, weakest

ONE = "age INTEGER, sex TEXT"
SHAPES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "the same": ((ONE,), (ONE,)),
    "other names": ((ONE,), ("age_low INTEGER, age_high INTEGER, sex TEXT",)),
    "one more": ((ONE,), (f"{ONE}, illness TEXT",)),
    "one less": ((ONE,), ("age INTEGER",)),
    "another type": ((ONE,), ("age TEXT, sex TEXT",)),
    "an array": ((ONE,), ("age INTEGER, sex TEXT[]",)),
    "values listed": (("age INTEGER, sex ENUM ('f', 'm')",), ("age INTEGER, sex ENUM ('f', 'm', 'x')",)),
    "another order": (("a INTEGER, b INTEGER, c INTEGER",), ("a INTEGER, c INTEGER, b INTEGER",)),
    "order and types": (("a INTEGER, b TEXT",), ("b INTEGER, a TEXT",)),
    "other spelling": ((ONE,), ("Age INTEGER, SEX TEXT",)),
    "quoted names": (('"a""b" INTEGER, "SELECT" TEXT',), ('"a b" INTEGER, "SELECT" TEXT',)),
    "pair": ((ONE, ONE), (ONE, ONE)),
    "pair whose rows change": ((ONE, ONE), ("age TEXT", ONE)),
    "pair whose counts change": ((ONE, ONE), (ONE, "age TEXT")),
    "pair that changes": ((ONE, ONE), ("age TEXT", "years TEXT")),
    "second view comes, others change": ((ONE,), ("age INTEGER", ONE)),
    "second view comes": ((ONE,), (ONE, ONE)),
    "second view goes, others change": ((ONE, ONE), ("age INTEGER",)),
    "second view goes": ((ONE, ONE), (ONE,)),
}
"""Columns of the views before and after, the public one first."""
VIEWS = ("release.people", "release.people_sensitive")


class Place:
    """Two versions in a database in memory, the second with twice the rows of the first, which readers have."""

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, shapes: tuple[tuple[str, ...], tuple[str, ...]], rows: int
    ) -> None:
        self.sql, self.connection, self.shapes = connection.execute, connection, shapes
        self.sql("CREATE SCHEMA _sqlanon; CREATE SCHEMA release")
        for version, shape in enumerate(shapes, 1):
            name = f"_sqlanon.people_v{version}"
            for table, columns in zip((name, f"{name}_sensitive"), shape, strict=False):
                self.sql(f"CREATE TABLE {table} ({columns})")
                self.sql(
                    f"INSERT INTO {table} BY POSITION SELECT NULL{', NULL' * (len(self.columns(table)) - 1)} FROM "
                    f"range({rows * version})"
                )
            self.sql(f"CREATE TABLE {name}_metadata ({', '.join(map(' '.join, COLUMNS))})")
            facts = json.dumps({"release": "people", "version": version})
            self.sql(f"INSERT INTO {name}_metadata (column_name, published) VALUES ('', '{facts}'), ('age', '[]')")
        self.before, self.after = (self.entry(version) for version in (1, 2))
        self.calm = self.engine()
        two_phase.point_views(self.calm, self.before, None)

    def entry(self, version: int) -> Entry:
        report = {"published_sensitive": VIEWS[1] if len(self.shapes[version - 1]) > 1 else None}
        status = "published" if version == 1 else "pending"
        return Entry(
            "people",
            version,
            status,
            "release",
            "people",
            None,
            f"people_v{version}",
            "people",
            {},
            "",
            report,
            "",
            "",
            "",
            database="memory",
        )

    def engine(self) -> WeakestEngine:
        return weakest(self.connection)

    def columns(self, table: str) -> list[tuple[str, str]]:
        if not self.there(table):
            return []
        return [(str(row[0]).lower(), str(row[1])) for row in self.sql(f"DESCRIBE {table}").fetchall()]

    def count(self, table: str) -> int:
        return int(self.sql(f"SELECT count(*) FROM {table}").fetchall()[0][0])

    def there(self, view: str) -> bool:
        return bool(self.sql("FROM information_schema.tables WHERE table_name = ?", [view.split(".")[1]]).fetchall())

    def version(self) -> int:
        """What the metadata view says; there is nothing in it but one version."""
        (facts,), *more = self.sql("SELECT published FROM release.people_metadata ORDER BY column_name").fetchall()
        assert len(more) == 1
        return int(json.loads(facts)["version"])

    def seen(self) -> int:
        """The version that is whole in all views."""
        version = self.version()
        shape = self.shapes[version - 1]
        for i, view in enumerate(VIEWS):
            physical = f"_sqlanon.people_v{version}{'_sensitive' if i else ''}"
            if i < len(shape):
                assert self.columns(view) == self.columns(physical), view
                assert self.count(view) == self.count(physical), view
            elif self.there(view):
                assert self.count(view) == 0, view
        return version

    def plain(self) -> None:
        """No view is left that shows more than one table."""
        rows = self.sql("SELECT view_name, sql FROM duckdb_views() WHERE NOT internal").fetchall()
        assert len(rows) == len(self.shapes[self.version() - 1]) + 1
        assert not [name for name, text in rows if "_sqlanon_next" in text]


@contextmanager
def made(case: str, rows: int = 2) -> Iterator[Place]:
    with duckdb.connect(":memory:") as connection:
        yield Place(connection, SHAPES[case], rows)


def published(place: Place, engine: WeakestEngine) -> None:
    """As `publish` and `rollback` do it."""
    shown = two_phase.list_pointings(
        engine, place.after.view, place.after.physical, second="_sensitive" if len(place.shapes[1]) > 1 else ""
    )
    two_phase.commit(engine, shown, place.before)
    two_phase.point_views(engine, place.after, place.before)


def killed(place: Place, after: int) -> bool:
    """Publish, and die after so many changes; whether that was before the end."""
    engine = place.engine()
    engine.seen.dies_at = after
    try:
        published(place, engine)
    except Lost:
        return True
    return False


MAIN = (
    "the same",
    "other names",
    "another type",
    "another order",
    "pair that changes",
    "second view comes, others change",
    "second view goes, others change",
)
"""Those in which columns and views change in different ways; the others are for ``--thorough``."""


@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=[pytest.mark.thorough] * (case not in MAIN)) for case in SHAPES]
)
def test_one_version_after_every_statement(case):
    """Also of a release without rows; and what was not committed is taken back, what was is finished."""
    for rows in (0, 2):
        with made(case, rows) as place:
            reached = []
            for after in count():
                ended = not killed(place, after)
                old = place.columns(VIEWS[1]) == [("age", "INTEGER"), ("sex", "VARCHAR")]
                if case == "pair that changes" and old and place.version() == 2:
                    # No statement replaces two views: the second one has no rows until the next statement.
                    assert place.columns(VIEWS[0]) == place.columns("_sqlanon.people_v2")
                    assert place.count(VIEWS[1]) == 0
                    assert reached[-1] == 1
                    reached.append(2)
                else:
                    reached.append(place.seen())
                if reached[-1] == 1:
                    two_phase.take_back(place.calm, place.after, [place.before, place.after])
                else:
                    two_phase.point_views(place.calm, place.after, place.before)
                assert place.seen() == reached[-1]
                place.plain()
                two_phase.point_views(place.calm, place.before, place.after)
                if ended:
                    break
            assert reached == sorted(reached)
            assert set(reached) == {1, 2}


def test_a_view_of_somebody_else_is_left():
    """What has the name of a view that the next version would have, and was made after the run was killed."""
    with made("second view comes") as place:
        place.sql("CREATE VIEW release.people_sensitive AS SELECT 1 AS mine")
        two_phase.take_back(place.calm, place.after, [place.before, place.after])
        assert place.sql("FROM release.people_sensitive").fetchall() == [(1,)]
        assert not place.there("_sqlanon.people_v2_view")


def test_views_changed_by_hand():
    """They are as they were before the next version is shown, so that the columns of one decide again."""
    for text in ("CREATE OR REPLACE VIEW release.people AS SELECT 1 AS mine", "DROP VIEW release.people_metadata"):
        with made("other names") as place:
            place.sql(text)
            published(place, place.calm)
            assert place.seen() == 2
            place.plain()


@pytest.mark.thorough
def test_metadata_of_an_older_sqlanon():
    """It lacks a column and spells another one otherwise; its rows are shown until the next version is."""
    for case in ("other names", "the same"):
        for after in count():
            with made(case) as place:
                place.sql('ALTER TABLE _sqlanon.people_v1_metadata RENAME role TO "Role"')
                place.sql("CREATE OR REPLACE VIEW release.people_metadata AS SELECT 1 AS none")
                place.sql("ALTER TABLE _sqlanon.people_v1_metadata DROP declared")
                two_phase.point_views(place.calm, place.before, None)
                ended = not killed(place, after)
                assert place.seen() == 2 or not ended
                if ended:
                    break


def test_names_that_differ_in_case_where_that_makes_them_others(connect):
    """PostgreSQL's names do: each table is asked for its own, and the view has those of the version before."""
    db = connect(PAIR[1])
    schema = f"phases_{uuid.uuid4().hex[:10]}"
    run, place = db.engine.execute, lambda name: TableRef(schema, name)
    run(f"CREATE SCHEMA {schema}")
    try:
        for version, (age, extra) in enumerate((('"Age"', ""), ("age", ", declared TEXT")), 1):
            run(f"CREATE TABLE {schema}.v{version} ({age} INTEGER)")
            run(f"INSERT INTO {schema}.v{version} VALUES ({version})")
            facts = f"{schema}.v{version}_metadata"
            run(
                f'CREATE TABLE {facts} (column_name TEXT, "{"Published" if version == 1 else "published"}" TEXT{extra})'
            )
            run(f"INSERT INTO {facts} (column_name) VALUES ('')")
        found = db.engine.look_up([place(name) for name in ("v1", "v2", "v1_metadata", "v2_metadata")])
        old, new, *facts = (list(found.columns(place(name))) for name in ("v1", "v2", "v1_metadata", "v2_metadata"))
        run(f"CREATE VIEW {schema}.metadata AS SELECT * FROM {schema}.v2_metadata")
        run(f"UPDATE {schema}.v2_metadata SET published = 'now'")
        metadata = two_phase.ViewTarget(place("metadata"), place("v2_metadata"))
        names = two_phase._in_order(old, new)
        db.engine.execute(two_phase._switch(db.engine, place("people"), names, place("v1"), place("v2"), metadata))
        assert db.engine.fetch(f'SELECT "Age" FROM {schema}.people') == [(2,)]
        made = statement(
            "publish/follow",
            "postgres",
            metadata=place("followed"),
            before=place("v1_metadata"),
            after=place("v2_metadata"),
            columns=two_phase._match_columns(*facts),
            view=place("people"),
            shown=place("v2"),
            column="Age",
            renamed=[],
            types=None,
            next=0,
        )
        db.engine.execute(made)
        shown = "SELECT column_name, published, declared FROM"
        assert db.engine.fetch(f"{shown} {schema}.followed") == [("", None, None)]
    finally:
        run(f"DROP SCHEMA {schema} CASCADE")
