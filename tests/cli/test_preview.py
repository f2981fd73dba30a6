"""``sqlanon preview``: rows before and after, on the owner's terminal alone, and nothing is left of it."""

from __future__ import annotations

import hashlib
from pathlib import Path

import duckdb
import pytest

from tests.engines import create_table

POLICY = """\
version: 1
connection: duckdb:///w.duckdb
releases:
  - name: people
    source: people
    columns:
      name: {role: identifier}
      age: {role: quasi}
      city: {role: quasi}
      illness: {role: sensitive}
      ticket: {role: insensitive, accept_unique: true}
    privacy: {k: 5}
"""
CANARY = "Canary illness"
ROWS = [(f"Canary person {i}", 20 + i * 7 % 40, f"c{i % 3}", f"{CANARY} {i % 3}", 1000 + i) for i in range(60)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "anon.yml").write_text(POLICY)
    with duckdb.connect(str(tmp_path / "w.duckdb")) as made:
        made.execute("CREATE TABLE people (name VARCHAR, age INTEGER, city VARCHAR, illness VARCHAR, ticket INTEGER)")
        made.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?)", ROWS)
    return tmp_path


def test_rows_before_and_after_fit_each_other(folder, cli, caplog):
    before = hashlib.sha256((folder / "w.duckdb").read_bytes()).digest()
    found = cli("preview", "--json", "-vv").json
    assert found["rows"] == 60
    assert len(found["pairs"]) == 20
    assert found["columns"] == {
        "age": ["age_lo", "age_hi"],
        "city": ["city"],
        "illness": ["illness"],
        "ticket": ["ticket"],
    }
    known = {row[4]: row for row in ROWS}
    for was, becomes in ((pair["before"], pair["after"]) for pair in found["pairs"]):
        _, age, city, illness, _ = known[was["ticket"]]
        assert (was["age"], was["city"]) == (age, city)
        assert becomes["age_lo"] <= age <= becomes["age_hi"]
        assert city in becomes["city"]
        assert becomes["illness"] == illness
        # As many rows as k fit the box of each, by hand.
        fit = [row for row in ROWS if becomes["age_lo"] <= row[1] <= becomes["age_hi"] and row[2] in becomes["city"]]
        assert len(fit) >= 5
    assert len({pair["before"]["ticket"] for pair in found["pairs"]}) == 20
    assert hashlib.sha256((folder / "w.duckdb").read_bytes()).digest() == before, "the file was written"
    assert sorted(path.name for path in folder.iterdir()) == ["anon.yml", "w.duckdb"]
    assert "Canary" not in caplog.text
    assert cli("releases").code == 0
    assert "people" not in cli("releases").out


@pytest.mark.thorough
@pytest.mark.usefixtures("folder")
def test_a_terminal_shows_it_and_anything_else_is_refused(terminal, shell):
    code, shown = terminal("preview", "people", "--rows", "3")
    assert code == 0
    assert "3 of 60 rows of main.people" in shown
    assert "nothing was published" in shown
    assert shown.count(f"-> {CANARY}") == 3
    assert "Canary person" not in shown
    ended = shell("preview")
    assert ended.code == 2
    assert ended.out == ""
    assert "stdout is no terminal" in ended.err
    assert "Canary" not in ended.err


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("words", "code", "message"),
    [(["people", "--rows", "0"], 2, "1 to 100 rows"), (["others"], 2, "no release others")],
)
def test_bad_input(cli, words, code, message):
    ended = cli("preview", *words, "--json")
    assert ended.code == code
    assert message in ended.json["error"]["message"]


def test_what_stops_a_run_stops_it(folder, cli):
    (folder / "anon.yml").write_text(POLICY.replace("k: 5", "k: 500"))
    assert cli("preview", "--json").code == 4


def test_every_kind_of_release(shared_db):
    """NULLs, suppressed values, two tables; what is shown of a row is what is published of some row."""
    rows = [(None if i % 9 == 0 else i % 30, "ab"[i % 2], ("flu", "cold", "ache")[i % 3]) for i in range(60)] + [
        (900, "a", "flu")
    ]
    create_table(shared_db, "looked", {"age": "integer", "sex": "text", "ill": "text"}, rows)
    for options in (
        {"quasi": ["age", "sex"], "k": 4, "format": "labels"},
        {"quasi": ["age", "sex"], "k": 4, "format": "suppressed", "method": "suppress"},
        {"quasi": ["age", "sex"], "l": 2, "format": "anatomy", "method": "anatomy"},
    ):
        name = f"looked_{options['format']}"
        release = shared_db.anonymize("looked", sensitive="ill", name=name, publish=f"release.{name}", **options)
        found = shared_db.preview(release.spec, 61)
        assert len(found.pairs) == 61
        for was, becomes in found.pairs:
            assert (was["age"], was["sex"], was["ill"]) in rows
            assert becomes is not None
        assert all(len(names) <= 3 for _, names in found.columns)


def test_classes_that_publish_the_same_are_one(folder, cli):
    with duckdb.connect(str(folder / "w.duckdb")) as made:
        made.execute("UPDATE people SET age = 30, city = 'c0', ticket = ticket % 10")
    found = cli("preview", "--json").json
    run = cli("run", "--json").json
    assert (found["classes"], found["min_class"]) == (run["classes"], run["min_class"]) == (1, 60)
    assert found["exposed"] == run["exposed"]
