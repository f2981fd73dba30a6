"""Suppressed rows published as `*`, and classes at levels that a method decides.

It tests the published cells and the loss.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from sqlanon.errors import PrivacyViolation
from tests.contract.starring import ROWS, Generalizing, cells
from tests.engines import read_table

PUBLISHED = {
    # q 0-3, leaves a b d e, all u; q 4-7, leaves d e a f, v v w w; starred: q 8-11
    "labels": {("[0, 3]", "*", "u"): 4, ("[4, 7]", "*", "{v, w}"): 4, ("*", "*", "*"): 4},
    "suppressed": {(None, None, "u"): 4, (None, None, None): 8},
    "ranges": {(0, 3, "*", ("u",)): 4, (4, 7, "*", ("v", "w")): 4, (0, 11, "*", ("u", "v", "w", "x")): 4},
}


@pytest.mark.cover
@pytest.mark.parametrize("kind", list(PUBLISHED))
def test_a_starred_class_publishes_no_quasi_value(shared_db: Any, starring: Any, kind: str) -> None:
    report = starring(format=kind, k=3, l=2)
    assert cells(shared_db, starring.name) == PUBLISHED[kind]
    assert (report.rows, report.suppressed, report.left_out, report.verified) == (12, 4, 0, True)
    assert "4 of 12 rows of the source are published with * in every quasi column" in report.notes
    assert json.loads(json.dumps(report.to_dict()))["suppressed"] == 4
    (row,) = shared_db.releases(starring.name)
    assert (row.rows, row.suppressed) == (12, 4)
    audited = shared_db.audit(f"release.{starring.name}")
    assert (audited.rows, audited.suppressed, audited.missing, audited.satisfied) == (12, 4, 0, True)
    assert audited.k == 4


LEVELS = {
    # a class without a row in the table of levels, and a NULL level, have their least nodes
    "some": [(None, 1, 1), (1, None, None)],
    "levels": [(1, 2, 0), (1, 2, 1), (1, 2, 1)],
}


@pytest.mark.cover
@pytest.mark.parametrize(
    ("kind", "published"),
    [
        ("labels", {("*", "*", "u"): 4, ("*", "*", "*"): 8}),
        ("suppressed", {(None, None, "u"): 4, (None, None, None): 8}),
        ("ranges", {(0, 11, "*", ("u",)): 4, (0, 11, "*", ("u", "v", "w", "x")): 8}),
        ("points", {(1, "a", "u"): 4, (5, "a", "v"): 4, (9, "a", "u"): 4}),
    ],
)
def test_columns_without_hierarchy_have_the_value_or_any(
    shared_db: Any, starring: Any, monkeypatch: pytest.MonkeyPatch, kind: str, published: Any
) -> None:
    monkeypatch.setattr(Generalizing, "starred", None)
    monkeypatch.setattr(Generalizing, "levels", [(1, 2, 0), (1, 2, 1), (1, 2, 1)])
    report = starring(format=kind, suppression={"limit": 0, "rows": "left_out"})
    assert cells(shared_db, starring.name) == published
    assert report.suppressed == 0


SPREAD = [(i, leaf, "u", "klm"[i % 3], i % 2) for i, leaf in enumerate("aabbddddffffffff")]


@pytest.mark.cover
@pytest.mark.parametrize(
    ("levels", "published", "loss"),
    [
        # One level a column: the label of that level, also where the class has one leaf, or its node covers one.
        ([1, 1, 1, 1], {"X": 4, "Y": 4, "Z": 8}, (4 * 1 / 4 + 4 * 1 / 4) / 16),
        ([0, 0, 0, 0], None, None),  # a and b are not one value
        ([1, 0, 0, 1], {"X": 4, "d": 4, "f": 4, "Z": 4}, (4 * 1 / 4) / 16),
        ([2, 2, 2, 2], {"*": 16}, 1),
        ([None, 1, 0, None], {"X": 4, "Y": 4, "f": 8}, (4 * 1 / 4 + 4 * 1 / 4) / 16),
    ],
)
@pytest.mark.parametrize("kind", ["labels", "ranges"])
def test_a_hierarchy_column_publishes_the_node_at_the_level(
    shared_db: Any, starring: Any, monkeypatch: pytest.MonkeyPatch, kind: str, levels: Any, published: Any, loss: Any
) -> None:
    monkeypatch.setattr(Generalizing, "starred", None)
    monkeypatch.setattr(Generalizing, "levels", [(None, level, None) for level in levels])
    if published is None:
        with pytest.raises(PrivacyViolation, match="2 rows are not covered"):
            starring(SPREAD, format=kind)
        assert shared_db.releases(starring.name) == ()
        return
    report = starring(SPREAD, format=kind)
    found: dict[str, int] = {}
    for row in read_table(shared_db, ("release", starring.name)):
        found[row["h"]] = found.get(row["h"], 0) + 1
    assert found == published
    assert report.loss.columns["h"]["lm"] == pytest.approx(loss)


@pytest.mark.thorough
def test_levels_of_a_column_with_nulls(shared_db: Any, starring: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """NULL is a value of its own below the root, and part of it at the root: any value or NULL."""
    rows = [
        (i, leaf, n, "klm"[i % 3], 0)
        for i, (leaf, n) in enumerate(
            zip(
                [None, None, None, None, "a", "b", "b", "b", "d", "d", "d", "d", None, "a", "d", "d"],
                [None, None, None, None, "u", "u", "u", "u", "v", "v", "v", "v", "u", "u", None, "w"],
                strict=True,
            )
        )
    ]
    for kind, starred, expected in (
        ("ranges", None, {(None, "all", None, "all"), ("X", "none", None, "some"), (None, "some", None, "some")}),
        ("suppressed", 3, {(None, False, None, False), (None, True, None, True)}),
        ("labels", 3, {("NULL", "NULL"), ("X", "*"), ("*", "*")}),
    ):
        monkeypatch.setattr(Generalizing, "starred", starred)
        monkeypatch.setattr(Generalizing, "levels", [(None, 1, 0), (None, 1, 1), (None, 2, 1), (None, None, None)])
        starring(rows, format=kind, quasi=["q", "h", "n"])
        names = [name for name in read_table(shared_db, ("release", starring.name))[0] if name[0] in "hn"]
        found = {tuple(row[name] for name in names) for row in read_table(shared_db, ("release", starring.name))}
        assert found == expected


def test_starred_rows_have_lost_everything(starring: Any) -> None:
    """By hand.

    The classes of four cover q 3/11 each; of h five leaves; of n one value and two of four; four rows are starred.
    """
    loss = starring(format="labels").loss
    assert loss.columns["q"]["ncp"] == pytest.approx((4 * 3 / 11 * 2 + 4) / 12)
    assert loss.columns["h"]["ncp"] == pytest.approx(1)
    assert loss.columns["n"]["ncp"] == pytest.approx((4 * 0 + 4 * 2 / 4 + 4) / 12)
    assert loss.columns["n"]["lm"] == pytest.approx((4 * 0 + 4 * 1 / 3 + 4) / 12)
    assert loss.dm == 4**2 + 4**2 + 4 * 12
    assert loss.cm == pytest.approx((2 + 2 + 4) / 12)  # k l m k, l m k l
    assert (loss.il_inf, loss.stars) == (pytest.approx(1), None)


def test_a_constant_column_of_starred_rows_is_lost_too(starring: Any) -> None:
    rows = [(i, "a", "u", "klm"[i % 3], i % 2) for i in range(12)]
    loss = starring(rows, format="suppressed").loss
    assert [loss.columns[name]["hidden"] for name in "qhn"] == pytest.approx([1, 4 / 12, 4 / 12])
    assert (loss.stars, loss.starred_rows, loss.hidden_rows) == (12 + 4 + 4, 12, 4)


def test_the_loss_of_suppressed_is_what_is_hidden(starring: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Generalizing, "starred", None)
    report = starring(format="suppressed")
    assert {name: lost["hidden"] for name, lost in report.loss.columns.items()} == pytest.approx(
        {"q": 1, "h": 1, "n": 8 / 12}
    )
    assert [lost["ncp"] for lost in report.loss.columns.values()] == pytest.approx([1, 1, 8 / 12])
    assert (report.loss.stars, report.loss.starred_rows, report.loss.hidden_rows) == (12 + 12 + 8, 12, 8)
    assert report.loss.gcp == pytest.approx(32 / 36)


def test_groups_that_look_starred_count_their_own_rows(starring: Any) -> None:
    """In format suppressed the second class hides all as well.

    Its rows look like eight, the starred ones cost twelve.
    """
    assert starring(format="suppressed").loss.dm == 4**2 + 4 * 8 + 4 * 12


def test_a_set_of_many_values_is_starred(shared_db: Any, starring: Any) -> None:
    """Sets of more than 62 values are found by their class."""
    rows = [(i, "a", f"v{i:02}", "klm"[i % 3], 0) for i in range(72)]
    starring(rows, format="labels", suppression={"limit": "4/72"}, accept_unique=["c", "n"])
    found = cells(shared_db, starring.name)
    assert found[("*", "*", "*")] == 4  # type: ignore[index]
    assert found[("[0, 3]", "a", "{v00, v01, v02, v03}")] == 4  # type: ignore[index]
    starring(rows, format="ranges", suppression={"limit": "4/72"}, accept_unique=["c", "n"])
    assert (0, 71, "*", tuple(f"v{i:02}" for i in range(72))) in cells(shared_db, starring.name)


def test_means_of_starred_rows_are_hidden(shared_db: Any, starring: Any) -> None:
    rows = [*ROWS, *((i, "a", "u", "klm"[i % 3], 0) for i in range(12, 20))]
    Generalizing.size = 5
    try:
        starring(rows, mean="q", k=5, suppression={"limit": "5/20"})
    finally:
        Generalizing.size = 4
    means = {(row["q_lo"], row["q_mean"]) for row in read_table(shared_db, ("release", starring.name))}
    assert means == {(0, None), (0, 2), (5, 7), (15, 17)}
    (row,) = shared_db.query(f"SELECT sum(q) AS s FROM {starring.name}").rows
    assert row["s"].low <= sum(range(20)) <= row["s"].high
