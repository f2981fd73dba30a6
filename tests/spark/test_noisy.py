"""Noisy statistics on Spark, whose ledger and noisy tables are in a DuckDB file."""

from __future__ import annotations

import datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sqlanon
from sqlanon.cli.show.text import hide_password
from sqlanon.engines import connect
from sqlanon.errors import GuardError, PolicyError, UnsupportedError
from sqlanon.noisy.answers import code_rows
from sqlanon.noisy.shape import Shape, shape_of
from sqlanon.policy import load as read
from sqlanon.table.scratch import Scratch
from tests.contract.noisy_releases import MEASURES, Made, Rows, exact, stays
from tests.contract.test_lacks import check_engine
from tests.engines import PAIR
from tests.spark.tables import in_duckdb, load
from tests.spark.test_kill import killed

pytest.importorskip("opendp")
pytestmark = [pytest.mark.spark, pytest.mark.thorough]

ADVERSARY: Rows = [
    *((99, region, sex, 5, 1e300) for region in ("north", "south") for sex in "FM" for _ in range(9)),
    *((99, "south", "M", 5, cost) for cost in (float("inf"), float("-inf"), float("nan"), -0.5, 2.5)),
    (None, "north", "F", 5, 3.0),
]
KEPT: dict[str, Any] = {"measures": MEASURES, "more": "kept: true"}
SCALED: dict[str, Any] = {
    "contributions": "{weight: 2}",
    "tables": "[{by: [region, sex], totals: false}]",
    "measures": MEASURES,
}
BINNED: dict[str, Any] = {
    "groups": "{region: [north, south, it's, empty], age: {bins: [0, 20, 40]}}",
    "tables": "[{by: [region, age]}, {by: [age]}]",
    "measures": MEASURES,
    "contributions": "{groups: 1, rows: 3}",
}
NIGHTS: dict[str, Any] = {
    "measures": "{people: persons}",
    "more": "running: {nights: 3}",
    "groups": "{sex: [F, M]}",
    "tables": "[{by: [sex]}]",
}
DRAWN: dict[str, Any] = {
    "tables": "",
    "groups": "{age: {bins: [0, 9, 20]}, sex: [F, M], region: [north, south]}",
    "contributions": "{groups: 1, rows: 1}",
    "more": "rows: sex",
}


def columns_of(rows: Rows) -> Any:
    import pyarrow as pa

    types = {"pid": pa.int32(), "region": pa.string(), "sex": pa.string(), "age": pa.int32(), "cost": pa.float64()}
    return pa.table({name: pa.array([row[at] for row in rows], kind) for at, (name, kind) in enumerate(types.items())})


DAY = datetime.datetime(2020, 1, 1)
KEYS: dict[str, tuple[str, list[Any], int]] = {
    "number": ("int64", [2**62, 2**62, -(2**63), 0, None], 3),
    "price": ("decimal", [Decimal("1.00"), Decimal("1.00"), Decimal("-0.50"), Decimal("0.00"), None], 3),
    "level": ("double", [0.0, -0.0, float("nan"), float("nan"), None], 2),
    "day": ("date32", [DAY.date(), DAY.date(), datetime.date.min, datetime.date.max, None], 3),
    "moment": ("timestamp", [DAY, DAY, DAY.replace(microsecond=10), DAY.replace(year=1800), None], 3),
    "name": ("string", ["a", "a", "A", "\U0001f600'\\", None], 3),
}
"""Of each type of a key values of rows, and how many persons they are."""


class OnSpark(Made):
    """A table of Spark, and the policy that publishes its statistics."""

    def __init__(self, db: Any, folder: Path, source: str, **more: Any) -> None:
        self.db, self.folder, self.source = db, folder / source, source
        self.folder.mkdir(exist_ok=True)
        self.name, self.view, self.file = f"noisy {source}", f"v_{source}", self.folder / "anon.yml"
        self.budget = f"persons of {source}"
        self.write(**more)


@pytest.fixture
def state(tmp_path: Path) -> str:
    return f"duckdb:///{tmp_path}/state.duckdb"


def opened(session: Any, state: str | None) -> Any:
    return sqlanon.connect(session, accept_shared=True, temporary=True, state=state)


def test_bounded_sums_are_those_of_duckdb_with_and_without_a_person(session: Any, state: str, tmp_path: Path) -> None:
    rows = stays("spark", 20)
    with opened(session, state) as db:
        for source, held, forms in (
            ("noisy_without", rows, (KEPT,)),
            ("noisy_with", [*rows, *ADVERSARY], (KEPT, SCALED, BINNED)),
        ):
            table = columns_of(held)
            load(session, table, source)
            with in_duckdb(table, source) as duck:
                for asked in forms:
                    shape = shape_of(OnSpark(db, tmp_path, source, **asked).spec)
                    pairs = zip(exact(db, shape, source), exact(duck, shape, source), strict=True)
                    assert all(np.array_equal(one, other) for one, other in pairs), (source, asked)


def read_persons(db: Any, shape: Shape, column: str) -> list[str]:
    """The texts that are hashed, of all rows."""
    with Scratch(db.engine) as scratch:
        coded = code_rows(scratch, shape, (column,), db.engine.relation("noisy_keys"))
        return sorted(
            str(row[0]) for row in db.engine.fetch(scratch.sql("budget/rows", source=coded, columns=["person"]))
        )


def test_keys_of_a_person_are_one_text_and_duckdbs(session: Any, state: str, tmp_path: Path) -> None:
    import pyarrow as pa

    typed = {"decimal": pa.decimal128(7, 2), "timestamp": pa.timestamp("us")}
    rows = columns_of([(pid, "north", "F", 5, 1.0) for pid in range(5)])
    for name, (kind, values, _) in KEYS.items():
        rows = rows.append_column(name, pa.array(values, typed.get(kind, kind)))
    load(session, rows, "noisy_keys")
    with opened(session, state) as db, in_duckdb(rows, "noisy_keys") as duck:
        shape = shape_of(OnSpark(db, tmp_path, "noisy_keys").spec)
        for name, (kind, _, persons) in KEYS.items():
            texts = read_persons(db, shape, name)
            assert (len(texts), len(set(texts))) == (4, persons), name
            if kind != "double":  # DuckDB writes NaN and exponents otherwise
                assert texts == read_persons(duck, shape, name), name


def test_a_release_from_the_charge_to_the_end(session: Any, state: str, tmp_path: Path) -> None:
    source = "noisy_walk"
    load(session, columns_of(stays("walk", 40)), source)
    with opened(session, None) as db:
        made = OnSpark(db, tmp_path, source, more="kept: true\n      show: {persons: 10}", measures=MEASURES)
        with pytest.raises(UnsupportedError, match="state: duckdb:///path, or postgresql://"):
            made.run()
        assert not (made.folder / "anchor").exists()
    with opened(session, state) as db:
        made.db = db
        assert db.plan(made.spec).notes[0].startswith("a version costs epsilon 1")
        report = made.run()
        assert (report.version, made.states()) == (1, ["published"])
        view = f"release.{made.view}"
        first = session.table(view).toArrow().to_pylist()
        assert len(first) == report.noisy.groups == 13
        assert made.run().outcome == "fresh"
        assert made.run(spend=True).version == 2
        assert session.table(view).toArrow().to_pylist() != first
        assert all(one.satisfied for one in db.audit(view).requirements)
        (row,) = db.query(f"SELECT count(*) AS n FROM {source} WHERE region = 'north'").rows
        (shown,) = [
            one for one in session.table(view).toArrow().to_pylist() if one["region"] == "north" and not one["sex"]
        ]
        assert row["n"].estimate == pytest.approx(shown["n"])
        assert "what was paid" in db.report(made.name, audience="owner", form="md").lower()
        db.rollback(made.name)
        assert session.table(view).toArrow().to_pylist() == first
        (budget,) = db.budgets(read(made.file).budgets)
        assert [version.state for version in budget.versions] == ["published", "published"]
        assert budget.left < 3 - 1
        db.unpublish(made.name)
        assert made.states() == ["published", "published"]
        assert (tmp_path / "state.duckdb").stat().st_mode & 0o077 == 0


def test_a_ledger_on_postgresql(session: Any, tmp_path: Path) -> None:
    """The same with a server as the ledger's database, and candidates of epsilon beside it, which cost nothing."""
    source = "noisy_server"
    load(session, columns_of(stays("server", 40)), source)
    with opened(session, PAIR[1].fresh(tmp_path)) as db:
        made = OnSpark(db, tmp_path, source, measures=MEASURES)
        assert len(db.compare_noisy(made.spec, (Fraction(1, 2), Fraction(1))).candidates) == 2
        assert not (made.folder / "anchor").exists()
        assert made.run().version == 1
        view = f"release.{made.view}"
        first = read_seen(session, view)
        assert made.run().outcome == "fresh"
        assert made.run(spend=True).version == 2
        assert made.states() == ["published", "published"]
        assert read_seen(session, view) != first
        assert all(one.satisfied for one in db.audit(view).requirements)
        db.rollback(made.name)
        assert read_seen(session, view) == first


def test_running_counts_and_synthetic_rows(session: Any, state: str, tmp_path: Path) -> None:
    load(session, columns_of([(pid, "north", "FM"[pid % 2], 5, 1.0) for pid in range(60)]), "noisy_nights")
    with opened(session, state) as db:
        made = OnSpark(db, tmp_path, "noisy_nights", **NIGHTS)
        made.run()
        session.sql("INSERT INTO noisy_nights SELECT pid + 100, region, sex, age, cost FROM noisy_nights")
        assert made.run(spend=True).noisy.night == 2
        nights = [one["night"] for one in session.table(f"release.{made.view}").toArrow().to_pylist()]
        assert sorted(nights) == [1] * 3 + [2] * 3
        (seen,) = list_tables(db, "_seen")
        by_night = f'SELECT night, count(*) FROM _sqlanon."{seen}" GROUP BY 1 ORDER BY 1'
        assert db.engine.ledger_engine.fetch(by_night) == [(1, 60), (2, 60)]
        session.sql("CREATE TABLE noisy_rows AS SELECT * FROM noisy_nights")
        drawn = OnSpark(db, tmp_path, "noisy_rows", **DRAWN)
        drawn.run()
        view = f"release.{drawn.view}"
        assert session.table(f"{view}_synthetic").columns == ["region", "sex", "age"]
        assert all(one.satisfied for one in db.audit(view).requirements)


def list_tables(db: Any, suffix: str) -> list[str]:
    """Private tables of the ledger's database with such names."""
    found = db.engine.ledger_engine.fetch("SELECT table_name FROM information_schema.tables ORDER BY 1")
    return [str(name) for (name,) in found if name.endswith(suffix)]


def read_drawn(db: Any) -> list[list[Any]]:
    """The noisy tables that were stored, as readers would see each."""
    home = db.engine.ledger_engine
    listed = [home.fetch(f'SELECT * EXCLUDE _sqlanon_order FROM _sqlanon."{one}"') for one in list_tables(db, "_noisy")]
    return [sorted(rows, key=repr) for rows in listed]


def read_seen(session: Any, view: str) -> list[Any]:
    return sorted(map(tuple, session.table(view).collect()), key=repr)


def test_a_killed_version_is_lost_or_published_as_it_was_drawn(
    session: Any, connect_url: str, state: str, tmp_path: Path
) -> None:
    source = "noisy_killed"
    load(session, columns_of(stays("killed", 20)), source)
    url = f"{connect_url};state={state}"
    made = OnSpark(None, tmp_path, source, budget="epsilon: 9, delta: 1e-6")
    view = f"release.{made.view}"

    def kill(*words: str) -> None:
        killed([url, made.file, *words], "killed_noisy")

    kill("noisy/snapshot")  # charged, nothing is read
    with opened(session, state) as made.db:
        assert made.states() == ["reserved"]
        with pytest.raises(GuardError, match="run --spend pays another one"):
            made.run()
    kill("noisy/view")  # drawn, nothing is written
    with opened(session, state) as made.db:
        assert made.states() == ["lost", "drawn"]
        (drawn,) = read_drawn(made.db)
        assert not session.catalog.tableExists(view)
        made.run()
        assert made.states() == ["lost", "published"]
        assert read_drawn(made.db) == [drawn]
        assert read_seen(session, view) == drawn
    kill("noisy/view", "publish/view", "cleanup")  # readers have it, the ledger does not know
    with opened(session, state) as made.db:
        assert made.states() == ["lost", "published", "drawn"]
        assert read_seen(session, view) in read_drawn(made.db)
        assert read_seen(session, view) != drawn
        made.run(spend=True)
        assert made.states() == ["lost", "published", "published", "published"]
        assert len(read_drawn(made.db)) == 3
        (budget,) = made.db.budgets(read(made.file).budgets)
        assert len(budget.versions) == 4


def test_spark_with_state_lacks_what_it_says(session: Any, state: str, tmp_path: Path) -> None:
    with opened(session, state) as db:
        check_engine(db, tmp_path)


def test_the_database_of_ledgers_is_named_by_url_argument_or_policy(tmp_path: Path) -> None:
    policy = tmp_path / "anon.yml"
    text = (
        "version: 1\nconnection: CONNECTION\nstate: postgresql://me:word@host/ledgers\nreleases:\n"
        "  - {name: n, source: t, columns: {a: quasi}, privacy: {k: 2}}\n"
    )
    policy.write_text(text.replace("CONNECTION", "sc://host:1/;accept_shared=true"))
    url = str(read(policy).connection)
    assert url == "sc://host:1/;accept_shared=true;state=postgresql://me:word@host/ledgers"
    assert hide_password(url) == url.replace("word", "***")
    policy.write_text(text.replace("CONNECTION", "duckdb:///x.duckdb"))
    with pytest.raises(PolicyError, match="state: the connection is not of Spark"):
        read(policy)
    with pytest.raises(PolicyError, match="state: for Spark alone"):
        connect("duckdb:///:memory:", state="duckdb:///x.duckdb")
    for where in ("duckdb:///:memory:", "spark+local:///:memory:", "nonsense"):
        with pytest.raises(PolicyError, match="state: a database that stays, with transactions"):
            connect("spark+local:///:memory:", state=where)
