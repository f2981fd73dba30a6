"""What plan says of method best: what it would lose, as a run of it does, where columns have hierarchies."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sqlanon.declared.cost import Cost
from sqlanon.methods.fulldomain import levels
from sqlanon.policy import release as spec_of
from sqlanon.release.trials import sample
from sqlanon.table.scratch import Scratch
from tests.contract.cases import QI, Case, release_rows
from tests.contract.lattices import case
from tests.engines import PAIR
from tests.oracle.requirements import Privacy

GLOBAL = "fulldomain:search=global"
NOTE = re.compile(
    r"method best would lose (\S+) (\S+), with the classes of (.*); (.*) loses (\S+); measured on all rows"
)


def notes(db: Any, one: Case, source: str, directory: Path, **options: Any) -> list[str]:
    arguments = {**one.arguments(directory), "seed": 1, **options}
    return [note for note in db.plan(spec_of(source=source, **arguments)).notes if "method best" in note]


@pytest.mark.parametrize("engine", PAIR, ids=lambda engine: engine.name)
def test_the_losses_are_those_of_runs(connect_module: Any, tmp_path: Path, engine: Any) -> None:
    one = case(71, Privacy(k=3, l=Fraction(2)), rows=41)
    db = connect_module(engine)
    source = one.create(db)
    (note,) = notes(db, one, source, tmp_path, method=GLOBAL)
    found = NOTE.fullmatch(note)
    assert found is not None, note
    for method, loss in (("best", found[2]), (GLOBAL, found[5])):
        _, report = release_rows(db, one, tmp_path, source=source, method=method, seed=1)
        assert f"{report.loss.gcp:.4f}" == loss
        if method == "best":
            assert any(f"best: {found[3]} loses least" in line for line in report.notes)


def test_a_large_table_is_measured_in_part(
    connect_module: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = case(72, Privacy(k=2), rows=41)
    for engine in PAIR:
        db = connect_module(engine)
        source = one.create(db)
        monkeypatch.setattr(sample, "MOST_MEASURED", 20)
        (note,) = notes(db, one, source, tmp_path, method=GLOBAL)
        assert note.endswith("an estimate, measured on 14 of 41 rows, which lose more than all of them")


def test_rows_of_a_part_are_numbered_without_a_gap(shared_db: Any) -> None:
    """Rows are read by their number, which has as many bits as the number of rows."""
    with Scratch(shared_db.engine) as scratch:
        stage, sampled = scratch.table("stage"), scratch.table("sampled")
        numbers = np.arange(41, dtype=np.int32)
        shared_db.engine.load_arrays(stage, {"rid": numbers, "q0": numbers * 2})
        scratch.execute("table/sampled", sampled=sampled, stage=stage, columns=["q0"], step=3)
        found = shared_db.engine.fetch(f'SELECT rid, q0 FROM "{sampled.name}" ORDER BY rid')
        assert [tuple(row) for row in found] == [(number, 6 * number) for number in range(14)]


def test_where_nothing_is_suggested(connect_module: Any, tmp_path: Path) -> None:
    one = case(73, Privacy(k=3), rows=41)
    db = connect_module(PAIR[0])
    source = one.create(db)
    plain = replace(one, name="plain", quasi={name: QI("nominal") for name in ("city", "kind", "n")})
    assert notes(db, plain, plain.create(db), tmp_path, method=GLOBAL) == []
    for options in (
        {"method": "best"},
        {"method": GLOBAL, "suppression": {"limit": "1/10"}},
        {"method": "anatomy", "format": "anatomy", "k": 1, "l": 2},
    ):
        assert notes(db, one, source, tmp_path, **options) == [], options


def test_fewer_rows_where_the_lattice_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows times nodes are what method fulldomain looks at."""
    ready: Any = SimpleNamespace(
        rows=100_000, quasi=(), method=SimpleNamespace(cost=Cost(0.0, 0.0), options={}, parts=())
    )
    found = {}
    for nodes in (1, 100_000, 327_680, 10**9):
        monkeypatch.setattr(levels, "nodes_of", lambda _, nodes=nodes: nodes)
        found[nodes] = sample.limit_measured(ready, 10)
    assert found == {1: 20_000, 100_000: 20_000, 327_680: 5_000, 10**9: 625}


def test_a_part_that_does_not_meet_what_is_asked(
    connect_module: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every second row is measured, and has the same sensitive value."""
    one = case(74, Privacy(k=1, l=Fraction(2)), rows=40)
    one = replace(one, rows=tuple((*row[:3], "ab"[i % 2]) for i, row in enumerate(one.rows)))
    monkeypatch.setattr(sample, "MOST_MEASURED", 20)
    for engine in PAIR:
        db = connect_module(engine)
        source = one.create(db)
        for method in ("tree", GLOBAL):
            assert notes(db, one, source, tmp_path, method=method) == []
