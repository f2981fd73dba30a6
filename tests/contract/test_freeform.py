"""Boxes of their own: whole runs on both engines, against brute force."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sqlanon.release.divide import own_boxes
from sqlanon.release.stages import work
from tests.contract.cases import QI, Case, release_rows
from tests.contract.own_boxes import OWN, SMALL, fetch, run, version_of
from tests.contract.samples import CORE
from tests.oracle.requirements import Privacy


@pytest.mark.cover("shared_db form", "case form")
@pytest.mark.parametrize("form", ["ranges", "labels"])
@pytest.mark.parametrize("case", CORE, ids=lambda case: case.name)
def test_samples_are_released_and_verified(shared_db: Any, case: Case, form: str, tmp_path: Path) -> None:
    """Every type, NULLs, hierarchies, hostile names: verify holds, and rows keep their private values as a whole."""
    rows, report = run(shared_db, case, tmp_path, format=form)
    k = case.privacy.k
    assert len(rows) == len(case.rows) == report.classes
    assert (report.min_class, report.max_class, report.verified) == (k, k, True)
    assert [(one.name, one.reached, one.satisfied) for one in report.requirements] == [("k", k, True)]
    assert report.loss.c_avg is None
    for name in case.sensitive:
        assert Counter(map(repr, (row[name] for row in rows))) == Counter(map(repr, case.values(name)))


def numbered(monkeypatch: pytest.MonkeyPatch, case: Case, name: str) -> dict[int, int]:
    """The source row of each slot of the certificate, filled during a run.

    It is found by a published column of unique values.
    """
    found: dict[int, int] = {}
    matched = own_boxes.match_rows

    def recorded(scratch: Any, classed: Any, matches: Any) -> Any:
        (alias,) = (one.alias for one in classed.encoded.roles.kept if one.column.name == name)
        names = dict(fetch(scratch.engine, classed.table, "rid", alias))
        for rid, slot in fetch(scratch.engine, matches.slots, "rid", "slot"):
            found[int(slot)] = case.values(name).index(names[rid])
        return matched(scratch, classed, matches)

    monkeypatch.setattr(own_boxes, "match_rows", recorded)
    return found


def test_boxes_are_those_of_the_certificate(shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By brute force: sensitive values name the rows, and the run says which row is which of the certificate."""
    number = numbered(monkeypatch, SMALL, "s")
    rows, report = run(shared_db, SMALL, tmp_path)
    edges, drawn = version_of(shared_db, report).certificate
    boxes: dict[int, list[int]] = {}
    for slot, box in fetch(shared_db.engine, edges, "slot", "box"):
        boxes.setdefault(int(box), []).append(number[int(slot)])
    assert all(len(members) == len(set(members)) == 3 for members in boxes.values())
    expected = {
        SMALL.rows[number[int(slot)]][-1]: cover([SMALL.rows[i] for i in boxes[int(box)]])
        for slot, box in fetch(shared_db.engine, drawn, "slot", "box")
    }
    assert {
        row["s"]: (row["x_lo"], row["x_hi"], row["x_null"], tuple(sorted(row["c"])), row["h"]) for row in rows
    } == expected


def cover(rows: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    xs, cs, hs = ([row[at] for row in rows] for at in (1, 2, 3))
    state = "none" if None not in xs else "all" if set(xs) == {None} else "some"
    known = [x for x in xs if x is not None]
    low, high = (min(known), max(known)) if known else (None, None)
    node = hs[0] if len(set(hs)) == 1 else hs[0][0] if len({h[0] for h in hs}) == 1 else "*"
    return (low, high, state, tuple(sorted(set(cs))), node)


def test_both_engines_publish_the_same_boxes(both_dbs: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which of rows of equal values has which is drawn by each engine's own hash: without such rows, all is equal."""
    monkeypatch.setattr(work, "secrets", SimpleNamespace(token_hex=lambda size: "7" * 2 * size))
    case = Case(
        "same boxes",
        SMALL.columns,
        tuple((i, i * 17 % 31, *row[2:]) for i, row in enumerate(SMALL.rows)),
        SMALL.quasi,
        SMALL.sensitive,
        SMALL.privacy,
    )
    published = []
    for db in both_dbs:
        rows, _ = run(db, case, tmp_path, name="same_boxes")
        published.append(Counter(tuple(map(repr, row.values())) for row in rows))
    assert published[0] == published[1]


@pytest.mark.cover
@pytest.mark.parametrize(
    "rows",
    [
        [(1, "a")] * 6,
        [(i, "a") for i in range(3)],
        [(None, None)] * 5,
        [(None if i % 2 else i, "ab"[i % 2]) for i in range(7)],
    ],
    ids=["equal", "n is k", "NULLs", "some NULLs"],
)
@pytest.mark.parametrize("k", [1, 3])
def test_small_and_even_tables(shared_db: Any, rows: list[tuple[Any, ...]], k: int, tmp_path: Path) -> None:
    case = Case(
        "even",
        {"a": "INTEGER", "b": "TEXT", "s": "INTEGER"},
        tuple((*row, i) for i, row in enumerate(rows)),
        {"a": QI(), "b": QI("nominal")},
        ("s",),
        Privacy(k=k),
    )
    published, report = release_rows(shared_db, case, tmp_path, **OWN)
    assert len(published) == len(rows)
    assert report.min_class == k
    assert sorted(row["s"] for row in published) == list(range(len(rows)))


def test_the_surest_value_is_that_of_the_candidates(shared_db: Any, tmp_path: Path) -> None:
    """All rows equal: every box may be of any row, and the k values of a row's boxes are those of k rows."""
    rows = tuple((1, "x" if i < 4 else f"y{i}") for i in range(6))
    case = Case("surest", {"a": "INTEGER", "s": "TEXT"}, rows, {"a": QI()}, ("s",), Privacy(k=6))
    _, report = run(shared_db, case, tmp_path)
    assert report.surest == {"s": {"mean": pytest.approx(4 / 6), "worst": pytest.approx(4 / 6)}}


def test_the_surest_value_of_rows_that_differ_is_that_of_the_certificate(
    shared_db: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By brute force, two columns, NULLs among their values.

    What is published in a row's boxes, in those of its edges.
    """
    said = ("x", "x", "y", None, "z", "x", None)
    rows = tuple((i * i % 29, i % 3, f"s{i}", said[i * 5 % 7 if i % 4 else 0]) for i in range(24))
    case = Case(
        "surest of some",
        {"a": "INTEGER", "b": "INTEGER", "s": "TEXT", "d": "TEXT"},
        rows,
        {"a": QI(), "b": QI()},
        ("s", "d"),
        Privacy(k=4),
    )
    number = numbered(monkeypatch, case, "s")
    _, report = run(shared_db, case, tmp_path)
    edges, drawn = version_of(shared_db, report).certificate
    shows = {int(box): rows[number[int(slot)]] for slot, box in fetch(shared_db.engine, drawn, "slot", "box")}
    boxes: dict[int, list[int]] = {}
    for slot, box in fetch(shared_db.engine, edges, "slot", "box"):
        boxes.setdefault(int(slot), []).append(int(box))
    shares = [max(Counter(shows[box][-1] for box in own).values()) / len(own) for own in boxes.values()]
    assert min(shares) < max(shares)
    assert report.surest == {
        "s": {"mean": 1 / 4, "worst": 1 / 4},
        "d": {"mean": pytest.approx(sum(shares) / 24), "worst": max(shares)},
    }
