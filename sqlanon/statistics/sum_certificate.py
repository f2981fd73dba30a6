"""Checks published sums: demands are those of the staged rows, and witnesses meet them."""

from __future__ import annotations

from sqlanon.engines.base import TableRef
from sqlanon.statistics.certificate_errors import refuse
from sqlanon.statistics.private_tables import KeptTables
from sqlanon.statistics.shape import Shape
from sqlanon.statistics.sum_tables import COLUMNS, list_demands
from sqlanon.statistics_spec import SUM_PARTS
from sqlanon.table.scratch import Scratch


def verify_demands(scratch: Scratch, shape: Shape, keyed: TableRef, private_tables: KeptTables, release: str) -> None:
    """The kept demands are those of the staged rows, counted once more.

    Raises:
        PrivacyViolation: they are not.
    """
    fresh = scratch.table("fresh_rows")
    scratch.execute("statistics/sum_fresh", fresh=fresh, keyed=keyed, atoms=private_tables.atoms, **shape.context())
    for fresh_tables, kept_tables in zip(
        list_demands(scratch, shape, fresh, private_tables.cells, "fresh_"), private_tables.sums, strict=True
    ):
        for part in SUM_PARTS:
            failing = scratch.count(
                "statistics/verify_same",
                fresh=getattr(fresh_tables, part),
                kept=getattr(kept_tables, part),
                columns=list(COLUMNS[part]),
            )
            refuse(release, f"{part} of sums", failing)
            scratch.drop(getattr(fresh_tables, part))
    scratch.drop(fresh)


def verify_sums(
    scratch: Scratch, shape: Shape, private_tables: KeptTables, tables: tuple[TableRef, TableRef], release: str
) -> None:
    """Witnesses meet every demand of every sum.

    Args:
        scratch: the run.
        shape: the published columns, margins and measures.
        private_tables: the private tables of the version.
        tables: what the witnesses change of each cell, and the published cells compared with the true ones.
        release: name of the release, for messages.

    Raises:
        PrivacyViolation: they do not.

    Cost: joins of demands with witnesses.
    """
    moved, compared = tables
    for summed, sum_tables in zip(shape.sums, private_tables.sums, strict=True):
        shown, failing = scratch.numbers(
            "statistics/verify_sum_cells",
            needs=sum_tables.needs,
            limits=sum_tables.limits,
            moved=moved,
            witness=private_tables.witness,
            compared=compared,
            place=summed.place,
        )
        refuse(release, "cells with a dominating contribution shown", shown)
        refuse(release, "sums without witnesses", failing)
        failing = scratch.count(
            "statistics/verify_contributors",
            contributors=sum_tables.contributors,
            limits=sum_tables.limits,
            witness=private_tables.witness,
            place=summed.place,
        )
        refuse(release, "contributors without witnesses", failing)
