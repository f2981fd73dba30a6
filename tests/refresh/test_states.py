"""What a run decides: nothing to do, data, policy or schema changed; weakening must be confirmed; due or not."""

from __future__ import annotations

import datetime
from dataclasses import replace

import pytest

import sqlanon
from tests.refresh.conftest import BASE, fill, release


@pytest.fixture(scope="module")
def base(shared_db) -> str:
    """A release that is published once, for policies that are only planned or refused."""
    fill(shared_db, "base")
    shared_db.run(release("base"))
    return "base"


def versions(db, name):
    return [(row.version, row.status) for row in db.releases(name)]


def test_first_then_unchanged_then_data(shared_db):
    fill(shared_db, "a1")
    spec = release("a1")
    assert shared_db.plan(spec).state == "first release"
    first = shared_db.run(spec)
    assert (first.outcome, first.version, first.replaces) == ("published", 1, None)
    assert shared_db.plan(spec).state == "unchanged"
    for _ in range(2):
        again = shared_db.run(spec)
        assert (again.outcome, again.version, again.rows) == ("unchanged", 1, 40)
        assert again.loss == first.loss
    assert versions(shared_db, "a1") == [(1, "published")]
    shared_db.engine.execute("UPDATE a1 SET illness = 'flu' WHERE id = 2")
    planned = shared_db.plan(spec)
    assert planned.state == "data changed"
    assert "the source's rows changed" in planned.why
    second = shared_db.run(spec)
    assert (second.outcome, second.version, second.replaces) == ("published", 2, 1)
    assert versions(shared_db, "a1") == [(1, "replaced"), (2, "published")]


def test_the_order_of_rows_is_no_change(shared_db):
    fill(shared_db, "a2")
    spec = release("a2")
    shared_db.run(spec)
    shared_db.engine.execute("CREATE TABLE a2_turned AS SELECT * FROM a2 ORDER BY id DESC")
    shared_db.engine.execute("DELETE FROM a2")
    shared_db.engine.execute("INSERT INTO a2 SELECT * FROM a2_turned")
    assert shared_db.run(spec).outcome == "unchanged"


@pytest.mark.cover
@pytest.mark.parametrize(
    "change",
    [
        (
            "UPDATE {t} SET age = CASE id WHEN 1 THEN (SELECT age FROM {t} WHERE id = 2) ELSE (SELECT age FROM {t} "
            "WHERE id = 1) END WHERE id IN (1, 2)"
        ),
        "UPDATE {t} SET sex = NULL WHERE id = 3",
        "DELETE FROM {t} WHERE id = 4",
        "INSERT INTO {t} SELECT 41, 30, 'f', 'cold'",
        "UPDATE {t} SET id = 1000 WHERE id = 1",
    ],
    ids=["values_change_places", "a_null", "a_row_gone", "a_row_more", "another_identifier"],
)
def test_every_change_of_rows_is_seen(shared_db, change, request):
    table = f"b_{abs(hash(request.node.name)) % 10**8}"
    fill(shared_db, table)
    spec = release(table)
    shared_db.run(spec)
    shared_db.engine.execute(change.format(t=table))
    assert shared_db.run(spec).outcome == "published"


def test_full_makes_a_version_in_any_case(shared_db):
    fill(shared_db, "a3")
    shared_db.run(release("a3"))
    again = shared_db.run(release("a3"), full=True)
    assert (again.version, again.why) == (2, ("asked for with --full",))


@pytest.mark.cover
@pytest.mark.parametrize(
    ("change", "reported"),
    [
        ({"k": 2}, "k 3 -> 2 (weaker)"),
        ({"l": None}, "l 2 -> none (weaker)"),
        ({"l": 1.5}, "l 2 -> 3/2 (weaker)"),
        ({"sensitive": (), "insensitive": "illness", "l": None}, "column illness: sensitive -> insensitive (weaker)"),
        ({"quasi": "age", "insensitive": "sex"}, "column sex: quasi -> insensitive (weaker)"),
        ({"identifiers": (), "quasi": ["age", "sex", "id"]}, "column id: identifier -> quasi (weaker)"),
        ({"rows_are": "events"}, "rows_are persons -> events (weaker)"),
        ({"rows_are": "events", "persons": "ignored"}, "persons none -> ignored (weaker)"),
        ({"accept_repeats": "id"}, "column id: accept_repeats no -> yes (weaker)"),
        ({"format": "anatomy", "presence": "disclosed"}, "format ranges -> anatomy (weaker)"),
        ({"identifiers": (), "rest": "drop"}, "one row a person, checked by id -> nothing (weaker)"),
    ],
)
def test_a_weaker_policy_must_be_confirmed(shared_db, base, change, reported):
    weaker = release(base, **change)
    planned = shared_db.plan(weaker)
    assert planned.state == "policy changed"
    assert reported in planned.weaker
    with pytest.raises(sqlanon.GuardError, match="--allow-weaker") as refused:
        shared_db.run(weaker)
    assert reported in str(refused.value)
    assert refused.value.exit_code == 2
    assert versions(shared_db, base) == [(1, "published")]


def test_a_weaker_policy_is_confirmed_once(shared_db):
    fill(shared_db, "c1")
    shared_db.run(release("c1"))
    weaker = release("c1", k=2, method="mondrian")
    assert shared_db.run(weaker, allow_weaker=True).version == 2
    assert shared_db.run(weaker).outcome == "unchanged"


@pytest.mark.thorough
@pytest.mark.cover
@pytest.mark.parametrize(
    ("change", "reported"),
    [
        ({"k": 4}, "k 3 -> 4"),
        ({"distinct_l": 2}, "distinct_l none -> 2"),
        ({"weights": {"age": 3}}, "column age: weight 1 -> 3"),
        ({"method": "mondrian"}, "method.name tree -> mondrian"),
        ({"format": "labels"}, "format ranges -> labels"),
        ({"quasi": "age", "rest": "drop"}, "column sex: quasi -> not published"),
    ],
)
def test_other_changes_of_the_policy_need_no_confirmation(shared_db, base, change, reported):
    planned = shared_db.plan(release(base, **change))
    assert (planned.state, planned.weaker) == ("policy changed", ())
    assert reported in planned.why


def test_settings_make_no_version(shared_db):
    """Who reads, how often and with how much memory is not what is released."""
    fill(shared_db, "a4")
    shared_db.run(release("a4"))
    changed = release("a4", every="1h", keep=5, memory="1GB", execution="kernel")
    assert shared_db.run(changed).outcome == "unchanged"
    assert shared_db.run(changed).why == ("source, policy and sqlanon are as before",)
    reasons = tuple(replace(column, because="the register has it") for column in changed.columns)
    assert shared_db.run(replace(changed, columns=reasons)).outcome == "unchanged"


def test_a_new_column_stops_the_release(shared_db):
    fill(shared_db, "a5")
    spec = release("a5")
    shared_db.run(spec)
    shared_db.engine.execute("ALTER TABLE a5 ADD COLUMN phone VARCHAR")
    for act in (shared_db.plan, shared_db.run):
        with pytest.raises(sqlanon.PolicyError, match=r"has phone since version 1.*no role"):
            act(spec)
    named = release("a5", identifiers=["id", "phone"], accept_repeats="phone")
    planned = shared_db.plan(named)
    assert planned.state == "schema changed"
    assert {"column phone: new", "column phone: not published -> identifier"} <= set(planned.why)
    assert shared_db.run(named).version == 2


@pytest.mark.parametrize("rest", ["keep", "drop"])
def test_a_new_column_is_not_published_by_default(shared_db, rest):
    table = f"a6_{rest}"
    fill(shared_db, table)
    spec = release(table, rest=rest)
    shared_db.run(spec)
    shared_db.engine.execute(f"ALTER TABLE {table} ADD COLUMN phone VARCHAR")
    if rest == "keep":
        with pytest.raises(sqlanon.PolicyError, match="rest: keep was set before"):
            shared_db.run(spec)
        again = {**BASE, "name": table, "publish": f"release.{table}", "rest": rest}
        with pytest.raises(sqlanon.SchemaChangedError, match="has phone since version 1"):
            shared_db.anonymize(table, **again)
        assert (
            shared_db.anonymize(
                table, **{**again, "identifiers": ["id", "phone"], "accept_repeats": "phone"}
            ).report.version
            == 2
        )
    else:
        assert shared_db.run(spec).why[0] == "column phone: new, not published (rest: drop)"
        assert "phone" not in {
            name
            for name, *_ in shared_db.engine.fetch(
                "SELECT column_name FROM information_schema.columns WHERE table_schema = 'release' AND table_name = "
                f"'{table}'"
            )
        }


def test_nor_where_the_source_has_another_name(shared_db):
    """A table a month: what the last one did not have nobody has decided about."""
    for month, more in (("m1", ""), ("m2", ", 'dear diary' AS diary")):
        fill(shared_db, month)
        shared_db.engine.execute(f"CREATE TABLE at_{month} AS SELECT *{more} FROM {month}")
    shared_db.run(release("at_m1", name="month", publish="release.month", rest="keep"))
    with pytest.raises(sqlanon.SchemaChangedError, match="has diary since version 1"):
        shared_db.run(release("at_m2", name="month", publish="release.month", rest="keep"))


def test_a_changed_type_and_a_column_that_is_gone(shared_db):
    fill(shared_db, "a7")
    shared_db.engine.execute("ALTER TABLE a7 ADD COLUMN notes VARCHAR")
    shared_db.run(release("a7", rest="drop"))
    shared_db.engine.execute("ALTER TABLE a7 DROP COLUMN notes")
    shared_db.engine.execute("ALTER TABLE a7 ALTER COLUMN age TYPE BIGINT")
    planned = shared_db.plan(release("a7", rest="drop"))
    assert planned.state == "schema changed"
    assert "column notes: gone" in planned.why
    assert [line for line in planned.why if line.startswith("column age: type ")]


def test_a_view_that_is_gone_is_made_again(shared_db):
    fill(shared_db, "a8")
    shared_db.run(release("a8"))
    shared_db.engine.execute("DROP VIEW release.a8")
    again = shared_db.run(release("a8"))
    assert (again.outcome, again.why) == ("published", ("release.a8 is gone",))


def test_due(shared_db):
    """A release is looked at again when its period has passed, a twentieth early.

    An unchanged one counts as looked at; a look in the future was noted by a wrong clock, and does not stop a schedule.
    """
    fill(shared_db, "a9")
    spec = release("a9", every="10h")
    assert shared_db.run(spec, only_due=True).version == 1
    assert shared_db.run(spec, only_due=True).outcome == "fresh"
    shared_db.engine.execute("DELETE FROM a9 WHERE id = 1")
    assert shared_db.run(spec, only_due=True).outcome == "fresh"
    looks = ((9.4, "fresh"), (9.6, "published"), (9.4, "fresh"), (11, "unchanged"), (0, "fresh"))
    for hours, outcome in (*looks, (-9.4, "fresh"), (-10000, "unchanged"), (0, "fresh")):
        past = datetime.datetime.now(datetime.UTC) - datetime.timedelta(hours=hours)
        if hours:
            shared_db.engine.execute(
                f"UPDATE _sqlanon.catalog SET checked_at = '{past.isoformat(timespec='seconds')}' WHERE release = 'a9'"
            )
        assert shared_db.run(spec, only_due=True).outcome == outcome
    assert shared_db.run(release("a9"), only_due=True).outcome == "unchanged"  # without `every` always


def test_another_version_of_sqlanon_makes_a_new_one(shared_db):
    fill(shared_db, "a10")
    shared_db.run(release("a10"))
    shared_db.engine.execute("UPDATE _sqlanon.catalog SET sqlanon = '0.0.9' WHERE release = 'a10'")
    again = shared_db.run(release("a10"))
    assert (again.version, again.why[0].split(" ->")[0]) == (2, "sqlanon 0.0.9")
