"""Values that a hierarchy does not list.

They count as the leaf that the policy names, and answers hold whatever they are.
"""

from __future__ import annotations

import json
import random
import uuid
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from sqlanon.errors import PolicyError, SqlanonError
from sqlanon.policy import release
from tests.engines import create_table

GROUPS = {"north": ["a", "b"], "south": ["c", "d"]}
LISTED = {"a": "north", "b": "north", "c": "south", "d": "south"}
ROWS = [
    (random.Random(i).choice(["a", "b", "c", "d", "x", "y", "zq", "", "elsewhere", None]), i % 7, "uv"[i % 2])
    for i in range(90)
]


def placed(db: Any, rows: list[tuple[Any, ...]] = ROWS) -> str:
    table = f"o_{uuid.uuid4().hex[:8]}"
    create_table(db, table, {"place": "TEXT", "n": "INTEGER", "ill": "TEXT"}, rows)
    return table


def made(db: Any, table: str, built: Any, name: str = "other", **more: Any) -> Any:
    asked = {"k": 4, "seed": 1, "rest": "drop"} | more
    return db.anonymize(
        table,
        quasi=["place", "n"],
        sensitive="ill",
        hierarchies={"place": built},
        name=name,
        publish=f"release.{name}",
        allow_weaker=True,
        **asked,
    )


def built_by(kind: str, other: str, directory: Path, db: Any) -> dict[str, Any]:
    if kind == "groups":
        return {"groups": GROUPS, "other": other}
    if kind == "file":
        file = directory / "place.csv"
        file.write_text("".join(f"{leaf};{node};*\n" for leaf, node in LISTED.items()))
        return {"file": file, "other": other}
    table = f"h_{uuid.uuid4().hex[:8]}"
    create_table(db, table, dict.fromkeys(("leaf", "node", "root"), "TEXT"), [(*one, "*") for one in LISTED.items()])
    return {"table": table, "other": other}


@pytest.mark.parametrize(("kind", "other"), [("groups", "elsewhere"), ("file", "d"), ("table", "elsewhere")])
def test_what_is_not_listed_counts_as_what_the_policy_names(
    shared_db: Any, tmp_path: Path, kind: str, other: str
) -> None:
    """With k = 1 every row shows its own value, or the one that is named; NULL stays NULL."""
    table = placed(shared_db)
    made(shared_db, table, built_by(kind, other, tmp_path, shared_db), k=1)
    shown = shared_db.engine.fetch("SELECT CASE WHEN place_null = 'none' THEN place END FROM release.other")
    assert Counter(value for (value,) in shown) == Counter(
        place if place in LISTED or place is None else other for place, *_ in ROWS
    )
    declared = shared_db.engine.fetch("SELECT declared FROM release.other_metadata WHERE column_name = 'place'")[0][0]
    found = json.loads(declared)
    assert found["recode"] == {"other": other}
    assert sorted(found["leaves"]) == sorted({*LISTED, other})
    assert not {"x", "zq"} & {node[3] for node in found["nodes"]}
    levels = shared_db.hierarchy("other", "place").levels[0].rows
    assert levels[other] == sum(place is not None and (place not in LISTED or place == other) for place, *_ in ROWS)


QUESTIONS = (
    "place = 'x'",
    "place <> 'x'",
    "place = 'a'",
    "place <> 'a'",
    "place IN ('a', 'zq', 'no')",
    "place NOT IN ('a', 'x')",
    "place IS NULL",
    "place IS NOT NULL",
    "place = 'elsewhere'",
    "place > 'c'",
    "place <= ''",
    "place = 'x' AND n < 3",
    "NOT (place = 'y' OR n = 2)",
)


@pytest.mark.cover
@pytest.mark.parametrize("form", ["ranges", "labels"])
@pytest.mark.parametrize("k", [1, 3, 8])
def test_answers_hold_whatever_the_values_are(shared_db: Any, form: str, k: int) -> None:
    """For the source, and for every source of the same release: values that are not listed are drawn anew."""
    table = placed(shared_db)
    made(shared_db, table, {"groups": GROUPS, "other": "elsewhere"}, k=k, format=form)
    rng, sources = random.Random(3), [table]
    for _ in range(3):
        fresh = rng.choice(["x", "no", "zz", "elsewhere", ""])
        drawn = [
            (place if place in LISTED or place is None else rng.choice([fresh, "b~", "zq"]), *rest)
            for place, *rest in ROWS
        ]
        sources.append(placed(shared_db, drawn))
    items = ", ".join(f"count(*) FILTER (WHERE {one}) AS n{i}" for i, one in enumerate(QUESTIONS))
    cells = shared_db.query(f"SELECT {items} FROM other").rows[0]
    for source in sources:
        truths = shared_db.engine.fetch(f"SELECT {items} FROM {source}")[0]
        for i, (question, truth) in enumerate(zip(QUESTIONS, truths, strict=True)):
            cell = cells[f"n{i}"]
            assert cell.low <= truth <= cell.high, (question, truth, cell)
            assert cell.low <= cell.estimate <= cell.high
    if k == 1:
        own = sum(place == "a" for place, *_ in ROWS)
        assert cells["n2"].low == cells["n2"].estimate == own  # what is not listed is most likely none of the listed
        assert cells["n6"].low == cells["n6"].high == sum(place is None for place, *_ in ROWS)
    for refused in ("count(DISTINCT place)", "count(*) FILTER (WHERE place LIKE 'x%')"):
        with pytest.raises(SqlanonError, match="does not list are one value"):
            shared_db.query(f"SELECT {refused} AS x FROM other")
    with pytest.raises(SqlanonError, match="does not list are one value"):
        shared_db.query("SELECT place, count(*) AS n FROM other GROUP BY place")


@pytest.mark.thorough
def test_audit_evaluation_and_the_next_version(shared_db: Any) -> None:
    """Without it a new value stops the next run; what is measured later sees the same values as the run."""
    table = placed(shared_db)
    with pytest.raises(PolicyError, match="values of column place are not among its leaves") as stopped:
        made(shared_db, table, {"groups": GROUPS}, name="next")
    assert "zq" not in str(stopped.value)
    asked = {"groups": GROUPS, "other": "elsewhere"}
    first = made(shared_db, table, asked, name="next", k=3, refine=True, metrics="all")
    assert first.audit().k >= 3
    counted = sum(place is not None and place not in LISTED for place, *_ in ROWS)
    assert any(f"column place: {counted} of 90 rows count as other" in note for note in first.report.notes)
    assert first.evaluate().loss == first.loss()
    shared_db.engine.execute(f"INSERT INTO {table} SELECT 'new', n, ill FROM {table} WHERE place = 'a'")
    second = made(shared_db, table, asked, name="next", k=3)
    assert second.report.version == 2
    assert second.report.rows > first.report.rows
    renamed = made(shared_db, table, {"groups": GROUPS, "other": "a"}, name="next", k=3)
    assert any("policy changed" in one or "place" in one for one in renamed.report.why)


def test_other_columns_than_text(shared_db: Any) -> None:
    table = f"o_{uuid.uuid4().hex[:8]}"
    create_table(shared_db, table, {"age": "INTEGER", "w": "DOUBLE PRECISION"}, [(i % 9, i % 4 / 2) for i in range(60)])
    built = {
        "age": {"groups": {"low": [0, 1], "high": [2, 3]}, "other": 99},
        "w": {"groups": {"z": ["0.0", "0.5"]}, "other": "-1"},
    }
    release = shared_db.anonymize(
        table, quasi=["age", "w"], hierarchies=built, k=1, publish="release.ages", name="ages"
    )
    shown = Counter(shared_db.engine.fetch("SELECT age, w FROM release.ages"))
    expected = Counter(
        (str(a if a < 4 else 99), str(w if w < 1 else -1)) for a, w in ((i % 9, i % 4 / 2) for i in range(60))
    )
    assert {(str(a), float(w)): n for (a, w), n in shown.items()} == {
        (a, float(w)): n for (a, w), n in expected.items()
    }
    assert release.query("SELECT count(*) FILTER (WHERE age = 7) AS n FROM ages").rows[0]["n"].high >= 6
    with pytest.raises(PolicyError, match="its leaves, other among them, cannot be read as"):
        shared_db.anonymize(
            table,
            quasi=["age"],
            hierarchies={"age": {"groups": {"low": [0]}, "other": "zqcanary"}},
            k=1,
            rest="drop",
            publish="release.no",
            name="no",
        )


@pytest.mark.parametrize(
    ("built", "more", "words"),
    [
        (
            {"steps": [5], "other": "x"},
            {},
            "other goes with values that are listed, and this is steps; a file, groups or a table",
        ),
        (
            {"groups": GROUPS, "other": "north"},
            {},
            "the name of a node above the values; one of the values, or a new one",
        ),
        ({"groups": GROUPS, "other": "*"}, {}, "the name of a node above the values"),
        ({"groups": GROUPS, "other": "x"}, {"format": "points"}, "the format points publishes single values"),
        ({"groups": GROUPS, "other": "x"}, {"format": "suppressed"}, "the format suppressed publishes single values"),
        ({"groups": GROUPS, "other": ""}, {}, "a number, a date or text"),
        ({"other": "x"}, {}, "no key says how it is built"),
    ],
)
def test_what_cannot_be_is_refused(built: dict[str, Any], more: dict[str, Any], words: str) -> None:
    with pytest.raises(PolicyError, match=words):
        release(source="t", quasi="place", hierarchies={"place": built}, k=2, **more)


def test_sensitive_columns_have_none() -> None:
    with pytest.raises(PolicyError, match="other is for quasi columns"):
        release(
            source="t",
            quasi="n",
            sensitive="place",
            hierarchies={"place": {"groups": GROUPS, "other": "x"}},
            k=2,
            t={"t": 0.5, "distance": "hierarchical"},
        )
