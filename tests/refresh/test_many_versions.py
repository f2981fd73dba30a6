"""A catalog of many versions and releases.

Commands read the rows that they need, and find in them what they found in all.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.engines import PAIR
from tests.refresh.conftest import CATALOG_COLUMNS, fill, release
from tests.refresh.test_rollback import nights


@pytest.fixture(params=PAIR, ids=lambda engine: engine.name)
def pair(request: pytest.FixtureRequest, connect: Any) -> Any:
    return connect(request.param)


def copies(db: Any, table: str, times: int, where: str, **changes: str) -> None:
    """So many copies of rows of the catalog, numbered i."""
    read = ", ".join(changes.get(name, f"c.{name}") for name in CATALOG_COLUMNS)
    db.engine.execute(
        f"INSERT INTO _sqlanon.catalog ({', '.join(CATALOG_COLUMNS)}) SELECT {read} FROM _sqlanon.catalog AS c, "
        f"generate_series(1, {times}) AS g(i) WHERE c.release = '{table}' AND {where}"
    )


def old_versions(db: Any, table: str, times: int) -> None:
    """The versions that there are become later ones, after so many that were dropped."""
    db.engine.execute(f"UPDATE _sqlanon.catalog SET version = version + {times} WHERE release = '{table}'")
    copies(db, table, times, f"version = {times + 1}", version="i", status="'dropped'", physical="'gone_' || i")


def other_releases(db: Any, table: str, times: int) -> None:
    changes = {name: f"c.{name} || '_' || i" for name in ("release", "view_name", "source", "physical")}
    copies(db, table, times, "1 = 1", **changes)


class Counted:
    """Counts the rows of the catalog that statements give."""

    def __init__(self, db: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        self.rows: Counter[str] = Counter()
        fetch = type(db.engine).fetch

        def counting(engine: Any, statement: Any, **options: Any) -> Any:
            rows = fetch(engine, statement, **options)
            name = getattr(statement, "name", "")
            if name.startswith("catalog/"):
                self.rows[name] += len(rows)
            return rows

        monkeypatch.setattr(type(db.engine), "fetch", counting)

    def of(self, action: Any) -> int:
        self.rows.clear()
        action()
        return sum(self.rows.values())


def commands(db: Any, table: str) -> dict[str, Any]:
    spec = release(table)
    return {
        "plan": lambda: db.plan(spec),
        "unchanged": lambda: db.run(spec),
        "run": lambda: db.run(spec, full=True),
        "audit": lambda: db.audit(f"release.{table}", spec=spec),
        "query": lambda: db.query(f"SELECT count(*) AS n FROM {table} WHERE age < 30"),
        "preview": lambda: db.preview(spec),
        "diff": lambda: db.diff(f"{table}@{newest(db, table)}", table),
        "rollback": lambda: db.rollback(table),
        "clean": db.clean,
    }


def newest(db: Any, table: str) -> int:
    made = f"SELECT max(version) FROM _sqlanon.catalog WHERE release = '{table}'"
    return int(db.engine.fetch(made)[0][0])


def read_by(db: Any, table: str, counted: Counted) -> dict[str, int]:
    return {name: counted.of(action) for name, action in commands(db, table).items()}


@pytest.mark.thorough
def test_rows_read_do_not_grow_with_versions(pair: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    counted = Counted(pair, monkeypatch)
    found = []
    for table, times in (("few", 3), ("many", 80)):
        nights(pair, table, (40, 50, 60))
        old_versions(pair, table, times)
        found.append(read_by(pair, table, counted))
        pair.engine.execute(f"DELETE FROM _sqlanon.catalog WHERE release = '{table}'")
    assert found[0] == found[1]
    assert found[0]["run"] > 0


@pytest.mark.thorough
def test_rows_read_do_not_grow_with_releases(pair: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """But for a row a release where a name has to be found, and where every release is looked at."""
    counted = Counted(pair, monkeypatch)
    nights(pair, "r", (40, 50, 60))
    other_releases(pair, "r", 3)
    few = read_by(pair, "r", counted)
    pair.engine.execute("DELETE FROM _sqlanon.catalog WHERE release LIKE 'r!_%' ESCAPE '!'")
    other_releases(pair, "r", 40)
    many = read_by(pair, "r", counted)
    assert {name for name in few if few[name] != many[name]} == {"query", "clean"}
    assert many["clean"] <= few["clean"] + 2 * 40
    assert many["query"] <= few["query"] + 3 * 40


@pytest.mark.thorough
def test_clean_finds_what_is_left_among_many(pair: Any) -> None:
    nights(pair, "r", (40, 50, 60), keep=3)
    other_releases(pair, "r", 5)
    pair.engine.execute("UPDATE _sqlanon.catalog SET status = 'abandoned' WHERE release = 'r' AND version = 1")
    assert pair.clean() == ("r@1",)
    text = "replace(policy, '\"keep\": 3', '\"keep\": 1')"
    pair.engine.execute(f"UPDATE _sqlanon.catalog SET policy = {text} WHERE release = 'r_4' AND version = 3")
    assert pair.clean() == ("r_4@1", "r_4@2")
    assert pair.clean() == ()


def test_compared_with_the_last_version_that_has_a_history(pair: Any) -> None:
    """Also where its tables were dropped, and versions without key, whose tables were dropped too, came after it."""
    nights(pair, "h", (40, 44), keep=1, key=["id"])
    for rows in (48, 52, 56):
        fill(pair, "h", rows)
        pair.run(release("h", keep=1), allow_weaker=True)
    assert [row.status for row in pair.releases("h")] == ["dropped"] * 4 + ["published"]
    fill(pair, "h", 60)
    report = pair.run(release("h", keep=1, key=["id"]))
    assert [one.old for one in report.history] == [2]


def test_a_first_release_is_compared_with_what_readers_had_there_last(pair: Any) -> None:
    nights(pair, "w", (40, 50), k=4)
    pair.unpublish("w")
    old_versions(pair, "w", 30)
    spec = release("w", name="anew")
    assert any("k" in line for line in pair.plan(spec).weaker)


def test_errors_name_few(pair: Any) -> None:
    nights(pair, "e", (40, 50))
    old_versions(pair, "e", 30)
    other_releases(pair, "e", 40)
    with pytest.raises(Exception, match=r"e has no version 99; versions: 1 to 32; name one as e@32$"):
        pair.version("e@99")
    with pytest.raises(Exception, match=r"is not a release of this database; releases: .* and 21 more"):
        pair.version("nothing")
    with pytest.raises(Exception, match=r"there are: .* and 21 more"):
        pair.report("nothing")


@pytest.mark.thorough
def test_history_asks_for_no_table_that_is_not_there(pair: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    db, table = pair, "asked"
    nights(db, table, (40, 44), key=["id"])
    old_versions(db, table, 200)
    asked: list[str] = []
    exists = type(db.engine).exists
    monkeypatch.setattr(type(db.engine), "exists", lambda engine, ref: asked.append(ref.name) or exists(engine, ref))
    assert [(one.old, one.new) for one in db.history(table)] == [(201, 202)]
    assert len(asked) < 20
