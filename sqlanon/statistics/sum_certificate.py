"""The part of a certificate that is about sums: demands are those of the staged rows, and witnesses meet them."""

from __future__ import annotations

from sqlanon.counted import SUM_PARTS
from sqlanon.engines.base import TableRef
from sqlanon.statistics.failing import refuse
from sqlanon.statistics.kept import Kept
from sqlanon.statistics.shape import Shape
from sqlanon.statistics.sum_tables import COLUMNS, list_demands
from sqlanon.table.scratch import Scratch


def verify_demands(scratch: Scratch, shape: Shape, keyed: TableRef, kept: Kept, release: str) -> None:
    """The kept demands are those of the staged rows, counted once more.

    Raises:
        PrivacyViolation: they are not.
    """
    fresh = scratch.table("fresh_rows")
    scratch.execute("statistics/sum_fresh", fresh=fresh, keyed=keyed, atoms=kept.atoms, **shape.context())
    for made, own in zip(list_demands(scratch, shape, fresh, kept.cells, "fresh_"), kept.sums, strict=True):
        for part in SUM_PARTS:
            failing = scratch.count(
                "statistics/verify_same",
                fresh=getattr(made, part),
                kept=getattr(own, part),
                columns=list(COLUMNS[part]),
            )
            refuse(release, f"{part} of sums", failing)
            scratch.drop(getattr(made, part))
    scratch.drop(fresh)


def verify_sums(scratch: Scratch, shape: Shape, kept: Kept, tables: tuple[TableRef, TableRef], release: str) -> None:
    """Witnesses meet every demand of every sum.

    Args:
        scratch: the run.
        shape: the published columns, margins and measures.
        kept: the private tables of the version.
        tables: what the witnesses change of each cell, and the published cells compared with the true ones.
        release: name of the release, for messages.

    Raises:
        PrivacyViolation: they do not.

    Cost: joins of demands with witnesses.
    """
    moved, compared = tables
    for one, own in zip(shape.sums, kept.sums, strict=True):
        shown, failing = scratch.numbers(
            "statistics/verify_sum_cells",
            needs=own.needs,
            limits=own.limits,
            moved=moved,
            witness=kept.witness,
            compared=compared,
            place=one.place,
        )
        refuse(release, "cells with a dominating contribution shown", shown)
        refuse(release, "sums without witnesses", failing)
        failing = scratch.count(
            "statistics/verify_contributors",
            contributors=own.contributors,
            limits=own.limits,
            witness=kept.witness,
            place=one.place,
        )
        refuse(release, "contributors without witnesses", failing)
