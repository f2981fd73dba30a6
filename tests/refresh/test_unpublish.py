"""Unpublish: readers lose a release, the catalog keeps its history, and nothing of the user's is dropped."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

import sqlanon
from sqlanon.engines.base import Statement, TableRef
from tests.engines import ENGINES, PAIR
from tests.refresh.conftest import fill, release
from tests.refresh.test_grants import can, roles, server  # noqa: F401 - fixtures
from tests.refresh.test_rollback import nights, seen, statuses

OWN_COLUMNS = {"format": "anatomy", "presence": "disclosed"}


def views(db, table):
    """Every view of the release that is there."""
    names = (table, f"{table}_metadata", f"{table}_sensitive")
    return [name for name in names if db.engine.exists(db.engine.target(f"release.{name}"))]


def private_tables(db):
    found = db.engine.fetch("SELECT table_name FROM information_schema.tables WHERE table_schema = '_sqlanon'")
    return {str(name) for (name,) in found} - {"catalog", "secrets"}


@pytest.mark.cover
@pytest.mark.parametrize("changes", [{}, OWN_COLUMNS], ids=["ranges", "anatomy"])
def test_withdrawn_and_run_again(shared_db, changes):
    name = f"u1_{len(changes)}"
    nights(shared_db, name, (40, 50), **changes)
    assert len(views(shared_db, name)) == (3 if changes else 2)
    reported = shared_db.unpublish(name)
    assert (reported.version, reported.published, reported.purged, reported.warnings) == (2, f"release.{name}", (), ())
    assert views(shared_db, name) == []
    assert statuses(shared_db, name) == ["replaced", "withdrawn"]
    assert shared_db.version(f"{name}@2").report["rows"] == 50
    plan = shared_db.plan(release(name, **changes))
    assert (plan.state, plan.change) == ("made anew", "version 3: made anew, nothing is published now")
    again = shared_db.run(release(name, **changes))
    assert (again.version, again.replaces, again.outcome) == (3, None, "published")
    assert again.why[0] == "version 2 was withdrawn, and nothing is published"
    assert statuses(shared_db, name)[-1] == "published"
    assert seen(shared_db, name) == 50


@pytest.mark.thorough
def test_rolled_back_to_what_readers_had_last(shared_db):
    """Not to a version that a rollback had withdrawn before."""
    nights(shared_db, "u2", (40, 50, 60), keep=3)
    shared_db.rollback("u2")
    shared_db.unpublish("u2")
    assert statuses(shared_db, "u2") == ["replaced", "withdrawn", "replaced"]
    back = shared_db.rollback("u2")
    assert (back.withdrawn, back.version, seen(shared_db, "u2")) == (None, 2, 50)
    shared_db.unpublish("u2")
    assert shared_db.rollback("u2", to=1).version == 1
    assert statuses(shared_db, "u2") == ["published", "withdrawn", "replaced"]


def test_a_run_after_it_may_not_be_weaker(shared_db):
    fill(shared_db, "u3")
    shared_db.run(release("u3", k=5))
    shared_db.unpublish("u3")
    with pytest.raises(sqlanon.GuardError, match=r"version 1, which was published last: k 5 -> 3 \(weaker\)"):
        shared_db.run(release("u3", k=3))
    assert views(shared_db, "u3") == []
    shared_db.unpublish("u3", purge=True)
    with pytest.raises(sqlanon.GuardError, match="k 5 -> 3"):
        shared_db.run(release("u3", k=3))


def test_a_release_in_its_place_may_not_be_weaker(shared_db):
    """Another name is no way around the confirmation: readers look for the same view."""
    fill(shared_db, "u21")
    shared_db.run(release("u21", k=5))
    shared_db.unpublish("u21", purge=True)
    for spec in (release("u21", name="other", k=3), release("u21", name="other", k=3, publish="release.u21")):
        with pytest.raises(
            sqlanon.GuardError, match=r"version 1 of u21, which was published last: k 5 -> 3 \(weaker\)"
        ):
            shared_db.run(spec)
        assert shared_db.plan(spec).weaker == ("k 5 -> 3 (weaker)",)
    arguments = {
        "quasi": ["age", "sex"],
        "sensitive": "illness",
        "identifiers": "id",
        "name": "other",
        "publish": "release.u21",
    }
    with pytest.raises(sqlanon.GuardError, match="version 1 of u21"):
        shared_db.anonymize("u21", k=3, **arguments)
    assert views(shared_db, "u21") == []
    assert shared_db.run(release("u21", name="other", k=5)).version == 1
    assert shared_db.run(release("u21", name="elsewhere", k=3, publish="release.u21b")).version == 1


def test_purge(db):
    """Nothing but the catalog's rows is left of it; another release stays as it is."""
    spec = {"key": "id", "keep": 2}
    nights(db, "u4", (40, 50, 60), **spec)
    nights(db, "other", (40,), **spec)
    others = {table for table in private_tables(db) if table.startswith("other")}
    assert db.unpublish("u4", purge=True).purged == (1, 2, 3)
    assert private_tables(db) == others
    assert statuses(db, "u4") == ["dropped"] * 3
    assert statuses(db, "other") == ["published"]
    with pytest.raises(sqlanon.PolicyError, match="no earlier version is kept"):
        db.rollback("u4")
    assert db.unpublish("u4", purge=True).purged == ()
    assert db.run(release("u4", **spec)).version == 4


def test_purge_later(shared_db):
    nights(shared_db, "u5", (40, 50), keep=2)
    shared_db.unpublish("u5")
    reported = shared_db.unpublish("u5", purge=True)
    assert (reported.version, reported.purged) == (None, (1, 2))


@pytest.mark.cover
@pytest.mark.parametrize(
    "make",
    [
        'CREATE VIEW "on u6" AS SELECT count(*) AS n FROM release.u6',
        'CREATE VIEW "on u6" AS SELECT (SELECT count(*) FROM release.u6_metadata) AS n',
    ],
)
def test_what_depends_on_it(shared_db, make):
    if not views(shared_db, "u6"):
        fill(shared_db, "u6")
        shared_db.run(release("u6"))
    shared_db.engine.execute(make)
    with pytest.raises(sqlanon.DatabaseError, match=r"these read release\.u6.*view .*on u6") as refused:
        shared_db.unpublish("u6")
    assert refused.value.exit_code == 3
    assert statuses(shared_db, "u6")[-1] == "published"
    assert shared_db.engine.fetch('SELECT n FROM "on u6"')[0][0] > 0
    shared_db.engine.execute('DROP VIEW "on u6"')
    assert shared_db.unpublish("u6").version
    shared_db.rollback("u6")


def test_a_macro_that_reads_it(connect):
    db = connect(PAIR[0])
    fill(db, "m")
    db.run(release("m"))
    db.engine.execute("CREATE MACRO far(x) AS (SELECT max(age_hi) + x FROM release.m)")
    with pytest.raises(sqlanon.DatabaseError, match=r"macro main\.far"):
        db.unpublish("m")
    assert views(db, "m") == ["m", "m_metadata"]


@pytest.mark.thorough
@pytest.mark.cover
@pytest.mark.parametrize("replaced", ["u7", "u7_metadata"])
@pytest.mark.parametrize(
    "by",
    [
        "VIEW release.{0} AS SELECT 1 AS mine",
        "VIEW release.{0} AS SELECT * FROM {1} WHERE 1 = 0",
        "TABLE release.{0} AS SELECT 1 AS mine",
    ],
)
def test_a_view_that_is_not_ours_any_more(shared_db, replaced, by):
    """Another query over the same table is somebody's work too."""
    fill(shared_db, "u7")
    if views(shared_db, "u7") == []:
        shared_db.run(release("u7"))
    version = shared_db.version("u7").version
    (table,) = [t for t in private_tables(shared_db) if t.startswith("u7") and t.endswith(f"v{version}{replaced[2:]}")]
    shared_db.engine.execute(f"DROP VIEW release.{replaced}")
    shared_db.engine.execute("CREATE " + by.format(replaced, f'_sqlanon."{table}"'))
    with pytest.raises(sqlanon.PolicyError, match=rf"u7: release\.{replaced} .*sqlanon drops nothing"):
        shared_db.unpublish("u7")
    assert views(shared_db, "u7") == ["u7", "u7_metadata"]
    assert statuses(shared_db, "u7")[-1] == "published"
    assert not [table for table in private_tables(shared_db) if table.startswith("view_")]
    shared_db.engine.execute(f"DROP {by.split()[0]} release.{replaced}")
    reported = shared_db.unpublish("u7")  # one view is gone by hand: the other is dropped
    assert (reported.version, views(shared_db, "u7")) == (version, [])


@pytest.mark.cover
@pytest.mark.parametrize(
    ("name", "message"),
    [("nosuch", "nosuch is not a release of this database; releases: "), ("u8", "u8: nothing is published; --purge")],
)
def test_what_cannot_be_withdrawn(shared_db, name, message):
    if not shared_db.releases("u8"):
        fill(shared_db, "u8")
        shared_db.run(release("u8"))
        shared_db.unpublish("u8")
    with pytest.raises(sqlanon.PolicyError, match=message):
        shared_db.unpublish(name)


def test_beside_a_run_of_the_release(shared_db):
    fill(shared_db, "u9")
    shared_db.run(release("u9"))
    with shared_db.engine.lock("release u9"), ExitStack() as stack:
        other = shared_db
        if shared_db.engine.dialect == "postgres":  # the lock is the session's, which may take it again
            info = shared_db.engine._connection.info
            url = f"postgresql://{info.user}@/{info.dbname}?host={info.host}&port={info.port}"
            other = stack.enter_context(sqlanon.connect(url))
        with pytest.raises(sqlanon.DatabaseError, match="release u9 is being run"):
            other.unpublish("u9")
    assert statuses(shared_db, "u9") == ["published"]


@pytest.mark.thorough
def test_a_release_that_another_reads(shared_db):
    fill(shared_db, "u10")
    shared_db.run(release("u10", format="points"))
    spec = release("u11", source="release.u10", identifiers=[], rows_are="events")
    shared_db.run(spec)
    assert shared_db.unpublish("u10").warnings == ("release u11 has release.u10 as its source: its next run fails",)


def test_readers_lose_it_and_get_it_back(server, roles):  # noqa: F811
    first, second = roles
    fill(server, "g20")
    server.run(release("g20", readers=[first]))
    server.engine.execute(f'GRANT SELECT ON release.g20 TO "{second.replace(chr(34), chr(34) * 2)}"')
    assert can(server, first, "SELECT * FROM release.g20")
    server.unpublish("g20")
    server.engine.execute(
        "CREATE TABLE release.g20 AS SELECT 1 AS a"
    )  # another thing of this name has none of the rights
    assert not can(server, first, "SELECT * FROM release.g20")
    server.engine.execute("DROP TABLE release.g20")
    server.run(release("g20", readers=[first]))
    assert can(server, first, "SELECT * FROM release.g20")
    assert not can(server, second, "SELECT * FROM release.g20")
    server.unpublish("g20")
    server.rollback("g20")
    assert can(server, first, "SELECT * FROM release.g20")


class Cut(Exception):
    """The process ends here."""


def test_cut_at_any_statement(shared_db, monkeypatch):
    """The release is published or withdrawn after each, whole; nothing is in between."""
    fill(shared_db, "u12")
    shared_db.run(release("u12"))
    execute, made = shared_db.engine.execute, []
    for at in range(1, 40):
        made.clear()

        def cutting(statement, at=at):
            made.append(statement.name if isinstance(statement, Statement) else statement)
            if len(made) == at:
                raise Cut
            execute(statement)

        with monkeypatch.context() as patched:
            patched.setattr(shared_db.engine, "execute", cutting)
            try:
                shared_db.unpublish("u12")
            except Cut:
                ended = False
                if made[-1] == "COMMIT":  # a session that ends there rolls back
                    shared_db.engine._connection.execute("ROLLBACK")
            else:
                ended = True
        assert statuses(shared_db, "u12") == (["withdrawn"] if ended else ["published"])
        assert views(shared_db, "u12") == ([] if ended else ["u12", "u12_metadata"])
        if ended:
            break
    assert at > 4
    assert "catalog/update" in made


@pytest.mark.thorough
def test_a_view_of_odd_names(shared_db):
    """Whatever the release is called: its own view is found to be its own."""
    fill(shared_db, "u13")
    shared_db.run(release("u13", publish='"Re lease"."a AS ""b"" (c)"'))
    assert shared_db.engine.exists(TableRef("Re lease", 'a AS "b" (c)'))
    assert shared_db.unpublish("u13").version == 1
    assert not shared_db.engine.exists(TableRef("Re lease", 'a AS "b" (c)'))


def test_a_view_is_not_replaced_between_the_check_and_the_drop(connect, monkeypatch):
    """Somebody else's view, put there meanwhile, would be dropped as ours."""
    import psycopg

    db = connect(ENGINES[2])
    with psycopg.connect(db.engine._connection.info.dsn, autocommit=True) as other:
        nights(db, "u20", (40,))
        other.execute("SET lock_timeout = '200ms'")
        tried = []

        relying = type(db.engine).list_dependents

        def meanwhile(self, views):
            for view in ("u20", "u20_metadata"):
                columns = ", ".join(
                    f'NULL::{c.type} AS "{c.name}"' for c in db.engine.relation(f"release.{view}").columns
                )
                with pytest.raises(psycopg.errors.LockNotAvailable):
                    other.execute(f"CREATE OR REPLACE VIEW release.{view} AS SELECT {columns}")
                tried.append(view)
            return relying(self, views)

        monkeypatch.setattr(type(db.engine), "list_dependents", meanwhile)
        db.unpublish("u20")
        assert tried == ["u20", "u20_metadata"]
        assert views(db, "u20") == []
