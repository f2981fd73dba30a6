"""Functions that are refused with another form: the form is answered, and the message names it."""

from __future__ import annotations

import uuid
from datetime import date
from typing import Any

import pytest

from sqlanon.errors import UnsupportedError
from sqlanon.query.functions.alternatives import ALTERNATIVES

STATEMENTS = {
    "count(*) FILTER (WHERE NOT (x > 3)), which is 0 where all hold": (
        "SELECT count(*) FILTER (WHERE NOT (age > 3)) AS n FROM {t}",
    ),
    "count(*) FILTER (WHERE x > 3), which is above 0 where one holds": (
        "SELECT count(*) FILTER (WHERE age > 3) AS n FROM {t}",
    ),
    "min(x) or max(x)": ("SELECT min(age) AS n FROM {t}", "SELECT max(age) AS n FROM {t}"),
    "count(DISTINCT x)": ("SELECT count(DISTINCT age) AS n FROM {t}",),
    "count(*) .. GROUP BY x": ("SELECT age, count(*) AS n FROM {t} GROUP BY age",),
    "max(x) .. GROUP BY the other column": ("SELECT ill, max(age) AS n FROM {t} GROUP BY ill",),
    "sum(x), sum(x * x), sum(x * x * x) and count(x)": (
        "SELECT sum(age) AS a, sum(age * age) AS b, sum(age * age * age) AS c, count(age) AS n FROM {t}",
    ),
    "rank() OVER (ORDER BY count(*)) .. GROUP BY x": (
        "SELECT ill, rank() OVER (ORDER BY count(*)) AS n FROM {t} GROUP BY ill",
    ),
    "now()": ("SELECT count(*) FILTER (WHERE born < now()) AS n FROM {t}",),
    "current_date - x": ("SELECT avg(current_date - born) AS n FROM {t}",),
    "substring(x, 1, 2) or x LIKE 'a%'": (
        "SELECT substring(ill, 1, 2) AS i, count(*) AS n FROM {t} GROUP BY 1",
        "SELECT count(*) AS n FROM {t} WHERE ill LIKE 'a%'",
    ),
}
"""By the form of a message, what is asked for it."""
REFUSED = (
    "bool_and(age > 3)",
    "every(age > 3)",
    "any_value(age)",
    "array_agg(age)",
    "mode(age)",
    "string_agg(ill, ',')",
    "kurtosis(age)",
    "split_part(ill, 'a', 1)",
)


@pytest.fixture(scope="module")
def released(shared_db: Any) -> tuple[Any, str]:
    db, name = shared_db, f"a{uuid.uuid4().hex[:10]}"
    rows = [(20 + i, date(2000, 1, 1 + i), f"a{i % 2}") for i in range(20)]
    db.engine.load_rows(db.engine.target(name), [("age", "INTEGER"), ("born", "DATE"), ("ill", "TEXT")], rows)
    db.anonymize(name, name=name, quasi=["age", "born"], sensitive="ill", k=5)
    return db, name


def test_every_form_is_answered(released: tuple[Any, str]) -> None:
    db, name = released
    assert set(ALTERNATIVES.values()) == set(STATEMENTS)
    for statements in STATEMENTS.values():
        for statement in statements:
            assert db.query(statement.format(t=name)).rows


def test_the_message_names_the_form(released: tuple[Any, str], capfd: pytest.CaptureFixture[str]) -> None:
    db, name = released
    for call in REFUSED:
        with pytest.raises(UnsupportedError, match="not answered over a release; the nearest form is"):
            db.query(f"SELECT {call} AS n FROM {name}")
    assert capfd.readouterr().err == ""


def test_names_that_are_only_a_little_alike_are_not_named(released: tuple[Any, str]) -> None:
    db, name = released
    for call in ("random()", "read_text('x')", "foo(age)"):
        with pytest.raises(UnsupportedError, match="this function is not answered over a release; there are"):
            db.query(f"SELECT {call} AS n FROM {name}")
    with pytest.raises(UnsupportedError, match="the nearest is floor"):
        db.query(f"SELECT sum(flor(age)) AS n FROM {name}")
