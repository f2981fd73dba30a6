"""`persons: whole`.

All rows of a person are in one class, recounted in Python from the source and from the release.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from sqlanon.errors import InfeasibleError, PolicyError
from sqlanon.policy import release
from sqlanon.release.divide import persons_whole
from tests.contract.test_person_rows import ASKED, classes, place, reached, visits
from tests.engines import PAIR, create_table, read_table

WHOLE: dict[str, Any] = {**ASKED, "persons": "whole"}
FEW = [("tree", "kernel"), ("mondrian", "pushdown")]
WAYS = [
    ("hilbert", "kernel"),
    ("hilbert", "pushdown"),
    ("mondrian", "kernel"),
    ("mondrian:variant=relaxed", "kernel"),
    ("mondrian:variant=relaxed", "pushdown"),
    ("idistance", "kernel"),
    ("fulldomain", "kernel"),
]


def split(found: Sequence[Sequence[dict[str, Any]]]) -> int:
    """Persons who have rows in more than one class."""
    seen = defaultdict(set)
    for at, members in enumerate(found):
        for row in members:
            seen[row["pid"]].add(at)
    return sum(len(each) > 1 for each in seen.values())


def check(
    db: Any,
    table: str,
    rows: Sequence[tuple[Any, ...]],
    report: Any,
    k: int,
    l: Any = 1,  # noqa: E741
    share: Any = 1,
) -> None:
    """Every promise, by the definitions."""
    found = classes(db, table, rows)
    assert split(found) == 0
    persons, weighted, frequent, largest = (
        list(each) for each in zip(*[reached(members) for members in found], strict=True)
    )
    assert min(persons) >= k
    assert min(weighted) >= l
    assert min(frequent) >= l
    assert max(largest) <= share
    assert report.classes == len(found)
    said = {one.name: one for one in report.requirements}
    assert said["classes of a person"].reached == 1
    assert said["persons"].reached == min(persons) == report.min_identifiers["pid"]
    assert all(one.satisfied for one in report.requirements)


@pytest.mark.cover
@pytest.mark.parametrize(
    ("method", "execution"), [*FEW, *(pytest.param(*way, marks=pytest.mark.thorough) for way in WAYS)]
)
def test_no_person_is_split(shared_db: Any, method: str, execution: str) -> None:
    rows = visits(1)
    source = place(shared_db, rows)
    asked = {**WHOLE, "person_share": "3/4", "method": method}
    made = shared_db.anonymize(source, **asked, execution=execution)
    check(shared_db, source, rows, made.report, 4, 2, Fraction(3, 4))
    assert made.audit().satisfied
    assert not made.audit().not_measured
    if execution == "pushdown":
        shown = sorted(map(str, read_table(shared_db, ("release", source))))
        shared_db.anonymize(source, **asked, execution="kernel")
        assert sorted(map(str, read_table(shared_db, ("release", source)))) == shown


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(25))
def test_random_tables(shared_db: Any, seed: int) -> None:
    """Fifty of them, as each engine has its own; boxes are read as well. What has no release is refused."""
    drawn = random.Random(f"{seed} {shared_db.engine.dialect}")
    rows = visits(drawn.random(), drawn.randrange(12, 120))
    k, l = drawn.randrange(2, 8), Fraction(drawn.choice(["1", "1", "3/2", "2", "5/2"]))  # noqa: E741
    share = Fraction(drawn.choice(["1", "1", "1/2", "1/3"]))
    method, execution = drawn.choice([*FEW, *WAYS])
    refine = not method.startswith("fulldomain") and drawn.random() < 0.3
    source = place(shared_db, rows)
    everybody = reached([dict(zip(("mark", "q", "w", "s", "pid", "ward"), row, strict=True)) for row in rows])
    met = everybody[0] >= k and min(everybody[1:3]) >= l and everybody[3] <= share
    asked = {**WHOLE, "k": k, "l": l, "person_share": share, "method": method, "execution": execution}
    try:
        made = shared_db.anonymize(source, **asked, refine=refine)
    except InfeasibleError:
        assert not met
        return
    assert met
    check(shared_db, source, rows, made.report, k, l, share)
    own = {row[0]: row for row in rows}
    for row in read_table(shared_db, ("release", source)):
        assert row["q_lo"] <= own[row["mark"]][1] <= row["q_hi"]
        assert own[row["mark"]][2] in str(row["w"])


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(2))
def test_columns_of_every_kind(shared_db: Any, tmp_path: Path, seed: int) -> None:
    """A hierarchy, a set, numbers, each with NULLs; two sensitive columns; a value that is NULL."""
    drawn = random.Random(seed)
    tree = tmp_path / "city.csv"
    tree.write_text("oslo;norway;*\nbergen;norway;*\nrome;italy;*\npisa;italy;*\n")
    columns = {"pid": "INTEGER", "city": "TEXT", "kind": "TEXT", "n": "INTEGER", "s": "TEXT", "o": "TEXT"}
    rows = [
        (
            drawn.randrange(20),
            drawn.choice(["oslo", "bergen", "rome", "pisa", None]),
            drawn.choice(["x", "y", "z", None]),
            drawn.choice([1, 2, 9, None]),
            drawn.choice(["a", "b", "c", None]),
            drawn.choice("uvw"),
        )
        for _ in range(80)
    ]
    name = f"kinds_{uuid4().hex[:8]}"
    create_table(shared_db, name, columns, rows)
    for method in ("tree", "mondrian", "fulldomain"):
        made = shared_db.anonymize(
            name,
            quasi=["city", "kind", "n"],
            hierarchies={"city": str(tree)},
            sensitive=["s", "o"],
            identifiers="pid",
            person="pid",
            persons="whole",
            k=3,
            l=2,
            distinct_l=2,
            method=method,
            allow_weaker=True,
        )
        assert made.audit().satisfied
        assert made.report.min_identifiers["pid"] >= 3


def test_constant_columns_stay_sharp(shared_db: Any) -> None:
    """Of eight persons four are of ward q = 1 and four of q = 2; what else they have differs with every row."""
    rows = [(i, 1 + i // 4 % 2, "pqr"[i % 3], "abcd"[i % 4], f"z{i % 8}", 0) for i in range(64)]
    source = place(shared_db, rows)
    made = shared_db.anonymize(source, **{**WHOLE, "l": None})
    check(shared_db, source, rows, made.report, 4)
    assert {(row["q_lo"], row["q_hi"]) for row in read_table(shared_db, ("release", source))} == {(1, 1), (2, 2)}


def test_classes_that_fail_over_rows_are_united(shared_db: Any) -> None:
    """What most rows of a person have is a guide: here it is b of everybody, and those of q < 3 have fewer rows of a.

    Others fail alone.
    """
    rows = [(i, i % 6, "p", "b", f"z{i % 6}{i // 24}", 0) for i in range(96)]
    rows += [(96 + i, i % 3, "p", "a", f"z{i % 3}{i // 12}", 0) for i in range(48) if i % 4 != 3]
    source = place(shared_db, rows)
    made = shared_db.anonymize(source, **{**WHOLE, "l": "5/4"})
    check(shared_db, source, rows, made.report, 4, Fraction(5, 4))
    assert any("were united with others" in note for note in made.report.notes)
    with pytest.raises(InfeasibleError, match="l = 9 of s"):
        shared_db.anonymize(source, **{**WHOLE, "l": 9})


@pytest.mark.thorough
@pytest.mark.cover
@pytest.mark.parametrize(
    "asked",
    [{"l": "3/2"}, {"l": None, "alpha": {"max": "3/5", "values": ["a"]}}, {"l": None, "entropy_l": "5/2"}],
    ids=str,
)
def test_what_is_asked_near_what_the_table_has_leaves_more_than_a_few_classes(
    shared_db: Any, asked: dict[str, Any]
) -> None:
    """Half of all rows have a, the others b and c, in no order.

    A quasi value for each person, so that some fifty classes of 5 persons lie side by side.
    """
    drawn = random.Random(9)
    rows: list[tuple[Any, ...]] = []
    for p in range(300):
        q, visits = drawn.randrange(100), drawn.choice([2, 2, 4])
        rows += [(len(rows) + i, q, "p", drawn.choice("aabc"), f"z{p}", 0) for i in range(visits)]
    made = shared_db.anonymize(place(shared_db, rows), **{**WHOLE, "k": 5, **asked})
    assert made.report.classes >= 20
    assert made.report.loss.gcp <= 0.1


@pytest.mark.thorough
@pytest.mark.cover
@pytest.mark.parametrize(
    "asked", [{"recursive_cl": {"c": 10, "l": 2}}, {"entropy_l": "3/2"}, {"distinct_l": 2}], ids=str
)
def test_what_most_rows_have_may_reach_less_than_is_asked(shared_db: Any, asked: dict[str, Any]) -> None:
    """Eight of ten rows of everybody have a: most rows of each reach a diversity of one, which asks nothing."""
    drawn = random.Random(3)
    rows = [
        (10 * p + i, q, "p", "a" if i < 8 else drawn.choice("bc"), f"z{p}", 0)
        for p in range(200)
        for q in [drawn.randrange(100)]
        for i in range(10)
    ]
    source = place(shared_db, rows)
    for method, execution in FEW:
        made = shared_db.anonymize(
            source, **{**WHOLE, "k": 5, "l": None, **asked}, method=method, execution=execution, allow_weaker=True
        )
        assert made.report.classes >= 15


@pytest.mark.parametrize(("of_ten", "guided"), [(9, 1), (5, 0)])
def test_what_most_rows_of_a_person_have_guides_where_most_rows_have_it(
    shared_db: Any, monkeypatch: pytest.MonkeyPatch, of_ten: int, guided: int
) -> None:
    """Every person has ten rows, and so many of them the same diagnosis."""
    rows = [
        (10 * p + i, p % 7, "p", "abcd"[(p if i < of_ten else p + i) % 4], f"z{p}", 0)
        for p in range(60)
        for i in range(10)
    ]
    seen, right = [], persons_whole.guide_requirements

    def guides(scratch: Any, encoded: Any, units: Any, part: Any, found: Any) -> Any:
        seen.append(len(found))
        return right(scratch, encoded, units, part, found)

    monkeypatch.setattr(persons_whole, "guide_requirements", guides)
    made = shared_db.anonymize(place(shared_db, rows), **WHOLE)
    assert seen[0] == guided
    assert made.report.classes > 1


@pytest.mark.thorough
def test_refine_is_not_used_where_the_rows_lose_more_by_it(shared_db: Any) -> None:
    """Persons at 0, 1, 4, 11 and 12, the first with 40 rows.

    {0, 1} and {4, 11, 12} lose 26 by persons and 66 by rows, {0, 1, 4} and {11, 12} 14 and 170.
    """
    said = []
    for places in ((0, 1, 4, 11, 12), (12, 11, 8, 1, 0)):  # the median is cut from one side
        people = [0] * 40 + [1, 2, 3, 4]
        rows = [(i, places[who], "p", "abcd"[i % 4], f"z{who}", 0) for i, who in enumerate(people)]
        source = place(shared_db, rows)
        asked = {**WHOLE, "k": 2, "l": None, "method": "mondrian:cut=median"}
        plain = shared_db.anonymize(source, **asked)
        assert plain.report.classes == 2
        lost, small = plain.loss().gcp, min(len(one) for one in classes(shared_db, source, rows))
        made = shared_db.anonymize(source, **asked, refine=True)
        check(shared_db, source, rows, made.report, 2)
        assert made.loss().gcp <= lost
        noted = any("refine is not used" in note for note in made.report.notes)
        assert noted == (small == 3)
        said.append(noted)
    assert sorted(said) == [False, True]


def source_of(db: Any, source: str, spec: Any) -> str:
    """Another release of the same source."""
    db.run(replace(spec, name=f"{source}_too", publish=f"release.{source}_too"))
    return f"{source}_too"


@pytest.mark.thorough
def test_the_history_says_that_groups_of_rows_are_counted(shared_db: Any) -> None:
    """Four visits of somebody who was there, and four of a newcomer: each group that they are in is too small."""
    rows = visits(1)
    source = place(shared_db, rows)
    asked = {**WHOLE, "key": "mark", "identifiers": ["pid", "ward", "mark"], "insensitive": None, "accept_unique": None}
    shared_db.anonymize(source, **asked)
    added = [(900 + i, 1, "p", "abcd"[i % 4], rows[0][4] if i < 4 else "new", 0) for i in range(8)]
    shared_db.engine.execute(f"INSERT INTO {source} VALUES " + ", ".join(map(str, added)))
    (one,) = shared_db.anonymize(source, **asked).report.history
    assert (one.arrived.rows, one.arrived.failing) == (8, 8)
    assert one.not_measured.startswith("persons: whole")


REFUSED = [
    ({"method": "best"}, r"best does not keep the rows of a person together: .*; .*use tree, hilbert.*fulldomain"),
    ({"method": "kmember"}, "kmember"),
    ({"method": "fulldomain:search=global"}, "say search=local, or use tree"),
    ({"method": "fulldomain", "suppression": {"limit": 0.1, "rows": "left_out"}}, "suppresses no rows"),
    ({"method": "tree", "suppression": {"limit": 0.1, "rows": "left_out"}}, "suppresses no rows"),
    ({"persons": None, "method": "best"}, "best does not keep the rows of a person together"),
]


@pytest.mark.parametrize(("asked", "message"), REFUSED)
def test_what_is_refused_before_a_table_is_read(asked: dict[str, Any], message: str) -> None:
    with pytest.raises(PolicyError, match=message):
        release(source="t", **{**WHOLE, **asked})


@pytest.mark.thorough
def test_several_columns_and_rows_without_a_person(shared_db: Any) -> None:
    rows = [(i, i % 7, "pq"[i % 2], "abc"[i % 3], None if i % 9 == 0 else f"z{i % 14}", i % 2) for i in range(90)]
    source = place(shared_db, rows)
    for null, persons in (("one", 15), ("distinct", 24)):
        made = shared_db.anonymize(
            source, **{**WHOLE, "k": 5, "l": None, "person": ["pid", "ward"]}, null_person=null, allow_weaker=True
        )
        said = {one.name: one.reached for one in made.report.requirements}
        assert said["classes of a person"] == 1
        assert 5 <= said["persons"] <= persons
        assert made.audit().satisfied


def test_both_engines_are_asked() -> None:
    """The random tables are three hundred: half of them for each."""
    assert len(PAIR) == 2
