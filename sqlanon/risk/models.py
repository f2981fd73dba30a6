"""Every privacy model of the registry, measured on a table that nobody asked anything of.

A model measures the value that its worst class reaches whatever is asked (`Requirement.measure`), so each is asked the
least here. Where a model has several forms (distances of t, kinds of beta), each is measured. The distance of t is that
of `sqlanon.risk.closeness`, whose cost does not grow with classes times values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from sqlanon.declared import REQUIREMENTS
from sqlanon.declared.parameters import Alpha, Beta, Closeness, Delta, Recursive
from sqlanon.engines.base import Engine, Relation
from sqlanon.privacy.base import Grouped, as_number
from sqlanon.privacy.counts import Counts, OfCounts, count_values
from sqlanon.privacy.requirements import class_of
from sqlanon.results import ModelFigure
from sqlanon.risk.attackers import MatchedClasses
from sqlanon.risk.closeness import find_farthest
from sqlanon.spec import PrivacySpec

ONE = Fraction(1)
CS = (1, 3)
"""The c of recursive (c, l)-diversity for which l is measured."""
_ANY_BETA = Fraction(10**12)
"""No share of a value is raised so much: enhanced beta-likeness that fails with it fails by -ln p alone."""

Asked = tuple[str, Any]
"""A form of a model, and the level in a policy."""


def _forms(ordered: bool) -> dict[str, Sequence[Asked]]:
    """Per model of this package its forms; ``ordered``: the sensitive column has an order."""
    distances = ("equal", "ordered") if ordered else ("equal",)
    return {
        "k": [("", 1)],
        "l": [("", ONE)],
        "distinct_l": [("", 1)],
        "entropy_l": [("", ONE)],
        "recursive_cl": [(f"l for c={c}", Recursive(Fraction(c), 1)) for c in CS],
        "alpha": [("", Alpha(ONE))],
        "t": [(distance, Closeness(ONE, distance)) for distance in distances],
        "beta": [("basic", Beta("basic", _ANY_BETA)), ("enhanced", Beta("enhanced", _ANY_BETA))],
        "delta_disclosure": [(f"absent {absent}", Delta(ONE, absent)) for absent in ("ignored", "violates")],
    }


def measure_models(
    engine: Engine, relation: Relation, quasi: Sequence[str], sensitive: Sequence[str]
) -> tuple[tuple[ModelFigure, ...], tuple[str, ...]]:
    """Level of every model over the classes of ``quasi``, and models that are not measured, with the reason.

    Args:
        engine: where the table is.
        relation: the table.
        quasi: columns that make the classes; none: all rows are one class.
        sensitive: the sensitive columns, each looked at by itself.

    Cost: one grouping of the table for each sensitive column, and memory for some numbers for each different value of
    a class.
    """
    # Those over a population: see `in_population`.
    names = [name for name, declared in REQUIREMENTS.items() if not declared.population]
    missing = [
        f"{name}: a model of an extension, or one that needs more than this table"
        for name in names
        if name not in _forms(False)
    ]
    kinds = {column.name: column.kind for column in relation.columns}
    figures: dict[str, list[ModelFigure]] = {name: [] for name in names if name in _forms(False)}
    for column in (None, *sensitive):
        forms = _forms(column is not None and kinds[column] not in ("text", "enum", "other"))
        names_asked = [name for name in figures if (REQUIREMENTS[name].sensitive == 0) == (column is None)]
        counts = None if column is None else count_values(engine, relation.ref, quasi, column)
        for name in names_asked:
            figures[name] += _figures(
                engine, Grouped(relation.ref, quasi, () if column is None else (column,)), counts, name, forms[name]
            )
    return tuple(figure for figures in figures.values() for figure in figures), tuple(missing)


def in_population(matched: MatchedClasses) -> tuple[ModelFigure, ...]:
    """Level of the models over a population, by classes of equal values.

    A row of the population that is in no class of the table has probability 0 of being in it.
    """
    here = matched.n > 0
    share = matched.n / matched.held
    return (
        ModelFigure("k_map", None, "", int(matched.held[here].min()), False),
        ModelFigure("delta_presence", None, "max", float(share.max()), True),
        ModelFigure("delta_presence", None, "min", float(share.min()), False),
    )


def _figures(
    engine: Engine, rows: Grouped, counts: Counts | None, name: str, forms: Sequence[Asked]
) -> Iterator[ModelFigure]:
    """The figures of one model; ``counts``: of the sensitive column, None for a model that looks at none."""
    column = rows.names[0] if rows.names else None
    for form, value_asked in forms:
        if name == "t" and counts is not None:
            yield ModelFigure(name, column, form, find_farthest(counts, ordered=form == "ordered"), True)
            continue
        if name in _LEAST and counts is not None:
            yield ModelFigure(name, column, form, as_number(_LEAST[name](counts)), False)
            continue
        (model,) = class_of(REQUIREMENTS[name]).from_policy(PrivacySpec.of({name: value_asked}), tuple(rows.names), ())
        if isinstance(model, OfCounts) and counts is not None:
            reached = model.judge_within(counts, engine, rows.table, rows.names[0])
        else:
            reached = model.measure(engine, rows)
        fails = reached.failing > 0 and form in ("enhanced", "absent violates") and _fails_always(form, reached.reached)
        value = None if fails else as_number(reached.reached)
        yield ModelFigure(name, column, form, value, model.at_most)


def _least_frequency(counts: Counts) -> Fraction:
    """The least 1 / share of the most frequent value of a class."""
    import numpy as np

    rows, top = counts.rows, np.maximum.reduceat(counts.n, counts.start)
    worst = int((rows / top).argmin())
    return Fraction(int(rows[worst]), int(top[worst]))


def _least_distinct(counts: Counts) -> Fraction:
    """The fewest different values of a class; NULL is one."""
    import numpy as np

    return Fraction(int(np.diff(np.append(counts.start, len(counts.n))).min()))


_LEAST = {"l": _least_frequency, "distinct_l": _least_distinct}


def _fails_always(form: str, reached: Fraction) -> bool:
    """Whether failing classes would fail at any level."""
    from sqlanon.privacy.delta.requirement import INFINITE

    return form == "enhanced" or reached == INFINITE
