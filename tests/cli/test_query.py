"""``sqlanon query`` and ``install-functions`` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import sqlanon
from sqlanon.cli.app import app


@pytest.fixture
def url(tmp_path: Path) -> str:
    import duckdb

    path = tmp_path / "w.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT 20 + i AS age, CASE i % 2 WHEN 0 THEN 'flu' ELSE 'cold' END AS ill FROM range(20) AS r(i)"
        )
    with sqlanon.connect(f"duckdb:///{path}") as db:
        db.anonymize("people", quasi="age", sensitive="ill", k=5)
    return f"duckdb:///{path}"


def run(*arguments: str) -> tuple[int, str, str]:
    ended = CliRunner().invoke(app, list(arguments), env={"COLUMNS": "160"})
    return ended.exit_code, ended.stdout, ended.stderr


QUERY = "SELECT ill, count(*) AS n FROM people WHERE age < 27 GROUP BY ill ORDER BY ill"


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


def test_explain_shows_sql_that_runs(url: str) -> None:
    import duckdb

    code, out, _ = run("query", QUERY, "--db", url, "--explain")
    assert code == 0
    with duckdb.connect(url.removeprefix("duckdb:///")) as connection:
        assert len(connection.execute(out).fetchall()) == 2


def test_a_refusal_underlines_the_piece(url: str) -> None:
    code, _, err = run("query", "SELECT median(age) FROM people", "--db", url)
    assert code == 2
    assert "^^^^^^^^^^^" in err


def test_functions_are_installed(url: str) -> None:
    code, out, _ = run("install-functions", "--db", url, "--json")
    assert code == 0
    assert '"sqlanon".overlap' in json.loads(out)["functions"]
    with sqlanon.connect(url) as db:
        assert db.engine.fetch("SELECT sqlanon.overlap(20, 29, 25, 40)") == [(0.5,)]
