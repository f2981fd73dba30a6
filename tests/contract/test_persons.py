"""Persons of events: every identifier counts by itself, in runs and audits, recounted in Python from the rows."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

import sqlanon
from tests.engines import ENGINES, create_table, read_table

VISIT = {"vid": "INTEGER", "pid": "TEXT", "age": "INTEGER", "dx": "TEXT", "mark": "INTEGER"}
EVENTS: dict[str, Any] = {
    "quasi": "age",
    "sensitive": "dx",
    "identifiers": ["vid", "pid"],
    "insensitive": "mark",
    "accept_unique": "mark",
    "rows_are": "events",
    "k": 10,
}


def visits(db: Any, columns: dict[str, str] = VISIT, rows: Sequence[Sequence[Any]] | None = None) -> str:
    """A unique visit, a patient of 20 visits, 4 patients of an age."""
    if rows is None:
        rows = [(i, f"p{i // 20}", 20 + i // 20 % 5, "abc"[i % 3], i) for i in range(400)]
    name = f"visits_{uuid4().hex[:8]}"
    create_table(db, name, columns, rows)
    return name


def recounted(rows: list[dict[str, Any]], shown: dict[int, Any], names: Sequence[str]) -> tuple[Any, ...]:
    """Per identifier the fewest values of a class, 1 / the fewest of all, and the mean over rows; None is a value."""
    classes = defaultdict(list)
    for row in rows:
        classes[shown[row["mark"]]].append(row)
    held = [[len({row[name] for row in members}) for name in names] for members in classes.values()]
    fewest = dict(zip(names, map(min, zip(*held, strict=True)), strict=True))
    sizes = [len(members) for members in classes.values()]
    mean = sum(n / min(persons) for n, persons in zip(sizes, held, strict=True)) / sum(sizes)
    return fewest, 1 / min(map(min, held)), mean


def test_a_unique_visit_hides_no_patient(shared_db: Any) -> None:
    """80 rows and 80 visits of 4 patients look alike: k = 10 of rows, and 4 persons.

    Nothing is published, unless that is accepted.
    """
    source = visits(shared_db)
    with pytest.raises(sqlanon.PrivacyViolation, match=r"4 different values of pid.*person: pid.*persons: ignored"):
        shared_db.anonymize(source, **EVENTS)
    assert source not in {row.release for row in shared_db.releases()}
    release = shared_db.anonymize(source, **EVENTS, persons="ignored")
    assert release.report.min_class == 80
    assert release.report.min_identifiers == {"vid": 80, "pid": 4}
    report = shared_db.audit(f"release.{source}", spec=replace(release.spec, persons=None))
    assert report.min_identifiers == {"vid": 80, "pid": 4}
    assert (report.highest_risk, report.average_risk) == (0.25, 0.25)
    persons = {item.column: item for item in report.requirements if item.name == "persons"}
    assert (persons["pid"].asked, persons["pid"].reached, persons["pid"].satisfied) == (10, 4, False)
    assert persons["vid"].satisfied
    assert not report.satisfied
    by_persons = replace(release.spec, rows_are="persons", persons=None)  # the policy promises more by now
    assert not shared_db.audit(report.table, spec=by_persons).satisfied


def test_what_is_advised_makes_classes_of_persons(shared_db: Any) -> None:
    """The 20 patients are 2 classes of 10, or one: every visit of a patient is in one."""
    source = visits(shared_db)
    release = shared_db.anonymize(source, **EVENTS, person="pid")
    assert release.report.min_identifiers["pid"] >= 10
    assert release.audit().satisfied


def test_without_a_policy_risk_counts_persons(shared_db: Any) -> None:
    source = visits(shared_db)
    shared_db.anonymize(source, **EVENTS, persons="ignored")
    report = shared_db.audit(f"release.{source}", quasi=["age_lo", "age_hi"], sensitive="dx")
    assert (report.k, report.highest_risk) == (80, 0.25)


def test_persons_ignored(shared_db: Any) -> None:
    """They are counted, and nothing is said of them.

    A policy that does not ignore them refuses what is published, and it stays.
    """
    source = visits(shared_db)
    release = shared_db.anonymize(source, **EVENTS, persons="ignored")
    assert release.report.warnings == ()
    assert release.audit().satisfied
    assert (release.audit().min_identifiers["pid"], release.audit().highest_risk) == (4, 0.25)
    strict = replace(release.spec, persons=None)
    with pytest.raises(sqlanon.PrivacyViolation, match="4 different values of pid"):
        shared_db.run(strict)
    assert shared_db.run(release.spec).outcome == "unchanged"


def test_to_ignore_them_later_is_a_weaker_policy(shared_db: Any) -> None:
    rows = [(i, f"p{i // 2}", 20 + i // 40, "abc"[i % 3], i) for i in range(200)]
    source = visits(shared_db, rows=rows)
    release = shared_db.anonymize(source, **EVENTS)
    assert release.report.min_identifiers["pid"] >= 10
    ignoring = replace(release.spec, persons="ignored")
    with pytest.raises(sqlanon.GuardError, match="persons none -> ignored"):
        shared_db.run(ignoring)
    assert shared_db.run(ignoring, allow_weaker=True).outcome == "unchanged"


@pytest.mark.parametrize("form", ["ranges", "anatomy"])
def test_counts_against_the_rows(shared_db: Any, form: str) -> None:
    """Random identifiers with NULLs and repeats, and an identifier that is not one person's."""
    drawn = random.Random(form)
    rows = []
    for mark in range(160):
        one, other = drawn.randrange(40), drawn.randrange(12)
        first, second = ((None if drawn.random() < 0.2 else f"a{one}"), (None if drawn.random() < 0.5 else other))
        rows.append((mark, drawn.randrange(30), drawn.choice("abcd"), first, second, f"n{drawn.randrange(3)}"))
    columns = {"mark": "INTEGER", "age": "INTEGER", "s": "TEXT", "A": "TEXT", "b": "INTEGER", "name": "TEXT"}
    source = visits(shared_db, columns, rows)
    asked = {"l": 2} if form == "anatomy" else {"k": 6}
    release = shared_db.anonymize(
        source,
        quasi="age",
        sensitive="s",
        insensitive="mark",
        identifiers=["name", "b", "A"],
        accept_unique="mark",
        accept_repeats="name",
        rows_are="events",
        persons="ignored",
        format=form,
        **asked,
    )
    read = read_table(shared_db, ("release", source))
    shown = {row["mark"]: row["group_id"] if form == "anatomy" else (row["age_lo"], row["age_hi"]) for row in read}
    fewest, highest, mean = recounted([dict(zip(columns, row, strict=True)) for row in rows], shown, ["A", "b"])
    assert release.report.min_identifiers == fewest
    spec = replace(release.spec, columns=release.spec.columns[::-1])  # the order of columns in a policy decides nothing
    assert shared_db.run(spec).outcome == "unchanged"
    report = release.audit()
    assert report.min_identifiers == fewest
    if form == "ranges":
        assert (report.highest_risk, report.average_risk) == (pytest.approx(highest), pytest.approx(mean))
    else:  # exact quasi values may name somebody sooner than groups do
        assert report.highest_risk == pytest.approx(max(highest, 1 / report.k))


def test_audit_of_any_table_counts_each_by_itself(shared_db: Any) -> None:
    """NULLs are one value; the identifier with the fewest values in a class decides its risk."""
    rows = [
        ("x", 1, "u"),
        ("x", 2, None),
        ("x", 3, None),
        ("y", 1, "u"),
        ("y", None, "v"),
        ("y", None, "w"),
        ("y", 2, "u"),
    ]
    columns = {"q": "TEXT", "a": "INTEGER", "b": "TEXT"}
    source = visits(shared_db, columns, rows)
    report = shared_db.audit(source, identifiers=["a", "b"])
    assert report.min_identifiers == {"a": 3, "b": 2}
    assert report.k == 3
    assert report.highest_risk == pytest.approx(1 / 2)
    assert report.average_risk == pytest.approx((3 / 2 + 4 / 3) / 7)
    none = visits(shared_db, columns, [])
    assert shared_db.audit(none, quasi=[], identifiers=["a"]).highest_risk == 0


def test_events_that_nobody_can_count(shared_db: Any) -> None:
    """Without an identifier that is one person's, k counts rows: the run says so, and no audit passes."""
    for identifiers in ({"identifiers": None}, {"identifiers": ["vid", "pid"], "accept_repeats": ["vid", "pid"]}):
        source = visits(shared_db)
        asked = EVENTS | identifiers | {"rest": "drop"}
        release = shared_db.anonymize(source, **asked)
        assert ["persons are not counted" in warning for warning in release.report.warnings] == [True]
        assert ["persons are not counted" in warning for warning in shared_db.plan(release.spec).warnings] == [True]
        report = release.audit()
        assert not report.satisfied
        assert ["persons are not counted" in what for what in report.not_measured] == [True]
        assert shared_db.anonymize(source, **asked, persons="ignored", allow_weaker=True).audit().satisfied


@pytest.mark.thorough
def test_a_release_of_an_older_sqlanon(shared_db: Any) -> None:
    """Its private table ties rows to classes and counts nobody: the audit says so and does not pass."""
    rows = [(i, f"p{i // 20}", 20 + i // 200 % 2, "abc"[i % 3], i) for i in range(400)]
    source = visits(shared_db, rows=rows)
    release = shared_db.anonymize(source, **EVENTS)
    made = shared_db.engine.fetch("SELECT table_name FROM information_schema.tables WHERE table_schema = '_sqlanon'")
    (link,) = (name for (name,) in made if name.startswith(source) and name.endswith("_link"))
    for column in ("p1", "p2"):
        shared_db.engine.execute(f"ALTER TABLE _sqlanon.{link} DROP COLUMN {column}")
    report = release.audit()
    assert report.k == 200
    assert report.min_identifiers == {}
    assert not report.satisfied
    (what,) = report.not_measured
    assert "vid, pid" in what
    assert "--full" in what
    shared_db.run(release.spec, full=True)
    assert release.audit().min_identifiers == {"vid": 200, "pid": 10}
    shared_db.rollback(source)
    assert release.audit().not_measured == (what,)


@pytest.mark.thorough
def test_the_file_of_a_release(connect: Any, tmp_path: Any) -> None:
    """What ties rows to persons stays in the source's database.

    From there they are counted, from the file alone not.
    """
    db = connect(ENGINES[1])
    release = db.anonymize(
        visits(db), **EVENTS, persons="ignored", publish="release.v", publish_file=str(tmp_path / "out.duckdb")
    )
    strict = replace(release.spec, persons=None)
    assert release.report.min_identifiers["pid"] == 4
    for _ in range(2):  # the second version is in the place of the first
        reported = db.audit("release.v", spec=strict)
        assert reported.table == f"release.v in {tmp_path}/out.duckdb"
        assert (reported.k, reported.min_identifiers, reported.highest_risk) == (80, {"vid": 80, "pid": 4}, 0.25)
        assert (reported.not_measured, reported.satisfied) == ((), False)
        db.run(release.spec, full=True)
    assert release.audit().satisfied
    with sqlanon.connect(f"duckdb:///{tmp_path}/out.duckdb") as reader:
        report = reader.audit("release.v", spec=strict)
    assert not report.satisfied
    assert ["from the database of its source" in what for what in report.not_measured] == [True]
    (tmp_path / "out.duckdb").rename(tmp_path / "old.duckdb")
    with pytest.raises(sqlanon.DatabaseError, match=r"out\.duckdb"):
        release.audit()


def test_plan_says_how_many_persons_there_are(shared_db: Any) -> None:
    source = visits(shared_db)
    spec = sqlanon.policy.release(source=source, **EVENTS)
    found = {one.column: (one.asked, one.largest) for one in shared_db.plan(spec).feasible if one.name == "persons"}
    assert found == {"vid": (10, 400), "pid": (10, 20)}
    more = replace(spec, privacy=replace(spec.privacy, k=21))
    (warning,) = shared_db.plan(spec).warnings
    assert "stops where one has fewer than 10 values of vid, pid" in warning
    for act in (shared_db.plan, shared_db.run):
        with pytest.raises(sqlanon.InfeasibleError, match="20 different values of pid"):
            act(more)


def test_identifiers_of_types_without_a_hash(connect: Any) -> None:
    """PostgreSQL cannot compare json and points; 1.0 and 1.00 are one number."""
    db = connect(ENGINES[2])
    db.engine.execute(
        "CREATE TABLE odd AS SELECT i % 2 AS age, CAST('{\"a\": ' || i % 7 || '}' AS json) AS j, point(i % 5, 0) AS p, "
        "CAST('1.' || repeat('0', i % 3) AS numeric) AS n "
        "FROM generate_series(0, 69) AS g(i)"
    )
    release = db.anonymize("odd", quasi="age", identifiers=["j", "p", "n"], rows_are="events", k=2, persons="ignored")
    assert release.report.min_identifiers == {"j": 7, "p": 5, "n": 1}
    assert release.audit().min_identifiers == {"j": 7, "p": 5, "n": 1}
    with pytest.raises(sqlanon.GuardError, match=r"identifier j repeats \(63 rows more than values\)"):
        db.anonymize("odd", quasi="age", identifiers="j", rest="drop", k=2, name="p", publish="release.p")
    db.engine.execute("CREATE VIEW few AS SELECT * FROM odd LIMIT 7")
    assert db.anonymize("few", quasi="age", identifiers="j", rest="drop", k=2).report.verified


def test_types_without_a_hash_are_not_published(connect: Any) -> None:
    """A plan says so, of every such column at once: before, a statement failed somewhere."""
    db = connect(ENGINES[2])
    db.engine.execute(
        "CREATE TABLE odd AS SELECT i % 2 AS age, CAST('1' AS json) AS j, point(0, 0) AS p, CAST(1 AS money) AS m, "
        "ARRAY[CAST('1' AS json)] AS ja, CAST(1 AS bit(4)) AS b FROM generate_series(0, 69) AS g(i)"
    )
    named = {"quasi": "age", "sensitive": ["j", "p"], "insensitive": ["m", "b"], "rest": "keep", "k": 2}
    spec = sqlanon.policy.release(source="odd", **named)
    for act in (db.plan, db.run):
        with pytest.raises(sqlanon.PolicyError) as reported:
            act(spec)
        problems = str(reported.value)
        for column, kind in (
            ("sensitive column j", "json"),
            ("sensitive column p", "point"),
            ("insensitive column m", "money"),
            ("insensitive column b", "bit(4)"),
            ("insensitive column ja", "json[]"),
        ):
            assert f"{column} has type {kind}, which PostgreSQL cannot hash" in problems


def test_nulls_are_one_person(shared_db: Any) -> None:
    """Ten rows without a number may be one person's, so they stop a release of persons as any repeat does."""
    rows = [(None if i < 10 else f"p{i}", i % 3) for i in range(60)]
    source = visits(shared_db, {"pid": "TEXT", "age": "INTEGER"}, rows)
    with pytest.raises(sqlanon.GuardError, match=r"pid repeats \(9 rows more than values, NULL being one\)"):
        shared_db.anonymize(source, quasi="age", identifiers="pid", k=5)
    shared_db.anonymize(source, quasi="age", identifiers="pid", k=5, accept_repeats="pid")
    one = visits(shared_db, {"pid": "TEXT", "age": "INTEGER"}, rows[9:])
    assert shared_db.anonymize(one, quasi="age", identifiers="pid", k=5).report.verified


@pytest.mark.parametrize(
    ("engine", "kind", "spellings"),
    [
        (ENGINES[0], "VARCHAR COLLATE NOCASE", ("'p' || {i}", "'P' || {i}")),
        (ENGINES[0], "INTERVAL", ("to_days(30 * {i})", "to_months({i})")),
        (ENGINES[0], "DOUBLE[]", ("[{i}, 0.0]", "[{i}, -0.0]")),
        (ENGINES[2], "INTERVAL", ("make_interval(days => 30 * {i})", "make_interval(months => {i})")),
        (ENGINES[2], "NUMERIC[]", ("ARRAY[{i}, 1.0]", "ARRAY[{i}, 1.00]")),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_a_person_written_in_two_ways_is_one(connect: Any, engine: Any, kind: str, spellings: tuple[str, str]) -> None:
    """Two rows a person, whose identifiers are equal in the source and have other bytes.

    10 rows of a class are 5 persons.
    """
    db = connect(engine)
    db.engine.execute(f"CREATE TABLE twice (pid {kind}, vid INTEGER, age INTEGER, dx TEXT)")
    series = "range(100) AS r(i)" if engine is ENGINES[0] else "generate_series(0, 99) AS r(i)"
    for at, spelling in enumerate(spellings):
        text = spelling.format(i="CAST(1 + i AS INTEGER)")
        db.engine.execute(f"INSERT INTO twice SELECT {text}, 2 * i + {at}, 20 + i / 5, 'flu' FROM {series}")
    assert db.engine.fetch("SELECT count(*), count(DISTINCT pid) FROM twice") == [(200, 100)]
    db.engine.execute(
        "UPDATE twice SET age = 20 + (vid / 2) / 5"
        if engine is ENGINES[2]
        else "UPDATE twice SET age = 20 + (vid // 2) // 5"
    )
    released = db.anonymize(
        "twice",
        quasi="age",
        sensitive="dx",
        identifiers=["pid", "vid"],
        rows_are="events",
        k=10,
        persons="ignored",
        publish="release.twice",
    )
    assert released.report.min_class == 10
    assert released.report.min_identifiers == {"pid": 5, "vid": 10}
    with pytest.raises(sqlanon.PrivacyViolation, match="5 different values of pid"):
        db.run(replace(released.spec, persons=None))
    assert released.audit().min_identifiers["pid"] == 5


def test_a_version_that_is_not_due_is_held_to_the_policy(shared_db: Any) -> None:
    source = visits(shared_db)
    release = shared_db.anonymize(source, **EVENTS, persons="ignored", every="24h")
    assert shared_db.run(release.spec, only_due=True).outcome == "fresh"
    with pytest.raises(sqlanon.PrivacyViolation, match="4 different values of pid"):
        shared_db.run(replace(release.spec, persons=None), only_due=True)
