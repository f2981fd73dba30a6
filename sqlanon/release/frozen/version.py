"""A version of a lineage: changes of the lineage, and the tables from which the version is written.

It reads the lineage alone, never the source.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlanon.engines.base import Bind, Statement, TableRef
from sqlanon.release.catalog.lineage import KEEPS, Lineage
from sqlanon.release.catalog.rights import drop_statistics
from sqlanon.release.frozen.shape import Shape, list_kept_columns, quasi_columns
from sqlanon.release.prepare.staged_source import StagedSource
from sqlanon.release.verify.proof import DividedSource
from sqlanon.results import LineageReport, RunReport
from sqlanon.table.scratch import Scratch


@dataclass(frozen=True, slots=True)
class NewCohort:
    """A cohort to publish: rows and classes as the lineage keeps them, in scratch tables."""

    rows: TableRef
    classes: TableRef


@dataclass(frozen=True, slots=True)
class Step:
    """Changes of a lineage by a version.

    Attributes:
        lineage: the lineage's tables.
        release: name of the release.
        begins: the version is the lineage's first.
        at: the time of the run.
        entered: the cohort to publish; None without a cohort.
        leaving: scratch table of the classes that leave; None if no class leaves.
        stage: the source's rows with their key; None if the source was not read.
        whole: rows of persons who are published wait.
        erased: scratch table of hashes of keys that are never published again from now on; None without new keys.
        listed_by: mark of the key and the secret of these hashes.
        histories: histories of versions outside of lineages: they keep nothing of classes with erased keys either.
        by_others: numbers of earlier lineages in which nobody finds a key: they keep no cell.
    """

    lineage: Lineage
    release: str
    version: int
    begins: bool
    at: str
    entered: NewCohort | None = None
    leaving: TableRef | None = None
    stage: TableRef | None = None
    erased: TableRef | None = None
    whole: bool = False
    listed_by: str = ""
    histories: Sequence[TableRef] = ()
    by_others: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Draft:
    """A version of a lineage to publish.

    Attributes:
        staged: the source as it was read.
        step: changes of the lineage.
        shape: the version's columns.
        made: the cohort's classes; None without a cohort.
        report: the report so far.
        found: numbers of rows.
        secret: key of the release's hashes.
    """

    staged: StagedSource
    step: Step
    shape: Shape
    made: DividedSource | None
    report: RunReport
    found: LineageReport
    secret: str = field(repr=False)

    @property
    def kept(self) -> Sequence[Mapping[str, object]]:
        """The columns published unchanged."""
        return list_kept_columns(self.staged.roles)


def record(scratch: Scratch, step: Step, added: Mapping[str, str], filled: Mapping[str, str]) -> None:
    """Write a step into the lineage, in the open transaction; ``added`` and ``filled`` as in `Shape`."""
    lineage = step.lineage
    statements: list[Statement] = []
    binds: dict[str, Bind] = {"at": step.at}
    if step.begins:
        assert step.entered is not None
        statements += [
            scratch.sql("frozen/create", made=lineage.rows, entered=step.entered.rows),
            scratch.sql("frozen/create", made=lineage.classes, entered=step.entered.classes),
        ]
    if not scratch.engine.exists(lineage.erased):
        statements.append(scratch.sql("frozen/create_erased", erased=lineage.erased))
    for name, kind in added.items():
        statements += [
            scratch.sql("frozen/add_column", classes=lineage.classes, column=name, type=kind),
            scratch.sql("frozen/fill_column", classes=lineage.classes, column=name, filled=filled[name]),
        ]
    if step.leaving:
        statements.append(scratch.sql("frozen/leave", rows=lineage.rows, leaving=step.leaving, version=step.version))
    if step.erased:
        statements += list_erased(scratch, lineage, step.erased, step.at, step.listed_by)
    if step.entered and not step.begins:
        statements.append(scratch.sql("frozen/forget", rows=lineage.rows, stage=None, whole=False))
    elif step.stage and not step.begins:
        statements.append(scratch.sql("frozen/forget", rows=lineage.rows, stage=step.stage, whole=step.whole))
        statements.append(
            scratch.sql(
                "frozen/wait", binds, rows=lineage.rows, stage=step.stage, erased=lineage.erased, whole=step.whole
            )
        )
    scratch.execute_all(statements)
    if step.erased:
        for number in range(1, lineage.number + 1):
            _erase(scratch, step, Lineage.of(lineage.engine, step.release, number))
        scratch.execute_all(
            [scratch.sql("frozen/forget_history", history=history, erased=lineage.erased) for history in step.histories]
        )
    if step.entered and not step.begins:
        _enter(scratch, lineage, step.entered)
    drop_statistics(scratch.engine, [lineage.rows, lineage.classes, lineage.erased])


def list_erased(scratch: Scratch, lineage: Lineage, keys: TableRef, time: str, mark: str) -> list[Statement]:
    """Statements that put hashes of keys on the list of erased keys, with the mark of their key and secret."""
    by: dict[str, Bind] = {"mark": mark}
    return [
        scratch.sql("frozen/listed_by", by, erased=lineage.erased),
        scratch.sql("frozen/erase", {"at": time, **by}, erased=lineage.erased, keys=keys),
    ]


def refuse(scratch: Scratch, lineage: Lineage, version: int, time: str, stage: TableRef, *, whole: bool) -> None:
    """Record that the waiting rows could not be published, in a separate transaction.

    The record stays whatever becomes of the version: rows that are tried again with later rows would be a mixed cohort.
    """
    with scratch.engine.publishing():
        if not scratch.engine.exists(lineage.erased):
            scratch.execute("frozen/create_erased", erased=lineage.erased)
        scratch.execute("frozen/forget", rows=lineage.rows, stage=stage, whole=whole)
        scratch.execute("frozen/wait", {"at": time}, rows=lineage.rows, stage=stage, erased=lineage.erased, whole=whole)
        scratch.execute("frozen/refuse", rows=lineage.rows, version=version)


def _erase(scratch: Scratch, step: Step, lineage: Lineage) -> None:
    """Delete the stored contents of the classes with an erased key, except their keys.

    If nobody knows which classes had the key, the contents of all classes are deleted.
    """
    if not scratch.engine.exists(lineage.rows):
        return
    cells = [name for name in lineage.columns(lineage.rows) if name not in (*KEEPS, "_sqlanon_class", "_sqlanon_since")]
    what: dict[str, Any] = {"rows": lineage.rows, "erased": lineage.erased}
    statements = []
    if lineage.number in step.by_others and lineage != step.lineage:
        what["erased"] = None
    else:
        statements += [
            scratch.sql("frozen/leave_all", **what, version=step.version),
            scratch.sql("frozen/forget_erased", **what),
        ]
    statements.append(scratch.sql("frozen/blank_rows", **what, columns=cells))
    if scratch.engine.exists(lineage.classes):  # of an older lineage somebody may have dropped it
        parts = lineage.list_published_parts()
        statements.append(scratch.sql("frozen/blank_classes", **what, classes=lineage.classes, columns=parts))
    scratch.execute_all(statements)


def _enter(scratch: Scratch, lineage: Lineage, entered: NewCohort) -> None:
    pairs = ((lineage.rows, entered.rows), (lineage.classes, entered.classes))
    lookup = scratch.engine.look_up([table for _, table in pairs])
    scratch.execute_all(
        [
            scratch.sql(
                "frozen/enter",
                kept=kept_table,
                entered=table,
                columns=[column.name for column in lookup.columns(table)],
            )
            for kept_table, table in pairs
        ]
    )


@dataclass(frozen=True, slots=True)
class PublishedTables:
    """Rows and classes of a version, in scratch tables that publish/table reads."""

    rows: TableRef
    classes: TableRef


def make_published(
    scratch: Scratch,
    lineage: Lineage,
    version: int,
    unchanged: Sequence[Mapping[str, object]],
    parts: Sequence[str],
    name: str,
    *,
    placed: bool = True,
) -> PublishedTables:
    """Published rows and classes of a version of the lineage. Cost: a copy of the version's rows.

    Args:
        scratch: the run.
        lineage: the version's lineage.
        version: the version.
        unchanged: the columns published unchanged.
        parts: the published columns that come from the class.
        name: prefix of the scratch tables' names.
        placed: classes are ranked, for the order of a table that is written.
    """
    rows, classes = scratch.table(f"{name}_rows"), scratch.table(f"{name}_classes")
    scratch.execute_all(
        [
            scratch.sql("frozen/version_rows", made=rows, rows=lineage.rows, at=version, kept=unchanged),
            scratch.sql(
                "publish/kept_classes",
                made=classes,
                classes=lineage.classes,
                rows=rows,
                columns=parts,
                placed=placed,
            ),
        ]
    )
    return PublishedTables(rows, classes)


def describe_cohort(
    scratch: Scratch,
    step: Step,
    cohort: DividedSource,
    history: TableRef,
    exits: TableRef | None,
    shape: Shape,
    *,
    owned: bool,
) -> NewCohort:
    """A cohort's rows and classes as the lineage keeps them.

    Args:
        scratch: the run.
        step: step of the version that publishes the cohort.
        cohort: the cohort's classes.
        history: the cohort's history, as `sqlanon.release.history.history.rows_of` makes it.
        exits: rows of classes that are divided into exit groups; None without such classes.
        shape: the columns of the version.
        owned: rows have the person's hash, which is kept.
    """
    roles, recoded, class_parts = cohort.encoded.roles, cohort.recoded, cohort.recoded.layout.of_class
    offset = 0 if step.begins else scratch.count("frozen/last", classes=step.lineage.classes)
    rows, classes = scratch.table("entered"), scratch.table("entered_classes")
    columns = [{"name": part, "filled": None if part in class_parts else shape.filled[part]} for part in shape.parts]
    weights = {domain.code: domain.reading.spec.weight for domain in cohort.encoded.quasi}
    scratch.execute(
        "frozen/entered",
        {"at": step.at},
        entered=rows,
        classed=cohort.classed.table,
        history=history,
        waits=None if step.begins else step.lineage.rows,
        version=step.version,
        offset=offset,
        quasi=quasi_columns(roles),
        kept=list_kept_columns(roles),
        sensitive=range(1, len(roles.sensitive) + 1),
        owned=owned,
        exits=exits,
    )
    scratch.execute(
        "frozen/entered_classes",
        entered=classes,
        released=recoded.released,
        groups=recoded.groups,
        boxes=recoded.boxes,
        version=step.version,
        offset=offset,
        starred=recoded.starred,
        columns=columns,
        codes=[{"code": code, "weight": weight} for code, weight in weights.items()],
        weights=sum(weights.values()),
        exits=exits,
    )
    return NewCohort(rows, classes)
