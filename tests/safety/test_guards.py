"""What stops a release before any work, each with its opt-out; and what stays closed to readers."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest

import sqlanon
from tests.engines import ENGINES, create_table
from tests.safety.conftest import SERVER
from tests.safety.people import RELEASE, VERSIONS, write_people


def visits(db):
    """100 rows; person repeats, code is alone in two rows, note is alone in 51."""
    rows = [(i // 2, i % 5, f"c{max(i, 1)}" if i < 3 else "c", f"n{min(i, 50)}") for i in range(100)]
    name = f"visits_{uuid.uuid4().hex[:8]}"
    create_table(db, name, {"person": "INTEGER", "age": "INTEGER", "code": "TEXT", "note": "TEXT"}, rows)
    return name


def stopped(db, table, word, **asked):
    with pytest.raises(sqlanon.SqlanonError, match=word) as caught:
        db.anonymize(table, quasi="age", k=2, rest="drop", **asked)
    assert type(caught.value).__name__ == "GuardError"
    assert caught.value.exit_code == 2
    assert db.releases(table) == ()


def made(db, table, **asked):
    return db.anonymize(table, quasi="age", k=2, rest="drop", allow_weaker=True, **asked).report


def test_identifier_repeats(shared_db):
    table = visits(shared_db)
    stopped(shared_db, table, "person.*repeats", identifiers="person")
    assert made(shared_db, table, identifiers="person", accept_repeats="person").min_identifiers == {}
    fewest = made(shared_db, table, identifiers="person", rows_are="events").min_identifiers
    assert set(fewest) == {"person"}
    assert fewest["person"] == 20  # 20 rows an age, 5 is odd: no person has two rows of one age


def test_insensitive_column_that_identifies(shared_db):
    """One row in a hundred alone with its value is allowed, two are not."""
    table = visits(shared_db)
    shared_db.engine.execute(f"UPDATE {table} SET code = 'alone' WHERE person = 0 AND age = 0")
    shared_db.engine.execute(f"UPDATE {table} SET code = 'c' WHERE code <> 'alone'")
    made(shared_db, table, insensitive="code", name=f"{table}_one", publish=f"release.{table}_one")
    shared_db.engine.execute(f"UPDATE {table} SET code = 'second' WHERE person = 1 AND age = 2")
    stopped(shared_db, table, "code.*unique for 2 of 100", insensitive="code")
    made(shared_db, table, insensitive="code", accept_unique="code")


def test_sensitive_column_that_identifies(shared_db):
    table = visits(shared_db)
    stopped(shared_db, table, "note.*51 distinct", sensitive="note")
    made(shared_db, table, sensitive="note", accept_unique="note")
    shared_db.engine.execute(f"UPDATE {table} SET note = 'n0' WHERE note = 'n1'")
    made(shared_db, table, sensitive="note")


def test_quasi_column_whose_sets_list_everybody(shared_db):
    """51 of 100 rows have an address of their own, half of them is allowed.

    Numbers, orders and hierarchies are no sets.
    """
    rows = [(i % 5, f"p{min(i, 50)}@x", i, f"p{i % 50}@x") for i in range(100)]
    table = f"mails_{uuid.uuid4().hex[:8]}"
    create_table(shared_db, table, {"age": "INTEGER", "mail": "TEXT", "cost": "INTEGER", "pair": "TEXT"}, rows)

    def released(name, **asked):
        return shared_db.anonymize(
            table,
            k=2,
            rest="drop",
            allow_weaker=True,
            name=f"{table}_{name}",
            publish=f"release.{table}_{name}",
            **asked,
        )

    for act in (shared_db.run, shared_db.plan):
        spec = sqlanon.policy.release(source=table, quasi=["age", "mail"], k=2, rest="drop")
        with pytest.raises(sqlanon.GuardError, match=r"mail has 51 distinct values in 100 rows.*accept_unique: true"):
            act(spec)
    assert shared_db.releases(table) == ()
    released("accepted", quasi=["age", "mail"], accept_unique="mail")
    with pytest.raises(sqlanon.GuardError, match="mail has 51 distinct values"):
        released("ordered", quasi=["age", "mail"], ordered={"mail": "alphabetical"})
    released("prefix", quasi=["age", "mail"], hierarchies={"mail": "prefix:2,1"})
    released("numbers", quasi=["age", "cost"])
    released("half", quasi=["age", "pair"])
    released("hidden", quasi=["age", "mail"], format="suppressed")


def test_quasi_column_that_lists_all_persons(shared_db):
    """200 rows of 60 persons, whose 60 addresses are a number of the person: 3 rows have each."""
    rows = [(i % 60, i % 60 % 4, f"p{i % 60}@x") for i in range(200)]
    table = f"mails_{uuid.uuid4().hex[:8]}"
    create_table(shared_db, table, {"pid": "INTEGER", "age": "INTEGER", "mail": "TEXT"}, rows)
    asked = {"quasi": ["age", "mail"], "identifiers": "pid", "person": "pid", "k": 3}
    with pytest.raises(sqlanon.GuardError, match="mail has 60 distinct values in 200 rows of 60 persons"):
        shared_db.anonymize(table, **asked)
    assert shared_db.anonymize(table, accept_unique="mail", **asked).audit().satisfied


def salaries(db, people=80, months=24):
    """A salary of each one's own, which changes once, and a plan that many have."""
    rows = [
        (at, at % 5, 1000 + 7 * at + (3000 if month > 11 else 0), f"plan {at % 4}")
        for at in range(people)
        for month in range(months)
    ]
    name = f"salaries_{uuid.uuid4().hex[:8]}"
    create_table(db, name, {"person": "INTEGER", "age": "INTEGER", "salary": "INTEGER", "plan": "TEXT"}, rows)
    return name


@pytest.mark.parametrize("role", ["sensitive", "insensitive"])
def test_values_of_one_person_in_many_rows(shared_db, role):
    """No salary is alone in a row, and each is one person's."""
    table = salaries(shared_db)
    stopped(shared_db, table, f"{role} column salary", identifiers="person", person="person", **{role: "salary"})
    made(shared_db, table, identifiers="person", person="person", accept_unique="salary", **{role: "salary"})
    made(
        shared_db,
        table,
        identifiers="person",
        person="person",
        name=f"{table}_plan",
        publish=f"release.{table}_p",
        **{role: "plan"},
    )


def test_values_that_all_persons_have_are_no_list_of_them(shared_db):
    """80 persons have each of 60 laboratory tests."""
    rows = [(i % 80, i % 80 % 4, f"test {i // 80}") for i in range(4800)]
    table = f"tests_{uuid.uuid4().hex[:8]}"
    create_table(shared_db, table, {"pid": "INTEGER", "age": "INTEGER", "lbtest": "TEXT"}, rows)
    made = shared_db.anonymize(table, quasi=["age", "lbtest"], identifiers="pid", person="pid", k=3)
    assert made.report.verified


def test_a_file_that_is_not_ours(connect, tmp_path):
    db = connect(ENGINES[1])
    write_people(db.engine)
    file = tmp_path / "theirs.duckdb"
    file.write_text("theirs")
    with pytest.raises(sqlanon.PolicyError, match="exists"):
        db.anonymize("people", **RELEASE, publish_file=str(file))
    assert file.read_text() == "theirs"


def test_a_file_that_became_somebody_elses(connect, tmp_path, monkeypatch):
    """A run that failed never made the file: what is there later is not ours."""
    from tests.declared import declare
    from tests.safety.bad import tampering

    db = connect(ENGINES[1])
    write_people(db.engine)
    file: Path = tmp_path / "theirs.duckdb"
    declare(monkeypatch, "bad", tampering("UPDATE {t} SET class = rid"), like="mondrian")
    with pytest.raises(sqlanon.PrivacyViolation):
        db.anonymize("people", **RELEASE | {"k": 4}, publish_file=str(file), method="bad")
    assert not file.exists()
    file.write_text("theirs")
    with pytest.raises(sqlanon.PolicyError, match="exists"):
        db.anonymize("people", **RELEASE, publish_file=str(file))
    assert file.read_text() == "theirs"


@pytest.fixture
def server(make_url):
    """A PostgreSQL database and a role that may read releases; the role goes with the test."""
    url = make_url(SERVER)
    role = f'Reader "{uuid.uuid4().hex[:6]}'
    quoted = '"' + role.replace('"', '""') + '"'
    with sqlanon.connect(url) as db:
        db.engine.execute(f"CREATE ROLE {quoted}")
        write_people(db.engine)
        db.anonymize("people", **RELEASE)
        db.engine.execute(f"GRANT USAGE ON SCHEMA release TO {quoted}")
        db.engine.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA release TO {quoted}")
        yield db, quoted
        db.engine.execute(f"DROP OWNED BY {quoted}")
        db.engine.execute(f"DROP ROLE {quoted}")


@pytest.mark.thorough
def test_grants_survive(server):
    db, role = server
    db.engine.execute("GRANT SELECT ON release.people TO PUBLIC")
    grants = (
        "SELECT table_name, grantee, privilege_type FROM information_schema.role_table_grants "
        "WHERE table_schema = 'release' ORDER BY 1, 2, 3"
    )
    before = db.engine.fetch(grants)
    for change in ({}, {"format": "labels"}, {"format": "points"}, {}):
        db.anonymize("people", **RELEASE | change)
        assert db.engine.fetch(grants) == before
        db.engine.execute(f"SET ROLE {role}")
        try:
            assert db.engine.fetch(VERSIONS) == [(40, 0, 0)]
            assert db.engine.fetch("SELECT count(*) FROM release.people_metadata")
        finally:
            db.engine.execute("RESET ROLE")


def test_readers_see_the_release_only(server):
    db, role = server
    tables = db.engine.fetch(
        "SELECT quote_ident(table_name) FROM information_schema.tables WHERE table_schema = '_sqlanon'"
    )
    assert len(tables) > 3
    db.engine.execute(f"SET ROLE {role}")
    try:
        for table in ["people", *(f"_sqlanon.{name}" for (name,) in tables)]:
            with pytest.raises(sqlanon.DatabaseError, match="right"):
                db.engine.fetch(f"SELECT count(*) FROM {table}")
        assert db.audit("release.people", sensitive="illness").k >= 1  # the catalog is closed to them
    finally:
        db.engine.execute("RESET ROLE")


def test_a_dependent_view_stops_a_change_of_columns(server):
    db, _ = server
    db.engine.execute("CREATE VIEW report AS SELECT age_lo FROM release.people")
    with pytest.raises(sqlanon.DatabaseError, match=r"(?i)depend"):
        db.anonymize("people", **RELEASE | {"format": "labels"})
    assert db.engine.fetch(VERSIONS) == [(40, 0, 0)]
    assert db.engine.fetch("SELECT count(*) FROM report") == [(40,)]
    write_people(db.engine, 1)
    db.anonymize("people", **RELEASE)
    assert db.engine.fetch("SELECT count(*) FROM report") == [(41,)]
