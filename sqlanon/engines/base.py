"""The seam between a release and a database: `Engine`.

Abilities and values have files of their own, and are imported from here.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

from sqlanon.engines.abilities import (
    ArrowRows,
    Compaction,
    Files,
    FrameKind,
    Reception,
    Rights,
    SecondFile,
    Session,
    SparkSession,
    Transfer,
    Work,
    Workers,
)
from sqlanon.engines.lake_writing import LakeWriting
from sqlanon.engines.values import (
    DROPPED,
    EVERY,
    NOT_THERE,
    OUT_OF_RANGE,
    PRIVATE_SCHEMA,
    Apart,
    Bind,
    Capabilities,
    Column,
    ColumnReading,
    CompactionResult,
    FileReading,
    Kind,
    LookupResult,
    Relation,
    Row,
    Statement,
    TableRef,
    Traffic,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from sqlanon.arrays import Ints, Longs
    from sqlanon.errors import DatabaseError
    from sqlanon.lack import Lack
    from sqlanon.usage import Usage


class Engine(Protocol):
    """A connected database.

    A `Statement` names every table with its schema, and with its database where `target` gives one: where other names
    would be looked up is the engine's own affair. A plain text is the caller's, in the names of the user's database.

    Every method that talks to the database raises `DatabaseError` with a text free of cell values;
    the driver's own error is the ``__cause__``.
    """

    dialect: str
    capabilities: Capabilities

    @property
    def lacks(self) -> Mapping[str, Lack]:
        """The features of `sqlanon.engines.lacks.FEATURES` that the engine lacks, each with the reason.

        `sqlanon.engines.lacks.require` refuses by it.
        """

    @property
    def rights(self) -> Rights | None:
        """Roles and rights; None: every process that can open the database reads all of it."""

    @property
    def second_file(self) -> SecondFile | None:
        """Releases in database files next to the engine's own; None: not possible."""

    @property
    def compaction(self) -> Compaction | None:
        """Rewriting of the files without dropped tables and deleted rows; None: not available, see `lacks`."""

    @property
    def ledger_engine(self) -> Engine | None:
        """Database with transactions for ledgers of budgets and for the tables that they paid.

        It is the engine itself, or the database of ``state``; None: there is none, see `lacks`.
        """

    @property
    def files(self) -> Files | None:
        """CSV and Parquet files that it reads and writes; None: it cannot."""

    @property
    def lake(self) -> LakeWriting | None:
        """Tables in a lake that it writes; None: it cannot."""

    @property
    def lake_engine(self) -> Engine | None:
        """Database with the tables that `lake` writes: the engine itself, or one in memory that gets the rows first."""

    @property
    def transfer(self) -> Transfer | None:
        """Rows that it sends to another database; None: it cannot."""

    @property
    def reception(self) -> Reception | None:
        """Rows that it takes from another database; None: it cannot."""

    @property
    def frames(self) -> Frames | None:
        """Data frames that it reads and writes; None: it cannot."""

    @property
    def workers(self) -> Workers | None:
        """Processes that have the rows and can run functions of arrays on them; None: kernels run in this process."""

    @property
    def arrow(self) -> ArrowRows | None:
        """Small tables are worked on in memory of this process; None: statements of the engine are as fast."""

    @property
    def few_rows(self) -> Callable[[], AbstractContextManager[None]] | None:
        """Context manager for statements that read few rows: the engine runs them without a search for better plans.

        None if the engine always plans.
        """

    @property
    def conceals(self) -> Callable[[Apart], AbstractContextManager[None]] | None:
        """Context manager that sends literals apart from the text, so that the engine's query log does not show them.

        None if the engine has no such log.
        """

    @property
    def fetch_words(self) -> Callable[[Statement], list[Longs]] | None:
        """Columns of bytes, which are words of 8 bytes, as one array each; None: no such columns.

        Small numbers of many rows take less time in words than in a field each: who reads codes of all rows once gets
        them so, and else by way of a table (``table/work``).
        """

    @property
    def load_list(self) -> Callable[[TableRef, str, Ints], None] | None:
        """Creates a table of one column and one row, which holds an array; None: only columns of numbers are loaded."""

    transactions: bool
    """Statements can be one change: `publishing` and `snapshot` are transactions.

    Otherwise these do nothing, and a release is published in two phases: a view is replaced in one statement, whatever
    the columns are, and readers see the old or the new one.
    """

    temporary: bool
    """It has temporary tables.

    Otherwise scratch tables are made in the private schema, and dropped by the next run after a kill.
    """

    updates: bool
    """Rows of a table can be changed and deleted.

    Otherwise rows are added to the catalog, and the last row of a version counts.
    """

    ordered: bool
    """`fetch_arrays` and `stream_arrays` keep a query's ORDER BY.

    Otherwise `Scratch` numbers the rows and sorts them.
    """

    def execute(self, statement: Statement | str) -> None:
        """Run one statement that returns no rows.

        A plain string is SQL that a person wrote, and the names in it are resolved on the search path of the connected
        role. Generated SQL is always a `Statement`: functions and operators are those of the system, whatever the
        session's search path.
        """

    def execute_all(self, statements: Sequence[Statement]) -> None:
        """Run several statements in their order, in one call where the engine can.

        Where one fails, those before it may have been done, as with `execute`; the error names those that were sent
        with it. An engine may go on with scratch tables after the call: the error then comes with a later call, no
        later than a view is replaced or the lock of the run is given back.
        """

    def fetch(
        self, statement: Statement | str, *, max_rows: int = 100_000, first: Sequence[Statement] = ()
    ) -> list[Row]:
        """Run one query and return the few rows; more than ``max_rows`` is an error, not a truncation.

        Before it the statements ``first`` are run as by `execute_all`, in the same call where the engine can.
        """

    def describe(self, text: str) -> tuple[str, ...]:
        """Bind one query without running any of it: the types of the columns, as the database names them.

        Args:
            text: one SELECT; nothing in it is executed, also no function of constants.

        Raises:
            DatabaseError: the database does not accept it; the text says why, in the words of `reason`.
        """

    def reason(self, error: DatabaseError) -> str:
        """Why the database refused, without any value; a method of this engine raised ``error``."""

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

        Memory here is that of a block; the engine may spool the result to disk. Nothing else may run on the
        connection until the generator ends; close it to end it early. A query fails when the first block is asked for.

        Args:
            statement: a query with exactly ``len(dtypes)`` columns.
            dtypes: as for `fetch_arrays`.
            rows: rows of every block but the last, which may have fewer; a query without rows has no block.
        """

    def load_arrays(self, table: TableRef, columns: Mapping[str, npt.NDArray[np.generic]]) -> None:
        """Create the table if it is missing and append arrays of equal length to it."""

    def load_rows(self, table: TableRef, columns: Sequence[tuple[str, str]], rows: Iterable[Row]) -> None:
        """Create a table with (name, type) columns if it is missing, and append rows.

        It is for small tables only: hierarchies, labels and catalogs.
        """

    def relation(self, name: str) -> Relation:
        """Look up a table or view by a name as a person writes it: ``t``, ``s.t``, quoted or not."""

    def look_up(
        self, tables: Sequence[TableRef], names: Sequence[str] = (), schema: TableRef | None = None
    ) -> LookupResult:
        """Look up tables, names and a schema's tables in one statement.

        Args:
            tables: tables and views by their exact names, that may be missing.
            names: names as for `relation`; a name that is missing, or means several tables, is no error here.
            schema: a table of the schema whose tables shall be listed.
        """

    def exists(self, ref: TableRef) -> bool:
        """Whether a table or view of that name is there."""

    def has_schema(self, ref: TableRef) -> bool:
        """Whether the schema of ``ref`` is there."""

    def target(self, name: str) -> TableRef:
        """The table or view that a person's ``name`` would create; the schema is filled in."""

    def snapshot(self, *, whole: bool = False) -> AbstractContextManager[None]:
        """Everything read inside sees one state of the database; scratch tables may be written inside.

        ``whole``: a statement that would see some rows of a table only, as row-level security hides others from this
        role, is refused.
        """

    def publishing(self) -> AbstractContextManager[None]:
        """One transaction: all that is written inside becomes visible at once, at the end, or never."""

    def lock(self, name: str, *, wait: bool = False) -> AbstractContextManager[None]:
        """Hold the named lock of this database; if it is taken, wait for it or raise `LockedError` at once."""

    def run_swap(self, action: Callable[[], None]) -> None:
        """Run an action that waits for readers, in the open transaction, so that no reader queues behind it for long.

        Where readers can be in the way it is tried again and again, each time for a moment only.

        Raises:
            LockedError: readers held on for too long; the action is undone, and the transaction is as before.
        """

    def hold(self, view: TableRef) -> None:
        """Keep a view as it is until the open transaction ends; no session reads or replaces it meanwhile."""

    def dependents(self, view: TableRef) -> list[str]:
        """Objects that depend on a view and keep it from being dropped: kind and name of each."""

    def list_dependents(self, views: Sequence[TableRef]) -> list[str]:
        """Objects that would no longer work without these views: kind and name of each."""

    def definition(self, view: TableRef) -> str | None:
        """A text that two views of this database share if their queries are the same; None if it is no view."""

    def usage(self) -> Usage:
        """The statements and bytes of this connection so far; it never fails.

        Bytes are counted from the first call on. What a byte of a table is differs: DuckDB counts columns as they are
        in memory, PostgreSQL whole tables as they are on disk, and Spark its files.
        """

    def cancel(self) -> None:
        """Cancel the running statement from another thread; without a statement, nothing happens.

        The caller of the statement gets an error.
        """

    def close(self) -> None:
        """Close the connection; open transactions roll back."""


class Frames(Protocol):
    """The ability of an engine that reads and writes data frames of this process by itself."""

    def kind_of(self, frame: object) -> FrameKind | None:
        """Which kind of frame an object is; None: it is none."""

    def import_frame(self, frame: object, table: TableRef, columns: ColumnReading = EVERY) -> None:
        """Load a frame into a new table; see `sqlanon.engines.duckdb.frames.read`."""

    def export_frame(self, table: TableRef, kind: FrameKind) -> object:
        """The rows of a table as a frame.

        Raises:
            UnsupportedError: the library of that kind is not installed.
        """

    def import_rows(self, table: TableRef, columns: Sequence[Column], rows: Sequence[Row]) -> None:
        """Load rows of another engine into a new table, in types that are as near as there are."""

    def inside(self) -> AbstractContextManager[Engine]:
        """Another database in memory, visible in this database by name.

        It is gone with all contents at the end of the context.
        """

    def keep(self, table: TableRef, copy: TableRef) -> None:
        """Copy a table of a named database into a new table; a missing schema is made."""
