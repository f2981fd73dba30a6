"""Differentially private statistics: from budgets and releases of a policy file to their specs.

Here belong all checks that need no database. Nothing is spent here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path as FilePath
from typing import Any

from sqlanon.column_spec import ColumnSpec
from sqlanon.declared.kinds import name_parts
from sqlanon.declared.records import BROKEN, Path
from sqlanon.declared.words import join_words, near, show
from sqlanon.lake_names import lake_of
from sqlanon.noisy_spec import BudgetSpec, NoisyMeasure, NoisySpec
from sqlanon.policy.checks import Files
from sqlanon.policy.noisy_measures import check_contributions, read_arrivals, read_measure
from sqlanon.policy.noisy_models import BudgetModel, NoisyModel, NoisyReleaseModel
from sqlanon.policy.noisy_rows import read_rows
from sqlanon.policy.noisy_tables import read_groups, read_tables
from sqlanon.policy.problems import Problems
from sqlanon.policy.sections import BUDGET, NOISY_RELEASE, RELEASE
from sqlanon.spec import PrivacySpec, RefreshSpec, ReleaseSpec

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
    tables = read_tables(statistics, statistics_path, problems)
    if budget is None or tables is None:
        return None
    person = _find_person(model.source, budget, path, problems)
    columns, values, bins = read_groups(statistics, statistics_path, problems, files)
    measures = tuple(
        parsed
        for name, measure in statistics.measures.items()
        if (parsed := read_measure(name, measure, (*statistics_path, "measures", name), problems)) is not None
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
    check_contributions(statistics, budget, tables, measures, statistics_path, problems)
    if statistics.running is not None:
        measures = read_arrivals(statistics, budget, measures, statistics_path, problems)
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
