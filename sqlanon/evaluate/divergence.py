"""Kullback-Leibler divergence of a release from the source, computed where the data is.

    KLD(P, Q) = sum over cells of P ln(P / Q)

P and Q are the two cubes of `datacube`, each normalized over (cells x sensitive values); the sum runs over the cells of
P. A cell that P reaches and Q does not makes it infinite, and such cells are counted; nothing is ever smoothed. Ghinita
et al. 2009, section 7.4, takes it by group-by (a level's KLD is the mean over the group-bys); Xiao et al. 2010,
section 6.2 (2), for the joint distribution over all quasi columns and the sensitive one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from sqlanon.engines.base import Engine
from sqlanon.engines.rows import number, read_integers
from sqlanon.errors import PolicyError
from sqlanon.evaluate.cubes import Cubes, read_cubes
from sqlanon.evaluate.subject import Subject
from sqlanon.progress import Progress, SilentProgress
from sqlanon.table.scratch import Scratch


@dataclass(frozen=True, slots=True)
class Divergence:
    """KLD of a group-by.

    Attributes:
        columns: the quasi columns of the group-by.
        sensitive: the sensitive column, or None: cells are counted by the quasi columns alone.
        kld: infinite where ``missed`` is not 0.
        cells: (cell, sensitive value) pairs that the source holds.
        missed: those of them where the release expects no row.
        missed_rows: rows of the source in them.
        rows: rows of the source.
    """

    columns: tuple[str, ...]
    sensitive: str | None
    kld: float
    cells: int
    missed: int
    missed_rows: int
    rows: int


def level(quasi: Sequence[str], of: int) -> tuple[tuple[str, ...], ...]:
    """The group-bys of a level of the datacube's lattice: all choices of ``of`` columns.

    Example:
        >>> level(("age", "sex", "zip"), 2)
        (('age', 'sex'), ('age', 'zip'), ('sex', 'zip'))
    """
    return tuple(combinations(quasi, of))


def average_divergence(divergences: Sequence[Divergence]) -> float:
    """KLD of a level: the mean of the group-bys, infinite where any is."""
    return math.fsum(measured.kld for measured in divergences) / len(divergences) if divergences else 0.0


def measure_divergence(
    engine: Engine,
    subject: Subject,
    group_bys: Sequence[Sequence[str]],
    sensitive: str | None,
    progress: Progress | None = None,
) -> tuple[Divergence, ...]:
    """KLD of each group-by, given by the names of quasi columns; source and release are read once.

    Raises:
        PolicyError: a column is not a quasi column of the release, or there is nothing to compare.

    Cost: for each group-by a row for every (class, sensitive value, cell of the source that the class reaches),
    summed as early as they fall together.
    """
    columns_of = dict.fromkeys(column for columns in group_bys for column in columns)
    unknown = [column for column in columns_of if column not in subject.quasi]
    if unknown or (sensitive is not None and sensitive not in subject.sensitive):
        what = f"no quasi column {', '.join(unknown)}" if unknown else f"no sensitive column {sensitive}"
        raise PolicyError(
            f"{subject.name}: the release has {what}; it has {', '.join(subject.quasi + subject.sensitive)}"
        )
    if not all(group_bys):
        raise PolicyError(f"{subject.name}: a group-by of the datacube needs a column")
    reporter = progress or SilentProgress()
    divergences = []
    with Scratch(engine) as scratch, engine.snapshot():
        columns = [name for name in subject.quasi if name in columns_of]
        both = read_cubes(scratch, subject, columns, sensitive)
        scratch.fetch("datacube/planned")
        for number, group_by in enumerate(group_bys):
            reporter.update(number, len(group_bys), "group-bys")
            divergences.append(_measure_divergence(scratch, both, group_by))
    return tuple(divergences)


def _measure_divergence(scratch: Scratch, both: Cubes, group_by: Sequence[str]) -> Divergence:
    """A group-by. The column with the widest parts is spread first: cells reached in vain are dropped soonest.

    Of the columns with runs of codes as parts, the widest is not spread: the runs are summed up in the order of codes.
    """
    places = [both.columns.index(column) for column in group_by]
    places.sort(key=lambda place: -both.widths[place])
    swept = next((place for place in places if both.runs and both.runs[place] is not None), None)
    if swept is not None:
        places = [*(place for place in places if place != swept), swept]
    row = scratch.fetch(
        "datacube/divergence",
        cells=both.cells,
        released=both.released,
        rows=both.rows,
        released_rows=both.released_rows,
        columns=[{"number": place + 1, "spread": both.spreads[place] if both.spreads else None} for place in places],
        runs=None if swept is None else both.runs[swept],
    )[0]
    kld, cells, missed, missed_rows = number(row[0]), *read_integers(row[1:])
    return Divergence(
        tuple(group_by), both.sensitive, math.inf if missed else kld, cells, missed, missed_rows, both.rows
    )
