"""The seam between the walk of a table and a database: `Engine`, `Capabilities` and the values they exchange."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from sqlanon.errors import DatabaseError

    IntArray = npt.NDArray[np.signedinteger]

Kind = Literal["integer", "float", "decimal", "boolean", "date", "timestamp", "text", "enum", "other"]
Bind = int | float | str | None
Row = tuple[object, ...]

PRIVATE_SCHEMA = "_sqlanon"
"""Holds the catalog and the versioned tables. No reader is ever granted anything in it."""


@dataclass(frozen=True, slots=True)
class TableRef:
    """A table or view by its exact names; ``schema`` None means a temporary table of this session.

    ``database`` is set where an engine has more than one open (DuckDB's attached files).
    """

    schema: str | None
    name: str
    database: str | None = None

    def __str__(self) -> str:
        return ".".join(part for part in (self.schema, self.name) if part)


@dataclass(frozen=True, slots=True)
class Column:
    """A column as the system catalog has it. ``type`` is SQL for a cast; an enum's may hold its values.

    ``own_operators``: its type was added to the database with operators of its own (citext, hstore), which generated
    SQL does not use. ``collation`` is SQL for COLLATE, of text where the engine has `Capabilities.collations`;
    ``deterministic``: its equal values have equal bytes. ``hashable``: the engine can hash its values, or else it may not even
    compare them for equality (PostgreSQL's json, point).
    """

    name: str
    type: str
    kind: Kind
    own_operators: bool = False
    collation: str | None = None
    deterministic: bool = True
    hashable: bool = True

    @property
    def shown_type(self) -> str:
        """The type's name for people: never an enum's values."""
        return "ENUM" if self.kind == "enum" else self.type


@dataclass(frozen=True, slots=True)
class Relation:
    """A table or view and its columns, in order."""

    ref: TableRef
    columns: tuple[Column, ...]
    is_view: bool


@dataclass(frozen=True, slots=True)
class Found:
    """What `Engine.look_up` found.

    Attributes:
        relations: the tables that were asked for and are there, by the reference that was asked.
        named: the same of names that a person wrote.
        tables: names of all tables of the schema that was asked for.
        schemas: which schemas of the tables that were asked for are there.
        asked: the tables that were asked for.
    """

    relations: Mapping[TableRef, Relation] = field(default_factory=dict)
    named: Mapping[str, Relation] = field(default_factory=dict)
    tables: frozenset[str] = frozenset()
    schemas: frozenset[str] = frozenset()
    asked: frozenset[TableRef] = frozenset()

    def columns(self, table: TableRef) -> tuple[Column, ...]:
        """The columns of a table that was asked for; none where it is missing."""
        return self.relations[table].columns if table in self.relations else ()


@dataclass(frozen=True, slots=True)
class Statement:
    """SQL ready for one engine: ``name`` is the template it came from, for logs and errors."""

    name: str
    text: str
    binds: Mapping[str, Bind] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FileReading:
    """What is known of a CSV file; the rest is guessed from all of it.

    Attributes:
        null: texts that mean a missing value, besides the empty one.
        delimiter: the character between two fields; None: guessed.
        encoding: utf-8, latin-1 or utf-16; None: utf-8.
        types: column -> DuckDB's type.
    """

    null: tuple[str, ...] = ()
    delimiter: str | None = None
    encoding: str | None = None
    types: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What an engine can do, so that ``plan`` can say no before it touches data.

    Attributes:
        max_identifier: bytes in a name, at most.
        contains: how to ask whether an array has a value, with ``%(array)s`` and ``%(value)s``.
        text_type: a text type whose order and equality are those of bytes.
        temporary_functions: the schema, as SQL, of functions that only this session sees and that end with it.
        collations: columns of text have collations of their own, which functions and comparisons go by, and which a release
            does not keep.
        block_rows: rows that it holds in memory at once however wide they are.
        max_columns, max_row_bytes: of a table with columns of fixed width; None: no bound that matters.
    """

    max_identifier: int
    text_type: str
    contains: str
    temporary_functions: str
    collations: bool
    block_rows: int
    max_columns: int | None = None
    max_row_bytes: int | None = None


class Session(Protocol):
    """The open DuckDB connection of the host process, or an object with its interface: all that `sqlanon.engines.guest` needs of it."""

    def cursor(self) -> Any:  # noqa: ANN401 - the driver's own
        """Another connection to the same databases."""

    def execute(self, query: str) -> object:
        """Run one statement."""

    def query(self, query: str) -> object:
        """The relation of a query."""

    def register(self, view_name: str, python_object: object) -> object:
        """Give a relation or a data frame a name in SQL."""

    def unregister(self, view_name: str) -> object:
        """Take it away again."""


class Rights(Protocol):
    """The ability of an engine that has roles and rights."""

    def acting_as(self, role: str, seconds: float) -> AbstractContextManager[None]:
        """One read-only transaction with the rights of a role, each statement at most ``seconds`` long.

        Raises:
            DatabaseError: there is no such role, or this session may not act as it.
        """

    def recorded(self, view: TableRef, columns: Sequence[str]) -> list[Statement]:
        """Statements that give a view the rights and the comment it has now, once it is made anew with ``columns``.

        Rights that no role had before, as default privileges give them, are revoked.
        """

    def roles(self, names: Sequence[str]) -> list[str]:
        """Those of the names that are roles of this database."""

    def let_in(self, views: Sequence[TableRef], role: str) -> None:
        """Let a role into the schemas of these views.

        Raises:
            DatabaseError: another role owns one.
        """

    def allow(self, views: Sequence[TableRef], role: str) -> None:
        """Let a role that was let into their schemas read these views, and nothing else.

        Raises:
            DatabaseError: another role owns what would have to be granted.
        """

    def forbid(self, views: Sequence[TableRef], role: str) -> None:
        """Take a role's right to read these views."""

    def reads(self, role: str, ref: TableRef) -> bool:
        """Whether a role can read a table or view, for whatever reason."""

    def enters(self, role: str, schema: str) -> bool:
        """Whether a role can see into a schema."""

    def seclude(self, schema: str, *, anew: bool) -> None:
        """Make sure that a schema is this role's own; of a new one take away what default privileges gave.

        Raises:
            DatabaseError: another role owns it or a table in it, or has a right on one; a schema that is missing is right.
        """

    def reading(self, table: TableRef) -> AbstractContextManager[None]:
        """While a private table is read, that runs no code of another role.

        Raises:
            DatabaseError: it could.
        """

    def all_readers(self) -> list[str]:
        """Other roles that can log in and read every table, superusers among them."""

    def drop_statistics(self, tables: Sequence[TableRef]) -> None:
        """Keep the planner's statistics of these tables, if they are there, free of values, now and later."""

    def grantees(self, schema: str) -> list[str]:
        """Who but its owner was let into a schema: roles, or PUBLIC."""


class SecondFile(Protocol):
    """The ability of an engine that can build a release in another database file."""

    def attach(self, path: str, *, read_only: bool = False) -> AbstractContextManager[str]:
        """Open another database file; yields the name it has here."""


class Files(Protocol):
    """The ability of an engine that reads and writes CSV and Parquet files by itself."""

    def import_file(self, path: Path, table: TableRef, how: FileReading) -> None:
        """Load a CSV (also .gz) or Parquet file into a new table."""

    def export_file(self, table: TableRef, path: Path) -> None:
        """Write a table to a new CSV or Parquet file; the caller keeps others from it until it is complete."""


class Engine(Protocol):
    """A connected database.

    A `Statement` names every table with its schema, and with its database where `target` gives one: where other names
    would be looked up is the engine's own affair. A plain text is the caller's, in the names of the user's database.

    Every method that talks to the database raises `DatabaseError` with a text free of cell values;
    the driver's own error is its ``__cause__``.
    """

    dialect: str
    capabilities: Capabilities

    @property
    def rights(self) -> Rights | None:
        """Its roles and rights; None: every process that can open the database reads all of it."""

    @property
    def second_file(self) -> SecondFile | None:
        """Releases in database files next to its own; None: there are none."""

    @property
    def files(self) -> Files | None:
        """CSV and Parquet files that it reads and writes; None: it cannot."""

    transactions: bool
    """Statements can be one change: `publishing` and `snapshot` are transactions. Without, they do nothing, and a release is
    published in two phases: then a view is replaced in one statement whatever its columns are, and readers see the old or the new one."""

    temporary: bool
    """It has temporary tables. Without, scratch tables are made in the private schema, and dropped by the next run after a kill."""

    updates: bool
    """Rows of a table can be changed and deleted. Without, the catalog is added to, and the last row of a version counts."""

    ordered: bool
    """`fetch_arrays` and `stream_arrays` keep a query's ORDER BY. Without, `Scratch` numbers the rows and puts them in order."""

    def execute(self, statement: Statement | str) -> None:
        """Run one statement for its effect.

        A plain string is SQL that a person wrote, and its names are resolved on the search path of the connected role. Generated SQL is
        always a `Statement`: its functions and operators are those of the system, whatever the session's search path.
        """

    def execute_all(self, statements: Sequence[Statement]) -> None:
        """Run several statements in their order, in one call where the engine can.

        Where one fails, those before it may have been done, as with `execute`; the error names those that were sent with it.
        """

    def fetch(
        self, statement: Statement | str, *, max_rows: int = 100_000, first: Sequence[Statement] = ()
    ) -> list[Row]:
        """Run one query and return its few rows; more than ``max_rows`` is an error, not a truncation.

        Before it the statements ``first`` are run as by `execute_all`, in the same call where the engine can.
        """

    def describe(self, text: str) -> tuple[str, ...]:
        """Bind one query without running any of it: the types of its columns, as the database names them.

        Args:
            text: one SELECT; nothing in it is executed, also no function of constants.

        Raises:
            DatabaseError: the database does not accept it; the text says why, in the words of `reason`.
        """

    def reason(self, error: DatabaseError) -> str:
        """Why the database refused, without any value; ``error`` is one that a method of this engine raised."""

    def fetch_arrays(self, statement: Statement, dtypes: Sequence[str]) -> list[npt.NDArray[np.generic]]:
        """Stream a query's columns, none of them NULL, into one array each.

        Args:
            statement: a query with exactly ``len(dtypes)`` columns.
            dtypes: NumPy names: ``int16``, ``int32``, ``int64`` or ``float64``.
        """

    def stream_arrays(
        self, statement: Statement, dtypes: Sequence[str], rows: int
    ) -> Generator[list[npt.NDArray[np.generic]], None, None]:
        """A query's columns as `fetch_arrays` has them, a block of rows at a time, in the query's order.

        Memory here is that of a block; the engine may spool the result to its disk. Nothing else may run on the
        connection until the generator ends; close it to end it early. A query fails when the first block is asked for.

        Args:
            statement: a query with exactly ``len(dtypes)`` columns.
            dtypes: as for `fetch_arrays`.
            rows: rows of every block but the last, which may have fewer; a query without rows has no block.
        """

    def load_arrays(self, table: TableRef, columns: Mapping[str, npt.NDArray[np.generic]]) -> None:
        """Create the table if it is missing and append arrays of equal length to it."""

    def load_rows(self, table: TableRef, columns: Sequence[tuple[str, str]], rows: Iterable[Row]) -> None:
        """Create a table with (name, type) columns if it is missing and append rows: hierarchies, labels, catalogs only."""

    def relation(self, name: str) -> Relation:
        """Look a table or view up by what a person wrote: ``t``, ``s.t``, quoted or not."""

    def look_up(
        self, tables: Sequence[TableRef], names: Sequence[str] = (), schema: TableRef | None = None
    ) -> Found:
        """Answer several questions about what there is in one statement.

        Args:
            tables: tables and views by their exact names, that may be missing.
            names: what a person wrote, as for `relation`; one that is missing, or means several tables, is no error here.
            schema: a table of the schema whose tables shall be listed.
        """

    def exists(self, ref: TableRef) -> bool:
        """Whether a table or view of that name is there."""

    def has_schema(self, ref: TableRef) -> bool:
        """Whether the schema of ``ref`` is there."""

    def target(self, name: str) -> TableRef:
        """The table or view that a person's ``name`` would create; the schema is filled in."""

    def snapshot(self) -> AbstractContextManager[None]:
        """Everything read inside sees one state of the database; scratch tables may be written inside."""

    def publishing(self) -> AbstractContextManager[None]:
        """One transaction: all that is written inside becomes visible at once, at its end, or never."""

    def lock(self, name: str, *, wait: bool = False) -> AbstractContextManager[None]:
        """Hold the named lock of this database; if it is taken, wait for it or raise `LockedError` at once."""

    def swapping(self, action: Callable[[], None]) -> None:
        """Run what waits for readers to let go, in the open transaction, so that none queues behind it for long.

        Where readers can be in the way it is tried again and again, each time for a moment only.

        Raises:
            LockedError: they held on for too long; what the action did is undone, and the transaction is as before.
        """

    def hold(self, view: TableRef) -> None:
        """Keep a view as it is until the open transaction ends; no session reads or replaces it meanwhile."""

    def dependents(self, view: TableRef) -> list[str]:
        """What depends on a view and keeps it from being dropped: kind and name of each."""

    def relying(self, views: Sequence[TableRef]) -> list[str]:
        """What would no longer work without these views: kind and name of each."""

    def definition(self, view: TableRef) -> str | None:
        """A text that two views of this database share if they are made of the same query; None for what is no view."""

    def close(self) -> None:
        """Close the connection; open transactions roll back."""
