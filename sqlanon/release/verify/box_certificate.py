"""Proof of a box for every row: the certificate of a version, which only the owner may read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

from sqlanon.engines.base import Engine, Relation, Statement, TableRef
from sqlanon.engines.rows import number, read_integers
from sqlanon.errors import PrivacyViolation
from sqlanon.formats import Candidates
from sqlanon.methods.freeform.secret import key_of
from sqlanon.release.verify import certificate
from sqlanon.release.verify.certificate import Certificate
from sqlanon.release.verify.proof import DividedSource, Link, Proof
from sqlanon.results import Exposure, RunReport
from sqlanon.spec import ReleaseSpec
from sqlanon.table.reading import Reading
from sqlanon.table.scratch import Scratch

if TYPE_CHECKING:
    from sqlanon.release.catalog.entry import Entry
    from sqlanon.release.catalog.state import ReleaseState


@dataclass(frozen=True, slots=True)
class CertificateProof(Proof):
    """See `Proof`: the rows that fit each box, and the row drawn for it.

    Attributes:
        own: rows and boxes.
        spec: the release, as the policy asks.
        secret: key of remix and draw.
        certificate: the private tables, where they are written.
    """

    own: Candidates
    spec: ReleaseSpec
    secret: str = field(repr=False)
    certificate: Certificate
    boxes: ClassVar[str | None] = "boxes"

    @property
    def members(self) -> Candidates:
        return self.own

    @property
    def content(self) -> str:
        return self.own.content

    @property
    def tables(self) -> tuple[TableRef, ...]:
        return self.certificate.tables

    def of_version(self, engine: Engine, physical: str) -> CertificateProof:
        written_tables = Certificate.of(engine, physical)
        return replace(self, certificate=written_tables, own=replace(self.own, kept=written_tables.edges))

    def statements(self, scratch: Scratch, classed: TableRef, link: Link) -> list[Statement]:
        return [
            scratch.sql("freeform/edges", kept=self.certificate.edges, edges=self.own.edges),
            scratch.sql(
                "freeform/drawn", kept=self.certificate.drawn, slots=self.own.slots, classed=classed, link=link
            ),
        ]

    def verify(self, scratch: Scratch, classes: DividedSource) -> None:
        """See `Proof.verify`: every row fits k boxes and every box k rows, and one of k matchings was drawn.

        `verify_staged` has checked that every value of a row lies in each of the row's boxes; `verify_rows` checks that
        the table holds the boxes with the private values of the rows drawn for them.

        Cost: groupings of the k n edges, a sort of the rows, and the remix once more.
        """
        candidates, written_tables, k, rows = self.own, self.certificate, self.spec.privacy.k, classes.encoded.rows
        for wrong in (
            certificate.check_matchings(scratch, written_tables, rows, k),
            certificate.find_misplaced(scratch, candidates, rows),
            certificate.check_covers(scratch, classes.encoded, classes.recoded, candidates),
            certificate.check_numbers(scratch, classes.classed, candidates, self.spec, self.secret),
            certificate.check_draw(scratch, written_tables, rows, k, self._key),
        ):
            if wrong is not None:
                raise PrivacyViolation(f"{wrong}; nothing was published")

    @property
    def _key(self) -> bytes:
        return key_of(self.secret, self.spec.name, self.content)

    def add_marks(self, report: RunReport, engine: Engine, physical: Relation) -> RunReport:
        drawn_mark, written_mark = self.certificate.mark(engine, self._key), certificate.hash_rows(engine, physical)
        return replace(report, drawn=drawn_mark, written=written_mark)

    def expose(
        self,
        scratch: Scratch,
        classes: DividedSource,
        physical: Relation,
        exact: Sequence[Reading],
        persons: Sequence[str],
    ) -> Exposure | None:
        """See `Proof.expose`: counts the boxes that a row fits and that are published with the row's values.

        Whoever knows all values of a row but the sensitive ones cannot distinguish them. Cost: two joins of the k n
        edges.
        """
        aliases, names = [reading.alias for reading in exact], tuple(reading.name for reading in exact)
        row = scratch.fetch("freeform/exposed", edges=self.own.edges, classed=classes.classed.table, columns=aliases)[0]
        fewest, alone, rows = read_integers(row)
        return Exposure(fewest, alone, rows, names)

    def history_columns(self, columns: list[str]) -> list[str]:
        return [*columns, "boxes"]

    def history(self, scratch: Scratch, history: TableRef, classed: TableRef, columns: Sequence[str]) -> TableRef:
        """See `Proof.history`. Cost: a join, k rows for every row."""
        fitted, edges = scratch.table("fitted"), self.own.edges
        scratch.execute(
            "history/fitted", fitted=fitted, history=history, edges=edges, classed=classed, columns=list(columns)
        )
        return fitted

    def same_as(
        self, scratch: Scratch, state: ReleaseState, classes: DividedSource, entries: Sequence[Entry], link: Link
    ) -> Entry | None:
        """See `Proof.same_as`; the edges decide.

        Other code, or a method that decides by more than quasi values, may make another graph from the same content, in
        which rows are published in boxes of the same numbers.

        Cost: a join of the rows per version of the same content, and a join of the k n edges if it finds all rows.
        """
        return next((entry for entry in reversed(entries) if self._same(scratch, state, classes, entry, link)), None)

    def _same(self, scratch: Scratch, state: ReleaseState, classes: DividedSource, entry: Entry, link: Link) -> bool:
        if entry.report.get("certificate") != self.content or not all(map(state.exists, entry.certificate)):
            return False
        edges, draw = entry.certificate
        rows = classes.classed.table
        row = scratch.fetch("freeform/same", drawn=draw, slots=self.own.slots, classed=rows, link=link)[0]
        matched, alike = read_integers(row)
        return matched == alike and scratch.count("freeform/other_edges", kept=edges, edges=self.own.edges) == 0

    def surest(self, scratch: Scratch, classes: DividedSource) -> dict[str, dict[str, float]]:
        """See `Proof.surest`: l cannot be promised. Cost: a join per sensitive column."""
        by_column, rows = {}, classes.classed.table
        for domain in classes.encoded.sensitive:
            alias, k = domain.reading.alias, self.own.k
            row = scratch.fetch("freeform/surest", edges=self.own.edges, classed=rows, alias=alias, k=k)[0]
            by_column[domain.reading.name] = {"mean": number(row[0]), "worst": number(row[1])}
        return by_column
