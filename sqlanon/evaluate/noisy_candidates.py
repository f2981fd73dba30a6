"""Candidates of noisy statistics side by side: by the noise that they would have, and beside releases of rows.

Nothing is charged, drawn or published, and no exact answer is read for a candidate: the expected error follows from the
declarations. Errors of published releases of rows are measured on the source, so that the report is for the owner.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from sqlanon.declared.noisy_keys import LARGEST_EPSILON
from sqlanon.engines.base import Engine
from sqlanon.errors import PolicyError
from sqlanon.evaluate.noisy import Measure, ask_releases_of_rows
from sqlanon.evaluate.noisy_groups import list_groups
from sqlanon.noisy.accounting import total_epsilon
from sqlanon.noisy.answers import check_columns
from sqlanon.noisy.consistent import make_consistent
from sqlanon.noisy.shape import Shape, shape_of
from sqlanon.noisy.split import Noise, mean_distance, noise_of
from sqlanon.noisy_spec import NoisySpec
from sqlanon.release.budget.budget import Budget
from sqlanon.release.budget.charged_versions import count_versions
from sqlanon.results import NoisyCandidate, NoisyCandidatesReport, RowsErrors
from sqlanon.spec import ReleaseSpec

MOST = 60
"""Candidates, at most."""


def compare_noise(
    engine: Engine, spec: ReleaseSpec, epsilons: Sequence[Fraction], *, alone: bool, measure: Measure
) -> NoisyCandidatesReport:
    """Expected errors of counts, of candidates with several epsilons and tables, beside those of releases of rows.

    Args:
        engine: the database of the source.
        spec: the release.
        epsilons: of a version; empty: that of the policy.
        alone: each table is a candidate by itself as well.
        measure: asks queries of a release and of the source.

    Raises:
        PolicyError: there are no noisy statistics, the source cannot be measured, nothing counts rows, or there are too
            many candidates.

    Cost: for each release of rows of the source, a statement for 50 groups.
    """
    noisy = spec.noisy
    if noisy is None:
        raise PolicyError(f"compare {spec.name}: --epsilon and --alone are about noisy statistics, which it has not")
    shape = shape_of(spec)
    counting = next((place for place, measure in enumerate(noisy.measures) if measure.quantity == "rows"), None)
    if counting is None:
        raise PolicyError(f"compare {spec.name}: no measure counts rows, and errors of counts are compared")
    relation = engine.relation(spec.source)
    columns = check_columns(shape, spec.person, relation)
    budget = Budget(engine, noisy.budget)
    budget.look()
    every = tuple(range(len(noisy.tables)))
    choices = [every, *([(place,) for place in every] if alone and len(every) > 1 and not shape.chooses else [])]
    tried = [(epsilon, places) for epsilon in epsilons or (noisy.epsilon,) for places in choices]
    if len(tried) > MOST:
        raise PolicyError(f"compare: {len(tried)} candidates, more than {MOST}; name fewer")
    candidates = tuple(_try(budget, spec, number, epsilon, places) for number, (epsilon, places) in enumerate(tried, 1))
    tables_by = [(table.name, table.by) for table in noisy.tables if not (table.of_rows and shape.chooses)]
    kinds = {group.name: columns[group.name].kind for group in shape.groups}
    queries = list_groups(engine, relation.ref, tables_by, shape.groups, kinds)
    answers = ask_releases_of_rows(engine, str(relation.ref), relation.ref, queries, measure) if queries else ()
    beside = []
    for answer in answers:
        errors = {family.name: family.errors.absolute.mean for family in answer.families}
        beside.append(RowsErrors(answer.release, tuple(errors.get(table.name) for table in noisy.tables)))
    names = tuple(table.name for table in noisy.tables)
    groups = tuple(table.leaves for table in shape.published)
    report = NoisyCandidatesReport(spec.name, str(relation.ref), names, groups, candidates, tuple(beside))
    return _merge_pairs(report, noisy) if shape.chooses else report


def _merge_pairs(report: NoisyCandidatesReport, noisy: NoisySpec) -> NoisyCandidatesReport:
    """The report with one line for all tables of pairs that are not chosen yet: these have the same noise."""
    of_rows = noisy.of_rows
    assert of_rows is not None
    declared = len(noisy.tables) - len(of_rows.pairs)
    places_kept = slice(0, declared + 1)
    name = f"{len(of_rows.pairs)} chosen pairs, each with {of_rows.target}"
    return replace(
        report,
        tables=(*report.tables[:declared], name),
        groups=(*report.groups[:declared], 0),
        candidates=tuple(replace(candidate, errors=candidate.errors[places_kept]) for candidate in report.candidates),
        beside=tuple(replace(released, errors=released.errors[places_kept]) for released in report.beside),
    )


def _try(budget: Budget, spec: ReleaseSpec, number: int, epsilon: Fraction, places: Sequence[int]) -> NoisyCandidate:
    """A candidate by the declarations."""
    noisy = spec.noisy
    assert noisy is not None
    names = tuple(noisy.tables[place].name for place in places)
    candidate = NoisyCandidate(number, float(epsilon), names)
    if epsilon > budget.limits[0]:
        return replace(candidate, refused=f"more than the budget {noisy.budget.name} has, {float(budget.limits[0]):g}")
    names_used = {name.lower() for place in places for name in noisy.tables[place].by}
    tried = replace(
        spec,
        noisy=replace(noisy, epsilon=epsilon, tables=tuple(noisy.tables[place] for place in places)),
        columns=tuple(column for column in spec.columns if column.role != "quasi" or column.name.lower() in names_used),
    )
    if len(places) < len(noisy.tables):  # rows are drawn of all their tables or of none
        assert tried.noisy is not None
        tried = replace(tried, noisy=replace(tried.noisy, of_rows=None))
    shape = shape_of(tried)
    try:
        noise = noise_of(shape)
    except PolicyError as error:
        return replace(candidate, refused=error.problems[0])
    errors = {name: _expect_distance(shape, noise, place) for place, name in enumerate(names)}
    return replace(
        candidate,
        law=noise.law,
        cost=float(total_epsilon(noise.mechanisms, budget.limits[1])),
        versions=count_versions(budget, noise.mechanisms),
        errors=tuple(errors.get(table.name) for table in noisy.tables),
    )


def _expect_distance(shape: Shape, noise: Noise, table: int) -> float:
    """The mean distance between the published and the bounded number of rows of a finest group."""
    levels = shape.published[table].levels
    measure = next(place for place, measure in enumerate(shape.spec.measures) if measure.quantity == "rows")
    series = [shape.find_series(table, level, measure, "rows") for level in range(len(levels))]
    if len(series) == 1:
        return mean_distance(noise.law, float(noise.scales[series[0]])) / shape.series[series[0]].steps
    deviations = [noise.deviation(place) for place in series]
    _, spreads = make_consistent(levels, [np.zeros(level.size) for level in levels], deviations)
    # Of a sum of several numbers the distance is about that of a normal number.
    return mean_distance("gaussian", float(np.mean(spreads[-1])))


def read_epsilons(texts: Sequence[str]) -> tuple[Fraction, ...]:
    """Epsilons as a command has them.

    Raises:
        PolicyError: a text is no decimal number above 0.

    >>> [float(one) for one in read_epsilons(["0.5", "4"])]
    [0.5, 4.0]
    """
    epsilons = []
    for text in texts:
        try:
            number = Fraction(text) if "/" not in text else Fraction(0)
        except ValueError:
            number = Fraction(0)
        if not 0 < number <= LARGEST_EPSILON:
            raise PolicyError(f"compare: --epsilon: numbers above 0, at most {LARGEST_EPSILON}, such as 0.5,1,4")
        epsilons.append(number)
    return tuple(dict.fromkeys(epsilons))
