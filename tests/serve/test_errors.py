"""Errors have the codes of PostgreSQL, so that clients know whose they are."""

from __future__ import annotations

import psycopg
import pytest

from sqlanon.engines.base import NOT_THERE
from sqlanon.errors import DatabaseError
from sqlanon.query.explain import NO_ANSWER_HERE
from sqlanon.serve.refusals import explain
from tests.serve.conftest import Running


@pytest.mark.parametrize(
    ("asked", "code", "words"),
    [
        ("SELECT count(*) FROM {t} WHERE CAST(ill AS INTEGER) > 1", "22000", "no answer here"),
        ("SELECT count(*) FROM elsewhere.public.{t}", "42P01", "elsewhere.public.{t}"),
        ("SELECT count(*) INTO copied FROM {t}", "25006", "read-only"),
        ("SET statement_timeout = -5", "22023", "statement_timeout"),
        ("SET statement_timeout = 'soon'", "22023", "statement_timeout"),
    ],
)
def test_an_error_names_its_kind(file_running: Running, asked: str, code: str, words: str) -> None:
    """An error of the query's own values is no error of the server, and a setting is refused when it is set."""
    table = file_running.place.source
    with file_running.connect() as connection:
        with pytest.raises(psycopg.Error, match=words.format(t=table)) as raised:
            connection.execute(asked.format(t=table).encode())
        assert raised.value.sqlstate == code
        assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (60.0,)


@pytest.mark.parametrize(
    ("reason", "code"),
    [("a number is divided by zero", "22000"), (NOT_THERE, "58000"), ("it took longer than it may", "57014")],
)
def test_a_table_that_went_and_a_deadline_are_no_errors_of_values(reason: str, code: str) -> None:
    assert explain(DatabaseError([f"{NO_ANSWER_HERE}: {reason}"])).code == code
