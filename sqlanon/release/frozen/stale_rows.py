"""Number of published rows with other values in the source than in the release."""

from __future__ import annotations

from sqlanon.engines.base import TableRef
from sqlanon.formats import Layout, RecodedClasses, RowGroups, format_of
from sqlanon.release.catalog.lineage import Lineage
from sqlanon.release.frozen.row_counts import Comparison
from sqlanon.release.frozen.shape import Shape, list_kept_columns, quasi_columns
from sqlanon.spec import ReleaseSpec
from sqlanon.table.class_rows import ClassedRows
from sqlanon.table.domains import build_domains
from sqlanon.table.encode import EncodedTable
from sqlanon.table.reading import Roles
from sqlanon.table.scratch import Scratch


def stale_rows(
    scratch: Scratch,
    spec: ReleaseSpec,
    lineage: Lineage,
    compared: Comparison,
    roles: Roles,
    stage: TableRef,
    shape: Shape,
) -> int:
    """Number of rows that stay published with other values than the source has now.

    A row is current if the columns published unchanged have not changed, and the quasi values lie in the published
    cell. If a cell is a mean of the class, or a single value, every other quasi value is outside.

    Cost: for rows with changes of quasi values alone, a join with the stage by row number, and a join with the
    published classes.
    """
    if not compared.apart or spec.format.mean:
        return compared.changed + compared.apart
    moved = scratch.table("moved")
    columns = [column["alias"] for column in (*quasi_columns(roles), *list_kept_columns(roles))]
    scratch.execute(
        "frozen/moved",
        moved=moved,
        compared=compared.rows,
        leaving=compared.leaving,
        stage=stage,
        columns=columns,
    )
    with scratch.beside() as apart:
        return compared.changed + _count_uncovered(apart, spec, lineage, roles, moved, shape, compared.apart)


def _count_uncovered(
    scratch: Scratch,
    spec: ReleaseSpec,
    lineage: Lineage,
    roles: Roles,
    classed: TableRef,
    shape: Shape,
    rows: int,
) -> int:
    """Number of rows with changes of quasi values alone that are outside of their published cells."""
    form, released = format_of(spec.format.kind), scratch.table("moved_classes")
    scratch.execute(
        "publish/kept_classes",
        made=released,
        classes=lineage.classes,
        rows=classed,
        columns=list(shape.parts),
        placed=False,
    )
    quasi = build_domains(scratch, roles, classed).quasi
    encoded = EncodedTable(roles, classed, classed, rows, quasi, ())
    names = {domain.code: shape.names[domain.reading.alias] for domain in quasi}
    recoded = RecodedClasses(
        released, released, form, Layout(names, shape.layout.columns), 0, 0, 0, RowGroups(released)
    )
    counts = form.count_covered(scratch, ClassedRows(encoded, classed), recoded)
    return rows if counts is None else counts[1]
