"""Statements that write the tables of a new version, the verification of these tables, and the metadata."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from sqlanon.engines.base import Engine, LookupResult, Statement, TableRef
from sqlanon.formats import PublishedColumn
from sqlanon.progress import Stopwatch
from sqlanon.release.catalog.collations import find_collated
from sqlanon.release.catalog.entry import SourceState
from sqlanon.release.catalog.metadata import facts_of, metadata_rows
from sqlanon.release.catalog.private_tables import private_table
from sqlanon.release.catalog.publication import Publication
from sqlanon.release.catalog.rights import drop_statistics
from sqlanon.release.catalog.state import ReleaseState
from sqlanon.release.catalog.views import (
    sensitive_of,
)
from sqlanon.release.history.history import table_of, value_columns
from sqlanon.release.prepare.staged_source import PreparedSource
from sqlanon.release.publish.run_lengths import declare_columns
from sqlanon.release.publish.value_numbers import find_repeated
from sqlanon.release.verify import tokens
from sqlanon.release.verify.proof import DividedSource
from sqlanon.release.verify.verify import Verification, verify_physical
from sqlanon.release.verify.verify_pair import verify_pair
from sqlanon.results import RunReport
from sqlanon.table.scratch import Scratch

_PARTS, _BITS = 64, 63
"""Parts in which classes are ranked, where they have no ranks among all; bits of a number that is not negative."""
_MOST_HASHED = 1 << 23
"""Classes at most of which a few tasks have room in memory for what is published for them."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A version of new classes.

    Attributes:
        ready: the source, and the requirements on the classes.
        made: the classes.
        report: the report so far.
        secret: key of the release's hashes.
        history: scratch table of the version's history, if there is a key.
        siblings: the tables that are published together with it.
    """

    ready: PreparedSource
    made: DividedSource
    report: RunReport
    secret: str = field(repr=False)
    history: TableRef | None = None
    siblings: tokens.Siblings | None = None

    def of_version(self, engine: Engine, physical: str) -> Draft:
        """The same draft with the names of private tables in the version."""
        proof = self.made.proof.of_version(engine, physical)
        recoded = replace(self.made.recoded, members=proof.members)
        report = replace(self.report, certificate=proof.content)
        return replace(self, made=replace(self.made, recoded=recoded, proof=proof), report=report)

    def keep(self, scratch: Scratch, physical: str) -> None:
        """Copy the history into a separate table, which stays when the version is dropped.

        No statistics of private values are left.
        """
        proof, ready = self.made.proof, self.ready
        tables = [private_table(scratch.engine, f"{physical}_link"), *proof.tables]
        if self.history:
            tables.append(table_of(scratch.engine, physical))
            columns = proof.history_columns(value_columns(ready.roles, ready.persons))
            scratch.execute("history/keep", kept=tables[-1], history=self.history, columns=columns)
        drop_statistics(scratch.engine, tables)


def list_linked_values(ready: PreparedSource) -> list[str]:
    """Aliases of the sensitive columns that are counted over persons: audits find their hashes in the link table."""
    names = {reading.name for reading in ready.roles.sensitive}
    counts_persons = any(
        requirement.counts_persons and requirement.column in names for requirement in ready.requirements
    )
    return [reading.alias for reading in ready.roles.sensitive] if counts_persons else []


@dataclass(frozen=True, slots=True)
class Content:
    """A version to publish: functions that write and verify the tables.

    Attributes:
        write: makes the tables of readers at a place, and runs further statements.
        verify: measures the written tables, by their place and the objects looked up, and gives the report.
        beside: statements that make private tables.
        keep: makes the other private tables, in the publishing transaction; for a release in another file, before the
            file is put in place.
        metadata: the rows of the metadata table, of the verified report.
        report: the report so far.
        source: state of the source for the catalog.
        seed: of the version's random numbers.
        secret: key of the release's hashes.
    """

    write: Callable[[TableRef, Sequence[Statement]], None]
    verify: Callable[[TableRef, LookupResult], RunReport]
    beside: Sequence[Statement]
    keep: Callable[[], None]
    metadata: Callable[[RunReport], Iterable[tuple[object, ...]]]
    report: RunReport
    source: SourceState
    seed: int
    secret: str = field(repr=False)


def content_of(state: ReleaseState, target: Publication, scratch: Scratch, draft: Draft, watch: Stopwatch) -> Content:
    """Content of a version of new classes, for `put_in`; nothing is written yet.

    Args:
        state: the release as the run found it.
        target: where the version goes.
        scratch: the run.
        draft: the version.
        watch: measures the stages.
    """
    engine, spec = state.engine, state.spec
    draft = draft.of_version(engine, target.physical)
    ready, classification, report = draft.ready, draft.made, draft.report
    encoded, classed, recoded, proof = (
        classification.encoded,
        classification.classed.table,
        classification.recoded,
        classification.proof,
    )

    def write(place: TableRef, beside: Sequence[Statement] = ()) -> None:
        declared = declare_columns(scratch, recoded, classed, encoded.rows)
        tables = [scratch.sql("publish/declared", physical=place, columns=declared)] if declared else []
        tables += [
            scratch.sql(
                "publish/table",
                physical=place,
                classed=classed,
                released=recoded.released,
                published=list_columns(
                    recoded.columns,
                    choose_ranks({} if recoded.left_out else classification.classed.ranks, recoded.classes),
                ),
                dense=recoded.groups.dense,
                alone=recoded.groups.alone,
                hashed=recoded.classes <= _MOST_HASHED,
                repeated=find_repeated(scratch, recoded, encoded.rows),
                declared=bool(declared),
            )
        ]
        if recoded.sensitive:
            tables.append(
                scratch.sql(
                    "publish/sensitive",
                    physical=sensitive_of(place),
                    classed=classed,
                    released=recoded.released,
                    published=list_columns(recoded.sensitive),
                )
            )
        scratch.execute_all([*tables, *beside])
        ready.place.deliver(scratch, [place, linked])

    def verify(place: TableRef, facts: LookupResult) -> RunReport:
        with scratch.repeating():
            return verify_once(place, facts)

    def verify_once(place: TableRef, lookup: LookupResult) -> RunReport:
        physical = lookup.relations[place]
        proof.verify(scratch, classification)
        if recoded.sensitive:
            relation = lookup.relations[sensitive_of(place)]
            verified = verify_pair(scratch, classification.classed, recoded, relation, physical, ready.requirements)
        else:
            verified = verify_physical(scratch, classification.classed, recoded, physical, ready.requirements)
            verified = ready.place.verify(scratch, recoded, encoded, physical, verified)
        marked = proof.add_marks(report_verified(report, verified, watch), engine, physical)
        if not recoded.sensitive:
            persons = [person.alias for person in ready.persons]
            marked = replace(
                marked, exposed=proof.expose(scratch, classification, physical, ready.roles.insensitive, persons)
            )
        reached, warned = tokens.verify_tokens(scratch, state, physical, recoded.layout.of_class, draft.siblings)
        return replace(marked, requirements=(*marked.requirements, *reached), warnings=(*marked.warnings, *warned))

    linked = private_table(engine, f"{target.physical}_link")
    link = scratch.sql(
        "publish/link",
        linked=linked,
        classed=classed,
        groups=recoded.groups,
        persons=[person.alias for person in ready.persons],
        values=list_linked_values(ready),
        omitted=recoded.omitted,
        link=ready.roles.link,
    )
    names = {domain.reading.alias: recoded.layout.names[domain.code] for domain in encoded.quasi}
    facts = facts_of(recoded, target.view.name) | find_collated(engine, encoded.roles)

    def metadata(report: RunReport) -> Iterable[tuple[object, ...]]:
        return metadata_rows(spec, encoded.roles, names, target.version, facts, report.requirements)

    return Content(
        write,
        verify,
        [link, *proof.statements(scratch, classed, ready.roles.link)],
        lambda: draft.keep(scratch, target.physical),
        metadata,
        report,
        ready.source,
        classification.seed,
        draft.secret,
    )


def list_columns(
    columns: Sequence[PublishedColumn], ranks: Mapping[str, tuple[str, int]] = MappingProxyType({})
) -> list[dict[str, Any]]:
    """Published columns as templates take them; ``ranks``: see `ClassedRows`."""
    listed = []
    for column in columns:
        rank, bits = ranks.get(column.column, (None, 0)) if column.source == "s" else (None, 0)
        names = {"source": column.source, "column": column.column, "name": column.name, "kind": column.kind}
        listed.append({**names, "rank": rank, "bits": bits})
    return listed


def choose_ranks(ranks: Mapping[str, tuple[str, int]], classes: int) -> Mapping[str, tuple[str, int]]:
    """The ranks of the rows' values; none where they do not fit into 63 bits with the place of a class.

    >>> choose_ranks({"s1": ("a1", 40)}, classes=1000)
    {'s1': ('a1', 40)}
    >>> choose_ranks({"s1": ("a1", 40), "s2": ("a2", 8)}, classes=1000)
    {}
    """
    places = (_PARTS * (classes + 1)).bit_length()
    return ranks if places + sum(bits for _, bits in ranks.values()) <= _BITS else {}


def report_verified(report: RunReport, verified: Verification, watch: Stopwatch) -> RunReport:
    """The report of a version whose tables were verified."""
    return replace(
        report,
        requirements=verified.requirements,
        classes=verified.classes,
        min_class=verified.min_class,
        max_class=verified.max_class,
        pm=verified.pm,
        seconds=watch.total(),
        verified=True,
    )
