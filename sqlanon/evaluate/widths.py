"""Widths of the answers to a workload over a release if the truth is not at hand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from sqlanon.engines.base import Engine
from sqlanon.errors import DatabaseError, UnsupportedError
from sqlanon.evaluate.run import is_overflow, keep_apart, parse_of_source
from sqlanon.evaluate.subject import Subject
from sqlanon.evaluate.workload import WorkloadQuery
from sqlanon.query.ask import ask
from sqlanon.query.find import FoundRelease, Names
from sqlanon.query.release import ReaderRelease
from sqlanon.release.catalog.views import spell_table


@dataclass(frozen=True, slots=True)
class Widths:
    """Distances between the bounds of a workload's answers.

    Attributes:
        answers: cells, an aggregate of a group each.
        median: of their widths, as shares of the estimates; a bound that is missing counts as infinitely wide. None:
            there is no answer, or half of them are infinitely wide.
        refused: queries that have no answer over the release.
    """

    answers: int
    median: float | None
    refused: int


def measure_widths(
    engine: Engine, subject: Subject, released: ReaderRelease, queries: Sequence[WorkloadQuery]
) -> Widths:
    """Ask queries of a release alone, which may be in scratch tables.

    Args:
        engine: the database.
        subject: the release and the source.
        released: the same as readers would see it.
        queries: queries of the source, by `sqlanon.evaluate.workload.list_queries`.

    Raises:
        PolicyError: a query asks another table than the source.
        DatabaseError: the database refused a query.

    Cost: a statement for each query. Answers of which the estimate is 0 and the bounds differ are not counted.
    """
    widths: list[float] = []
    refused, view = 0, spell_table(subject.view)
    # No name that people write means a scratch table.
    relations = Names()
    relations[view, "", ""] = FoundRelease(released)
    for query in queries:
        try:
            parse_of_source(engine, subject.sides, query)
            with keep_apart(engine, [query]):
                answer = ask(engine, query.sql, release=view, names=relations, seconds=math.inf)
        except UnsupportedError:
            refused += 1
            continue
        except DatabaseError as error:
            if not is_overflow(engine, error):
                raise DatabaseError(f"query {query.name}: {error}") from error
            refused += 1
            continue
        for row in answer.rows:
            for name in answer.aggregates:
                cell = row[name]
                if cell.width is not None:
                    widths.append(cell.width)
                elif cell.low is None or cell.high is None:
                    widths.append(math.inf)
    middle = median(widths) if widths else math.inf
    return Widths(len(widths), middle if math.isfinite(middle) else None, refused)
