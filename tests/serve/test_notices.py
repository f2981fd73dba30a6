"""Each answer of a release says whether it is exact: to all clients, unasked."""

from __future__ import annotations

import datetime
from dataclasses import replace
from decimal import Decimal
from typing import Any

import psycopg
import pytest

from sqlanon.query.answer import Answer, Bounded, Unlike
from sqlanon.serve.notices import notices_of
from tests.serve.conftest import Place, Running, serving

EXACT = Bounded(5, 5, 5, exact=True)


def answer(*cells: Bounded, certain: tuple[bool, ...] | None = None, **more: Any) -> Answer:
    rows = tuple({"n": cell} for cell in cells)
    return Answer(("n",), ("n",), rows, certain or (True,) * len(rows), "", **more)


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ((EXACT, EXACT), "exact: every source that fits the release gives this answer"),
        ((EXACT, Bounded(4, 3, 5)), '1 of 2 values are estimates, the widest ("n") with bounds 50 % of it apart'),
        ((Bounded(4.0, 3, 5), Bounded(-2, -6, 0), Bounded(9, 8, 10)), "with bounds 300 % of it apart"),
        ((Bounded(Decimal(3), Decimal(2), Decimal("2.5")),), "with bounds 16.7 % of it apart"),
        ((Bounded(4, 3, 5), Bounded(0, 0, 7)), "without an end, around 0 or no numbers"),
        ((Bounded(4, 3, None),), "without an end, around 0 or no numbers"),
        ((Bounded(None, None, None),), "1 of 1 values are estimates"),
        ((Bounded(4, 3, float("inf")),), "without an end"),
        ((Bounded(float("nan"), float("nan"), 2.0),), "without an end"),
        ((Bounded(datetime.date(2000, 1, 2), datetime.date(2000, 1, 1), datetime.date(2000, 1, 3)),), "no numbers"),
        ((Bounded("flu", "cold", "flu"),), "no numbers"),
    ],
)
def test_what_is_said(cells: tuple[Bounded, ...], said: str) -> None:
    (notice,) = notices_of(answer(*cells))
    assert said in notice.text
    assert notice.severity == "NOTICE"
    assert notice.text.startswith("exact" if all(cell.exact for cell in cells) else "not exact: ")


def test_what_else_is_not_exact() -> None:
    unsure = notices_of(answer(EXACT, EXACT, certain=(True, False)))
    assert unsure[0].text.startswith("not exact: 1 of 2 rows are not in the answer of every source")
    more = notices_of(answer(EXACT, unlisted_groups=True))
    assert more[0].text == "not exact: there may be more rows"
    assert "further groups" in more[1].text
    frozen = notices_of(replace(answer(EXACT), unlike=Unlike(1, 2, 3), left_out=4))
    assert [one.severity for one in frozen] == ["NOTICE", "WARNING", "WARNING"]
    assert notices_of(answer())[0].text.startswith("exact")
    settled = answer(EXACT)
    assert notices_of(settled)[0].text.startswith("exact")
    others = notices_of(replace(settled, unsettled_groups=True))[0].text
    assert others.startswith("not exact: conditions on groups go by their estimates")


def noted(connection: psycopg.Connection) -> list[tuple[str | None, str]]:
    """The notices of a connection, as they come."""
    found: list[tuple[str | None, str]] = []
    connection.add_notice_handler(lambda one: found.append((one.severity, one.message_primary or "")))
    return found


@pytest.mark.parametrize("setting", ["", "SET client_min_messages = error", "SET sqlanon.bounds = on"])
def test_every_client_gets_a_notice(running: Running, setting: str) -> None:
    table = running.place.source
    with running.connect() as connection:
        sql = f"SELECT count(*) AS n, n_high FROM {table} WHERE age < 33"
        most = connection.execute(sql.encode()).fetchall()[0][1]
        found = noted(connection)
        if setting:
            connection.execute(setting.encode())
        for prepare in (False, True):
            for sql, said in (
                (f"SELECT count(*) FROM {table}", "exact: "),
                (f"SELECT count(*) FROM {table} WHERE age < 33", "not exact: 1 of 1 values are estimates"),
                (f"SELECT count(*) FROM {table} HAVING count(*) > 60", "exact: "),
                (
                    f"SELECT count(*) FROM {table} WHERE age < 33 HAVING count(*) >= {most}",
                    "not exact: conditions on g",
                ),
                (f"SELECT ill FROM {table} GROUP BY ill HAVING count(*) > 1", "exact: "),
            ):
                found.clear()
                connection.execute(sql.encode(), prepare=prepare).fetchall()
                ((severity, text),) = found
                assert severity == "NOTICE"
                assert text.startswith(said)
                assert ("shows the bounds" in text) == ("are estimates" in said and "bounds = on" not in setting)
        found.clear()
        connection.execute("SELECT relname FROM pg_class").fetchall()
        assert not found


def test_a_server_may_give_bounds_to_all(place: Place) -> None:
    with serving(place, bounds=True) as running, running.connect() as connection:
        sql = f"SELECT count(*) AS n FROM {place.source}"
        assert connection.execute(sql.encode()).fetchall() == [(60.0, 60, 60, True)]
        connection.execute("SET sqlanon.bounds = off")
        assert connection.execute(sql.encode()).fetchall() == [(60.0,)]
        connection.execute("RESET ALL")
        assert len(connection.execute(sql.encode()).fetchall()[0]) == 4
    with serving(place, bounds=True) as running, running.connect(options="-c sqlanon.bounds=off") as connection:
        assert connection.execute(sql.encode()).fetchall() == [(60.0,)]
