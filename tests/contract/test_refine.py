"""Refine after a method: never more loss, every requirement kept, the same release on every engine."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import sqlanon
from sqlanon.declared import METHODS
from sqlanon.errors import PolicyError
from sqlanon.methods.shared import refine, search
from sqlanon.methods.suppress.declaration import refuse_refinement
from tests.contract.axes import Way, ways
from tests.contract.cases import Case, multiset, release_rows
from tests.contract.samples import DIVERSE, FEW, TREES, WHOLE
from tests.oracle.requirements import Privacy

FIRST = {way.method: way for way in reversed(ways()) if refuse_refinement not in METHODS[way.method].rules}
"""Every method that takes refine, with its first options."""


def pairs(*cases: Case) -> list[Any]:
    return [
        pytest.param(way, case, id=f"{way}-{case.name}") for way in FIRST.values() for case in cases if way.takes(case)
    ]


@pytest.mark.cover
@pytest.mark.parametrize(("way", "case"), pairs(*FEW, WHOLE))
def test_loss_never_grows_and_requirements_hold(shared_db: Any, way: Way, case: Case, tmp_path: Path) -> None:
    """The run's own verify measures every requirement, and that boxes cover their rows."""
    _, plain = release_rows(shared_db, case, tmp_path, **way.arguments)
    _, refined = release_rows(shared_db, case, tmp_path, **way.arguments, refine=True)
    assert refined.verified
    assert all(item.satisfied for item in refined.requirements)
    assert refined.loss.gcp <= plain.loss.gcp + 1e-12
    assert refined.rows == plain.rows == len(case.rows)


@pytest.mark.cover
@pytest.mark.parametrize(("way", "case"), pairs(TREES, WHOLE, DIVERSE))
def test_every_engine_and_row_order_gives_the_same(
    both_dbs: tuple[Any, ...], way: Way, case: Case, tmp_path: Path
) -> None:
    found = []
    for seed, db in enumerate(both_dbs):
        order = random.Random(seed).sample(range(len(case.rows)), len(case.rows))
        rows, _ = release_rows(
            db, case.shuffled(order), tmp_path, **way.arguments, refine={"window": 3, "passes": 2, "search": 3}
        )
        found.append(multiset(rows))
    assert found[0] == found[1]


@pytest.mark.thorough
def test_blocks_are_refined_apart(shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table of several blocks: every row keeps a class, and the loss still falls."""
    rng = random.Random(3)
    case = Case(
        "blocks",
        {"x": "INTEGER", "y": "INTEGER"},
        tuple((rng.randint(0, 999), rng.randint(0, 999)) for _ in range(600)),
        dict.fromkeys(("x", "y"), WHOLE.quasi["n"]),
        (),
        Privacy(k=5),
    )
    monkeypatch.setattr(refine, "BLOCK", 100)
    monkeypatch.setattr(search, "BLOCK", 100)
    _, plain = release_rows(shared_db, case, tmp_path, method="hilbert")
    _, passed = release_rows(shared_db, case, tmp_path, method="hilbert", refine={"search": 0})
    once, refined = release_rows(shared_db, case, tmp_path, method="hilbert", refine=True)
    assert refined.verified
    assert refined.rows == 600
    assert refined.loss.gcp < passed.loss.gcp < plain.loss.gcp
    again, _ = release_rows(shared_db, case, tmp_path, method="hilbert", refine=True)
    assert multiset(once) == multiset(again), "without a seed the search draws the same numbers"
    other, _ = release_rows(shared_db, case, tmp_path, method="hilbert", refine=True, seed=8)
    assert multiset(once) != multiset(other)


@pytest.mark.thorough
@pytest.mark.parametrize("method", ["hilbert", pytest.param("mondrian", marks=pytest.mark.thorough)])
def test_neither_memory_nor_threads_change_what_a_search_finds(
    method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With 2,000 bytes the engine orders or cuts the rows, where all of them fit into memory otherwise."""
    rng = random.Random(9)
    case = Case(
        "memory",
        {"x": "INTEGER", "y": "TEXT"},
        tuple((rng.randint(0, 99), rng.choice("abcdef")) for _ in range(300)),
        dict.fromkeys(("x", "y"), WHOLE.quasi["n"]),
        (),
        Privacy(k=4),
    )
    monkeypatch.setattr(refine, "BLOCK", 80)
    monkeypatch.setattr(search, "BLOCK", 80)

    def published(threads: int, **asked: Any) -> Any:
        with sqlanon.connect("duckdb:///:memory:", threads=threads) as db:
            return multiset(release_rows(db, case, tmp_path, method=method, **asked)[0])

    asked = {"refine": {"search": 9}}
    one = published(1, **asked)
    assert one != published(1, refine={"search": 0})
    assert one == published(3, **asked) == published(1, memory=2000, **asked) == published(3, memory=2000, **asked)


def test_exact_rows_have_nothing_to_refine(shared_db: Any, tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="refine lowers the loss of boxes"):
        release_rows(
            shared_db, DIVERSE, tmp_path, method="anatomy", format="anatomy", refine=True, presence="disclosed"
        )
