"""The population that a policy names: its table, and the greatest values that a release can reach in it."""

from __future__ import annotations

from collections.abc import Sequence

from sqlanon.declared.combinations import list_populations
from sqlanon.engines.base import Engine
from sqlanon.errors import DatabaseError, InfeasibleError, PolicyError
from sqlanon.privacy.base import Requirement, as_number, round_reachable
from sqlanon.privacy.population import of_population
from sqlanon.results import FeasibleLevel
from sqlanon.spec import ReleaseSpec
from sqlanon.table.population import Population, roles_in
from sqlanon.table.reading import Roles


def population_of(engine: Engine, spec: ReleaseSpec, roles: Roles) -> Roles | None:
    """The quasi columns in the population; None: the policy names none.

    Raises:
        PolicyError: it is not there, or lacks a column.
    """
    tables_named = list_populations(spec)
    if not tables_named:
        return None
    try:
        relation = engine.relation(next(iter(tables_named.values())))
    except DatabaseError as error:
        raise PolicyError(f"{spec.name}: the population of {' and '.join(tables_named)}: {error}") from error
    if relation.ref == roles.relation.ref:
        raise PolicyError(
            f"{spec.name}: the population of {' and '.join(tables_named)} is the source itself; name a larger "
            "table that holds its rows"
        )
    return roles_in(relation, roles)


def feasible_in(
    spec: ReleaseSpec, requirements: Sequence[Requirement], rows: int, population: Population
) -> tuple[FeasibleLevel, ...]:
    """Values that the last level of every column reaches, which no other node exceeds.

    Raises:
        InfeasibleError: a requirement asks for more; the text gives the largest feasible value.
    """
    import numpy as np

    outside = population.rows - population.inside
    source_counts = np.array([rows, 0][: 1 + (outside > 0)], np.int64)
    population_counts = np.array([population.inside, outside][: 1 + (outside > 0)], np.int64)
    feasible, problems = [], []
    for requirement in of_population(requirements):
        best = requirement.judge(source_counts, population_counts).reached
        met = requirement.reaches(best)
        feasible.append(FeasibleLevel(requirement.name, None, as_number(requirement.asked), as_number(best), met))
        if not met:
            beyond = f"; {outside} rows of the population have values that no level covers" if outside else ""
            problems.append(
                f"{spec.name}: no release in this population reaches {requirement.name} = "
                f"{as_number(requirement.asked):g}; the {'least' if requirement.at_most else 'largest'} feasible value "
                f"is {round_reachable(requirement, best):g}{beyond}"
            )
    if problems:
        raise InfeasibleError(problems)
    return tuple(feasible)
