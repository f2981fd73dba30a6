"""The tables and groups of differentially private statistics, from the models of a policy."""

from __future__ import annotations

import itertools
from fractions import Fraction

from sqlanon.column_spec import ColumnSpec, Hierarchy, HierarchyTable
from sqlanon.declared.records import Path
from sqlanon.declared.values import read_exact
from sqlanon.declared.words import join_words, near, show
from sqlanon.noisy_spec import NoisyTable
from sqlanon.policy.builders import build_hierarchy
from sqlanon.policy.checks import Files
from sqlanon.policy.noisy_models import NoisyModel, NoisyTableModel
from sqlanon.policy.problems import Problems
from sqlanon.policy.sections import NOISY_TABLE

MOST_BINS = 1000


def read_tables(statistics: NoisyModel, base: Path, problems: Problems) -> tuple[NoisyTable, ...] | None:
    """The tables, each by declared groups; None: there is a problem."""
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


def read_groups(
    statistics: NoisyModel, base: Path, problems: Problems, files: Files
) -> tuple[list[ColumnSpec], Groups, Bins]:
    """The columns of the groups, the listed values of some, and the ends of the bins of others."""
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
