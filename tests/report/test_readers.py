"""The report for readers: made over any connection that may read the view and its metadata, and of nothing else."""

from __future__ import annotations

import random
import uuid
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import pytest

import sqlanon
from sqlanon.errors import DatabaseError, SqlanonError
from tests.engines import PAIR
from tests.report.pages import Read, number, people, released
from tests.shelf import Shelf

PASSWORD = uuid.uuid4().hex
FORMATS = ("ranges", "labels", "points", "suppressed", "anatomy")


@pytest.fixture(scope="module")
def server(connect_module: Any) -> Any:
    return connect_module(PAIR[1])


@pytest.fixture
def reader(server: Any) -> Iterator[tuple[str, str]]:
    """A role that may read nothing, and the URL of a connection as it."""
    role = f"reader_{uuid.uuid4().hex[:8]}"
    server.engine.execute(f"CREATE ROLE {role} LOGIN PASSWORD '{PASSWORD}'")
    info = server.engine._connection.info
    host = info.host
    at = f"{role}:{PASSWORD}@" + (f"{host}:{info.port}" if not host.startswith("/") else "")
    query = f"host={host}&port={info.port}" if host.startswith("/") else ""
    yield role, urlunsplit(urlsplit(f"postgresql://{at}/{info.dbname}")._replace(query=query))
    server.engine.execute(f"DROP OWNED BY {role}; DROP ROLE {role}")


def granted(server: Any, role: str, views: list[str]) -> None:
    server.engine.execute(f"GRANT USAGE ON SCHEMA release TO {role}")
    for view in views:
        server.engine.execute(f"GRANT SELECT ON {view} TO {role}")


@pytest.mark.parametrize(
    "form", [FORMATS[0], *(pytest.param(form, marks=pytest.mark.thorough) for form in FORMATS[1:])]
)
def test_a_role_that_may_read_nothing_else_makes_the_same_bytes(
    server: Any, reader: tuple[str, str], form: str
) -> None:
    role, url = reader
    name = released(server, format=form, k=1 if form == "anatomy" else 5)
    views = [f"release.{name}", f"release.{name}_metadata"]
    granted(server, role, views + ([f"release.{name}_sensitive"] if form == "anatomy" else []))
    own = {form: server.report(name, audience="readers", form=form) for form in ("html", "md")}
    with sqlanon.connect(url, read_only=True) as session:
        for table in (name, "_sqlanon.catalog"):
            with pytest.raises(SqlanonError):
                session.engine.fetch(_all(table))
        for kind, text in own.items():
            assert session.report(f"release.{name}", audience="readers", form=kind) == text
        with pytest.raises(SqlanonError):
            session.report(f"release.{name}")
    assert server.report(f"release.{name}", audience="readers") == own["html"]


def _all(table: str) -> Any:
    from sqlanon.engines.base import Statement

    return Statement("test", f"SELECT * FROM {table}")


def test_without_the_metadata_there_is_no_report(server: Any, reader: tuple[str, str]) -> None:
    role, url = reader
    name = released(server)
    granted(server, role, [f"release.{name}"])
    with sqlanon.connect(url, read_only=True) as session, pytest.raises(DatabaseError):
        session.report(f"release.{name}", audience="readers")


MARK = "Xq7marker"


def test_nothing_of_the_source_is_in_it(shared_db: Any) -> None:
    """Values of identifiers and of quasi columns are marked; only those that the view shows may be in the report."""
    draw = random.Random(1)
    rows = [
        (900_000 + n, draw.randrange(20, 60), f"{MARK}{n % 9}", ("flu", "asthma", "ulcer")[n % 3]) for n in range(90)
    ]
    name = released(shared_db, rows, k=10, l=2)
    owner, readers = (shared_db.report(name, audience=who) for who in ("owner", "readers"))
    assert MARK not in readers
    assert "Confidential" in owner
    assert "Confidential" not in readers
    assert not [row[0] for row in rows if str(row[0]) in readers]
    assert name in owner


def test_figures_are_those_of_the_view(shelf: Shelf) -> None:
    name, db = shelf.take("people").name, shelf.db
    page = Read(db.report(name, audience="readers"))
    run = db.version(name).report
    assert number(page.column("Risk of finding a person", "release")["classes"]) == run["classes"]
    assert number(page.column("Requirements", "asked")["k"]) == 5
    assert number(page.column("Requirements", "in the release")["k"]) == run["min_class"]
    assert page.column("Columns", "role") == {"age": "quasi", "zip": "quasi", "ill": "sensitive"}
    assert sum(number(rows) for rows in page.column("Classes by size", "rows").values()) == len(people())


def test_of_persons_it_says_that_figures_count_rows(shared_db: Any) -> None:
    rows = [(n // 3, n % 7, f"zip{n % 2}", ("flu", "asthma", "ulcer")[n % 3]) for n in range(60)]
    of_persons = released(shared_db, rows, person="id", persons="rows", k=3, l=1)
    said = "the risk of a person may be higher than they are, and is at most 1 / k"
    assert said in " ".join(Read(shared_db.report(of_persons, audience="readers")).text.split())
    assert said not in " ".join(Read(shared_db.report(released(shared_db), audience="readers")).text.split())
