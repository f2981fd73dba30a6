"""The part of a policy that the catalog keeps: all of it that JSON can hold, no list of values.

It also tests plan's view of a change.
"""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import pytest

import sqlanon
from sqlanon.policy import release
from sqlanon.release.catalog.policy_diff import list_differences
from sqlanon.release.catalog.redacted_policy import redact
from sqlanon.spec import RefineSpec

CANARY = "c4n4ry"


def test_bounds_are_kept_exactly() -> None:
    spec = release(
        source="t",
        quasi=["age", "zip"],
        sensitive="d",
        max_loss="1/3",
        max_extent={"zip": 2, "age": 0.5},
        maximize="l",
        at_least={"k": 2, "l": 2.5},
        ordered={"zip": [CANARY, "b"]},
        seed=7,
    )
    text = json.dumps(redact(spec))
    kept = json.loads(text)
    assert kept["privacy"] == {
        "k": 2,
        "l": "5/2",
        "distinct_l": None,
        "joint": False,
        "accuracy": {"maximize": "l", "per_class_ncp": "1/3", "extents": {"zip": "2", "age": "1/2"}},
        "presence_disclosed": False,
    }
    assert kept["refine"] is None
    assert "seed" not in kept
    assert CANARY not in text
    refined = redact(release(source="t", quasi="age", k=2, refine={"window": 7}))
    assert refined["refine"] == {"window": 7, "passes": 4}, "as 0.1.0 kept it"
    refined = redact(release(source="t", quasi="age", k=2, refine={"search": 7}))
    assert refined["refine"] == {"window": 40, "passes": 4, "search": 7}
    refined = redact(release(source="t", quasi="age", k=2, refine=True))
    assert refined["refine"] == {"window": 40, "passes": 4, "search": "auto"}


def test_plan_shows_what_changed() -> None:
    with sqlanon.connect("duckdb:///:memory:") as db:
        db.engine.execute("CREATE TABLE t AS SELECT i // 5 AS age, 'flu' AS d FROM range(20) AS r(i)")
        spec = release(source="t", quasi="age", sensitive="d", k=5, l=1)
        db.run(spec)
        assert db.plan(spec).change == "unchanged since version 1: nothing to do"
        privacy = replace(spec.privacy, l=Fraction(1), presence_disclosed=True)
        changed = db.plan(replace(spec, refine=RefineSpec(9, 2), privacy=privacy))
    assert changed.change == "version 2 replaces 1: policy changed"
    assert changed.why == (
        "presence disclosed no -> yes (weaker)",
        "refine.passes none -> 2",
        "refine.window none -> 9",
    )


@pytest.mark.parametrize(
    ("key", "what", "places"),
    [
        ("publish_lake", "publish", (None, "delta:a", "delta:b")),
        ("publish_to", "publish_to", (None, "postgresql://a/b", "postgresql://a/c")),
    ],
)
def test_another_place_of_readers_is_a_difference(key: str, what: str, places: tuple[str | None, ...]) -> None:
    kept = [{"name": "a", "source": "t", "columns": [], key: place} for place in places]
    pairs = [(old, new) for old in kept for new in kept]
    found = [[(one.what, one.old, one.new) for one in list_differences(old, new)] for old, new in pairs]
    shown = [place or "none" for place in places]
    assert found == [[(what, old, new)] if old != new else [] for old in shown for new in shown]
