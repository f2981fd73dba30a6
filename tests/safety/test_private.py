"""The private schema of PostgreSQL.

Nobody else reads it, by rights, default privileges, statistics, or as its owner.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest

import sqlanon
from tests.engines import ENGINES, quote
from tests.refresh.conftest import CATALOG_COLUMNS, fill, release

SERVER = ENGINES[2]


@pytest.fixture(scope="module")
def server(connect_module) -> Any:
    return connect_module(SERVER)


@pytest.fixture
def role(server) -> Iterator[str]:
    """A role that may log in; it goes with the test."""
    name = f'An"alyst {uuid.uuid4().hex[:6]}'
    server.engine.execute(f"CREATE ROLE {quote(name)} LOGIN")
    yield name
    server.engine.execute(f"DROP OWNED BY {quote(name)} CASCADE")
    server.engine.execute(f"DROP ROLE {quote(name)}")


def seen(db: Any, role: str, where: str) -> set[str]:
    """The tables whose most common values ``pg_stats`` shows to a role."""
    import psycopg

    with psycopg.connect(db.engine._connection.info.dsn, user=role, autocommit=True) as session:
        rows = session.execute(f"SELECT DISTINCT tablename FROM pg_stats WHERE {where}").fetchall()
    return {row[0] for row in rows}


PRIVATE = "schemaname = '_sqlanon'"
KEPT = (
    "schemaname = '_sqlanon' AND (tablename IN ('catalog', 'secrets') OR tablename LIKE '%link' OR tablename LIKE "
    "'%history')"
)
RIGHTS = (
    "SELECT DISTINCT c.relname FROM pg_class AS c, aclexplode(c.relacl) AS g "
    "WHERE c.relnamespace = '_sqlanon'::regnamespace AND g.grantee <> c.relowner"
)


@pytest.mark.parametrize("who", ["the role", "PUBLIC"])
def test_default_privileges_show_no_statistics(connect, role, who):
    """Neither of private tables nor of the temporary tables that hold the source's values while a run lasts."""
    db, to = connect(SERVER), quote(role) if who == "the role" else who
    db.engine.execute(f"ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO {to}")
    fill(db, "p1", 300)
    for table in ("p1_before", "p1"):
        db.engine.execute(f"CREATE TABLE IF NOT EXISTS {table} AS SELECT * FROM p1")
    db.engine.execute("ANALYZE p1_before")
    assert seen(db, role, "tablename = 'p1_before'") == {"p1_before"}  # what the rights give elsewhere
    during: list[set[str]] = []

    class Look:
        def stage(self, release: str, stage: str) -> None:
            during.append(seen(db, role, "schemaname LIKE 'pg_temp%' OR schemaname = '_sqlanon'"))

        def update(self, done: int, total: int, unit: str) -> None: ...

        def note(self, message: str) -> None: ...

        def finish(self, release: str) -> None: ...

    from sqlanon.release.divide.classes import Machine
    from sqlanon.release.run import run

    run(db.engine, release("p1", key=["id"]), Machine.here(), Look())
    db.engine.execute("INSERT INTO p1 SELECT i, 30, 'm', 'flu' FROM generate_series(1000, 1010) AS g(i)")
    run(db.engine, release("p1", key=["id"]), Machine.here(), Look())
    assert len(during) > 8
    assert set().union(*during) == set()
    db.engine.execute("ANALYZE")
    assert db.engine.fetch(RIGHTS) == []
    assert seen(db, role, PRIVATE) == set()
    assert db.engine.fetch(f"SELECT tablename FROM pg_stats WHERE {KEPT}") == []  # not even for the owner
    db.engine.execute(f"ALTER DEFAULT PRIVILEGES REVOKE ALL ON TABLES FROM {to}")
    db.engine.execute(f"DROP OWNED BY {quote(role)}")


def test_a_catalog_of_an_older_version_loses_its_statistics(connect):
    db = connect(SERVER)
    fill(db, "p2", 300)
    db.run(release("p2", key=["id"]))
    for (table,) in db.engine.fetch("SELECT tablename FROM pg_tables WHERE schemaname = '_sqlanon'"):
        for (column,) in db.engine.fetch(
            f"SELECT attname::text FROM pg_attribute WHERE attrelid = '_sqlanon.{table}'::regclass AND attnum > 0"
        ):
            db.engine.execute(f"ALTER TABLE _sqlanon.{table} ALTER COLUMN {quote(column)} SET STATISTICS -1")
    db.engine.execute("ANALYZE")
    held = db.engine.fetch(f"SELECT DISTINCT tablename::text FROM pg_stats WHERE {KEPT} ORDER BY 1")
    assert len(held) == 4
    before = db.engine.fetch("SELECT * FROM _sqlanon.secrets")
    fill(db, "p2", 330)
    db.run(release("p2", key=["id"]))
    assert db.engine.fetch(f"SELECT tablename FROM pg_stats WHERE {KEPT}") == []
    db.engine.execute("ANALYZE")
    assert db.engine.fetch(f"SELECT tablename FROM pg_stats WHERE {KEPT}") == []
    assert db.engine.fetch("SELECT * FROM _sqlanon.secrets") == before
    assert db.history("p2")[0].unknown == ""


@pytest.mark.parametrize(
    "right", ["SELECT ON _sqlanon.secrets", "SELECT (secret) ON _sqlanon.secrets", "TRIGGER ON _sqlanon.catalog"]
)
def test_rights_on_a_private_table_stop_every_run(server, role, right):
    fill(server, "p3")
    server.run(release("p3"))
    server.engine.execute(f"GRANT {right} TO {quote(role)}")
    for action in (
        lambda: server.plan(release("p3")),
        lambda: server.run(release("p3")),
        lambda: server.rollback("p3"),
        server.clean,
    ):
        with pytest.raises(sqlanon.DatabaseError, match="may read or change private tables") as stopped:
            action()
        assert role in str(stopped.value)
        assert "REVOKE ALL ON ALL TABLES IN SCHEMA" in str(stopped.value)
    server.engine.execute(f"REVOKE {right} FROM {quote(role)}")
    assert server.run(release("p3")).outcome == "unchanged"


def test_a_trigger_that_stayed_when_its_right_was_revoked_stops_every_run(connect, role):
    """It would run with the rights of whoever writes the private table."""
    db = connect(SERVER)
    fill(db, "p8")
    db.run(release("p8"))
    db.engine.execute("CREATE TABLE loot (secret text); GRANT INSERT ON loot TO PUBLIC")
    db.engine.execute(
        f"GRANT USAGE ON SCHEMA _sqlanon TO {quote(role)}; GRANT CREATE ON SCHEMA public TO {quote(role)}"
    )
    db.engine.execute(f"GRANT TRIGGER ON _sqlanon.catalog TO {quote(role)}")
    db.engine.execute(f"SET SESSION AUTHORIZATION {quote(role)}")
    db.engine.execute(
        "CREATE FUNCTION public.loot() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "INSERT INTO public.loot SELECT secret FROM _sqlanon.secrets; RETURN NEW; END $$"
    )
    db.engine.execute(
        'CREATE TRIGGER "t t" BEFORE INSERT OR UPDATE ON _sqlanon.catalog FOR EACH ROW EXECUTE FUNCTION public.loot()'
    )
    db.engine.execute("RESET SESSION AUTHORIZATION")
    db.engine.execute(f"REVOKE ALL ON ALL TABLES IN SCHEMA _sqlanon FROM {quote(role)}")
    db.engine.execute(f"REVOKE ALL ON SCHEMA _sqlanon FROM {quote(role)}")
    fill(db, "p8", 50)
    for action in (
        lambda: db.plan(release("p8")),
        lambda: db.run(release("p8")),
        lambda: db.rollback("p8"),
        db.clean,
        lambda: db.unpublish("p8"),
    ):
        with pytest.raises(sqlanon.DatabaseError, match="have triggers") as stopped:
            action()
        assert 'DROP TRIGGER "t t" ON "_sqlanon"."catalog"' in str(stopped.value)
        assert role in str(stopped.value)
    assert db.engine.fetch("SELECT count(*) FROM loot") == [(0,)]
    db.engine.execute('DROP TRIGGER "t t" ON "_sqlanon"."catalog"')
    assert db.run(release("p8")).version == 2
    db.engine.execute(f"DROP OWNED BY {quote(role)} CASCADE")


def test_a_planted_catalog_is_not_read(connect, role):
    """Another role with the right to create schemas makes the private one first.

    Its views call functions that would run as their reader.
    """
    db = connect(SERVER)
    fill(db, "p4")
    db.engine.execute(f"GRANT CREATE ON DATABASE {db.engine._connection.info.dbname} TO {quote(role)}")
    db.engine.execute("CREATE TABLE stolen (id INTEGER)")
    db.engine.execute("GRANT INSERT ON stolen TO PUBLIC")
    db.engine.execute(f"SET SESSION AUTHORIZATION {quote(role)}")
    db.engine.execute("CREATE SCHEMA _sqlanon")
    db.engine.execute(
        "CREATE FUNCTION _sqlanon.steal() RETURNS text LANGUAGE plpgsql AS $$ BEGIN "
        "INSERT INTO public.stolen SELECT id FROM public.p4; RETURN 'x'; END $$"
    )
    columns = ", ".join(f"_sqlanon.steal() AS {name}" for name in (*CATALOG_COLUMNS, "secret"))
    for name in ("catalog", "secrets"):
        db.engine.execute(f"CREATE VIEW _sqlanon.{name} AS SELECT {columns}")
        db.engine.execute(f"GRANT SELECT ON _sqlanon.{name} TO PUBLIC")
    db.engine.execute("RESET SESSION AUTHORIZATION")
    for action in (
        lambda: db.plan(release("p4")),
        lambda: db.run(release("p4")),
        db.releases,
        db.clean,
        lambda: db.rollback("p4"),
        lambda: db.history("p4"),
        lambda: db.together("p4", "p5"),
        lambda: db.sample("p4"),
    ):
        with pytest.raises(sqlanon.DatabaseError, match="_sqlanon belongs to role"):
            action()
    with pytest.raises(sqlanon.SqlanonError):
        db.query("SELECT count(*) FROM p4")
    assert db.engine.fetch("SELECT count(*) FROM stolen") == [(0,)]
    db.engine.execute(f"DROP OWNED BY {quote(role)} CASCADE")


def test_a_planted_link_table_is_not_read(connect, role):
    """The catalog of another role's private schema is a plain table.

    It claims that this view's persons are in a view of that role.
    """
    db = connect(SERVER)
    fill(db, "p9")
    db.run(release("p9", rows_are="events"))
    rows = db.engine.fetch("SELECT physical FROM _sqlanon.catalog")
    db.engine.execute("CREATE TABLE stolen (id INTEGER); GRANT INSERT ON stolen TO PUBLIC")
    db.engine.execute(f"GRANT CREATE ON DATABASE {db.engine._connection.info.dbname} TO {quote(role)}")
    db.engine.execute(f"GRANT CREATE ON SCHEMA public TO {quote(role)}")
    db.engine.execute("ALTER SCHEMA _sqlanon RENAME TO own")
    db.engine.execute(f"CREATE SCHEMA _sqlanon AUTHORIZATION {quote(role)}")
    db.engine.execute(
        "CREATE TABLE _sqlanon.catalog AS SELECT * FROM own.catalog; ALTER TABLE _sqlanon.catalog OWNER TO "
        f"{quote(role)}"
    )
    db.engine.execute(f"SET SESSION AUTHORIZATION {quote(role)}")
    db.engine.execute(
        "CREATE FUNCTION _sqlanon.steal() RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN "
        "INSERT INTO public.stolen SELECT id FROM public.p9; RETURN 1; END $$"
    )
    db.engine.execute(
        f"CREATE VIEW _sqlanon.{rows[0][0]}_link AS SELECT 1::bigint AS link, 1::bigint AS class, _sqlanon.steal() AS "
        "p1"
    )
    db.engine.execute("RESET SESSION AUTHORIZATION")
    with pytest.raises(sqlanon.DatabaseError, match="_sqlanon belongs to role"):
        db.audit("release.p9")
    # What takes a table's place between the check and the read is refused by the server.
    with db.engine.reading(db.engine.target("_sqlanon.catalog")):
        db.engine.execute("ALTER TABLE _sqlanon.catalog RENAME TO before")
        db.engine.execute("CREATE VIEW _sqlanon.catalog AS SELECT _sqlanon.steal() AS n")
        with pytest.raises(sqlanon.DatabaseError):
            db.engine.fetch("SELECT n FROM _sqlanon.catalog")
    assert db.engine.fetch("SELECT count(*) FROM stolen") == [(0,)]
    assert db.engine.fetch("SELECT count(*) FROM release.p9") != []  # views are read again
    db.engine.execute("DROP VIEW _sqlanon.catalog; ALTER TABLE _sqlanon.before OWNER TO CURRENT_USER")
    db.engine.execute(f"DROP OWNED BY {quote(role)} CASCADE")


def test_those_who_read_everything_are_named_once(server, role):
    fill(server, "p6")
    assert server.plan(release("p6")).warnings == ()
    server.engine.execute(f"GRANT pg_read_all_data TO {quote(role)}")
    for warnings in (server.plan(release("p6")).warnings, server.run(release("p6")).warnings):
        (line,) = (line for line in warnings if "can read every table" in line)
        assert role in line
    server.engine.execute(f"REVOKE pg_read_all_data FROM {quote(role)}")


def test_audit_and_releases_write_nothing(server):
    """They work where every transaction is read-only; what needs temporary tables says why it does not."""
    fill(server, "p7")
    server.run(release("p7", key=["id"]))
    fill(server, "p7", 50)
    server.run(release("p7", key=["id"]))
    url = f"{server.engine._connection.info.dsn} options='-c default_transaction_read_only=on'"
    import psycopg

    from sqlanon.database import Database
    from sqlanon.engines.postgres.engine import PostgresEngine
    from sqlanon.progress import SilentProgress
    from sqlanon.release.divide.classes import Machine

    def opened(read_only: bool, target: str) -> Database:
        return Database(
            PostgresEngine(psycopg.connect(target, autocommit=True), read_only=read_only),
            SilentProgress(),
            Machine.here(),
        )

    with opened(True, url) as db:
        assert db.audit("release.p7", spec=release("p7")).k >= 3
        assert len(db.releases("p7")) == 2
        assert db.version("p7").version == 2
        assert db.query("SELECT count(*) AS n FROM p7").rows[0]["n"].low == 50
        with pytest.raises(sqlanon.DatabaseError, match="this session is read-only"):
            db.history("p7")
    with opened(True, server.engine._connection.info.dsn) as db:
        assert len(db.history("p7")) == 1
        with pytest.raises(sqlanon.DatabaseError, match="opened to read only"):
            db.rollback("p7")
    assert [row.status for row in server.releases("p7")] == ["replaced", "published"]
