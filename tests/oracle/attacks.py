"""An attacker in plain Python.

Published rows and source rows as lists of values, every set of known columns, fractions.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Column:
    """A quasi column: ``kind`` number, nominal or hierarchy, and of a hierarchy the leaves under every label."""

    name: str
    kind: str
    below: Mapping[str, frozenset[str]] = frozenset()  # type: ignore[assignment]


def _label(column: Column, text: str, value: Any) -> bool:
    """Format labels, of values that need no quotes."""
    if column.kind == "hierarchy" and text != "NULL":
        return value in column.below[text] if value is not None else text == "*"
    if text == "*":
        return True
    if text == "NULL":
        return value is None
    if value is None:
        return False
    if column.kind == "number":
        ends = [int(one) for one in re.findall(r"-?\d+", text)]
        return bool(ends[0] <= value <= ends[-1])
    return value in re.findall(r"[^{}, ]+", text)


def covers(form: str, column: Column, row: Row, value: Any) -> bool:
    """Whether a published row may be one with this value, by what the row shows."""
    name = column.name
    if form == "anatomy":
        return row[name] is value or bool(row[name] == value)
    if form == "labels":
        return _label(column, row[name], value)
    if form == "suppressed":
        flag = row.get(f"{name}_suppressed")
        if flag if flag is not None else row[name] is None:
            return True
        return bool(row[name] == value)
    state = row.get(f"{name}_null")
    if state == "some":  # NULL, or what the cell shows beside it: without ends any value
        shown = column.kind == "number" and row[f"{name}_lo"] is not None
        return not shown or value is None or bool(row[f"{name}_lo"] <= value <= row[f"{name}_hi"])
    if state == "all" or value is None:
        return state == "all" and value is None
    if column.kind == "number":
        return bool(row[f"{name}_lo"] <= value <= row[f"{name}_hi"])
    return value in (column.below[row[name]] if column.kind == "hierarchy" else row[name])


def linkage(
    form: str, columns: Sequence[Column], published: Sequence[Row], victims: Sequence[Row], left_out: int = 0
) -> dict[tuple[str, ...], list[Fraction]]:
    """Per set of known columns the expected success against every victim; those left out have none."""
    found = {}
    for n in range(1, len(columns) + 1):
        for known in combinations(columns, n):
            chances = []
            for victim in victims:
                candidates = [row for row in published if all(covers(form, c, row, victim[c.name]) for c in known)]
                chances.append(Fraction(1, len(candidates)) if candidates else Fraction(0))
            found[tuple(c.name for c in known)] = chances + [Fraction(0)] * left_out
    return found


def shares(groups: Iterable[Sequence[Any]]) -> list[Fraction]:
    """Per row of every group of sensitive values: the share of the group's most frequent one."""
    found = []
    for values in groups:
        found += [Fraction(max(Counter(values).values()), len(values))] * len(values)
    return found


def candidate_shares(
    form: str, columns: Sequence[Column], published: Sequence[Row], victims: Sequence[Row], sensitive: str
) -> list[Fraction]:
    """Per victim the share of the most frequent sensitive value among the rows that cover all quasi values."""
    found = []
    for victim in victims:
        values = [row[sensitive] for row in published if all(covers(form, c, row, victim[c.name]) for c in columns)]
        if values:
            found.append(Fraction(max(Counter(values).values()), len(values)))
    return found


def mistaken(
    form: str, columns: Sequence[Column], published: Sequence[Row], victims: Sequence[Row], key: str
) -> dict[tuple[str, ...], list[Fraction]]:
    """As `linkage` where one known value is that of a random other victim.

    Rows are published with ``key``, which says whose each is.
    """
    own = {row[key]: row for row in published}
    found = {}
    for n in range(1, len(columns) + 1):
        for known in combinations(columns, n):
            found[tuple(c.name for c in known)] = [
                _mistaken(form, known, published, victims, victim, own[victim[key]]) for victim in victims
            ]
    return found


def _mistaken(
    form: str, known: Sequence[Column], published: Sequence[Row], victims: Sequence[Row], victim: Row, own: Row
) -> Fraction:
    chances = []
    for wrong in known:
        others = [row[wrong.name] for row in victims if row[wrong.name] != victim[wrong.name]]
        if not others:
            continue
        total = Fraction(0)
        for value in others:
            believed = {**victim, wrong.name: value}
            fit = [row for row in published if all(covers(form, c, row, believed[c.name]) for c in known)]
            total += Fraction(sum(row is own for row in fit), len(fit)) if fit else 0
        chances.append(total / len(others))
    if chances:
        return sum(chances, Fraction(0)) / len(chances)
    return linkage(form, known, published, [victim])[tuple(c.name for c in known)][0]


def persons(
    form: str, columns: Sequence[Column], published: Sequence[Row], victims: Sequence[Row], key: str, person: str
) -> dict[tuple[str, ...], list[Fraction]]:
    """As `linkage`, of the different persons whose rows are candidates."""
    whose = {row[key]: row[person] for row in victims}
    found = {}
    for n in range(1, len(columns) + 1):
        for known in combinations(columns, n):
            found[tuple(c.name for c in known)] = [
                Fraction(
                    1, len({whose[r[key]] for r in published if all(covers(form, c, r, victim[c.name]) for c in known)})
                )
                for victim in victims
            ]
    return found


def gains(groups: Sequence[Sequence[Any]]) -> tuple[list[Fraction], list[Fraction]]:
    """Per row of every group of sensitive values.

    What the group adds to a value's share at most, and the highest quotient.
    """
    every = Counter(value for values in groups for value in values)
    rows = every.total()
    adds, times = [], []
    for values in groups:
        own = {value: (Fraction(n, len(values)), Fraction(every[value], rows)) for value, n in Counter(values).items()}
        adds += [max(share - prior for share, prior in own.values())] * len(values)
        times += [max(share / prior for share, prior in own.values())] * len(values)
    return adds, times


def bayes(
    form: str,
    columns: Sequence[Column],
    published: Sequence[tuple[Row, Mapping[Any, Fraction]]],
    victims: Sequence[Row],
    sensitive: str,
    domains: Mapping[str, Sequence[Any]],
) -> tuple[Fraction, Fraction, Fraction]:
    """Naive Bayes in fractions: accuracy, accuracy among candidates' values, and that of the most frequent value.

    Every published row comes with the shares of its sensitive values. A row counts for each value of the domain that
    its cell covers, split evenly; to every count of a domain of m values 1/m is added.
    """
    prior: Counter[Any] = Counter()
    for _, shares_of in published:
        for value, share in shares_of.items():
            prior[value] += share
    learnt: dict[tuple[str, Any, Any], Fraction] = {}
    for column in columns:
        for row, shares_of in published:
            inside = [value for value in domains[column.name] if covers(form, column, row, value)]
            for code in inside:
                for value, share in shares_of.items():
                    key = (column.name, code, value)
                    learnt[key] = learnt.get(key, Fraction(0)) + share / len(inside)
    hits = [Fraction(0), Fraction(0), Fraction(0)]
    for victim in victims:
        score = {}
        for value, n in prior.items():
            score[value] = Fraction(n)
            for column in columns:
                seen = learnt.get((column.name, victim[column.name], value), Fraction(0))
                score[value] *= (seen + Fraction(1, len(domains[column.name]))) / (n + 1)
        near = {
            value
            for row, shares_of in published
            if all(covers(form, c, row, victim[c.name]) for c in columns)
            for value in shares_of
        }
        for place, scores in enumerate((score, {v: score[v] for v in near}, prior)):
            best = [value for value, one in scores.items() if one == max(scores.values())]
            hits[place] += Fraction(victim[sensitive] in best, max(len(best), 1))
    return hits[0] / len(victims), hits[1] / len(victims), hits[2] / len(victims)
