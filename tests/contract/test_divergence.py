"""KL-divergence of every format on every engine, against the oracle that spreads row by row."""

from __future__ import annotations

import math
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from sqlanon.evaluate.divergence import Divergence, average_divergence, level, measure_divergence
from sqlanon.evaluate.subject import find_subject
from tests.contract.anatomies import release_pair
from tests.contract.cases import Case, release_rows
from tests.contract.samples import CORE, DATES, DIVERSE, MIXED, NUMBERS, TREES
from tests.engines import PAIR
from tests.oracle import divergence as oracle
from tests.properties.strategies import FEW, cases
from tests.shelf import MAKERS

FORMATS = ("ranges", "labels", "points", "suppressed")


def group_bys(case: Case) -> list[tuple[int, ...]]:
    """One quasi column, two, and all of them, as numbers."""
    every = range(len(case.quasi))
    sizes = sorted({1, 2, len(every)} - ({2} if len(every) == 1 else set()))
    return [columns for size in sizes for columns in combinations(every, size)]


def same(found: Divergence, expected: oracle.Found) -> None:
    """Counts are equal, sums to rounding."""
    assert (found.cells, found.missed, found.missed_rows) == (expected.cells, expected.missed, expected.missed_rows)
    if math.isinf(expected.kld):
        assert found.kld == math.inf
    else:
        assert found.kld == pytest.approx(expected.kld, rel=1e-9, abs=1e-12)


def check(db: Any, case: Case, kind: str, source: str, rows: list[dict[str, Any]]) -> None:
    """The group-bys, with the first sensitive column and without any."""
    declared = frozenset(name for name, qi in case.quasi.items() if isinstance(qi.ordered, tuple))
    names = list(case.quasi)
    for sensitive in (None, 0) if case.sensitive else (None,):
        found = measure_divergence(
            db.engine,
            find_subject(db.engine, source),
            [[names[i] for i in columns] for columns in group_bys(case)],
            None if sensitive is None else case.sensitive[sensitive],
        )
        for one, columns in zip(found, group_bys(case), strict=True):
            p = oracle.truth(case.table, columns, sensitive)
            q = oracle.spread_out(rows, kind, case.table, columns, sensitive, declared)
            same(one, oracle.kld(p, q, len(rows)))


@pytest.mark.thorough
@pytest.mark.cover
@pytest.mark.parametrize("engine", PAIR, ids=lambda engine: engine.name)
@pytest.mark.parametrize("kind", FORMATS)
def test_every_format(connect_module: Any, shelves: Any, engine: Any, kind: str, tmp_path: Path) -> None:
    db = connect_module(engine)
    shelf = shelves(engine)
    for case in CORE if kind == "ranges" else (MIXED, NUMBERS, DATES, TREES) if kind == "labels" else (MIXED, TREES):
        if kind == "ranges" and case.name in MAKERS:
            made = shelf.take(case.name)
            check(shelf.db, case, kind, made.name, made.rows)
            continue
        source = case.create(db)
        rows, _ = release_rows(db, case, tmp_path, source=source, name=source, format=kind, method="mondrian")
        check(db, case, kind, source, rows)
    shelf.check()


def test_anatomy(shared_db: Any, tmp_path: Path) -> None:
    source = DIVERSE.create(shared_db)
    pair = release_pair(shared_db, DIVERSE, tmp_path, source=source, name=source)
    names = list(DIVERSE.quasi)
    found = measure_divergence(
        shared_db.engine,
        find_subject(shared_db.engine, source),
        [[names[i] for i in columns] for columns in group_bys(DIVERSE)],
        DIVERSE.sensitive[0],
    )
    for one, columns in zip(found, group_bys(DIVERSE), strict=True):
        p = oracle.truth(DIVERSE.table, columns, 0)
        same(one, oracle.kld(p, oracle.exact(pair.rows, pair.counted, DIVERSE.table, columns), len(pair.rows)))


@FEW
@given(case=cases(max_rows=12, max_quasi=3))
def test_random_tables(connect: Any, tmp_path: Path, case: Case) -> None:
    with_formats = connect(PAIR[0])
    for kind in FORMATS[:2]:
        source = case.create(with_formats)
        rows, _ = release_rows(with_formats, case, tmp_path, source=source, name=source, format=kind, method="mondrian")
        check(with_formats, case, kind, source, rows)


def test_exact_release_diverges_by_nothing(shared_db: Any, tmp_path: Path) -> None:
    source = MIXED.create(shared_db)
    more = {"k": 1, "distinct_l": None, "name": source}
    release_rows(shared_db, MIXED, tmp_path, source=source, **more)
    found = measure_divergence(
        shared_db.engine, find_subject(shared_db.engine, source), level(tuple(MIXED.quasi), 2), None
    )
    assert len(found) == 3
    assert average_divergence(found) == pytest.approx(0, abs=1e-12)
