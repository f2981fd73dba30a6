"""Boxes of their own: what an audit says of the certificate, and of a table that was changed after publication."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from sqlanon.engines.base import Statement, TableRef
from sqlanon.errors import PolicyError
from tests.contract.own_boxes import SMALL, fetch, placed, run, version_of, without_mark


def test_audits_check_the_certificate(shared_db: Any, tmp_path: Path) -> None:
    _, report = run(shared_db, SMALL, tmp_path)
    db, (edges, drawn) = shared_db, version_of(shared_db, report).certificate
    found = db.audit(report.published)
    assert (found.candidates, found.k, found.satisfied, found.highest_risk) == (True, 3, True, 1 / 3)
    with pytest.raises(PolicyError, match="name no columns"):
        db.audit(report.published, quasi=["c"])

    def change(statement: str, back: str, words: str) -> None:
        names = {"edges": placed(edges), "drawn": placed(drawn)}
        for one in statement.split(";"):
            db.engine.execute(Statement("test", one.format(**names), {}))
        found = db.audit(report.published)
        assert not found.satisfied
        assert found.k == 0
        assert words in found.not_measured[0]
        for one in back.split(";"):
            db.engine.execute(Statement("test", one.format(**names), {}))

    moved = "UPDATE {{edges}} SET matching = {} - matching"
    change(moved.format(2), moved.format(2), "remix and draw are not those")
    for words, (matching, one, other) in swaps(shared_db, edges, drawn).items():
        swapped = (
            f"UPDATE {{edges}} SET box = {one + other} - box WHERE box IN ({one}, {other}) AND matching = {matching}"
        )
        change(swapped, swapped, words)
    # The same graph and draw, by other numbers of boxes.
    numbers = "UPDATE {edges} SET box = 29 - box; UPDATE {drawn} SET box = 29 - box"
    change(numbers, numbers, "remix and draw are not those")
    # Two source rows change places: each is said to be the other's, and only the hash of the table shows it.
    links = (
        "UPDATE {drawn} AS d SET link = (SELECT o.link FROM {drawn} AS o WHERE o.slot = 1 - d.slot) WHERE d.slot IN "
        "(0, 1)"
    )
    change(links, links, "rows changed places in what was drawn")
    both = "UPDATE {drawn} SET slot = 1 - slot WHERE slot IN (0, 1)"
    change(both, both, "the draw is none of the matchings")
    with without_mark(db, report):
        # Where the catalog has no mark, whoever changed the links may have taken it away.
        change(links, links, "not measured: the catalog has no mark of it")
        change("SELECT 1", "SELECT 1", "not measured: the catalog has no mark of it")
    assert db.audit(report.published).satisfied
    change("DELETE FROM {edges} WHERE slot = 0", "SELECT 1", "no 3 matchings of 30 rows")


def swaps(db: Any, edges: TableRef, drawn: TableRef) -> dict[str, tuple[int, int, int]]:
    """For each reason a matching and two of its boxes; a swap of their rows gives that reason and no other."""
    box_of = {(t, slot): box for t, slot, box in fetch(db.engine, edges, "matching", "slot", "box")}
    shown = dict(fetch(db.engine, drawn, "slot", "box"))
    (draw,) = (t for t in range(3) if all(box_of[t, slot] == box for slot, box in shown.items()))
    has = {slot: {box_of[t, slot] for t in range(3)} for slot in shown}
    found = {}
    for (t, slot), (other_t, other) in itertools.combinations(box_of, 2):
        if t != other_t:
            continue
        mine, its = box_of[t, slot], box_of[t, other]
        if its in has[slot] or mine in has[other]:
            words = "no 3 matchings of 30 rows"
        else:
            words = "the draw is none of the matchings" if t == draw else "remix and draw are not those"
        found[words] = (t, mine, its)
    assert len(found) == 3
    return found


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE {table} SET x_hi = x_hi + 1 WHERE x_hi IS NOT NULL",
        "UPDATE {table} SET s = CASE s WHEN 's1' THEN 's2' ELSE 's1' END WHERE s IN ('s1', 's2')",
        "UPDATE {table} SET x_lo = x_hi WHERE x_lo < x_hi",
    ],
    ids=["cell", "private values", "cut box"],
)
def test_a_table_that_was_changed_after_publication_is_refused(shared_db: Any, statement: str, tmp_path: Path) -> None:
    _, report = run(shared_db, SMALL, tmp_path)
    table = placed(version_of(shared_db, report).table)
    assert shared_db.audit(report.published).satisfied
    shared_db.engine.execute(Statement("test", statement.format(table=table), {}))
    found = shared_db.audit(report.published)
    assert (found.k, found.satisfied) == (0, False)
    assert "the published table is not as it was written" in found.not_measured[0]


def test_without_a_certificate_k_is_not_measured(shared_db: Any, tmp_path: Path) -> None:
    _, report = run(shared_db, SMALL, tmp_path)
    for table in version_of(shared_db, report).certificate:
        shared_db.engine.execute(Statement("test", f"DROP TABLE {placed(table)}", {}))
    with pytest.raises(
        PolicyError, match="how many rows fit a box is not to be seen in the view: k cannot be measured"
    ):
        shared_db.audit(report.published)
