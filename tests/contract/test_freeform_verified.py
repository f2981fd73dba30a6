"""Boxes of their own: what verification refuses before anything is published."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sqlanon.declared import check
from sqlanon.engines.base import Statement
from sqlanon.errors import PrivacyViolation
from sqlanon.methods.base import Assignment
from sqlanon.methods.freeform import method as code
from sqlanon.methods.freeform import walk
from sqlanon.release.make import classes as making
from tests.contract.own_boxes import SMALL, fetch, run


def assigned(monkeypatch: pytest.MonkeyPatch, change: Callable[[Any, Assignment], Assignment]) -> None:
    """The method's assignment, changed before it is recoded."""
    assign = code.Freeform.assign
    monkeypatch.setattr(code.Freeform, "assign", lambda self, context: change(context, assign(self, context)))


def test_an_edge_that_is_there_twice_is_refused(
    shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows then have fewer than k boxes."""
    monkeypatch.setattr(walk, "remixed", lambda made, _: np.stack([made[0], made[0], *made[2:]]))
    with pytest.raises(PrivacyViolation, match="no 3 matchings of 30 rows and boxes without a common edge"):
        run(shared_db, SMALL, tmp_path)


def test_two_rows_with_one_box_are_refused(
    shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A matching is a bijection."""

    def twice(made: Any, _: bytes) -> Any:
        broken = made.copy()
        broken[1, 0] = broken[1, 1]
        return broken

    monkeypatch.setattr(walk, "remixed", twice)
    with pytest.raises(PrivacyViolation, match="nothing was published"):
        run(shared_db, SMALL, tmp_path)


def recoded_from(monkeypatch: pytest.MonkeyPatch, statement: str) -> None:
    """Boxes that are made of other rows than the certificate says."""
    recode = making.format_of("ranges").__class__.recode

    def cut(self: Any, scratch: Any, encoded: Any, rows: Any, *more: Any) -> Any:
        table = scratch.table("cut")
        engine = scratch.engine
        names = [column.name for column in engine.look_up([rows]).columns(rows) if column.name != "class"]
        text = statement.format(rows=rows.name, others=", ".join(f"m.{name}" for name in names))
        engine.execute(Statement("test", f"CREATE TEMPORARY TABLE {table.name} AS {text}", {}))
        return recode(self, scratch, encoded, table, *more)

    monkeypatch.setattr(making.format_of("ranges").__class__, "recode", cut)


def test_a_box_that_is_cut_is_refused(
    shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every box is made of one of its rows only: no three rows are alike, so some row does not fit."""
    one = "SELECT class, MIN(rid) AS rid FROM {rows} GROUP BY class"
    recoded_from(
        monkeypatch, f"SELECT m.* FROM {{rows}} AS m JOIN ({one}) AS o ON m.class = o.class AND m.rid = o.rid"
    )
    with pytest.raises(PrivacyViolation, match="not covered by what would be published"):
        run(shared_db, SMALL, tmp_path)


def test_a_box_that_is_too_wide_is_refused(
    shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every box is made of every row: few boxes have a row with NULL, so most become wider."""
    more = "SELECT b.class, {others} FROM {rows} AS m CROSS JOIN (SELECT DISTINCT class FROM {rows}) AS b"
    recoded_from(monkeypatch, f"SELECT m.class AS class, {{others}} FROM {{rows}} AS m UNION ALL {more}")
    with pytest.raises(PrivacyViolation, match="not the least cover of their rows in column"):
        run(shared_db, SMALL, tmp_path)


def test_boxes_of_other_rows_than_the_certificate_names_are_refused(
    shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The graph is regular, and each box the least cover of its rows: but rows are published in boxes that do not cover them."""

    def renamed(context: Any, made: Assignment) -> Assignment:
        engine, matches = context.scratch.engine, made.matches
        assert matches is not None
        names = ("rid", "slot", "box", "matching", "base")
        columns = dict(zip(names, np.array(fetch(engine, matches.edges, *names), np.int32).T, strict=True))
        other = context.scratch.table("renamed")
        engine.load_arrays(other, columns | {"rid": len(SMALL.rows) - 1 - columns["rid"]})
        return replace(made, matches=replace(matches, edges=other))

    assigned(monkeypatch, renamed)
    with pytest.raises(PrivacyViolation, match="edges are of another row than the certificate says"):
        run(shared_db, SMALL, tmp_path)


def test_a_draw_that_is_no_matching_is_refused(
    shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of the rows by one, half by another; and rows that change places."""

    def shifted(context: Any, made: Assignment) -> Assignment:
        engine = context.scratch.engine
        rid, of = np.array(fetch(engine, made.table, "rid", "class"), np.int64).T.astype(np.int32)
        other = context.scratch.table("other")
        engine.load_arrays(other, {"rid": rid, "class": np.roll(of, 1)})
        return replace(made, table=other)

    assigned(monkeypatch, shifted)
    with pytest.raises(PrivacyViolation, match="the draw is none of the matchings"):
        run(shared_db, SMALL, tmp_path)


def test_a_draw_that_is_not_the_secrets_is_refused(
    shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Always the next matching: it passes every check but the last."""
    drawn, calls = walk.drawn, []

    def next_one(k: int, key: bytes) -> int:
        calls.append(1)
        return (drawn(k, key) + 1) % k if len(calls) == 1 else drawn(k, key)

    monkeypatch.setattr(walk, "drawn", next_one)
    with pytest.raises(PrivacyViolation, match="remix and draw are not those of the release's secret"):
        run(shared_db, SMALL, tmp_path)


def test_matchings_that_are_not_remixed_are_refused(
    shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remixed, calls = walk.remixed, []

    def not_once(made: Any, key: bytes) -> Any:
        calls.append(1)
        return made if len(calls) == 1 else remixed(made, key)

    monkeypatch.setattr(walk, "remixed", not_once)
    with pytest.raises(PrivacyViolation, match="remix and draw are not those of the release's secret"):
        run(shared_db, SMALL, tmp_path)


def test_boxes_of_their_own_that_the_policy_does_not_accept_are_refused(
    shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a method declares of itself is not believed: one that says it makes classes may return matchings."""
    monkeypatch.setattr(check, "_own_boxes", lambda *_: [])
    with pytest.raises(PrivacyViolation, match="a box of its own, which the policy does not accept"):
        run(shared_db, SMALL, tmp_path, boxes=None)
