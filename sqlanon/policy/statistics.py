"""A release of counts: from its mapping in a policy file to the spec.

Such a release has keys of its own: those about classes of rows do not apply.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from sqlanon.column_spec import ColumnSpec, Hierarchy
from sqlanon.declared.records import BROKEN, Path
from sqlanon.declared.words import join_words, near, show
from sqlanon.lake_names import lake_of
from sqlanon.policy.builders import build_hierarchy
from sqlanon.policy.checks import Files
from sqlanon.policy.decision import build_context, build_threshold
from sqlanon.policy.measures import read_measures
from sqlanon.policy.models import CountedTableModel, CountsCohortModel, StatisticsReleaseModel
from sqlanon.policy.problems import Problems
from sqlanon.policy.protect import read_protection, read_show
from sqlanon.policy.sections import COUNTED_TABLE, RELEASE, STATISTICS_RELEASE
from sqlanon.spec import PrivacySpec, RefreshSpec, ReleaseSpec
from sqlanon.statistics_spec import StatisticsSpec, StatisticsTable

KEY = "statistics"
"""The key of a release of counts."""
Reader = Callable[[Mapping[str, Any], Path, Problems, Files, Callable[[str], str]], ReleaseSpec | None]
"""Reads a release by mapping and place; see `read_statistics`."""


def read_statistics(
    raw: Mapping[str, Any], path: Path, problems: Problems, files: Files, view: Callable[[str], str]
) -> ReleaseSpec | None:
    """The spec of a release of counts; None if nothing is left of it.

    Args:
        raw: mapping of the release, with the key `KEY`.
        path: where it is.
        problems: collects the problems.
        files: reads hierarchies.
        view: the view of a release without a named view, by the release's name.
    """
    statistics = raw[KEY]
    kinds = [key for key in READERS if isinstance(statistics, Mapping) and key in statistics]
    if len(kinds) > 1:
        problems.add((*path, KEY), f"{join_words(map(show, kinds))} are different protections", f"one of {kinds}")
        return None
    return READERS[kinds[0] if kinds else PROTECT](raw, path, problems, files, view)


def read_protected(
    raw: Mapping[str, Any], path: Path, problems: Problems, files: Files, view: Callable[[str], str]
) -> ReleaseSpec | None:
    """The spec of a release with protected small cells; see `read_statistics`."""
    settings = {}
    for key, value in raw.items():
        if key in RELEASE.parts and key not in STATISTICS_RELEASE.parts:
            what = f"{key} is about rows and their classes, and this release has counts"
            problems.add((*path, key), what, "leave it out; columns and protect are keys of statistics")
        else:
            settings[key] = value
    model = STATISTICS_RELEASE.read_at(settings, path, problems.add)
    if model is BROKEN or not isinstance(model, StatisticsReleaseModel):
        return None
    statistics, statistics_path = model.statistics, (*path, KEY)
    tables = _read_tables(statistics.tables, (*statistics_path, "tables"), statistics.columns, problems)
    if tables is None:
        return None
    persons = {name.lower() for name in model.person}
    columns = []
    for name, column in statistics.columns.items():
        if name.lower() in persons:
            problems.add(
                (*statistics_path, "columns", name), "the column of the person", "columns that many persons share"
            )
        hierarchy = None
        if column.hierarchy is not None:
            place = (*statistics_path, "columns", name, "hierarchy")
            hierarchy = build_hierarchy(place, name, column.hierarchy, problems, files.hierarchy)
            if column.hierarchy.other is not None:
                problems.add((*place, "other"), "counts of values that are not listed", "leave it out, and list all")
        columns.append(ColumnSpec(name, "quasi", hierarchy=hierarchy))
    unused = [
        name for name in statistics.columns if name.lower() not in {column.lower() for t in tables for column in t.by}
    ]
    if unused and not problems.broken((*statistics_path, "tables")):
        problems.add(
            (*statistics_path, "columns"), f"no table counts by {join_words(map(show, unused))}", "leave it out"
        )
    counts, sums = read_measures(statistics.measures, statistics.columns, (*statistics_path, "measures"), problems)
    for measure in sums:
        if measure.column.lower() in persons:
            problems.add(
                (*statistics_path, "measures", measure.name, "sum"), "the column of the person", "another column"
            )
    every = {name.lower() for name in statistics.columns}
    whole = any({name.lower() for name in table.by} >= every for table in tables)
    protect, protect_path = statistics.protect, (*statistics_path, "protect")
    protection = read_protection(protect, raw[KEY]["protect"], protect_path, problems)
    if protection is not None and not whole and not problems.broken(statistics_path):
        what = "no table has all columns, so that it is not known of which numbers the cells are sums"
        problems.add((*statistics_path, "tables"), what, "a table by all columns")
    spec = StatisticsSpec(tables, counts, protect.persons, protect.insiders, protect.bounds, sums, protection)
    broken = problems.broken((*statistics_path, "columns"))
    must = () if broken else read_show(protect, tables, _heights(columns), (*protect_path, "show"), problems)
    cohort = _read_cohort(model, path, problems)
    if cohort is not None:
        assert model.refresh is not None
        spec = replace(spec, cohort=cohort.persons, cohort_every=cohort.every, lineage_age=model.refresh.lineage)
    spec = replace(spec, together=model.together, show=must)
    _check_together(spec, model.name, path, problems)
    _check_refresh(spec, path, problems)
    if protect.method == "cell_key" and model.null_person == "distinct":
        problems.add((*path, "null_person"), "the noise of a cell depends on who is in it", "one, or leave it out")
    if sums and protection is not None:
        problems.add((*statistics_path, "measures"), "noise and rounding of sums are not built", "counts alone")
    _check_names(spec, list(statistics.columns), statistics_path, problems)
    refresh = model.refresh
    if refresh is not None and refresh.signers and not refresh.needs_approval:
        what = "without needs_approval no approval is read"
        problems.add((*path, "refresh", "signers"), what, "needs_approval: true")
    lake = model.publish is not None and lake_of(model.publish) is not None
    return ReleaseSpec(
        name=model.name,
        source=model.source,
        columns=(
            *columns,
            *(ColumnSpec(measure.column, "sensitive") for measure in sums),
            *(ColumnSpec(name, "identifier") for name in model.person),
        ),
        privacy=PrivacySpec(),
        publish=view(model.name) if lake else model.publish or view(model.name),
        publish_lake=model.publish if lake else None,
        rest="drop",
        rows_are="events",
        person=model.person,
        persons="ignored",
        null_person=model.null_person,
        row_security=model.row_security,
        readers=model.readers,
        refresh=RefreshSpec(
            every=model.every,
            needs_approval=refresh is not None and refresh.needs_approval,
            signers=refresh.signers if refresh is not None else (),
        ),
        context=build_context(model.context),
        threshold=build_threshold(model.threshold, path, problems, partial(_check_threshold, model, problems)),
        review=model.review,
        statistics=spec,
    )


def _read_tables(
    raw: object, path: Path, columns: Mapping[str, object], problems: Problems
) -> tuple[StatisticsTable, ...] | None:
    tables: list[StatisticsTable] = []
    for index, item in enumerate(raw if isinstance(raw, list) else []):
        model = COUNTED_TABLE.read_at(item, (*path, index), problems.add)
        if not isinstance(model, CountedTableModel):
            return None
        spelled = {name.lower(): name for name in columns}
        for name in model.by:
            if name.lower() not in spelled:
                what = f"{show(name)} is not a column of statistics{near(name, columns)}"
                problems.add((*path, index, "by"), what, f"columns: {join_words(map(show, columns)) or 'none'}")
        if len({name.lower() for name in model.by}) < len(model.by):
            problems.add((*path, index, "by"), "a column is named twice", "each column once")
        if any(table.name == model.name for table in tables):
            problems.add((*path, index, "name"), "the name of another table", "each table has its own")
        tables.append(StatisticsTable(model.name, tuple(spelled.get(name.lower(), name) for name in model.by)))
    return None if problems.broken(path) else tuple(tables)


def _check_together(spec: StatisticsSpec, name: str, path: Path, problems: Problems) -> None:
    """What is not built for counts next to rows."""
    if len(spec.together) > 1:
        what = "several releases of rows: next to all of them counts are not one system"
        problems.add((*path, "together"), what, "one")
    if not spec.together:
        return
    if name in spec.together:
        problems.add((*path, "together"), "the release itself, which has no rows", "a release of rows")
    if spec.other is not None:
        problems.add((*path, "together"), "it is built for hidden cells alone", "leave it out")


def _read_cohort(model: StatisticsReleaseModel, path: Path, problems: Problems) -> CountsCohortModel | None:
    """When a version follows, where versions follow one another; None: there is one version."""
    refresh = model.refresh
    if refresh is None or (refresh.mode is None and refresh.cohort is None and refresh.lineage is None):
        return None
    if refresh.mode is None or refresh.cohort is None:
        missing = "mode" if refresh.mode is None else "cohort"
        example = "mode: frozen" if refresh.mode is None else "cohort: {persons: 200}"
        problems.add((*path, "refresh"), f"{missing} is missing: versions that follow one another need both", example)
        return None
    return refresh.cohort


def _check_refresh(spec: StatisticsSpec, path: Path, problems: Problems) -> None:
    """What is not built for several versions."""
    if spec.cohort is None:
        return
    if spec.lineage_age is not None and spec.sums:
        problems.add((*path, "refresh", "lineage"), "new lineages are not built with sums", "leave it out")
    if spec.other is not None:
        problems.add((*path, "refresh", "mode"), "versions are built for hidden cells alone", "leave it out")
    if spec.cohort <= spec.threshold:
        what = f"while no version follows, readers know that fewer than {spec.cohort} persons are new: too few to say"
        problems.add((*path, "refresh", "cohort", "persons"), what, f"more than protect: {{persons: {spec.threshold}}}")


def _heights(columns: Sequence[ColumnSpec]) -> dict[str, int | None]:
    """How many levels each column has below its total; None: a run knows."""
    heights: dict[str, int | None] = {}
    for column in columns:
        hierarchy = column.hierarchy
        heights[column.name] = hierarchy.height if isinstance(hierarchy, Hierarchy) else None if hierarchy else 1
    return heights


def _check_threshold(model: StatisticsReleaseModel, problems: Problems, place: Path) -> None:
    """A run measures the persons of shown cells, where cells are hidden."""
    assert model.threshold is not None
    if model.statistics.protect.method != "suppress":
        what = "numbers that are changed promise no number of persons"
        problems.add(place, what, "leave it out, or take method: suppress")
    elif model.threshold.attacker != "prosecutor":
        problems.add((*place, "attacker"), "counts have the risk of who knows a person's columns", "prosecutor")


def _check_names(spec: StatisticsSpec, columns: list[str], path: Path, problems: Problems) -> None:
    """No two columns of the view have the same name."""
    ends = ["", *(["_low", "_high"] if spec.has_ends else []), *(["_tight"] if spec.bounds == "exact" else [])]
    names = [column for name in columns for column in (name, f"level_{name}")]
    measures = [*(name for name, _ in spec.measures), *(measure.name for measure in spec.sums)]
    names += [f"{name}{end}" for name in measures for end in ends] + ["status", "as_of"]
    folded = [name.lower() for name in names]
    twice = sorted({name for name in folded if folded.count(name) > 1})
    if twice:
        problems.add(
            (*path, "measures"), f"two columns of the view would be called {join_words(map(show, twice))}", "others"
        )


PROTECT = "protect"
READERS: Final[Mapping[str, Reader]] = {PROTECT: read_protected}
"""Protections by the key of ``statistics`` that asks for them; without any the first reads it, and misses the key."""
