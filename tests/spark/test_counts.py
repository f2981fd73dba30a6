"""Releases of counts on Spark: the release is that of DuckDB."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import sqlanon
from sqlanon.errors import GuardError
from sqlanon.policy import loads
from sqlanon.release.versions import statistics_lineage
from tests.contract.counted import stays
from tests.spark.tables import CANARY
from tests.spark.test_walk import leftovers, rows, shows_no_value

pytest.importorskip("highspy")
pytestmark = pytest.mark.spark

COLUMNS = (
    ("region", "VARCHAR"),
    ("sex", "VARCHAR"),
    ("age", "INTEGER"),
    ("pid", "INTEGER"),
    ("cost", "DECIMAL(38, 2)"),
)
TWO = {"columns": "{region: {}, sex: {}}", "tables": "[{name: all, by: [region, sex]}]"}
SUMS = "{n: count, cost: {sum: cost, range: [0, 300], p_percent: 10, dominance: {n: 2, share: 0.85}}}"
RELEASES: dict[str, dict[str, str]] = {
    "hidden": {},
    "linked": {
        "tables": "[{name: one, by: [region, age]}, {name: other, by: [sex, age]}]",
        "measures": SUMS,
        "protect": "{persons: 3, show: [{sex: 0}, total], bounds: exact}",
    },
    "noise": {"protect": "{persons: 3, method: cell_key, deviation: 5, variance: 3, additive: true}", **TWO},
    "rounded": {"measures": "{persons: persons}", "protect": "{persons: 3, method: round, base: 3}", **TWO},
}


def policy(
    name: str,
    columns: str = '{region: {}, sex: {}, age: {hierarchy: "steps:20"}}',
    tables: str = "[{name: all, by: [region, sex, age]}]",
    measures: str = "{n: count}",
    protect: str = "{persons: 3, bounds: exact}",
    more: str = "",
) -> Any:
    """The release of the counts of a table."""
    text = (
        f"version: 1\nreleases:\n  - name: {name}\n    source: {name}_stays\n    person: pid\n    publish: "
        f"release.{name}\n{more}    statistics:\n      columns: {columns}\n      tables: {tables}\n"
        f"      measures: {measures}\n      protect: {protect}\n"
    )
    return loads(text, {}).releases[0]


def visits(seed: object, many: int = 90) -> list[tuple[Any, ...]]:
    """Stays with a cost; one region has a text that no log may have."""
    draw = random.Random(str(seed))
    return [
        (CANARY if region == "south" else region, sex, age, pid, Decimal(draw.randrange(30_000)) / 100)
        for region, sex, age, pid in stays(seed, many)
    ]


@pytest.fixture(autouse=True)
def same_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both engines have the same key, which decides the order of the search and the noise."""
    monkeypatch.setattr("sqlanon.release.versions.begin.secret_of", lambda _: "5a" * 32)


@contextmanager
def both(session: Any, name: str, made: list[tuple[Any, ...]]) -> Iterator[tuple[Any, Any]]:
    """The same table on Spark and on DuckDB."""
    with (
        sqlanon.connect("duckdb:///:memory:") as known,
        sqlanon.connect(session, temporary=True, accept_shared=True) as db,
    ):
        known.engine.load_rows(known.engine.target(f"{name}_stays"), COLUMNS, made)
        schema = ", ".join(f"{column} {'STRING' if kind == 'VARCHAR' else kind}" for column, kind in COLUMNS)
        session.createDataFrame(made, schema).write.saveAsTable(f"{name}_stays")
        yield db, known


@pytest.mark.parametrize("name", RELEASES)
def test_a_release_is_that_of_duckdb(name: str, session: Any, events: Path) -> None:
    spec = policy(name, **RELEASES[name])
    with both(session, name, visits(name)) as (db, known):
        mine, theirs = (one.run(spec) for one in (db, known))
        assert mine.verified
        assert mine.statistics == theirs.statistics
        assert rows(db, f"release.{name}") == rows(known, f"release.{name}")
        assert not leftovers(db)
    shows_no_value(events)


def test_a_release_is_planned_asked_and_attacked(session: Any) -> None:
    name, alone = "asked", ("far", "F", 20, 60, Decimal(7))
    spec = policy(name, **TWO)
    with both(session, name, [*visits(name, 60), alone]) as (db, known):
        assert db.plan(spec).notes == known.plan(spec).notes
        for one in (db, known):
            one.run(spec)
        assert any(row[-2] == "hidden" for row in db.engine.fetch(f"SELECT * FROM release.{name}"))
        assert db.run(spec).outcome == "unchanged"
        assert db.audit(f"release.{name}", spec=spec).satisfied
        query = f"SELECT sex, count(*) AS n FROM {name}_stays WHERE region = 'north' GROUP BY sex ORDER BY sex"
        assert db.query(query).rows == known.query(query).rows
        attacked = [one.attack(name) for one in (db, known)]
        assert attacked[0].held
        assert attacked[0].attacks == attacked[1].attacks
        assert db.report(name)
        reports = [one.audit_statistics([f"release.{name}"]) for one in (db, known)]
        assert repr(reports[0]) == repr(reports[1])


def test_rows_and_persons_and_sums_are_those_of_duckdb(session: Any, events: Path) -> None:
    name = "several"
    measures = SUMS.replace("{n: count", "{n: count, persons: persons")
    spec = policy(name, **(TWO | {"measures": measures, "protect": "{persons: 8, bounds: exact}"}))
    made = [(*row[:3], row[3] % 60, row[4]) for row in visits(name, 100)]
    with both(session, name, made) as (db, known):
        mine, theirs = (one.run(spec) for one in (db, known))
        assert mine.statistics.patterns
        assert mine.statistics == theirs.statistics
        assert rows(db, f"release.{name}") == rows(known, f"release.{name}")
        assert db.audit(f"release.{name}", spec=spec).satisfied
        query = f"SELECT sex, sum(persons) AS p, sum(cost) AS c FROM {name}_stays GROUP BY sex ORDER BY sex"
        assert db.query(query).rows == known.query(query).rows
        attacked = [one.attack(name) for one in (db, known)]
        assert attacked[0].held
        assert attacked[0].attacks == attacked[1].attacks
        assert not leftovers(db)
    shows_no_value(events)


def test_versions_follow_one_another(session: Any) -> None:
    name, more = "followed", "    refresh: {mode: frozen, cohort: {persons: 8}}\n"
    spec = policy(name, more=more, **(TWO | {"protect": "{persons: 3}"}))
    with both(session, name, visits(name, 60)) as (db, known):
        north, views = "('north', 'F', 20, {}, 1)", []
        for came in ([*range(900, 910)], [*range(920, 924)]):
            for one in (db, known):
                assert one.run(spec).outcome == "published"
            views.append(rows(db, f"release.{name}"))
            assert views[-1] == rows(known, f"release.{name}")
            text = ", ".join([*map(north.format, came), f"('far', 'M', 20, {came[-1] + 1}, 1)"])
            for one in (db, known):
                one.engine.execute(f"INSERT INTO {name}_stays VALUES {text}")
        assert views[0] != views[1]
        assert db.run(spec).why == ("fewer than 8 persons are new: they wait",)
        assert db.audit(f"release.{name}").satisfied
        db.rollback(name)
        assert rows(db, f"release.{name}") == views[0]
        assert not leftovers(db)


def read_alike(db: Any, known: Any, name: str, of: str = "count(*)") -> None:
    """Queries, audits and attacks of a release are those of DuckDB, and the attacks find nothing."""
    query = f"SELECT sex, {of} AS x FROM release.{name} WHERE region = 'north' GROUP BY sex ORDER BY sex"
    assert db.query(query).rows == known.query(query).rows
    reports = [one.audit_statistics([f"release.{name}"]) for one in (db, known)]
    assert repr(reports[0]) == repr(reports[1])
    attacked = [one.attack(name) for one in (db, known)]
    assert attacked[0].held
    assert attacked[0].attacks == attacked[1].attacks
    assert attacked[0].sums == attacked[1].sums


def test_versions_with_bounds_follow_in_time(session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Margins are shown in all versions, and time asks for one before its cohort is there."""
    name, more = "timed", "    refresh: {mode: frozen, cohort: {persons: 30, every: 90d}}\n"
    spec = policy(name, more=more, **(TWO | {"protect": "{persons: 3, bounds: exact, show: [total]}"}))
    with both(session, name, visits(name, 60)) as (db, known):
        for one in (db, known):
            one.run(spec)
            text = ", ".join(map("('north', '{}', 20, {}, 1)".format, "FFFFFFFM", range(900, 908)))
            one.engine.execute(f"INSERT INTO {name}_stays VALUES {text}")
            assert one.run(spec).outcome == "unchanged"
        monkeypatch.setattr(statistics_lineage, "is_old", lambda age, *_: age is not None)
        for one in (db, known):
            assert one.run(spec).outcome == "published"
        assert rows(db, f"release.{name}") == rows(known, f"release.{name}")
        assert db.audit(f"release.{name}").satisfied
        read_alike(db, known, name)
        assert not leftovers(db)


def test_a_lineage_begins(session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    name, more = "lineages", "    refresh: {mode: frozen, cohort: {persons: 8}, lineage: 90d}\n"
    spec = policy(name, more=more, **(TWO | {"protect": "{persons: 3, bounds: exact}"}))
    with both(session, name, visits(name, 60)) as (db, known):
        for one in (db, known):
            one.run(spec)
            text = ", ".join(map("('north', 'F', 20, {}, 1)".format, range(900, 910)))
            one.engine.execute(f"INSERT INTO {name}_stays VALUES {text}")
        monkeypatch.setattr(statistics_lineage, "is_old", lambda age, *_: age is not None)
        for one in (db, known):
            assert one.run(spec).statistics.earlier == (1,)
        assert rows(db, f"release.{name}") == rows(known, f"release.{name}")
        assert db.audit(f"release.{name}").satisfied
        read_alike(db, known, name)
        assert not leftovers(db)


@pytest.mark.parametrize(("name", "promised"), [("beside", "{k: 20}"), ("weighed", "{k: 20, l: 1.2}")])
def test_rows_persons_and_classes_are_those_of_duckdb(name: str, promised: str, session: Any, events: Path) -> None:
    measures = SUMS.replace("{n: count", "{n: count, persons: persons")
    asked = TWO | {"measures": measures, "protect": "{persons: 8, bounds: exact}"}
    spec = policy(name, more=f"    together: [{name}_rows]\n", **asked)
    text = (
        f"version: 1\nreleases:\n  - name: {name}_rows\n    source: {name}_stays\n    publish: release.{name}_rows\n"
        "    rest: drop\n    seed: 3\n    method: mondrian\n    columns: {pid: identifier, region: quasi, age: quasi"
        f"{', sex: sensitive' if 'l' in promised else ''}}}\n    person: pid\n    privacy: {promised}\n"
    )
    (of_rows,) = loads(text, {}).releases
    made = [(*row[:3], row[3] % 60, row[4]) for row in visits(name, 100)]
    with both(session, name, made) as (db, known):
        for one in (db, known):
            one.run(of_rows)
        mine, theirs = (one.run(spec) for one in (db, known))
        assert mine.statistics.patterns
        assert mine.statistics == theirs.statistics
        assert rows(db, f"release.{name}") == rows(known, f"release.{name}")
        assert db.audit(f"release.{name}", spec=spec).satisfied
        assert not leftovers(db)
    shows_no_value(events)


def test_counts_are_protected_together_with_rows(session: Any) -> None:
    name = "both"
    protect = {"measures": SUMS, "protect": "{persons: 3, bounds: exact}"}
    spec = policy(name, more=f"    together: [{name}_rows]\n", **(TWO | protect))
    text = (
        f"version: 1\nreleases:\n  - name: {name}_rows\n    source: {name}_stays\n    publish: release.{name}_rows\n"
        "    rest: drop\n    seed: 3\n    method: mondrian\n    columns: {pid: identifier, region: quasi, age: quasi}\n"
        "    privacy: {k: 8}\n"
    )
    (of_rows,) = loads(text, {}).releases
    with both(session, name, visits(name, 80)) as (db, known):
        for one in (db, known):
            one.run(of_rows)
            one.run(spec)
        for view in (name, f"{name}_rows"):
            assert rows(db, f"release.{view}") == rows(known, f"release.{view}")
        read_alike(db, known, name)
        read_alike(db, known, name, "sum(cost)")
        with pytest.raises(GuardError, match="protected together with version 1"):
            db.run(of_rows, full=True)
        assert not leftovers(db)
