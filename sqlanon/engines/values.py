"""Values that the walk of a table and a database exchange: tables and columns, statements, and capabilities."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

Kind = Literal["integer", "float", "decimal", "boolean", "date", "timestamp", "text", "enum", "other"]
Bind = int | float | str | None
Row = tuple[object, ...]
Apart = Callable[[str, str], tuple[str, Mapping[str, tuple[str, list[str]]]]]
"""Function that takes the values out of a query (`sqlanon.sqltext.bind_literals`).

From the query's text and the name of a view it makes the text with columns of the view in place of the values, and for
each column the type and the values as texts.
"""

PRIVATE_SCHEMA = "_sqlanon"
"""Holds the catalog and the versioned tables. No reader is ever granted anything in it."""

OUT_OF_RANGE = "a value leaves the range of its type"
"""The `Engine.reason` of an overflow."""

DROPPED = (
    "a table or view that it reads is not there; another session may have dropped it meanwhile, as a run, unpublish, "
    "erase or clean does: run again"
)
"""The remedy where a table is missing that was found before."""
NOT_THERE = "a table or view is not there any more, as another session dropped it meanwhile; ask again"
"""The `Engine.reason` of a missing table: the name was looked up before."""


@dataclass(frozen=True, slots=True)
class TableRef:
    """A table or view by exact names; ``schema`` None means a temporary table of this session.

    ``database`` is set where an engine has several databases open (DuckDB's attached files). ``shown``: the name for
    people of a temporary table that has the rows of a table elsewhere.
    """

    schema: str | None
    name: str
    database: str | None = None
    shown: str | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return self.shown or ".".join(part for part in (self.schema, self.name) if part)


@dataclass(frozen=True, slots=True)
class Column:
    """A column as the system catalog has it. ``type`` is SQL for a cast; an enum's may hold values.

    ``own_operators``: the type was added to the database with own operators (citext, hstore), which generated
    SQL does not use. ``collation`` is SQL for COLLATE, of text where the engine has `Capabilities.collations`;
    ``deterministic``: equal values have equal bytes. ``hashable``: the engine can hash the values, or else it may
    not even compare them for equality (PostgreSQL's json, point).
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
    """A table or view and the columns, in order.

    ``snapshot``: of a table that has own versions, the version that is read, and of which table; else empty.
    """

    ref: TableRef
    columns: tuple[Column, ...]
    is_view: bool
    snapshot: str = ""


@dataclass(frozen=True, slots=True)
class LookupResult:
    """Result of `Engine.look_up`.

    Attributes:
        relations: the requested tables that exist, by the requested reference.
        named: likewise, of the requested names.
        tables: names of all tables of the requested schema.
        schemas: the existing schemas of the requested tables.
        asked: the requested tables.
    """

    relations: Mapping[TableRef, Relation] = field(default_factory=dict)
    named: Mapping[str, Relation] = field(default_factory=dict)
    tables: frozenset[str] = frozenset()
    schemas: frozenset[str] = frozenset()
    asked: frozenset[TableRef] = frozenset()

    def columns(self, table: TableRef) -> tuple[Column, ...]:
        """The columns of a table that was asked for; none where it is missing."""
        return self.relations[table].columns if table in self.relations else ()

    def keep(self, tables: Collection[TableRef]) -> LookupResult:
        """The result without tables that are missing, and without all but these tables."""
        relations = {ref: relation for ref, relation in self.relations.items() if ref in tables}
        return LookupResult(relations, asked=frozenset(relations))

    def join(self, other: LookupResult) -> LookupResult:
        """The tables of both; of a table of both, the relation of the other, which is the later one."""
        relations = {ref: relation for ref, relation in self.relations.items() if ref not in other.asked}
        return replace(other, relations={**relations, **other.relations}, asked=self.asked | other.asked)


@dataclass(frozen=True, slots=True)
class Statement:
    """SQL ready for an engine: ``name`` is the template's, for logs and errors."""

    name: str
    text: str
    binds: Mapping[str, Bind] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CompactionResult:
    """Result of `Compaction.compact`.

    Attributes:
        written: the file, or the tables, that were rewritten.
        before: bytes before.
        after: bytes after.
        stays: places where values of dropped tables and deleted rows can remain, a sentence each.
    """

    written: tuple[str, ...]
    before: int
    after: int
    stays: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FileReading:
    """Known properties of a CSV file; the others are guessed from all of it.

    Attributes:
        null: texts that mean a missing value, besides the empty text.
        delimiter: the character between two fields; None: guessed.
        encoding: the name of an encoding of Python's; None: utf-8.
        types: column -> DuckDB's type.
        decimal: the mark before the decimals of a number; None: a point.
        ignore: texts that numbers are written with, and that are no part of them: ``$``, ``%``, a mark between
            thousands.
        date_format: how dates are written, as for strptime; None: guessed.
    """

    null: tuple[str, ...] = ()
    delimiter: str | None = None
    encoding: str | None = None
    types: Mapping[str, str] = field(default_factory=dict)
    decimal: str | None = None
    ignore: tuple[str, ...] = ()
    date_format: str | None = None


@dataclass(frozen=True, slots=True)
class ColumnReading:
    """The columns of a file or a frame to read, and how. Case does not count.

    Attributes:
        wanted: the columns to read; None: all. The others are not looked at.
        generalized: the columns with values that are not published singly, so that a type may be guessed that writes
            them otherwise; None: all.
    """

    wanted: frozenset[str] | None = None
    generalized: frozenset[str] | None = None

    def wants(self, name: str) -> bool:
        """Whether a column is read."""
        return self.wanted is None or name.casefold() in self.wanted

    def exact(self, name: str) -> bool:
        """Whether a column must keep the texts of the values."""
        return self.generalized is not None and name.casefold() not in self.generalized


EVERY = ColumnReading()
"""All columns, none of which must keep the texts."""


@dataclass(frozen=True, slots=True)
class Traffic:
    """Bytes that a release of rows moves, by the bytes of the staged rows: medians over 2 to 7 quasi columns.

    Attributes:
        statements: texts of SQL that are sent, whatever the rows are.
        read: bytes that are read for each byte of the staged rows.
        written: bytes that are written, the staged rows included.
        shuffled: bytes that tasks write for other tasks; None: the engine has no such tasks.
    """

    statements: int
    read: float
    written: float
    shuffled: float | None = None


@dataclass(frozen=True, slots=True)
class Capabilities:
    """Capabilities of an engine, so that ``plan`` can refuse before any data are touched.

    Attributes:
        max_identifier: bytes in a name, at most.
        contains: how to ask whether an array has a value, with ``%(array)s`` and ``%(value)s``.
        text_type: a text type whose order and equality are those of bytes.
        temporary_functions: the schema, as SQL, of functions that only this session sees and that end with it; empty:
            the engine has none of ours.
        collations: columns of text have collations of their own, which functions and comparisons go by, and which a
            release does not keep.
        hidden_collations: columns of text may have collations, which the system catalog does not show.
        block_rows: rows that it holds in memory at once however wide they are.
        listed_bit: a text column can be staged as a type that lists the values: how to ask whether bits, ``%(bits)s``,
            have the place of such a value, ``%(value)s``, in the type; empty: there are no such types.
        listed_bits: the aggregate over rows that has the bits of the places of such values; if the engine lists values
            in a table, of ``%(compared)s`` in ``%(listed)s``, and of others the first bit.
        lists_values: the values of a column are listed in a table, for want of types that list them.
        row_numbers: tables number their rows (``rowid``), and views do not.
        type_of: how to ask for the type of ``%(value)s``, as a value that can be compared; engines without transactions
            only.
        arrays_by_row: to ask an array of few values for every row takes less time than to group the rows by both first.
        array_places: a place of an array of numbers is read in a fraction of the time of a join with a table of them.
        ordered_rows: up to so many rows with their classes are written in the order of the classes: statements that
            group or join by class take less time then, by more than the sort takes.
        joined_rows: so many numbered rows at a time are joined in less time than all at once; 0: it makes no
            difference.
        traffic: statements and bytes of a release, roughly.
        staged_hashes: a staged column has the hash of the source's, so that a hash of columns can be made when it is
            read.
        first_element: the number of an array's first element in brackets.
        distinct_numbers: to count different integers takes less time than to fetch them, or they are too many to be
            fetched.
        sequences: rows are numbered by a sequence in less time than by a window.
        ordered_product: sorted rows keep their order in a product with one row, where a join would lose it.
        declared_runs: columns of a table can be declared to be stored as runs of equal values, and take less time to
            write then.
        grouping_sets: a scan that groups by several columns, each by itself, takes less time than a scan for each.
        counts_in_domains: the domain of whole numbers takes less time from the staged rows than from a table of their
            counts.
        groups_by_mark: to group rows by one hash of many columns takes less time than by the columns.
        session_views: where scratch tables are in the private schema, a result that is read once is a temporary view of
            the session, and no table; so is one of few rows, named `_small_`, which this process then holds.
        session_tables: temporary tables ask for no right, and leave nothing in the database's own catalog.
        numbers_parts: rows are numbered part by part, of a copy that has the part and place of each, so that no process
            has all rows.
        interpreted_rows: to compile the statements of a run of so many rows takes longer than to interpret them.
        readers: the text of `plan` on readers where the engine has no rights.
        timestamp: the type of a time without a zone.
        max_columns, max_row_bytes: of a table with columns of fixed width; None: no bound that matters.
    """

    max_identifier: int
    text_type: str
    contains: str
    temporary_functions: str
    collations: bool
    block_rows: int
    hidden_collations: bool = False
    grouping_sets: bool = False
    counts_in_domains: bool = False
    listed_bit: str = ""
    listed_bits: str = ""
    lists_values: bool = False
    row_numbers: bool = False
    type_of: str = ""
    arrays_by_row: bool = False
    sequences: bool = False
    array_places: bool = False
    ordered_rows: int = 0
    joined_rows: int = 0
    staged_hashes: bool = False
    distinct_numbers: bool = False
    first_element: int = 1
    ordered_product: bool = False
    declared_runs: bool = False
    groups_by_mark: bool = False
    interpreted_rows: int = 0
    numbers_parts: bool = False
    session_views: bool = False
    traffic: Traffic = Traffic(0, 0.0, 0.0)
    session_tables: bool = False
    readers: str = ""
    timestamp: str = "TIMESTAMP"
    max_columns: int | None = None
    max_row_bytes: int | None = None
