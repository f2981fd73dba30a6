"""A source and a release as two datacubes over the same codes (Ghinita et al. 2009, section 7.4).

The P cube counts the source's rows by quasi columns and sensitive value. The Q cube has the counts that a reader of the
release expects: rows spread evenly over the values of their box, or in format anatomy exact rows with their group's
shares. Both are in scratch tables as small integers; `divergence` compares them, group-by by group-by.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlanon.engines.base import TableRef
from sqlanon.errors import PolicyError
from sqlanon.evaluate.spread import spread
from sqlanon.evaluate.subject import Subject
from sqlanon.formats import COUNT, GROUP
from sqlanon.table.domain import Domain
from sqlanon.table.domains import build_domains
from sqlanon.table.scratch import Scratch
from sqlanon.table.stage import take_stage


@dataclass(frozen=True, slots=True)
class Cubes:
    """Both cubes of some quasi columns and a sensitive column.

    Attributes:
        columns: the quasi columns; table columns are numbered 1.. in this order.
        sensitive: the sensitive column, or None: rows alone are counted.
        cells: scratch table (c1.., s, n) of the source.
        released: scratch table (p1.., s, n) of the release, or (c1.., s, n) in format anatomy.
        spreads: per column the table (part, code, share); empty in format anatomy.
        runs: per column the table (part, low, high, size) of codes, or None; empty in format anatomy.
        widths: per column, values of a part on average.
        rows: rows of the source.
        released_rows: rows of the release.
        domains: the columns' values in the source.
        value: the sensitive column's, or None.
    """

    columns: tuple[str, ...]
    sensitive: str | None
    cells: TableRef
    released: TableRef
    spreads: tuple[TableRef, ...]
    runs: tuple[TableRef | None, ...]
    widths: tuple[float, ...]
    rows: int
    released_rows: int
    domains: tuple[Domain, ...]
    value: Domain | None


def read_cubes(scratch: Scratch, subject: Subject, columns: Sequence[str], sensitive: str | None) -> Cubes:
    """Read source and release once and encode them. Call it inside a snapshot.

    Raises:
        PolicyError: a table is empty, or the source has changed so much that the release's values are not in it.
    """
    if subject.counted and sensitive is None:
        raise PolicyError(
            f"{subject.name}: format {subject.form.facts.name} publishes exact quasi columns; name its sensitive column"
        )
    roles = replace(
        subject.roles,
        quasi=tuple(next(r for r in subject.roles.quasi if r.name == column) for column in columns),
        sensitive=tuple(r for r in subject.roles.sensitive if r.name == sensitive),
        insensitive=(),
    )
    stage = take_stage(scratch, roles, [])
    rows, released_rows = _count(scratch, stage), _count(scratch, subject.view)
    if not rows or not released_rows:
        raise PolicyError(
            f"{subject.name}: the {'release' if rows else 'source'} holds no row; there is nothing to compare"
        )
    scratch.expect(max(rows, released_rows))
    domains = build_domains(scratch, roles, stage)
    quasi, value = domains.quasi, domains.sensitive[0] if domains.sensitive else None
    cells = scratch.table("cells")
    scratch.execute(
        "datacube/cells",
        cells=cells,
        stage=stage,
        columns=[domain.parameters for domain in quasi],
        sensitive=value.parameters if value else None,
    )
    scratch.drop(stage)
    released = scratch.table("released")
    spreads: list[TableRef] = []
    runs: list[TableRef | None] = []
    widths: list[float] = [1.0] * len(quasi)
    if subject.counted:
        assert value is not None
        scratch.execute(
            "datacube/exact",
            released=released,
            view=subject.view,
            counted=subject.counted,
            columns=[domain.parameters for domain in quasi],
            sensitive=value.parameters,
            group=GROUP,
            count=COUNT,
        )
    else:
        scratch.execute(
            "datacube/released",
            released=released,
            view=subject.view,
            columns=[{"names": list(subject.published[column])} for column in columns],
            sensitive=value.parameters if value else None,
        )
        for number, domain in enumerate(quasi, 1):
            table, run = spread(scratch, subject, domain, released, number)
            parts, pairs = scratch.numbers("datacube/widths", spread=table)
            spreads.append(table)
            runs.append(run)
            widths[number - 1] = pairs / max(parts, 1)
    return Cubes(
        tuple(columns),
        sensitive,
        cells,
        released,
        tuple(spreads),
        tuple(runs),
        tuple(widths),
        rows,
        released_rows,
        quasi,
        value,
    )


def _count(scratch: Scratch, table: TableRef) -> int:
    return scratch.count("table/count", source=table)
