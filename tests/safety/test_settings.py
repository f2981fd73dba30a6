"""Settings of another owner of the database change neither the meaning of generated SQL nor the time limit of runs."""

from __future__ import annotations

import time

import pytest

import sqlanon
from tests.engines import ENGINES
from tests.refresh.conftest import fill, release

SERVER = ENGINES[2]
LEFT = {
    "standard_conforming_strings": "off",
    "backslash_quote": "on",
    "transform_null_equals": "on",
    "array_nulls": "off",
    "quote_all_identifiers": "on",
    "row_security": "off",
    "intervalstyle": "iso_8601",
    "bytea_output": "escape",
    "client_encoding": "LATIN1",
    "datestyle": "German, DMY",
    "timezone": "Asia/Tokyo",
    "statement_timeout": "500",
    "lock_timeout": "500",
    "idle_session_timeout": "500",
    "idle_in_transaction_session_timeout": "500",
    "transaction_timeout": "500",
    "log_parameter_max_length_on_error": "-1",
}


@pytest.mark.thorough
def test_settings_of_the_database_do_not_reach_generated_sql(make_url):
    import psycopg

    url = make_url(SERVER)
    with sqlanon.connect(url) as db:
        fill(db, "set1", 60)
        db.engine.execute("CREATE TABLE other AS SELECT id, age, sex, 'a\\' AS dx FROM set1")
        db.engine.execute("INSERT INTO other SELECT id + 1000, age, sex, 'Ł' FROM set1")
        first = db.run(release("set1"))
    with psycopg.connect(url, autocommit=True) as root:
        known = {name for (name,) in root.execute("SELECT name FROM pg_settings").fetchall()}
        for name, value in LEFT.items():
            if name in known:
                root.execute(f"ALTER DATABASE {root.info.dbname} SET {name} = '{value}'")
    with sqlanon.connect(url) as db:
        db.engine.execute("SELECT pg_sleep(0.6)")
        time.sleep(0.6)
        with db.engine.publishing():
            time.sleep(0.6)
        assert db.run(release("set1")).outcome == "unchanged"
        assert db.run(release("set1"), full=True).min_class == first.min_class
        db.anonymize("other", quasi=["age", "sex"], sensitive="dx", identifiers="id", k=3, publish="release.other")
        for dx in ("a\\", "Ł"):
            (row,) = db.query(f"SELECT count(*) AS n FROM other WHERE dx = '{dx}' AND age = age").rows
            assert (row["n"].low, row["n"].high) == (60, 60)
        assert db.engine.fetch("SHOW log_parameter_max_length_on_error") == [("0",)]


def test_a_sensitive_column_whose_collation_equates_texts_is_refused(connect):
    """Each spelling would count as a value of its own, and l would be reached by one illness.

    (The server's build makes no such collation, so the catalog is made to say that one is.)
    """
    db = connect(SERVER)
    db.engine.execute("CREATE COLLATION public.alike (provider = libc, locale = 'C')")
    db.engine.execute("UPDATE pg_collation SET collisdeterministic = FALSE WHERE collname = 'alike'")
    db.engine.execute("CREATE TABLE ill (id INTEGER, age INTEGER, dx TEXT COLLATE public.alike)")
    db.engine.execute(
        "INSERT INTO ill SELECT i, i % 3, (ARRAY['flu', 'Flu'])[1 + i % 2] FROM generate_series(1, 60) AS g(i)"
    )
    with pytest.raises(sqlanon.PolicyError, match=r"sensitive column dx has collation public\.alike"):
        db.anonymize("ill", quasi=["age"], sensitive="dx", identifiers="id", k=3, l=2, publish="release.ill")
    db.engine.execute('CREATE VIEW alike_ill AS SELECT id, age, lower(dx) COLLATE "C" AS dx FROM ill')
    with pytest.raises(sqlanon.InfeasibleError, match="l = 2 of dx"):
        db.anonymize("alike_ill", quasi=["age"], sensitive="dx", identifiers="id", k=3, l=2, publish="release.ill")
