"""Classes at levels of their own, and a starred one, over tables of every type.

What is published and lost is what an oracle says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from sqlanon.methods.base import Assignment
from sqlanon.methods.onedim.method import Tree
from sqlanon.table.tree import tree_of
from tests.contract.axes import Way
from tests.contract.cases import Case, multiset, release_rows
from tests.contract.samples import CORE
from tests.declared import declare
from tests.engines import quote
from tests.oracle.domains import Quasi
from tests.oracle.losses import either, losses, spread
from tests.oracle.recode import released


class Raised(Tree):
    """Method `tree`, whose classes are published one level above their least node.

    The one of the least codes is starred.
    """

    stars: ClassVar[bool] = False
    raises: ClassVar[bool] = False

    def assign(self, context: Any) -> Assignment:
        made = super().assign(context)
        encoded, scratch = context.encoded, context.scratch
        codes = ", ".join(f"w.{domain.code}" for domain in encoded.quasi + encoded.sensitive)
        members: dict[int, list[tuple[int, ...]]] = {}
        for label, *row in scratch.engine.fetch(
            f"SELECT a.class, {codes} FROM {quote(made.table.name)} AS a JOIN {quote(encoded.work.name)} AS w ON w.rid "
            "= a.rid"
        ):
            members.setdefault(label, []).append(tuple(row))
        starred = min(members, key=lambda label: sorted(members[label])) if self.stars else None
        levels = None
        if self.raises:
            levels = scratch.table("levels")
            rows = []
            for label, listed in members.items():
                each = [{row[i] for row in listed} for i in range(len(encoded.quasi))]
                rows.append((label, *map(_level, encoded.quasi, each)))
            columns = [("class", "INTEGER"), *((domain.code, "SMALLINT") for domain in encoded.quasi)]
            scratch.engine.load_rows(levels, columns, rows)
        return replace(made, starred=starred, levels=levels)


def _level(domain: Any, codes: set[int]) -> int:
    if domain.reading.treatment != "hierarchy":
        return int(len(codes) > 1)
    tree = tree_of(domain)
    leaves = np.array(sorted(codes - ({0} if domain.has_null else set()))) - int(domain.has_null)
    height = len(tree.node) - 1
    least = next((at for at in range(height) if len(set(tree.node[at][leaves])) <= 1), height)
    return min(least + 1, height)


def level(column: Quasi, rows: Sequence[int]) -> int:
    """The same, by the oracle's tree."""
    if column.kind != "hierarchy":
        return int(len({column.codes[row] for row in rows}) > 1)
    values = [column.values[row] for row in rows if column.values[row] is not None]
    least = column.tree.common(values)[0] if values else 0
    return min(least + 1, len(column.levels[0]) - 1)


def lost(column: Quasi, rows: Sequence[int], less: int, kind: str, *, raised: bool) -> Fraction:
    """What a class that is not starred loses in a column, at its level."""
    if not raised:
        return either(column, rows, less) if kind == "suppressed" else spread(column, rows, less)
    at, alone = level(column, rows), {column.codes[row] for row in rows} == {0}
    height = len(column.levels[0]) - 1 if column.kind == "hierarchy" else 1
    if at >= height:
        return Fraction(1) if kind == "suppressed" or column.has_null else _whole(column, less)
    if column.kind != "hierarchy" or alone:
        return Fraction(0)
    if kind == "suppressed":
        return Fraction(1)
    if any(column.codes[row] == 0 for row in rows):
        return Fraction(1)
    (node,) = {column.tree.paths[column.values[row]][at] for row in rows}
    under = column.tree.under(at, node)
    return Fraction(0) if under == 1 else Fraction(under - less, column.size - less)


def _whole(column: Quasi, less: int) -> Fraction:
    if column.kind == "hierarchy":
        return Fraction(column.size > 1)
    return spread(column, range(len(column.values)), less)


@pytest.mark.cover("kind stars raises")
@pytest.mark.parametrize("case", CORE, ids=lambda case: case.name)
@pytest.mark.parametrize("kind", ["ranges", "labels", "suppressed"])
@pytest.mark.parametrize(("stars", "raises"), [(True, False), (False, True), (True, True)])
def test_published_and_lost(
    shared_db: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, case: Case, kind: str, stars: bool, raises: bool
) -> None:
    declare(monkeypatch, "raised", Raised, like="tree", suppresses="rows")
    monkeypatch.setattr(Raised, "stars", stars)
    monkeypatch.setattr(Raised, "raises", raises)
    options: dict[str, Any] = {"method": "raised", "format": kind}
    options |= {"suppression": {"limit": 1}} if stars else {}
    rows, report = release_rows(shared_db, case, tmp_path, **options)
    table = case.table
    classes = Way("tree", {"minimize": "gcp", "solver": "auto"}).classes(case)
    codes = [*(column.codes for column in table.quasi)]
    own = {
        i: sorted((*(each[row] for each in codes), *table.sa_codes[row]) for row in rows_)
        for i, rows_ in enumerate(classes)
    }
    starred = min(own, key=own.__getitem__) if stars else None
    levels = (
        {i: [level(column, members) for column in table.quasi] for i, members in enumerate(classes)} if raises else {}
    )
    expected = released(table, classes, kind, starred=starred, levels=levels)
    assert multiset(rows) == multiset(expected)
    suppressed = set(classes[starred]) if starred is not None else set()
    assert report.suppressed == len(suppressed)

    def share(column: Quasi, members: Sequence[int], less: int) -> Fraction:
        return Fraction(1) if set(members) == suppressed else lost(column, members, less, kind, raised=raises)

    oracle = losses(table, classes, 1, share)
    for metric in ("ncp", "gcp", "lm", "il_inf"):
        assert getattr(report.loss, metric) == pytest.approx(float(getattr(oracle, metric)), rel=1e-9), metric
    order = [row for members in classes for row in members]
    looks = [tuple(sorted(multiset([{k: v for k, v in one.items() if k not in case.sensitive}]))) for one in expected]
    sizes = Counter(looks)
    assert report.loss.dm == sum(
        table.rows if row in suppressed else sizes[look] for row, look in zip(order, looks, strict=True)
    )
