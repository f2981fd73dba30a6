"""How many published rows the source has with other values than those that are published."""

from __future__ import annotations

from sqlanon.engines.base import TableRef
from sqlanon.formats import Layout, Recoded, RowGroups, format_of
from sqlanon.release.frozen.shape import Shape, kept_columns, quasi_columns
from sqlanon.release.store.lineage import Lineage
from sqlanon.spec import ReleaseSpec
from sqlanon.table.domains import build_domains
from sqlanon.table.encode import Encoded
from sqlanon.table.scratch import Scratch
from sqlanon.table.stage import Roles


def stale_rows(
    scratch: Scratch,
    spec: ReleaseSpec,
    lineage: Lineage,
    leaving: TableRef | None,
    roles: Roles,
    stage: TableRef,
    shape: Shape,
) -> int:
    """Rows that are published otherwise than the source has them now.

    A row is current whose columns that are published as they are did not change, and whose quasi values lie in the published cell. Where
    a cell is a mean of its class, or a single value, every other quasi value is outside.

    Cost: a join of the lineage with the stage by key; for rows whose quasi values changed one more with the published classes.
    """
    moved = scratch.table("moved")
    scratch.execute(
        "frozen/moved", moved=moved, rows=lineage.rows, stage=stage, leaving=leaving, quasi=quasi_columns(roles), kept=kept_columns(roles)
    )  # fmt: skip
    rows, changed = (int(str(cell)) for cell in scratch.fetch("frozen/changed", moved=moved)[0])
    if rows == changed or spec.format.mean:
        return rows
    with scratch.beside() as apart:
        return changed + _uncovered(apart, spec, lineage, roles, moved, shape, rows - changed)


def _uncovered(
    scratch: Scratch,
    spec: ReleaseSpec,
    lineage: Lineage,
    roles: Roles,
    moved: TableRef,
    shape: Shape,
    rows: int,
) -> int:
    """Rows of which only quasi values changed, and that are outside of what is published for them."""
    form = format_of(spec.format.kind)
    classed, released = scratch.table("moved_rows"), scratch.table("moved_classes")
    scratch.execute("frozen/moved_rows", made=classed, moved=moved)
    scratch.execute(
        "publish/kept_classes",
        made=released,
        classes=lineage.classes,
        rows=classed,
        columns=list(shape.parts),
    )
    quasi, _, _ = build_domains(scratch, roles, classed)
    encoded = Encoded(roles, classed, classed, rows, quasi, ())
    names = {domain.code: shape.names[domain.reading.alias] for domain in quasi}
    recoded = Recoded(
        released, released, form, Layout(names, shape.layout.columns), 0, 0, 0, RowGroups(released)
    )
    found = form.covered(scratch, encoded, classed, recoded)
    return rows if found is None else found[1]


__all__ = ["stale_rows"]
