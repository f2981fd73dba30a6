"""A shelf of releases that tests read.

Each is made once in a process, when a test first asks for it, in one database an engine: tests of queries, audits,
evaluations, reports and attacks read it in place of a release of their own. A test that writes takes a copy
(`Shelf.copy`). What a test has read is compared with what was made (`Shelf.check`), so that no test depends on another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlanon
from tests.draws import share_draws
from tests.engines import ENGINES, TestEngine, copy_database, create_table, read_table

FILES: Mapping[str, TestEngine] = {"duckdb": ENGINES[1], "postgres": ENGINES[2]}
"""Of each family the engine whose databases can be copied."""
SCHEMAS: Mapping[str, str] = {"duckdb": "main", "postgres": "public"}
"""Of each family the schema of the sources."""


@dataclass(frozen=True)
class Made:
    """A release on the shelf.

    Attributes:
        name: of the release, of its source and of its view in schema ``release``.
        source: the rows of the source.
        rows: the published rows.
        report: of the run.
    """

    name: str
    source: list[dict[str, Any]]
    rows: list[dict[str, Any]]
    report: Any


Maker = Callable[[Any, Path, str], Any]
"""Makes a release of a name in a database, with files in a folder; returns the report of the run."""


def _case() -> Maker:
    def make(db: Any, folder: Path, table: str) -> Any:
        from tests.contract.samples import CORE

        (case,) = [case for case in CORE if case.name == table]
        create_table(db, table, case.columns, case.rows)
        return db.anonymize(table, name=table, method="mondrian", **case.arguments(folder)).report

    return make


def _people(**options: Any) -> Maker:
    def make(db: Any, _: Path, table: str) -> Any:
        from tests.report.pages import release_people

        return release_people(db, table, **options)

    return make


def _victims(seed: int, rows: int) -> Maker:
    def make(db: Any, folder: Path, table: str) -> Any:
        from tests.contract.attacked import people, release_as

        return release_as(db, folder, table, people(seed, rows, nulls=False), "ranges")

    return make


MAKERS: Mapping[str, Maker] = {
    # Tables of tests/contract/samples.py, by mondrian in ranges.
    **dict.fromkeys(("mixed", "numbers", "dates", "tree", "joint", "diverse"), _case()),
    # The table of tests/report/pages.py.
    "people": _people(),
    "people_labels": _people(format="labels"),
    "people_points": _people(format="points"),
    "people_suppressed": _people(format="suppressed"),
    "people_anatomy": _people(format="anatomy", k=1),
    # Tables of tests/contract/attacked.py.
    "victims": _victims(9, 24),
    "many_victims": _victims(6, 90),
}


class Shelf:
    """The releases of one engine.

    Args:
        engine: whose releases; those of DuckDB are in a file, so that they can be copied.
        folder: for databases and files; it lasts as long as the shelf.
    """

    def __init__(self, engine: TestEngine, folder: Path) -> None:
        self.engine = engine
        self._copied, self._folder = FILES[engine.family], folder
        self._url: str | None = None
        self._db: Any = None
        self._made: dict[str, Made] = {}
        self._read: set[str] = set()

    @property
    def db(self) -> Any:
        """The database, to read."""
        if self._url is None:
            self._url = self._copied.fresh(self._folder)
        if self._db is None:
            self._db = sqlanon.connect(self._url)
        return self._db

    def take(self, name: str) -> Made:
        """A release of `MAKERS`; a test takes it before it changes anything of the product."""
        if name not in self._made:
            with share_draws(f"shelf of {self._copied.name}: {name}"):
                report = MAKERS[name](self.db, self._folder, name)
            self._made[name] = Made(name, *self._contents(name), report)
        self._read.add(name)
        return self._made[name]

    @contextmanager
    def copy(self, *names: str) -> Iterator[Any]:
        """A database with these releases that a test may change."""
        for name in names:
            self.take(name)
        assert self._url is not None
        self.close()
        url = copy_database(self._url, self._folder)
        try:
            with sqlanon.connect(url) as db:
                yield db
        finally:
            self._copied.drop(url)

    def check(self) -> None:
        """Fail where a release that was read since the last check is not what was made."""
        read, self._read = self._read, set()
        for name in sorted(read):
            made = self._made[name]
            if repr((made.source, made.rows)) != repr(self._contents(name)):
                self.drop()
                raise AssertionError(f"a test changed {name}, which others read: let it take a copy")

    def close(self) -> None:
        """Close the connection; the next one who reads opens it again."""
        if self._db is not None:
            self._db.close()
            self._db = None

    def drop(self) -> None:
        """Drop the database: what is asked for afterwards is made anew."""
        self.close()
        self._made.clear()
        if self._url is not None:
            self._copied.drop(self._url)
            self._url = None

    def _contents(self, name: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        return read_table(self.db, (SCHEMAS[self._copied.family], name)), read_table(self.db, ("release", name))
