"""Readers of a release on PostgreSQL.

It tests the policy's roles, rights granted by hand, objects that depend on a view, and waiting readers.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

import sqlanon
from tests.conftest import ready
from tests.engines import PAIR
from tests.refresh.conftest import fill, release

SERVER = PAIR[1]
PASSWORD = uuid.uuid4().hex


@pytest.fixture(scope="module")
def server(connect_module) -> Any:
    return connect_module(SERVER)


@pytest.fixture
def roles(server) -> Iterator[tuple[str, str]]:
    """Two roles with odd names, as the policy spells them; they go with the test."""
    names = tuple(f'Read"er {which} {uuid.uuid4().hex[:6]}' for which in "ab")
    for name in names:
        server.engine.execute(f"CREATE ROLE {quoted(name)} LOGIN PASSWORD '{PASSWORD}'")
    yield names
    for name in names:
        server.engine.execute(f"DROP OWNED BY {quoted(name)}")
        server.engine.execute(f"DROP ROLE {quoted(name)}")


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def can(db: Any, role: str, query: str) -> bool:
    """Whether the role may do it, by connecting as it."""
    import psycopg

    dsn = db.engine._connection.info.dsn
    with psycopg.connect(dsn, user=role, password=PASSWORD, autocommit=True) as session:
        try:
            session.execute(query)
        except psycopg.errors.InsufficientPrivilege:
            return False
    return True


def test_readers_of_the_policy_read_the_release_and_nothing_else(server, roles):
    fill(server, "g1")
    first, second = roles
    for rows in (40, 50):  # so that there is an old version as well
        fill(server, "g1", rows)
        server.run(release("g1", readers=[first]))
    assert can(server, first, "SELECT * FROM release.g1")
    assert can(server, first, "SELECT * FROM release.g1_metadata")
    tables = server.engine.fetch("SELECT quote_ident(tablename) FROM pg_tables WHERE schemaname = '_sqlanon'")
    mine = [table for (table,) in tables if table.startswith(("g1_", "catalog", "secrets"))]
    assert len(mine) == 8  # two versions: rows, metadata, link
    for table in mine:
        assert not can(server, first, f"SELECT count(*) FROM _sqlanon.{table}")
    for refused in ("SELECT * FROM public.g1", "DELETE FROM release.g1 RETURNING 1"):
        assert not can(server, first, refused)
    assert not can(server, second, "SELECT * FROM release.g1")


def test_a_change_of_readers_makes_no_version(server, roles):
    fill(server, "g2")
    first, second = roles
    server.run(release("g2", readers=[first]))
    changed = server.run(release("g2", readers=[second]))
    assert (changed.outcome, changed.version) == ("unchanged", 1)
    assert not can(server, first, "SELECT * FROM release.g2")
    assert can(server, second, "SELECT * FROM release.g2")
    server.engine.execute(
        f"GRANT SELECT ON release.g2 TO {quoted(first)}"
    )  # by hand: the policy never took charge of it
    server.run(release("g2", readers=[second], format="labels"))
    assert can(server, first, "SELECT * FROM release.g2")


def test_anatomy_has_a_third_view(server, roles):
    fill(server, "g3")
    server.run(release("g3", format="anatomy", presence="disclosed", readers=list(roles)))
    assert all(can(server, role, "SELECT * FROM release.g3_sensitive") for role in roles)


def test_questionable_readers_are_warned_of(server, roles):
    fill(server, "g4")
    first, _ = roles
    server.engine.execute(f"GRANT SELECT (age) ON g4 TO {quoted(first)}")
    server.engine.execute("CREATE SCHEMA IF NOT EXISTS _sqlanon")
    server.engine.execute(f"GRANT USAGE ON SCHEMA _sqlanon TO {quoted(first)}")
    reported = server.plan(release("g4", readers=[first, "nobody_here"])).warnings
    assert f"reader {first} can read the source public.g4 itself" in reported
    assert [line for line in reported if line.startswith(f"reader {first} can see into the private schema")]
    assert "readers: this database has no role nobody_here; nothing is granted to it" in reported


def test_somebody_elses_schema(server, roles):
    """PostgreSQL only warns when it grants nothing; the run says so and publishes nothing."""
    fill(server, "g5")
    owner, reader = roles
    schema = f"s_{uuid.uuid4().hex[:6]}"
    server.engine.execute(f"CREATE SCHEMA {schema} AUTHORIZATION {quoted(owner)}")
    runner = f"runner_{uuid.uuid4().hex[:6]}"
    server.engine.execute(f"CREATE ROLE {runner}")
    server.engine.execute(f"GRANT USAGE, CREATE ON SCHEMA {schema} TO {runner}")
    server.engine.execute(
        f"GRANT CREATE, TEMPORARY ON DATABASE {server.engine.fetch('SELECT current_database()')[0][0]} TO {runner}"
    )
    server.engine.execute(f"GRANT SELECT ON g5 TO {runner}")
    server.engine.execute("DROP SCHEMA IF EXISTS _sqlanon CASCADE")
    server.engine.execute(f"SET ROLE {runner}")
    try:
        with pytest.raises(sqlanon.DatabaseError, match=f"read schema {schema}: somebody else owns it"):
            server.run(release("g5", publish=f"{schema}.v", readers=[reader]))
        assert server.releases("g5") == ()
    finally:
        server.engine.execute("RESET ROLE")
        server.engine.execute(f"DROP OWNED BY {runner} CASCADE")
        server.engine.execute(f"DROP ROLE {runner}")


GRANTS = (
    "SELECT g.grantee::regrole::text, g.privilege_type, g.is_grantable, NULL FROM pg_class AS c, aclexplode(c.relacl) "
    "AS g WHERE c.relname = '{t}' UNION ALL SELECT g.grantee::regrole::text, g.privilege_type, g.is_grantable, "
    "a.attname FROM pg_attribute AS a, aclexplode(a.attacl) AS g WHERE a.attrelid = 'release.{t}'::regclass ORDER BY "
    "1, 2, 3, 4"
)


def test_rights_survive_both_ways_of_the_swap(server, roles):
    """Replaced in place where columns stay or come last, made anew otherwise.

    Table, column and grant-option rights, comments.
    """
    fill(server, "g6")
    first, second = roles
    server.run(release("g6"))
    server.engine.execute(f"GRANT SELECT, UPDATE ON release.g6 TO {quoted(first)} WITH GRANT OPTION")
    server.engine.execute(f"GRANT SELECT (illness) ON release.g6 TO {quoted(second)}")
    server.engine.execute("COMMENT ON VIEW release.g6 IS 'it''s 100% ours'")
    server.engine.execute("COMMENT ON COLUMN release.g6.illness IS 'as coded'")
    before = server.engine.fetch(GRANTS.format(t="g6"))
    oid = "SELECT 'release.g6'::regclass::oid::bigint"
    (same,) = server.engine.fetch(oid)
    fill(server, "g6", 50)
    server.run(release("g6"))
    assert server.engine.fetch(oid) == [same]  # CREATE OR REPLACE VIEW
    server.engine.execute("ALTER TABLE g6 ADD COLUMN cost INTEGER DEFAULT 5")
    server.run(release("g6", insensitive="cost"), allow_weaker=True)
    assert server.engine.fetch(oid) == [same]  # a column that comes last
    server.engine.execute(f"ALTER DEFAULT PRIVILEGES GRANT INSERT ON TABLES TO {quoted(second)}")
    try:
        server.run(release("g6", insensitive="cost", format="labels"))
    finally:
        server.engine.execute(f"ALTER DEFAULT PRIVILEGES REVOKE INSERT ON TABLES FROM {quoted(second)}")
    assert server.engine.fetch(oid) != [same]
    assert server.engine.fetch(GRANTS.format(t="g6")) == before
    said = (
        "SELECT obj_description('release.g6'::regclass), col_description('release.g6'::regclass, attnum) FROM "
        "pg_attribute "
    )
    said += "WHERE attrelid = 'release.g6'::regclass AND attname = 'illness'"
    assert server.engine.fetch(said) == [("it's 100% ours", "as coded")]


def test_what_depends_on_a_view_is_listed_and_stops_its_remaking(server):
    fill(server, "g7")
    server.run(release("g7"))
    server.engine.execute("CREATE VIEW g7_report AS SELECT count(*) FROM release.g7")
    server.engine.execute("CREATE MATERIALIZED VIEW g7_cube AS SELECT illness FROM release.g7")
    server.engine.execute(
        "CREATE FUNCTION g7_rows() RETURNS SETOF release.g7 LANGUAGE sql AS 'SELECT * FROM release.g7'"
    )
    fill(server, "g7_more", 50)
    server.engine.execute("INSERT INTO g7 SELECT * FROM g7_more WHERE id > 40")
    assert server.run(release("g7")).version == 2  # replaced in place: nobody is in the way
    with pytest.raises(sqlanon.DatabaseError, match="depend on it") as stopped:
        server.run(release("g7", format="labels"))
    for name in ("view public.g7_report", "materialized view public.g7_cube", "function public.g7_rows()"):
        assert name in str(stopped.value)
    assert stopped.value.exit_code == 3
    assert [row.status for row in server.releases("g7")] == ["replaced", "published"]
    assert server.engine.fetch("SELECT * FROM g7_report") == [(50,)]
    server.engine.execute("DROP FUNCTION g7_rows()")
    server.engine.execute("DROP MATERIALIZED VIEW g7_cube")
    server.engine.execute("DROP VIEW g7_report")
    assert server.run(release("g7", format="labels")).version == 3


def test_readers_never_queue_behind_the_swap(server, monkeypatch):
    """While a long query holds the view the run tries for a moment, again and again.

    New readers wait no longer than that.

    The long query ends when others have read 30 times while the run tries.
    """
    import psycopg

    from sqlanon.engines.postgres import session

    fill(server, "g8")
    server.run(release("g8"))
    fill(server, "g8", 50)
    url = server.engine._connection.info.dsn
    waits: list[float] = []
    limits: list[object] = []
    swapping = type(server.engine).run_swap

    def watched(self, action) -> None:
        def tried() -> None:
            limits.extend(self.fetch("SHOW lock_timeout"))
            action()

        swapping(self, tried)

    monkeypatch.setattr(type(server.engine), "run_swap", watched)
    with psycopg.connect(url) as long, psycopg.connect(url, autocommit=True) as short:
        long.execute("SELECT count(*) FROM release.g8")  # its transaction keeps the lock
        done = threading.Event()

        def read() -> None:
            while not done.wait(0.01):
                tries = len(limits)
                begin = time.perf_counter()
                short.execute("SELECT count(*) FROM release.g8").fetchone()
                if tries:
                    waits.append(time.perf_counter() - begin)
                if len(waits) == 30:
                    long.rollback()

        reader = threading.Thread(target=read)
        reader.start()
        try:
            assert server.run(release("g8")).version == 2
        finally:
            done.set()
            reader.join()
    assert len(waits) >= 30
    assert set(limits) == {("100ms",)}
    assert max(waits) < session.SWAP_SECONDS, max(waits)  # which a reader would wait behind the swap


def test_readers_that_never_let_go(server, monkeypatch):
    import psycopg

    from sqlanon.engines.postgres import session

    monkeypatch.setattr(session, "SWAP_SECONDS", 0.5)
    fill(server, "g9")
    server.run(release("g9"))
    fill(server, "g9", 50)
    with psycopg.connect(server.engine._connection.info.dsn) as long:
        long.execute("SELECT count(*) FROM release.g9")
        with pytest.raises(sqlanon.LockedError):
            server.run(release("g9"))
    assert server.engine.fetch("SELECT count(*) FROM release.g9") == [(40,)]
    assert server.run(release("g9")).version == 2


def test_a_release_that_is_not_due_changes_its_readers(server, roles):
    """And the period goes on: nobody looked at the source."""
    fill(server, "g21")
    first, second = roles
    for reader, outcome in ((first, "published"), (second, "fresh"), (first, "fresh")):
        report = server.run(release("g21", readers=[reader], every="24h"), only_due=True)
        assert report.outcome == outcome
        other = second if reader == first else first
        assert can(server, reader, "SELECT * FROM release.g21")
        assert not can(server, other, "SELECT * FROM release.g21")


def test_rollback_leaves_the_readers_as_they_are(server, roles):
    """And remembers them: whom a later policy no longer names loses the views, whichever version is published."""
    first, second = roles
    for rows, reader in ((40, first), (50, second)):
        fill(server, "g20", rows)
        server.run(release("g20", readers=[reader], keep=3))
    server.rollback("g20")
    assert not can(server, first, "SELECT * FROM release.g20")
    assert can(server, second, "SELECT * FROM release.g20")
    assert server.version("g20").policy["readers"] == [second]
    fill(server, "g20", 40)
    assert server.run(release("g20", readers=[first], keep=3)).outcome == "unchanged"
    assert can(server, first, "SELECT * FROM release.g20")
    assert not can(server, second, "SELECT * FROM release.g20")


def test_default_privileges_open_no_private_schema(connect, roles):
    """Usual in warehouses: whoever makes a schema or a table lets analysts in at once."""
    db, role = connect(SERVER), quoted(roles[0])
    for what in ("USAGE ON SCHEMAS", "SELECT ON TABLES"):
        db.engine.execute(f"ALTER DEFAULT PRIVILEGES GRANT {what} TO {role}")
    fill(db, "p1")
    assert db.run(release("p1")).warnings == ()
    for table in ("catalog", "secrets"):
        assert not can(db, roles[0], f"SELECT * FROM _sqlanon.{table}")
    db.engine.execute(f"GRANT USAGE ON SCHEMA _sqlanon TO {role}")
    assert [line for line in db.plan(release("p1")).warnings if "was let into the private schema" in line]
    db.engine.execute(f"DROP OWNED BY {role}")


def test_a_private_schema_of_somebody_else(connect, roles):
    """He made it first, and would read all that is written there."""
    first, second = map(quoted, roles)
    db = connect(SERVER)
    for role in (first, second):
        db.engine.execute(f"GRANT CREATE ON DATABASE {db.engine._connection.info.dbname} TO {role}")
    fill(db, "p2")
    db.engine.execute(f"CREATE SCHEMA _sqlanon AUTHORIZATION {first}")
    db.engine.execute(f"GRANT USAGE, CREATE ON SCHEMA _sqlanon TO {second}")
    db.engine.execute(f"ALTER TABLE p2 OWNER TO {second}")
    db.engine.execute(f"SET SESSION AUTHORIZATION {second}")
    try:
        with pytest.raises(sqlanon.DatabaseError, match="schema _sqlanon belongs to role"):
            db.run(release("p2"))
    finally:
        db.engine.execute("RESET SESSION AUTHORIZATION")
        for role in (first, second):
            db.engine.execute(f"DROP OWNED BY {role} CASCADE")


@pytest.mark.parametrize("setting", ["database", "url"])
def test_a_session_that_settings_make_another_role(tmp_path, roles, setting):
    """The private schema would be that role's, and its members would read the secrets."""
    url = ready(SERVER).fresh(tmp_path)
    group = quoted(roles[0])
    try:
        with sqlanon.connect(url) as db:
            name = db.engine._connection.info.dbname
            db.engine.execute(f"GRANT CREATE ON DATABASE {name} TO {group}")
            db.engine.execute(f"GRANT CREATE ON SCHEMA public TO {group}")
            if setting == "database":
                db.engine.execute(f"ALTER DATABASE {name} SET role = {group}")
        # In the URL, a quote of the role's name is a quote, and spaces are escaped by \\.
        options = quote(f"-crole={roles[0]}".replace(" ", "\\ "), safe="")
        where = url if setting == "database" else f"{url}{'&' if '?' in url else '?'}options={options}"
        with sqlanon.connect(where) as db:
            assert db.engine.fetch("SELECT current_user = session_user") == [(True,)]
            fill(db, "r1")
            db.run(release("r1"))
            owner = "SELECT pg_get_userbyid(nspowner) = session_user FROM pg_namespace WHERE nspname = '_sqlanon'"
            assert db.engine.fetch(owner) == [(True,)]
            assert not can(db, roles[0], "SELECT * FROM _sqlanon.secrets")
    finally:
        SERVER.drop(url)


def test_members_of_the_owner_are_named(connect, roles):
    """Whoever is a member of the role that owns the private schema, by way of others too, reads the secrets."""
    db, (owner, member) = connect(SERVER), roles
    between = f"between {uuid.uuid4().hex[:6]}"
    fill(db, "m1")
    db.engine.execute(f"CREATE ROLE {quoted(between)}")
    try:
        db.run(release("m1"))
        quiet = db.plan(release("m1")).warnings
        assert not [line for line in quiet if "with its secrets" in line]
        db.engine.execute(f"ALTER SCHEMA _sqlanon OWNER TO {quoted(owner)}")
        db.engine.execute(f"ALTER TABLE _sqlanon.secrets OWNER TO {quoted(owner)}")
        db.engine.execute(f"GRANT {quoted(owner)} TO {quoted(between)}; GRANT {quoted(between)} TO {quoted(member)}")
        db.engine.execute(f"GRANT {quoted(owner)} TO current_user")
        assert can(db, member, "SELECT * FROM _sqlanon.secrets")
        (line,) = [line for line in db.plan(release("m1")).warnings if "with its secrets" in line]
        assert line.startswith(f"{member} can read the private schema _sqlanon")
        assert owner in line
    finally:
        db.engine.execute(f"REASSIGN OWNED BY {quoted(owner)} TO current_user")
        db.engine.execute(f"DROP ROLE {quoted(between)}")
