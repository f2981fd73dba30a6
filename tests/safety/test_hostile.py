"""A role that may create in the first schema of the owner's search path gets nothing of the owner's rights."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

import sqlanon
from sqlanon import policy
from tests.engines import ENGINES
from tests.safety.hostile import LOG, SCHEMA, hostile

SERVER = ENGINES[2]
COLUMNS = {
    "age": "quasi",
    "weight": "quasi",
    "born": "quasi",
    "sex": "quasi",
    "grade": "quasi",
    "illness": "sensitive",
    "cost": "insensitive",
    "id": "identifier",
}


def ward(source: str, **changes: Any) -> Any:
    return policy.release(
        **{
            "source": source,
            "name": "ward",
            "publish": "release.ward",
            "quasi": [n for n, r in COLUMNS.items() if r == "quasi"],
            "sensitive": "illness",
            "insensitive": "cost",
            "identifiers": "id",
            "accept_unique": "cost",
            "k": 5,
            "l": 2,
            "key": ["id"],
            "mean": ["weight"],
            **changes,
        }
    )


@pytest.fixture
def owned(make_url) -> Any:
    """A database whose owner is no superuser, and in whose path a schema comes first that another role filled."""
    import psycopg

    url, suffix = make_url(SERVER), uuid.uuid4().hex[:6]
    owner, rogue = f"owner_{suffix}", f"rogue_{suffix}"
    with psycopg.connect(url, autocommit=True) as root:
        for role in (owner, rogue):
            root.execute(f"CREATE ROLE {role} LOGIN")
        root.execute(f"GRANT CREATE, TEMPORARY ON DATABASE {root.info.dbname} TO {owner}")
        root.execute(f"CREATE SCHEMA {SCHEMA}")
        root.execute(f"GRANT USAGE, CREATE ON SCHEMA {SCHEMA} TO {rogue}")
        root.execute(f"GRANT USAGE ON SCHEMA {SCHEMA} TO {owner}")
        root.execute(f"CREATE SCHEMA hospital AUTHORIZATION {owner}")
        root.execute(f"ALTER ROLE {owner} SET search_path = {SCHEMA}, hospital, pg_catalog")
        root.execute(f"SET SESSION AUTHORIZATION {rogue}")
        planted = list(hostile(owner))
        assert len(planted) > 100
        for statement in planted:
            root.execute(statement)
        root.execute("RESET SESSION AUTHORIZATION")
        with sqlanon.connect(f"{url}&user={owner}") as db:
            yield db, root
        root.execute(f"DROP OWNED BY {owner}, {rogue} CASCADE")
        root.execute(f"DROP ROLE {owner}, {rogue}")


@pytest.mark.thorough
def test_planted_objects_never_run(owned):
    """Everything that sqlanon does, in one database; the planted objects log each call of the owner's."""
    db, root = owned
    own = db.engine
    own.execute("CREATE TYPE hospital.grade AS ENUM ('low', 'mid', 'high')")
    own.execute(
        "CREATE TABLE hospital.ward (id pg_catalog.int4, age pg_catalog.int2, weight pg_catalog.numeric, born "
        "pg_catalog.date, sex pg_catalog.text, grade hospital.grade, illness pg_catalog.text, cost pg_catalog.int4)"
    )
    log = f"SELECT what, count(*) FROM {LOG} GROUP BY what"
    # The traps work: the owner's own SQL on his own path runs into one.
    own.fetch("SELECT CAST('1.5' AS pg_catalog.numeric) = CAST(2 AS pg_catalog.int4)")
    assert root.execute(log).fetchall() == [("=(numeric, integer)", 1)]
    root.execute(f"DELETE FROM {LOG}")
    own.execute("CREATE TABLE hospital.doubled (a pg_catalog.int4)")
    with pytest.raises(
        sqlanon.DatabaseError, match="doubled is a table or view of several schemas of the search_path: trap, hospital"
    ):
        db.profile("doubled")
    for rows in (60, 66):
        fill(root, rows)
        assert db.plan(ward("ward")).rows == rows
        assert db.run(ward("ward")).verified
    db.run(ward("hospital.ward", format="labels", method="mondrian", execution="pushdown", mean=[]), allow_weaker=True)
    db.run(ward("ward", format="anatomy", presence="disclosed", name="pair", publish="release.pair", mean=[]))
    db.anonymize(
        "ward",
        quasi=["age", "grade"],
        sensitive="illness",
        identifiers="id",
        rest="drop",
        k=5,
        name="young",
        publish="release.young",
        method="idistance",
        ordered={"grade": "declared"},
    )
    assert db.audit("release.ward", spec=ward("ward")).k >= 5
    db.audit("ward", quasi=["age"], sensitive=["illness"], identifiers=["id"])
    db.together("ward", "young")
    assert db.history("ward")
    for query in (
        (
            "SELECT count(*) AS n, sum(age) AS s, avg(weight) AS w FROM ward WHERE age BETWEEN 22 AND 30 AND born < "
            "DATE '2020-02-01'"
        ),
        "SELECT sex, count(*) AS n FROM ward WHERE grade = 'low' GROUP BY sex",
    ):
        (truth,) = root.execute("SELECT count(*) FROM hospital.ward").fetchone()
        answer = db.query(query, release="release.ward")
        assert 0 <= answer.rows[0]["n"].low <= answer.rows[0]["n"].high <= truth
    db.evaluate("young")
    assert db.install_functions("tools")
    for call in (
        "tools.contains(1.5, 3, 2)",
        "tools.overlap(1.5, 3, 2, 4)",
        "tools.ncp(1.5, 2, 1, 7)",
        "tools.hilbert_key(ARRAY[3, 1], 2)",
    ):
        assert db.engine.fetch(f"SELECT {call} IS NOT NULL") == [(True,)]
    db.rollback("ward", allow_weaker=True)
    db.profile("ward")
    db.releases()
    db.clean()
    assert root.execute(log).fetchall() == []
    assert root.execute("SELECT count(*), min(id), max(id) FROM hospital.ward").fetchone() == (66, 1, 66)
    assert root.execute("SELECT sum(cost), count(*) FROM release.ward").fetchone() == (66 * 67 // 2, 66)


def fill(root: Any, rows: int) -> None:
    root.execute("DELETE FROM hospital.ward")
    root.execute(
        "INSERT INTO hospital.ward SELECT i, 20 + i % 30, (i % 17) / 3.0, DATE '2020-01-01' + i % 50, "
        "CASE WHEN i % 2 = 0 THEN 'm' ELSE 'f' END, (ARRAY['low', 'mid', 'high'])[1 + i % 3]::hospital.grade, "
        f"CASE i % 3 WHEN 0 THEN 'flu' WHEN 1 THEN 'cold' ELSE 'hiv' END, i FROM generate_series(1, {rows}) AS g(i)"
    )


def test_installed_functions_do_not_see_the_callers_path(owned):
    """The owner of another role's path cannot change what a function of ours gives to whoever calls it."""
    db, root = owned
    db.install_functions("tools")
    for call, value in (
        ("tools.contains(1.5::pg_catalog.numeric, 3::pg_catalog.numeric, 2::pg_catalog.numeric)", True),
        ("tools.contains(1::pg_catalog.int4, 3::pg_catalog.int4, 2::pg_catalog.int4)", True),
        ("tools.overlap(1::pg_catalog.int4, 4::pg_catalog.int4, 2::pg_catalog.int4, 9::pg_catalog.int4)", 0.75),
        ("tools.ncp(1::pg_catalog.int4, 4::pg_catalog.int4, 1::pg_catalog.int4, 7::pg_catalog.int4)", 0.5),
        ("tools.hilbert_key(ARRAY[3, 1]::pg_catalog.int4[], 2)", 12),
        ("pg_catalog.encode(tools.hilbert_key_bytes(ARRAY[3, 1]::pg_catalog.int4[], 2), 'hex'::pg_catalog.text)", "0c"),
    ):
        assert db.engine.fetch(f"SELECT {call}") == [(value,)], call  # a plain string runs on the owner's path
    assert root.execute(f"SELECT what FROM {LOG}").fetchall() == []


@pytest.fixture
def folded(connect) -> Any:
    """A type as citext is one: text with operators of its own, in a schema of the path."""
    db = connect(SERVER)
    run = db.engine.execute
    run('CREATE SCHEMA "Odd. Types"')
    run('SET search_path = "Odd. Types", public')
    run("CREATE TYPE citext")
    for name, arguments, result in (("in", "cstring", "citext"), ("out", "citext", "cstring")):
        run(
            f"CREATE FUNCTION citext{name}({arguments}) RETURNS {result} AS 'text{name}' LANGUAGE internal IMMUTABLE "
            "STRICT"
        )
    run("CREATE TYPE citext (INPUT = citextin, OUTPUT = citextout, LIKE = text, CATEGORY = 'S')")
    run("CREATE CAST (citext AS text) WITHOUT FUNCTION AS IMPLICIT")
    run("CREATE CAST (text AS citext) WITHOUT FUNCTION AS ASSIGNMENT")
    for symbol, name in (("<", "lt"), ("<=", "le"), ("=", "eq"), (">=", "ge"), (">", "gt")):
        run(
            f"CREATE FUNCTION citext_{name}(citext, citext) RETURNS boolean LANGUAGE sql IMMUTABLE STRICT "
            f"AS 'SELECT lower($1::text) {symbol} lower($2::text)'"
        )
        run(f"CREATE OPERATOR {symbol} (LEFTARG = citext, RIGHTARG = citext, FUNCTION = citext_{name})")
    run(
        "CREATE FUNCTION citext_cmp(citext, citext) RETURNS integer LANGUAGE sql IMMUTABLE STRICT AS 'SELECT CASE WHEN "
        "lower($1::text) = lower($2::text) THEN 0 WHEN lower($1::text) < lower($2::text) THEN -1 ELSE 1 END'"
    )
    run(
        "CREATE OPERATOR CLASS citext_ops DEFAULT FOR TYPE citext USING btree AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR "
        "3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 citext_cmp(citext, citext)"
    )
    run(
        "CREATE FUNCTION citext_hash(citext) RETURNS integer LANGUAGE sql IMMUTABLE STRICT AS 'SELECT "
        "hashtext(lower($1::text))'"
    )
    run(
        "CREATE FUNCTION citext_hash(citext, bigint) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT "
        "AS 'SELECT hashtextextended(lower($1::text), $2)'"
    )
    run(
        "CREATE OPERATOR CLASS citext_ops DEFAULT FOR TYPE citext USING hash AS OPERATOR 1 =, FUNCTION 1 "
        "citext_hash(citext), FUNCTION 2 citext_hash(citext, bigint)"
    )
    run("CREATE DOMAIN folded AS citext")
    run("CREATE TYPE \"Gr ade\" AS ENUM ('low', 'mid', 'high')")
    run(
        "CREATE TABLE visits AS SELECT i AS id, 20 + i % 9 AS age, (ARRAY['A', 'a', 'B'])[1 + i % 3]::citext AS town, "
        "(ARRAY['Flu', 'flu', 'cold'])[1 + i % 3]::citext AS illness, (ARRAY['x', 'y'])[1 + i % 2]::folded AS kind, "
        "(ARRAY['low', 'mid', 'high'])[1 + i % 3]::\"Gr ade\" AS grade FROM generate_series(1, 60) AS g(i)"
    )
    run("CREATE TABLE towns AS SELECT 20 + i AS age, 'x'::citext AS name FROM generate_series(0, 8) AS g(i)")
    return db


def test_types_with_operators_of_their_own(folded):
    """Found by other names on the safe path than on the owner's: refused where it would change an answer."""
    plain = {"rest": "drop", "k": 3, "name": "visits", "publish": "release.visits"}
    for column in ("illness", "kind"):
        with pytest.raises(sqlanon.PolicyError, match=f"sensitive column {column} has type .*whose own equality"):
            folded.anonymize("visits", quasi=["age"], sensitive=column, **plain)
    release = folded.anonymize("visits", quasi=["town", "age"], insensitive="kind", accept_unique="kind", **plain)
    assert folded.engine.fetch("SELECT count(*) FROM release.visits WHERE town = '{A}'") != []
    shown = {town for (towns,) in folded.engine.fetch("SELECT DISTINCT town FROM release.visits") for town in towns}
    assert shown == {"A", "a", "B"}  # by bytes
    with pytest.raises(sqlanon.UnsupportedError, match="added to this database with operators of its own"):
        release.query("SELECT count(*) FROM visits JOIN towns ON visits.kind = towns.name", allow_linking=True)
    with pytest.raises(sqlanon.UnsupportedError, match="values of this type are equal though their texts differ"):
        release.query("SELECT count(*) FROM visits WHERE town = 'a'")


def test_persons_of_a_type_with_operators_of_its_own(folded):
    """They are counted by its own equality, though its hash is a function in SQL.

    A and a are one town, x and y are two kinds.
    """
    folded.engine.execute("ALTER TABLE visits ALTER COLUMN age TYPE integer USING 30")
    release = folded.anonymize(
        "visits",
        quasi=["age"],
        identifiers=["town", "kind", "id"],
        rest="drop",
        rows_are="events",
        persons="ignored",
        k=3,
    )
    assert release.report.min_identifiers == {"town": 2, "kind": 2, "id": 60}
    assert release.audit().min_identifiers == {"town": 2, "kind": 2, "id": 60}


def test_enums_of_an_odd_schema(folded, tmp_path):
    """Types are cast by their whole names: in domains, hierarchies, covering, refreshes and queries."""
    levels = "low;some;*\nmid;some;*\nhigh;much;*\n"
    path = tmp_path / "grades.csv"
    path.write_text(levels)
    for changes in (
        {"ordered": {"grade": "declared"}},
        {},
        {"hierarchies": {"grade": str(path)}},
        {"format": "suppressed"},
    ):
        release = folded.anonymize(
            "visits", quasi=["grade", "age"], rest="drop", k=3, name="visits", publish="release.visits", **changes
        )
        assert release.report.verified
        answer = release.query("SELECT count(*) AS n FROM visits WHERE grade = 'low'").rows[0]["n"]
        assert answer.low <= 20 <= answer.high
