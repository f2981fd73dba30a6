"""Interface of a format: every question that other code asks. A new format is a file here and an entry in the registry.

The rest of the product asks a `Format` and never looks at the name. Formats that publish a box per quasi column share
`sqlanon.formats.boxes.BoxFormat`, and define only the differences.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from sqlanon.errors import PolicyError
from sqlanon.formats.grouping import Grouping, RowGroups
from sqlanon.formats.layout import Layout, Names, PublishedColumn
from sqlanon.formats.levels import AS_BOXES, NOT_ASKED, CoverTightness, Levels
from sqlanon.formats.members import OF_CLASSES, Members

if TYPE_CHECKING:
    from sqlanon.declared import FormatFacts
    from sqlanon.engines.base import TableRef
    from sqlanon.results import LossReport
    from sqlanon.spec import FormatSpec, ReleaseSpec
    from sqlanon.table.class_rows import ClassedRows
    from sqlanon.table.domain import Domain
    from sqlanon.table.encode import EncodedTable
    from sqlanon.table.reading import Reading, Roles
    from sqlanon.table.scratch import Scratch


class Field(Protocol):
    """A published source column, as the metadata of a release describe it."""

    @property
    def name(self) -> str:
        """The source's name for it."""

    @property
    def treatment(self) -> str:
        """ordered, nominal or hierarchy."""

    @property
    def kind(self) -> str:
        """Kind of the type of the column."""

    @property
    def source_type(self) -> str:
        """The type's name in the source."""

    @property
    def published(self) -> tuple[str, ...]:
        """The columns of the view."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A published cell of one quasi column, as SQL over the view.

    The SQL is DuckDB's and means the same on every engine.

    Attributes:
        parts: ``lo`` and ``hi`` of an ordered column, the ``set`` of a nominal, the ``node`` of a hierarchy column.
        state: ``none`` (a value is known), ``all`` (NULL), ``some`` (any value or NULL), ``any`` (any value), and where
            ``beside`` is true ``ends`` (a value between the ends, or NULL); None: none throughout.
        mean: the class's mean, where it is published.
        point: the representative value that is published in place of a box.
        valued: the parts are values of the source's type.
        beside: it shows ends beside NULL.
    """

    parts: Mapping[str, str]
    state: str | None = None
    mean: str | None = None
    point: str | None = None
    valued: bool = False
    beside: bool = False


class Format:
    """How the classes of a release are published.

    Args:
        facts: declaration of the format.
    """

    def __init__(self, facts: FormatFacts) -> None:
        self.facts = facts

    # --- columns ----------------------------------------------------------------------------------------------------

    def names(self, reading: Reading, *, mean: bool, nulls: bool) -> Names:
        """Names of the published columns of a quasi column.

        Args:
            reading: the column.
            mean: the policy asks for the mean.
            nulls: the column holds NULLs.
        """
        raise NotImplementedError

    def layout(self, roles: Roles, quasi: Sequence[Domain], form: FormatSpec) -> Layout:
        """The columns of the release.

        Raises:
            PolicyError: the mean of a column cannot be taken.
        """
        by_alias = {domain.reading.alias: domain for domain in quasi}
        for name in form.mean:
            domain = next((item for item in quasi if item.reading.name == name), None)
            if domain is None or domain.reading.column.kind not in ("integer", "float", "decimal"):
                raise PolicyError(
                    f"format.mean: {name} is not a numeric quasi column; name columns of integers, floats or decimals"
                )
        names: dict[str, Names] = {}
        columns: list[PublishedColumn] = []
        for reading in roles.published_order():
            if reading.alias in by_alias:
                domain = by_alias[reading.alias]
                column_names = self.names(reading, mean=reading.name in form.mean, nulls=domain.has_null)
                names[domain.code] = column_names
                columns += self.of_quasi(reading, column_names)
            else:
                columns += self.of_kept(reading)
        return Layout(names, tuple(columns))

    def of_quasi(self, reading: Reading, names: Names) -> list[PublishedColumn]:
        """The columns of the release that a quasi column becomes."""
        return [PublishedColumn("r", part, part) for part in names.list_columns()]

    def of_kept(self, reading: Reading) -> list[PublishedColumn]:
        """The columns of the release that a sensitive or insensitive column becomes."""
        return [PublishedColumn("s", reading.alias, reading.name, reading.column.kind)]

    # --- guards -----------------------------------------------------------------------------------------------------

    def problems(self, spec: ReleaseSpec, roles: Roles) -> list[str]:
        """Parts of a policy for which the format cannot be used, each with a remedy."""
        return []

    def warnings(self, spec: ReleaseSpec) -> tuple[str, ...]:
        """Warnings of plan and run about the format."""
        return ()

    # --- a run ------------------------------------------------------------------------------------------------------

    def reads_codes(self, domain: Domain, form: FormatSpec) -> bool:
        """Whether `recode` reads the rows' codes of a quasi column although it has the boxes of the classes."""
        return False

    def recode(
        self,
        scratch: Scratch,
        classed: ClassedRows,
        form: FormatSpec,
        spans: TableRef | None,
        seed: int,
        levels: Levels = AS_BOXES,
    ) -> RecodedClasses:
        """Compute the published values of every class.

        Args:
            scratch: the run.
            classed: staged rows with their codes and class.
            form: the policy's words on the format.
            spans: boxes in codes, where the method knows them; None: they are aggregated here.
            seed: of the run, for random draws; whoever knows it can undo them, so only the owner may.
            levels: the method's choice of published levels.
        """
        raise NotImplementedError

    def count_covered(
        self, scratch: Scratch, classed: ClassedRows, recoded: RecodedClasses, least: CoverTightness = NOT_ASKED
    ) -> tuple[int, int] | None:
        """Counts of the covering predicate.

        They are the rows in the release, and the rows not covered by the published values.

        Compares staged original values with released values, by class; it knows nothing of codes or methods. Facts that
        are ``least`` of columns need not be asked again. None: the staged values themselves are published.
        """
        raise NotImplementedError

    def match_cells(self, scratch: Scratch, domain: Domain, cells: TableRef, seen: TableRef, names: Names) -> TableRef:
        """Which values lie in the published cells of a column, by the covering predicate.

        It is a table (seen, said) of their numbers.

        Asked of formats with facts that say ``cells``.

        Args:
            scratch: the run.
            domain: the column.
            cells: table (_sqlanon_number, the published columns), every published cell of the column once.
            seen: table (_sqlanon_number, value), the values.
            names: the published columns.
        """
        raise PolicyError(f"format {self.facts.name} does not say which values lie in a cell; use ranges")

    def loss(self, scratch: Scratch, classed: ClassedRows, recoded: RecodedClasses, measured: LossReport) -> LossReport:
        """The loss, with the parts that metrics over boxes do not see."""
        return measured

    def regions(self, scratch: Scratch, encoded: EncodedTable, recoded: RecodedClasses) -> TableRef | None:
        """The region that a reader takes a row of each class to be in: a table in the form of formats/regions.

        None if the values themselves are published.

        Raises:
            PolicyError: the format cannot say it.
        """
        raise PolicyError(f"format {self.facts.name} does not say what its cells may be; leave metrics out")

    # --- groups -----------------------------------------------------------------------------------------------------

    def grouping(self, rows: TableRef, counted: TableRef | None, layout: Layout) -> Grouping:
        """Grouping of a release: here by the columns that come from the class.

        Args:
            rows: the table of the release.
            counted: the release's table of sensitive values, or None.
            layout: the columns of both.
        """
        return Grouping(rows, layout.of_class)

    # --- queries and comparisons ------------------------------------------------------------------------------------

    def cell(self, field: Field, shape: str, view: str) -> Cell:
        """Meaning of a published cell.

        Args:
            field: the source column.
            shape: interval (two ends), order (ends in a declared list), set or node.
            view: alias of the view in the SQL.
        """
        raise NotImplementedError

    def write(self, label: str) -> str:
        """A node of a hierarchy as the format writes it."""
        return label

    def mark(self, names: Names) -> tuple[str | None, str]:
        """The published column that shows whether a value is known, and how (see the template datacube/parts)."""
        return names.value, "value"

    def names_in_view(self, reading: Reading, published: Sequence[str]) -> Names:
        """The names of a quasi column's parts, from the columns that a release has of it."""
        for mean in (False, True):
            for nulls in (False, True):
                names = self.names(reading, mean=mean, nulls=nulls)
                if names.list_columns() == tuple(published):
                    return names
        raise PolicyError(f"column {reading.name}: the release has other columns of it than its format publishes")


@dataclass(frozen=True, slots=True)
class RecodedClasses:
    """Classes ready to publish.

    Attributes:
        boxes: scratch table (class, n, lo_, hi_, null_, ncp_, lm_ per code column; exact formats: single values).
        released: scratch table (class, every published column that comes from the class, place).
        form: how they are published.
        layout: names per code column, and the columns of the tables.
        classes, min_class, max_class: how many classes, and the smallest and largest.
        groups: which class is in which group of the release.
        left_out: rows of the source that have no class, by declaration; ``omitted`` is a scratch table of them.
        starred: the class of suppressed rows that are published, or None; ``starred_rows`` of them there are.
        leveled: the boxes have the level that is published.
        members: which rows are in which box.
        wider: boxes may reach further than the rows of their classes, now or later.
        attained: quasi columns of which each published end, or member of a set, is the value of some row of the class:
            verify found it.
    """

    boxes: TableRef
    released: TableRef
    form: Format
    layout: Layout
    classes: int
    min_class: int
    max_class: int
    groups: RowGroups
    left_out: int = 0
    omitted: TableRef | None = None
    starred: int | None = None
    starred_rows: int = 0
    leveled: bool = False
    members: Members = OF_CLASSES
    wider: bool = False
    attained: tuple[str, ...] = ()

    @property
    def suppressed(self) -> int:
        """Rows of the source that lose everything, left out or starred."""
        return self.left_out + self.starred_rows

    @property
    def columns(self) -> tuple[PublishedColumn, ...]:
        """All published columns, in order."""
        return self.layout.columns

    @property
    def sensitive(self) -> tuple[PublishedColumn, ...]:
        """The columns of the table of sensitive values, if the format has such a table."""
        return self.layout.sensitive

    def grouping(self, rows: TableRef, counted: TableRef | None = None) -> Grouping:
        """Grouping of the published tables; see `Format.grouping`."""
        return self.members.certified or self.form.grouping(rows, counted, self.layout)
