"""Figures of a table without a policy: privacy models, and risk."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.results.base import Report


@dataclass(frozen=True, slots=True)
class ModelFigure:
    """The value of a privacy model that the worst class of a table reaches.

    Attributes:
        model: the key under `privacy` in a policy.
        column: the sensitive column; None for a model without sensitive columns.
        form: form of the model, such as ``ordered``; empty: it has a single form.
        reached: the value; None: no value, however weak, holds for every class.
        at_most: a smaller value protects more.
    """

    model: str
    column: str | None
    form: str
    reached: float | None
    at_most: bool


@dataclass(frozen=True, slots=True)
class AttackerRisk:
    """The probability that an attacker finds the right person for a row.

    Attributes:
        basis: data of the estimate: ``table``, ``persons``, ``population table``, ``population size`` or ``weights``;
            the last two are estimates.
        highest: of any row.
        average: over the rows; of a journalist with a population table, the larger of both directions of a match.
        above: share of the rows with a risk above the threshold.
    """

    basis: str
    highest: float
    average: float
    above: float


@dataclass(frozen=True, slots=True)
class MarketerRisk:
    """Expected share of correct matches of an attacker who matches all rows with persons.

    ``basis`` as in `AttackerRisk`.
    """

    basis: str
    average: float


@dataclass(frozen=True, slots=True)
class HouseholdRisk:
    """The probability that at least one member of a household is found, which reveals the others.

    Attributes:
        columns: that name a household.
        basis: data for the risk of members, as in `AttackerRisk`.
        households: how many there are; ``persons`` are in them.
        largest: persons of the largest.
        highest: of any household.
        average: over the households.
        above: share of the households with a risk above the threshold.
        expected: persons in households that are expected to be found: the household's risk, summed over persons.
        persons: see there.
    """

    columns: tuple[str, ...]
    basis: str
    households: int
    largest: int
    highest: float
    average: float
    above: float
    expected: float
    persons: int


@dataclass(frozen=True, slots=True)
class PopulationUniques:
    """How many persons of the population have quasi values that no other person has.

    Attributes:
        population: persons in it.
        fraction: rows of the table by persons of the population.
        exact: counted in a population table; None: there is none.
        pitman, zayatz, snb: estimates; None: not estimable from these class sizes.
        dankar: the estimate that the decision rule takes, and ``rule`` the estimator that it chose; None: not
            estimable.
    """

    population: float
    fraction: float
    exact: int | None = None
    pitman: float | None = None
    zayatz: float | None = None
    snb: float | None = None
    dankar: float | None = None
    rule: str | None = None


@dataclass(frozen=True, slots=True)
class WildcardRisk:
    """Risk if NULL and ``*`` may be any value: 1 / the number of rows compatible with a row.

    It is optimistic, and no decision rests on it.

    Attributes:
        smallest: the fewest rows that a row is compatible with, itself included.
        unique_rows: rows compatible with no other.
        highest, average, above: as in `AttackerRisk`, of the prosecutor.
    """

    smallest: int
    unique_rows: int
    highest: float
    average: float
    above: float
    optimistic: bool = True


@dataclass(frozen=True, slots=True)
class RiskReport(Report):
    """Figures of a table that no policy asked for; docs/risk.md says how to read each.

    Attributes:
        quasi: the columns that make the classes; NULL and ``*`` are values like any other.
        models: a figure for each model, form and sensitive column.
        threshold: above which the risk of a row is counted.
        prosecutor: the attacker knows that a person is in the table. None, as all that follows: the table has no rows.
        journalist: the attacker does not know it; None: nothing is known of the population.
        marketer: the attacker matches all rows.
        sample_uniques: rows alone in their class; of persons, rows in classes of a single person.
        population: uniques of the population; None: nothing is known of it.
        wildcard: where NULL and ``*`` may be any value; None: not asked for.
        not_measured: missing measures, each with the reason.
        household: the risk of households, by the prosecutor, or the journalist where the population is known; None: not
            asked for.
    """

    table: str
    rows: int
    quasi: tuple[str, ...]
    classes: int
    models: tuple[ModelFigure, ...]
    threshold: float
    prosecutor: AttackerRisk | None = None
    journalist: AttackerRisk | None = None
    marketer: MarketerRisk | None = None
    sample_uniques: int = 0
    population: PopulationUniques | None = None
    wildcard: WildcardRisk | None = None
    not_measured: tuple[str, ...] = ()
    household: HouseholdRisk | None = None

    @property
    def expected(self) -> float | None:
        """Rows that the marketer is expected to match rightly: the sum of the risks of all rows.

        Divided by the number of rows it is the global risk.
        """
        return None if self.marketer is None else self.marketer.average * self.rows


@dataclass(frozen=True, slots=True)
class ColumnSet:
    """How well columns together distinguish rows.

    Attributes:
        distinction: different combinations of their values by rows.
        separation: pairs of rows with different values by all pairs; 1 where there is no pair.
    """

    columns: tuple[str, ...]
    distinction: float
    separation: float


@dataclass(frozen=True, slots=True)
class IdentifyingReport(Report):
    """Sets of columns that identify rows.

    Attributes:
        exhaustive: ``sets`` are all subsets of ``columns``, the smallest first and of each size the most distinct; else
            each is the set before and the column that separates most.
    """

    table: str
    rows: int
    columns: tuple[str, ...]
    exhaustive: bool
    sets: tuple[ColumnSet, ...]


@dataclass(frozen=True, slots=True)
class KnownSize:
    """Result of an attacker who knows so many columns, whichever they are.

    Attributes:
        known: how many columns.
        sets: over how many sets of them the figures are.
        k: rows of the smallest class of any set.
        worst: a set that has it.
        minimal: minimal sample uniques of this size: a row and a set that isolates it, and no smaller set does.
        rows: rows with such a unique.
    """

    known: int
    sets: int
    k: int
    worst: tuple[str, ...]
    minimal: int
    rows: int


@dataclass(frozen=True, slots=True)
class SpecialUniques:
    """Rows that few columns isolate, with scores as sdcMicro computes them.

    Attributes:
        rows: rows with a SUDA score above 0.
        highest_score, mean_score: SUDA scores of these.
        highest_dis, mean_dis: DIS-SUDA of these, probabilities that a match is right.
        columns: the share of minimal uniques that each column is part of.
    """

    rows: int
    highest_score: float
    mean_score: float
    highest_dis: float
    mean_dis: float
    columns: dict[str, float]


@dataclass(frozen=True, slots=True)
class KnownReport(Report):
    """Disclosure of a table by few known columns.

    Attributes:
        table: name of the table; ``rows`` of it.
        rows: see there.
        columns: of which an attacker may know any.
        sizes: by how many he knows.
        special: of the largest size; None: there are no rows.
    """

    table: str
    rows: int
    columns: tuple[str, ...]
    sizes: tuple[KnownSize, ...]
    special: SpecialUniques | None
