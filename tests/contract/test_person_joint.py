"""`joint` with `person`: what is asked of a column holds over persons within every value of the other, too."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from sqlanon.errors import PolicyError, PrivacyViolation
from sqlanon.policy import release
from sqlanon.privacy.base import Grouped
from sqlanon.privacy.over_persons import OverPersons
from sqlanon.privacy.requirements import make_requirements
from sqlanon.release.divide import merge_failing_groups
from sqlanon.table.scratch import Scratch
from tests.contract.test_person_rows import COLUMNS, classes, place
from tests.covering import seeds
from tests.declared import declare
from tests.oracle import person_models as over_persons
from tests.safety.bad import tampering

F = Fraction
ASKED: dict[str, Any] = {
    "quasi": "q",
    "sensitive": ["s", "w"],
    "insensitive": "mark",
    "accept_unique": "mark",
    "identifiers": ["pid", "ward"],
    "person": "pid",
    "k": 3,
    "joint": True,
}
MODELS: list[tuple[dict[str, Any], Callable[[Any, Any], bool]]] = [
    ({"l": "5/4"}, over_persons.alpha(F(4, 5))),
    ({"alpha": "4/5"}, over_persons.alpha(F(4, 5))),
    ({"entropy_l": "3/2"}, over_persons.entropy(F(3, 2))),
    ({"recursive_cl": {"c": 4, "l": 2}}, over_persons.recursive(F(4), 2)),
]


def events(seed: int, count: int = 200) -> list[tuple[Any, ...]]:
    """Events of some 40 persons with two sensitive columns, of two and of three values."""
    drawn = random.Random(seed)
    return [
        (
            i,
            drawn.randrange(9),
            drawn.choice("pq"),
            drawn.choice("abc"),
            f"z{min(drawn.randrange(40), drawn.randrange(40))}",
            0,
        )
        for i in range(count)
    ]


def parts(members: list[dict[str, Any]], column: str, other: str | None) -> list[list[tuple[Any, Any, int]]]:
    """Person and value of the rows of a class, within each value of another column."""
    found: dict[Any, list[tuple[Any, Any, int]]] = defaultdict(list)
    for row in members:
        found[row[other] if other else None].append((row["pid"], row[column], 1))
    return list(found.values())


@pytest.mark.cover("strength execution")
@pytest.mark.parametrize("asked", MODELS, ids=lambda one: next(iter(one[0])))
@pytest.mark.parametrize("strength", ["rows", "whole"])
@pytest.mark.parametrize(("method", "execution"), [("tree", "kernel"), ("mondrian", "pushdown")])
def test_every_part_of_a_class_holds_over_persons(
    shared_db: Any, asked: Any, strength: str, method: str, execution: str
) -> None:
    rows = events(3)
    source = place(shared_db, rows)
    made = shared_db.anonymize(source, **ASKED, **asked[0], persons=strength, method=method, execution=execution)
    found = classes(shared_db, source, rows, others=("mark", "s", "w"))
    assert made.report.classes == len(found) > 1
    for members in found:
        for column, other in (("s", "w"), ("w", "s")):
            for part in [*parts(members, column, None), *parts(members, column, other)]:
                assert asked[1](part, part)
    audit = made.audit()
    assert (audit.satisfied, audit.not_measured) == (True, ())
    # What is asked within the values of the other column has a line of its own.
    for results in (made.report.requirements, audit.requirements):
        titles = [one.title for one in results]
        assert len(set(titles)) == len(titles)
        assert sum(one.joint for one in results) == sum(title.endswith(", jointly") for title in titles) == 4
    name = f"{next(iter(asked[0]))} of persons"
    for report in (made.report, audit):
        asked_of = sorted(str(one.column) for one in report.requirements if one.name == name)
        assert asked_of == ["s", "s", "w", "w"]


@pytest.mark.cover("asked")
@pytest.mark.parametrize("asked", [{"l": "3/2"}, {"alpha": "2/3"}], ids=["l", "alpha"])
def test_verify_refuses_parts_that_do_not_meet_it(
    shared_db: Any, asked: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the persons of class 0 with p nine of ten have a, and of those with q b.

    Over their rows, and over all persons, it is half.
    """
    rows = []
    for first, value, other in ((0, "a", "b"), (18, "b", "a")):
        w = "pq"[first // 18]
        rows += [(first + i, 1, w, value, f"z{first + i}", 0) for i in range(9)]
        rows += [(first + 9 + i, 1, w, other, f"z{first + 9}", 0) for i in range(9)]
    rows += [(36 + i, 2, "pq"[i % 2], "ab"[i // 2 % 2], f"x{i}", 0) for i in range(36)]
    monkeypatch.setattr(merge_failing_groups, "not_monotone", lambda _: [])  # what unites groups that fail
    declare(
        monkeypatch,
        "careless",
        tampering("UPDATE {t} SET class = CASE WHEN rid < 36 THEN 0 ELSE 1 END", as_one=True),
        "mondrian",
    )
    name = next(iter(asked))
    with pytest.raises(PrivacyViolation, match=rf"{name} of persons of [sw]: asked .*; [1-4] classes? fail"):
        shared_db.anonymize(place(shared_db, rows), **ASKED, **asked, persons="rows", method="careless")


@pytest.mark.parametrize("seed", seeds(12, always=1))
def test_what_is_measured_and_what_fails(shared_db: Any, seed: int) -> None:
    """The query of verification and that of groups in the database, on random classes."""
    drawn = random.Random(seed)
    rows = [
        (i, drawn.randrange(6), drawn.choice("pq"), drawn.choice("abc"), f"z{drawn.randrange(8)}", 0)
        for i in range(drawn.randrange(20, 90))
    ]
    table = shared_db.engine.relation(place(shared_db, rows)).ref
    each: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        each[row[1]].append(dict(zip(COLUMNS, row, strict=True)))
    for asked, meets in MODELS:
        spec = release(source="t", **{**ASKED, "k": 1, **asked}, persons="rows")
        joint = [one for one in make_requirements(spec.privacy, ("s", "w"), ("pid",)) if one.afterwards]
        for one in joint:
            model = one.model if isinstance(one, OverPersons) else one
            if not model.within:
                continue
            other = "w" if one.column == "s" else "s"
            bad = {q: [not meets(part, part) for part in parts(own, str(one.column), other)] for q, own in each.items()}
            measured = one.measure(shared_db.engine, Grouped(table, ["q"], ["s", "w"], persons=["pid"]))
            assert measured.failing == sum(map(sum, bad.values()))
            with Scratch(shared_db.engine) as scratch:
                below = scratch.table("below")
                one.below(scratch, below, Grouped(table, ["q"], ["s", "w"], None, table, ["s", "w"], ["pid"]))
                found = shared_db.engine.fetch(f'SELECT q FROM "{below.name}"')
            assert sorted(int(str(row[0])) for row in found) == sorted(q for q, fails in bad.items() if any(fails))
        assert len(joint) == (2 if "l" in asked else 4)


@pytest.mark.parametrize("method", ["fulldomain", "best"])
def test_methods_that_do_not_unite_refuse_it_with_rows(method: str) -> None:
    asked = {"source": "t", "quasi": "q", "sensitive": ["s", "r"], "identifiers": "p", "person": "p", "k": 3, "l": 2}
    with pytest.raises(PolicyError, match="fail l of persons; use tree, hilbert or mondrian"):
        release(**asked, joint=True, persons="rows", method=method)
