"""However the work table reaches the trees (in blocks, equal rows as one, wide codes), the classes are the same."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from sqlanon.methods.shared import bare_rows
from tests.contract.axes import Way, ways
from tests.contract.cases import QI, Case, multiset, release_rows
from tests.oracle.requirements import Privacy

TREES = [
    way
    for way in ways()
    if way.method in ("mondrian", "tree")
    and way.options.get("minimize", "gcp") == "gcp"
    and "solver" not in way.options
]


def table(name: str, rows: int, top: int, privacy: Privacy) -> Case:
    """Integers up to ``top``: with 3 nearly every row has an equal one."""
    rng = random.Random(rows)
    values = tuple(
        (
            rng.choice([None, rng.randint(0, top)]),
            rng.choice("abcd"),
            i * 7919 % rows if top > 3 else i % 4,
            rng.choice("xyz"),
        )
        for i in range(rows)
    )
    columns = {"x": "INTEGER", "word": "TEXT", "y": "INTEGER", "sa": "TEXT"}
    return Case(name, columns, values, {"x": QI(), "word": QI("nominal"), "y": QI(weight=2)}, ("sa",), privacy)


@pytest.mark.cover
@pytest.mark.parametrize("privacy", [Privacy(k=3), Privacy(k=2, distinct_l=2)], ids=["k", "l"])
@pytest.mark.parametrize("way", TREES, ids=str)
def test_blocks_and_groups_of_equal_rows(
    shared_db: Any, way: Way, privacy: Privacy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = table(f"bare_{privacy.k}", 403, 3, privacy)
    monkeypatch.setattr(bare_rows, "_FEW", 10**9)
    plain, _ = release_rows(shared_db, case, tmp_path, **way.arguments, execution="kernel")
    grouped = []
    monkeypatch.setattr(
        bare_rows,
        "_find_grouping",
        lambda *args, made=bare_rows._find_grouping: grouped.append(made(*args)) or grouped[-1],
    )
    for block, few in ((100, 10**9), (1 << 22, 0), (100, 0)):
        monkeypatch.setattr(bare_rows, "BLOCK", block)
        monkeypatch.setattr(bare_rows, "_FEW", few)
        rows, _ = release_rows(shared_db, case, tmp_path, **way.arguments, execution="kernel")
        assert multiset(rows) == multiset(plain)
    if way == Way("mondrian", {"variant": "strict", "cut": "loss"}) and privacy.distinct_l is None:
        assert grouped[-1] is not None, "equal rows were not grouped: nothing was tried"


MONDRIAN = [way for way in TREES if way.method == "mondrian"]
WIDE = [pytest.param(way, marks=[pytest.mark.thorough] * (way not in (MONDRIAN[0], MONDRIAN[-1]))) for way in MONDRIAN]


@pytest.mark.thorough
@pytest.mark.cover
@pytest.mark.parametrize("way", WIDE, ids=str)
def test_more_codes_than_sixteen_bits_hold(shared_db: Any, way: Way, tmp_path: Path) -> None:
    case = table("bare_wide", 33_500, 40_000, Privacy(k=6000))
    source = case.create(shared_db)
    shared_db.engine.execute(f"CREATE TABLE {source}_again AS SELECT * FROM {source}")
    kernel, _ = release_rows(shared_db, case, tmp_path, source=source, **way.arguments, execution="kernel")
    pushed, _ = release_rows(shared_db, case, tmp_path, source=f"{source}_again", **way.arguments, execution="pushdown")
    found = multiset(kernel)
    assert len(found) > 1
    assert found == multiset(pushed)


@pytest.mark.thorough
def test_groups_in_less_memory_than_rows_take(shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """80 groups of 403 rows: where they fit, they are cut in memory, and by SQL where not even they do."""
    case = table("bare_groups", 403, 3, Privacy(k=3))
    monkeypatch.setattr(bare_rows, "BLOCK", 100)
    monkeypatch.setattr(bare_rows, "_FEW", 0)
    found = {
        memory: release_rows(shared_db, case, tmp_path, method="mondrian", memory=memory)
        for memory in (1 << 30, 40_000, 30_000)
    }
    assert [report.execution for _, report in found.values()] == ["kernel", "kernel", "pushdown+kernel"]
    first, *others = (multiset(rows) for rows, _ in found.values())
    assert all(other == first for other in others)
