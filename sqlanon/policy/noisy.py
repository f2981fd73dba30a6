"""Differentially private statistics: from budgets and releases of a policy file to their specs.

Here belong all checks that need no database. Nothing is spent here.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path as FilePath
from typing import Any

from sqlanon.column_spec import ColumnSpec, Hierarchy, HierarchyTable
from sqlanon.declared.kinds import name_parts
from sqlanon.declared.records import BROKEN, Path
from sqlanon.declared.values import read_exact
from sqlanon.declared.words import join_words, near, show
from sqlanon.lake_names import lake_of
from sqlanon.noisy_spec import BudgetSpec, NoisyMeasure, NoisySpec, NoisyTable
from sqlanon.policy.builders import build_hierarchy
from sqlanon.policy.checks import Files
from sqlanon.policy.noisy_models import BudgetModel, NoisyMeasureModel, NoisyModel, NoisyReleaseModel, NoisyTableModel
from sqlanon.policy.noisy_rows import read_rows
from sqlanon.policy.problems import Problems
from sqlanon.policy.sections import BUDGET, NOISY_RELEASE, NOISY_TABLE, RELEASE
from sqlanon.spec import PrivacySpec, RefreshSpec, ReleaseSpec

MOST_BINS = 1000
MOST_STEPS = 2**30
"""Multiples of the unit in a range, at most: sums over 2**31 rows fit 62 bits."""
MOST_WEIGHED = 2**21
"""Weight times the range of a measure in units, at most: weighed sums of 2**31 persons fit 62 bits."""
NEEDS_DELTA = "this has Gaussian noise, which needs the budget's delta"
OWN_COLUMNS = ("table", "level", "shown", "_sqlanon_order")
"""Columns of the noisy table that are no groups and no measures."""

Budgets = Mapping[str, BudgetSpec]


def is_noisy(raw: object) -> bool:
    """Whether the mapping of a release asks for differentially private statistics: `statistics` has a `budget`."""
    statistics = raw.get("statistics") if isinstance(raw, dict) else None
    return isinstance(statistics, dict) and "budget" in statistics


def read_budgets(raw: object, problems: Problems, base: FilePath) -> dict[str, BudgetSpec]:
    """The budgets of a policy, by name; anchors are relative to the folder of the file, ``base``."""
    budgets: dict[str, BudgetSpec] = {}
    owners: dict[tuple[str, ...], str] = {}
    for index, item in enumerate(raw if isinstance(raw, list) else []):
        path: Path = ("budgets", index)
        model = BUDGET.read_at(item, path, problems.add)
        if not isinstance(model, BudgetModel):
            continue
        if model.name in budgets:
            problems.add((*path, "name"), "the name of another budget", "each budget has its own name")
        if not model.persons:
            problems.add((*path, "persons"), "no table", "persons: {stays: patient_id}")
        for table in model.persons:
            place = tuple(part.casefold() for part in name_parts(table) or ())
            if not place:
                problems.add((*path, "persons"), f"{show(table)} is not the name of a table", "schema.table")
            elif owners.setdefault(place, model.name) != model.name:
                what = f"{show(table)} is a table of the budget {show(owners[place])}"
                problems.add((*path, "persons"), what, "two budgets of the same persons are no bound: name it in one")
        if model.delta * model.most_persons > 1:
            # The source is not asked: it is not read before a version is charged.
            what = (
                f"above one in {model.most_persons:,} persons: a mechanism that publishes somebody outright would "
                "satisfy it"
            )
            allowed = "a smaller one, or most_persons: how many persons there are at most, a public number"
            problems.add((*path, "delta"), what, allowed)
        anchor = None if model.anchor is None else str((base / model.anchor).resolve())
        persons = tuple(model.persons.items())
        budgets[model.name] = BudgetSpec(model.name, persons, model.epsilon, Fraction(model.delta), anchor)
    return budgets


def read_noisy(
    raw: Mapping[str, Any],
    path: Path,
    problems: Problems,
    files: Files,
    view: Callable[[str], str],
    budgets: Budgets,
) -> ReleaseSpec | None:
    """The spec of a release; None if nothing is left of it.

    Args:
        raw: mapping of the release, for which `is_noisy` holds.
        path: where it is.
        problems: collects the problems.
        files: reads hierarchies.
        view: the view of a release without a named view, by the release's name.
        budgets: those of the file.
    """
    settings = {}
    for key, value in raw.items():
        if key in RELEASE.parts and key not in NOISY_RELEASE.parts:
            what = f"{key} is about rows and their classes, and this release has differentially private statistics"
            problems.add((*path, key), what, "leave it out")
        else:
            settings[key] = value
    model = NOISY_RELEASE.read_at(settings, path, problems.add)
    if model is BROKEN or not isinstance(model, NoisyReleaseModel):
        return None
    statistics, statistics_path = model.statistics, (*path, "statistics")
    budget = _find_budget(statistics.budget, statistics_path, problems, budgets)
    tables = _read_tables(statistics, statistics_path, problems)
    if budget is None or tables is None:
        return None
    person = _find_person(model.source, budget, path, problems)
    columns, values, bins = _read_groups(statistics, statistics_path, problems, files)
    measures = tuple(
        parsed
        for name, measure in statistics.measures.items()
        if (parsed := _read_measure(name, measure, (*statistics_path, "measures", name), problems)) is not None
    )
    if not statistics.measures and not problems.broken((*statistics_path, "measures")):
        problems.add((*statistics_path, "measures"), "no measure", "n: rows, or persons: persons")
    quantities = {measure.quantity for measure in measures}
    if (
        statistics.show is not None
        and "persons" not in quantities
        and not problems.broken((*statistics_path, "measures"))
    ):
        problems.add((*statistics_path, "show"), "no measure counts persons", "add a measure such as people: persons")
    if statistics.epsilon > budget.epsilon:
        problems.add(
            (*statistics_path, "epsilon"), f"more than the budget {show(budget.name)} has", "spend less in a version"
        )
    if statistics.noise == "gaussian" and budget.delta == 0:
        problems.add(
            (*statistics_path, "noise"), "Gaussian noise needs a delta", "give the budget a delta, or noise: laplace"
        )
    _check_contributions(statistics, budget, tables, measures, statistics_path, problems)
    if statistics.running is not None:
        measures = _read_arrivals(statistics, budget, measures, statistics_path, problems)
    _check_names(model.name, statistics, measures, statistics_path, problems)
    of_rows = read_rows(statistics, tables, measures, statistics_path, problems)
    spec = NoisySpec(
        budget,
        statistics.epsilon,
        (*tables, *(of_rows.tables if of_rows else ())),
        values,
        bins,
        measures,
        statistics.contributions.groups or 0,
        statistics.contributions.rows or 0,
        statistics.noise,
        statistics.show.persons if statistics.show is not None else None,
        statistics.kept and statistics.running is None,
        statistics.running.nights if statistics.running is not None else None,
        statistics.contributions.weight,
        of_rows,
    )
    lake = model.publish is not None and lake_of(model.publish) is not None
    if lake and model.publish_file is not None:
        problems.add((*path, "publish_file"), "publish names a lake table", "one of both")
    return ReleaseSpec(
        name=model.name,
        source=model.source,
        columns=(*columns, *(ColumnSpec(name, "identifier") for name in person)),
        privacy=PrivacySpec(),
        publish=view(model.name) if lake else model.publish or view(model.name),
        publish_file=model.publish_file,
        publish_lake=model.publish if lake else None,
        rest="drop",
        rows_are="events",
        person=person,
        persons="ignored",
        row_security=model.row_security,
        readers=model.readers,
        refresh=RefreshSpec(every=model.every),
        noisy=spec,
    )


def _find_budget(name: str, base: Path, problems: Problems, budgets: Budgets) -> BudgetSpec | None:
    budget = budgets.get(name)
    if budget is None and not problems.broken(("budgets",)):
        what = f"{show(name)} is no budget of this file{near(name, budgets)}"
        problems.add((*base, "budget"), what, f"budgets: {join_words(map(show, budgets)) or 'none'}")
    return budget


def _find_person(source: str, budget: BudgetSpec, path: Path, problems: Problems) -> tuple[str, ...]:
    """The columns that identify the person of a row."""
    parts = [part.casefold() for part in name_parts(source) or ()]
    for table, columns in budget.persons:
        if [part.casefold() for part in name_parts(table) or ()] == parts:
            return columns
    what = f"{show(source)} is no table of the budget {show(budget.name)}, so that nothing says whose rows they are"
    problems.add((*path, "source"), what, f"tables: {join_words(show(table) for table, _ in budget.persons)}")
    return ()


def _read_tables(statistics: NoisyModel, base: Path, problems: Problems) -> tuple[NoisyTable, ...] | None:
    tables: list[NoisyTable] = []
    path = (*base, "tables")
    spelled = {name.lower(): name for name in statistics.groups}
    grouped_names: set[str] = set()
    for index, item in enumerate(statistics.tables if isinstance(statistics.tables, list) else []):
        model = NOISY_TABLE.read_at(item, (*path, index), problems.add)
        if not isinstance(model, NoisyTableModel):
            return None
        folded = [name.lower() for name in model.by]
        grouped_names |= set(folded)
        for name in model.by:
            if name.lower() not in spelled and not problems.broken((*base, "groups")):
                what = f"the groups of {show(name)} are not declared{near(name, statistics.groups)}"
                allowed = "declare them under groups: a list, bins or a hierarchy; they are never taken from the data"
                problems.add((*path, index, "by"), what, allowed)
        if len(set(folded)) < len(folded):
            problems.add((*path, index, "by"), "a column is named twice", "each column once")
        by = tuple(spelled.get(name.lower(), name) for name in model.by)
        name = model.name or ", ".join(by)
        if any(table.name == name for table in tables):
            problems.add((*path, index), "the name of another table", "each table has its own name")
        tables.append(NoisyTable(name, by, model.totals))
    if not statistics.tables and statistics.rows is None:
        problems.add(path, "no table", "tables: [{by: [region, sex]}]")
    unused = [name for name in statistics.groups if name.lower() not in grouped_names and statistics.rows is None]
    if unused and not problems.broken(path):
        problems.add((*base, "groups"), f"no table is by {join_words(map(show, unused))}", "leave it out")
    return None if problems.broken(path) else tuple(tables)


Groups = tuple[tuple[str, tuple[str, ...]], ...]
Bins = tuple[tuple[str, tuple[Fraction, ...]], ...]


def _read_groups(
    statistics: NoisyModel, base: Path, problems: Problems, files: Files
) -> tuple[list[ColumnSpec], Groups, Bins]:
    columns, values, bins = [], [], []
    for name, model in statistics.groups.items():
        path = (*base, "groups", name)
        kinds = [kind for kind in ("values", "bins", "hierarchy") if getattr(model, kind) is not None]
        if len(kinds) != 1:
            if not problems.broken(path):
                what = f"{join_words(kinds)} together" if kinds else "no groups"
                problems.add(path, what, "one of values, bins and hierarchy")
            continue
        hierarchy = None
        if model.values is not None:
            values.append((name, _read_values(model.values, (*path, "values"), problems)))
        elif model.bins is not None:
            bins.append((name, _read_bins(model.bins, (*path, "bins"), problems)))
        elif model.hierarchy is not None:
            place = (*path, "hierarchy")
            hierarchy = build_hierarchy(place, name, model.hierarchy, problems, files.hierarchy)
            if hierarchy is not None and not isinstance(hierarchy, Hierarchy | HierarchyTable):
                what = "it is made of the values that occur, and groups are never taken from the data"
                problems.add(place, what, "bins, or a hierarchy that lists its values: a file, groups or a table")
            if model.hierarchy.other is not None:
                problems.add((*place, "other"), "groups of values that are not listed", "leave it out")
        columns.append(ColumnSpec(name, "quasi", hierarchy=hierarchy))
    return columns, tuple(values), tuple(bins)


def _read_values(raw: object, path: Path, problems: Problems) -> tuple[str, ...]:
    if not isinstance(raw, list | tuple) or not raw or not all(isinstance(value, str) for value in raw):
        problems.add(path, "not a list of values", "a list of values as text")
        return ()
    if len(set(raw)) < len(raw):
        problems.add(path, "a value is listed twice", "each value once")
    return tuple(raw)


def _read_bins(raw: object, path: Path, problems: Problems) -> tuple[Fraction, ...]:
    allowed = f"2 to {MOST_BINS + 1} ascending decimal numbers"
    try:
        ends = tuple(read_exact(end) for end in raw) if isinstance(raw, list | tuple) else ()
    except ValueError as wrong:
        problems.add(path, str(wrong), allowed)
        return ()
    if not 2 <= len(ends) <= MOST_BINS + 1 or any(low >= high for low, high in itertools.pairwise(ends)):
        problems.add(path, "not ascending ends of intervals", allowed)
    if any(10**9 % end.denominator for end in ends):
        problems.add(path, "too precise", "decimal numbers of at most 9 digits after the point")
    return ends


def _read_measure(name: str, model: NoisyMeasureModel, path: Path, problems: Problems) -> NoisyMeasure | None:
    kinds = [kind for kind in ("count", "sum", "mean", "quantiles") if getattr(model, kind) is not None]
    if len(kinds) != 1:
        if not problems.broken(path):
            what = f"{join_words(kinds)} together" if kinds else "nothing is measured"
            allowed = "rows, persons, {sum: column, range: [0, 100]}, or mean or quantiles in place of sum"
            problems.add(path, what, allowed)
        return None
    if model.of is not None and model.quantiles is None:
        problems.add((*path, "of"), "only quantiles name their column by it", "leave it out")
    if model.count is not None:
        if model.range is not None:
            problems.add((*path, "range"), "rows and persons have no range", "leave it out")
        return NoisyMeasure(name, model.count)
    column = model.sum or model.mean or model.of or name
    allowed = "range: [low, high] in multiples of unit; values beyond are taken as these"
    try:
        ends = tuple(read_exact(end) for end in model.range) if isinstance(model.range, list | tuple) else ()
    except ValueError as wrong:
        problems.add((*path, "range"), str(wrong), allowed)
        return None
    unit = Fraction(model.unit)
    if len(ends) != 2 or ends[0] >= ends[1]:
        what = "is missing: it is declared, never taken from the data" if model.range is None else "not two ends"
        problems.add((*path, "range"), what, allowed)
        return None
    if 10**9 % unit.denominator:
        problems.add((*path, "unit"), "too precise", "a decimal number of at most 9 digits after the point")
    elif any((end / unit).denominator != 1 or abs(end / unit) > MOST_STEPS for end in ends):
        problems.add((*path, "range"), f"not in multiples of the unit, or above {MOST_STEPS} of them", allowed)
    if model.quantiles is None:
        return NoisyMeasure(name, "sum" if model.sum is not None else "mean", column, ends[0], ends[1], unit)
    if ends[1] - ends[0] < 2 * unit:
        problems.add((*path, "range"), "less than two units, of which no quantile is found", "a wider range")
    shares = _read_shares(model.quantiles, (*path, "quantiles"), problems)
    return NoisyMeasure(name, "quantiles", column, ends[0], ends[1], unit, shares, model.steps)


def _check_contributions(
    statistics: NoisyModel,
    budget: BudgetSpec,
    tables: tuple[NoisyTable, ...],
    measures: tuple[NoisyMeasure, ...],
    base: Path,
    problems: Problems,
) -> None:
    """What one person contributes is bounded: by numbers of groups and rows, or by a weight."""
    bounds, path = statistics.contributions, (*base, "contributions")
    if bounds.weight is None:
        for key in ("groups", "rows"):
            if getattr(bounds, key) is None and not problems.broken((*path, key)):
                problems.add((*path, key), "is missing", "groups and rows, or weight")
        return
    if bounds.groups is not None or bounds.rows is not None:
        problems.add(path, "weight together with groups or rows", "groups and rows, or weight")
    if budget.delta == 0 or statistics.noise == "laplace":
        problems.add((*path, "weight"), NEEDS_DELTA, "give the budget a delta, and leave noise: laplace out")
    if statistics.running is not None:
        problems.add((*path, "weight"), "running counts count a person once", "groups and rows")
    if any(table.totals for table in tables):
        what = "totals weigh more than their parts, and only the finest groups are measured"
        problems.add((*path, "weight"), what, "totals: false in each table; query adds groups up")
    for measure in measures:
        size = (measure.high - measure.low) if measure.quantity == "mean" else max(abs(measure.low), abs(measure.high))
        if measure.quantity in ("sum", "mean") and bounds.weight * size > MOST_WEIGHED * measure.unit:
            what = f"weight times range is above {MOST_WEIGHED} units"
            problems.add((*base, "measures", measure.name, "range"), what, "a larger unit, or a narrower range")


def _read_arrivals(
    statistics: NoisyModel, budget: BudgetSpec, measures: tuple[NoisyMeasure, ...], base: Path, problems: Problems
) -> tuple[NoisyMeasure, ...]:
    """The measures of running counts: persons, each counted once."""
    for measure in measures:
        if measure.quantity != "persons":
            what = f"running counts are of persons, and {show(measure.name)} is not"
            problems.add((*base, "measures", measure.name), what, "persons, or another release without running")
    if budget.delta == 0 or statistics.noise == "laplace":
        problems.add((*base, "running"), NEEDS_DELTA, "give the budget a delta, and leave noise: laplace out")
    return tuple(replace(measure, quantity="arrivals") for measure in measures)


def _read_shares(raw: object, path: Path, problems: Problems) -> tuple[Fraction, ...]:
    allowed = "ascending numbers above 0 and below 1, of at most 6 digits after the point"
    try:
        shares = tuple(read_exact(share) for share in raw) if isinstance(raw, list | tuple) else ()
    except ValueError as wrong:
        problems.add(path, str(wrong), allowed)
        return ()
    inside = all(0 < share < 1 and 10**6 % share.denominator == 0 for share in shares)
    if not shares or not inside or any(share >= following for share, following in itertools.pairwise(shares)):
        problems.add(path, "no quantiles", allowed)
        return ()
    return shares


def _check_names(
    release: str, statistics: NoisyModel, measures: tuple[NoisyMeasure, ...], base: Path, problems: Problems
) -> None:
    """No two columns of the view have the same name."""
    names = [
        *OWN_COLUMNS,
        *(("night",) if statistics.running is not None else ()),
        *statistics.groups,
        *(f"{name}{end}" for measure in measures for name in measure.columns for end in ("", "_low", "_high")),
    ]
    folded = [name.lower() for name in names]
    twice = sorted({name for name in folded if folded.count(name) > 1})
    if twice:
        what = f"two columns of the view of {show(release)} would be called {join_words(map(show, twice))}"
        problems.add((*base, "measures"), what, "other names")
