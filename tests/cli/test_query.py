"""``sqlanon query`` and ``install-functions`` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import sqlanon
from tests.invoked import invoke


@pytest.fixture
def url(tmp_path: Path) -> str:
    import duckdb

    path = tmp_path / "w.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT 20 + i AS age, CASE i % 2 WHEN 0 THEN 'flu' ELSE 'cold' END AS ill FROM "
            "range(20) AS r(i)"
        )
    with sqlanon.connect(f"duckdb:///{path}") as db:
        db.anonymize("people", quasi="age", sensitive="ill", k=5)
    return f"duckdb:///{path}"


def run(*arguments: str) -> tuple[int, str, str]:
    ended = invoke(*arguments, COLUMNS="160")
    return ended.exit_code, ended.stdout, ended.stderr


QUERY = "SELECT ill, count(*) AS n FROM people WHERE age < 27 GROUP BY ill ORDER BY ill"


@pytest.mark.thorough
def test_json_is_one_object_a_row(url: str) -> None:
    code, out, _ = run("query", QUERY, "--db", url, "--json")
    rows = json.loads(out)["rows"]
    assert code == 0
    assert [row["ill"] for row in rows] == ["cold", "flu"]
    for row, truth in zip(rows, (3, 4), strict=True):
        assert row["n"]["low"] <= truth <= row["n"]["high"]
        assert row["n"]["low"] <= row["n"]["estimate"] <= row["n"]["high"]
        assert row["certain"] is True


def test_the_table_shows_bounds_and_plain_does_not(url: str) -> None:
    code, out, _ = run("query", QUERY, "--db", url)
    assert code == 0
    assert ".." in out
    assert "certain" in out
    code, plain, _ = run("query", QUERY, "--db", url, "--plain")
    assert code == 0
    assert ".." not in plain
    assert "certain" not in plain


def test_groups_are_merged_and_their_width_is_shown(url: str) -> None:
    asked = "SELECT age, count(*) AS n FROM people GROUP BY age"
    code, out, _ = run("query", asked, "--db", url, "--merge-narrow", "50")
    assert code == 0
    assert "width" in out.splitlines()[0]
    found = json.loads(run("query", asked, "--db", url, "--merge-narrow", "50", "--json")[1])
    assert sorted(age for group in found["merged"] for age in group) == list(range(20, 40))
    assert all(row["n"]["width"] <= 0.5 for row in found["rows"])
    code, _, error = run("query", asked, "--db", url, "--merge-narrow", "0")
    assert code == 2
    assert "merge_narrow" in error


def test_explain_shows_sql_that_runs(url: str) -> None:
    import duckdb

    code, out, _ = run("query", QUERY, "--db", url, "--explain")
    assert code == 0
    with duckdb.connect(url.removeprefix("duckdb:///")) as connection:
        assert len(connection.execute(out).fetchall()) == 2


def test_a_refusal_underlines_the_piece(url: str) -> None:
    code, _, err = run("query", "SELECT corr(age, age) FROM people", "--db", url)
    assert code == 2
    assert "^^^^^^^^^^^" in err


def test_the_reason_of_the_database_ends_the_message(url: str) -> None:
    query = "SELECT count(*) FROM people WHERE CAST(ill AS INTEGER) = 1"
    code, out, err = run("query", query, "--db", url)
    assert (code, out) == (3, "")
    assert err.splitlines() == [
        "error: the query has no answer here: a value cannot be read as the type that it is cast to",
        f"  {query}",
        f"  {' ' * query.index('ill')}^^^",
    ]
    assert "ConversionException" in run("--debug", "query", query, "--db", url)[2]


def test_functions_are_installed(url: str) -> None:
    code, out, _ = run("install-functions", "--db", url, "--json")
    assert code == 0
    assert '"sqlanon".overlap' in json.loads(out)["functions"]
    with sqlanon.connect(url) as db:
        assert db.engine.fetch("SELECT sqlanon.overlap(20, 29, 25, 40)") == [(0.5,)]


def test_a_role_needs_a_database_that_has_some(url: str) -> None:
    code, _, err = run("query", QUERY, "--db", url, "--as", "anna")
    assert code == 2
    assert "query --as: this database has no roles" in err
    assert "--debug" not in err


@pytest.mark.thorough
def test_groups_that_are_shown_nowhere_are_mentioned(url: str) -> None:
    with sqlanon.connect(url) as db:
        db.anonymize(
            "people",
            name="hidden",
            quasi="age",
            sensitive="ill",
            k=5,
            format="suppressed",
            publish="release.hidden",
        )
    query = "SELECT age, count(*) AS n FROM release.hidden GROUP BY age"
    _, out, _ = run("query", query, "--db", url)
    assert "values that the release shows nowhere" in out
    _, out, _ = run("query", query, "--db", url, "--json")
    assert json.loads(out)["unlisted_groups"] is True
    _, out, _ = run("query", QUERY.replace("people", "release.people"), "--db", url, "--json")
    assert json.loads(out)["unlisted_groups"] is False
