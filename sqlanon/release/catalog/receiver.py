"""Another database that gets releases (``publish_to``), and its table of the versions that it received.

A row of the table has a keyed hash of the release, version, view and the random token of the attempt, and one of all
rows that were sent. The key is the release's secret, which the source's database holds: they reveal rows of the table
that another program wrote, and values that were changed since. The row is written in
the transaction that shows the version, so that it decides, after a kill, whether readers have the version.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from sqlanon._version import __version__
from sqlanon.engines import connect_target, file_of
from sqlanon.engines.base import PRIVATE_SCHEMA, Engine, TableRef
from sqlanon.engines.portable import PortableColumn
from sqlanon.engines.rows import read_integer
from sqlanon.errors import DatabaseError, PolicyError
from sqlanon.release.catalog.addresses import read_place
from sqlanon.release.catalog.catalog import now
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.private_tables import private_table, schema_of
from sqlanon.release.catalog.views import ViewTarget, list_pointings, metadata_table, second_of
from sqlanon.results import ReleaseRow
from sqlanon.sqltext import statement

SHOWN, REPLACED = "shown", "replaced"
"""States of a version in the table: readers have it, or its tables are to be dropped."""


_COLUMNS = frozenset(
    [
        "release",
        "version",
        "view_schema",
        "view_name",
        "token",
        "status",
        "row_count",
        "mark",
        "content_mark",
        "received_at",
        "sqlanon",
    ]
)
"""Columns of the table."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """A version that the database received.

    Attributes:
        release: the release's name in the source's database.
        version: the number there.
        schema: schema of the view.
        name: name of the view.
        token: of the attempt; the names of the tables have it.
        status: `SHOWN` or `REPLACED`.
        rows: number of rows.
        mark: keyed hash of the facts, see the module.
        content_mark: keyed hash of all rows.
        received_at: when it was sent.
        sqlanon: version of the program that sent it.
    """

    release: str
    version: int
    schema: str | None
    name: str
    token: str
    status: str
    rows: int
    mark: str
    content_mark: str
    received_at: str
    sqlanon: str

    def is_of(self, secret: str | None) -> bool:
        """Whether the release with this secret wrote the row."""
        if secret is None:
            return False
        expected = _make_mark(secret, self)
        return hmac.compare_digest(expected.encode(), self.mark.encode())


def _make_mark(secret: str, receipt: Receipt) -> str:
    payload = json.dumps(["sent", receipt.release, receipt.version, receipt.schema, receipt.name, receipt.token])
    return hmac.new(secret.encode(), payload.encode(), "sha256").hexdigest()


def _mark_content(secret: str, token: str, hashes: Sequence[str]) -> str:
    payload = json.dumps(["content", token, *hashes])
    return hmac.new(secret.encode(), payload.encode(), "sha256").hexdigest()


class Receiver:
    """A connected database that gets releases.

    Attributes:
        engine: the database.
        table: its table of received versions.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.table = private_table(engine, "received")

    def view(self, entry: Entry) -> TableRef:
        """The public view of a version here."""
        return replace(TableRef(entry.view_schema, str(entry.view_name)), database=self.table.database)

    def list_pointings(self, entry: Entry, token: str) -> list[ViewTarget]:
        """Every view of a version here, with the table of an attempt that it shows."""
        return list_pointings(self.engine, self.view(entry), f"sent_{token}", second=second_of(entry))

    def receipts(self) -> list[Receipt]:
        """The versions whose tables are here, of all releases, the oldest first.

        Raises:
            DatabaseError: the table has other columns.
        """
        columns = {column.name for column in self.engine.look_up([self.table]).columns(self.table)}
        if not columns:
            return []
        if missing := sorted(_COLUMNS - columns):
            raise DatabaseError(
                f"publish_to: the table {self.table} there lacks {', '.join(missing)}: another version of sqlanon made "
                "it, or somebody changed it; drop it and the views and tables that it lists, and run again"
            )
        rows = self.engine.fetch(statement("sent/list", self.engine.dialect, received=self.table))
        return [
            Receipt(
                str(release),
                read_integer(version),
                None if schema is None else str(schema),
                str(name),
                str(token),
                str(status),
                read_integer(count),
                str(mark),
                str(content_mark),
                str(received_at),
                str(program),
            )
            for release, version, schema, name, token, status, count, mark, content_mark, received_at, program in rows
        ]

    def list_rows(self, release: str | None) -> list[ReleaseRow]:
        """The versions that readers have here, of one release or of all, as the command line shows them."""
        return [
            ReleaseRow(
                receipt.release,
                receipt.version,
                "received",
                f"{receipt.schema}.{receipt.name}",
                "another database",
                receipt.received_at,
                "",
                receipt.rows,
                0,
                0,
                0,
                0.0,
                "",
                "",
                receipt.sqlanon,
            )
            for receipt in self.receipts()
            if receipt.status == SHOWN and release in (None, receipt.release)
        ]

    def find_shown(self, view: TableRef, secret: str | None) -> Receipt | None:
        """The version that a view shows, if the release with this secret sent it."""
        return next(
            (
                receipt
                for receipt in reversed(self.receipts())
                if receipt.status == SHOWN
                and (receipt.schema, receipt.name) == (view.schema, view.name)
                and receipt.is_of(secret)
            ),
            None,
        )

    def check_own(self, release: str, views: Sequence[TableRef], secret: str | None) -> Receipt | None:
        """Check that views are missing or show a version that this release sent; gives the shown version.

        Raises:
            PolicyError: another program made one of the views, or changed a row.
        """
        receipt = self.find_shown(views[0], secret)
        there = self.engine.look_up(views).relations
        if there and (receipt is None or not self._is_whole(receipt, str(secret))):
            raise PolicyError(
                f"{release}: publish_to: {', '.join(str(view) for view in there)} there has rows that this release did "
                "not send, or that were changed since; none of them is replaced: rename or drop it, or publish to "
                "another view"
            )
        return receipt

    def _is_whole(self, receipt: Receipt, secret: str) -> bool:
        """Whether the tables of a version have the rows that were sent.

        Cost: a scan of them.
        """
        assert self.engine.transfer is not None
        hashes: list[str] = []
        tables = self.list_tables(receipt)
        relations = self.engine.look_up(tables)
        for table in tables:
            columns = []
            for column in relations.columns(table):
                kind = self.engine.transfer.read_type(column)
                if kind is None:
                    return False
                columns.append(PortableColumn(column.name, kind).parameters())
            if not columns:
                return False
            query = statement("sent/fingerprint", self.engine.dialect, target=table, columns=columns)
            hashes += [str(cell) for cell in self.engine.fetch(query)[0]]
        return hmac.compare_digest(_mark_content(secret, receipt.token, hashes), receipt.content_mark)

    def shows(self, entry: Entry, secret: str | None) -> bool:
        """Whether readers have this version, of as many rows as were sent."""
        view = self.view(entry)
        receipt = self.find_shown(view, secret)
        if receipt is None or receipt.token != entry.sent["token"]:
            return False
        if not self.engine.look_up([view, table := self.name_table(receipt)]).relations.keys() >= {view, table}:
            return False
        rows = self.engine.fetch(statement("table/count", self.engine.dialect, source=table))
        return read_integer(rows[0][0]) == receipt.rows

    def is_unchanged(self, entry: Entry, secret: str | None) -> bool:
        """Whether readers have this version, and nobody changed a row.

        Cost: a scan of the rows.
        """
        receipt = self.find_shown(self.view(entry), secret)
        return receipt is not None and receipt.token == entry.sent["token"] and self._is_whole(receipt, str(secret))

    def make_room(self, view: TableRef) -> None:
        """Make the private schema, of this role alone, the table of received versions, and the schema of the view.

        Raises:
            DatabaseError: the role may not, or the private schema is another role's.
        """
        with self.engine.lock("schemas", wait=True), self.engine.publishing():
            looked_up = self.engine.look_up([self.table, view])
            makes = []
            if PRIVATE_SCHEMA not in looked_up.schemas:
                makes.append(schema_of(self.engine, self.table))
            self.engine.execute_all(makes)
            if self.engine.rights:
                self.engine.rights.make_private(PRIVATE_SCHEMA, anew=bool(makes))
            if self.table not in looked_up.relations:
                self.engine.execute(statement("sent/create", self.engine.dialect, received=self.table))
            if view.schema not in looked_up.schemas:
                self.engine.execute(schema_of(self.engine, view))

    def add(self, entry: Entry, secret: str, contents: Sequence[tuple[int, str]]) -> None:
        """Record a version as shown, in the open transaction.

        Args:
            entry: the version.
            secret: key of the release's hashes.
            contents: number and hash of the rows of each table, the rows of the release first.
        """
        view = self.view(entry)
        token, rows = entry.sent["token"], contents[0][0]
        mark = _mark_content(secret, token, [str(cell) for content in contents for cell in content])
        unmarked = Receipt(
            entry.release, entry.version, view.schema, view.name, token, SHOWN, rows, "", mark, now(), __version__
        )
        binds: dict[str, str | int | float | None] = {
            "release": unmarked.release,
            "version": unmarked.version,
            "view_schema": unmarked.schema,
            "view_name": unmarked.name,
            "token": token,
            "status": unmarked.status,
            "row_count": rows,
            "mark": _make_mark(secret, unmarked),
            "content_mark": mark,
            "received_at": unmarked.received_at,
            "sqlanon": unmarked.sqlanon,
        }
        self.engine.execute(statement("sent/insert", self.engine.dialect, binds, received=self.table))

    def name_table(self, receipt: Receipt) -> TableRef:
        """The table of rows of a version."""
        return private_table(self.engine, f"sent_{receipt.token}")

    def list_tables(self, receipt: Receipt) -> list[TableRef]:
        """The tables of a version: the rows, and the metadata."""
        table = self.name_table(receipt)
        return [table, metadata_table(table)]

    def forget(self, receipt: Receipt) -> None:
        """Record that a version has no tables here any more, in the open transaction."""
        binds: dict[str, str | int | float | None] = {"token": receipt.token}
        self.engine.execute(statement("sent/remove", self.engine.dialect, binds, received=self.table))

    def mark_replaced(self, receipt: Receipt) -> None:
        """Record that readers do not have a version any more, in the open transaction."""
        binds: dict[str, str | int | float | None] = {"status": REPLACED, "token": receipt.token}
        self.engine.execute(statement("sent/mark", self.engine.dialect, binds, received=self.table))


@contextmanager
def open_receiver(release: str, place: str, *, read_only: bool = False) -> Iterator[Receiver | None]:
    """Connect to a database that gets releases; None: it is a file to be read that is missing.

    Args:
        release: begins messages.
        place: the URL, with names of variables in place of secrets.
        read_only: nothing is written.

    Raises:
        PolicyError: a variable of the environment is not set, or names no such database.
        DatabaseError: the database cannot be opened (the text has nothing of the variables), or others have rights in
            the private schema there.
    """
    url = read_place(release, place)
    file = file_of(url)
    if read_only and file is not None and not file.exists():
        yield None
        return
    engine = connect_target(url, read_only=read_only, plain=url == place)
    try:
        if engine.rights:
            engine.rights.make_private(PRIVATE_SCHEMA, anew=False)
        yield Receiver(engine)
    finally:
        engine.close()
