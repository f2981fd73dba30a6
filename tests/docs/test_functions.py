"""The SQL of docs/functions.md: every statement runs where it says, and a result that a comment names is the result."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.engines import PAIR

PAGE = Path(__file__).parents[2] / "docs" / "functions.md"


def statements(family: str) -> list[tuple[str, str]]:
    """The statements for one engine, each with the result that the comment after it names, or nothing."""
    blocks = re.findall(rf"```sql {family}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return [found for block in blocks for found in re.findall(r"(.+?;)(?: *-- ([^\n]*))?\n", block, re.DOTALL)]


@pytest.mark.parametrize("engine", PAIR, ids=lambda engine: engine.name)
def test_sql_of_the_page_runs(engine, connect):
    db = connect(engine)
    db.install_functions()
    parts = statements(engine.family)
    assert len(parts) >= 4
    for statement, result in parts:
        if result:
            assert str(db.engine.fetch(statement)[0][0]) == result
        else:
            db.engine.execute(statement)
    assert db.engine.fetch("SELECT count(*) FROM people_along_the_curve") == [(1000,)]


def test_the_page_lists_every_function():
    from sqlanon.sqltext import own_functions

    listed = re.findall(r"^\| `(\w+)\(", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(own_functions())
