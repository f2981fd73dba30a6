"""Names and values that mean something in SQL mean nothing here.

They come out as they went in, and nothing else moves.
"""

from __future__ import annotations

import pytest

import sqlanon
from sqlanon.release.publish import new_version
from tests.engines import create_table, quote, read_table

HOSTILE = (
    '"; drop table bystander; --',
    "'; drop table bystander; --",
    'a "quoted" name',
    "it's",
    "100%",
    "%s",
    "%(k)s",
    ":k",
    "$1",
    "$k",
    "?",
    "two  words ",
    "Ünïcødé 日本",
    "UPPER",
    "a.b",
    "{{ k }}",
    "/* no",
    "back\\slash",
    "line\nbreak",
    "select",
    "x_sqlanon_bind_k",
    "x_sqlanon_any_run_",
    "x_sqlanon_deadbeef_x",
)
OURS = (
    "class",
    "n",
    "place",
    "rid",
    "q1",
    "s1",
    "i1",
    "c1",
    "p1",
    "g1",
    "link",
    "value",
    "code",
    "label",
    "mark",
    "t",
    "r",
    "s",
)
FORMATS = ("ranges", "labels", "points", "suppressed")


@pytest.fixture
def db(shared_db):
    """The shared database with a table nobody asked about."""
    shared_db.engine.execute("DROP TABLE IF EXISTS bystander")
    shared_db.engine.execute("CREATE TABLE bystander AS SELECT 1 AS one")
    yield shared_db
    assert shared_db.engine.fetch("SELECT one FROM bystander") == [(1,)]


def people(id_name: str, number: str, text: str, sensitive: str, kept: str):
    columns = {id_name: "INTEGER", number: "INTEGER", text: "TEXT", sensitive: "TEXT", kept: "TEXT"}
    return columns, [(i, i % 5, "mf"[i % 2], "xy"[i % 3 % 2], "same") for i in range(30)]


def number_columns(name: str, form: str) -> list[str]:
    return [f"{name}_lo", f"{name}_hi"] if form == "ranges" else [name]


def released(db, view: tuple[str, str], columns: list[str]) -> None:
    assert list(read_table(db, view)[0]) == columns
    assert len(read_table(db, view)) == 30
    assert len(read_table(db, (view[0], f"{view[1]}_metadata"))) > 2


@pytest.mark.cover
@pytest.mark.parametrize(("name", "form"), [(name, FORMATS[i % 4]) for i, name in enumerate(HOSTILE)])
def test_hostile_names_everywhere(db, name, form):
    """The name is a schema, a table, a view and, with a suffix or without, every column.

    Twice, so that it is swapped.
    """
    schema, out = name, f"out {name}"
    columns, rows = people(f"{name}id", name, f"{name}t", f"{name}s", f"{name}k")
    source = create_table(db, (schema, name), columns, rows)
    for _ in range(2):
        db.anonymize(
            source,
            quasi=[name, f"{name}t"],
            sensitive=f"{name}s",
            identifiers=f"{name}id",
            insensitive=f"{name}k",
            k=3,
            l="3/2",
            format=form,
            publish=f"{quote(out)}.{quote(name)}",
            name=f"{name} release",
        )
    released(db, (out, name), [*number_columns(name, form), f"{name}t", f"{name}s", f"{name}k"])
    report = db.audit(f"{quote(out)}.{quote(name)}", sensitive=f"{name}s", identifiers=f"{name}k")
    assert report.k >= 3
    assert db.sample(f"{quote(out)}.{quote(name)}", 1)[1]
    db.profile(source)
    db.clean()


@pytest.mark.cover
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("half", [0, 1])
def test_our_own_aliases(db, half, form):
    """Names that our SQL uses itself are quasi columns in one half, and published as they are in the other."""
    kind = "TEXT" if half == FORMATS.index(form) % 2 else "INTEGER"
    quasi, kept = OURS[half::2][:6], OURS[1 - half :: 2]
    target = f"ours_{half}_{kind}_{form}".lower()
    rows = [[i % 2 if kind == "INTEGER" else "ab"[i % 2]] * len(quasi + kept) for i in range(30)]
    create_table(db, target, dict.fromkeys(quasi + kept, kind), rows)
    db.anonymize(target, quasi=quasi, sensitive=kept[:2], insensitive=kept[2:], k=2, format=form)
    shown = [p for name in quasi for p in (number_columns(name, form) if kind == "INTEGER" else [name])]
    released(db, ("release", target), [*shown, *kept])


def test_our_prefix_is_refused(db):
    """Columns that begin like our own scratch names cannot be published, and the text says what to do."""
    create_table(db, "prefixed", {"_sqlanon_class": "INTEGER"}, [(i % 3,) for i in range(9)])
    with pytest.raises(sqlanon.PolicyError, match="rename"):
        db.anonymize("prefixed", quasi="_sqlanon_class", k=3, format="points")


@pytest.mark.parametrize("extra", [0, 3])
def test_longest_names(db, extra):
    """A name may be as long as the engine lets it; where a suffix does not fit, that is said before any work."""
    most = min(db.engine.capabilities.max_identifier, 200)
    if most != 63:
        pytest.skip("no limit worth a test")
    table = ("w" * 62) + "xy"[extra > 0]
    number, text = "é" * 30 + "n" * extra, "t" * 63
    view = "v" * 53 + str(extra)
    create_table(db, table, {number: "INTEGER", text: "TEXT"}, [(i % 5, "mf"[i % 2]) for i in range(30)])
    asked = {"quasi": [number, text], "k": 3, "publish": f"release.{view}", "name": f"{'r' * 200}{extra}"}
    if extra:
        with pytest.raises(sqlanon.PolicyError, match="63"):
            db.anonymize(table, **asked)
    else:
        db.anonymize(table, **asked)
        released(db, ("release", view), [f"{number}_lo", f"{number}_hi", text])


VALUES = (
    "it's",
    'a "b"',
    "100%",
    "%s %(x)s",
    ":k $1 ?",
    "line\nbreak\r\ttab",
    "\u202eright to left",
    "e\u0301 not \u00e9",
    "😀",
    "",
    " ",
    "NULL",
    None,
    "x" * 100_000,
    "{a, b}",
    "\\N",
    "\\x41",
)


@pytest.mark.cover
@pytest.mark.parametrize("form", FORMATS)
def test_values_come_out_unchanged(db, form):
    """Sensitive and insensitive values are what they were, per row; nominal quasi values are found in their sets."""
    rows = [(i % 3, value, value, VALUES[(i + 1) % len(VALUES)]) for i, value in enumerate(VALUES * 4)]
    target = f"values_{form}"
    create_table(db, target, {"age": "INTEGER", "q": "TEXT", "sa": "TEXT", "kept": "TEXT"}, rows)
    db.anonymize(target, quasi=["age", "q"], sensitive="sa", insensitive="kept", k=2, format=form)
    got = read_table(db, ("release", target))
    key = repr
    assert sorted(((r["sa"], r["kept"]) for r in got), key=key) == sorted(((r[2], r[3]) for r in rows), key=key)
    if form == "ranges":
        assert all(r["q_null"] == "some" or r["sa"] is None or r["sa"] in r["q"] for r in got)
    elif form == "suppressed":
        assert all(r["q_suppressed"] or r["q"] == r["sa"] for r in got)
    elif form == "points":
        assert {r["q"] for r in got} <= set(VALUES)


@pytest.mark.parametrize("taken", ["view", "metadata"])
def test_what_is_not_ours_stays(db, taken):
    """A view that sqlanon did not make is never replaced, nor one that another release made."""
    create_table(db, f"taken_{taken}", {"age": "INTEGER"}, [(i % 3,) for i in range(9)])
    db.engine.execute("CREATE SCHEMA IF NOT EXISTS release")
    theirs = f"release.taken_{taken}" + ("_metadata" if taken == "metadata" else "")
    db.engine.execute(f"CREATE VIEW {theirs} AS SELECT 42 AS mine")
    with pytest.raises(sqlanon.PolicyError):
        db.anonymize(f"taken_{taken}", quasi="age", k=3)
    assert db.engine.fetch(f"SELECT mine FROM {theirs}") == [(42,)]


def test_a_view_that_appears_during_a_run_is_not_replaced(db, monkeypatch):
    """The places of the views are looked up again once the tables of the version are there.

    The view is made in the same transaction, which is rolled back.
    """
    create_table(db, "late", {"age": "INTEGER"}, [(i % 3,) for i in range(9)])
    db.engine.execute("CREATE SCHEMA IF NOT EXISTS release")
    give = new_version.private_table

    def create_view(engine, physical):
        engine.execute("CREATE VIEW release.late AS SELECT 42 AS mine")
        return give(engine, physical)

    monkeypatch.setattr(new_version, "private_table", create_view)
    with pytest.raises(sqlanon.PolicyError, match="late exists and was not made by sqlanon"):
        db.anonymize("late", quasi="age", k=3)
    there = (
        "SELECT table_name FROM information_schema.tables WHERE table_schema = 'release' AND table_name LIKE 'late%'"
    )
    assert db.engine.fetch(there) == []


def test_another_release_keeps_its_view(db):
    create_table(db, "shared", {"age": "INTEGER"}, [(i % 3,) for i in range(9)])
    db.anonymize("shared", quasi="age", k=3, name="one", publish="release.z_metadata")
    for publish in ("release.z", "release.z_metadata"):
        with pytest.raises(sqlanon.PolicyError):
            db.anonymize("shared", quasi="age", k=3, name="two", publish=publish)
    assert db.sample("release.z_metadata", 1)[0] == ("age_lo", "age_hi")


def test_a_release_that_moves(db):
    """Published elsewhere from now on: the old view does not go stale, nor break for its readers."""
    create_table(db, "moving", {"age": "INTEGER"}, [(i % 3,) for i in range(9)])
    db.anonymize("moving", quasi="age", k=3, publish="release.from_here")
    for _ in range(3):
        db.anonymize("moving", quasi="age", k=3, publish="release.to_there")
    found = db.engine.fetch("SELECT table_name FROM information_schema.tables WHERE table_name LIKE 'from_here%'")
    assert found == []
    assert db.engine.fetch("SELECT count(*) FROM release.to_there") == [(9,)]
