"""The page on queries: its Python runs and says what bounds are, its SQL gives the results that the comments name."""

from __future__ import annotations

import re
from pathlib import Path

import duckdb
import pytest
from typer.testing import CliRunner

import sqlanon
from sqlanon.cli.app import app
from tests.engines import PAIR

PAGE = Path(__file__).parents[2] / "docs" / "query.md"


def test_python_of_the_page_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, "docs/query.md", "exec"), {})
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    truth = {"flu": 0, "asthma": 0}
    for i in range(200):
        truth["flu" if i % 3 == 0 else "asthma"] += 20 + i % 40 < 33
    assert {line[0] for line in lines} == set(truth)
    for name, estimate, low, high, certain in lines:
        assert int(low) <= float(estimate) <= int(high)
        assert int(low) <= truth[name] <= int(high)
        assert certain == "True"


def test_queries_of_the_readme_print_what_it_shows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with duckdb.connect("warehouse.duckdb") as connection:
        connection.execute(
            "CREATE TABLE patients AS SELECT 20 + i % 40 AS age, CASE i % 2 WHEN 0 THEN 'F' ELSE 'M' END AS sex, "
            "100 * (i % 7) AS cost, CASE WHEN i % 3 = 0 THEN 'flu' ELSE 'asthma' END AS diagnosis FROM range(200) AS r(i)"
        )
    with sqlanon.connect("duckdb:///warehouse.duckdb") as db:
        db.anonymize("patients", quasi=["age", "sex"], sensitive="diagnosis", insensitive=["cost"], k=10)
    readme = PAGE.parents[1].joinpath("README.md").read_text(encoding="utf-8")
    found = re.findall(
        r"^\$ sqlanon query \"([^\"]+)\" --db (\S+)\n(.*?)(?=\n\n|\n```)", readme, re.DOTALL | re.MULTILINE
    )
    assert found
    for query, url, shown in found:
        printed = CliRunner().invoke(app, ["query", query, "--db", url], env={"COLUMNS": "110"}).stdout
        assert [line.rstrip() for line in printed.splitlines()] == shown.splitlines()


@pytest.mark.parametrize("engine", PAIR, ids=lambda engine: engine.name)
def test_sql_of_the_page_runs(engine, connect):
    db = connect(engine)
    db.install_functions()
    (block,) = re.findall(r"```sql\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    found = re.findall(r"(.+?;)(?: *-- ([^\n]*))?\n", block, re.DOTALL)
    assert len(found) == 5
    for statement, result in found:
        if result:
            assert str(db.engine.fetch(statement)[0][0]) == result
        else:
            db.engine.execute(statement)
