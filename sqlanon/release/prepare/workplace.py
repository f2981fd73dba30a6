"""The workplace of a run: the source's database, or memory of this process.

On an engine that plans and compiles every statement a small table takes a hundred times as long as its rows are worth.
There the staged rows, with their hashes, are brought here by one query; they are profiled, divided and recoded by
DuckDB. The written tables are taken back, and verified there by the engine's own SQL.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from sqlanon.engines import open_beside
from sqlanon.engines.abilities import ArrowRows
from sqlanon.engines.base import Engine, Relation, TableRef
from sqlanon.engines.rows import read_integers
from sqlanon.errors import PrivacyViolation
from sqlanon.formats import RecodedClasses, format_of
from sqlanon.privacy.base import Requirement
from sqlanon.privacy.population import of_rows
from sqlanon.release.catalog.private_tables import schema_of
from sqlanon.release.verify.verify import Verification, measure_requirements
from sqlanon.spec import ReleaseSpec
from sqlanon.sqltext import statement
from sqlanon.table.encode import EncodedTable
from sqlanon.table.reading import Roles
from sqlanon.table.scratch import Scratch
from sqlanon.table.scratch_schema import sweep
from sqlanon.table.stage import StagedHashes, staged_rows

KINDS = ("integer", "float", "decimal", "boolean", "date", "timestamp", "text")
"""Kinds of columns whose values are the same in both databases."""
FORMATS = ("ranges", "labels", "points", "suppressed")
"""Formats whose columns have the same types in both databases."""
_TAKEN = ("memory", "system", "temp")
"""Databases that every DuckDB has."""


class Workplace(Protocol):
    """Where the rows of a run are worked on."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes of reports and plans."""

    def deliver(self, scratch: Scratch, tables: Sequence[TableRef]) -> None:
        """Make sure that written tables of a version are in the source's database."""

    def verify(
        self,
        scratch: Scratch,
        recoded: RecodedClasses,
        encoded: EncodedTable,
        physical: Relation,
        verified: Verification,
    ) -> Verification:
        """Measurements on the table in the source's database.

        Args:
            scratch: the run.
            recoded: the published cells.
            encoded: the columns.
            physical: the written table.
            verified: measurements on the table that `deliver` was given, with the requirements.

        Raises:
            PrivacyViolation: the table there has other rows, or a requirement does not hold there.
        """


class InDatabase:
    """The rows stay in the source's database."""

    notes: tuple[str, ...] = ()

    def deliver(self, scratch: Scratch, tables: Sequence[TableRef]) -> None:
        """See `Workplace.deliver`: they were written there."""

    def verify(
        self,
        scratch: Scratch,
        recoded: RecodedClasses,
        encoded: EncodedTable,
        physical: Relation,
        verified: Verification,
    ) -> Verification:
        """See `Workplace.verify`: that is the table that was measured."""
        return verified


IN_DATABASE = InDatabase()


@dataclass(frozen=True, slots=True)
class InMemory:
    """The rows are in a database in memory of this process.

    Attributes:
        home: the source's database.
        arrow: its ability to bring rows.
        rows: of the source.
        requirements: of the policy.
        remains: killed runs may have left scratch tables there.
        compared: link tables of earlier versions, whose links the run reads.
    """

    home: Engine
    arrow: ArrowRows
    rows: int
    requirements: tuple[Requirement, ...]
    remains: bool = False
    compared: tuple[TableRef, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        note = (
            f"worked on in memory of this process: {self.rows} rows were brought over Arrow (as of sources of at most "
            f"{self.arrow.most_rows} rows and {self.arrow.most_bytes >> 20} MiB of text)"
        )
        return (note,)

    def stage(self, scratch: Scratch, roles: Roles, links: Sequence[str], hashed: StagedHashes) -> TableRef:
        """Bring the staged rows; all further tables of the run are in memory.

        Args:
            scratch: the run, which has no table yet.
            roles: the columns to read.
            links: the columns of the link.
            hashed: the hashes beside the columns, which the source's database computes.
        """
        if self.remains:
            sweep(self.home)
        source, identifiers = roles.relation.ref, {f"_sqlanon_{i}": c.name for i, c in enumerate(roles.identifiers)}
        rows = self.arrow.read_arrow(staged_rows(scratch, roles, links, hashed, identifiers))
        here = open_beside(str(source.database))
        scratch.work_in(here)
        brought, stage = scratch.table("brought"), scratch.table("stage")
        _load(here, rows, brought)
        # Guards read identifiers and insensitive columns under their names.
        names = {**identifiers, **{reading.alias: reading.name for reading in roles.insensitive}}
        columns = [{"alias": alias, "name": name} for alias, name in names.items()]
        here.execute(schema_of(here, source))
        scratch.execute("table/brought_source", source=source, brought=brought, columns=columns)
        scratch.execute("table/brought", stage=stage, brought=brought, but=list(identifiers))
        scratch.drop(brought)
        for table in self.compared:
            _load(here, self._read(table, ["link"]), table)
        return stage

    def _read(self, table: TableRef, columns: Sequence[str]) -> object:
        return self.arrow.read_arrow(statement("publish/rows", self.home.dialect, target=table, columns=list(columns)))

    def deliver(self, scratch: Scratch, tables: Sequence[TableRef]) -> None:
        frames = scratch.engine.frames
        assert frames is not None
        for table in tables:
            self.arrow.write_arrow(table, frames.export_frame(table, "arrow"))

    def verify(
        self,
        scratch: Scratch,
        recoded: RecodedClasses,
        encoded: EncodedTable,
        physical: Relation,
        verified: Verification,
    ) -> Verification:
        names = [column.name for column in physical.columns]
        returned = scratch.table("returned")
        _load(scratch.engine, self._read(physical.ref, names), returned)
        row = scratch.fetch("verify/returned", returned=returned, written=physical.ref)[0]
        if any(read_integers(row)):
            raise PrivacyViolation("the released rows are not the ones that were verified; nothing was published")
        scratch.drop(returned)
        measured = of_rows([requirement for requirement in self.requirements if not requirement.counts_persons])
        sensitive = [domain.reading.name for domain in encoded.sensitive]
        there = measure_requirements(Scratch(self.home), recoded.grouping(physical.ref), sensitive, measured)
        return replace(there, requirements=(*there.requirements, *verified.requirements[len(measured) :]))


def _load(engine: Engine, rows: object, table: TableRef) -> None:
    assert engine.frames is not None
    engine.frames.import_frame(rows, table)


@dataclass(frozen=True, slots=True)
class RunFacts:
    """Facts that a run knows before it reads the source.

    Attributes:
        whole: each version is made of the whole source, its rows are classed by the policy's own method, and nothing
            but its links is compared.
        remains: the private schema has scratch tables of other runs, perhaps of killed ones.
        compared: link tables of earlier versions, whose links the run reads.
        rows: of these versions, at most.
    """

    whole: bool = False
    remains: bool = False
    compared: tuple[TableRef, ...] = ()
    rows: int = 0


NOTHING_KNOWN = RunFacts()


def choose_workplace(
    engine: Engine,
    spec: ReleaseSpec,
    roles: Roles,
    requirements: tuple[Requirement, ...],
    source: tuple[int, Mapping[str, int]],
    bringing: RunFacts,
) -> InMemory | None:
    """Choose the workplace of a run: the only place that asks; None: the source's database.

    Args:
        engine: the source's database.
        spec: the release.
        roles: the columns.
        requirements: of the policy.
        source: number of rows, and bytes of the texts by column.
        bringing: facts known beforehand.
    """
    arrow = engine.arrow
    if arrow is None or not bringing.whole or engine.target("x").database in (None, *_TAKEN):
        return None
    rows, texts = source
    if roles.relation.ref.database != engine.target("x").database:
        return None
    if max(rows, bringing.rows) > arrow.most_rows or rows == 0 or sum(texts.values()) > arrow.most_bytes:
        return None
    staged = (*roles.quasi, *roles.sensitive, *roles.insensitive)
    asks_for_database = (
        spec.together is not None
        or spec.scope is not None
        or bool(spec.key)
        or any(
            requirement.counts_persons or requirement.of_population or requirement.compares_source
            for requirement in requirements
        )
        or spec.execution == "pushdown"
        or spec.format.kind not in FORMATS
        or format_of(spec.format.kind).facts.paired
        or any(reading.column.kind not in KINDS for reading in staged)
        or any(column.kind not in KINDS or not column.deterministic for column in roles.identifiers)
        or any(reading.spec.recode is not None and reading.spec.recode.other is not None for reading in staged)
    )
    return (
        None if asks_for_database else InMemory(engine, arrow, rows, requirements, bringing.remains, bringing.compared)
    )
