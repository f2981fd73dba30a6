"""Synthetic rows of noisy statistics: from a policy file to their spec."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from sqlanon.declared.records import Path
from sqlanon.declared.words import near, show
from sqlanon.noisy_spec import NoisyMeasure, NoisyTable, RowsSpec
from sqlanon.policy.noisy_models import NoisyModel
from sqlanon.policy.problems import Problems

Names = tuple[tuple[str, str], ...]
FEWEST = 3
"""Columns of synthetic rows, at least: a target and a pair."""


def read_rows(
    statistics: NoisyModel,
    tables: Sequence[NoisyTable],
    measures: Sequence[NoisyMeasure],
    base: Path,
    problems: Problems,
) -> RowsSpec | None:
    """The synthetic rows; None: there are none, or a problem was noted.

    Args:
        statistics: the statistics.
        tables: those that are declared.
        measures: those that could be read.
        base: the place of the statistics.
        problems: collects the problems.
    """
    model, path = statistics.rows, (*base, "rows")
    if model is None:
        return None
    spelled = {name.lower(): name for name in statistics.groups}
    target = spelled.get(model.target.lower())
    if target is None:
        problems.add((*path, "target"), f"no column of groups{near(model.target, statistics.groups)}", "one of groups")
        return None
    columns = [name for name in statistics.groups if name != target]
    if len(columns) + 1 < FEWEST:
        problems.add((*base, "groups"), f"fewer than {FEWEST} columns, of which no rows are drawn", "more columns")
        return None
    contributions = statistics.contributions
    if (contributions.groups, contributions.rows) != (1, 1):
        what = "rows are drawn for tables of one row a person, and more of a person are counted"
        problems.add((*base, "contributions"), what, "contributions: {groups: 1, rows: 1}")
    if sum(measure.quantity == "rows" for measure in measures) != 1 and not problems.broken((*base, "measures")):
        problems.add((*base, "measures"), "rows are drawn of one number of rows of each group", "one measure n: rows")
    table_names = {", ".join((*pair, target)) for pair in itertools.permutations(columns, 2)}
    if any(table.name in table_names for table in tables):
        what = "a table has the name of one that the rows may be drawn of"
        problems.add((*base, "tables"), what, "another name, or leave the table out: it is measured for the rows")
    if model.pairs is None:
        return RowsSpec(target, tuple(itertools.pairwise(columns)), chosen=True, bins=model.bins)
    pairs = _read_pairs(model.pairs, spelled, columns, (*path, "pairs"), problems)
    return None if pairs is None else RowsSpec(target, pairs, chosen=False, bins=model.bins)


def _read_pairs(
    raw: object, spelled: dict[str, str], others: Sequence[str], path: Path, problems: Problems
) -> Names | None:
    """The pairs in an order in which each has one column of those before."""
    allowed = "pairs of columns without the target that join all of them without a circle: [[age, sex], [age, race]]"
    unordered_pairs: list[tuple[str, str]] = []
    for pair in raw if isinstance(raw, list | tuple) else ():
        names = [spelled.get(str(name).lower(), "") for name in pair] if isinstance(pair, list | tuple) else []
        if len(names) != 2 or not set(names) <= set(others):
            problems.add(path, "not two columns of groups other than the target", allowed)
            return None
        unordered_pairs.append((names[0], names[1]))
    reached, ordered = {others[0]}, []
    while (pair := next((pair for pair in unordered_pairs if len(reached.intersection(pair)) == 1), None)) is not None:
        unordered_pairs.remove(pair)
        reached |= set(pair)
        ordered.append(pair)
    if unordered_pairs or len(reached) < len(others):
        what = (
            "a circle"
            if unordered_pairs
            else f"they do not reach {show(next(name for name in others if name not in reached))}"
        )
        problems.add(path, what, allowed)
        return None
    return tuple(ordered)
