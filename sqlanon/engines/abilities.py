"""Abilities that an engine has or lacks, and the open connection that a guest of the host process brings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from sqlanon.engines.portable import Portable, PortableColumn
from sqlanon.engines.values import (
    EVERY,
    Column,
    ColumnReading,
    CompactionResult,
    FileReading,
    Statement,
    TableRef,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

FrameKind = Literal["pandas", "polars", "arrow"]
"""Kinds of data frames."""


Work = Callable[[Sequence["npt.NDArray[np.generic]"]], Sequence["npt.NDArray[np.generic]"]]
"""A function of columns."""


class Session(Protocol):
    """The open DuckDB connection of the host process, or an object with the same interface.

    `sqlanon.engines.duckdb.attached_session` needs these methods only.
    """

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


class SparkSession(Protocol):
    """Interface of a session of Spark, classic or Connect, for `sqlanon.engines.spark`.

    With it pyspark need not be installed.
    """

    @property
    def catalog(self) -> Any:  # noqa: ANN401 - the driver's own
        """Tables and schemas of the lake."""

    @property
    def version(self) -> str:
        """Spark's version."""

    def sql(self, sqlQuery: str) -> Any:  # noqa: ANN401, N803 - the driver's own
        """Run one statement."""


class Rights(Protocol):
    """The ability of an engine that has roles and rights."""

    def acting_as(self, role: str, seconds: float) -> AbstractContextManager[None]:
        """One read-only transaction with the rights of a role, each statement at most ``seconds`` long.

        Raises:
            DatabaseError: there is no such role, or this session may not act as it.
        """

    def list_restore_statements(self, view: TableRef, columns: Sequence[str]) -> list[Statement]:
        """Statements that give a view the rights and the comment it has now, once it is made anew with ``columns``.

        Rights that no role had before, as default privileges give them, are revoked.
        """

    def roles(self, names: Sequence[str]) -> list[str]:
        """Those of the names that are roles of this database."""

    def grant_usage(self, views: Sequence[TableRef], role: str) -> None:
        """Grant USAGE on the schemas of these views, where the role lacks it.

        Raises:
            DatabaseError: another role owns a table or schema.
        """

    def grant_select(self, views: Sequence[TableRef], role: str) -> None:
        """Grant SELECT on these views, where the role lacks it, and on nothing else.

        Raises:
            DatabaseError: another role owns an object that the grant needs.
        """

    def revoke_select(self, views: Sequence[TableRef], role: str) -> None:
        """Revoke SELECT on these views."""

    def can_select(self, role: str, ref: TableRef) -> bool:
        """Whether a role can read a table or view, for whatever reason."""

    def can_use(self, role: str, schema: str) -> bool:
        """Whether a role has USAGE on a schema."""

    def make_private(self, schema: str, *, anew: bool) -> None:
        """Make sure that a schema is this role's own; on a new schema revoke the grants of default privileges.

        Raises:
            DatabaseError: another role owns it or a table in it, or has a right on one; a schema that is missing is
                right.
        """

    def reading(self, table: TableRef) -> AbstractContextManager[None]:
        """While a private table is read, that runs no code of another role.

        Raises:
            DatabaseError: it could.
        """

    def list_filtered_tables(self, tables: Sequence[TableRef]) -> list[str]:
        """The tables whose row-level security may hide rows from this role.

        Counted are reads of these tables or views, and through views as well.

        Tables that functions and materialized views read are not checked.
        """

    def owner_members(self, schema: str) -> list[tuple[str, str]]:
        """Roles with a login that are members of the owner of a schema, each with that owner.

        Where there is no such schema, the owner is the role of this session. Superusers and this session's role are
        left out.

        Each comes with that role. Superusers and this session's role are left out.
        """

    def all_readers(self) -> list[str]:
        """Other roles that can log in and read every table, superusers among them."""

    def drop_statistics(self, tables: Sequence[TableRef]) -> None:
        """Keep the planner's statistics of these tables, if they are there, free of values, now and later."""

    def grantees(self, schema: str) -> list[str]:
        """Roles other than the owner, or PUBLIC, that have a right on the schema."""


class SecondFile(Protocol):
    """The ability of an engine that can build a release in another database file."""

    def attach(self, path: str, *, read_only: bool = False) -> AbstractContextManager[str]:
        """Open another database file; yields the name it has here."""


class Compaction(Protocol):
    """The ability of an engine to rewrite files of the database.

    The new files contain nothing of dropped tables and deleted rows.
    """

    @property
    def leaves(self) -> str:
        """Remains of dropped tables and deleted rows in the files, and the way to remove them, as a text for people."""

    def swept(self) -> list[str]:
        """Copies that killed processes left, and that were removed when the database was opened; each is named once."""

    def check_compaction(self) -> None:
        """Look whether `compact` can begin; nothing is changed.

        Raises:
            DatabaseError: it cannot be done as things are.
        """

    def compact(self, tables: Sequence[TableRef]) -> CompactionResult:
        """Rewrite the database's files, outside of a transaction.

        Temporary tables and other objects of the session may be gone afterwards.

        Args:
            tables: private tables of which rows were deleted or changed. An engine whose tables are in one file writes
                all of it.

        Raises:
            DatabaseError: see `check_compaction`. No table has lost rows.
        """


class Files(Protocol):
    """The ability of an engine that reads and writes CSV and Parquet files by itself."""

    def import_file(self, path: Path, table: TableRef, how: FileReading, columns: ColumnReading = EVERY) -> list[str]:
        """Load a CSV (also .gz) or Parquet file into a new table.

        Returns:
            notes, a line each, on text columns that look like numbers or dates.
        """

    def export_file(
        self, table: TableRef, path: Path, *, sensitive: Sequence[str] = (), escape_formulas: bool = False
    ) -> list[str]:
        """Write a table to a new CSV or Parquet file, read it back and compare.

        Until then the caller keeps others from the file.

        Args:
            table: the verified rows.
            path: the file.
            sensitive: columns in which no two values may become equal.
            escape_formulas: of a CSV file: write a ' before texts that a spreadsheet takes for formulas.

        Returns:
            notes for readers of the file.

        Raises:
            PolicyError: such a file cannot hold every value of a column.
            PrivacyViolation: the file, read back, differs from the table.
        """


class Transfer(Protocol):
    """The ability of an engine to send rows to another engine, as texts that both read alike."""

    def read_type(self, column: Column) -> Portable | None:
        """The portable type that has the values of a column; None: no other engine has all of them."""

    def find_shaped_arrays(self, table: TableRef, columns: Sequence[PortableColumn]) -> Sequence[str]:
        """Names of columns with arrays that are no lists: of several dimensions, or with another first index than 1.

        Cost: a scan of the table, if it has columns of arrays.
        """

    def stream_rows(self, rows: Statement, block: int) -> Iterator[Sequence[str]]:
        """The rows of a statement ``sent/rows`` as lines of PostgreSQL's COPY, ``block`` rows at a time.

        Nothing else may run on the connection until the iterator ends.

        Args:
            rows: the statement.
            block: rows that are held in memory; Spark holds those of a partition.
        """

    def stream_arrow(self, table: TableRef, columns: Sequence[PortableColumn]) -> object | None:
        """The rows of a table as an object with an Arrow stream (``__arrow_c_stream__``); None: there is none.

        Nothing else may run on the connection until the stream was read.
        """


class Reception(Protocol):
    """The ability of an engine to take the rows that another engine sends.

    Attributes:
        reads_arrow: it takes Arrow streams as well.
        own_columns: columns that a table has while it takes lines, beside those that are sent.
    """

    reads_arrow: bool
    own_columns: int

    def write_type(self, kind: Portable) -> str | None:
        """The engine's own type for a portable one, as SQL; None: it has none that holds every value."""

    def load_texts(self, table: TableRef, columns: Sequence[PortableColumn], blocks: Iterable[Sequence[str]]) -> None:
        """Make a table of the lines that another engine streams, in the open transaction.

        Raises:
            DatabaseError: a text is no value of the column's type here.
        """

    def load_arrow(self, table: TableRef, columns: Sequence[PortableColumn], stream: object) -> None:
        """Make a table of the rows of an Arrow stream of `Transfer.stream_arrow`, in the open transaction."""


class ArrowRows(Protocol):
    """The ability to bring rows to this process as Arrow tables, and to make tables of such rows."""

    @property
    def most_rows(self) -> int:
        """Rows of a source that is worked on here in place of the database, at most."""

    @property
    def most_bytes(self) -> int:
        """Bytes of its texts, at most."""

    def read_arrow(self, query: Statement) -> object:
        """The rows of a query, which are few enough, as a frame that `Frames.import_frame` reads."""

    def write_arrow(self, table: TableRef, rows: object) -> None:
        """Make a table of the rows of such a frame, with its types."""


class Workers(Protocol):
    """The ability of an engine with rows in other processes, which can run functions of arrays on them.

    Attributes:
        above: tables of more rows are worked on there.
        block: rows for a call of the function.
    """

    above: int
    block: int

    @property
    def tasks(self) -> int:
        """In so many tasks rows are divided, as many as keep its cores busy."""

    def map_arrays(
        self,
        read: Statement,
        work: Work,
        table: TableRef,
        columns: Sequence[tuple[str, str]],
        *,
        by: str | None = None,
        groups: int = 1,
    ) -> None:
        """Run a function on the rows of a query, in the processes that have them, and make a table of the results.

        Args:
            read: a query with integer columns without NULL.
            work: the function, which is sent there: arrays of the query's columns in, arrays of equal length out. It
                may be called again for the same rows, and must return the same.
            table: to make.
            columns: names and types (``integer``, ``bigint``) of the returned columns.
            by: a column of the rows that the function gets: each value's rows are a call; None: any rows are.
            groups: about how many values that column has; a process has several of them at a time.

        Raises:
            DatabaseError: a process cannot run it, or it failed.
        """
