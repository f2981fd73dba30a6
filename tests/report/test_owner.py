"""The owner's report: its figures are those of rows counted in plain Python, and those of the run."""

from __future__ import annotations

import stat
from collections import Counter
from typing import Any

import pytest

from tests.report.pages import Read, number, people, released
from tests.shelf import Shelf

FORMATS = ("ranges", "labels", "points", "suppressed", "anatomy")


def shown(db: Any, name: str, **options: Any) -> Read:
    return Read(db.report(name, **options))


def test_figures_are_those_of_the_rows(shelf: Shelf) -> None:
    name, db = shelf.take("people").name, shelf.db
    page = shown(db, name)
    rows = people()
    before = Counter(row[1:3] for row in rows)
    relation = db.engine.relation(f"release.{name}")
    _, after_rows = db.sample(f"release.{name}", rows=1000)
    places = [at for at, column in enumerate(relation.columns) if column.name != "ill"]
    after = Counter(tuple(str(row[at]) for at in places) for row in after_rows)
    for title, classes in (("source", before), ("release", after)):
        column = page.column("Risk of finding a person", title)
        assert number(column["rows"]) == 60
        assert number(column["classes"]) == len(classes)
        assert number(column["unique rows"]) == sum(size == 1 for size in classes.values())
        assert number(column["prosecutor, highest"]) == pytest.approx(1 / min(classes.values()), rel=1e-3)
        assert number(column["prosecutor, average"]) == pytest.approx(len(classes) / 60, rel=1e-3)
        above = sum(size for size in classes.values() if size < 5) / 60
        assert number(column["rows above 0.2"]) == pytest.approx(above, rel=1e-3)
    sizes = Counter(after.values())
    classes = page.column("Classes by size", "classes")
    assert {int(number(size)): int(number(count)) for size, count in classes.items()} == sizes
    ill = [row[[column.name for column in relation.columns].index("ill")] for row in after_rows]
    assert sorted(ill) == sorted(row[3] for row in rows)


@pytest.mark.thorough
def test_figures_are_those_of_the_run(shelf: Shelf) -> None:
    name, db = shelf.take("people").name, shelf.db
    (version,) = [one for one in db.releases() if one.release == name]
    run = db.version(name).report
    page = shown(db, name)
    reached = page.column("Requirements", "reached")
    assert [number(cell) for cell in reached.values()] == [
        pytest.approx(one["reached"], rel=1e-3) for one in run["requirements"]
    ]
    assert set(page.column("Requirements", "result").values()) == {"met"}
    for title, key in (("NCP", "ncp"), ("LM", "lm")):
        column = page.column("Loss by column, 0 to 1", title)
        for of in ("age", "zip"):
            assert number(column[of]) == pytest.approx(run["loss"]["columns"][of][key], abs=1e-4)
    assert number(page.column("Loss by column, 0 to 1", "NCP")["all, weighted"]) == pytest.approx(version.gcp, abs=1e-4)
    assert page.column("Versions", "status") == {"1": "published"}
    assert page.column("Columns", "role") == {"id": "identifier", "age": "quasi", "zip": "quasi", "ill": "sensitive"}
    assert page.column("Columns", "settings")["age"] == ""
    assert "Confidential" in page.text


@pytest.mark.thorough
@pytest.mark.parametrize("form", FORMATS)
def test_every_format(shelf: Shelf, form: str) -> None:
    name = shelf.take("people" if form == "ranges" else f"people_{form}").name
    db = shelf.db
    page = shown(db, name)
    assert "Requirements" in page.tables
    assert "Classes by size" in page.tables
    assert "Association of the strongest pairs" in page.tables
    assert ("age: shares of rows" in page.tables) == (form != "anatomy")
    assert "Every requirement of the policy is met." in page.text
    assert db.report(name) == db.report(f"release.{name}")
    assert "| k |" in db.report(name, form="md") or form == "anatomy"


@pytest.mark.thorough
def test_workload(shelf: Shelf, tmp_path: Any) -> None:
    name, db = shelf.take("people").name, shelf.db
    path = tmp_path / "workload.yml"
    path.write_text(
        f"version: 1\nqueries:\n  - {{name: young, sql: 'select count(*) as n from {name} where age < 35'}}\n"
        "generators: [{kind: datacube, level: 1}]\n"
    )
    page = shown(db, name, workload=path)
    truth = sum(row[1] < 35 for row in people())
    assert number(page.column("Queries of the workload", "truth")["young"]) == truth
    low, high = (number(page.column("Queries of the workload", side)["young"]) for side in ("low", "high"))
    assert low <= truth <= high
    found = db.evaluate(name, path)
    assert number(page.column("Divergence of the distributions", "KLD")["datacube 1"]) == pytest.approx(
        found.cubes[0].kld, rel=1e-3
    )


def test_settings_of_columns(shared_db: Any) -> None:
    """What a column has beyond its role is listed; the values of an order are not, in any form."""
    name = released(
        shared_db,
        quasi=["age", "zip"],
        weights={"age": 2},
        ordered={"zip": [f"zip{n}" for n in range(5)]},
        accept_repeats="id",
    )
    text = shared_db.report(name, form="md")
    assert "weight 2" in text
    assert "accept\\_repeats yes" in text
    assert "ordered 5 values, SHA-256" in text


@pytest.mark.thorough
def test_versions_and_history(shared_db: Any) -> None:
    name = released(shared_db, key="id")
    shared_db.engine.execute(f"DELETE FROM {name} WHERE id < 1010")
    shared_db.anonymize(
        name,
        name=name,
        publish=f"release.{name}",
        quasi=["age", "zip"],
        sensitive="ill",
        identifiers="id",
        k=5,
        l=2,
        key="id",
    )
    page = shown(shared_db, name)
    assert page.column("Versions", "status") == {"1": "replaced", "2": "published"}
    assert page.column("Versions", "rows") == {"1": "60", "2": "50"}
    (title,) = [caption for caption in page.tables if caption.startswith("Versions 1 and 2 together")]
    assert page.column(title, "rows")["left"] == "10"


@pytest.mark.thorough
def test_persons(shared_db: Any) -> None:
    """Of three rows a person the risk is that of persons: a class of 15 rows may hold five of them."""
    rows = [(1000 + n // 3, 20 + n // 3 % 4, "zip", ("flu", "asthma", "ulcer")[n % 3]) for n in range(90)]
    name = released(shared_db, rows, rows_are="events", k=2, l=1)
    page = shown(shared_db, name)
    fewest = min(shared_db.version(name).report["min_identifiers"].values())
    assert number(page.column("Risk of finding a person", "release")["prosecutor, highest"]) == pytest.approx(
        1 / fewest, rel=1e-3
    )
    before = Counter(age for age, _ in {(row[1], row[0]) for row in rows})
    assert number(page.column("Risk of finding a person", "source")["prosecutor, highest"]) == pytest.approx(
        1 / min(before.values()), rel=1e-3
    )


@pytest.mark.parametrize("columns", [["id"], ["id", "age"]], ids=len)
def test_the_person_of_a_policy_is_who_is_counted(shared_db: Any, columns: list[str]) -> None:
    """Nine persons of one class, by one column or by two together, and another identifier that is new in every row."""
    rows = [(n // 3, n // 9, f"zip{n}", "flu") for n in range(27)]
    name = released(
        shared_db,
        rows,
        quasi=["ill"],
        sensitive=None,
        l=None,
        identifiers=["id", "age", "zip"],
        person=columns,
        persons="rows",
        k=3,
    )
    page = shown(shared_db, name)
    release = page.column("Risk of finding a person", "release")
    assert release["prosecutor, highest"] == release["prosecutor, average"] == release["marketer"] == "11.11 %"
    # Persons of several columns are not counted in the source.
    source = page.column("Risk of finding a person", "source")
    assert source["prosecutor, highest"] == ("11.11 %" if columns == ["id"] else "3.704 %")
    assert ("known by several columns together" in page.text) is (len(columns) > 1)


def test_what_ends_it(shared_db: Any) -> None:
    from sqlanon.errors import PolicyError

    with pytest.raises(PolicyError, match="neither a published release"):
        shared_db.report("nothing")


@pytest.mark.thorough
def test_boxes_of_their_own(shared_db: Any) -> None:
    """Rows that fit a box are no class, nor do they look alike."""
    name = released(shared_db, method="freeform", boxes="own", l=None)
    page = shown(shared_db, name)
    readers = shown(shared_db, name, audience="readers").text
    for text in (page.text, readers):
        assert "each is as likely to be its own" in " ".join(text.split())
    for text in (page.text, readers, shared_db.report(name, form="md")):
        assert "box of its own" in text
        assert "Sizes of classes" not in text
        assert "worst class" not in text
        assert "rows that look alike" not in text
    assert len(page.tables["Risk of finding a person"][0]) == 2  # of the source alone


def test_the_file(cli: Any, policy: Any, tmp_path: Any) -> None:
    assert cli("run").code == 0
    ended = cli("report", "people", "-o", "report.html")
    assert ended.code == 0, ended.err
    assert "confidential" in ended.out
    made = tmp_path / "report.html"
    assert stat.S_IMODE(made.stat().st_mode) == 0o600
    assert not list(tmp_path.glob("*.sqlanon-*"))
    again = cli("report", "people", "-o", "report.html")
    assert (again.code, "is not overwritten" in again.err) == (2, True)
    printed = cli("report", "people", "--md").out
    assert printed.startswith("# people, version 1\n")
    assert cli("report", "people", "--md", "--json").json["report"] == printed
    assert cli("report", "people", "--md", "-o", "r.md", "--json").json == {
        "release": "people",
        "for": "owner",
        "form": "md",
        "output": "r.md",
    }
    for words, said in (
        (("--for", "all"), "owner or readers"),
        (("-w", "none.yml"), "no workload file"),
        (("-o", "nowhere/r.html"), "no such folder"),
        (("--for", "readers", "-w", str(policy)), "measures no workload"),
    ):
        wrong = cli("report", "people", *words)
        assert (wrong.code, said in wrong.err) == (2, True), wrong.err
