"""Releases in another database, for tests: pairs of databases, rows of the readers there, and lost processes."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

import sqlanon
from sqlanon import policy
from sqlanon.engines.duckdb.engine import DuckDBEngine
from sqlanon.engines.postgres.engine import PostgresEngine
from tests.engines import ENGINES

PAIRS = ("duckdb-postgres", "postgres-postgres", "postgres-duckdb", "duckdb-duckdb")
KINDS = {"duckdb": ENGINES[1], "postgres": ENGINES[2]}
VISITS = 24


def visits_spec(target: str, **more: Any) -> Any:
    """A release of the table ``visits`` that another place gets; options that are None are left out."""
    asked: dict[str, Any] = {
        "source": "visits",
        "name": "visits",
        "identifiers": "id",
        "quasi": "age",
        "sensitive": "ill",
        "k": 3,
        "l": 2,
        "method": "mondrian",
        "publish_to": target,
    }
    return policy.release(**{key: value for key, value in (asked | more).items() if value is not None})


class Pair:
    """The URLs of a source with the table ``visits``, and of an empty target."""

    def __init__(self, kinds: str, folder: Path) -> None:
        self.kinds = [KINDS[kind] for kind in kinds.split("-")]
        for kind in self.kinds:
            if why := kind.missing():
                pytest.skip(why)
        self.source = self.kinds[0].fresh(folder)
        self.of_file = kinds.endswith("duckdb")
        self.target = f"duckdb:///{folder}/target.duckdb" if self.of_file else self.kinds[1].fresh(folder)
        with sqlanon.connect(self.source) as db:
            fill(db)

    def drop(self) -> None:
        self.kinds[0].drop(self.source)
        if not self.of_file:
            self.kinds[1].drop(self.target)

    def spec(self, **more: Any) -> Any:
        return visits_spec(self.target, **more)

    def there(self) -> Counter[str]:
        """The rows that readers of the target have."""
        with sqlanon.connect(self.target) as db:
            return shown(db)

    def tables(self) -> list[str]:
        """Names of the tables of the target's private schema."""
        with sqlanon.connect(self.target) as db:
            rows = db.engine.fetch("SELECT table_name FROM information_schema.tables WHERE table_schema = '_sqlanon'")
            return sorted(str(name) for (name,) in rows)


@pytest.fixture
def pair(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Pair]:
    made = Pair(getattr(request, "param", "duckdb-postgres"), tmp_path)
    yield made
    made.drop()


def fill(db: Any, rows: int = VISITS) -> None:
    db.engine.execute("CREATE TABLE visits (id integer, age integer, ill text)")
    add(db, range(rows))


def add(db: Any, ids: Any) -> None:
    values = ", ".join(f"({i}, {20 + i % 6}, 'd{i % 4}')" for i in ids)
    db.engine.execute(f"INSERT INTO visits VALUES {values}")


def shown(db: Any) -> Counter[str]:
    """The rows of the view; none where it is missing."""
    if not db.engine.exists(db.engine.target("release.visits")):
        return Counter()
    names = [column.name for column in db.engine.relation("release.visits").columns]
    rows = db.engine.fetch("SELECT * FROM release.visits")
    return Counter(str(sorted(zip(names, row, strict=True))) for row in rows)


# --- lost processes


class Lost(BaseException):
    """The process is gone."""


class Process:
    """Counts the calls of engines, and is lost at one of them: that and all later calls raise `Lost`."""

    def __init__(self, calls: int, patch: pytest.MonkeyPatch) -> None:
        self.left = calls
        self.used = 0
        for engine in (DuckDBEngine, PostgresEngine):
            for name in ("execute", "execute_all", "fetch", "load_rows", "load_texts", "load_arrow"):
                patch.setattr(engine, name, self._counting(getattr(engine, name)))
            patch.setattr(engine, "publishing", self._ending(engine.publishing))

    def step(self) -> None:
        if self.used == self.left:
            raise Lost
        self.used += 1

    def _counting(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(plain)
        def call(*asked: Any, **more: Any) -> Any:
            self.step()
            result = plain(*asked, **more)
            self.step()
            return result

        return call

    def _ending(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        @contextmanager
        def publishing(engine: Any) -> Iterator[None]:
            with plain(engine):
                yield
                self.step()
            self.step()

        return publishing


def die(source: str, act: Callable[[Any], object], calls: int, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Act in a process that is lost after so many calls; whether it was lost."""
    with sqlanon.connect(source) as db, monkeypatch.context() as patched:
        process = Process(calls, patched)
        with suppress(Lost):
            act(db)
            return False
        process.left = -1  # what is closed is closed
    return True


def hide_password(url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A server's URL as a policy may have it."""
    password = urlsplit(url).password
    if not password:
        return url
    monkeypatch.setenv("SQLANON_TARGET_PASSWORD", password)
    return url.replace(f":{password}@", ":${SQLANON_TARGET_PASSWORD}@", 1)
