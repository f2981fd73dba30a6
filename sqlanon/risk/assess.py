"""A table's figures together: `assess` looks at its columns, has each part measured and makes the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlanon.engines.base import Engine, Relation
from sqlanon.errors import PolicyError
from sqlanon.results import AttackerRisk, HouseholdRisk, MarketerRisk, ModelFigure, PopulationUniques, RiskReport
from sqlanon.risk import attackers, households, individual, models, uniques, wildcard
from sqlanon.risk.sizes import Sizes, class_sizes

if TYPE_CHECKING:
    from sqlanon.arrays import Doubles, Longs

THRESHOLD = 0.2
"""One in a class of five."""
VALUE, WILDCARD = "value", "wildcard"
"""Meaning of NULL and *."""
MOST_PEOPLE = 10**12
"""Of a population."""


@dataclass(frozen=True, slots=True)
class Population:
    """Facts about the population that a table is a sample of; at most one of ``table`` and ``size``.

    Attributes:
        table: a table with a row for each person, and the quasi columns under their names.
        size: how many persons it has; the table is then taken as a simple random sample.
        weight: the table's column of sampling weights.
    """

    table: str | None = None
    size: int | None = None
    weight: str | None = None

    @property
    def known(self) -> bool:
        """Whether anything is."""
        return self.table is not None or self.size is not None or self.weight is not None


@dataclass(frozen=True, slots=True)
class AssessedColumns:
    """The columns of a table by their part in its risk.

    Attributes:
        quasi: the columns that make the classes; None: all but the sensitive ones, the identifiers, the household and
            the weight.
        sensitive: columns whose values the models protect, each by itself.
        identifiers: columns that name persons, who may have several rows: risks are of the fewest persons of a class.
        household: columns that name a household together, whose risk is that of any member.
    """

    quasi: Sequence[str] | None = None
    sensitive: Sequence[str] = ()
    identifiers: Sequence[str] = ()
    household: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class _AssessedTable:
    """A table as it is assessed.

    Attributes:
        engine: where the table is.
        table: the name, for errors.
        relation: the table.
        quasi: the columns that make the classes.
        population: facts about the population.
        weight: the column of sampling weights, if there is one.
        threshold: rows with more risk are counted.
    """

    engine: Engine
    table: str
    relation: Relation
    quasi: Sequence[str]
    population: Population
    weight: Sequence[str]
    threshold: float


def assess(
    engine: Engine,
    table: str,
    chosen: AssessedColumns,
    *,
    population: Population | None = None,
    threshold: float = THRESHOLD,
    null_is: str = VALUE,
) -> RiskReport:
    """Measure every privacy model and the risk of any table or view, without a policy. NULL and ``*`` are values.

    Args:
        engine: where the table is.
        table: the name.
        chosen: the columns by their part in the risk.
        population: facts about the population.
        threshold: a probability; rows with more risk are counted.
        null_is: ``wildcard``: measure besides the prosecutor's risk where NULL and ``*`` may be any value, which is
            optimistic.

    Raises:
        UnsupportedError: ``wildcard``, and more than 100,000 combinations of quasi values.
        PolicyError: a column does not exist or has two roles, the population lacks a column or rows of the table, or a
            number is out of its range.

    Cost: one grouping of the table for each figure; nothing is written.
    """
    population_known = population or Population()
    relation = engine.relation(table)
    sensitive, identifiers, household = (
        columns_of(relation, table, names) for names in (chosen.sensitive, chosen.identifiers, chosen.household)
    )
    weight = columns_of(relation, table, [population_known.weight] if population_known.weight is not None else [])
    if chosen.quasi is None:
        not_quasi = (*sensitive, *identifiers, *household, *weight)
        columns = tuple(column.name for column in relation.columns if column.name not in not_quasi)
    else:
        columns = columns_of(relation, table, chosen.quasi)
    roles = [*columns, *sensitive, *identifiers, *household, *weight]
    twice = sorted({name for name in roles if roles.count(name) > 1})
    if twice:
        raise PolicyError(f"audit {table}: {', '.join(twice)} cannot have two roles")
    _check(table, population_known, threshold, bool(identifiers))
    if null_is not in (VALUE, WILDCARD):
        raise PolicyError(f"audit {table}: null_is is {VALUE} or {WILDCARD}")
    if null_is == WILDCARD and identifiers:
        raise PolicyError(f"audit {table}: null_is {WILDCARD} counts rows, not persons; leave the identifiers out")
    with engine.snapshot():
        sizes = class_sizes(engine, relation.ref, columns, identifiers)
        shape = (str(relation.ref), sizes.rows, columns, sizes.count)
        if not sizes.rows:
            return RiskReport(*shape, (), threshold)
        compatible = (
            wildcard.measure_wildcard(engine, relation, columns, sizes.count, threshold)
            if null_is == WILDCARD
            else None
        )
        figures, missing = models.measure_models(engine, relation, columns, sensitive)
        assessed = _AssessedTable(engine, table, relation, columns, population_known, weight, threshold)
        journalist, marketer, risks, compared = _assess_population(assessed, sizes)
        members = households.Membership(relation.ref, columns, household, identifiers)
        homes = _assess_households(assessed, members, sizes.rows) if household else None
    prosecutor = attackers.measure_prosecutor(sizes, threshold)
    alone = int(sizes.held[sizes.size == 1].sum())
    return RiskReport(
        *shape,
        (*figures, *compared),
        threshold,
        prosecutor,
        journalist,
        marketer,
        alone,
        risks,
        compatible,
        missing,
        homes,
    )


def _assess_households(assessed: _AssessedTable, members: households.Membership, rows: int) -> HouseholdRisk | None:
    """The risk of households, by whatever is known of the population."""
    engine, relation, population, weight = assessed.engine, assessed.relation, assessed.population, assessed.weight
    basis = "persons" if members.persons else "table"
    measure: households.Measure = attackers.of_class
    if population.table is not None:
        people = engine.relation(population.table)
        other_columns = _same_columns(relation, people, members.quasi)
        members, basis = replace(members, population=people.ref, others=other_columns), "population table"
    elif weight:
        members, basis, measure = replace(members, weight=weight[0]), "weights", individual.of_weights
    elif population.size is not None:
        fraction, basis = min(rows / population.size, 1.0), "population size"

        def of_sample(n: Longs, _: Doubles) -> Doubles:
            return individual.measure_individual(n, fraction)

        measure = of_sample
    return households.measure_households(engine, members, measure, basis, assessed.threshold)


def _check(table: str, population: Population, threshold: float, persons: bool) -> None:
    if not 0 <= threshold < 1:
        raise PolicyError(
            f"audit {table}: threshold {threshold} is no probability; give one from 0 to below 1, such as 0.2"
        )
    if population.table is not None and population.size is not None:
        raise PolicyError(f"audit {table}: give a population table or a population size, not both")
    if population.table is not None and population.weight is not None:
        raise PolicyError(f"audit {table}: a population table needs no weights; give one of them")
    if population.size is not None and not 1 <= population.size <= MOST_PEOPLE:
        raise PolicyError(f"audit {table}: population size {population.size} is not from 1 to {MOST_PEOPLE:,}")
    if persons and population.known:
        raise PolicyError(
            f"audit {table}: a population is compared with rows that are persons; audit a table with one row a person, "
            "without identifiers"
        )


def _assess_population(
    assessed: _AssessedTable, sizes: Sizes
) -> tuple[AttackerRisk | None, MarketerRisk | None, PopulationUniques | None, tuple[ModelFigure, ...]]:
    """The journalist, the marketer, the uniques of the population and the models over it, as far as it is known."""
    engine, relation, quasi = assessed.engine, assessed.relation, assessed.quasi
    known_population, weight, threshold = assessed.population, assessed.weight, assessed.threshold
    if known_population.table is not None:
        people = engine.relation(known_population.table)
        other_columns = _same_columns(relation, people, quasi)
        population = attackers.match_population(engine, relation.ref, quasi, people.ref, other_columns)
        uniques_counted = PopulationUniques(
            population.population, sizes.rows / population.population, population.uniques
        )
        figures = models.in_population(population)
        return (
            attackers.measure_journalist(population, threshold),
            attackers.measure_marketer(population),
            uniques_counted,
            figures,
        )
    if not known_population.known:
        # Without more, the population may be the table itself.
        return None, MarketerRisk("table", attackers.measure_prosecutor(sizes, threshold).average), None, ()
    if weight:
        n, w, classes = individual.weigh_classes(engine, relation, quasi, weight[0])
        people_of, basis = float((w * classes).sum()), "weights"
        risk = individual.measure_individual(n, n / w)
        rows = n * classes
    else:
        assert known_population.size is not None
        people_of, basis = float(known_population.size), "population size"
        risk = individual.measure_individual(sizes.size, min(sizes.rows / people_of, 1.0))
        rows = sizes.held
    size = float(known_population.size) if known_population.size is not None else people_of
    if size < sizes.rows:
        raise PolicyError(
            f"audit {assessed.table}: a population of {size:,.0f} is smaller than the table, which has {sizes.rows:,} "
            "rows"
        )
    journalist = attackers.of_rows(risk, rows, basis, threshold)
    return journalist, MarketerRisk(basis, journalist.average), uniques.estimate_uniques(sizes, size), ()


def _same_columns(relation: Relation, people: Relation, quasi: Sequence[str]) -> tuple[str, ...]:
    """The quasi columns of a table in its population.

    Raises:
        PolicyError: one is not there, or has another kind of values.
    """
    other_columns = columns_of(people, f"population {people.ref}", quasi)
    here = {column.name: column for column in relation.columns}
    there = {column.name: column for column in people.columns}
    numbers = ("integer", "float", "decimal")
    for name, other in zip(quasi, other_columns, strict=True):
        kinds = {"number" if column.kind in numbers else column.kind for column in (here[name], there[other])}
        if len(kinds) > 1:
            raise PolicyError(
                f"population {people.ref}: {other} is {there[other].shown_type}, and {name} of {relation.ref} is "
                f"{here[name].shown_type}; give both the same type"
            )
    return other_columns


def columns_of(relation: Relation, table: str, names: Sequence[str]) -> tuple[str, ...]:
    """The columns that names mean, however their letters are written, each once.

    Raises:
        PolicyError: there is no such column.
    """
    exact = {column.name: column.name for column in relation.columns}
    spelled = {name.lower(): name for name in exact} | exact
    columns = []
    for name in names:
        column = spelled.get(name) or spelled.get(name.lower())
        if column is None:
            raise PolicyError(f"audit {table}: there is no column {name}; columns: {', '.join(exact)}")
        columns.append(column)
    return tuple(dict.fromkeys(columns))
