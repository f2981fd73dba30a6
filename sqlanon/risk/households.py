"""Risk of households: that at least one member is recognized, which reveals all of them.

With the risks r of a household's members, taken as independent, it is 1 - product of (1 - r): sdcMicro's hierarchical
risk (Templ, Kowarik and Meindl 2015, "Statistical disclosure control for micro-data using the R package sdcMicro",
section 3; Hundepool et al. 2012, "Statistical disclosure control", section 3.3.5). A person with several rows has the
risk of the row that is most at risk.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlanon.engines.base import Engine, TableRef
from sqlanon.results import HouseholdRisk
from sqlanon.sqltext import statement

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from sqlanon.arrays import Doubles, Longs

Measure = Callable[["Longs", "Doubles"], "Doubles"]
"""The risk of rows, by the rows of their class, int64[n], and the sum of its weights, float64[n]."""


@dataclass(frozen=True, slots=True)
class Membership:
    """Table of members of households, and columns that make their risk.

    Attributes:
        table: a row for each person, or several where ``persons`` are named.
        quasi: columns that make the classes.
        household: columns that name a household together; where one is NULL the person is a household of one.
        persons: columns that name persons; none: every row is one.
        weight: the column of sampling weights, if the risk is of these.
        population: a table of all persons, if the risk is of its classes, and its quasi columns in ``others``.
    """

    table: TableRef
    quasi: Sequence[str]
    household: Sequence[str]
    persons: Sequence[str] = ()
    weight: str | None = None
    population: TableRef | None = None
    others: Sequence[str] = ()


def join_risks(risk: npt.ArrayLike, household: npt.ArrayLike) -> Doubles:
    """The risk of each household, 1 - product of (1 - risk) over its members.

    Args:
        risk: float64[n], of each person, from 0 to 1.
        household: int64[n], from 0 up, each number in use.

    Returns:
        float64, by the number of the household. Members are multiplied in the order of their risks, so that no order
        of rows changes a digit.

    >>> join_risks([0.02, 0.03, 0.03, 1.0], [0, 0, 0, 1]).round(3).tolist()
    [0.078, 1.0]
    """
    import numpy as np

    risks, of = np.asarray(risk, np.float64), np.asarray(household, np.int64)
    order = np.lexsort([risks, of])
    with np.errstate(divide="ignore"):
        logarithm = np.log1p(-risks[order])
    joint: Doubles = -np.expm1(np.bincount(of[order], logarithm))
    return joint


def measure_households(
    engine: Engine, members: Membership, measure: Measure, basis: str, threshold: float
) -> HouseholdRisk | None:
    """The risk of the households of a table; None: it has no rows.

    Args:
        engine: where the table is.
        members: the table and its columns.
        measure: see `Measure`.
        basis: source of that figure.
        threshold: above which households are counted.

    Cost: a sort of the table's rows for each column that is named, and four numbers a row in memory.
    """
    import numpy as np

    text = statement(
        "risk/households",
        engine.dialect,
        target=members.table,
        classes=list(members.quasi),
        household=list(members.household),
        persons=list(members.persons),
        weight=members.weight,
        population=members.population,
        others=list(members.others),
    )
    alone, home, person, n, w = engine.fetch_arrays(text, [*["int64"] * 4, "float64"])
    if not len(n):
        return None
    risk = measure(n.astype(np.int64, copy=False), w.astype(np.float64, copy=False))
    number = person if members.persons else np.arange(len(n))
    home = np.where(alone == 1, -1 - number, home)  # a household of one
    _, household = np.unique(home, return_inverse=True)
    if members.persons:
        risk, household = _of_persons(risk, household, number)
    joined = join_risks(risk, household)
    size = np.bincount(household)
    return HouseholdRisk(
        columns=tuple(members.household),
        basis=basis,
        households=len(joined),
        largest=int(size.max()),
        highest=float(joined.max()),
        average=float(np.sort(joined).mean()),
        above=int((joined > threshold).sum()) / len(joined),
        expected=float(np.sort(joined * size).sum()),
        persons=len(risk),
    )


def _of_persons(risk: Doubles, household: Longs, person: npt.NDArray[np.generic]) -> tuple[Doubles, Longs]:
    """Of the rows of a person in a household the highest risk."""
    import numpy as np

    order = np.lexsort([risk, person, household])
    persons_sorted, of = person[order], household[order]
    last = np.concatenate([(persons_sorted[1:] != persons_sorted[:-1]) | (of[1:] != of[:-1]), [True]])
    return risk[order][last], of[last]
