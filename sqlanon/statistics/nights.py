"""Protects consecutive versions of counts together: the new rows of each version are protected by themselves.

Rows are only added. Of each finest combination a version has the rows of the version before, and new ones. The new rows
are a table with separate hidden cells and witnesses, and nothing else is published about them. Readers of all versions
know at most these tables, which share no row, so that a witness of one is possible with all others unchanged. A cell
with hidden new rows keeps its number and ``as_of`` from then on.

Sums follow the same rule: a row is new if its finest combination has more rows of the same amounts than before. Each
person has one row, so that a contributor to a cell contributes in one version, and is protected there.

The private tables of a version have the rows of all versions, with the number of each as ``batch``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlanon.engines.base import Statement, TableRef
from sqlanon.statistics.certificate import verify_published, verify_shown
from sqlanon.statistics.certificate_errors import make_several_rows_error, refuse
from sqlanon.statistics.past_versions import PastTables, first_of, verify_past
from sqlanon.statistics.private_tables import ENDS, KeptTables, Tables, kept_of, list_kept_columns
from sqlanon.statistics.protections.base import ProtectedCells
from sqlanon.statistics.shape import Shape
from sqlanon.table.scratch import Scratch


@dataclass(frozen=True, slots=True)
class Growth:
    """The new rows of a version.

    Attributes:
        stage: scratch table of as many rows of each finest combination, and amounts, as are new.
        came: how many they are.
        went: rows of versions before which finest combinations no longer have.
    """

    stage: TableRef
    came: int
    went: int


def find_newcomers(scratch: Scratch, shape: Shape, stage: TableRef, before: KeptTables, release: str) -> Growth:
    """The rows that the versions before do not have.

    Args:
        scratch: the run.
        shape: the counted columns.
        stage: the staged source.
        before: the private tables of the version before.
        release: name of the release, for messages.

    Raises:
        PolicyError: a person has several rows.

    Cost: a sort of the rows.
    """
    context = shape.context()
    rows, base, newcomers = (scratch.table(name) for name in ("rows_now", "base", "newcomers"))
    scratch.execute("statistics/rows", rows=rows, stage=stage, **context)
    scratch.execute("statistics/base_atoms", base=base, atoms=before.amounts or before.atoms, **context)
    n, persons, came, went = scratch.numbers("statistics/growth", rows=rows, base=base, **context)
    if n != persons:
        raise make_several_rows_error(release)
    scratch.execute("statistics/newcomers", newcomers=newcomers, stage=stage, rows=rows, base=base, **context)
    scratch.drop(rows)
    return Growth(newcomers, came, went)


def keep_batches(
    scratch: Scratch, shape: Shape, protected: ProtectedCells, stored: Tables, before: KeptTables | None
) -> list[Statement]:
    """The statements that make the private tables of a version: the new rows, and those of the versions before.

    Args:
        scratch: the run.
        shape: the counted columns; with the release of rows that readers have as well, though the new rows are not in
            it.
        protected: the new rows, with hidden cells.
        stored: the tables to make.
        before: the tables of the version before.
    """
    columns, earlier = list_kept_columns(shape), before.parts() if before is not None else {}
    without_rows = list_kept_columns(replace(shape, neighbour=None))
    return [
        scratch.sql(
            "statistics/keep_batch",
            kept=table,
            table=protected.tables[part],
            columns=columns[part],
            missing=[] if before is None else [name for name in columns[part] if name not in without_rows[part]],
            batch=shape.version,
            hidden=protected.hidden if part == "cells" else None,
            ends=_list_ends(shape),
            before=earlier.get(part),
        )
        for part, table in stored.items()
    ]


def _list_ends(shape: Shape) -> list[dict[str, str | None]]:
    """The columns of bounds of hidden cells, each with that of the number of a shown cell in its place; None: 1."""
    if not shape.bounds:
        return []
    numbers = [("", shape.counted), *((str(summed.place), f"s{summed.place}") for summed in shape.sums)]
    return [
        {"name": f"{end}{place}", "shown": None if end == "tight" else column}
        for place, column in numbers
        for end in ENDS
    ]


def write_versions(
    scratch: Scratch, shape: Shape, stored: KeptTables, physical: TableRef, batches: Sequence[int]
) -> Statement:
    """The statement that makes the published table."""
    context = shape.context()
    return scratch.sql(
        "statistics/view_of_batches", physical=physical, cells=stored.cells, batches=list(batches), **context
    )


def batch_of(scratch: Scratch, stored: KeptTables, batch: int) -> KeptTables:
    """Scratch tables of the rows of a version."""
    tables = {part: scratch.table(f"{part}_of_batch") for part in stored.parts()}
    for part, table in stored.parts().items():
        scratch.execute("statistics/batch", part=tables[part], kept=table, batch=batch)
    return kept_of(tables)


def verify_growth(scratch: Scratch, shape: Shape, stage: TableRef, stored: KeptTables, release: str) -> None:
    """The finest combinations of all versions together are those of the staged rows, with the same amounts.

    Raises:
        PrivacyViolation: they are not.
    """
    keyed, context = scratch.table("verified_all"), shape.context()
    scratch.execute("statistics/verify_rows", keyed=keyed, stage=stage, **context)
    failing = scratch.count("statistics/verify_growth", keyed=keyed, atoms=stored.amounts or stored.atoms, **context)
    scratch.drop(keyed)
    refuse(release, "finest cells of all versions", failing)
    if stored.amounts is not None:
        failing = scratch.count("statistics/verify_amounts", amounts=stored.amounts, atoms=stored.atoms, **context)
        refuse(release, "amounts of finest cells", failing)


def verify_versions(
    scratch: Scratch,
    shape: Shape,
    physical: TableRef,
    stored: KeptTables,
    batches: Sequence[int],
    release: str,
    past: PastTables | None = None,
) -> tuple[int, int]:
    """Verify the rows of every version by their own certificate, and that the published table follows from them.

    Args:
        scratch: the run.
        shape: the counted columns; with the release of rows that readers have as well.
        physical: the published table.
        stored: the private tables.
        batches: the versions of the lineage.
        release: name of the release, for messages.
        past: the tables of all lineages, where lineages end.

    Returns:
        how many cells are shown, and how many are hidden.

    Raises:
        PrivacyViolation: the failed rule, and how often; no value.

    Cost: that of `verify_published` for each version.
    """
    first = first_of(scratch, past) if past is not None else 0
    # Where a lineage has begun, the parts of classes are among the atoms of all lineages.
    alone = replace(shape, neighbour=None) if first else shape
    for batch in batches:
        with scratch.beside() as apart:
            part, batch_shape = batch_of(apart, stored, batch), alone.of_first_rows(batch)
            if batch != batches[0]:
                batch_shape = shape.of_new_rows(batch, apart.count("statistics/came", atoms=part.atoms))
            view = apart.table("view_of_batch")
            apart.execute("statistics/batch_view", view=view, cells=stored.cells, batch=batch, **batch_shape.context())
            if past is None or not first or batch != batches[0]:
                verify_published(apart, batch_shape, view, part, release)
                continue
            compared = verify_shown(apart, batch_shape, view, part, release)
            of_all = replace(batch_shape, neighbour=shape.neighbour)
            verify_past(apart, of_all, part, past, (first, compared), release)
    published, context = scratch.table("published_versions"), shape.context()
    scratch.execute("statistics/published", published=published, physical=physical, **context)
    failing = scratch.count("statistics/verify_versions", published=published, cells=stored.cells, **context)
    refuse(release, "cells that do not follow from the versions", failing)
    shown, hidden = scratch.numbers("statistics/shown_cells", published=published)
    return shown, hidden
