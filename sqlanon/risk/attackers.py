"""Risk of three attackers, by the sizes of classes in the table and in the population.

f_j are the rows of class j in the table, n = sum f_j, F_j the persons of the population with its quasi values. An
attacker who has found the class of a person can only guess among those in it.

- Prosecutor, who knows that the person is in the table: 1 / f_j.
- Journalist, who does not: 1 / F_j.
- Marketer, who matches all rows: the expected share of right matches, (1 / n) sum f_j / F_j.

El Emam and Dankar 2008, "Protecting privacy using k-anonymity" (prosecutor and journalist); Dankar and El Emam 2010, "A
method for evaluating marketer re-identification risk", section 3; El Emam 2013, "Guide to the de-identification of
personal health information", chapter 16 (highest, average, share above a threshold; the two directions of the
journalist's average).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlanon.engines.base import Engine, TableRef
from sqlanon.errors import PolicyError
from sqlanon.results import AttackerRisk, MarketerRisk, RiskReport
from sqlanon.sqltext import statement

if TYPE_CHECKING:
    from sqlanon.arrays import Doubles, Longs
    from sqlanon.risk.sizes import Sizes


@dataclass(frozen=True, slots=True)
class MatchedClasses:
    """Classes of a table and its population, as arrays of equal length.

    Attributes:
        n: int64[m], rows of the table in a class; 0: only the population has it.
        held: int64[m], rows of the population in it.
        classes: int64[m], how many classes have both.
    """

    n: Longs
    held: Longs
    classes: Longs

    @property
    def population(self) -> int:
        """Rows of the population."""
        return int((self.held * self.classes).sum())

    @property
    def uniques(self) -> int:
        """Rows of the population that are alone in their class."""
        return int(self.classes[self.held == 1].sum())


def of_rows(risk: Doubles, rows: Longs, basis: str, threshold: float) -> AttackerRisk:
    """Risk of an attacker, by the risk of each group of rows.

    Args:
        risk: float64[m], of every row of a group.
        rows: int64[m], of each group.
        basis: source of the figures.
        threshold: above which rows are counted.
    """
    total = int(rows.sum())
    average = float((risk * rows).sum()) / total
    # 1 / f as a double is the double next to it, so that 0.2 is not above 0.2.
    return AttackerRisk(basis, float(risk.max()), average, int(rows[risk > threshold].sum()) / total)


def of_class(n: Longs, _: Doubles) -> Doubles:
    """1 / rows or persons of the class."""
    inverse: Doubles = 1 / n
    return inverse


def measure_prosecutor(sizes: Sizes, threshold: float) -> AttackerRisk:
    """Highest 1 / min f_j, average |J| / n."""
    return of_rows(1 / sizes.size, sizes.held, "table", threshold)


def of_persons(report: RiskReport, sizes: Sizes) -> RiskReport:
    """Figures of a release with a known number of persons in each class.

    Each figure is the larger of two.

    Args:
        report: by the rows that look alike in the columns that were asked about, which may be fewer or more than the
            release's own.
        sizes: persons of the release's classes.
    """
    assert report.prosecutor is not None
    rows, persons = report.prosecutor, measure_prosecutor(sizes, report.threshold)
    risk = AttackerRisk(
        "persons",
        max(rows.highest, persons.highest),
        max(rows.average, persons.average),
        max(rows.above, persons.above),
    )
    alone = max(report.sample_uniques, int(sizes.held[sizes.size == 1].sum()))
    marketer = report.marketer
    if marketer is not None and marketer.basis == "table":
        marketer = MarketerRisk("persons", risk.average)
    why = "models over persons: the figures of models count rows, and a person may have several"
    return replace(
        report, prosecutor=risk, marketer=marketer, sample_uniques=alone, not_measured=(*report.not_measured, why)
    )


def match_population(
    engine: Engine, table: TableRef, quasi: Sequence[str], population: TableRef, others: Sequence[str]
) -> MatchedClasses:
    """Count the classes of a table in its population.

    Args:
        engine: where both are.
        table: any table or view.
        quasi: columns that make the classes.
        population: a table with a row for each person.
        others: the same columns there, in the same order.

    Raises:
        PolicyError: the population lacks rows of the table.
    """
    import numpy as np

    text = statement(
        "risk/population", engine.dialect, target=table, population=population, classes=list(quasi), others=list(others)
    )
    matched = MatchedClasses(
        *(array.astype(np.int64, copy=False) for array in engine.fetch_arrays(text, ["int64", "int64", "int64"]))
    )
    fewer = matched.held < matched.n
    if fewer.any():
        raise PolicyError(
            f"population {population} does not cover {table}: {int(matched.classes[fewer].sum())} classes have more "
            "rows in the table than persons in the population; give a population that holds every row, with quasi "
            "columns recoded as those of the table"
        )
    return matched


def measure_journalist(matched: MatchedClasses, threshold: float) -> AttackerRisk:
    """The journalist's highest risk, 1 / min F_j, and average risk.

    The average is the larger of |J| / sum F_j, from the population to the table, and (1 / n) sum f_j / F_j, back.
    """
    here = matched.n > 0
    n, sizes, classes = matched.n[here], matched.held[here], matched.classes[here]
    by_row = of_rows(1 / sizes, n * classes, "population table", threshold)
    from_population = int(classes.sum()) / int((sizes * classes).sum())
    return AttackerRisk(by_row.basis, by_row.highest, max(by_row.average, from_population), by_row.above)


def measure_marketer(matched: MatchedClasses) -> MarketerRisk:
    """(1 / n) sum f_j / F_j."""
    here = matched.n > 0
    n, held_by, classes = matched.n[here], matched.held[here], matched.classes[here]
    return MarketerRisk("population table", float((classes * n / held_by).sum()) / int((classes * n).sum()))
