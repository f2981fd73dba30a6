"""Small sources of an engine that plans every statement are worked on in memory of this process.

The weakest engine has that ability here; its published tables, catalog and private tables stay in its database.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any

import duckdb
import pytest

from sqlanon import policy
from sqlanon.engines.base import Statement, TableRef
from sqlanon.errors import GuardError, PrivacyViolation
from tests.safety.people import RELEASE, assert_tidy
from tests.safety.test_weakest import Place, all_of, described, places, run
from tests.weakest import Lost, WeakestEngine, weakest

pytestmark = pytest.mark.skipif(
    "pyarrow" not in sys.modules and not __import__("importlib.util").util.find_spec("pyarrow"),
    reason="pyarrow is not installed",
)


class Bringing(WeakestEngine):
    """The weakest engine, which brings rows by Arrow.

    Attributes:
        changed: makes other rows of those that are written.
    """

    most_rows, most_bytes = 1000, 1 << 20
    changed: Callable[[Any], Any] | None = None

    @property
    def arrow(self) -> Bringing:  # type: ignore[override]
        """See `Engine.arrow`."""
        return self

    def read_arrow(self, query: Statement) -> Any:
        """The rows; those of a stage with the name that Spark's have for their place."""
        self._use(self._empty)
        rows = self._connection.sql(query.text, params=dict(query.binds) or None).to_arrow_table()
        return rows.rename_columns(["_sqlanon_at" if name == "rid" else name for name in rows.column_names])

    def write_arrow(self, table: TableRef, rows: Any) -> None:
        """Make the table, of all rows or of others."""
        written = rows if self.changed is None or table.name.endswith("_link") else self.changed(rows)
        self.import_frame(written, table)


def bringing(connection: duckdb.DuckDBPyConnection) -> Bringing:
    """Such an engine on another connection to the database in memory."""
    return Bringing(connection.cursor(), "memory")


@pytest.fixture(autouse=True)
def _beside(monkeypatch: pytest.MonkeyPatch) -> None:
    """The database of the tests is called memory, as each database in memory is: here it counts as another one."""
    from sqlanon.release.prepare import workplace

    monkeypatch.setattr(workplace, "_TAKEN", ("system", "temp"))
    opened = workplace.open_beside

    def beside(database: str) -> Any:
        assert database == "memory"
        engine = opened("of_tests")
        engine.execute('CREATE SCHEMA "memory"."_sqlanon"')
        return engine

    monkeypatch.setattr(workplace, "open_beside", beside)


@pytest.mark.parametrize("options", [{"method": "tree"}, {"method": "mondrian", "l": "7/5"}], ids=["tree", "mondrian"])
def test_the_release_is_the_same(options):
    """Rows, metadata, report and changes of the source are those of the road in the database."""
    arguments = {**RELEASE, **options, "seed": 5}
    with places() as one, places() as other, one.open(bringing) as here, other.open(weakest) as there:
        for generation in (1, 2, 3):
            for place in (one, other):
                place.write(generation)
            mine, theirs = run(here, arguments), run(there, arguments)
            assert "worked on in memory" in mine.notes[0]
            assert not any("worked on" in note for note in theirs.notes)
            assert (mine.classes, mine.loss, mine.data) == (theirs.classes, theirs.loss, theirs.data)
            assert mine.requirements == theirs.requirements
            assert all_of(here, "people") == all_of(there, "people")
            assert described(here) == described(there)
        assert run(here, arguments).outcome == "unchanged"
        assert not [text for text in here.engine.seen.changes if re.search(r'"_sqlanon_[0-9a-f]{8}_', text)]
        assert_tidy(here)


def test_rows_that_come_back_changed_are_not_published():
    """The written table is read again and compared, row for row."""
    for changed in (lambda rows: rows.slice(1), lambda rows: rows.take([0, *range(len(rows) - 1)])):
        with places() as place, place.open(bringing) as db:
            db.engine.changed = changed
            with pytest.raises(PrivacyViolation, match="not the ones that were verified"):
                run(db, RELEASE)
            assert not db.engine.exists(db.engine.target("release.people"))


def test_requirements_are_measured_where_readers_are(monkeypatch):
    """Even if the comparison is deceived, groups of the written table that are too small are found."""
    from sqlanon.release.prepare import workplace

    with places() as place, place.open(bringing) as db:
        db.engine.changed = lambda rows: rows.slice(1)
        monkeypatch.setattr(workplace, "read_integers", lambda _: (0, 0))
        with pytest.raises(PrivacyViolation, match="classes fail"):
            run(db, RELEASE)
        assert not db.engine.exists(db.engine.target("release.people"))


@pytest.mark.parametrize(
    "options",
    [
        {"execution": "pushdown", "method": "mondrian"},
        {"key": "id", "max_failing": 1000},
        {"l": "5/4", "format": "anatomy", "k": 1},
    ],
    ids=["pushdown", "key", "anatomy"],
)
def test_what_needs_the_database_stays_there(options):
    """A statement of the policy, or private tables of other versions."""
    with places() as place, place.open(bringing) as db:
        arguments = {**RELEASE, **options}
        assert not any("worked on" in note for note in run(db, arguments).notes)


def test_large_sources_stay_there():
    with places() as place, place.open(bringing) as db:
        db.engine.most_rows = 10
        assert not any("worked on" in note for note in run(db, RELEASE).notes)
        plan = db.plan(policy.release(source="people", **RELEASE))
        assert not any("worked on" in note for note in plan.notes)
        db.engine.most_rows = 1000
        place.write(2)
        plan = db.plan(policy.release(source="people", **RELEASE))
        assert any("of at most 1000 rows" in note for note in plan.notes)


def test_guards_read_the_brought_identifiers():
    with places() as place, place.open(bringing) as db:
        db.engine.execute("INSERT INTO people SELECT * FROM people LIMIT 1")
        with pytest.raises(GuardError, match="identifier id repeats"):
            run(db, RELEASE)


@pytest.mark.thorough
def test_killed_at_every_change():
    """Readers have the old version or the new one, whole, and the next run tidies up."""
    lived, published = 0, False
    while not published:
        with places() as place:
            with place.open(bringing) as db:
                run(db, RELEASE)
            place.write(2)
            with place.open(bringing) as db:
                db.engine.seen.dies_at = lived
                try:
                    run(db, RELEASE)
                    published = True
                except Lost:
                    published = False
                db.engine.seen.dies_at = None
            generation, _ = place.seen()
            assert generation in (1, 2)
            _next_run(place)
        lived += 1
    assert lived > 8


def _next_run(place: Place) -> None:
    place.write(3)
    with place.open(bringing) as db:
        run(db, RELEASE)
        assert_tidy(db)
    assert place.seen()[0] == 3
