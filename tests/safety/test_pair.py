"""The life of a release in format anatomy.

Its two tables come, change and go together, and nobody else's is touched.
"""

from __future__ import annotations

import uuid

import pytest

import sqlanon
from tests.contract.anatomies import read_pair
from tests.engines import create_table, quote, read_table
from tests.safety.conftest import SERVER
from tests.safety.people import ANATOMY, assert_tidy, private_tables, write_people
from tests.safety.test_names import HOSTILE, OURS

RANGES = {**ANATOMY, "format": "ranges", "k": 1}


def views(db) -> set[str]:
    found = db.engine.fetch("SELECT table_name FROM information_schema.tables WHERE table_schema = 'release'")
    return {str(row[0]) for row in found}


def sized(db, view: str = "people") -> tuple[int, int]:
    """Rows of the first table, and what the second counts."""
    pair = read_pair(db, view)
    return len(pair.rows), sum(row["count"] for row in pair.counted)


def test_a_refresh_swaps_both(db):
    for generation in range(4):
        write_people(db.engine, generation)
        report = db.anonymize("people", **ANATOMY).report
        assert report.published_sensitive == report.published + "_sensitive"
        assert sized(db) == (40 + generation, 40 + generation)
        assert {row["generation"] for row in read_pair(db, "people").rows} == {generation}
    db.clean()
    assert views(db) == {"people", "people_sensitive", "people_metadata"}
    kept = {name.partition("_v")[2] for name in private_tables(db.engine) - {"catalog", "secrets"}}
    assert kept == {f"{v}{part}" for v in (3, 4) for part in ("", "_link", "_metadata", "_sensitive")}


@pytest.mark.thorough
def test_another_format_takes_the_second_table_away(db):
    """Nobody would refresh it, and its table could never be dropped."""
    write_people(db.engine)
    db.anonymize("people", **ANATOMY)
    for _ in range(3):
        db.anonymize("people", **RANGES)
    assert views(db) == {"people", "people_metadata"}
    assert_tidy(db)
    db.anonymize("people", **ANATOMY, allow_weaker=True)
    assert views(db) == {"people", "people_sensitive", "people_metadata"}
    db.anonymize("people", **ANATOMY, publish="release.folk")
    assert views(db) == {"folk", "folk_sensitive", "folk_metadata"}


def test_what_is_not_ours_stays(db):
    """A name that either table needs may be another's: a view that we did not make, or another release's."""
    write_people(db.engine)
    db.engine.execute("CREATE SCHEMA release")
    db.engine.execute("CREATE VIEW release.people_sensitive AS SELECT 42 AS mine")
    with pytest.raises(sqlanon.PolicyError, match="people_sensitive exists"):
        db.anonymize("people", **ANATOMY)
    assert db.engine.fetch("SELECT mine FROM release.people_sensitive") == [(42,)]
    db.anonymize("people", **RANGES)  # needs no second table
    db.anonymize("people", **ANATOMY, name="second", publish="release.other")
    for publish, format_ in (("other_sensitive", "ranges"), ("other", "anatomy")):
        with pytest.raises(sqlanon.PolicyError, match="belongs to release second"):
            db.anonymize("people", **{**ANATOMY, "format": format_, "k": 1}, name="third", publish=f"release.{publish}")
    db.anonymize("people", **RANGES, name="fourth", publish="release.odd_sensitive")
    with pytest.raises(sqlanon.PolicyError, match="belongs to release fourth"):
        db.anonymize("people", **ANATOMY, name="fifth", publish="release.odd")


@pytest.mark.parametrize("column", ["group_id", "GROUP_ID"])
def test_names_of_columns(db, column):
    """A column that the format adds may not be the source's as well."""
    create_table(
        db,
        "named",
        {column: "INTEGER", "count": "TEXT", "s": "TEXT"},
        [(i % 3, "ab"[i % 2], "xy"[i % 2]) for i in range(20)],
    )
    asked = {"l": 2, "format": "anatomy", "rest": "drop"}
    with pytest.raises(sqlanon.PolicyError, match="two columns"):
        db.anonymize("named", quasi=column, sensitive="s", **asked)
    with pytest.raises(sqlanon.PolicyError, match="two columns"):
        db.anonymize("named", quasi="s", sensitive="count", **asked)
    db.anonymize("named", quasi="count", sensitive="s", **asked)  # the first table counts nothing
    assert list(read_table(db, ("release", "named"))[0]) == ["count", "group_id"]


def test_names_that_are_too_long(connect):
    db = connect(SERVER)
    write_people(db.engine)
    db.anonymize("people", **RANGES, publish=f"release.{'v' * 54}")
    with pytest.raises(sqlanon.PolicyError, match="_sensitive it must fit 63"):
        db.anonymize("people", **ANATOMY, name="long", publish=f"release.{'w' * 54}")
    db.anonymize("people", **ANATOMY, name="long", publish=f"release.{'w' * 53}")
    assert sized(db, "w" * 53) == (40, 40)


def test_audits(db):
    write_people(db.engine)
    release = db.anonymize("people", **ANATOMY)
    report = release.audit()
    assert (report.rows, report.k_all, report.quasi) == (40, 2, ("age", "sex"))
    assert report.groups.table.endswith("people_sensitive")
    assert (report.groups.groups, report.groups.smallest, report.groups.disagreeing) == (
        release.report.classes,
        release.report.min_class,
        0,
    )
    pair = read_pair(db, "people").groups("illness")
    reached = min(sum(values.values()) / max(values.values()) for _, values in pair.values())
    (found,) = report.sensitive
    assert (found.column, found.frequency_l) == ("illness", pytest.approx(reached))
    assert all(item.satisfied for item in report.requirements)
    plain = db.audit("release.people", sensitive="illness")
    assert plain.sensitive == report.sensitive
    with pytest.raises(sqlanon.PolicyError, match=r"audit release\.people, which reads both"):
        db.audit("release.people_sensitive")
    with pytest.raises(sqlanon.PolicyError, match="there is no column"):
        db.audit("release.people", sensitive="group_id")


def test_an_audit_finds_tables_that_disagree(connect):
    """Whoever changed one of them: no number is taken from the catalog."""
    db = connect(SERVER)
    write_people(db.engine)
    release = db.anonymize("people", **ANATOMY)
    db.engine.execute(
        "CREATE OR REPLACE VIEW release.people_sensitive AS SELECT group_id, illness, "
        "CASE group_id WHEN 1 THEN count + 1 ELSE count END AS count FROM "
        f"_sqlanon.{next(n for n in private_tables(db.engine) if n.endswith('_sensitive'))}"
    )
    report = release.audit()
    assert report.groups.disagreeing == 1
    assert [item.satisfied for item in report.requirements if item.name == "groups that agree"] == [False]


def test_an_audit_against_a_policy_with_k(connect):
    """A policy that no longer has the format asks its k of the exact rows, and they fail."""
    from sqlanon.policy import release as spec

    db = connect(SERVER)
    write_people(db.engine)
    db.anonymize("people", **ANATOMY)
    asked = spec(source="people", **{**RANGES, "k": 4})
    results = {item.name: item for item in db.audit("release.people", spec=asked).requirements}
    assert (results["k"].reached, results["k"].satisfied, results["l"].satisfied) == (2, False, True)
    asked = spec(source="people", **{**ANATOMY, "k": 2, "presence": "disclosed"})
    results = {item.name: item for item in db.audit("release.people", spec=asked).requirements}
    assert results["k"].satisfied


def test_k_counts_the_rows_of_a_group(db):
    """Where the owner accepts that presence is disclosed."""
    write_people(db.engine)
    report = db.anonymize("people", **ANATOMY, k=8, presence="disclosed").report
    assert report.min_class >= 8
    assert {item.name: item.reached for item in report.requirements}["k"] == report.min_class
    assert any("presence is disclosed" in warning and "k = 8" in warning for warning in report.warnings)


def test_plans(db):
    from sqlanon.policy import release as spec

    write_people(db.engine)
    plan = db.plan(spec(source="people", **ANATOMY))
    assert plan.publish_sensitive == plan.publish + "_sensitive"
    assert any("presence is disclosed" in warning for warning in plan.warnings)
    names = [text.splitlines()[0] for text in plan.statements]
    assert names == [
        f"-- {name}"
        for name in (
            "table/stage",
            "publish/table",
            "publish/sensitive",
            "verify/k_anonymity",
            "publish/view",
            "publish/view",
        )
    ]
    assert {column.name: column.publishes for column in plan.columns}["age"] == ("age",)


def test_two_releases_held_together(db):
    """Not measured, and said: by the command, and by the warnings."""
    write_people(db.engine)
    db.anonymize("people", **RANGES)
    report = db.anonymize("people", **ANATOMY, name="pair", publish="release.pair").report
    assert any("give no reader both" in warning for warning in report.warnings)
    for names in (("people", "pair"), ("pair", "people")):
        with pytest.raises(sqlanon.PolicyError, match="pair has format anatomy"):
            db.together(*names)


def test_metadata_and_samples(db):
    import json

    write_people(db.engine)
    db.anonymize("people", **ANATOMY)
    reported = {row["column_name"]: row for row in read_table(db, ("release", "people_metadata"))}
    facts = json.loads(reported[""]["published"])
    assert (facts["sensitive_view"], facts["group_column"], facts["presence"]) == (
        "people_sensitive",
        "group_id",
        "disclosed",
    )
    assert reported["age"]["format"] == "anatomy"
    assert "id" not in reported
    names, rows = db.sample("release.people_sensitive", 2)
    assert (names, len(rows)) == (("group_id", "illness", "count"), 2)


def test_grants_survive(make_url):
    url, role = make_url(SERVER), f"reader_{uuid.uuid4().hex[:6]}"
    with sqlanon.connect(url) as db:
        write_people(db.engine)
        db.anonymize("people", **ANATOMY)
        db.engine.execute(f"CREATE ROLE {role}")
        try:
            db.engine.execute(f"GRANT USAGE ON SCHEMA release TO {role}")
            db.engine.execute(f"GRANT SELECT ON release.people, release.people_sensitive TO {role}")
            for _ in range(2):
                db.anonymize("people", **ANATOMY)
                db.engine.execute(f"SET ROLE {role}")
                try:
                    assert sum(row[0] for row in db.engine.fetch("SELECT count FROM release.people_sensitive")) == 40
                    assert db.engine.fetch("SELECT count(*) FROM release.people") == [(40,)]
                finally:
                    db.engine.execute("RESET ROLE")
        finally:
            db.engine.execute(f"DROP OWNED BY {role}")
            db.engine.execute(f"DROP ROLE {role}")


@pytest.mark.cover
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.thorough] * (i % 2)) for i, name in enumerate(HOSTILE)]
)
def test_hostile_names(shared_db, name):
    """Schema, table, view and every column; twice, so that both tables are swapped."""
    columns = {name: "INTEGER", f"{name}t": "TEXT", f"{name}s": "TEXT", f"{name}k": "TEXT"}
    rows = [(i % 5, "mf"[i % 2], "xyz"[i % 3], "same") for i in range(30)]
    source = create_table(shared_db, (f"pair {name}", name), columns, rows)
    view = f"{quote(f'out {name}')}.{quote(name)}"
    for method in ("anatomy", "mondrian"):
        shared_db.anonymize(
            source,
            quasi=[name, f"{name}t"],
            sensitive=f"{name}s",
            insensitive=f"{name}k",
            l=3,
            format="anatomy",
            method=method,
            publish=view,
            name=f"{name} pair",
        )
    assert list(read_table(shared_db, (f"out {name}", name))[0]) == [name, f"{name}t", f"{name}k", "group_id"]
    counted = read_table(shared_db, (f"out {name}", f"{name}_sensitive"))
    assert list(counted[0]) == ["group_id", f"{name}s", "count"]
    assert sum(row["count"] for row in counted) == 30
    assert shared_db.audit(view).sensitive[0].frequency_l == 3


@pytest.mark.cover
@pytest.mark.parametrize("method", ["anatomy", "mondrian"])
def test_our_own_aliases(shared_db, method):
    """Names that our SQL uses itself are quasi columns, published as they are, and one by one the sensitive column."""
    names = [*OURS, "tie", "rank", "slot", "code", "found", "expected", "difference", "rows_n", "counted_n", "squares"]
    for at in range(0, len(names), 4):
        sensitive, quasi, kept = (names[at], names[:at][-5:] or names[-5:], [n for n in names[at + 1 :] if n != "link"])
        columns = dict.fromkeys([*quasi, sensitive, *(n for n in kept if n not in quasi)], "INTEGER")
        target = f"own_{method}_{at}"
        create_table(shared_db, target, columns, [[i % 3] * len(columns) for i in range(30)])
        shared_db.anonymize(target, quasi=quasi, sensitive=sensitive, rest="keep", l=2, format="anatomy", method=method)
        pair = read_pair(shared_db, target)
        assert set(pair.rows[0]) == {*columns, "group_id"} - {sensitive}
        assert sum(row["count"] for row in pair.counted) == len(pair.rows) == 30
