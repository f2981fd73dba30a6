"""Boxes of their own: what verification refuses before anything is published."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sqlanon.declared import check
from sqlanon.engines.base import Statement
from sqlanon.errors import PrivacyViolation
from sqlanon.kernels import freeform_graph as graph
from sqlanon.methods.base import Matches
from sqlanon.methods.freeform import draw, secret
from sqlanon.methods.freeform import method as code
from sqlanon.methods.freeform.draw import draw_matching as draw_of
from sqlanon.release.divide import classes as making
from sqlanon.release.divide import own_boxes
from sqlanon.release.divide.own_boxes import DrawnMatching
from tests.contract.cases import QI, Case
from tests.contract.own_boxes import SMALL, fetch, run
from tests.oracle.requirements import Privacy


def drawn_anew(monkeypatch: pytest.MonkeyPatch, change: Callable[[Any, DrawnMatching], DrawnMatching]) -> None:
    """What was drawn, changed before it is recoded."""
    drawn = own_boxes.draw_boxes
    monkeypatch.setattr(own_boxes, "draw_boxes", lambda context, *more: change(context, drawn(context, *more)))


def changed_remix(monkeypatch: pytest.MonkeyPatch, change: Callable[[Any], Any]) -> None:
    """What is made of the graph the first time, changed; verification makes it as it is."""
    remixed, calls = draw.remix_matchings, []

    def once(held: Any, key: bytes) -> Any:
        calls.append(1)
        return change(remixed(held, key)) if len(calls) == 1 else remixed(held, key)

    monkeypatch.setattr(draw, "remix_matchings", once)


def test_an_edge_that_is_there_twice_is_refused(
    shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows then have fewer than k boxes."""
    changed_remix(monkeypatch, lambda made: np.stack([made[0], made[0], *made[2:]]))
    with pytest.raises(PrivacyViolation, match="no 3 matchings of 30 rows and boxes without a common edge"):
        run(shared_db, SMALL, tmp_path)


def test_two_rows_with_one_box_are_refused(shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A matching is a bijection."""

    def twice(made: Any) -> Any:
        broken = made.copy()
        broken[1, 0] = broken[1, 1]
        return broken

    changed_remix(monkeypatch, twice)
    with pytest.raises(PrivacyViolation, match="nothing was published"):
        run(shared_db, SMALL, tmp_path)


def recoded_from(monkeypatch: pytest.MonkeyPatch, statement: str) -> None:
    """Boxes that are made of other rows than the certificate says."""
    recode = making.format_of("ranges").__class__.recode

    def cut(self: Any, scratch: Any, classed: Any, *more: Any) -> Any:
        table, rows = scratch.table("cut"), classed.table
        engine = scratch.engine
        names = [column.name for column in engine.look_up([rows]).columns(rows) if column.name != "class"]
        text = statement.format(rows=rows.name, others=", ".join(f"m.{name}" for name in names))
        engine.execute(Statement("test", f"CREATE TEMPORARY TABLE {table.name} AS {text}", {}))
        return recode(self, scratch, replace(classed, table=table), *more)

    monkeypatch.setattr(making.format_of("ranges").__class__, "recode", cut)


def test_a_box_that_is_cut_is_refused(shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every box is made of one of its rows only: no three rows are alike, so some row does not fit."""
    one = "SELECT class, MIN(rid) AS rid FROM {rows} GROUP BY class"
    recoded_from(monkeypatch, f"SELECT m.* FROM {{rows}} AS m JOIN ({one}) AS o ON m.class = o.class AND m.rid = o.rid")
    with pytest.raises(PrivacyViolation, match="not covered by what would be published"):
        run(shared_db, SMALL, tmp_path)


def test_a_box_that_is_too_wide_is_refused(shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every box is made of every row: few boxes have a row with NULL, so most become wider."""
    more = "SELECT b.class, {others} FROM {rows} AS m CROSS JOIN (SELECT DISTINCT class FROM {rows}) AS b"
    recoded_from(monkeypatch, f"SELECT m.class AS class, {{others}} FROM {{rows}} AS m UNION ALL {more}")
    with pytest.raises(PrivacyViolation, match="not the least cover of their rows in column"):
        run(shared_db, SMALL, tmp_path)


def test_boxes_of_other_rows_than_the_certificate_names_are_refused(
    shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The graph is regular, and each box the least cover of its rows.

    But rows are published in boxes that do not cover them.
    """

    def renamed(context: Any, made: DrawnMatching) -> DrawnMatching:
        engine = context.scratch.engine
        names = ("rid", "slot", "box", "matching")
        columns = dict(zip(names, np.array(fetch(engine, made.edges, *names), np.int32).T, strict=True))
        other = context.scratch.table("renamed")
        engine.load_arrays(other, columns | {"rid": len(SMALL.rows) - 1 - columns["rid"]})
        return replace(made, edges=other)

    drawn_anew(monkeypatch, renamed)
    with pytest.raises(PrivacyViolation, match="edges are of another row than the certificate says"):
        run(shared_db, SMALL, tmp_path)


def test_a_draw_that_is_no_matching_is_refused(shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of the rows by one, half by another; and rows that change places."""

    def shifted(context: Any, made: DrawnMatching) -> DrawnMatching:
        engine = context.scratch.engine
        rid, of = np.array(fetch(engine, made.table, "rid", "class"), np.int64).T.astype(np.int32)
        other = context.scratch.table("other")
        engine.load_arrays(other, {"rid": rid, "class": np.roll(of, 1)})
        return replace(made, table=other)

    drawn_anew(monkeypatch, shifted)
    with pytest.raises(PrivacyViolation, match="the draw is none of the matchings"):
        run(shared_db, SMALL, tmp_path)


def test_a_draw_that_is_not_the_secrets_is_refused(
    shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Always the next matching: it passes every check but the last."""
    drawn, calls = draw.draw_matching, []

    def next_one(k: int, key: bytes) -> int:
        calls.append(1)
        return (drawn(k, key) + 1) % k if len(calls) == 1 else drawn(k, key)

    monkeypatch.setattr(draw, "draw_matching", next_one)
    with pytest.raises(PrivacyViolation, match="remix and draw are not those of the release's secret"):
        run(shared_db, SMALL, tmp_path)


def test_matchings_that_are_not_remixed_are_refused(
    shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other matchings of the same graph: the draw takes another one."""
    changed_remix(monkeypatch, lambda made: np.roll(made, 1, axis=0))
    with pytest.raises(PrivacyViolation, match="remix and draw are not those of the release's secret"):
        run(shared_db, SMALL, tmp_path)


def test_a_key_of_another_content_is_refused(shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Contents are tried until the first matching is drawn.

    With each of them remix and draw are those of the secret.
    """
    content_of, key_of = secret.content_of, secret.key_of

    def tried(hidden: str, *more: Any) -> str:
        made = content_of(hidden, *more)
        contents = (hashlib.sha256(f"{made}{number}".encode()).hexdigest() for number in range(100))
        return next(one for one in contents if draw_of(3, key_of(hidden, "tried", one)) == 0)

    monkeypatch.setattr(secret, "content_of", tried)
    with pytest.raises(PrivacyViolation, match="not keyed by the secret, the policy's options and the quasi"):
        run(shared_db, SMALL, tmp_path, name="tried")


def test_rows_that_are_numbered_in_another_order_are_refused(
    shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def backwards(context: Any, made: DrawnMatching) -> DrawnMatching:
        engine, last = context.scratch.engine, len(SMALL.rows) - 1
        tables = {}
        for name, columns in (("edges", ("rid", "slot", "box", "matching")), ("slots", ("rid", "slot"))):
            rows = np.array(fetch(engine, getattr(made, name), *columns), np.int32).T
            tables[name] = context.scratch.table(f"backwards_{name}")
            found = dict(zip(columns, rows, strict=True))
            engine.load_arrays(tables[name], found | {"slot": last - found["slot"]})
        return replace(made, **tables)

    drawn_anew(monkeypatch, backwards)
    with pytest.raises(PrivacyViolation, match="30 of 30 rows are not numbered in the order of their quasi"):
        run(shared_db, SMALL, tmp_path)


def test_an_order_of_equal_rows_that_is_not_the_secrets_is_refused(
    shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It might be that of their private values, which makes some matchings impossible to a reader."""
    case = Case(
        "alike",
        {"x": "INTEGER", "s": "INTEGER"},
        tuple((i // 10, i) for i in range(30)),
        {"x": QI()},
        ("s",),
        Privacy(k=3),
    )
    keyed = own_boxes.hash_keys
    monkeypatch.setattr(own_boxes, "hash_keys", lambda *some: keyed(*some[:-1], "another"))
    with pytest.raises(PrivacyViolation, match="rows are not numbered in the order of their quasi values and"):
        run(shared_db, case, tmp_path)


def test_boxes_that_are_numbered_in_another_order_are_refused(
    shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_order = graph.order_boxes
    monkeypatch.setattr(graph, "order_boxes", lambda held: in_order(held)[::-1])
    with pytest.raises(PrivacyViolation, match="remix and draw are not those of the release's secret"):
        run(shared_db, SMALL, tmp_path)


@pytest.mark.parametrize("wrong", ["a box twice", "a box of more rows", "a row twice"])
def test_a_method_whose_graph_is_not_regular_is_refused(
    shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: str
) -> None:
    """Random walks on it might not end."""
    assign = code.Freeform.assign

    def changed(self: Any, context: Any) -> Any:
        made = assign(self, context)
        rid, boxes = made.matches.rid.copy(), made.matches.boxes.copy()
        if wrong == "a box twice":
            boxes[1] = boxes[0]
        elif wrong == "a box of more rows":
            boxes[0, 0] = next(box for box in range(30) if box not in boxes[:, 0])
        else:
            rid[0] = rid[1]
        return replace(made, matches=Matches(rid, boxes))

    monkeypatch.setattr(code.Freeform, "assign", changed)
    with pytest.raises(PrivacyViolation, match="nothing was published"):
        run(shared_db, SMALL, tmp_path)


def test_boxes_of_their_own_that_the_policy_does_not_accept_are_refused(
    shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a method declares of itself is not believed: one that says it makes classes may return matchings."""
    monkeypatch.setattr(check, "_own_boxes", lambda *_: [])
    with pytest.raises(PrivacyViolation, match="a box of its own, which the policy does not accept"):
        run(shared_db, SMALL, tmp_path, boxes=None)
