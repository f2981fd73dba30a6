"""Attempts of an analyst with ``query --as ROLE`` on PostgreSQL.

Every text is refused, or does no more than it may.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from sqlanon.errors import DatabaseError, PolicyError, UnsupportedError
from tests.engines import ENGINES

FUNCTIONS = [  # volatile, of the server, of a schema, or of somebody who planted them
    "set_config('role', 'none', true)",
    "pg_catalog.set_config('role', 'none', true)",
    "current_setting('data_directory')",
    "{s}.leak()",
    "leak()",
    '"leak"()',
    "pg_sleep(9)",
    "random()",
    "nextval('s')",
    "txid_current()",
    "pg_advisory_lock(1)",
    "pg_read_file('/etc/passwd')",
    "pg_ls_dir('.')",
    "lo_get(1)",
    "lo_import('/etc/passwd')",
    "lo_from_bytea(0, 'x')",
    "query_to_xml('select * from {t}', true, true, '')",
    "dblink('x', 'y')",
    "current_user",
    "session_user",
    "current_schema",
    "version()",
    "clock_timestamp()",
    "pg_backend_pid()",
    "pg_terminate_backend(1)",
    "pg_notify('a', 'b')",
    "to_regclass('{t}')",
    "has_table_privilege('{t}', 'SELECT')",
    "pg_get_viewdef(1)",
    "xpath('/a', '<a/>')",
]
PLACES = [
    "SELECT count(*) AS n, {f} FROM {t}",
    "SELECT count(*) AS n, max({f}) FROM {t}",
    "SELECT count(*) AS n FROM {t} WHERE {f} IS NULL",
    "SELECT count(*) FILTER (WHERE {f} IS NULL) AS n FROM {t}",
    "SELECT count(*) AS n FROM {t} GROUP BY {f}",
    "SELECT count(*) AS n FROM {t} HAVING {f} IS NULL",
    "SELECT count(*) AS n FROM {t} ORDER BY {f}",
    "SELECT count(*) AS n FROM {t} OFFSET {f}",
    "WITH x AS (SELECT {f} AS a) SELECT count(*) AS n FROM {t}",
    "SELECT count(*) AS n FROM {t}, {f} AS x",
    "SELECT count(*) AS n FROM {t} JOIN LATERAL {f} AS x ON TRUE",
    "SELECT count(*) AS n FROM {t} WHERE ill = (SELECT CAST({f} AS text))",
]
TEXTS = [
    "SET ROLE postgres",
    "RESET ROLE; SELECT count(*) AS n FROM {t}",
    "SELECT count(*) AS n FROM {t}; RESET ROLE",
    "SELECT count(*) AS n FROM {t}; COMMIT; SELECT max(age) FROM {t}",
    "COMMIT",
    "COMMIT AND CHAIN",
    "ROLLBACK; SELECT count(*) FROM {t}",
    "DO $$ BEGIN END $$",
    "EXPLAIN ANALYZE SELECT count(*) AS n FROM {t}",
    "COPY {t} TO '/tmp/x'",
    "EXECUTE q",
    "VALUES (1)",
    "TABLE {t}",
    "SELECT count(*) AS n INTO kept FROM {t}",
    "SELECT count(*) AS n FROM {t} FOR UPDATE",
    "SELECT count(*) AS n FROM ONLY {t}",
    "WITH x AS (DELETE FROM {t} RETURNING 1) SELECT count(*) AS n FROM {t}",
    "WITH RECURSIVE x AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM x) SELECT count(*) AS n FROM {t}",
    "SELECT count(*) AS n FROM {t} UNION SELECT max(oid) FROM pg_catalog.pg_authid",
    "SELECT ill FROM {t} UNION SELECT rolname FROM pg_catalog.pg_authid",
    "SELECT ill FROM {t} UNION TABLE {t}",
    "SELECT ill FROM {t} UNION VALUES ('x')",
    "SELECT * FROM {t} UNION SELECT * FROM {t}",
    "(SELECT ill FROM {t} LIMIT 1) UNION SELECT ill FROM {t}",
    "SELECT ill FROM {t} INTERSECT SELECT ill FROM {t}",
    "SELECT ill FROM {t} UNION SELECT {s}.leak()",
    "SELECT sum(n) FROM (SELECT count(*) AS n FROM {t} GROUP BY ill LIMIT (SELECT max(oid) FROM pg_class)) AS s",
    "SELECT sum(n) FROM (SELECT count(*) AS n FROM {t} GROUP BY ill ORDER BY {s}.leak() LIMIT 1) AS s",
    "SELECT count(*) AS n, ntile({s}.leak()::int) OVER (ORDER BY count(*)) FROM {t}",
    "SELECT count(*) AS n, first_value({s}.leak()) OVER (ORDER BY count(*)) FROM {t} GROUP BY ill",
    "SELECT corr(cost, {s}.leak()::int) AS n FROM {t}",
    "SELECT count(*) AS n FROM {t} WHERE EXISTS (SELECT 1 FROM {t})",
    "SELECT count(*) AS n FROM {t} LIMIT (SELECT max(age) FROM {t})",
    "SELECT count(*) AS n FROM pg_catalog.pg_authid",
    "SELECT count(*) AS n FROM {t} JOIN pg_catalog.pg_authid AS a ON a.rolname = ill",
    "SELECT count(*) AS n FROM {t} JOIN pg_largeobject AS a ON a.loid = cost",
    "SELECT count(*) AS n FROM {t} JOIN _sqlanon.catalog AS a ON a.release = ill",
    "SELECT count(*) AS n FROM _sqlanon.catalog",
    "SELECT count(*) AS n FROM {t} WHERE ill = '{t}'::regclass::text",
    "SELECT count(*) AS n FROM {t} WHERE (regclass '{t}')::text = ill",
    "SELECT count(*) AS n FROM {t} WHERE ill = '{r}'::regrole::text",
    "SELECT count(*) AS n FROM {t} WHERE cost::oid > 1",
    "SELECT count(*) AS n FROM {t} WHERE CAST('{t}' AS pg_catalog.regclass) IS NULL",
    "SELECT max({t}::text) AS n FROM {t}",
    "SELECT count(*) AS n FROM {t} WHERE ill::bytea IS NULL",
    "SELECT count(*) AS n FROM {t} WHERE ill::xml IS NULL",
    "SELECT count(*) AS n FROM {t} WHERE ill::jsonb IS NULL",
    "SELECT count(*) AS n FROM {t} WHERE ill::tsvector IS NULL",
    "SELECT count(*) AS n FROM {t} WHERE ill::name IS NULL",
    "SELECT count(*) AS n FROM {t} WHERE cost::money > 1::money",
    "SELECT count(*) AS n FROM {t} WHERE ill OPERATOR(pg_catalog.=) 'c0'",
    "SELECT count(*) AS n FROM {t} WHERE ill COLLATE \"C\" = 'c0'",
    "SELECT count(*) AS n FROM {t} WHERE ctid IS NULL",
    "SELECT count(*) AS n FROM {t} WHERE tableoid > 0",
    "SELECT max(age_lo) AS n FROM {t}",
    "SELECT count(released) AS n FROM {t}",
    "SELECT max(_rows.n) AS n FROM {t}",
    "SELECT count(*) AS n FROM {t} WHERE _box.k1 < 3 AND age < 9",
    "SELECT count(*) AS n FROM {t} WHERE age < $1",
    "SELECT count(*) AS n FROM {t} WHERE age < %(x)s",
    "SELECT count(*) AS n FROM {t} WHERE age < :x",
    "SELECT count(*) AS n FROM {t} WHERE length(rpad(ill, 1000000000)) > 3",
    "SELECT count(*) AS n FROM {t} WHERE length(lpad(ill, cost * 9999)) > 3",
    "SELECT count(*) AS n FROM {t} TABLESAMPLE SYSTEM (1)",
    "SELECT string_agg(ill, ',') AS n FROM {t}",
    "SELECT json_agg(ill) AS n FROM {t}",
]
HARMLESS = [  # what a text hides is not run: each counts the rows under 30, or those with c0
    ("SELECT count(*) AS n FROM {t} /* ; RESET ROLE; */ WHERE age < 30", 25),
    ("SELECT count(*) AS n FROM {t} -- ; COMMIT\nWHERE age < 30", 25),
    ("SELECT count(*) -- /*\n AS n FROM {t} WHERE age < 30", 25),
    ("SELECT count(*) AS n /* a */ FROM {t} -- */ /*\n WHERE age < 30", 25),
    ("SELECT count(*) AS n FROM {t} WHERE ill = $x$c0'; COMMIT; --$x$ OR age < 30", 25),
    ("SELECT count(*) AS n FROM {t} WHERE ill = 'c0\\' OR age < 30 --'", 25),
    ("SELECT count(*) AS n FROM {t} WHERE ill = E'a\\'; COMMIT; --' OR age < 30", 25),
    ("SELECT count(*) AS n FROM {t} WHERE ill = E'c\\060' OR ill = 'c\\060'", 20),
    ("SELECT count(*) AS n FROM {t} WHERE ill = U&'\\0063\\0030'", 20),
    ("WITH {t} AS (SELECT * FROM public.{t}) SELECT count(*) AS n FROM {t} WHERE age < 30", 25),
    ('SELECT count(*) AS n, count(*) AS "x""; COMMIT; --" FROM {t} WHERE age < 30', 25),
    ('SELECT count(*) AS n, max(ill) AS "%(x)s" FROM {t} WHERE age < 30', 25),
    ('SELECT count(*) AS n FROM {t} AS "released" WHERE "released".age < 30', 25),
    ("SELECT count(*) AS n FROM {t} AS _groups WHERE _groups.age < 30", 25),
]


@pytest.fixture(scope="module")
def analyst(connect_module: Any) -> Iterator[tuple[Any, str, str, str]]:
    """A database, a role that reads one release and may call a function of its owner, the source, and its schema."""
    db = connect_module(ENGINES[2])
    role, source, schema = (f"{kind}{uuid.uuid4().hex[:10]}" for kind in "rts")
    rows = [(20 + i // 5 * 2, f"c{i % 2}", i % 5) for i in range(40)]
    db.engine.load_rows(db.engine.target(source), [("age", "INTEGER"), ("ill", "TEXT"), ("cost", "INTEGER")], rows)
    run = db.engine.execute
    run(f"CREATE ROLE {role}; CREATE SCHEMA {schema}; GRANT USAGE ON SCHEMA {schema} TO {role}")
    run(
        f"CREATE FUNCTION {schema}.leak() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT max(age) FROM "
        f"public.{source}'"
    )
    ages = [row[0] for row in rows]
    assert sum(age < 30 for age in ages) == 25
    db.anonymize(source, quasi="age", sensitive="ill", insensitive="cost", k=5, readers=[role])
    yield db, role, source, schema
    run(f"DROP SCHEMA {schema} CASCADE; DROP OWNED BY {role}; DROP ROLE {role}")


def refused(db: Any, role: str, text: str) -> None:
    """The text has no answer, and leaves the session as it was."""
    with pytest.raises((UnsupportedError, PolicyError, DatabaseError)):
        pytest.fail(f"answered: {text} {db.query(text, role=role, seconds=600).rows}")
    unchanged(db)


def unchanged(db: Any) -> None:
    """Nothing of the role, its transaction or its time is left."""
    state = db.engine.fetch(
        "SELECT current_user = session_user, current_setting('transaction_read_only'), "
        "current_setting('statement_timeout')"
    )
    assert state == [(True, "off", "0")]


def test_functions_that_do_more_than_compute_are_refused_everywhere(
    analyst: tuple[Any, str, str, str],
) -> None:
    db, role, source, schema = analyst
    for number, function in enumerate(FUNCTIONS):
        call = function.format(t=source, s=schema)
        for place in PLACES if number < 3 else [PLACES[number % len(PLACES)], PLACES[2]]:
            refused(db, role, place.format(t=source, f=call))


def test_texts_that_are_more_than_a_question_are_refused(analyst: tuple[Any, str, str, str]) -> None:
    db, role, source, schema = analyst
    for text in TEXTS:
        refused(db, role, text.format(t=source, r=role, s=schema))


def test_what_a_text_hides_in_comments_strings_and_names_is_not_run(
    analyst: tuple[Any, str, str, str],
) -> None:
    db, role, source, _ = analyst
    for text, truth in HARMLESS:
        answer = db.query(text.format(t=source), role=role, seconds=600)
        assert "COMMIT" not in answer.sql.replace("'; COMMIT", "").replace('"; COMMIT', "")
        assert (answer.rows[0]["n"].low, answer.rows[0]["n"].high) == (truth, truth), text
        unchanged(db)


def test_a_planted_function_never_takes_the_place_of_a_builtin(analyst: tuple[Any, str, str, str]) -> None:
    db, role, source, _ = analyst
    run = db.engine.execute
    run("CREATE FUNCTION public.lower(integer) RETURNS text LANGUAGE sql AS $$SELECT 'planted'$$")
    run("CREATE FUNCTION pg_temp.upper(integer) RETURNS text LANGUAGE sql AS $$SELECT 'planted'$$")
    try:
        for name in ("lower", "upper"):
            refused(db, role, f"SELECT {name}(cost) AS x, count(*) AS n FROM {source} GROUP BY 1")
    finally:
        run("DROP FUNCTION public.lower(integer), pg_temp.upper(integer)")
